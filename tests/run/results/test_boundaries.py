"""The history belongs to the run: nobody outside can change it, and everything that enters it can be encoded."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import RunContext
from llmcore.tools.results.outcome import Outcome
from llmcore.types import (
    CallerError,
    Envelope,
    Finished,
    LLMCoreError,
    Message,
    Request,
    TerminateLoop,
    TextBlock,
    ToolCall,
    ToolCallFinished,
    ToolDefinition,
    ToolError,
    ToolResult,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.run.support import add, assert_valid, calls_in

pytestmark = pytest.mark.anyio

ARGUMENTS = {"path": {"parts": ["a", "b"]}}


def spoil(path: dict[str, Any]) -> str:
    """Change the argument in place."""
    path["parts"].append("spoilt")
    path["more"] = 1
    return "ok"


def spoil_history(path: dict[str, Any], context: RunContext[Any]) -> str:
    """Change the history in place."""
    _spoil(context.messages)
    return "ok"


def _spoil(messages: Any) -> None:
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolUseBlock) and block.input is not None:
                block.input["path"]["parts"].append("spoilt")
        message.content.append(message.content[0])


def _spoil_call(call: ToolCall) -> None:
    assert call.arguments is not None
    call.arguments["path"]["parts"].append("spoilt")


def calling(name: str) -> FakeModel:
    return FakeModel().tool_call(name, ARGUMENTS).tool_call(name, ARGUMENTS).text("done")


def assert_unspoilt(fake: FakeModel, result: RunResult) -> None:
    assert_valid(result.messages)
    assert [use["path"] for _, use in calls_in(result.messages)] == [ARGUMENTS["path"]] * 2
    assert [len(message.content) for message in result.messages] == [1] * 6
    for turn, request in enumerate(fake.requests):
        assert request.messages == result.messages[: 1 + 2 * turn]


@pytest.mark.parametrize("tool", [spoil, spoil_history])
async def test_a_tool_that_changes_what_it_was_given_changes_nothing_else(tool: Any) -> None:
    fake = calling(tool.__name__)
    result = await Orchestrator(fake, [tool]).run("go")
    assert_unspoilt(fake, result)
    assert [call.arguments for attempt in result.attempts[:2] for call in attempt.report.calls] == [ARGUMENTS] * 2


async def test_what_is_done_to_a_result_does_not_reach_recorded_requests() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("done")
    result = await Orchestrator(fake, [add]).run("go")
    before = [request.model_dump_json() for request in fake.requests]
    result.messages[1].tool_uses[0].input["a"] = 5  # type: ignore[index]  # it has an input
    result.messages[0].content.clear()
    result.messages.clear()
    assert [request.model_dump_json() for request in fake.requests] == before


async def test_what_is_done_to_a_recorded_request_does_not_reach_the_run() -> None:
    fake = calling("spoil").on_request(lambda request: _spoil_and_answer(request))

    def _spoil_and_answer(request: Request) -> None:
        _spoil(request.messages)
        request.messages.clear()

    result = await Orchestrator(fake, [spoil]).run("go")
    assert [len(message.content) for message in result.messages] == [1] * 6
    assert [use["path"] for _, use in calls_in(result.messages)] == [ARGUMENTS["path"]] * 2


@pytest.mark.parametrize("given", ["request", "history", "messages"])
async def test_what_a_caller_gave_is_not_shared_with_the_run(given: str) -> None:
    use = ToolUseBlock(id="c", name="spoil", input=json.loads(json.dumps(ARGUMENTS)))
    messages = [Message(role="user", content="first"), Message(role="assistant", content=[use])]
    fake = FakeModel("ok")
    orchestrator = Orchestrator(fake)
    if given == "request":
        result = await orchestrator.run(Request(messages=messages, extra_body={"deep": {"x": [1]}}))
    elif given == "history":
        result = await orchestrator.run("go", message_history=messages)
    else:
        result = await orchestrator.run(messages)
    before = result.model_dump_json(), fake.requests[0].model_dump_json()
    _spoil(messages)
    messages.clear()
    assert (result.model_dump_json(), fake.requests[0].model_dump_json()) == before


async def test_a_listener_that_changes_a_calls_event_does_not_change_the_call() -> None:
    fake, result = calling("spoil"), RunResult()
    async for event in Orchestrator(fake, [spoil]).stream("go"):
        if isinstance(event, ToolCallFinished):
            _spoil_call(event.call)
        result = event.result if isinstance(event, Finished) else result
    assert_unspoilt(fake, result)


@pytest.mark.parametrize("kind", [dict, ToolDefinition])
async def test_a_definition_that_its_caller_changes_later_stays_as_it_was_given(kind: type[Any]) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}}
    fake = FakeModel().tool_call("remote", {"q": "a"})
    await Orchestrator(fake, [kind(name="remote", parameters=schema)]).run("go")
    schema["properties"]["q"]["type"] = "number"
    assert fake.requests[0].tools[0].parameters["properties"] == {"q": {"type": "string"}}


async def test_hooks_change_copies() -> None:
    def request(given: Request) -> Request:
        _spoil(given.messages)
        return Request(messages=[Message(role="user", content="instead")])

    def outcome(call: ToolCall, made: Outcome) -> None:
        _spoil_call(call)

    def message(given: Message) -> Message:
        kept = given.model_copy(deep=True)
        given.content.clear()
        return kept

    fake = calling("spoil")
    hooks = Hooks(
        before_request=lambda given: given.model_copy(update={"messages": request(given).messages}),
        after_tool_run=outcome,
        on_tool_response=message,
    )
    result = await Orchestrator(fake, [spoil], hooks=hooks).run("go")
    assert [use["path"] for _, use in calls_in(result.messages)] == [ARGUMENTS["path"]] * 2
    assert [len(each.content) for each in result.messages] == [1] * 6


async def test_what_a_hook_keeps_and_changes_later_is_not_the_runs() -> None:
    kept: list[Envelope] = []

    def keep(envelope: Envelope) -> Envelope:
        for earlier in kept:
            for call in earlier.tool_calls:
                _spoil_call(call)
        kept.append(envelope)
        return envelope

    fake = calling("spoil")
    assert_unspoilt(fake, await Orchestrator(fake, [spoil], hooks=Hooks(on_response=keep)).run("go"))


async def test_the_partial_result_of_an_error_is_a_copy() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).error(CallerError("no"))
    with pytest.raises(CallerError) as caught:
        await Orchestrator(fake, [add]).run("go")
    before = fake.requests[1].model_dump_json()
    for message in caught.value.partial.messages:
        message.content.clear()
    assert fake.requests[1].model_dump_json() == before


# --- text that cannot be encoded, ids that cannot be sent ---------------------------------------------------------------


def body(arguments: str = "{}", *, name: str = "write", call_id: str = "c1", text: str = "", **more: Any) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": [call], **more}}]}


written: list[Any] = []


def write(value: Any = None) -> str:
    """Write anything down."""
    written.append(value)
    return "written"


ANTHROPIC = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "\ud800", "signature": "s\udfff"},
        {"type": "server_tool_use", "id": "s\ud800", "name": "web_search", "input": {"q\ud800": ["\ud800"]}},
        {"type": "tool_use", "id": "t\ud800", "name": "write", "input": {"value": {"k\ud800": 1}}},
    ],
}


@pytest.mark.parametrize(
    "reply",
    [
        body(r'{"value": "a\ud800b"}'),
        body(r'{"value": {"deep": [{"key\udfff": "\ud83d"}]}}'),
        body('{"value": "a\ud800b"}'),
        body(call_id="c\ud800"),
        body(text="so\ud800", reasoning_content="hm\udc00"),
        body(refusal="no\ud800"),
        '<think>\ud800</think>\udfff <tool_call>{"name": "write", "arguments": {"value": "\\ud800"}}</tool_call>',
        ANTHROPIC,
    ],
    ids=["value", "nested", "raw", "id", "text", "provider", "dialect", "anthropic"],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_lone_surrogates_of_a_model_are_replaced_and_recorded_before_anything_runs(reply: Any, streamed: bool) -> None:
    written.clear()
    fake = FakeModel(reply, "the \ud800 end")
    seen: list[Envelope] = []
    orchestrator = Orchestrator(fake, [write], hooks=Hooks(on_response=seen.append))
    result = RunResult()
    if streamed:
        async for event in orchestrator.stream("go"):
            result = event.result if isinstance(event, Finished) else result
    else:
        result = await orchestrator.run("go")
    assert_valid(result.messages)
    assert json.dumps(written, ensure_ascii=False).encode()
    assert len(written) == 1
    assert result.model_dump_json()
    assert [request.model_dump_json() for request in fake.requests]
    assert result.content == "the � end"
    first, last = seen[0].repairs + seen[0].tool_calls[0].repairs, result.envelope.repairs
    assert {"not_encodable", "call_id"} & {repair.kind for repair in first} or "refusal" in str(reply)
    assert [repair.kind for repair in last] == ["not_encodable"]


async def test_surrogates_that_only_validation_brings_to_light_are_replaced_too() -> None:
    def deep(value: dict[str, str]) -> str:
        written.append(value)
        return "ok"

    written.clear()
    fake = FakeModel(body(json.dumps({"value": r'{"a": "\ud800"}'}), name="deep"), "done")
    seen: list[ToolCall] = []
    hooks = Hooks(before_tool_run=lambda call, context: seen.append(call))
    result = await Orchestrator(fake, [deep], hooks=hooks).run("go")
    assert seen[0].repairs[-1].kind == "not_encodable"
    assert (written, calls_in(result.messages)) == ([{"a": "�"}], [("deep", {"value": {"a": "�"}})])


@pytest.mark.parametrize("call_id", ["i" * 1_000_000, "a\nb", "a\x00b", "a\u2028b"])
async def test_ids_that_cannot_be_sent_are_replaced_and_recorded(call_id: str) -> None:
    fake = FakeModel(body(call_id=call_id), "done")
    seen: list[ToolCall] = []
    hooks = Hooks(before_tool_run=lambda call, context: seen.append(call))
    result = await Orchestrator(fake, [write], hooks=hooks).run("go")
    assert_valid(result.messages)
    assert result.messages[1].tool_uses[0].id == "call_0"
    assert len(fake.requests[1].model_dump_json()) < 2000
    assert [repair.kind for repair in seen[0].repairs] == ["call_id"]


async def test_an_id_that_can_be_sent_is_kept() -> None:
    fake = FakeModel(body(call_id="toolu_" + "x" * 200), "done")
    result = await Orchestrator(fake, [write]).run("go")
    assert result.messages[1].tool_uses[0].id == "toolu_" + "x" * 200


async def test_a_correction_is_asked_for_a_call_that_could_not_be_encoded() -> None:
    fake = FakeModel(body(r'{"a": "x\ud800"}', name="add", text="\ud800"), "no")
    await Orchestrator(fake, [add]).run("go")
    assert fake.requests[1].model_dump_json()


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ("a\ud800", "messages[0].content[0].text"),
        ([Message(role="assistant", content=[ToolUseBlock(id="a", name="b", input={"k": ["\ud800"]})])], "input.k[0]"),
        ([Message(role="assistant", content=[ToolUseBlock(id="a", name="b", input={"k": object()})])], "input.k"),
        ([Message(role="assistant", content=[ToolUseBlock(id="a", name="b", input={"k": float("nan")})])], "input.k"),
        (Request(messages=[], system="\ud800"), "system"),
        (Request(messages=[], extra_body={"a": {"b": "\ud800"}}), "extra_body.a.b"),
    ],
)
async def test_what_a_caller_gave_and_cannot_be_sent_is_reported_at_once(given: Any, where: str) -> None:
    fake = FakeModel("never")
    with pytest.raises(CallerError) as caught:
        await Orchestrator(fake).run(given)
    assert where in str(caught.value)
    assert fake.requests == []


async def test_a_header_that_cannot_be_sent_is_reported_without_its_value() -> None:
    with pytest.raises(CallerError, match=r"extra_headers: the value of 'X-Key'") as caught:
        await Orchestrator(FakeModel("never")).run(Request(messages=[], extra_headers={"X-Key": "hush\ud800"}))
    assert "hush" not in str(caught.value)


async def test_an_opaque_part_that_could_not_be_encoded_is_recorded() -> None:
    reply = {"choices": [{"message": {"role": "assistant", "content": "x", "audio": {"id": "a\ud800"}}}]}
    result = await Orchestrator(FakeModel(reply)).run("go")
    assert result.model_dump_json()
    assert [repair.path for repair in result.envelope.repairs] == ["content[1].data.audio.id"]


async def test_what_a_hook_made_of_a_result_is_bounded_and_can_be_encoded_in_events_too() -> None:
    def fail(call: ToolCall, outcome: Outcome) -> Outcome:
        error = ToolError("no", tool_name=call.name, tool_id=call.id, type="execution")
        return dataclasses.replace(outcome, content=[TextBlock(text="\ud800" + "x" * 1_000_000)], error=error)

    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("done")
    events = [event async for event in Orchestrator(fake, [add], hooks=Hooks(after_tool_run=fail)).stream("go")]
    told = [event.content for event in events if isinstance(event, ToolResult)]
    assert told == [block.text for block in fake.requests[1].messages[-1].tool_results]
    assert told[0].encode()
    assert len(told[0]) < 110_000


async def test_results_of_tools_can_be_encoded() -> None:
    def names() -> str:
        """What a file system told."""
        return "a\udcffb"

    fake = FakeModel().tool_call("names").text("done")
    result = await Orchestrator(fake, [names]).run("go")
    assert result.messages[2].tool_results[0].text.encode()
    assert fake.requests[1].model_dump_json()


@pytest.mark.parametrize("way", ["reply", "on_request"])
async def test_what_a_reply_function_changes_in_its_request_is_neither_kept_nor_asked_again(way: str) -> None:
    def spoil_all(request: Request) -> str:
        _spoil(request.messages)
        request.messages.clear()
        request.extra_body["deep"]["x"].append(2)
        return "bad"

    use = ToolUseBlock(id="c", name="spoil", input=json.loads(json.dumps(ARGUMENTS)))
    result = ToolResultBlock(tool_use_id="c", name="spoil", content=[])
    turns = [Message(role="assistant", content=[use]), Message(role="tool", content=[result])]
    given = Request(messages=[Message(role="user", content="go"), *turns], extra_body={"deep": {"x": [1]}})
    fake = FakeModel(default=spoil_all) if way == "reply" else FakeModel().on_request(spoil_all)
    with pytest.raises(LLMCoreError):
        await Orchestrator(fake).execute(given, int)
    assert len(fake.requests) > 1
    for request, call in zip(fake.requests, fake.calls, strict=True):
        assert request.messages[1] == call.request.messages[1] == given.messages[1]
        assert request.extra_body == {"deep": {"x": [1]}}


async def test_the_value_that_ends_a_run_is_a_copy() -> None:
    value = {"deep": [1]}

    def stop() -> None:
        """Stop."""
        raise TerminateLoop(value)

    result = await Orchestrator(FakeModel().tool_call("stop"), [stop]).run("go")
    value["deep"].append(2)
    assert (result.output, result.tool_results[0].value) == ({"deep": [1]}, {"deep": [1]})
    result.output["deep"].clear()
    assert result.tool_results[0].value == {"deep": [1]}


async def test_a_listener_that_changes_a_results_event_does_not_change_the_record() -> None:
    def give() -> dict[str, list[int]]:
        """Give."""
        return {"deep": [1]}

    result = RunResult()
    async for event in Orchestrator(FakeModel().tool_call("give").text("done"), [give]).stream("go"):
        if isinstance(event, ToolResult):
            event.value["deep"].append(2)
        result = event.result if isinstance(event, Finished) else result
    assert result.tool_results[0].value == {"deep": [1]}
