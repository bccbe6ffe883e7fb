"""If a reply has more calls than `Limits.calls` allows, the rest does not run, and the model and the result say so."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from llmcore import Answer
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types.limits import DEFAULT_LIMITS
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio

_MOST, _CALLS = DEFAULT_LIMITS.calls, DEFAULT_LIMITS.calls + 100
_NAMED = DEFAULT_LIMITS.near_misses


def _text(calls: Sequence[int]) -> FakeModel:
    made = [json.dumps({"name": "pay", "arguments": {"to": n}}) for n in calls]
    return FakeModel("\n".join(f"<tool_call>{call}</tool_call>" for call in made), "All paid.")


def _native(calls: Sequence[int]) -> FakeModel:
    return FakeModel().tool_calls(*(("pay", {"to": n}) for n in calls)).text("All paid.")


def _assert_told(result: RunResult, told: str) -> None:
    assert f"{_CALLS - _MOST} calls of your last reply did not run" in told
    assert all(f'"to": {n}}}' in told for n in range(_MOST, _MOST + _NAMED))
    assert f"{_CALLS - _MOST - _NAMED} more" in told
    records = [one.repair for one in result.repairs if one.repair.kind == "calls_limit"]
    assert len(records) == _NAMED + 1
    assert records[-1].before == {"more": _CALLS - _MOST - _NAMED}


@pytest.mark.parametrize("write", [_text, _native])
@pytest.mark.parametrize("streamed", [False, True])
async def test_the_model_and_the_result_learn_of_each_call_that_did_not_run(
    write: Callable[[Sequence[int]], FakeModel], streamed: bool
) -> None:
    ran = list[int]()

    @tool
    async def pay(to: int) -> str:
        ran.append(to)
        return "paid"

    fake = write(range(_CALLS))
    orchestrator = Orchestrator(fake, [pay])
    if streamed:
        stream = orchestrator.stream("Pay all")
        async for _ in stream:
            pass
        result = stream.result
    else:
        result = await orchestrator.run("Pay all")
    assert sorted(ran) == list(range(_MOST))
    assert_valid(result.messages)
    _assert_told(result, fake.requests[1].messages[-1].text)


async def test_the_model_learns_when_the_calls_that_wait_are_answered() -> None:
    elsewhere = {"name": "pay", "parameters": {"type": "object", "properties": {"to": {"type": "integer"}}}}
    fake = _native(range(_CALLS))
    orchestrator = Orchestrator(fake, [{"type": "function", "function": elsewhere}])
    waiting = await orchestrator.run("Pay all")
    assert waiting.messages[-1].role == "assistant"
    stored = RunResult.model_validate_json(waiting.model_dump_json())
    result = await orchestrator.run(stored, answers={call.id: Answer("paid") for call in stored.pending})
    assert_valid(result.messages)
    _assert_told(waiting, fake.requests[1].messages[-1].text)


async def test_as_many_calls_as_may_be_are_reported_nowhere() -> None:
    fake = _native(range(_MOST))
    result = await Orchestrator(fake, [_pay]).run("Pay all")
    assert [one for one in result.repairs if one.repair.kind == "calls_limit"] == []
    assert fake.requests[1].messages[-1].role == "tool"


@tool(name="pay")
async def _pay(to: int) -> str:
    return "paid"
