"""The `format`s that are checked. Any other format accepts any text, as JSON Schema demands."""

from __future__ import annotations

import datetime
import ipaddress
import uuid
from collections.abc import Callable

__all__ = ["FORMATS", "fits_format", "is_identifier_format"]


def fits_format(name: str, text: str) -> bool:
    """Whether `text` has the named format. Formats that are not in `FORMATS` accept any text."""
    check = FORMATS.get(name)
    if check is None:
        return True
    try:
        return bool(check(text))
    except ValueError:
        return False


def _email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    return bool(local and at and domain) and not any(character.isspace() for character in text)


def _uri(text: str) -> bool:
    scheme, colon, rest = text.partition(":")
    legal = scheme[:1].isalpha() and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()
    return bool(colon and rest) and scheme.isascii() and legal and not any(character.isspace() for character in text)


FORMATS: dict[str, Callable[[str], object]] = {
    "date": datetime.date.fromisoformat,
    "date-time": lambda text: len(text) > 10 and datetime.datetime.fromisoformat(text),
    "time": lambda text: bool(datetime.time.fromisoformat(text) or True),
    "duration": lambda text: not text.strip().lstrip("+-").replace(".", "", 1).isdigit(),
    "uuid": lambda text: len(text) == 36 and uuid.UUID(text),
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "email": _email,
    "uri": _uri,
}
"""The check of each format. Dates and times are ISO 8601, as `datetime.fromisoformat` reads it. So a time without an offset
passes. A duration is any text but a bare number."""

_UNCHECKED_IDENTIFIERS = (
    "idn-email name-email hostname idn-hostname uri-reference uri-template iri iri-reference multi-host-uri json-pointer"
    " relative-json-pointer ipv4network ipv6network ipv4interface ipv6interface path file-path directory-path phone color"
)
_IDENTIFIER_FORMATS = frozenset({*FORMATS, *_UNCHECKED_IDENTIFIERS.split()})


def is_identifier_format(format_name: str) -> bool:
    """Whether texts of this format are identifiers, so that quotes around one are not part of it. Other formats may hold
    prose or data."""
    return format_name in _IDENTIFIER_FORMATS
