"""What the page of `llmcore play` shows of a reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.cli.playing.views import MAX_CHUNKS, reading
from llmcore.types import CallerError

TOOLS = json.dumps(
    [
        {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        }
    ]
)
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": "3",}}</tool_call>'
REPLY = f"<think>Hm.</think>I look.\n{CALL}\nWrite `get_weather(city='Oslo')`."


def kinds(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(piece["kind"] if piece["miss"] is None else "miss", piece["text"]) for piece in found["pieces"]]


def test_the_pieces_are_the_whole_text_in_its_kinds() -> None:
    found = reading(REPLY, TOOLS, 8)
    assert "".join(text for _, text in kinds(found)) == REPLY
    assert ("reasoning", "Hm.") in kinds(found)
    assert ("call", CALL) in kinds(found)
    assert ("miss", "`get_weather(city='Oslo')`") in kinds(found)
    assert [piece["call"] for piece in found["pieces"] if piece["kind"] == "call"] == [0]


def test_calls_have_their_repairs_and_verdict_and_misses_their_reason() -> None:
    found = reading(REPLY, TOOLS, 8)
    (call,), (miss,) = found["calls"], found["misses"]
    assert (call["name"], json.loads(call["arguments"]), call["dialect"]) == (
        "get_weather",
        {"city": "Paris", "days": 3},
        "hermes",
    )
    assert ([each["kind"] for each in call["repairs"]], call["verdict"]) == (["trailing_comma", "number_from_text"], "may run")
    assert (miss["code"], miss["reason"]) == ("quoted", "It stands in a quotation, in code, or in an element that shows text.")
    assert reading(CALL, "", 8)["calls"][0]["verdict"] == "tools unknown"


def test_a_call_that_may_not_run_has_its_problems() -> None:
    (call,) = reading(CALL.replace('"3"', '"soon"'), TOOLS, 8)["calls"]
    assert call["verdict"] == "may not run"
    assert call["problems"]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_chunks_are_the_text_and_their_events_add_up(size: int) -> None:
    found = reading(REPLY, TOOLS, size)
    assert found["same"]
    assert "".join(chunk["text"] for chunk in found["chunks"]) == REPLY
    events = [event for chunk in found["chunks"] for event in chunk["events"]]
    assert [event["type"] for event in events].count("call finished") == 1
    assert "".join(event["text"] for event in events if event["type"] == "reasoning") == "Hm."


def test_a_long_reply_is_cut_into_larger_chunks() -> None:
    found = reading("word " * 2000, "", 1)
    assert found["size"] == 25
    assert len(found["chunks"]) <= MAX_CHUNKS + 1


def test_a_body_is_read_too() -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "get_weather", "arguments": "{}"}}]}
    found = reading(json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}), TOOLS, 8)
    assert (found["calls"][0]["dialect"], found["finish"], found["same"]) == ("native", "tool_calls", True)


@pytest.mark.parametrize(
    ("tools", "message"), [("[", "no JSON"), ("3", "expected a list of tools"), ('{"tools": 3}', "expected a list of tools")]
)
def test_tools_that_cannot_be_read_are_refused(tools: str, message: str) -> None:
    with pytest.raises(CallerError, match=message):
        reading("Hello.", tools, 8)
