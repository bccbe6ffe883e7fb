"""`RedisState`: what the processes of one tenant share."""

from __future__ import annotations

import re
from typing import Any

from llmcore.adapters.capabilities import RedisFacts, SharedFacts
from llmcore.fallback.cooldown import SharedCooldowns
from llmcore.integrations.redis.budgets import RedisBudget
from llmcore.integrations.redis.connection import RedisConnection
from llmcore.integrations.redis.stores import RedisCooldowns, RedisRateLimit, RedisRuns
from llmcore.run.resume.claims import RunStore
from llmcore.support.values.bounds import is_amount
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import Kind, check_kinds

__all__ = ["RedisState"]

_KINDS = {
    "namespace": Kind(
        lambda value: isinstance(value, str) and re.fullmatch(r"[\w.-]{1,100}", value, re.ASCII) is not None,
        "1 to 100 letters, digits, dots, hyphens and underscores",
    ),
    "timeout": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
}


class RedisState:
    """What processes share through the Redis at `url` (`redis://`, `rediss://` with TLS, `unix://`; user and password in it).

    `client` is your own `redis.Redis` or `redis.RedisCluster` instead of a URL. It is never closed here; give it short timeouts
    and no retries. `namespace` separates tenants: 1 to 100 letters, digits, dots, hyphens and underscores. `timeout` is in
    seconds, for connecting and for each answer.

    If the Redis is lost, one warning is logged, and it is asked again after a second. `facts` and `cooldowns` then stay within
    each process. A budget gives the local share, or refuses. A run with the store `runs` ends.

    Raises `ConfigError` for an invalid setting, URL or client, and if the package `redis` is not installed.
    """

    def __init__(self, url: str | None = None, *, client: Any = None, namespace: str = "default", timeout: float = 0.25) -> None:
        check_kinds("RedisState", {"namespace": namespace or "", "timeout": timeout or 0}, _KINDS)
        self._connection = RedisConnection(url, client, namespace, timeout)

    def __repr__(self) -> str:
        return repr(self._connection)

    @property
    def facts(self) -> SharedFacts:
        """Learned facts of endpoints, for `CapabilityStore(backend=...)`."""
        connection = self._connection
        return RedisFacts(client=connection.client, name=connection.key("capabilities"), exchange=connection.exchange)

    @property
    def cooldowns(self) -> SharedCooldowns:
        """Cooldowns of models and deployments, for `Orchestrator(cooldowns=...)`. All processes must use the same aliases."""
        return RedisCooldowns(self._connection)

    @property
    def runs(self) -> RunStore:
        """Saved runs and their claims, for `run_store=`."""
        return RedisRuns(self._connection)

    def budget(self, name: str, limit: float, *, local_share: float = 0.0) -> RedisBudget:
        """The budget `name` of at most `limit` US dollars, for `shared_budget=`.

        `local_share` is what each process may spend while the Redis is lost, in US dollars; 0 = it refuses. Raises
        `ConfigError` for an empty name or an unusable amount.
        """
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError("RedisState.budget: `name` must be a text, such as 'november'")
        return RedisBudget(self._connection, name, limit, local_share)

    def rate_limit(self, per_minute: int) -> RedisRateLimit:
        """At most `per_minute` requests a minute of each key, for `create_app(rate_limit=...)` of the gateway.

        Raises `ConfigError` for anything but a whole number from 1 to a million.
        """
        if not is_amount(per_minute) or not isinstance(per_minute, int) or not 1 <= per_minute <= 1_000_000:  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError("RedisState.rate_limit: `per_minute` must be a whole number from 1 to a million")
        return RedisRateLimit(self._connection, per_minute)
