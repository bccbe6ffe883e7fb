"""What a reply leaves behind when nobody holds its envelope: nothing that waits for the garbage collector.

A server reads thousands of replies between two runs of it, and a run of it stops all threads.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

import llmcore
from llmcore.normalizer.dialects.registry import DIALECTS

TOOLS = llmcore.ToolSet([{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}])
TEXTS = {
    "words": "Hello.",
    "a candidate": "Look at {this} [here] < there.",
    "code": 'So:\n\n```json\n{"name": "weather", "arguments": {"city": "Bonn"}}\n```\n\nThat is all.',
    "cut": 'Now.\n\n<tool_call>\n{"name": "weather", "arguments": {"ci',
    "reasoning": "<think>It rains.</think>It does.",
    **{name: f"Right away.\n\n{row.write([('weather', {'city': 'Bonn', 'days': [1, 2]})])}" for name, row in DIALECTS.items()},
}
CHUNKS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"content": "Right away."}}]},
    {
        "choices": [
            {"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "weather", "arguments": "{"}}]}}
        ]
    },
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]


def _whole(text: str) -> object:
    envelope = llmcore.normalize(text, TOOLS)
    return envelope.blocks, envelope.segments


def _streamed(parts: list[Any]) -> object:
    normalizer = llmcore.Normalizer(TOOLS)
    for part in parts:
        normalizer.feed(part)
    normalizer.finish()
    return normalizer.envelope


def _by_characters(text: str) -> object:
    return _streamed(list(text))


@contextmanager
def _left() -> Generator[set[str]]:
    """The classes of our objects that only the collector found. What is old is left alone: thousands of tests have left much of it."""
    left: set[str] = set()
    gc.disable()
    gc.collect(1)
    try:
        yield left
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect(1)
        left |= {type(one).__qualname__ for one in gc.garbage if type(one).__module__.startswith("llmcore")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("read", [_whole, _by_characters], ids=["whole", "streamed"])
def test_a_text_leaves_nothing_for_the_collector(read: Callable[[str], object], text: str) -> None:
    for _ in range(4):  # what is learnt of a form is kept
        read(text)
    with _left() as left:
        read(text)
    assert not left


def test_native_replies_leave_nothing_for_the_collector() -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": TEXTS["hermes"]}, "finish_reason": "stop"}]}
    for _ in range(2):
        llmcore.normalize(body, TOOLS)
        _streamed(CHUNKS)
    with _left() as left:
        llmcore.normalize(body, TOOLS)
        _streamed(CHUNKS)
    assert not left
