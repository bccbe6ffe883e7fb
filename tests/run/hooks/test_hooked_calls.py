"""What a hook returns for a call or its result is run, sent, stored, emitted and recorded."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.hooks import Hooks, Veto
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.tools.results.outcome import Outcome
from llmcore.types import (
    Finished,
    LLMCoreError,
    Message,
    TerminateLoop,
    TextBlock,
    ToolCall,
    ToolError,
    ToolResult,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.run.hooks.hooked import everything_in, note, ran, refused, run, without
from tests.run.support import assert_valid, called, calls_in

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _fresh() -> None:  # pyright: ignore[reportUnusedFunction]  # pytest uses it
    ran.clear()


def changing(**changes: Any) -> Callable[[ToolCall, Any], ToolCall]:
    return lambda call, context: call.model_copy(update=changes)


def calling(**changes: Any) -> Hooks:
    return Hooks(before_tool_run=changing(**changes))


async def test_a_call_that_a_hook_changed_runs_so_and_stands_so_in_the_history() -> None:
    fake = FakeModel().tool_calls(("note", {"text": "a"}), ("note", {"text": "b"})).text("done")
    result = await run(fake, calling(name="add", arguments={"a": 1, "b": "2"}, id="other"))
    assert calls_in(result.messages) == [("add", {"a": 1, "b": 2})] * 2  # coerced as any call is
    assert [block.text for block in result.messages[2].tool_results] == ["3", "3"]
    assert [block.name for block in result.messages[2].tool_results] == ["add", "add"]
    assert calls_in(fake.requests[1].messages) == calls_in(result.messages)
    assert ran == []


async def test_a_changed_call_that_was_stopped_is_answered_under_its_new_name() -> None:
    started = asyncio.Event()

    async def stop(text: str) -> None:
        await started.wait()
        raise TerminateLoop

    async def slow(text: str) -> None:
        started.set()
        await asyncio.Event().wait()

    def other(call: ToolCall, context: Any) -> ToolCall:
        return call.model_copy(update={"name": "stop" if call.arguments == {"text": "a"} else "slow"})

    fake = FakeModel().tool_calls(("note", {"text": "a"}), ("note", {"text": "b"}))
    result = await run(fake, Hooks(before_tool_run=other), [note, stop, slow])
    names = [use.name for use in result.messages[1].tool_uses]
    assert names == [block.name for block in result.messages[2].tool_results] == ["stop", "slow"]


@pytest.mark.parametrize(
    ("changes", "words"), [({"name": "nothing"}, "nothing"), ({"arguments": {}}, "text"), ({"arguments": {"text": 1.5}}, "text")]
)
async def test_a_changed_call_that_does_not_fit_is_an_error_and_does_not_run(changes: dict[str, Any], words: str) -> None:
    fake = FakeModel().tool_call("note", {"text": "a"}).text("done")
    result = await Orchestrator(fake, [note], hooks=calling(**changes), strictness="off").run("go")
    block = result.messages[2].tool_results[0]
    assert (ran, block.is_error) == ([], True)
    assert words in block.text
    assert_valid(result.messages)


async def test_a_changed_call_may_not_name_a_tool_that_was_not_offered() -> None:
    hooks = Hooks(before_request=without("add"), before_tool_run=changing(name="add"))
    fake = FakeModel().tool_call("note", {"text": "a"}).text("done")
    answer = (await run(fake, hooks)).messages[2].tool_results[0]
    assert (answer.name, answer.is_error) == ("add", True)
    assert "expected the name of a tool (note)" in answer.text


async def test_a_changed_call_that_nobody_can_run_is_refused() -> None:
    remote = {"name": "remote", "parameters": {"type": "object"}}
    error = await refused(calling(name="remote", arguments={}), tools=[note, remote])
    assert "'remote', which has no function" in str(error)
    assert "arguments.text" in str(await refused(calling(arguments={"text": {1, 2}})))


async def test_the_repairs_of_a_call_that_a_hook_changed_do_not_show_what_it_was() -> None:
    fake = FakeModel().tool_call("note", {"text": 987654321}).text("done")
    plain = await run(fake, Hooks())
    assert "987654321" in str(plain.repairs)
    fake.reset()
    result = await run(fake, calling(arguments={"text": "[hidden]"}))
    assert [record.repair.kind for record in result.repairs] == [record.repair.kind for record in plain.repairs]
    assert "987654321" not in everything_in(result, fake)


async def test_the_arguments_that_a_hook_changed_are_nowhere() -> None:
    text = '<tool_call>{"name": "note", "arguments": {"text": "secret",}}</tool_call>'
    fake = FakeModel(text, text)
    with pytest.raises(LLMCoreError) as caught:
        await run(fake, calling(arguments={"text": "[hidden]"}), max_tool_turns=1)
    first = caught.value.partial.attempts[0].report
    assert [call.arguments for call in first.calls] == [{"text": "[hidden]"}]
    fake = FakeModel(text)

    def change(call: ToolCall, context: Any) -> ToolCall:
        return call.model_copy(update={"arguments": {"text": "[hidden]"}})

    def stop(call: ToolCall, outcome: Outcome) -> Outcome:
        return dataclasses.replace(outcome, ended=TerminateLoop())

    result = await run(fake, Hooks(before_tool_run=change, after_tool_run=stop))
    assert "secret" not in everything_in(result, fake)
    assert ran == ["[hidden]", "[hidden]"]


class Unsound(ToolError):
    """An error that forgot to call its base."""

    def __init__(self) -> None:
        pass


class Unwritable:
    """A value of a tool that cannot be shown."""

    def __str__(self) -> str:
        raise ValueError("no")


def tell() -> Any:
    """Tell it."""
    return {"key": "secret"}


def failing() -> None:
    """Fail."""
    raise ValueError("secret")


def ending() -> None:
    """End the run."""
    raise TerminateLoop("secret")


def mended_content(call: ToolCall, outcome: Outcome) -> Outcome:
    return dataclasses.replace(outcome, content=[TextBlock(text="[hidden]")])


def mended_value(call: ToolCall, outcome: Outcome) -> None:
    outcome.value = "[hidden]"
    outcome.error = None


def mended_in_place(call: ToolCall, outcome: Outcome) -> None:
    if outcome.value == {"key": "secret"}:
        outcome.value["key"] = "[hidden]"
    else:
        outcome.content[:] = [TextBlock(text="[hidden]")]


def failed(call: ToolCall, outcome: Outcome) -> None:
    outcome.error = ToolError("[hidden]", tool_name=call.name, tool_id=call.id, type="execution")


def mended_message(message: Message) -> Message:
    results = [block.model_copy(update={"content": [TextBlock(text="[hidden]")]}) for block in message.tool_results]
    return message.model_copy(update={"content": results})


@pytest.mark.parametrize("tool", [tell, failing, ending])
@pytest.mark.parametrize(
    "hooks",
    [
        Hooks(after_tool_run=mended_content),
        Hooks(after_tool_run=mended_value),
        Hooks(after_tool_run=mended_in_place),
        Hooks(after_tool_run=failed),
        Hooks(on_tool_response=mended_message),
    ],
    ids=["content", "value", "place", "error", "message"],
)
async def test_what_a_hook_hid_of_a_result_is_nowhere(tool: Any, hooks: Hooks) -> None:
    fake = FakeModel().tool_call(tool.__name__).text("done")
    events = [event async for event in Orchestrator(fake, [tool], hooks=hooks).stream("go")]
    result = next(event.result for event in events if isinstance(event, Finished))
    assert_valid(result.messages)
    told = [event for event in events if isinstance(event, ToolResult)]
    assert "secret" not in everything_in(result, fake)
    assert "secret" not in str([(event.content, event.value, event.error) for event in told])
    (record,) = result.tool_results
    assert "[hidden]" in record.content
    assert record.content == told[0].content == result.messages[2].tool_results[0].text


async def test_a_result_that_a_hook_declares_an_error_or_none_is_recorded_so() -> None:
    def turned(message: Message) -> Message:
        results = [block.model_copy(update={"is_error": not block.is_error, "name": "other"}) for block in message.tool_results]
        return message.model_copy(update={"content": results})

    fake = FakeModel().tool_calls(("note", {"text": "a"}), ("failing", {})).text("done")
    result = await run(fake, Hooks(on_tool_response=turned), [note, failing])
    first, second = result.tool_results
    assert first.error is not None
    assert (first.error.message, second.error) == ("noted a", None)
    assert [block.name for block in result.messages[2].tool_results] == ["note", "failing"]


async def test_an_outcome_that_its_hook_keeps_is_not_the_runs() -> None:
    kept: list[Outcome] = []

    def keep(call: ToolCall, outcome: Outcome) -> None:
        for one in kept:
            one.value["key"] = "spoilt"
            one.content.clear()
        kept.append(outcome)

    fake = FakeModel().tool_calls(("tell", {}), ("tell", {})).text("done")
    result = await run(fake, Hooks(after_tool_run=keep), [tell])
    assert [record.value for record in result.tool_results] == [{"key": "secret"}] * 2
    assert [block.text for block in result.messages[2].tool_results] == ['{"key":"secret"}'] * 2


REMOTE = {"name": "remote", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}


async def test_a_call_that_the_caller_would_run_is_asked_about_too() -> None:
    def guard(call: ToolCall, context: Any) -> Any:
        if call.arguments == {"n": 1}:
            return Veto(f"no {context.tool_name}")
        return call.model_copy(update={"arguments": {"n": "7"}}) if call.arguments == {"n": 2} else None

    fake = FakeModel().tool_calls(("remote", {"n": 1}), ("note", {"text": "a"}), ("remote", {"n": 2}), ("remote", {"n": 3}))
    result = await run(fake, Hooks(before_tool_run=guard), [note, REMOTE])
    assert [call.arguments for call in result.pending] == [{"n": 7}, {"n": 3}]
    assert [use["n"] for name, use in calls_in(result.messages) if name == "remote"] == [1, 7, 3]
    assert [(block.name, block.text) for block in result.messages[2].tool_results] == [
        ("remote", "no remote"),
        ("note", "noted a"),
    ]
    assert [record.name for record in result.tool_results] == ["remote", "note"]


async def test_a_run_goes_on_where_every_call_was_refused() -> None:
    fake = FakeModel().tool_call("remote", {"n": 1}).text("then not")
    result = await run(fake, Hooks(before_tool_run=lambda call, context: Veto("no")), [REMOTE])
    assert (result.content, result.pending) == ("then not", [])


async def test_a_call_of_the_callers_does_not_become_one_that_runs_here() -> None:
    fake = FakeModel().tool_call("remote", {"n": 1})
    error = await refused(calling(name="note", arguments={"text": "a"}), fake, tools=[note, REMOTE])
    assert "'note', which has a function" in str(error)


async def test_an_outcome_that_ends_the_run_ends_it() -> None:
    def end(call: ToolCall, outcome: Outcome) -> Outcome:
        outcome.ended = TerminateLoop("enough")
        return outcome

    fake = FakeModel().tool_calls(("note", {"text": "a"}), ("note", {"text": "b"}))
    result = await run(fake, Hooks(after_tool_run=end))
    assert (result.content, len(fake.requests)) == ("enough", 1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"call": ToolCall(id="other", name="note", arguments={})}, "the call 'other'"),
        ({"ended": True}, "`ended` must be None or a TerminateLoop"),
        ({"error": "no"}, "`error` must be None or a ToolError"),
        ({"content": [5]}, "`content` must be a list"),
        ({"call": None}, "`call` must be the ToolCall"),
        ({"error": Unsound()}, "`error` has no readable message"),
        ({"duration": "long"}, "`duration` must be a number"),
        ({"value": Unwritable()}, "`value`: the result cannot be written"),
    ],
)
async def test_an_outcome_that_is_none_of_this_call_is_refused(wrong: dict[str, Any], words: str) -> None:
    error = await refused(Hooks(after_tool_run=lambda call, outcome: dataclasses.replace(outcome, **wrong)))
    assert words in str(error)
    assert "hook after_tool_run" in str(error)


@pytest.mark.parametrize("raised", [ValueError("no"), TerminateLoop("stop")])
async def test_a_result_that_its_hook_did_not_let_pass_is_withheld_but_the_tool_ran(raised: Exception) -> None:
    def refuse(call: ToolCall, outcome: Outcome) -> None:
        raise raised

    fake = FakeModel().tool_call("note", {"text": "a"})
    result = RunResult()
    try:
        result = await run(fake, Hooks(after_tool_run=refuse))
    except ValueError as error:
        result = error.__dict__["partial"]
    assert ran == ["a"]
    assert result.messages[2].tool_results[0].text == "The tool ran, and the run ended before its result was taken."


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [ToolResultBlock(tool_use_id="other")],
        [ToolResultBlock(tool_use_id="call_fake_0")] * 2,
        [ToolResultBlock(tool_use_id="call_fake_0"), ToolUseBlock(id="x", name="x", input={})],
    ],
)
async def test_a_message_of_results_that_answers_not_each_call_once_is_refused(blocks: list[Any]) -> None:
    error = await refused(Hooks(on_tool_response=lambda message: message.model_copy(update={"content": blocks})))
    assert "hook on_tool_response" in str(error)


async def test_results_that_a_hook_reordered_stand_in_call_order() -> None:
    def turned(message: Message) -> Message:
        return message.model_copy(update={"content": [TextBlock(text="All."), *reversed(message.content)]})

    fake = FakeModel().tool_calls(("note", {"text": "a"}), ("note", {"text": "b"})).text("done")
    result = await run(fake, Hooks(on_tool_response=turned))
    assert [block.text for block in result.messages[2].tool_results] == ["noted a", "noted b"]
    assert result.messages[2].text == "All."


async def test_a_call_that_a_hook_says_is_not_whole_does_not_run() -> None:
    ran: list[int] = []

    @tool
    def spend(amount: int) -> str:
        """Spends."""
        ran.append(amount)
        return "spent"

    class Doubts(Hooks):
        async def before_tool_run(self, call: ToolCall, context: Any) -> ToolCall:
            return call.model_copy(update={"complete": False})

    fake = FakeModel(called("spend", {"amount": 1}), "done")
    [record] = (await Orchestrator(fake, [spend], hooks=[Doubts()]).run("x")).tool_results
    assert ran == []
    assert record.error is not None
    assert "a whole call" in record.error.message
