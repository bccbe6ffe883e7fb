"""Emit events for JSON calls while their body is still incomplete: each name once it is certain, arguments as they arrive.

An emitted delta is not taken back, and `ToolCallFinished` has the final arguments. A body that begins like a call becomes a
call, perhaps without readable arguments. So a preview also runs if no events are needed: the envelope does not depend on it.
The work is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final, Protocol

from llmcore.normalizer.calls.call_messages import is_no_call
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.names import holds_calls
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.extent import Extent, delimiters_of
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["NAP", "BodyPreview", "Preview"]

_PAIR: Final = r'"(?:id|type|index|call_id|tool_call_id)"\s*+:\s*+(?:"[^"\\]{0,128}+"|\d{1,9}+)\s*+,\s*+'
_SCHEMA_KEY: Final = lazy_regex(r"type|properties|required|description|title|items|additionalProperties|\$\w{1,16}")
_DEFINITION_KEY: Final = lazy_regex(r"type|name|description|strict|parameters(?:_?[jJ]son_?[sS]chema)?|input_?[sS]chema")
_FIRST_KEY: Final = r'(?=\{\s*+(?:\}|"(?P<first>[^"\\]{0,256}+)"))'
_CALL: Final = (
    rf'\{{\s*+(?:{_PAIR}){{0,4}}"(?:name|tool_name)"\s*+:\s*+"(?P<name>[^"\\]{{1,256}}+)"\s*+,\s*+'
    rf'(?:"arg(?:ument)?s"\s*+:\s*+(?=\{{)|"parameters"\s*+:\s*+{_FIRST_KEY})'
)
_KEYED: Final = rf'\{{\s*+"(?P<name>[^"\\]{{1,256}}+)"\s*+:\s*+{_FIRST_KEY}'


def _heads(call: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The expressions for the head of the first call, and of a call that follows another."""
    return lazy_regex(rf"\s*+(?:\[\s*+)?{call}"), lazy_regex(rf"\s*+\}}\s*+(?:[,;]\s*+)?{call}")


_HEADS, _KEYED_HEADS = _heads(_CALL), _heads(_KEYED)
NAP: Final = 4096  # characters after which a skimmed body is read again, so that no single feed reads all of it
_ID: Final = lazy_regex(r'"(?:id|call_id|tool_call_id)"\s*:\s*"([^"\\]{1,128})"')


class BodyPreview(Protocol):
    """Emits events for a body while another function looks for its end."""

    def advance(self) -> None:
        """Emit the text that has arrived."""

    def sleeps(self) -> bool:
        """Whether the function that reads the body may leave the next text to `skim`."""
        ...

    def skim(self, more: str) -> bool:
        """Emit more of the body. Returns False if the function that reads the body must be resumed."""
        ...


class Preview:
    """Follows the call objects from `body` on, up to one of the `closers`. `drafts` are the calls that it began, in order."""

    __slots__ = (
        "_at",
        "_awake",
        "_delimiters",
        "_dialect",
        "_emitted_to",
        "_extent",
        "_heads",
        "_is_keyed",
        "_reading",
        "_single",
        "_starts",
        "drafts",
    )

    def __init__(
        self, reading: Reading, at: int, body: int, dialect: str, closers: tuple[str, ...], *, keyed: bool = False
    ) -> None:
        self._reading, self._at, self._dialect = reading, at, dialect
        self._heads = _KEYED_HEADS if keyed else _HEADS
        self._is_keyed = keyed  # compiled code makes another tuple of the same expressions, so identity does not tell
        self._extent: Extent | None = None
        self._single = False
        self._delimiters = delimiters_of(closers)
        self._emitted_to = self._awake = body
        self.drafts: list[Draft] = []
        self._starts: list[int] = []

    def start(self, name: str, arguments_at: int, id: str = "") -> None:
        """Begin the only call: its name stood before its arguments, an object that begins at `arguments_at`."""
        self._single = True
        self._begin(name, arguments_at, id)

    def begun_in(self, start: int, end: int) -> list[Draft]:
        """The calls whose arguments begin within `start:end`."""
        return self.drafts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def advance(self) -> None:
        """Emit the text that has arrived."""
        while self._extent is not None or self._next_call():
            if not self._emit():
                return

    def skim(self, more: str) -> bool:
        """Emit more of the arguments. Returns False at their end, and after `NAP` characters, so that the body is read again."""
        extent = self._extent
        if extent is None or extent.stopped >= 0:
            return False
        length = len(self._reading.src.text)
        if '"' not in more and extent.string_start >= 0 and self._emitted_to + len(more) == length:
            self._reading.delta(self.drafts[-1], more)
            self._emitted_to = length
        else:
            self._emit()
        return self._extent is not None and extent.stopped < 0 and length - self._awake < NAP

    def sleeps(self) -> bool:
        self._awake = len(self._reading.src.text)
        return self._extent is not None and self._extent.stopped < 0

    def _next_call(self) -> bool:
        reading = self._reading
        if self._single or len(reading.drafts) >= reading.limits.calls:
            return False
        head = self._heads[bool(self.drafts)].match(reading.src.text, self._emitted_to)
        if head is None or not head["name"].strip() or self._is_no_call(head["name"]) or self._may_define(head):
            return False
        identity = _ID.search(head[0])
        self._begin(head["name"], head.end(), identity[1] if identity else "")
        return True

    def _is_no_call(self, name: str) -> bool:
        """Whether `name` calls nothing, or calls several tools, whose names are known only once the body is complete."""
        tools = self._reading.tools
        return is_no_call(name, tools) or holds_calls(name, tools)

    def _may_define(self, head: re.Match[str]) -> bool:
        """Whether these arguments may be a tool's schema or, if the name is their key, its definition, by their first key.

        They are not if the tool has that parameter.
        """
        first, tool = head["first"], self._reading.tool(head["name"])
        if first is None:
            return False
        is_keyed = self._is_keyed
        is_clear = is_keyed and tool is not None  # a key of the tool is an argument, and any other may stand in a definition
        if not is_clear and (_DEFINITION_KEY if is_keyed else _SCHEMA_KEY).fullmatch(first) is None:
            return False
        return first == "type" or tool is None or first not in tool.properties

    def _begin(self, name: str, arguments_at: int, id: str) -> None:
        self._starts.append(arguments_at)
        self.drafts.append(self._reading.begin(self._at, name, self._dialect, id))
        self._extent, self._emitted_to = Extent(arguments_at, delimiters=self._delimiters), arguments_at

    def _emit(self) -> bool:
        """Emit more of the arguments. Returns True if they ended and another call may follow."""
        extent, text = self._extent, self._reading.src.text
        if extent is None:
            return False
        end = extent.scan(text)
        upto = end if end >= 0 else extent.position
        if upto > self._emitted_to:
            self._reading.delta(self.drafts[-1], text[self._emitted_to : upto])
            self._emitted_to = upto
        if end < 0:
            return False
        self._extent = None
        return not self._single
