"""The kinds of media that a message may hold beside text: one row each."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["AUDIO", "FILE", "IMAGE", "MEDIA_KINDS", "MEDIA_PARTS", "MediaKind", "split_data_url"]

Signature = tuple[int, bytes]
_HEAD_CHARACTERS = 24
"""How many characters of base64 the longest signature needs, in whole groups of four."""


@dataclass(frozen=True, slots=True)
class MediaKind:
    """A kind of media.

    `type`: the type of its blocks. `noun`: what a message calls one. `part`: its name among the capabilities and the parts of a
    request; the registry's switch is `supports_` and this name. `tokens`: a rough number of tokens of one.
    `signatures`: by media type, the bytes that mark the format, each with its place.
    """

    type: str
    noun: str
    part: str
    tokens: int
    signatures: Mapping[str, tuple[Signature, ...]]

    @property
    def formats(self) -> str:
        """The formats whose media type is recognised, in words."""
        return ", ".join(media_type.partition("/")[2] for media_type in self.signatures)

    def recognised(self, data: str | bytes) -> str | None:
        """The media type of bytes, or of their base64, by how they begin; None if they are in no format of this kind."""
        if isinstance(data, str):
            try:
                data = b64decode(data[:_HEAD_CHARACTERS])
            except (Base64Error, ValueError):
                return None
        known = ((media_type, *one) for media_type, several in self.signatures.items() for one in several)
        return next((media_type for media_type, place, mark in known if data.startswith(mark, place)), None)


IMAGE = MediaKind(
    "image",
    "an image",
    "images",
    1000,
    {
        "image/png": ((0, b"\x89PNG\r\n\x1a\n"),),
        "image/jpeg": ((0, b"\xff\xd8\xff"),),
        "image/gif": ((0, b"GIF8"),),
        "image/webp": ((8, b"WEBP"),),
        "image/bmp": ((0, b"BM"),),
    },
)
FILE = MediaKind("file", "a file", "files", 3000, {"application/pdf": ((0, b"%PDF-"),)})
AUDIO = MediaKind(
    "audio",
    "audio",
    "audio",
    1000,
    {
        "audio/wav": ((8, b"WAVE"),),
        "audio/mpeg": ((0, b"ID3"), (0, b"\xff\xfb"), (0, b"\xff\xf3"), (0, b"\xff\xf2")),
        "audio/flac": ((0, b"fLaC"),),
        "audio/ogg": ((0, b"OggS"),),
    },
)
MEDIA_KINDS: Mapping[str, MediaKind] = {kind.type: kind for kind in (IMAGE, FILE, AUDIO)}
"""The kinds by the type of their blocks."""
MEDIA_PARTS = frozenset(kind.part for kind in MEDIA_KINDS.values())
"""The names of the kinds among the parts of a request. Every output mode sends these parts."""


def split_data_url(url: str) -> tuple[str, str] | None:
    """The media type and the base64 of a URL of the form `data:image/png;base64,...`; None for any other text."""
    head, comma, data = url.removeprefix("data:").partition(",")
    media_type, _, packing = head.partition(";")
    is_whole = url.startswith("data:") and comma and data and packing.endswith("base64") and media_type
    return (media_type, data) if is_whole else None
