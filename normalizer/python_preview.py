"""What a listener hears of Python calls between markers: the first call's name at once, its arguments as each comes whole.

A value's type is told by the whole of it, so it is told whole. Further calls are told when all of them are read. What it tells
stands; as in `preview`, it runs for those who do not listen as well. Linear: each value is followed once and read once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from llmcore.normalizer.draft import Draft
from llmcore.normalizer.parameters import ArgumentStream
from llmcore.normalizer.readers.extent import Extent
from llmcore.normalizer.readers.python import read_calls

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["PythonPreview"]

_FIRST = re.compile(r"\[?\s{0,64}([^\W\d][\w.-]{0,127})\(")
_BETWEEN = r"(?:[\s,]|#[^\n]*\n)*+"
_KEYWORD = re.compile(rf"{_BETWEEN}([^\W\d]\w{{0,127}})\s{{0,16}}=\s{{0,16}}(?=[^\s=])")
_END = re.compile(rf"{_BETWEEN}\)")


class PythonPreview:
    """Follows the calls that begin at `start`. `drafts`: the first one, once its name is certain to be a tool's."""

    __slots__ = ("_at", "_engine", "_extent", "_key", "_over", "_stream", "_told", "_value_at", "drafts")

    def __init__(self, engine: TextEngine, at: int, start: int, dialect: str) -> None:
        self._engine = engine
        self.drafts: list[Draft] = []
        self._stream: ArgumentStream | None = None
        self._over = False
        self._told: dict[str, Any] = {}
        self._extent: Extent | None = None
        self._key = ""
        self._value_at = -1
        head = _FIRST.match(engine.src.text, start)
        if (
            head is not None
            and engine.known(head[1])
            and not head[1].startswith("default_api.")
            and len(head[1]) <= engine.limits.name
        ):
            self.drafts.append(engine.begin(at, head[1], dialect))
            self._stream = ArgumentStream(engine, self.drafts[0]) if engine.listening else None
            self._at = head.end()

    def advance(self) -> None:
        """Tell what has come."""
        while self._stream is not None and not self._over:
            if self._extent is None and not self._next_keyword():
                return
            end = self._value_end()
            if end < 0:
                return
            self._tell(self._stream, end)

    def finish(self, arguments: dict[str, Any] | None) -> None:
        """The first call is read: tell what is left of its arguments, if those told are the first of them."""
        told = list(self._told.items())
        if self._stream is None or not told or arguments is None or list(arguments.items())[: len(told)] != told:
            return
        for key, value in list(arguments.items())[len(told) :]:
            self._stream.whole(key, value)
        self._stream.close()

    def _next_keyword(self) -> bool:
        text = self._engine.src.text
        keyword = _KEYWORD.match(text, self._at)
        if keyword is None or keyword[1] in self._told:
            self._over = keyword is not None or _END.match(text, self._at) is not None
            return False
        self._key, self._value_at = keyword[1], keyword.end()
        self._extent = Extent(keyword.end(), quotes="'\"", delimiters=(",",), triple=True, comments=True)
        return True

    def _value_end(self) -> int:
        """Where the value ends, before a comma or the call's parenthesis; -1 when that has not come."""
        extent, text = self._extent, self._engine.src.text
        while extent is not None:
            end = extent.scan(text)
            if end >= 0:  # behind the value's own bracket, or behind the call's parenthesis
                return end if text[self._value_at] in "([{" else end - 1
            if extent.stopped < 0:
                return -1
            if extent.depth <= 0:
                return extent.stopped
            extent.position, extent.stopped = extent.stopped + 1, -1
        return -1

    def _tell(self, stream: ArgumentStream, end: int) -> None:
        """Tell the value that ends at `end`; one that needs repair ends the telling: it depends on what stands around it."""
        calls = read_calls(f"f(x={self._engine.src.text[self._value_at : end]})", limits=self._engine.limits).calls
        arguments = calls[0].arguments if len(calls) == 1 and not calls[0].repairs else None
        if arguments is None or list(arguments) != ["x"]:
            self._over = True
            return
        self._told[self._key] = arguments["x"]
        stream.whole(self._key, arguments["x"])
        self._at, self._extent = end, None
