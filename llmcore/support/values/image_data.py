"""The media type of an image that is given as base64 alone, by its first characters. O(1)."""

from __future__ import annotations

__all__ = ["media_type_of"]

_HEADS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "Qk": "image/bmp",
}
"""How the base64 of a format's first bytes begins."""


def media_type_of(data: str) -> str | None:
    """The media type, or None where the text does not begin like the base64 of a known format."""
    return next((media for head, media in _HEADS.items() if data.startswith(head)), None)
