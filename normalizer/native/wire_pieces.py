"""The small pieces that every wire is read into, whole bodies and stream events alike.

A reader (one a wire) turns JSON into pieces; nothing after it knows the wire. `key` names a call or a reasoning block
within one reply: pieces of one key belong together."""

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
    """Text for the user; text dialects may hide in it. `begins`: a block of the provider's own begins with it."""

    text: str
    begins: bool = False


@dataclass(slots=True)
class Data:
    """JSON data in the place of text; its JSON is the text."""

    value: Any


@dataclass(slots=True)
class RefusalPiece:
    """The provider's refusal: content, and an opaque part of the history."""

    text: str


@dataclass(slots=True)
class Reasoning:
    """More reasoning. Without a key it joins the block before it, which a signature closes. `closed`: the wire says that the
    reasoning ends with it."""

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
    """A call, or what was still unknown of the open one with this key; `id` and `name` are "" while unknown.

    `free_text`: the arguments are no JSON but the text of a custom tool. `begins`: the wire begins each call by an event like
    this one and ends it by another. A second one for an open key begins another call.
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
    """The wire says that the call is whole. `cut`: something else took its place before its last part came."""

    key: Hashable
    cut: bool = False


@dataclass(slots=True)
class Opaque:
    """A part that only its provider understands.

    A part with a payload of its own is kept as it came. A part that only annotates (`{"thoughtSignature": ...}`,
    `{"citations": [...]}`, `{"annotations": [...]}`) belongs to the block before it. With a `key` it takes the place
    of the reasoning block of that key in the history, whose text it holds as well."""

    data: dict[str, Any]
    key: Hashable = None


@dataclass(slots=True)
class FinishWord:
    """The provider's word for why it stopped; `reason` where the word alone does not tell."""

    word: str
    reason: FinishReason | None = None


@dataclass(slots=True)
class FailedGeneration:
    """The model's raw text, which the provider could not read itself."""

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
    """Reads one reply of one wire. It keeps what must be known from one stream event to the next, and never raises."""

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        """The pieces of a whole body, of a part of one, or of one stream event."""
        ...

    def finish(self) -> Iterator[Piece]:
        """What was held back until nothing more comes."""
        ...
