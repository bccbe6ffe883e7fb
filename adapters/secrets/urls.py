"""URLs of servers: checks them, and formats them for display.

A URL is shown, logged and sent, so it must hold no key. One expression parses it; what does not match is not shown. Parts are
checked both as written and percent-decoded. Linear in the URL.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from llmcore.adapters.secrets.scrubber import HIDDEN, Scrubber, holds_secret, is_placeholder, is_secret_name
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.errors import ConfigError

__all__ = ["checked_url", "shown_url", "url_secrets"]

_URL = lazy_regex(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?(?:(?P<login>[^/?#]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[^?#\s\\]*)?(?:\?(?P<query>[^#\s]*))?(?:\#(?P<fragment>\S*))?"
)
_LAST_PORT = 65_535
_LOGIN_IN_PATH = lazy_regex(r"[^/:@]*:([^/@]+)@")
"""`user:password@` after the host, as in a URL within the URL."""
_PARAMETER = lazy_regex(r"[?&;#]([^=?&;#]*)(?:=([^?&;#]*))?")
"""A parameter of a query, a path or a fragment."""
_SEPARATORS = frozenset("?&;#")
_SHOWN_PARAMETERS = frozenset({"api-version", "api_version", "version", "region", "location"})
_FIX = (
    "take it out of the URL and give it as `api_key: ${NAME_OF_A_VARIABLE}`, or as a header in `extra_headers` "
    "(in Python: `api_key=`, `extra_headers=`)"
)


def checked_url(url: str) -> str:
    """Return the server's URL unchanged. Raises `ConfigError`, without quoting the URL, if it holds a secret or is invalid."""
    if places := dict.fromkeys(where for where, _ in url_secrets(url)):
        raise ConfigError(f"base_url holds a secret ({', '.join(places)}); {_FIX}")
    parts = _URL.fullmatch(url)
    if parts is None or (parts["scheme"] or "").lower() not in ("http", "https") or parts["fragment"] is not None:
        raise ConfigError("base_url is not the URL of a server; expected http(s)://host[:port][/path][?parameters]")
    if int(parts["port"] or 0) > _LAST_PORT:
        raise ConfigError(f"base_url names the port {parts['port']}; the last one is {_LAST_PORT}")
    return url


def url_secrets(url: str) -> Iterator[tuple[str, str]]:
    """Yield the secrets in a URL, each with its place: "user name", "password", "path", or a parameter with a secret's name
    or form."""
    parts = _URL.fullmatch(url)
    if parts is None:
        return
    user, _, password = _decoded(parts["login"] or "").partition(":")
    yield from ((where, text) for where, text in (("user name", user), ("password", password)) if text)
    behind = _decoded(url[parts.end("port") if parts["port"] else parts.end("host") :])
    yield from (("path", login[1]) for login in _LOGIN_IN_PATH.finditer(behind))
    for parameter in _PARAMETER.finditer(behind):
        name, value = parameter[1], (parameter[2] or "").strip("=")
        if not value and not is_placeholder(name):
            yield "a parameter without a name", name
        elif value and (is_secret_name(name) or holds_secret(value)):
            yield f"query parameter {name!r}" if parameter[0][0] in "?&" else f"parameter {name!r}", value


@lru_cache(maxsize=512)
def shown_url(url: str) -> str:
    """Return the URL for display: without user name, password and parameter values."""
    parts = _URL.fullmatch(url)
    if parts is None:
        return HIDDEN
    scheme, port = f"{parts['scheme']}://" if parts["scheme"] else "", f":{parts['port']}" if parts["port"] else ""
    path = "/".join(map(_shown_segment, (parts["path"] or "").split("/")))
    query = "&".join(_shown_parameter(parameter) for parameter in (parts["query"] or "").split("&") if parameter)
    return Scrubber().text(f"{scheme}{parts['host']}{port}{path}{query and f'?{query}'}")


def _shown_parameter(parameter: str) -> str:
    name, _, value = parameter.partition("=")
    if name.lower() in _SHOWN_PARAMETERS and not holds_secret(_decoded(value)):
        return parameter
    return f"{name}={HIDDEN}" if value.strip("=") else HIDDEN


def _shown_segment(segment: str) -> str:
    """A part of a path, without the values of its parameters (`;name=value`)."""
    name, *parameters = segment.split(";")
    plain = _decoded(name)
    if not _SEPARATORS.isdisjoint(plain) or _LOGIN_IN_PATH.search(plain) or holds_secret(plain):
        name = HIDDEN
    return ";".join([name, *map(_shown_parameter, parameters)])


def _decoded(text: str) -> str:
    """The text, percent-decoded until nothing changes, at most three times."""
    for _ in range(3):
        text, before = unquote(text), text
        if text == before:
            break
    return text
