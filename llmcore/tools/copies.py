"""Copies at the border to foreign code: what a tool changes in place stays its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast, overload

from llmcore.support.values.copies import copied
from llmcore.types import Message

__all__ = ["MessageCopies"]


class MessageCopies(Sequence[Message]):
    """A history to look at: each look gives copies, so that nothing that is done to them reaches the history."""

    __slots__ = ("_messages",)

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = tuple(messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        return copied(self._messages[index])

    def __len__(self) -> int:
        return len(self._messages)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._messages == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(len(self._messages))

    def __repr__(self) -> str:
        return repr(self._messages)
