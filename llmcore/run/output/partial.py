"""Partial values of a typed output while its reply streams.

The text is parsed again only when it has grown by a twentieth. So the work is linear in the length of the reply, and a long
output gives tens of values, not thousands. A value is emitted only if it differs from the last one. Text that the normaliser
withholds is read, too, if it is certain to be the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.output.answer_type import OutputSpec
from llmcore.run.output.early_output import AnswerKeys, certain_answer
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
    """Turns a reply's events and its withheld text into partial values. `tools`: the tools that the reply may call."""

    def __init__(self, output: OutputSpec, tools: ToolSet) -> None:
        self._output = output
        self._tools = tools
        self._parts: list[str] = []
        self._length = 0
        self._next = _LEAST_GROWTH
        self._index: int | None = None
        self._indices: set[int] = set()
        """The indices of the output tool's calls."""
        self._last: Any = None

    @cached_property
    def _fields(self) -> AnswerKeys:
        return AnswerKeys(self._output.schema)

    def feed(self, event: Event) -> PartialOutput | None:
        """Read one event of the reply: its text, or the arguments of the output tool once that is called."""
        if isinstance(event, ToolCallStarted):
            if event.name == FINAL_RESULT:
                self._indices.add(event.index)
            if event.name == FINAL_RESULT and self._index is None:
                self._index, self._parts, self._length, self._next = event.index, [], 0, _LEAST_GROWTH
        elif isinstance(event, TextDelta) and self._index is None:
            return self._read_grown(event.text)
        elif isinstance(event, ArgumentsDelta) and event.index == self._index:
            return self._read_grown(event.json)
        return None

    def read_withheld(self, withheld: Callable[[int], str]) -> PartialOutput | None:
        """Read the withheld text. `withheld(start)` returns it from its character `start` on."""
        if self._index is not None or not withheld(max(0, self._next - self._length - 1)):
            return None
        text = "".join(self._parts) + withheld(0)
        self._next = len(text) + max(_LEAST_GROWTH, len(text) // _GROWTH)
        answer = certain_answer(text, self._tools, self._fields)
        return None if answer is None else self._new_value(answer)

    def is_output_call(self, event: Event) -> bool:
        """Whether the event, once fed, belongs to a call of the output tool. Listeners see the value instead of such events."""
        return isinstance(event, ToolCallStarted | ArgumentsDelta | ToolCallFinished) and event.index in self._indices

    def _read_grown(self, piece: str) -> PartialOutput | None:
        self._parts.append(piece)
        self._length += len(piece)
        if self._length < self._next:
            return None
        self._next = self._length + max(_LEAST_GROWTH, self._length // _GROWTH)
        return self._new_value("".join(self._parts))

    def _new_value(self, text: str) -> PartialOutput | None:
        """The certain part of the value in the text, unless it was emitted already."""
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
