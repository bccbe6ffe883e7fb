"""Keys out of everything that is shown, logged or written.

`Scrubber` knows some secrets and takes them, in whatever way they are encoded, and whatever looks like a key, out of text
and of JSON values. What servers without keys are given in place of one (`sk-no-key-required`, `ollama`) and what is too
short or too plain to be a key stays: hiding it would mutilate paths and sentences. Linear in the text: every pattern is
bounded and has no adjacent repeats over the same characters.
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
_LEFT_OVER = (BEGINNING, 12)
"""So many characters of a secret that was cut are hidden: half of it, within these bounds. Its first few may be those of all
keys of a provider."""


def holds_secret(text: str) -> bool:
    """Does a text hold anything that looks like a key?"""
    return bool(_LOOKS.spans(text))


def is_secret_name(name: str, *, in_text: bool = False) -> bool:
    """Does a field, parameter or header of this name hold a secret? `in_text`: only the names that mean nothing else in
    a model's reply, where a `token` is a piece of text."""
    plain = re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name).lower())
    pattern = _SECRET_FIELD if in_text else _SECRET_NAME
    return pattern.search(plain) is not None and _HARMLESS_NAME.search(plain) is None


# Taking them out


Leaf = tuple[Any, Any]
"""A JSON container and the key of a str in it."""


class Scrubber:
    """Takes given secrets, however they are encoded, and what looks like one, out of text and JSON. Placeholders among the
    given ones stay. `shared`: more of them, which may change meanwhile."""

    def __init__(self, secrets: Iterable[str | None] = (), *, shared: Words | None = None) -> None:
        own = frozenset(secret for secret in secrets if secret and not is_placeholder(secret))
        self._secrets = tuple(words for words in (shared, _words(own)) if words is not None)

    def text(self, text: str) -> str:
        return _without(text, self.spans(text))

    def without_given(self, text: str) -> str:
        """The text without the given secrets; what only looks like a key stays, for it may be a model's name."""
        return _without(text, united(found(text, *self._secrets)))

    def spans(self, text: str) -> list[Span]:
        """Where in the text there is something to take out."""
        return united([*found(text, *self._secrets), *_cut_short(text, self._secrets), *keys_in(text)])

    def value(self, value: Any) -> Any:
        """A JSON value with every str scrubbed, keys of objects included, and the fields that hold secrets hidden; a
        fresh copy."""
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
        """The events of a stream, scrubbed, also of a secret that came in pieces: the str of one place are read as one
        text."""
        fresh = [[self.value(event)] for event in events]  # an event may be a text itself
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
        """Headers without the secret ones."""
        return {name: self.text(value) for name, value in headers.items() if name.lower() not in SECRET_HEADERS}


def _cut_short(text: str, secrets: Iterable[Words]) -> Iterator[Span]:
    """What is left of a secret in which somebody cut a text, and wrote dots for the rest."""
    if not any(dots in text for dots in _DOTS):
        return
    for position, secret in (begun for words in secrets for begun in words.begun_in(text)):
        begin = secret[: max(_LEFT_OVER[0], min(_LEFT_OVER[1], len(secret) // 2))]
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
    """The pieces of a text without what stands in `spans` of the whole; the piece in which one begins says so."""
    begin, first = 0, 0
    for text in texts:
        end = begin + len(text)
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        parts: list[str] = []
        kept = begin
        for start, stop in spans[first : first + len(text)]:
            if start >= end:
                break
            parts += (text[kept - begin : max(start - begin, 0)], HIDDEN if start >= begin else "")
            kept = stop
        yield "".join((*parts, text[kept - begin :]))
        begin = end


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Leaf]]:
    """Every str inside a JSON value, by where it stands."""
    items: Iterable[tuple[Any, Any]] = value.items() if is_object(value) else enumerate(value) if is_list(value) else ()
    for key, item in items:
        if isinstance(item, str):
            yield (*path, key), (value, key)
        else:
            yield from _leaves(item, (*path, key))


_LOOKS = Scrubber()
