"""If a provider returns calls that the request did not allow, they are dropped and recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import ToolConfig, tool
from llmcore.types import FallbackExhausted
from tests.run.asking.test_cut_streams import finished
from tests.run.support import add, assert_valid, calls_in

pytestmark = pytest.mark.anyio


@tool
def sub(a: int, b: int) -> int:
    """Subtract."""
    return a - b


ONE, TWO = {"a": 1, "b": 2}, {"a": 3, "b": 4}


async def test_of_two_calls_where_one_is_allowed_the_first_runs() -> None:
    fake = FakeModel().tool_calls(("add", ONE), ("add", TWO)).text("3")
    result = await Orchestrator(fake, [add]).run("go", parallel_tool_calls=False)
    assert calls_in(result.messages) == [("add", ONE)]
    assert [(record.ran, record.value) for record in result.tool_results] == [(False, None), (True, 3)]
    assert_valid(result.messages)
    (record,) = result.repairs
    assert (record.of, record.repair.kind, record.repair.before["name"]) == ("reply", "call_not_allowed", "add")
    both = FakeModel().tool_calls(("add", ONE), ("add", TWO)).text("3")
    assert len((await Orchestrator(both, [add]).run("go")).tool_results) == 2


async def test_the_output_beside_one_call_is_no_second_call() -> None:
    fake = FakeModel().tool_calls(("add", ONE), ("final_result", {"result": 3}))
    result = await Orchestrator(fake, [add]).run("go", parallel_tool_calls=False, output_type=int)
    assert (result.output, [record.value for record in result.tool_results]) == (3, [3])


async def test_a_call_alone_where_none_is_allowed_is_recorded() -> None:
    fake = FakeModel().tool_call("add", ONE).text("3")
    result = await Orchestrator(fake, [add]).run("go", tool_choice="none")
    assert (result.content, calls_in(result.messages)) == ("3", [])
    assert [(record.attempt, record.repair.kind) for record in result.repairs] == [(1, "call_not_allowed")]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_written_as_text_where_tools_are_disabled_is_recorded(streamed: bool) -> None:
    call = f'<tool_call>{{"name": "add", "arguments": {json.dumps(ONE)}}}</tool_call>'
    orchestrator = Orchestrator(FakeModel(f"I'll add. {call}"), [add], tool_config=ToolConfig(enabled=False))
    result = await finished(orchestrator.stream("go")) if streamed else await orchestrator.run("go")
    ran = [one.ran for one in result.tool_results]
    assert (result.content.strip(), calls_in(result.messages), ran) == ("I'll add.", [], [False])
    assert [(record.of, record.repair.kind) for record in result.repairs] == [("reply", "call_not_allowed")]
    shown = Orchestrator(FakeModel(f"For example:\n{call}"), [add], tool_config=ToolConfig(enabled=False))
    assert call in (await shown.run("go")).content


_WRITTEN = [
    f'<tool_call>{{"name": "add", "arguments": {json.dumps(ONE)}}}</tool_call>',
    f"[TOOL_CALLS]add{json.dumps(ONE)}",
    f'<|python_tag|>{{"name": "add", "parameters": {json.dumps(ONE)}}}',
    f'```json\n{{"name": "add", "arguments": {json.dumps(ONE)}}}\n```',
    f'{{"name": "add", "arguments": {json.dumps(ONE)}}}',
    f'<think>So.</think><tool_call>{{"name": "add", "arguments": {json.dumps(ONE)}}}</tool_call>',
    f'[{{"name": "add", "arguments": {json.dumps(ONE)}}}, {{"name": "add", "arguments": {json.dumps(TWO)}}}]',
]


@pytest.mark.parametrize(
    "options", [{"tool_choice": "none"}, {"tool_config": ToolConfig(enabled=False)}], ids=["none", "disabled"]
)
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("written", _WRITTEN)
async def test_a_call_written_as_text_that_is_all_of_the_reply_is_no_answer(
    written: str, streamed: bool, options: dict[str, Any]
) -> None:
    orchestrator = Orchestrator(FakeModel(written, "Fine."), [add])
    result = await finished(orchestrator.stream("go", **options)) if streamed else await orchestrator.run("go", **options)
    assert (result.content, calls_in(result.messages), len(result.attempts)) == ("Fine.", [], 2)
    assert {record.repair.kind for record in result.repairs} == {"call_not_allowed"}
    assert_valid(result.messages)
    with pytest.raises(FallbackExhausted, match="the reply is a call of add and nothing else, and none is allowed"):
        await Orchestrator(FakeModel(default=written), [add]).run("go", **options)


@pytest.mark.parametrize("withdrawn", [{"tool_choice": "none"}, {"tools": ()}])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_written_as_text_where_none_is_allowed_is_recorded(withdrawn: dict[str, Any], streamed: bool) -> None:
    call = f'<tool_call>{{"name": "add", "arguments": {json.dumps(ONE)}}}</tool_call>'
    hooks = Hooks(before_request=lambda request: request.model_copy(update=withdrawn))
    orchestrator = Orchestrator(FakeModel(f"I'll add. {call}"), [add], hooks=hooks)
    if streamed:
        async with orchestrator.stream("go") as stream:
            async for _ in stream:
                pass
        result = stream.result
    else:
        result = await orchestrator.run("go")
    assert (result.content, calls_in(result.messages), len(result.attempts)) == ("I'll add.", [], 1)
    assert [record.repair.kind for record in result.repairs] == ["call_not_allowed"]
    shown = f"A call is written as {call} and may not be made here, as the rules that you gave me say."
    told = await Orchestrator(FakeModel(shown), [add], hooks=hooks).run("go")
    assert (told.content, told.repairs) == (shown, [])


async def test_beside_the_call_that_was_asked_for_others_are_dropped() -> None:
    fake = FakeModel().tool_calls(("sub", ONE), ("add", ONE)).text("3")
    result = await Orchestrator(fake, [add, sub]).run("go", tool_choice={"name": "add"})
    assert (calls_in(result.messages), len(result.attempts)) == ([("add", ONE)], 2)
    assert [(record.repair.kind, record.repair.before["name"]) for record in result.repairs] == [("call_not_allowed", "sub")]
    assert_valid(result.messages)


async def test_another_call_in_its_place_is_asked_for_again() -> None:
    fake = FakeModel().tool_call("sub", ONE).tool_call("add", ONE).text("3")
    result = await Orchestrator(fake, [add, sub]).run("go", tool_choice={"name": "add"})
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
    assert [(record.name, record.value) for record in result.tool_results] == [("sub", None), ("add", 3)]


async def test_a_reply_that_is_nothing_but_such_a_call_is_reported_as_one() -> None:
    fake = FakeModel(default=tool_call_body([("add", ONE)], None, 0))
    with pytest.raises(FallbackExhausted, match="the reply is a call of add and nothing else, and none is allowed"):
        await Orchestrator(fake, [add]).run("go", tool_choice="none")
