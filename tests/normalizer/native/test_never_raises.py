"""Whatever a provider sends: an envelope, never an exception, and the same for the same stream."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer import Normalizer, normalize
from llmcore.normalizer.native.wires import WIRES
from llmcore.types import Envelope
from tests.normalizer.native.samples import SAMPLES, TOOLS

_KEYS = """
    choices index delta message content role tool_calls function_call function custom name arguments input id type
    output item response status incomplete_details candidates parts text thought functionCall args error
    reasoning reasoning_content reasoning_details thinking_blocks thinking signature toolUse contentBlockDelta
    contentBlockIndex content_block partial_json failed_generation done stop_reason finish_reason refusal
"""
_WORDS = _KEYS.split()
_KINDS = [
    "text",
    "thinking",
    "tool_use",
    "function",
    "custom",
    "message",
    "reasoning",
    "function_call",
    "tool-call-delta",
]
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from([*_KINDS, *_WORDS, '{"a": 1}', '{"a', "{}", "assistant", "\ud83d"]),
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(_WORDS), inner, max_size=5),
    ),
    max_leaves=25,
)
_BODIES = [*(sample.whole for sample in SAMPLES), *(event for sample in SAMPLES for event in sample.events)]


def _spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a body."""
    found = [path] if path else []
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = [*cast("dict[str, Any]", value).items()]
    elif isinstance(value, list):
        inner = [*enumerate(cast("Sequence[Any]", value))]
    for key, item in inner:
        found += _spots(item, (*path, key))
    return found


def _checked(envelope: Envelope) -> None:
    assert envelope.model_dump(mode="json", by_alias=True)
    assert isinstance(envelope.blocks, list)
    assert "".join(envelope.source[s.start : s.end] for s in envelope.segments) == envelope.source
    for call in envelope.tool_calls:
        assert call.id
        assert call.name


@given(_JSON)
def test_any_json(body: Any) -> None:
    _checked(normalize(body, TOOLS))


@given(st.lists(_JSON, max_size=4))
def test_any_stream(events: list[Any]) -> None:
    normalizer = Normalizer(TOOLS)
    for event in events:
        normalizer.feed(event)
    normalizer.finish()
    silent = Normalizer(TOOLS, listening=False)
    for event in events:
        silent.feed(event)
    silent.finish()
    assert repr(normalizer.envelope) == repr(silent.envelope)


@given(st.sampled_from(_BODIES), st.data())
def test_damaged_bodies(body: dict[str, Any], data: st.DataObject) -> None:
    damaged = copy.deepcopy(body)
    for _ in range(data.draw(st.integers(1, 3))):
        spots = _spots(damaged)
        if not spots:
            break
        *path, last = data.draw(st.sampled_from(spots))
        holder = damaged
        for step in path:
            holder = holder[step]
        if data.draw(st.booleans()):
            holder[last] = data.draw(_JSON)
        elif isinstance(holder, dict):
            del holder[last]
        else:
            holder.insert(0, data.draw(_JSON))
    _checked(normalize(damaged, TOOLS))


_WRONG: tuple[Any, ...] = (None, [], {}, [1], {"a": []}, 7, -1, True, "x", "")


def _damaged(body: Any) -> Iterator[Any]:
    """The body with every place in it left out, and with a value of every other type there."""
    for *path, last in _spots(body):
        for value in (..., *_WRONG):
            damaged = copy.deepcopy(body)
            holder = damaged
            for step in path:
                holder = holder[step]
            if value is ...:
                del holder[last]
            else:
                holder[last] = value
            yield damaged


def _checked_stream(events: Sequence[Any]) -> None:
    normalizer = Normalizer(TOOLS)
    for event in events:
        normalizer.feed(event)
    normalizer.finish()
    _checked(normalizer.envelope)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.wire)
def test_every_place_left_out_or_of_another_type(sample: Any) -> None:
    for body in _damaged(sample.whole):
        _checked(normalize(body, TOOLS))
    for number, event in enumerate(sample.events):
        before, after = sample.events[:number], sample.events[number + 1 :]
        _checked_stream([*before, *after])
        _checked_stream([*before, event, event, *after])
        for damaged in _damaged(event):
            _checked_stream([*before, damaged, *after])


@given(st.sampled_from(SAMPLES), st.data())
def test_streams_that_lose_events_or_get_them_in_another_order(sample: Any, data: st.DataObject) -> None:
    events = data.draw(st.permutations(sample.events))
    kept = events[: data.draw(st.integers(0, len(events)))]
    normalizer = Normalizer(TOOLS)
    for event in kept:
        normalizer.feed(event)
    normalizer.finish()
    _checked(normalizer.envelope)


@given(_JSON, st.sampled_from(WIRES))
def test_every_reader_takes_any_dict(body: Any, wire: Any) -> None:
    reader = wire.reader()
    if isinstance(body, dict):
        list(reader.read(body))
        list(reader.finish())


@pytest.mark.parametrize("depth", [100, 5000])
def test_deep_bodies(depth: int) -> None:
    body: Any = "x"
    for _ in range(depth):
        body = {"content": [body]}
    normalize(body)
    normalize({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": body}}]})
