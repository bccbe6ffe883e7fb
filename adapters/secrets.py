"""Keys out of everything that is shown, logged or written.

`Scrubber` knows the secrets of some requests and takes them, in whatever way they are encoded, and whatever looks like a
key, out of text and of JSON values. `secrets_in` finds the secrets of a request. Linear in the text: every pattern is
bounded and has no adjacent repeats over the same characters.
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from llmcore.adapters.spellings import Span, found, united
from llmcore.types.narrowing import is_list, is_object

__all__ = ["HIDDEN", "SECRET_HEADERS", "Scrubber", "is_secret_name", "secrets_in", "shown_url", "url_secrets", "without_key"]

HIDDEN = "[secret]"
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
"""Headers that hold no secret. Any other header a caller adds may."""
_SECRET_FIELD = re.compile(
    r"(?:^|_)(?:api_?key|access_?key|secret_?key|private_?key|subscription_?key|service_?key|access_token|auth_token"
    r"|bearer_token|refresh_token|session_token|id_token|security_token|secret|client_?secret|password|passwd|passphrase"
    r"|secret_access_key|authorization|cookie|organization_id|openai_organization|openai_project)$"
)
_SECRET_NAME = re.compile(rf"{_SECRET_FIELD.pattern}|(?:^|_)(?:key|token|auth|code|credentials?|pass|pwd|sig|signature|bearer)$")
_HARMLESS_NAME = re.compile(r"(?:^|_)(?:cache|idempotency|sort|partition|route|routing)_key$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_CONNECTION = frozenset({"messages", "model", "response_format", "tool_choice", "tools"})
"""Arguments of a request that say what is asked, not with which key."""

_MIN_KEY = 16
"""No key of a provider is shorter."""
_MIN_LENGTH = 6
"""Shorter keys ("k", "none", "test") are placeholders of local servers; hiding them would mutilate the text."""

_PATTERNS = (
    re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,512}"),
    re.compile(r"(?i)([?&](?:key|api[_-]?key|access_token|token|sig|signature)=)[^&\s\"'<>]{1,512}"),
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|ghp|glpat)[-_][A-Za-z0-9_*-]{6,512}"),
    re.compile(r"()\bAIza[A-Za-z0-9_-]{20,60}"),
    re.compile(r"()\b(?:AKIA|ASIA)[A-Z0-9]{12,32}\b"),
    re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]{1,15}://)[^\s/?#@:\"'<>]{0,256}:[^\s/?#@\"'<>]{1,512}(?=@)"),
)
"""What looks like a key; the first group stays."""


def is_secret_name(name: str, *, in_text: bool = False) -> bool:
    """Does a field, parameter or header of this name hold a secret? `in_text`: only the names that mean nothing else in
    a model's reply, where a `token` is a piece of text."""
    plain = re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name).lower())
    pattern = _SECRET_FIELD if in_text else _SECRET_NAME
    return pattern.search(plain) is not None and _HARMLESS_NAME.search(plain) is None


# The secrets of a request


