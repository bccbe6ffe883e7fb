"""Emit deltas of arguments that arrive one by one."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any, Final

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import as_json

__all__ = ["ArgumentStream", "before_layout"]

_LAYOUT: Final = 64  # characters of white space before a closer that are emitted later


class ArgumentStream:
    """Emits arguments as JSON, piece by piece."""

    __slots__ = ("_draft", "_opened", "_reading")

    def __init__(self, reading: Reading, draft: Draft) -> None:
        self._reading, self._draft, self._opened = reading, draft, False

    def key(self, key: str) -> str:
        lead = ", " if self._opened else "{"
        self._opened = True
        return f"{lead}{as_json(key)}: "

    def whole(self, key: str, value: Any) -> None:
        self._reading.delta(self._draft, self.key(key) + as_json(value))

    def open_string(self, key: str) -> None:
        self._reading.delta(self._draft, self.key(key) + '"')

    def piece(self, text: str) -> None:
        self._reading.delta(self._draft, encode_basestring(text)[1:-1])

    def close_string(self, text: str) -> None:
        self._reading.delta(self._draft, encode_basestring(text)[1:])

    def close(self) -> None:
        if self._opened:
            self._reading.delta(self._draft, "}")


def before_layout(text: str, emitted_to: int, end: int) -> int:
    """Where the white space begins that ends at `end` and may be layout. Searches at most `_LAYOUT` characters, to
    `emitted_to`."""
    floor = max(emitted_to, end - _LAYOUT)
    return floor + len(text[floor:end].rstrip())
