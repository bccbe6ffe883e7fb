"""Removes keys from everything that is shown, logged or written.

`Scrubber` removes given secrets, in any encoding, and whatever looks like a key, from text and from JSON values. Placeholders
for servers without keys (`sk-no-key-required`, `ollama`) stay, and so does what is too short or too plain for a key: removing
it would damage paths and sentences. Linear in the text: every pattern is bounded and has no adjacent repeats over the same
characters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from llmcore.adapters.secrets.spellings import BEGINNING, Span, Words, found, united
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.credentials import HIDDEN, is_placeholder, keys_in
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["HIDDEN", "SECRET_HEADERS", "Scrubber", "holds_secret", "is_placeholder", "is_secret_name"]

SECRET_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "openai-organization",
        "openai-project",
        "proxy-authorization",
        "set-cookie",
        "x-amz-security-token",
        "x-api-key",
        "x-goog-api-key",
    }
)
"""Headers that are never written, in lower case."""
_SECRET_FIELD = lazy_regex(
    r"(?:^|_)(?:api_?key|access_?key|secret_?key|private_?key|subscription_?key|service_?key|access_token|auth_token"
    r"|bearer_token|refresh_token|session_token|id_token|security_token|secret|client_?secret|password|passwd|passphrase"
    r"|secret_access_key|authorization|cookie|organization_id|openai_organization|openai_project)$"
)
_SECRET_NAME = lazy_regex(
    rf"{_SECRET_FIELD.pattern}|(?:^|_)(?:key|token|auth|code|credentials?|pass|pwd|sig|signature|bearer|jwt|session"
    r"|pat|otp|pin|(?:api|auth|access|bearer|refresh|id|session|secret)_tokens|token_value|password_hash|connection_string|conn_str"
    r"|dsn)$|^tokens$"
)
_HARMLESS_NAME = lazy_regex(r"(?:^|_)(?:cache|idempotency|sort|partition|route|routing)_key$")
_CAMEL = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])")
_DOTS = ("...", "\N{HORIZONTAL ELLIPSIS}")
_REMAINDER_LENGTH = (BEGINNING, 12)
"""If a secret was truncated, half of it is hidden, within these bounds. Its first characters may be common to all keys of a
provider."""


def holds_secret(text: str) -> bool:
    """Return whether a text contains anything that looks like a key."""
    return bool(_PATTERNS_ONLY.spans(text))


def is_secret_name(name: str, *, in_text: bool = False) -> bool:
    """Return whether a field, parameter or header with this name holds a secret.

    `in_text`: only names that mean nothing else in a model's reply. There, a `token` is a piece of text.
    """
    plain = re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name).lower())
    pattern = _SECRET_FIELD if in_text else _SECRET_NAME
    return pattern.search(plain) is not None and _HARMLESS_NAME.search(plain) is None


# Removing secrets


Leaf = tuple[Any, Any]
"""A JSON container, and the key of a str in it."""


class Scrubber:
    """Removes given secrets, in any encoding, and what looks like a key, from text and JSON.

    Placeholders among the given secrets stay. `shared` are further secrets, which may change meanwhile.
    """

    def __init__(self, secrets: Iterable[str | None] = (), *, shared: Words | None = None) -> None:
        own = frozenset(secret for secret in secrets if secret and not is_placeholder(secret))
        self._secrets = tuple(words for words in (shared, _words(own)) if words is not None)

    def text(self, text: str) -> str:
        return _without(text, self.spans(text))

    def without_given(self, text: str) -> str:
        """The text without the given secrets. What only looks like a key stays, since it may be a model's name."""
        return _without(text, united(found(text, *self._secrets)))

    def spans(self, text: str) -> list[Span]:
        """The spans of the text to remove."""
        return united([*found(text, *self._secrets), *_truncated_secrets(text, self._secrets), *keys_in(text)])

    def value(self, value: Any) -> Any:
        """A copy of a JSON value in which every str and every key is scrubbed, and fields with secrets are hidden."""
        if isinstance(value, str):
            return self.text(value)
        if is_object(value):
            return {self.text(str(key)): self._field(str(key), item) for key, item in value.items()}
        if is_list(value):
            return [self.value(item) for item in value]
        return value

    def _field(self, key: str, value: Any) -> Any:
        secret = isinstance(value, str) and is_secret_name(key, in_text=True)
        return HIDDEN if secret else self.value(value)

    def events(self, events: Iterable[Any]) -> list[Any]:
        """The events of a stream, scrubbed. Strings at the same path are joined, so that a secret in several pieces is found."""
        fresh = [[self.value(event)] for event in events]  # an event may be a str itself
        places: defaultdict[tuple[Any, ...], list[Leaf]] = defaultdict(list)
        for event in fresh:
            for path, leaf in _leaves(event, ()):
                places[path].append(leaf)
        for leaves in places.values():
            texts: list[str] = [container[key] for container, key in leaves]
            for (container, key), text in zip(leaves, _pieces_without(texts, self.spans("".join(texts))), strict=True):
                container[key] = text
        return [event for (event,) in fresh]

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in headers.items() if name.lower() not in SECRET_HEADERS}


def _truncated_secrets(text: str, secrets: Iterable[Words]) -> Iterator[Span]:
    """The spans of secrets that were truncated, with dots for the rest."""
    if not any(dots in text for dots in _DOTS):
        return
    for position, secret in (beginning for words in secrets for beginning in words.beginnings_in(text)):
        begin = secret[: max(_REMAINDER_LENGTH[0], min(_REMAINDER_LENGTH[1], len(secret) // 2))]
        if not text.startswith(begin, position):
            continue
        end = position + len(begin)
        while end < len(text) and secret[end - position : end - position + 1] == text[end]:
            end += 1
        if text.startswith(_DOTS, end):
            yield position, end


@lru_cache(maxsize=8)
def _words(secrets: frozenset[str]) -> Words:
    return Words(secrets)


def _without(text: str, spans: Sequence[Span]) -> str:
    return next(_pieces_without([text], spans))


def _pieces_without(texts: Sequence[str], spans: Sequence[Span]) -> Iterator[str]:
    """The pieces of a text without the given spans of the whole. The piece in which a span begins has a marker."""
    begin, first = 0, 0
    for text in texts:
        end = begin + len(text)
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        parts: list[str] = []
        copied_to = begin
        for start, stop in spans[first : first + len(text)]:
            if start >= end:
                break
            parts += (text[copied_to - begin : max(start - begin, 0)], HIDDEN if start >= begin else "")
            copied_to = stop
        yield "".join((*parts, text[copied_to - begin :]))
        begin = end


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Leaf]]:
    """Every str inside a JSON value, with its path."""
    items: Iterable[tuple[Any, Any]] = value.items() if is_object(value) else enumerate(value) if is_list(value) else ()
    for key, item in items:
        if isinstance(item, str):
            yield (*path, key), (value, key)
        else:
            yield from _leaves(item, (*path, key))


_PATTERNS_ONLY = Scrubber()
