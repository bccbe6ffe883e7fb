"""The media type of an image by the first characters of its base64."""

from __future__ import annotations

__all__ = ["media_type_of"]

_HEADS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "Qk": "image/bmp",
}
"""The start of the base64 of each format."""


def media_type_of(data: str) -> str | None:
    """The media type of the base64 text; None if it is none of a known format."""
    return next((media for head, media in _HEADS.items() if data.startswith(head)), None)
