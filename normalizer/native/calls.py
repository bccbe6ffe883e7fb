"""Native calls while they are assembled from the pieces of a reply.

The wire's reader has resolved its numbering: here, each key is one call.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer.native.wire_pieces import CallStart
from llmcore.support.values.narrowing import text_of
from llmcore.types.envelope import ToolCall

__all__ = ["CallAssembly", "NativeCall"]

_ABSENT = object()


@dataclass(slots=True)
class NativeCall:
    """One call while it is assembled.

    - `position`: its number among the native calls of the reply.
    - `index`: its number in events, -1 before its start was emitted.
    - `has_deltas`: arguments of it were emitted.
    - `read`: its result, once no later piece can change it.
    - `awaits_end`: its wire marks the end of a call, which sets `whole`.
    - `cut`: something else took its place before its end.
    """

    key: Hashable
    position: int
    id: str = ""
    name: str = ""
    free_text: bool = False
    pieces: list[str] = field(default_factory=list[str])
    value: Any = _ABSENT
    whole: bool = False
    index: int = -1
    has_deltas: bool = False
    read: list[ToolCall] | None = None
    awaits_end: bool = False
    cut: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def has_value(self) -> bool:
        """Whether the arguments arrived as a JSON value."""
        return self.value is not _ABSENT

    @property
    def given(self) -> object:
        """The arguments if they arrived as a value, else None."""
        return None if self.value is _ABSENT else self.value

    @property
    def is_unfinished(self) -> bool:
        """Whether its wire marks the end of calls, but has not marked this one's."""
        return self.awaits_end and not self.whole

    @property
    def is_cut(self) -> bool:
        """Whether its last part is missing, whatever its arguments look like. Only JSON text can show its own end."""
        may_show_its_end = not self.free_text and bool(self.text.strip())
        return self.cut or (self.is_unfinished and not may_show_its_end)

    def is_begun_anew(self, piece: CallStart) -> bool:
        """Whether the event begins another call in the place of this one. A repeated start does not."""
        return piece.begins and (self.cut or piece.id != self.id or self.has_value or any(self.pieces))

    def says_nothing(self) -> bool:
        return not self.id and not self.name and not self.given and not self.text.strip()


class CallAssembly:
    """The native calls of one reply, in the order in which they began."""

    __slots__ = ("_open", "calls")

    def __init__(self) -> None:
        self.calls: list[NativeCall] = []
        self._open: dict[Hashable, NativeCall] = {}

    def start(self, piece: CallStart) -> tuple[NativeCall, bool]:
        """The call that the piece belongs to, and whether it is new."""
        call = self._open.get(piece.key)
        if call is not None and call.is_begun_anew(piece):
            call.cut = True
            call = None
        is_new = call is None
        if call is None:
            call = self._begin(piece.key)
        call.awaits_end = call.awaits_end or piece.begins
        call.id = call.id or piece.id
        call.name = call.name or piece.name
        call.free_text = call.free_text or piece.free_text
        return call, is_new

    def arguments(self, key: Hashable, value: object) -> tuple[NativeCall, bool]:
        """The call of these arguments, and whether it is new: a server may omit its start."""
        call = self._open.get(key)
        is_new = call is None
        if call is None:
            call = self._begin(key)
        if isinstance(value, str):
            call.pieces.append(text_of(value))
        elif value is not None:
            call.value = value
        return call, is_new

    def cut(self, key: Hashable) -> None:
        """Record that something else took the call's place before its end."""
        if (call := self._open.get(key)) is not None:
            call.cut = True

    def end(self, key: Hashable) -> NativeCall | None:
        call = self._open.pop(key, None)
        if call is not None:
            call.whole = True
        return call

    def _begin(self, key: Hashable) -> NativeCall:
        call = self._open[key] = NativeCall(key, len(self.calls))
        self.calls.append(call)
        return call
