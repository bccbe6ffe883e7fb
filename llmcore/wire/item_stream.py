"""`ItemStream`: an `AppendOnlyStream` of a reply whose text stands in several items, for wires that send items or blocks.

What the server sends between two texts waits until the first text is decided. So everything keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from llmcore.support.values.narrowing import is_object
from llmcore.types import ReasoningDelta, TextDelta
from llmcore.wire.append_only import AppendOnlyStream
from llmcore.wire.item_bounds import NextItem

__all__ = ["ItemStream", "Placed", "by_item"]

Json = dict[str, Any]
Placed = tuple[Any, Any]
"""The key of an item, and what to send of it next: text, reasoning, or an event that passes."""
_NO_ITEM = object()


class ItemStream:
    """Reads the text of one item after the other. A key is whatever the wire names an item by."""

    def __init__(self, stream: AppendOnlyStream) -> None:
        self.text_stream = stream
        self._current: Any = _NO_ITEM
        """The item that is sent."""
        self._last: Any = _NO_ITEM
        """The item that began last."""
        self._waiting: dict[Any, list[Json]] = {}
        """The items that have begun and are not sent yet, with their events."""

    def begin(self, key: Any) -> list[Placed]:
        """An item begins, whose text or events follow. It ends the line for the text of the item before."""
        if key == self._last or key in self._waiting:
            return []
        self._last = key
        if self._current is _NO_ITEM:
            self._current = key
            return []
        self._waiting[key] = []
        return self._placed(self.text_stream.next_item())

    def text(self, text: str) -> list[Placed]:
        """More text of the item that began last."""
        return self._placed(self.text_stream.feed(text))

    def native(self, event: Json) -> list[Placed]:
        """Read an event of reasoning, of a call or of the reply's end. Returns the text that it decides."""
        return self._placed(each for each in self.text_stream.feed(event) if isinstance(each, TextDelta))

    def passing(self, key: Any, event: Json) -> list[Placed]:
        """An event that is sent as it is, when the text before its item is decided."""
        if key not in self._waiting:
            return [(key, event)]
        self._waiting[key].append(event)
        return []

    def finish(self, finish_reason: str | None = None, *, cut: bool = False) -> list[Placed]:
        """The rest, as of `AppendOnlyStream.finish`."""
        placed = self._placed(self.text_stream.finish(finish_reason, cut=cut))
        while self._waiting:
            placed += self._next()
        return placed

    def _placed(self, events: Iterable[TextDelta | ReasoningDelta | NextItem]) -> list[Placed]:
        placed: list[Placed] = []
        for event in events:
            if not isinstance(event, NextItem):
                placed.append((self._current, event))
            elif self._waiting:
                placed += self._next()
        return placed

    def _next(self) -> list[Placed]:
        key = self._current = next(iter(self._waiting))
        return [(key, event) for event in self._waiting.pop(key)]


def by_item(placed: Iterable[Placed]) -> Iterable[tuple[Any, bool, list[Any]]]:
    """(key, whether they are events that pass, what is sent) of adjacent parts of one item."""
    for (key, passes), parts in groupby(placed, lambda each: (each[0], is_object(each[1]))):
        yield key, passes, [part for _, part in parts]
