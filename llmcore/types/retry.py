"""How long to wait before something is tried again. Sans-IO: it says how long; who waits is the caller."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from llmcore.support.values.bounds import Amount, Count
from llmcore.support.values.copies import Value

__all__ = ["RetryConfig"]


class RetryConfig(Value):
    """Exponential back-off: the n-th retry waits `base * factor**(n-1)` seconds, at most `max_delay`, give or take
    `jitter` (a fraction of it, so that parallel failures do not return in step)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_retries: Count = 2
    base: Amount = 0.5
    factor: Annotated[Amount, Field(ge=1)] = 2.0
    max_delay: Amount = 30.0
    jitter: Annotated[Amount, Field(le=1)] = 0.1

    def delay(self, retry: int, random: float) -> float:
        """Seconds before retry number `retry` (from 1); `random` in [0, 1) decides the jitter."""
        plain = min(self.base * self.factor ** (retry - 1), self.max_delay)
        return plain * (1 + self.jitter * (2 * random - 1))