def secrets_in(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The secrets that stand in a request's arguments (those of `litellm.acompletion`): the key, those of the base URL
    and of the headers, and every str under a name of a secret at any depth of what else is sent along."""
    for name, value in arguments.items():
        if name == "extra_headers":
            yield from _header_secrets(value or {})
        elif name in ("api_base", "base_url") and isinstance(value, str):
            yield from url_secrets(value).values()
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


def _header_secrets(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() not in _HARMLESS_HEADERS:
            yield from _parts(value)


def _parts(value: str) -> Iterator[str]:
    """A header's value, and what of it is secret by itself: behind the scheme, inside `Basic`, in each cookie."""
    yield value
    scheme, _, credentials = value.partition(" ")
    if not credentials:
        return
    yield credentials
    if scheme.lower() == "basic":
        try:
            login = base64.b64decode(credentials).decode()
        except ValueError:
            return
        yield from (login, login.partition(":")[2])
    yield from (part.partition("=")[2].strip(' "') for part in re.split("[;,]", value))


def url_secrets(url: str) -> dict[str, str]:
    """The secrets in a URL by where they stand: "user name", "password", or the parameter of its query whose name or
    look is that of one."""
    try:
        parts = _split(url)
        places = {"user name": parts.username, "password": parts.password}
    except ValueError:
        return {}
    found_at = {name: unquote(value) for name, value in places.items() if value}
    looks = Scrubber()
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if value and (is_secret_name(name) or looks.text(value) != value):
            found_at[f"query parameter {name!r}"] = value
    return found_at


_SHOWN_PARAMETERS = frozenset({"api-version", "api_version", "version", "region", "location"})


def shown_url(url: str) -> str:
    """A URL as it may be shown: without user name, password, and the values of its query."""
    try:
        parts = _split(url)
    except ValueError:
        return HIDDEN
    host = parts.netloc.rpartition("@")[2]
    pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
    query = "&".join(name + is_ + (value if name.lower() in _SHOWN_PARAMETERS else HIDDEN) for name, is_, value in pairs)
    return Scrubber().text(
        parts._replace(netloc=host, query=query, fragment="").geturl().removeprefix("" if parts.scheme else "//")
    )


def _split(url: str) -> SplitResult:
    """`host/path` without a scheme, too, begins with the host."""
    return urlsplit(url if "://" in url else f"//{url}")


# Taking them out


def without_key(reply: Any, arguments: Mapping[str, Any]) -> Any:
    """A reply's body without the key of its request, should a server echo it. The reply itself when the key
    is none (a placeholder of a local server) or stands in the messages, so that a model may repeat it."""
    key = arguments.get("api_key")
    if not isinstance(key, str) or len(key) < _MIN_KEY or key.isalpha():
        return reply
    clean = Scrubber([key], only_given=True).value(reply)
    return reply if clean == reply or found(str(arguments.get("messages")), [key]) else clean


Leaf = tuple[Any, Any]
"""A JSON container and the key of a str in it."""


class Scrubber:
    """Takes given secrets, however they are encoded, and what looks like one, out of text and JSON. `only_given`: what
    merely looks like one stays."""

    def __init__(self, secrets: Iterable[str | None] = (), *, only_given: bool = False) -> None:
        self._patterns = () if only_given else _PATTERNS
        self._only_given = only_given
        self._secrets = sorted({secret for secret in secrets if secret and len(secret) >= _MIN_LENGTH}, key=len, reverse=True)

    def with_secrets(self, secrets: Iterable[str | None]) -> Scrubber:
        """One that knows these secrets as well."""
        return Scrubber([*self._secrets, *secrets])

    def text(self, text: str) -> str:
        return _without(text, self._spans(text))

    def _spans(self, text: str) -> list[Span]:
        alike = [(match.end(1), match.end()) for pattern in self._patterns for match in pattern.finditer(text)]
        return united([*found(text, self._secrets), *alike])

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
        secret = not self._only_given and isinstance(value, str) and is_secret_name(key, in_text=True)
        return HIDDEN if secret else self.value(value)

    def events(self, events: Iterable[Any]) -> list[Any]:
        """The events of a stream, scrubbed, also of a secret that came in pieces: the str of one place are read as one
        text."""
        fresh = [self.value(event) for event in events]
        places: defaultdict[tuple[Any, ...], list[Leaf]] = defaultdict(list)
        for event in fresh:
            for path, leaf in _leaves(event, ()):
                places[path].append(leaf)
        for leaves in places.values():
            texts: list[str] = [container[key] for container, key in leaves]
            for (container, key), text in zip(leaves, _pieces_without(texts, self._spans("".join(texts))), strict=True):
                container[key] = text
        return fresh

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers without the secret ones."""
        return {name: self.text(value) for name, value in headers.items() if name.lower() not in SECRET_HEADERS}


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
