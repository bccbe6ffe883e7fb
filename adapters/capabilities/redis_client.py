"""A client of a Redis, from a URL or the caller's own. Needs the extra `redis`, which is imported at the first use."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.support.code.suggestions import describe_value
from llmcore.types import ConfigError

__all__ = ["check_source", "connect", "decoded_answer"]

_SCHEMES = ("redis", "rediss", "unix")


def check_source(owner: str, url: str | None, client: Any) -> str:
    """Check that there is a URL or a usable client. Returns how the source may be shown. Raises `ConfigError`."""
    if (url is None) == (client is None):
        raise ConfigError(f"{owner} takes a url or a client")
    if client is None and find_spec("redis") is None:
        raise ConfigError("sharing by Redis needs the package redis: pip install 'llmcore-engine[redis]'")
    if url is not None:
        return _shown_url(url)
    _check_client(owner, client)
    return "a client"


def _shown_url(url: str) -> str:
    """The URL in a form that may be shown. Its secrets are remembered as secrets. Raises `ConfigError`."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise ConfigError("the URL of the Redis is invalid; expected redis://host:port/number") from None
    remember([parts.password, unquote(parts.password or "")])
    if parts.scheme not in _SCHEMES or not (parts.hostname or parts.scheme == "unix"):
        raise ConfigError(f"the URL of the Redis must be {', '.join(f'{scheme}://...' for scheme in _SCHEMES)}")
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def connect(url: str, timeout: float) -> Any:
    """A client without retries. If the server is lost, retries would take seconds. It connects with its first command.

    `timeout` is in seconds, for connecting and for each answer.
    """
    redis, backoff, retry = _package("redis"), _package("redis.backoff"), _package("redis.retry")
    once = retry.Retry(backoff.NoBackoff(), 0)
    return redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=once)


def decoded_answer(value: object) -> str:
    """What a client returned as text, whether it decodes answers or not."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _package(name: str) -> Any:
    """A module of the extra, without its types, which are incomplete."""
    return import_module(name)


def _check_client(owner: str, client: Any) -> None:
    if not callable(getattr(client, "hgetall", None)):
        raise ConfigError(f"{owner} takes a redis.Redis as its client, not {describe_value(client)}")
    if hasattr(client, "command_stack"):
        raise ConfigError(f"{owner} takes a redis.Redis as its client, not a pipeline, which defers its answers")
    if hasattr(client, "__aenter__"):
        raise ConfigError(f"{owner} takes a client that is not awaited: give a redis.Redis, or the `url` of the server")
