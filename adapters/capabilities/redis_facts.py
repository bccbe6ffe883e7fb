"""Learned facts in Redis, for processes on several machines. Needs the extra `redis`, which is imported at the first use.

One hash holds everything. A field is an endpoint's key and a name. Its value is 1 or 0, the time, and `once` if the fact is
not proven.

With a URL, each exchange opens its own connection, in a thread. Exchanges are rare (one load in half a minute, one save after
something was learned). So nothing depends on an event loop or survives a fork. A script on the server merges facts: of two
facts, the later one stays, whoever saves last. The hash is bounded, and it expires if nothing was learned for a whole TTL.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from llmcore.adapters.capabilities.facts import BACKEND_KINDS, DAY, MAX_CLOCK_SKEW, Fact, fact_of
from llmcore.adapters.capabilities.redis_client import check_source, connect, decoded_answer
from llmcore.support.code.threads import in_thread
from llmcore.support.values.narrowing import is_list
from llmcore.types.input.argument_errors import check_kinds

__all__ = ["RedisFacts"]

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
    is the most facts in the hash, the latest ones. `exchange` carries out one blocking exchange off the event loop.

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
        exchange: Callable[[Callable[[], Any]], Awaitable[Any]] = in_thread,
    ) -> None:
        settings: dict[str, object] = {"name": name or "", "timeout": timeout, "maxsize": maxsize, "ttl": ttl, "clock": clock}
        check_kinds("RedisFacts", settings, BACKEND_KINDS)
        self._shown = check_source("RedisFacts", url, client)
        self._url = url
        self._client = client
        self._name = name
        self._timeout = timeout
        self._maxsize = maxsize
        self._ttl = ttl
        self._clock = clock
        self._exchange = exchange

    def __deepcopy__(self, memo: dict[int, Any]) -> RedisFacts:
        """Nothing here changes, and a client cannot be copied."""
        return self

    def __repr__(self) -> str:
        return f"RedisFacts({self._shown!r})"

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        """Raises what `redis` raises."""
        found: dict[str, dict[str, Fact]] = await self._exchange(self._read)
        return found

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        """Raises what `redis` raises."""
        await self._exchange(partial(self._merge, facts))

    def _read(self) -> dict[str, dict[str, Fact]]:
        with self._connected() as client:
            stored: Mapping[Any, Any] = client.hgetall(self._name)
        oldest = self._clock() - self._ttl
        found: dict[str, dict[str, Fact]] = {}
        for field, value in stored.items():
            read = _entry(decoded_answer(field), decoded_answer(value))
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
        assert self._url is not None  # without a client, there is a URL
        with closing(connect(self._url, self._timeout)) as client:
            yield client


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
