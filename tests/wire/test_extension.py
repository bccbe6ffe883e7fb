"""The field `llmcore` of rewritten replies: on each wire, whole and streamed, and only where there is something to report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.types import Repair
from llmcore.wire import ReplyReport
from llmcore.wire.extension import extension, repairs_summary, with_extension
from llmcore.wire.sse import json_bytes
from tests.wire.support import CALL, WIRES, Wire
from tests.wire.test_exchange import exchange, stream_bytes

Json = dict[str, Any]
wires = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
REPAIRED = CALL.replace('"days": 3}', '"days": 3,}')
ABOUT = f"For example:\n{CALL}\nis how you do it."


def fields(wire: Wire, text: str) -> list[Json]:
    """The field of a whole reply, and those of a stream's events."""
    body = json.loads(exchange(wire, extension=True).body(json_bytes(wire.body(text))))
    reply = exchange(wire, extension=True).stream()
    data = reply.feed(stream_bytes(wire, text)) + reply.finish()
    lines = [line.removeprefix(b"data: ") for line in data.splitlines() if line.startswith(b"data: {")]
    events = [event.get("response", event) for event in map(json.loads, lines)]
    return [each["llmcore"] for each in (body, *events) if "llmcore" in each]


@wires
def test_a_repaired_call(wire: Wire) -> None:
    whole, streamed = fields(wire, REPAIRED)
    for found in (whole, streamed):
        (call,) = found["calls"]
        assert found.keys() == {"calls"}
        assert (call["name"], call["dialect"]) == ("get_weather", "hermes")
        assert [repair["kind"] for repair in call["repairs"]] == ["trailing_comma"]


@wires
def test_a_withheld_call(wire: Wire) -> None:
    whole, streamed = fields(wire, ABOUT)
    assert whole == streamed == {"withheld": [{"name": "get_weather", "reason": "guess", "detail": "example_lead_in"}]}


@wires
def test_a_reply_of_text_has_no_field_and_keeps_its_bytes(wire: Wire) -> None:
    raw = json_bytes(wire.body("It is sunny."))
    assert exchange(wire, extension=True).body(raw) is raw
    assert fields(wire, "It is sunny.") == []


@wires
def test_without_the_option_no_reply_has_the_field(wire: Wire) -> None:
    assert b'"llmcore"' not in exchange(wire).body(json_bytes(wire.body(REPAIRED)))
    reply = exchange(wire).stream()
    assert b'"llmcore"' not in reply.feed(stream_bytes(wire, REPAIRED)) + reply.finish()


def test_choices_are_numbered_if_there_are_several() -> None:
    found = extension([ReplyReport(reclassified_reasoning="Hm."), ReplyReport()])
    assert found == {"reclassified_reasoning": "Hm."}
    body = json_bytes({"choices": [{"index": n, "message": {"content": text}} for n, text in enumerate(("Hi.", CALL))]})
    chat = next(wire for wire in WIRES if wire.name == "openai-chat")
    (call,) = json.loads(exchange(chat, extension=True).body(body))["llmcore"]["calls"]
    assert call["choice"] == 1


def test_the_summary_names_each_kind_once() -> None:
    repairs = [Repair(kind="a"), Repair(kind="b", safety="coerced", before="secret"), Repair(kind="a")]
    assert repairs_summary(repairs) == "a:lossless, b:coerced"


def test_events_without_a_place_for_the_field_stay() -> None:
    events: list[Json] = [{"type": "ping"}]
    assert with_extension(events, {"calls": []}) is events
    assert with_extension(events, {}) is events
