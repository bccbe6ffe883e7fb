"""State that processes share through a Redis: budgets, cooldowns, claims of saved runs, learned facts and rates.

    state = RedisState("rediss://cache.internal:6379/0", namespace="acme")

Needs the extra `redis`. docs/fleet.md shows its use.
"""

from llmcore.integrations.redis.state import RedisState

__all__ = ["RedisState"]
