"""What a hook changed is what is judged, run, stored, sent and shown; what cannot be honoured is refused."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.result import RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools.execution import Outcome
from llmcore.types import (
    Block,
    ConfigError,
    Envelope,
    Finished,
    LLMCoreError,
    Message,
    Overloaded,
    ProviderBlock,
    Request,
    TerminateLoop,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDefinition,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.orchestrator.support import FAST, add, assert_valid, calls_in, get_weather

pytestmark = pytest.mark.anyio

ran: list[str] = []


def note(text: str) -> str:
    """Write a note."""
    ran.append(text)
    return f"noted {text}"


@pytest.fixture(autouse=True)
def _fresh() -> None:  # pyright: ignore[reportUnusedFunction]  # pytest uses it
    ran.clear()


async def run(fake: FakeModel, hooks: Hooks, tools: Any = (note, add), **options: Any) -> RunResult:
    result = await Orchestrator(fake, tools, hooks=hooks).run("go", **options)
    assert_valid(result.messages, pending=[call.id for call in result.pending])
    return result


async def refused(hooks: Hooks, fake: FakeModel | None = None, **options: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        await run(fake or FakeModel().tool_call("note", {"text": "a"}).text("done"), hooks, **options)
    assert_valid(caught.value.partial.messages)
    return caught.value


def everything_in(result: RunResult, fake: FakeModel) -> str:
    """Whatever a result shows and a model was sent."""
    shown = [result.model_dump_json(), result.envelope.source, str(result.envelope.blocks), str(result.envelope.segments)]
    return "\n".join([*shown, *(str(request) for request in fake.requests)])


# --- before_request ---------------------------------------------------------------------------------------------------


def without(name: str) -> Callable[[Request], Request]:
    return lambda request: request.model_copy(update={"tools": tuple(tool for tool in request.tools if tool.name != name)})


async def test_a_tool_that_a_hook_removed_is_not_run() -> None:
    fake = FakeModel().tool_call("note", {"text": "a"}).tool_call("add", {"a": 1, "b": 2}).text("done")
    result = await run(fake, Hooks(before_request=without("note")))
    assert ran == []
    assert [name for name, _ in calls_in(result.messages)] == ["add"]
    assert [[tool.name for tool in request.tools] for request in fake.requests] == [["add"]] * 3
    assert "note" not in fake.requests[1].messages[-1].text.replace("`note`", "")  # the re-ask offers no such tool


async def test_a_tool_that_a_hook_renamed_runs_under_its_new_name() -> None:
    def renamed(request: Request) -> Request:
        tools = [tool.model_copy(update={"name": f"my_{tool.name}", "description": "Other."}) for tool in request.tools]
        return request.model_copy(update={"tools": tuple(tools)})

    fake = FakeModel().tool_call("my_note", {"text": "a"}).text("done")
    result = await run(fake, Hooks(before_request=renamed))
    assert (ran, calls_in(result.messages)) == (["a"], [("my_note", {"text": "a"})])
    assert fake.calls[0].tools[0] == ToolDefinition(
        name="my_note", description="Other.", parameters=fake.calls[0].tools[0].parameters
    )


async def test_tools_that_a_hook_added_run_or_wait_for_the_caller() -> None:
    remote = {"name": "remote", "parameters": {"type": "object"}}

    def more(request: Request) -> Request:
        return request.model_copy(update={"tools": (*request.tools, get_weather, remote)})

    fake = FakeModel().tool_calls(("get_weather", {"city": "Rome"}), ("remote", {}))
    result = await run(fake, Hooks(before_request=more))
    assert result.messages[-1].tool_results[0].text == "Rome: sunny for 1 days"
    assert [call.name for call in result.pending] == ["remote"]


async def test_a_correction_builds_on_what_the_hook_made_of_the_request() -> None:
    first: list[bool] = []

    def once(request: Request) -> Request | None:
        if first:
            return None
        first.append(True)
        hidden = [Message(role="user", content=[TextBlock(text="hidden")])]
        return request.model_copy(update={"messages": hidden, "system": "short", "max_tokens": 50, "tool_choice": "required"})

    fake = FakeModel().tool_call("add", {"a": "x"}).tool_call("add", {"a": 1, "b": 2}).text("done")
    result = await run(fake, Hooks(before_request=once))
    asked = fake.requests[1]
    assert [message.text for message in asked.messages[:-1]] == ["hidden"]
    assert (asked.system, asked.max_tokens, asked.tool_choice) == ("short", 50, {"name": "add"})
    assert result.messages[0].text == "go"  # the history keeps its own


async def test_a_hook_that_removes_a_tool_in_the_correction_only_is_heeded() -> None:
    def later(request: Request) -> Request | None:
        corrects = "was not used" in request.messages[-1].text
        return request.model_copy(update={"tools": (get_weather,)}) if corrects else None

    fake = (
        FakeModel().tool_call("note", {}).tool_call("note", {"text": "a"}).tool_call("get_weather", {"city": "Bonn"}).text("end")
    )
    result = await run(fake, Hooks(before_request=later))
    assert ran == []
    assert calls_in(result.messages) == [("get_weather", {"city": "Bonn"})]


async def test_a_request_that_a_hook_changed_in_place_is_sent_and_the_history_is_not() -> None:
    def extend(request: Request) -> None:
        request.messages[0].content.append(TextBlock(text=" and come back"))

    fake = FakeModel("ok")
    result = await run(fake, Hooks(before_request=extend))
    assert (fake.requests[0].messages[0].text, result.messages[0].text) == ("go and come back", "go")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "another"}, "`model` cannot be changed"),
        ({"output_type": int}, "`output_type` cannot be changed"),
        ({"tools": (), "tool_choice": "required"}, "no tool is left"),
        ({"tool_choice": {"name": "gone"}}, "tool_choice names 'gone'"),
        ({"tools": (5,)}, "not a tool: int"),
        ({"messages": [5]}, "messages.0"),
        ({"system": "\ud800"}, "a lone surrogate"),
        ({"tools": ({"name": "x"}, {"name": "x", "description": "other"})}, "two tools are called 'x'"),
    ],
)
async def test_a_request_that_cannot_be_sent_so_is_refused(change: dict[str, Any], words: str) -> None:
    fake = FakeModel("never")
    error = await refused(Hooks(before_request=lambda request: request.model_copy(update=change)), fake)
    assert "hook before_request" in str(error)
    assert words in str(error)
    assert fake.requests == []


# --- on_response ------------------------------------------------------------------------------------------------------


def redact(envelope: Envelope) -> Envelope:
    calls = [
        call.model_copy(update={"arguments": {"text": "[hidden]"}}) if call.name == "note" else call
        for call in envelope.tool_calls
    ]
    return envelope.model_copy(
        update={
            "content": envelope.content.replace("secret", "[hidden]"),
            "reasoning": envelope.reasoning.replace("secret", "[hidden]"),
            "tool_calls": calls,
        }
    )


@pytest.mark.parametrize(
    "reply",
    [
        '<think>a secret</think>My secret: <tool_call>{"name": "note", "arguments": {"text": "secret"}}</tool_call>',
        'My secret <tool_call>{"name": "note", "arguments": {"text": "secret",},}</tool_call> and <function=note>'
        "<parameter=text>secret</parameter></function>",
        tool_call_body([("note", {"text": "secret"})], "My secret", 0),
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "a secret", "signature": "sig"},
                {"type": "text", "text": "My secret", "citations": [{"type": "page", "cited_text": "secret"}]},
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "secret"}},
                {"type": "tool_use", "id": "t", "name": "note", "input": {"text": "secret"}},
            ],
        },
    ],
    ids=["text", "repaired", "openai", "anthropic"],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_a_hook_hid_is_nowhere(reply: Any, streamed: bool) -> None:
    fake = FakeModel(reply, "the end")
    orchestrator = Orchestrator(fake, [note], hooks=Hooks(on_response=redact))
    result = RunResult()
    if streamed:
        async for event in orchestrator.stream("go"):
            result = event.result if isinstance(event, Finished) else result
    else:
        result = await orchestrator.run("go")
    assert_valid(result.messages)
    assert "secret" not in everything_in(result, fake)
    assert result.messages[1].text.startswith("My [hidden]")
    assert set(ran) == {"[hidden]"}
    assert calls_in(result.messages) == [("note", {"text": "[hidden]"})] * len(ran)


async def test_what_a_hook_hid_in_the_final_answer_is_nowhere() -> None:
    fake = FakeModel("<think>a secret</think>My secret")
    result = await run(fake, Hooks(on_response=redact))
    assert "secret" not in everything_in(result, fake)
    assert (result.content, result.envelope.source) == ("My [hidden]", "My [hidden]")
    assert [block.type for block in result.envelope.blocks] == ["thinking", "text"]


async def test_text_a_hook_hid_is_not_quoted_in_a_correction() -> None:
    fake = FakeModel(tool_call_body([("note", {"wrong": "secret"})], "My secret", 0), "no")
    assert "secret" not in everything_in(await run(fake, Hooks(on_response=redact)), fake)


async def test_a_reply_that_broke_off_is_not_kept_where_a_hook_had_to_see_it() -> None:
    fake = FakeModel(default=["My secret", Overloaded("busy")])
    orchestrator = Orchestrator(fake, hooks=Hooks(on_response=redact), strategies=FAST)
    with pytest.raises(LLMCoreError) as caught:
        [event async for event in orchestrator.stream("go")]
    assert "secret" not in str(caught.value.partial)


async def test_a_hook_that_changes_nothing_changes_nothing() -> None:
    reply = tool_call_body([("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})], "Well.", 0)
    for call in reply["choices"][0]["message"]["tool_calls"]:
        call["id"] = "same"
    results = [
        await run(FakeModel(reply, "<think>so</think>done"), hooks)
        for hooks in (Hooks(), Hooks(on_response=lambda envelope: envelope.model_copy(deep=True)))
    ]
    plain, hooked = (result.model_dump(include={"envelope", "messages"}) for result in results)
    assert plain == hooked
    assert results[0].envelope.segments == results[1].envelope.segments
    assert [attempt.report for attempt in results[0].attempts] == [attempt.report for attempt in results[1].attempts]


async def test_an_id_that_a_hook_made_can_be_sent() -> None:
    def rename(envelope: Envelope) -> Envelope:
        calls = [call.model_copy(update={"id": "x" * 1000}) for call in envelope.tool_calls]
        return envelope.model_copy(update={"tool_calls": calls})

    result = await run(FakeModel().tool_call("note", {"text": "a"}).text("done"), Hooks(on_response=rename))
    assert (result.messages[1].tool_uses[0].id, ran) == ("call_0", ["a"])


async def test_calls_that_a_hook_dropped_or_added_are_dropped_or_added_everywhere() -> None:
    def swap(envelope: Envelope) -> Envelope:
        made = ToolCall(id="mine", name="add", arguments={"a": 1, "b": 1})
        return envelope.model_copy(update={"tool_calls": [made]}) if envelope.tool_calls else envelope

    fake = FakeModel().tool_call("note", {"text": "a"}, text="Well.").text("done")
    result = await run(fake, Hooks(on_response=swap))
    assert (ran, calls_in(result.messages)) == ([], [("add", {"a": 1, "b": 1})])
    assert (result.messages[1].text, result.messages[2].tool_results[0].text) == ("Well.", "2")


async def test_a_reply_without_the_calls_that_a_hook_dropped_is_the_final_answer() -> None:
    fake = FakeModel().tool_call("note", {"text": "a"}, text="Well.")
    result = await run(fake, Hooks(on_response=lambda envelope: envelope.model_copy(update={"tool_calls": []})))
    assert (result.content, len(fake.requests), calls_in(result.messages)) == ("Well.", 1, [])


async def test_opaque_parts_of_calls_that_stay_are_kept_and_others_go_with_the_text() -> None:
    opaque = ProviderBlock(provider="gemini", data={"text": "secret"})
    signature = ProviderBlock(provider="gemini", data={"thoughtSignature": "x"})

    def attach(envelope: Envelope) -> Envelope:
        use = ToolUseBlock(id=envelope.tool_calls[0].id, name="note", input={"text": "a"})
        blocks: list[Block] = [ThinkingBlock(thinking="hm", signature="s"), TextBlock(text="secret"), opaque, use, signature]
        return envelope.model_copy().attach("secret", (), blocks)

    fake = FakeModel().tool_call("note", {"text": "a"}, text="secret").text("done")
    result = await Orchestrator(fake, [note], hooks=[Hooks(on_response=_once(attach)), Hooks(on_response=redact)]).run("go")
    kinds = [block.type for block in result.messages[1].content]
    assert kinds == ["thinking", "text", "tool_use", "provider"]
    assert result.messages[1].text == "[hidden]"


def _once(function: Callable[[Envelope], Envelope]) -> Callable[[Envelope], Envelope | None]:
    return lambda envelope: function(envelope) if envelope.tool_calls else None


async def test_a_reply_that_no_history_could_hold_is_refused() -> None:
    broken = Hooks(on_response=lambda envelope: envelope.model_copy(update={"content": 5}))
    assert "hook on_response: Envelope.content" in str(await refused(broken))
    odd = ToolCall(id="x", name="note", arguments={"text": object()})
    error = await refused(Hooks(on_response=lambda envelope: envelope.model_copy(update={"tool_calls": [odd]})))
    assert "tool_calls[0].arguments.text" in str(error)


# --- before_tool_run and after ----------------------------------------------------------------------------------------


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
