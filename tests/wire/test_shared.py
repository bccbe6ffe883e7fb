"""What all wires share: the rule of `offered`, ids, tools, and the stream that takes nothing back."""

from __future__ import annotations

import re
from typing import Any

import pytest

from llmcore import Envelope, ReasoningDelta, Repair, TextDelta, ToolCall, normalize
from llmcore.types import CallerError, ToolDefinitionError
from llmcore.wire import AppendOnlyStream, decode_tools, new_id, offered, with_new_ids
from tests.wire.support import CALL, TOOLS, pieces


def call(**fields: Any) -> ToolCall:
    given: dict[str, Any] = {"id": "call_0", "name": "get_weather", "arguments": {"city": "Paris"}, "known": True, **fields}
    return ToolCall(**given)


def repaired(safety: Any) -> ToolCall:
    return call(repairs=[Repair(kind="example_lead_in", safety=safety)])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (call(), None),
        (call(known=None), None),
        (repaired("lossless"), None),
        (repaired("coerced"), None),
        (call(complete=False), "incomplete"),
        (call(known=False), "unknown_tool"),
        (call(arguments=None), "unreadable_arguments"),
        (repaired("guess"), "guess"),
        (repaired("truncated"), "truncated"),
    ],
)
def test_a_call_is_offered_if_nothing_is_doubtful(given: ToolCall, reason: str | None) -> None:
    result = offered(Envelope(toolCalls=[given]))
    assert [each.reason for each in result.withheld] == ([reason] if reason else [])
    assert len(result.calls) == (reason is None)


def test_the_given_tools_decide_which_names_are_known() -> None:
    envelope = Envelope(toolCalls=[call(known=None), call(name="open_door", known=None)])
    assert [each.name for each in offered(envelope, TOOLS).calls] == ["get_weather"]
    assert [each.reason for each in offered(envelope, []).withheld] == ["unknown_tool"] * 2


@pytest.mark.parametrize("reason", ["error", "cancelled", "content_filter"])
def test_no_call_of_a_broken_reply_is_offered(reason: Any) -> None:
    assert offered(Envelope(toolCalls=[call()], finish_reason=reason)).withheld[0].reason == "broken_reply"
    assert offered(Envelope(toolCalls=[call()]), cut=True).calls == []


def test_a_call_that_the_provider_could_not_read_is_offered() -> None:
    body = {"error": {"code": "tool_use_failed", "failed_generation": CALL}}
    assert len(offered(normalize(body, TOOLS)).calls) == 1


def test_a_guess_says_which_one() -> None:
    (withheld,) = offered(normalize(f"For example:\n{CALL}\nand so on", TOOLS)).withheld
    assert (withheld.reason, withheld.detail) == ("guess", "example_lead_in")


def test_only_an_envelope_can_be_asked() -> None:
    with pytest.raises(CallerError, match="normalise the reply first"):
        offered("text")  # type: ignore[arg-type]


# Ids


@pytest.mark.parametrize(
    ("form", "pattern"), [("openai", r"call_\w{24}"), ("anthropic", r"toolu_\w{24}"), ("mistral", r"[A-Za-z0-9]{9}")]
)
def test_an_id_has_its_wires_form_and_does_not_repeat(form: Any, pattern: str) -> None:
    ids = [new_id(form) for _ in range(200)]
    assert all(re.fullmatch(pattern, each) for each in ids)
    assert len({*ids}) == len(ids)


def test_a_servers_ids_are_kept_and_others_are_new() -> None:
    given = [
        call(id="call_server"),
        call(id="call_server"),
        call(id="call_2"),
        call(id="functions.x:0", dialect="kimi_k2"),
        call(id=""),
    ]
    made = [each.id for each in with_new_ids(given)]
    assert made[0] == "call_server"
    assert not {*made[1:]} & {each.id for each in given}
    assert len({*made}) == 5


# Tools

FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edit.", "format": {"type": "grammar"}}


