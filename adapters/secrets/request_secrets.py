"""Finds the secrets of a request: its key, its headers, its URL, and everything sent under a secret's name."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from llmcore.adapters.secrets.scrubber import is_secret_name
from llmcore.adapters.secrets.urls import url_secrets
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["header_secrets", "secrets_in"]

_HARMLESS_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "anthropic-beta",
        "anthropic-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "http-referer",
        "openai-beta",
        "referer",
        "user-agent",
        "x-title",
    }
)
"""Headers without secrets. Any other header may hold one."""
_NO_CONNECTION = frozenset({"messages", "model", "response_format", "tool_choice", "tools"})
"""Arguments that concern what is asked, not the connection."""
_PART = lazy_regex(r'[;,\s"{}]+')
"""Separates the parts of a header's value: cookies, parameters, the scheme, an object's fields."""


def secrets_in(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the secrets in a request's arguments (those of `litellm.acompletion`).

    These are the key, those in the base URL and the headers, and every str under a secret's name, at any depth.
    """
    for name, value in arguments.items():
        if name == "extra_headers":
            yield from header_secrets(value or {})
        elif name in ("api_base", "base_url") and isinstance(value, str):
            yield from (secret for _, secret in url_secrets(value))
        elif name not in _NO_CONNECTION:
            yield from _named_secrets(value, secret=is_secret_name(name))


def _named_secrets(value: Any, *, secret: bool) -> Iterator[str]:
    if isinstance(value, str):
        if secret:
            yield from _parts(value)
    elif is_object(value):
        for name, item in value.items():
            yield from _named_secrets(item, secret=secret or is_secret_name(name))
    elif is_list(value):
        for item in value:
            yield from _named_secrets(item, secret=secret)


def header_secrets(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield what may be secret in the values of headers."""
    for name, value in headers.items():
        if name.lower() not in _HARMLESS_HEADERS:
            yield from _parts(value)


def _parts(value: str) -> Iterator[str]:
    """A header's value, and its parts that are secret alone: after the scheme, inside `Basic`, each cookie, and each
    parameter with and without its name."""
    yield value
    scheme, _, credentials = value.partition(" ")
    yield credentials
    if scheme.lower() == "basic":
        try:
            login = base64.b64decode(credentials).decode()
        except ValueError:
            login = ""
        yield from (login, login.partition(":")[2])
    for part in _PART.split(value):
        yield from (part, part.partition("=")[2], part.partition(":")[2])
