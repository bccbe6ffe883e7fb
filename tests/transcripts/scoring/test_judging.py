"""One reply judged: what is due, what makes it ask again, and what an expectation wants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from llmcore.transcripts import Judgement, Mismatch, Transcript, TranscriptError, judge
from llmcore.transcripts.formats import events
from llmcore.types.limits import RECORDING_LIMITS
from tests.transcripts.runs import CALL, TOOLS, chat, hermes, run, sse

FORCED = {"tool_choice": "required"}


def judged(exchange: dict[str, Any], **fields: Any) -> Judgement:
    return judge(run(exchange, **fields), 0)


def names(judgement: Judgement) -> list[str]:
    return [call.name for call in judgement.calls]


@pytest.mark.parametrize(
    "exchange",
    [
        {"text": hermes()},
        {"response": chat()},
        {"response": chat(content=hermes())},
        {"response": hermes()},
        {"response": sse({"content": hermes()[:20]}, {"content": hermes()[20:]}), "stream": True},
        {"sse": sse({"content": hermes()})},
        {"chunks": [{"choices": [{"delta": {"content": hermes()}, "index": 0}]}]},
        {"chunks": [hermes()[:20], hermes()[20:]]},
        {"chunks": [None, 3, hermes()]},
        {"error": {"status": 400, "body": {"error": {"code": "tool_use_failed", "failed_generation": hermes()}}}},
        {"text": hermes(), "finish_reason": "stop"},
    ],
)
def test_a_call_is_found_wherever_the_reply_stands(exchange: dict[str, Any]) -> None:
    found = judged(exchange)
    assert (names(found), found.calls[0].arguments) == (["get_weather"], {"city": "Paris"})
    assert (found.due, found.problems, found.mismatches, found.success) == (True, (), (), True)


@pytest.mark.parametrize("body", [None, [], {}, 17, True, "", "garbage", {"choices": None}, [None], "{" * 1000])
@pytest.mark.parametrize("stream", [False, True])
def test_any_body_is_a_reply_without_a_call(body: Any, stream: bool) -> None:
    found = judged({"response": body, "stream": stream})
    assert (found.calls, found.due, found.success) == ((), False, True)
    assert found.envelope is not None
    if isinstance(body, str):
        assert found.envelope.content == body


def test_text_that_is_not_a_stream_is_read_as_text() -> None:
    found = judged({"sse": "I would rather not."})
    assert found.envelope is not None
    assert (found.envelope.content, found.unreadable_events) == ("I would rather not.", 0)


def test_pieces_that_are_no_events_are_counted() -> None:
    assert judged({"sse": sse({"content": "Hi"}) + 'data: {"cut'}).unreadable_events == 1


@pytest.mark.parametrize(
    ("exchange", "problem"),
    [
        ({"text": hermes({"days": 3})}, "city"),
        ({"text": hermes({"city": "Paris", "when": "now"})}, "when"),
        ({"text": hermes(name="get_wether")}, "get_wether"),
        ({"text": hermes()[:40]}, "cut"),
        ({"text": hermes("[[[")}, "get_weather"),
        ({"text": "Hello", "request": FORCED}, "expected a tool call"),
        ({"error": {"status": 500}, "request": FORCED}, "the request failed"),
        ({"chunks": [hermes()], "error": {"status": 500}, "request": FORCED}, "the request failed"),
        ({"sse": sse({"content": hermes()}), "error": "overloaded", "request": FORCED}, "the request failed"),
    ],
)
def test_what_must_be_asked_again_is_a_problem(exchange: dict[str, Any], problem: str) -> None:
    found = judged(exchange)
    assert found.due
    assert not found.success
    assert problem in "; ".join(found.problems)


@pytest.mark.parametrize(
    "stream", [{"chunks": ["One moment. "]}, {"sse": sse({"content": "One moment. "})}], ids=["chunks", "sse"]
)
def test_what_the_error_that_ended_a_stream_quotes_is_a_reply(stream: dict[str, Any]) -> None:
    found = judged({**stream, "error": {"error": {"failed_generation": hermes()}}})
    assert names(found) == ["get_weather"]
    assert found.success


@pytest.mark.parametrize("text", [hermes()[:40], hermes("[[[")])
def test_without_tools_broken_calls_are_problems_too(text: str) -> None:
    found = judged({"text": text}, tools=None)
    assert found.due
    assert found.problems != ()


def test_a_guess_is_no_success_even_where_it_may_run() -> None:
    guessed = hermes('{"city": "the "big" apple"}')
    read_only = {**TOOLS[0]["function"], "annotations": {"readOnlyHint": True}}
    for tools in (TOOLS, [read_only], None):
        found = judged({"text": guessed}, tools=tools)
        assert names(found) == ["get_weather"]
        assert any(repair.safety == "guess" for repair in found.calls[0].repairs)
        assert "guess" in "; ".join(found.problems)


def test_a_call_repaired_without_loss_is_a_success() -> None:
    found = judged({"text": hermes('{"city": "Paris", "days": "3",}')})
    assert found.calls[0].arguments == {"city": "Paris", "days": 3}
    assert found.success


def test_a_near_miss_is_a_problem_unless_an_expectation_is_met() -> None:
    text = 'I could call: {"name": "get_weather", "arguments": {"city": "Paris"}} now.'
    found = judged({"text": text})
    assert found.envelope is not None
    assert found.envelope.near_misses != []
    assert (found.due, found.success) == (True, False)
    assert judged({"text": text}, expect={"calls": []}).success


def test_prose_is_no_unit_unless_something_was_due() -> None:
    assert not judged({"text": "Hello"}).due
    assert not judged({"text": "Hello"}, expect={"calls": []}).due
    assert judged({"text": "Hello"}, expect={"calls": [CALL]}).due
    assert judged({"text": "Hello"}, expect={"value": 1}).due
    assert judged({"text": "Hello", "request": FORCED}).due
    assert not judged({"error": {"status": 500}}).due


def test_a_forced_tool_owns_bare_arguments() -> None:
    request = {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
    assert names(judged({"text": '{"city": "Paris"}', "request": request})) == ["get_weather"]
    assert names(judged({"text": '{"city": "Paris"}'})) == []


def test_the_requests_tools_stand_in_for_the_runs() -> None:
    bare = '{"name": "get_weather", "arguments": {"city": "Paris"}} is a call.'
    asked = {"text": 'get_weather(city="Paris")', "request": {"tools": TOOLS}}
    assert judged(asked, tools=None).calls[0].known is True
    assert judged({**asked, "request": {}}, tools=None).calls[0].known is None
    assert judged({"text": bare}, tools=[]).calls == ()


def test_reasoning_that_the_prompt_opened() -> None:
    found = judged({"text": f"{hermes()} no.</think>Hello", "reasoning_open": True})
    assert (found.calls, found.due) == ((), False)


# --- expectations -----------------------------------------------------------------------------------------------------


def test_expected_calls_equal_what_was_written_or_what_may_run() -> None:
    reply = {"text": hermes({"city": "Paris", "days": "3"})}
    for days in ("3", 3, 3.0):
        expected = {"name": "get_weather", "arguments": {"city": "Paris", "days": days}}
        assert judged(reply, expect={"calls": [expected]}).success
    wrong = {"name": "get_weather", "arguments": {"city": "Paris", "days": 4}}
    found = judged(reply, expect={"calls": [wrong]})
    assert found.problems == ()
    assert found.mismatches == (Mismatch("calls", [wrong], [{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}]),)


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ({"text": hermes()}, []),
        ({"text": "Hello"}, [CALL]),
        ({"text": hermes()}, [CALL, CALL]),
        ({"text": hermes() + hermes()}, [CALL]),
        ({"text": hermes()}, [{**CALL, "name": "other"}]),
        ({"text": hermes()}, [{**CALL, "arguments": None}]),
        ({"error": {"status": 500}}, [CALL]),
    ],
)
def test_other_calls_than_expected_are_a_mismatch(reply: dict[str, Any], calls: list[Any]) -> None:
    assert [mismatch.what for mismatch in judged(reply, expect={"calls": calls}).mismatches] == ["calls"]


def test_a_cut_call_is_not_among_the_calls_but_no_success_either() -> None:
    found = judged({"text": hermes()[:40]}, expect={"calls": []})
    assert (found.mismatches, found.due, found.success) == ((), True, False)


def test_content_is_compared_without_the_white_space_around_it() -> None:
    reply = {"text": f"One moment.\n{hermes()}"}
    assert judged(reply, expect={"content": "One moment."}).success
    found = judged(reply, expect={"content": "One  moment."})
    assert [mismatch.what for mismatch in found.mismatches] == ["content"]


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    "reply",
    [
        {"text": '{"n": 3}'},
        {"text": 'Here you are:\n```json\n{"n": "3"}\n```'},
        {"response": chat({"n": 3}, name="final_result")},
    ],
)
def test_a_typed_output_is_compared_as_a_value(reply: dict[str, Any]) -> None:
    output_tool = {"name": "final_result", "input_schema": SCHEMA}
    fields = {"tools": [*TOOLS, output_tool], "output_schema": SCHEMA}
    assert judged(reply, **fields, expect={"value": {"n": 3}}).success
    found = judged(reply, **fields, expect={"value": {"n": 4}})
    assert found.mismatches == (Mismatch("value", {"n": 4}, {"n": 3}),)
    assert (found.due, found.problems) == (True, ())


def test_a_value_that_cannot_be_read_is_asked_again() -> None:
    found = judged({"text": "I cannot."}, output_schema=SCHEMA, expect={"value": {"n": 3}})
    assert found.problems[0].startswith("no value")
    assert [mismatch.what for mismatch in found.mismatches] == ["value"]


# --- the caller's mistakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tools", [["get_weather"], [{"name": "f", "parameters": "x"}], [{"name": "f", "parameters": {"type": "thing"}}]]
)
def test_unusable_tools_are_named_with_their_place(tools: list[Any], tmp_path: Any) -> None:
    transcript: Transcript = run({"text": hermes(name="f")}, tools=tools).placed(tmp_path / "runs.jsonl", 3, flat=False)
    with pytest.raises(TranscriptError, match=r"runs\.jsonl:3: exchanges\[0\]: "):
        judge(transcript, 0)


def test_a_stream_over_a_limit_is_reported_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "RECORDING_LIMITS", replace(RECORDING_LIMITS, events=10))
    with pytest.raises(TranscriptError, match=r"exchanges\[0\]: a stream of more than 10 events"):
        judged({"sse": "data: {}\n\n" * 11})


@pytest.mark.parametrize(
    "tool", [{"name": "\ud83d", "parameters": {}}, {"name": "f", "description": 5, "parameters": {}}, {"name": "f", "strict": []}]
)
def test_tools_that_cannot_be_used_are_an_error_of_the_transcript(tool: dict[str, Any]) -> None:
    with pytest.raises(TranscriptError, match=r"exchanges\[0\]: "):
        judged({"text": "x"}, tools=[tool])