def test_tools_are_told_apart_and_passed_or_dropped() -> None:
    given = [
        FUNCTION,
        {"name": "g", "input_schema": {"type": "object"}},
        {"type": "custom", "name": "h", "input_schema": {"type": "object"}},
        SEARCH,
        PATCH,
    ]
    passed = decode_tools(given)
    assert [tool.name for tool in passed.tools] == ["f", "g", "h"]
    assert (passed.passed, passed.dropped) == ([SEARCH, PATCH], [])
    dropped = decode_tools(given, built_in="drop", free_text="drop")
    assert (dropped.passed, dropped.dropped) == ([], [SEARCH, PATCH])
    made = decode_tools(given, built_in="drop", free_text="function")
    assert (made.dropped, made.free_text) == ([SEARCH], frozenset({"apply_patch"}))
    patch = made.tools.get("apply_patch")
    assert patch is not None
    assert (patch.definition.description, [*patch.required]) == ("Edit.", ["input"])


def test_what_is_no_list_of_tools_raises() -> None:
    assert len(decode_tools(None).tools) == 0
    bad: list[object] = [{}, "tools", ["f"]]
    for given in bad:
        with pytest.raises(CallerError, match="`tools`"):
            decode_tools(given)
    with pytest.raises(CallerError, match="without a name"):
        decode_tools([{"type": "custom"}], free_text="function")
    with pytest.raises(ToolDefinitionError):
        decode_tools([{"type": "function", "function": dict[str, Any]()}])


# The stream


def of(text: str, size: int = 5, **options: Any) -> tuple[list[Any], AppendOnlyStream]:
    stream = AppendOnlyStream(TOOLS, **options)
    events = [event for piece in pieces(text, size) for event in stream.feed(piece)]
    return [*events, *stream.finish("stop")], stream


def test_text_and_reasoning_are_live_and_calls_wait_for_the_end() -> None:
    stream = AppendOnlyStream(TOOLS)
    assert stream.feed("<think>Hm") == [ReasoningDelta("Hm")]
    assert stream.feed("</think>Hello") == [TextDelta("Hello")]
    assert stream.feed(" there. " + CALL) == [TextDelta(" there.")]
    with pytest.raises(CallerError, match="not over"):
        _ = stream.offered
    assert stream.finish() == []
    assert [each.name for each in stream.offered.calls] == ["get_weather"]
    assert stream.finish() == []
    assert stream.envelope == normalize("<think>Hm</think>Hello there. " + CALL, TOOLS)


def test_an_example_is_emitted_where_it_stands() -> None:
    text = f"For example:\n{CALL}\nand so on."
    events, stream = of(text)
    assert "".join(event.text for event in events) == text
    assert stream.offered.calls == []


def test_a_wrapper_with_calls_of_both_kinds_is_reported_and_not_emitted() -> None:
    text = '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "open_door", "arguments": {}}]'
    events, stream = of(text)
    assert events == []
    assert [each.name for each in stream.offered.calls] == ["get_weather"]
    assert [each.call.name for each in stream.offered.withheld] == ["open_door"]


def test_a_bare_call_beside_a_native_one_is_text() -> None:
    stream = AppendOnlyStream(TOOLS)
    bare = '{"name": "get_time", "arguments": {"zone": "CET"}}'
    native = {"id": "call_s", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
    events = stream.feed(
        {
            "choices": [
                {"index": 0, "delta": {"content": bare, "tool_calls": [{"index": 0, **native}]}, "finish_reason": "tool_calls"}
            ]
        }
    )
    events += stream.finish()
    assert "".join(event.text for event in events) == bare
    assert [each.id for each in stream.offered.calls] == ["call_s"]


def test_a_closer_without_an_opener_is_reported() -> None:
    events, stream = of("Which one? </think>This.")
    assert isinstance(events[0], TextDelta)
    assert stream.reclassified_reasoning == "Which one? "
    events, stream = of("Which one? </think>This.", reasoning_open=True)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "This."
    assert stream.reclassified_reasoning == ""


def test_a_call_in_reasoning_that_never_ends_is_offered_and_its_text_is_not_repeated() -> None:
    events, stream = of("<think>I call " + CALL)
    assert all(isinstance(event, ReasoningDelta) for event in events)
    assert len(stream.offered.calls) == 1
