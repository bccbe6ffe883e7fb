"""The `format`s that are checked; any other name admits any text, as JSON Schema has it."""

from __future__ import annotations

import datetime
import ipaddress
import uuid
from collections.abc import Callable

__all__ = ["FORMATS", "fits_format", "names_one_thing"]


def fits_format(name: str, text: str) -> bool:
    """Is `text` in the named format? Formats that are not in `FORMATS` admit any text."""
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
"""ISO 8601 as `datetime.fromisoformat` reads it, so a time without an offset passes: tools take it. A duration is any text but a
bare number."""

_OTHER_NAMES = (
    "idn-email name-email hostname idn-hostname uri-reference uri-template iri iri-reference multi-host-uri json-pointer"
    " relative-json-pointer ipv4network ipv6network ipv4interface ipv6interface path file-path directory-path phone color"
)
_NAMES = frozenset({*FORMATS, *_OTHER_NAMES.split()})


def names_one_thing(format_name: str) -> bool:
    """Does a text of this format name or number one thing, so that quotes around all of it are no part of it? All others are
    prose, secrets or data, which are what they are."""
    return format_name in _NAMES
