"""Checking the caller's API keys and headers when they are given.

An HTTP client would refuse a wrong one only when a request is sent, and its message may quote the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, SecretStr

from llmcore.support.values.narrowing import is_object
from llmcore.types.errors import ConfigError

__all__ = ["Headers", "check_header_value", "check_headers"]

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header's name (RFC 9110, section 5.6.2)."""
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def check_header_value(what: str, value: str) -> None:
    """Raises `ConfigError` for a text that no header can have. The message calls it `what` and never quotes it."""
    if found := _UNPRINTABLE.search(value):
        raise ConfigError(f"{what} holds {_kind(found[0])} at position {found.start()}; a header takes printable ASCII only")
    if value != value.strip():
        raise ConfigError(f"{what} begins or ends with a space; give it without")


def _kind(character: str) -> str:
    if character in "\r\n":
        return "a line break"
    return "a control character" if character < " " or character == "\x7f" else "a character that is no ASCII"


def check_headers(where: str, headers: Mapping[str, str]) -> None:
    """Raises `ConfigError` for the first header of `where` that cannot be sent."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{where}: {name[:40]!r} is no name of a header")
        check_header_value(f"{where}: the value of {name[:40]!r}", value)


def _checked(headers: dict[str, str]) -> dict[str, str]:
    check_headers("extra_headers", headers)
    return headers


def _revealed(value: object) -> object:
    """The headers with each `SecretStr` as its value."""
    if not is_object(value):
        return value
    return {name: text.get_secret_value() if isinstance(text, SecretStr) else text for name, text in value.items()}


def _hidden(headers: dict[str, str]) -> dict[str, SecretStr]:
    return {name: SecretStr(value) for name, value in headers.items()}


Headers = Annotated[
    dict[str, str], BeforeValidator(_revealed), AfterValidator(_checked), PlainSerializer(_hidden, dict[str, SecretStr])
]
"""Headers by name. A value may be a key, so `model_dump` returns it as `SecretStr`. Raises `ConfigError` for a header that cannot
be sent."""
