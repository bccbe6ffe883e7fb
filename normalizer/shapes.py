"""One call in one reply, written as its dialect writes it: read by its shape, without the walk.

Most replies that call a tool hold one call and nothing else. Each row's writer writes such a reply and the engine reads it, once:
what stands before the name, between name and arguments, and behind them is the shape of the row. A reply of that shape with sound
JSON arguments for a tool that was told is then read in a few steps, in a third of the engine's time. Whatever does not fit is
the engine's; that both agree is tested for every row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from llmcore.normalizer.readers.strict import sound_object
from llmcore.normalizer.registry import DIALECTS
from llmcore.normalizer.rows import Dialect
from llmcore.normalizer.text import TextEngine
from llmcore.normalizer.verdicts import is_placeholder
from llmcore.types.envelope import Segment, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolDefinition, ToolSet

__all__ = ["read_by_shape", "segments_of_one"]

_NAME = "shape_of_a_name"
_TOOLS = ToolSet([ToolDefinition(name=_NAME)])
_ARGUMENTS: dict[str, Any] = {"shape_of_a_key": 1}
_WRITTEN = json.dumps(_ARGUMENTS)
_PLACEHOLDER = {"shape_of_a_key": "<a value>"}
_SPACE = " \t\r\n"  # JSON's; at more the engine must look
_HERE = "\0"
_START = 4  # characters by which a reply finds the shapes it may have
_GAP = 16  # characters of white space in a gap: what readers wait for within a head is bounded
_BRACKETS = 4  # that a row may put around the arguments
_TOKENS = re.compile(r"[}\])]|[^\s}\])]\S*")
_FLEXIBLE = re.compile(r'\s+|(?<=[{\[:,])(?=["{\[])')
_WORDS_APART = re.compile(r"\w\s+\w")


class _Shape:
    """The shape of one row.

    `head`: up to the arguments; its group `name`, and the group `call`, which is empty, where the call begins. `tail`: what
    follows the arguments, from the last token to the first. `behind`: so many of the last characters are no part of the call.
    `placeholders`: a value like `<your city>` makes no example of the call.
    """

    __slots__ = ("behind", "dialect", "head", "id", "placeholders", "tail")

    def __init__(self, text: str, call: ToolCall, span: tuple[int, int], placeholders: bool) -> None:
        arguments_at = text.index(_WRITTEN)
        marked = text[: span[0]] + _HERE + text[span[0] : arguments_at]
        before, *after = (_flexible(part).replace(_HERE, "(?P<call>)") for part in marked.split(_NAME))
        self.head = re.compile(rf"{before}(?P<name>[A-Za-z_][\w-]{{0,127}}){'(?P=name)'.join(after)}")
        self.tail = [token[0] for token in _TOKENS.finditer(text, arguments_at + len(_WRITTEN))][::-1]
        self.behind = len(text) - span[1]
        self.dialect, self.id, self.placeholders = call.dialect, call.id, placeholders

    def read(self, text: str, tools: ToolSet, limits: Limits) -> ToolCall | None:
        """The call, if the text is of this shape and its arguments are sound."""
        head = self.head.match(text)
        if head is None or head["name"] not in tools.names:
            return None
        stop = said = len(text.rstrip(_SPACE))
        for token in self.tail:
            if not text.endswith(token, 0, stop):
                return None
            stop -= len(token)
            while text[stop - 1] in _SPACE:
                stop -= 1
        written = text[head.end() : stop]
        arguments = sound_object(written, limits)
        if (
            arguments is None
            or "properties" in arguments
            or (not self.placeholders and any(map(is_placeholder, arguments.values())))
        ):
            return None
        return ToolCall.trusted(
            id=self.id.replace(_NAME, head["name"]) if self.id else "call_0",
            name=head["name"],
            arguments=arguments,
            raw_arguments=written,
            dialect=self.dialect,
            span=(head.start("call"), said - self.behind),
            complete=True,
            known=True,
            repairs=[],
        )


def _flexible(literal: str) -> str:
    """An expression for the literal: white space may be more or less where JSON or markup allows it, in the readers' reach."""
    if _WORDS_APART.search(literal):
        return re.escape(literal)
    parts = _FLEXIBLE.split(literal)
    gaps = [f"[{_SPACE if gap != ' ' else gap}]{{0,{_GAP}}}" for gap in _FLEXIBLE.findall(literal)]
    return "".join(re.escape(part) + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


def _learnt(row: Dialect, text: str) -> _Shape | None:
    """The shape of what the row's writer wrote; None when that is not markup, one call with JSON arguments, markup."""
    engine = TextEngine(_TOOLS, listening=False).read(text)
    calls, spans = engine.calls, [(start, end) for start, end, kind in engine.pieces if kind == "call"]
    sound = len(calls) == len(spans) == 1 and calls[0].complete and not calls[0].repairs and calls[0].raw_arguments == _WRITTEN
    plain = not engine.content and not engine.reasoning and engine.needs_more_work is None
    if not (sound and plain and text.count(_WRITTEN) == 1):
        return None
    placeholder = TextEngine(_TOOLS, listening=False).read(row.write([(_NAME, _PLACEHOLDER)]))
    return _Shape(text, calls[0], spans[0], placeholders=bool(placeholder.calls))


@lru_cache(maxsize=4096)
def _shapes(start: str, dialects: frozenset[str] | None) -> tuple[_Shape, ...]:
    """The shapes of replies that begin so."""
    written = {
        row: row.write([(_NAME, _ARGUMENTS)]).rstrip() for row in DIALECTS.values() if dialects is None or row.name in dialects
    }
    shapes = [_learnt(row, text) for row, text in written.items() if text.startswith(start)]
    return tuple(shape for shape in shapes if shape is not None)


@cache
def _starts() -> frozenset[str]:
    """What replies of a shape begin with. A row that begins with the name has no shape."""
    return frozenset(row.write([(_NAME, _ARGUMENTS)])[:_START] for row in DIALECTS.values()) - {_NAME[:_START]}


@lru_cache
def _inside(limits: Limits) -> Limits:
    """The limits for arguments that may stand in brackets which count as well."""
    return replace(limits, depth=limits.depth - _BRACKETS)


def read_by_shape(text: str, tools: ToolSet, limits: Limits, dialects: Collection[str] | None = None) -> ToolCall | None:
    """The one call that is all of `text`, or None: then the engine must read it."""
    start = text[:_START]
    if start not in _starts() or len(text) > limits.arguments:
        return None
    inner = _inside(limits)
    for shape in _shapes(start, None if dialects is None else frozenset(dialects)):
        if (call := shape.read(text, tools, inner)) is not None:
            return call
    return None


def segments_of_one(length: int, call: ToolCall | None) -> list[Segment]:
    """The segments of a text of `length` characters that is one call and markup around it, or content alone."""
    if call is None:
        return [Segment(0, length, "content")]
    start, end = call.span or (0, length)
    tiles = [Segment(0, start, "markup"), Segment(start, end, "call"), Segment(end, length, "markup")]
    return [tile for tile in tiles if tile.start < tile.end]
