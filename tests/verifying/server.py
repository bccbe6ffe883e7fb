"""A server on OpenAI's wire that keeps every rule, and faults that break one rule each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.helpers.wire_server import Failure, Raw, Seen, Step
from tests.helpers.wires import WIRES, Turn

__all__ = ["FAULTS", "Fault", "sound", "with_fault"]

MEAL = {"dishes": [{"name": "pizza", "count": 2}], "address": {"street": "Main Street", "number": 12}}
Fault = Callable[[Seen, Turn], Step]
"""From a request and the right answer to a wrong one."""


def sound(seen: Seen) -> Turn:
    """The answer of a server and a model that do everything right."""
    prompt: str = seen.body["messages"][0]["content"]
    names = [tool["function"]["name"] for tool in seen.body.get("tools", [])]
    choice = seen.body.get("tool_choice", "auto")
    if len(seen.body["messages"]) > 1:
        return Turn("It is 21 degrees and sunny.")
    if not names or choice == "none" or "hello in one" in prompt or "two plus two" in prompt:
        return Turn("Hello.")
    if isinstance(choice, dict):
        return Turn(calls=[(choice["function"]["name"], {"city": "Paris"})])
    if "order_meal" in names:
        return Turn(calls=[("order_meal", MEAL)])
    if "count_messages" in names:
        return Turn(calls=[("count_messages", {})])
    cities = [city for city in ("Paris", "Rome", "Oslo", "Bergen", "Zürich", "東京") if city in prompt]
    reasoning = "Let me think." if "Think" in prompt else ""
    return Turn(calls=[("get_weather", {"city": city}) for city in cities], reasoning=reasoning)


def with_fault(fault: Fault) -> Callable[[Seen], Step]:
    return lambda seen: fault(seen, sound(seen))


def _sent(seen: Seen, turn: Turn, change: Callable[[dict[str, Any]], None], *, ended: bool = True) -> Raw:
    """The turn on the wire, each body or event changed."""
    wire = WIRES["openai-chat"]
    parts = list(wire.events(turn)) if seen.streaming else [wire.body(turn)]
    for part in parts:
        change(part)
    if not seen.streaming:
        return Raw([json.dumps(parts[0]).encode()])
    frames = [f"data: {json.dumps(part)}\n\n".encode() for part in parts]
    return Raw([*frames, *([b"data: [DONE]\n\n"] if ended else [])], "text/event-stream")


def _calls_of(part: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for choice in part["choices"]:
        message: dict[str, Any] = choice.get("delta") or choice.get("message") or {}
        found += message.get("tool_calls", [])
    return found


def _without_ids(part: dict[str, Any]) -> None:
    for call in _calls_of(part):
        call["id"] = ""


def _one_index(part: dict[str, Any]) -> None:
    for call in _calls_of(part):
        if "index" in call:
            call["index"] = 0


def _finish_stop(part: dict[str, Any]) -> None:
    for choice in part["choices"]:
        choice["finish_reason"] = "stop" if choice["finish_reason"] else None


def _as_text(turn: Turn) -> Turn:
    calls = [f"<tool_call>{json.dumps({'name': name, 'arguments': given})}</tool_call>" for name, given in turn.calls]
    return replace(turn, text=turn.text + "\n".join(calls), calls=[])


def _arguments(turn: Turn, change: Callable[[Mapping[str, Any]], Any]) -> Turn:
    return replace(turn, calls=[(name, change(given)) for name, given in turn.calls])


def _cut(seen: Seen, turn: Turn) -> Step:
    if not seen.streaming:
        return turn
    events = list(WIRES["openai-chat"].events(turn))[:-2]
    return Raw([f"data: {json.dumps(event)}\n\n".encode() for event in events], "text/event-stream", ending="dropped")


def _is_forced(seen: Seen) -> bool:
    return isinstance(seen.body.get("tool_choice"), dict)


def _ascii(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.encode("ascii", "replace").decode() if isinstance(value, str) else value for key, value in given.items()}


FAULTS: dict[str, Fault] = {
    "answered": lambda seen, turn: Failure(500, {"error": {"message": "no"}}) if len(turn.calls) > 1 else turn,
    "stream_ends": _cut,
    "call_made": lambda seen, turn: Turn("I cannot look.") if turn.reasoning else turn,
    "native_calls": lambda seen, turn: _as_text(turn),
    "no_needless_call": lambda seen, turn: Turn(calls=[("get_weather", {"city": "Paris"})]) if turn.text == "Hello." else turn,
    "tool_choice": lambda seen, turn: Turn(calls=[("get_weather", {"city": "Paris"})]) if _is_forced(seen) else turn,
    "parallel_calls": lambda seen, turn: replace(turn, calls=turn.calls[:1]),
    "valid_json": lambda seen, turn: _arguments(turn, lambda given: json.dumps(given)[:-1] + ",}" if given else ""),
    "known_name": lambda seen, turn: replace(turn, calls=[(f"functions.{name}", given) for name, given in turn.calls]),
    "fits_schema": lambda seen, turn: _arguments(
        turn, lambda given: {**given, "dishes": json.dumps(given["dishes"])} if "dishes" in given else given
    ),
    "exact_arguments": lambda seen, turn: _arguments(turn, _ascii),
    "call_ids": lambda seen, turn: _sent(seen, turn, _without_ids),
    "stream_index": lambda seen, turn: _sent(seen, turn, _one_index),
    "finish_reason": lambda seen, turn: _sent(seen, turn, _finish_stop),
    "uses_results": lambda seen, turn: Turn("I do not know.") if "21" in turn.text else turn,
    "reasoning_apart": lambda seen, turn: (
        replace(turn, text=f"<think>{turn.reasoning}</think>{turn.text}", reasoning="") if turn.reasoning else turn
    ),
}
"""By rule: what breaks it."""
