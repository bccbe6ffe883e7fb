"""Copies at the border to foreign code: what a tool changes in place stays its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast, overload

from llmcore.types import Message

__all__ = ["MessageCopies", "copied"]


def copied(value: object) -> Any:
    """The value with new dicts, lists and tuples at every level; whatever else stands in them stays the same object."""
    kind = type(value)
    if kind is dict:
        return {key: copied(item) for key, item in cast("dict[Any, Any]", value).items()}
    if kind is list:
        return [copied(item) for item in cast("list[Any]", value)]
    if kind is tuple:
        return tuple(copied(item) for item in cast("tuple[Any, ...]", value))
    return value


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
        if isinstance(index, slice):
            return tuple(message.model_copy(deep=True) for message in self._messages[index])
        return self._messages[index].model_copy(deep=True)

    def __len__(self) -> int:
        return len(self._messages)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._messages == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(len(self._messages))

    def __repr__(self) -> str:
        return repr(self._messages)
