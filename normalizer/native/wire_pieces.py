"""The pieces that every wire is read into, from whole bodies and from stream events.

Each wire has a reader that turns JSON into pieces; the code after it knows no wire. `key` identifies a call or a reasoning
block within one reply: pieces with the same key belong together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from llmcore.types.envelope import FinishReason

__all__ = [
    "CallArguments",
    "CallEnd",
    "CallStart",
    "Data",
    "FailedGeneration",
    "FinishWord",
    "Opaque",
    "Piece",
    "Reader",
    "Reasoning",
    "Redacted",
    "RefusalPiece",
    "Text",
]


@dataclass(slots=True)
class Text:
    """Text for the user, which may hold text dialects. `begins`: a block of the provider begins with it."""

    text: str
    begins: bool = False


@dataclass(slots=True)
class Data:
    """JSON data in the place of text. Its JSON is the text."""

    value: Any


@dataclass(slots=True)
class RefusalPiece:
    """The provider's refusal: content, and an opaque part of the history."""

    text: str


@dataclass(slots=True)
class Reasoning:
    """More reasoning. Without a key it joins the block before it, which a signature closes.

    `closed`: the wire says that the reasoning ends with it.
    """

    text: str = ""
    signature: str = ""
    key: Hashable = None
    closed: bool = False


@dataclass(slots=True)
class Redacted:
    """Reasoning that the provider encrypted."""

    data: str


@dataclass(slots=True)
class CallStart:
    """The start of a call, or new facts about the open call with this key. `id` and `name` are "" while unknown.

    `free_text`: the arguments are a custom tool's text, not JSON. `begins`: the wire marks each call's start and end by
    events. A second start for an open key begins another call.
    """

    key: Hashable
    id: str = ""
    name: str = ""
    free_text: bool = False
    begins: bool = False


@dataclass(slots=True)
class CallArguments:
    """A piece of the arguments' text, or the arguments as a JSON value."""

    key: Hashable
    value: Any


@dataclass(slots=True)
class CallEnd:
    """The wire marks the call as complete. `cut`: something else took its place before its last part."""

    key: Hashable
    cut: bool = False


@dataclass(slots=True)
class Opaque:
    """A part that only its provider understands.

    A part with its own payload is kept unchanged. A part that only annotates (`{"thoughtSignature": ...}`, `{"citations":
    [...]}`, `{"annotations": [...]}`) belongs to the block before it. With a `key`, it replaces the reasoning block of that
    key in the history, whose text it has as well.
    """

    data: dict[str, Any]
    key: Hashable = None


@dataclass(slots=True)
class FinishWord:
    """The provider's finish reason. `reason` is an envelope's, if the word alone does not decide it."""

    word: str
    reason: FinishReason | None = None


@dataclass(slots=True)
class FailedGeneration:
    """The model's raw text, which the provider could not read."""

    text: str


Piece = (
    Text
    | Data
    | RefusalPiece
    | Reasoning
    | Redacted
    | CallStart
    | CallArguments
    | CallEnd
    | Opaque
    | FinishWord
    | FailedGeneration
)


class Reader(Protocol):
    """Reads one reply of one wire. It keeps the state between stream events, and never raises."""

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        """The pieces of a whole body, of a part of one, or of one stream event."""
        ...

    def finish(self) -> Iterator[Piece]:
        """The pieces that were withheld until the end."""
        ...
