"""Counts of tokens that are none are not told, on any wire, and cost no reply and no warning."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.wire.counts import with_sound_counts
from llmcore.normalizer import normalize
from llmcore.support.values.narrowing import is_list, is_object
from tests.adapters.conftest import call_of, endpoint_at
from tests.adapters.wire.test_cut_replies import raw_stream, streamed, wire_of
from tests.helpers.wire_server import Raw, Turn, WireServer
from tests.helpers.wires import WIRES

JUNK: list[Any] = [True, "7", -3, 1.5, 10**30, None, [1], {"a": 1}]
TURN = Turn("Hello.", chunk=100)


def _all(usage: Any, junk: Any) -> Any:
    return {key: _all(value, junk) for key, value in usage.items()} if is_object(usage) else junk


def spoilt(value: Any, junk: Any) -> Any:
    """A body or an event with junk for each of its counts."""
    if is_list(value):
        return [spoilt(item, junk) for item in value]
    if not is_object(value):
        return value
    told = {key: _all(item, junk) for key, item in value.items() if key in ("usage", "usageMetadata") or "eval_count" in key}
    return {key: spoilt(item, junk) for key, item in value.items()} | told


def _spoilt_frame(frame: bytes, junk: Any) -> bytes:
    head, brace, rest = frame.partition(b"{")
    return head + json.dumps(spoilt(json.loads(brace + rest), junk)).encode() + b"\n\n" if brace else frame


@pytest.mark.anyio
@pytest.mark.parametrize("junk", JUNK, ids=repr)
@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini", "ollama"])
async def test_a_count_that_is_none_is_not_told_and_costs_nothing(adapter: LiteLLMAdapter, provider: str, junk: Any) -> None:
    body = json.dumps(spoilt(WIRES[wire_of(provider)].body(TURN), junk)).encode()
    parts = [_spoilt_frame(frame, junk) for frame in streamed(provider, TURN)]
    with warnings.catch_warnings(record=True) as warned, WireServer([Raw([body]), raw_stream(provider, parts)]) as server:
        warnings.filterwarnings("always", category=UserWarning)
        reply = await adapter.complete(call_of(endpoint_at(server, provider)))
        *events, last = [event async for event in adapter.stream(call_of(endpoint_at(server, provider)))]
    assert [normalize(reply).content, normalize(events).content] == [TURN.text, TURN.text]
    assert reply.usage.total_tokens == 0
    assert reply.usage.estimated
    assert is_object(last)
    assert {key: value for key, value in last["llmcore"]["usage"].items() if value} == {"estimated": True}
    assert [warning for warning in warned if issubclass(warning.category, UserWarning)] == []


def test_sound_counts_are_left_as_they_are() -> None:
    for wire in WIRES.values():
        turn = Turn("Hello.", reasoning="Hm.", cached=3)
        for event in (wire.body(turn), *wire.events(turn)):
            assert with_sound_counts(event) is event or with_sound_counts(event) == event
    arguments = {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": {"usage": {"tokens": "many"}}}}]}}]}
    assert with_sound_counts(arguments) == arguments
