"""The typed output while it is still being streamed.

The text so far is parsed again only when it has grown by a twentieth, so the work stays linear in the length of the
reply (about twenty times it) and a long output gives tens of values, not thousands. A value is shown only when it
differs from the last. What the normaliser holds back is read as well, where it is certain to be the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.output.answer_type import OutputSpec
from llmcore.run.output.early_output import AnswerKeys, answer_in
from llmcore.support.values.identity import alike
from llmcore.types import (
    ArgumentsDelta,
    Event,
    OutputParseError,
    PartialOutput,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolSet,
)

__all__ = ["PartialValues"]

_LEAST_GROWTH = 16
_GROWTH = 20


class PartialValues:
    """Feed it a reply's events, and what is held back of it; it says when there is a new partial value. `tools`: what the reply
    may call."""

    def __init__(self, output: OutputSpec, tools: ToolSet) -> None:
        self._output = output
        self._tools = tools
        self._parts: list[str] = []
        self._length = 0
        self._next = _LEAST_GROWTH
        self._index: int | None = None
        self._indices: set[int] = set()
        """The calls of the output tool."""
        self._last: Any = None

    @cached_property
    def _fields(self) -> AnswerKeys:
        return AnswerKeys(self._output.schema)

    def saw(self, event: Event) -> PartialOutput | None:
        """Take one event of the reply: its text, or the arguments of the output tool once that is called."""
        if isinstance(event, ToolCallStarted):
            if event.name == FINAL_RESULT:
                self._indices.add(event.index)
            if event.name == FINAL_RESULT and self._index is None:
                self._index, self._parts, self._length, self._next = event.index, [], 0, _LEAST_GROWTH
        elif isinstance(event, TextDelta) and self._index is None:
            return self._grown(event.text)
        elif isinstance(event, ArgumentsDelta) and event.index == self._index:
            return self._grown(event.json)
        return None

    def read_withheld(self, held: Callable[[int], str]) -> PartialOutput | None:
        """Look at what is held back: `held(start)` is that from its character `start` on."""
        if self._index is not None or not held(max(0, self._next - self._length - 1)):
            return None
        text = "".join(self._parts) + held(0)
        self._next = len(text) + max(_LEAST_GROWTH, len(text) // _GROWTH)
        answer = answer_in(text, self._tools, self._fields)
        return None if answer is None else self._new(answer)

    def hides(self, event: Event) -> bool:
        """Is it, once it was seen, an event of a call of the output tool? That is how a value came, and no tool of anybody's."""
        return isinstance(event, ToolCallStarted | ArgumentsDelta | ToolCallFinished) and event.index in self._indices

    def _grown(self, piece: str) -> PartialOutput | None:
        self._parts.append(piece)
        self._length += len(piece)
        if self._length < self._next:
            return None
        self._next = self._length + max(_LEAST_GROWTH, self._length // _GROWTH)
        return self._new("".join(self._parts))

    def _new(self, text: str) -> PartialOutput | None:
        """What is certain of the value in the text, unless that was told."""
        value = self._read(text)
        if value is None or alike(value, self._last):
            return None
        self._last = value
        return PartialOutput(value)

    def _read(self, text: str) -> Any:
        try:
            return self._output.read_partial(text)
        except OutputParseError:
            return None
