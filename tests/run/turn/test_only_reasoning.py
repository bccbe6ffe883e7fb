"""If a value was asked for and the reply is reasoning alone, the model is asked for the answer once."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import Budget, FallbackExhausted
from tests.run.asking.test_cut_streams import finished
from tests.run.support import FAST, add, called, stack

pytestmark = pytest.mark.anyio

THOUGHTS: list[Any] = [
    {"choices": [{"message": {"content": None, "reasoning_content": "Four, I think."}, "finish_reason": "stop"}]},
    "<think>Four, I think.</think>",
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.parametrize(("output_type", "value"), [(int, 4), (str, "4")])
async def test_it_is_asked_for_the_answer_and_gives_it(thought: Any, streamed: bool, output_type: Any, value: Any) -> None:
    fake = FakeModel(thought, "4")
    orchestrator = Orchestrator(fake, strategies=FAST)
    run = orchestrator.stream("2 + 2?", output_type) if streamed else None
    result = await finished(run) if run is not None else await orchestrator.run("2 + 2?", output_type=output_type)
    assert (result.output, [attempt.reason for attempt in result.attempts]) == (value, ["first", "reask"])
    assert "expected an answer, got reasoning alone" in fake.last_request.messages[-1].text


async def test_it_may_call_a_tool_instead() -> None:
    fake = FakeModel(THOUGHTS[0], called("add", {"a": 2, "b": 2}), "4")
    assert await Orchestrator(fake, [add], strategies=FAST).execute("2 + 2?", int) == 4
    assert [one.name for one in fake.requests[1].tools] == ["add"]


async def test_after_that_the_usual_fallback_goes_on_without_asking_once_more() -> None:
    fakes = {"a": FakeModel(default=THOUGHTS[0]), "b": FakeModel(THOUGHTS[0], "4")}
    result = await stack(fakes).run("2 + 2?", output_type=int)
    assert result.output == 4
    told = [(attempt.model, attempt.reason) for attempt in result.attempts]
    assert told == [("a", "first"), ("a", "reask"), *[("a", "mode")] * 3, ("b", "model"), ("b", "reask")]
    assert "reasoning alone" not in fakes["a"].last_request.messages[-1].text


async def test_without_a_re_ask_left_it_is_not_asked() -> None:
    fake = FakeModel(default=THOUGHTS[0])
    with pytest.raises(FallbackExhausted, match="the reply is empty"):
        await Orchestrator(fake, strategies=FAST).execute("2 + 2?", int, budget=Budget(reasks=0))
    assert "reask" not in [call.reason for call in fake.calls]
