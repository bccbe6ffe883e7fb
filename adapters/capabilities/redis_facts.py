"""Learned facts in Redis, for processes on several machines. Needs the extra `redis`, which is imported at the first use.

One hash holds everything. A field is an endpoint's key and a name. Its value is 1 or 0, the time, and `once` if the fact is
not proven.

Each exchange opens its own connection, in a thread. Exchanges are rare (one load in half a minute, one save after something
was learned). So nothing depends on an event loop or survives a fork. A script on the server merges facts: of two facts, the
later one stays, whoever saves last. The hash is bounded, and it expires if nothing was learned for a whole TTL.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from llmcore.adapters.capabilities.backends import KINDS, in_daemon_thread
from llmcore.adapters.capabilities.facts import DAY, MAX_CLOCK_SKEW, Fact, fact_of
from llmcore.adapters.secrets.known_secrets import remember
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.narrowing import is_list
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import check_kinds

__all__ = ["RedisFacts"]

_SCHEMES = ("redis", "rediss", "unix")
_ONCE = " once"
"""Follows the time of an unproven fact."""
_MERGE = """
local ttl, most, latest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local function time_of(text)
    local at = tonumber(string.match(text, ' (%S+)'))
    return at and at <= latest and at or 0
end
for i = 4, #ARGV, 2 do
    local old = redis.call('HGET', KEYS[1], ARGV[i])
    if not old or time_of(old) <= time_of(ARGV[i + 1]) then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
redis.call('EXPIRE', KEYS[1], ttl)
local over = redis.call('HLEN', KEYS[1]) - most
if over > 0 then
    local all, fields = redis.call('HGETALL', KEYS[1]), {}
    for i = 1, #all, 2 do fields[#fields + 1] = {all[i], time_of(all[i + 1])} end
    table.sort(fields, function(a, b) return a[2] < b[2] end)
    for i = 1, over do redis.call('HDEL', KEYS[1], fields[i][1]) end
end
"""


class RedisFacts:
    """Learned facts in the Redis at `url` (`redis://`, `rediss://` with TLS, `unix://`), in the hash `name`.

    `client` is your own `redis.Redis` instead of a URL (Sentinel, a cluster). It is never closed here. It must not be one of
    `redis.asyncio`, which depends on one event loop. `timeout` is in seconds, for connecting and for each answer. `maxsize`
    is the most facts in the hash, the latest ones.

    Raises `ConfigError` for an invalid setting, URL or client, and if the package is not installed.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        client: Any = None,
        name: str = "llmcore:capabilities",
        timeout: float = 1.0,
        maxsize: int = 10_000,
        ttl: float = DAY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        settings: dict[str, object] = {"name": name or "", "timeout": timeout, "maxsize": maxsize, "ttl": ttl, "clock": clock}
        check_kinds("RedisFacts", settings, KINDS)
        if (url is None) == (client is None):
            raise ConfigError("RedisFacts takes a url or a client")
        if client is None and find_spec("redis") is None:
            raise ConfigError("sharing capabilities by Redis needs the package redis: pip install 'llmcore-engine[redis]'")
        if client is not None:
            _check_client(client)
        self._url = url
        self._client = client
        self._name = name
        self._timeout = timeout
        self._maxsize = maxsize
        self._ttl = ttl
        self._clock = clock
        self._shown = "a client" if url is None else _checked(url)

    def __repr__(self) -> str:
        return f"RedisFacts({self._shown!r})"

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        """Raises what `redis` raises."""
        return await in_daemon_thread(self._read)

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        """Raises what `redis` raises."""
        await in_daemon_thread(partial(self._merge, facts))

    def _read(self) -> dict[str, dict[str, Fact]]:
        with self._connected() as client:
            stored: Mapping[Any, Any] = client.hgetall(self._name)
        oldest = self._clock() - self._ttl
        found: dict[str, dict[str, Fact]] = {}
        for field, value in stored.items():
            read = _entry(_text(field), _text(value))
            if read is not None and read[2].learnt_at > oldest:
                found.setdefault(read[0], {})[read[1]] = read[2]
        return found

    def _merge(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        entries = [
            text
            for key, found in facts.items()
            for name, fact in found.items()
            for text in (json.dumps([key, name]), f"{int(fact.value)} {fact.learnt_at!r}{'' if fact.proven else _ONCE}")
        ]
        with self._connected() as client:
            latest = self._clock() + MAX_CLOCK_SKEW
            client.eval(_MERGE, 1, self._name, max(1, round(self._ttl)), self._maxsize, repr(latest), *entries)

    @contextmanager
    def _connected(self) -> Generator[Any, None, None]:
        if self._client is not None:
            yield self._client
            return
        redis, backoff, retry = _package("redis"), _package("redis.backoff"), _package("redis.retry")
        assert self._url is not None  # without a client, there is a URL
        seconds, once = self._timeout, retry.Retry(backoff.NoBackoff(), 0)
        with closing(
            redis.Redis.from_url(self._url, socket_timeout=seconds, socket_connect_timeout=seconds, retry=once)
        ) as client:
            yield client


def _package(name: str) -> Any:
    """A module of the extra, without its types, which are incomplete."""
    return import_module(name)


def _checked(url: str) -> str:
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


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _check_client(client: Any) -> None:
    if not callable(getattr(client, "hgetall", None)):
        raise ConfigError(f"RedisFacts takes a redis.Redis as its client, not {describe_value(client)}")
    if hasattr(client, "command_stack"):
        raise ConfigError("RedisFacts takes a redis.Redis as its client, not a pipeline, which defers its answers")
    if hasattr(client, "__aenter__"):
        raise ConfigError("RedisFacts takes a client that is not awaited: give a redis.Redis, or the `url` of the server")


def _entry(field: str, value: str) -> tuple[str, str, Fact] | None:
    """An entry of the hash, None if it is invalid."""
    try:
        place: Any = json.loads(field)
        flag, _, learnt_at = value.removesuffix(_ONCE).partition(" ")
        fact = fact_of(({"1": True, "0": False}.get(flag), float(learnt_at), not value.endswith(_ONCE)))
    except ValueError:
        return None
    if fact is None or not is_list(place) or len(place) != 2 or not all(isinstance(part, str) for part in place):
        return None
    return str(place[0]), str(place[1]), fact
