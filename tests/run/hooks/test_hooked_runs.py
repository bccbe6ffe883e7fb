"""What a hook changes is validated, run, stored, sent and shown. A change that cannot be applied raises an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.types import (
    Block,
    Envelope,
    Finished,
    LLMCoreError,
    Message,
    Overloaded,
    ProviderBlock,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDefinition,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.run.hooks.hooked import everything_in, note, ran, refused, run, without
from tests.run.support import FAST, assert_valid, calls_in, get_weather

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _fresh() -> None:  # pyright: ignore[reportUnusedFunction]  # pytest uses it
    ran.clear()


# --- before_request ---------------------------------------------------------------------------------------------------


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
        ({"tools": 5}, "tools: give a list of tools, not int"),
        ({"tools": "abc"}, "give a list of tools, not str"),
        ({"messages": [5]}, "message 0 of the request is of type int"),
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
        'My secret <tool_call>{"name": "note", "arguments": {"text": "secret",},}</tool_call>\n<function=note>'
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


ANTHROPIC = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "a secret", "signature": "sig"},
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "text", "text": "My secret"},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "secret"}},
        {"type": "tool_use", "id": "t", "name": "note", "input": {"text": "secret"}},
    ],
}


def hide(block: Block) -> list[Block]:
    match block:
        case TextBlock():
            return [block.model_copy(update={"text": "My [hidden]"})]
        case ToolUseBlock():
            return [block.model_copy(update={"input": {"text": "[hidden]"}})]
        case _:
            return []


def by_update(envelope: Envelope) -> Envelope:
    return envelope.model_copy(update={"blocks": [kept for block in envelope.blocks for kept in hide(block)]})


def by_attaching(envelope: Envelope) -> Envelope:
    return envelope.attach(envelope.source, envelope.segments, by_update(envelope).blocks)


def in_place(envelope: Envelope) -> None:
    envelope.blocks[:] = by_update(envelope).blocks


@pytest.mark.parametrize("change", [by_update, by_attaching, in_place])
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_a_hook_hid_in_the_blocks_is_nowhere(change: Any, streamed: bool) -> None:
    fake = FakeModel(ANTHROPIC, "the end")
    orchestrator = Orchestrator(fake, [note], hooks=Hooks(on_response=lambda it: change(it) if it.tool_calls else None))
    result = RunResult()
    if streamed:
        async for event in orchestrator.stream("go"):
            result = event.result if isinstance(event, Finished) else result
    else:
        result = await orchestrator.run("go")
    assert_valid(result.messages)
    assert "secret" not in everything_in(result, fake)
    assert (ran, calls_in(result.messages)) == (["[hidden]"], [("note", {"text": "[hidden]"})])
    assert [block.type for block in result.messages[1].content] == ["text", "tool_use"]


async def test_thinking_that_a_hook_took_out_of_the_blocks_is_out_of_the_reasoning_too() -> None:
    def unthought(envelope: Envelope) -> None:
        envelope.blocks[:] = [block for block in envelope.blocks if isinstance(block, TextBlock)]

    result = await run(FakeModel("<think>a secret</think>Well."), Hooks(on_response=unthought))
    assert (result.content, result.envelope.reasoning, result.envelope.source) == ("Well.", "", "Well.")


async def test_calls_follow_their_blocks() -> None:
    def swap(envelope: Envelope) -> None:
        made = ToolUseBlock(id="mine", name="add", input={"a": 1, "b": 1})
        envelope.blocks[:] = [made] if envelope.tool_calls else envelope.blocks

    result = await run(FakeModel(ANTHROPIC, "done"), Hooks(on_response=swap))
    assert (ran, calls_in(result.messages)) == ([], [("add", {"a": 1, "b": 1})])
    assert result.messages[1].text == ""


async def test_words_that_a_hook_changed_lose_the_signature_of_others() -> None:
    def reword(envelope: Envelope) -> None:
        envelope.blocks[:] = [
            block.model_copy(update={"thinking": "hm"}) if isinstance(block, ThinkingBlock) else block
            for block in envelope.blocks
        ]

    result = await run(FakeModel(ANTHROPIC, "done"), Hooks(on_response=reword))
    thought, *others = result.messages[1].content
    assert thought == ThinkingBlock(thinking="hm")
    assert [block.type for block in others] == ["redacted_thinking", "text", "provider", "tool_use"]


async def test_a_source_that_a_hook_changed_is_not_kept() -> None:
    def shorten(envelope: Envelope) -> Envelope:
        return envelope.model_copy(update={"source": "", "reasoning": ""})

    result = await run(FakeModel("<think>a secret</think>Well."), Hooks(on_response=shorten))
    assert result.envelope.source == "Well."
    result = await run(FakeModel("Well."), Hooks(on_response=lambda envelope: envelope.model_copy(update={"source": "x"})))
    assert (result.envelope.source, result.envelope.segments) == ("Well.", [(0, 5, "content")])


async def test_blocks_that_are_no_list_are_refused() -> None:
    error = await refused(Hooks(on_response=lambda envelope: envelope.model_copy(update={"blocks": 5})))
    assert "hook on_response: Envelope.blocks" in str(error)


@pytest.mark.parametrize("block", [5, ToolResultBlock(tool_use_id="x"), TextBlock(text="\ud800")])
async def test_blocks_that_no_turn_could_hold_are_refused(block: Any) -> None:
    error = await refused(Hooks(on_response=lambda envelope: envelope.model_copy(update={"blocks": [block]})))
    assert "hook on_response" in str(error)
    assert "locks" in str(error)


# --- an envelope that a hook makes by hand ----------------------------------------------------------------------------


@pytest.mark.parametrize("content", [None, "NEW"])
@pytest.mark.parametrize("made", ["fields", "json"])
async def test_an_envelope_of_the_hooks_own_is_what_its_fields_say(content: str | None, made: str) -> None:
    def anew(envelope: Envelope) -> Envelope:
        said = content if content and envelope.tool_calls else envelope.content
        own = Envelope(content=said, toolCalls=envelope.tool_calls)
        return own if made == "fields" else Envelope.model_validate_json(own.model_dump_json())

    fake = FakeModel(tool_call_body([("note", {"text": "a"})], "Old.", 0), "done")
    result = await run(fake, Hooks(on_response=anew))
    assert ran == ["a"]
    assert [message.text for message in result.messages if message.role == "assistant"] == [content or "Old.", "done"]
    assert [name for name, _ in calls_in(result.messages)] == ["note"]
    assert result.content == "done"
