"""`RetryConfig`: how often something is tried again, and after how many seconds. It does not wait itself."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from llmcore.support.values.bounds import Amount, Count
from llmcore.support.values.copies import Value

__all__ = ["RetryConfig"]


class RetryConfig(Value):
    """Exponential back-off: retry n waits `base * factor**(n-1)` seconds, at most `max_delay`, plus or minus `jitter`.

    `jitter` is a fraction of the wait. It spreads retries that failed at the same time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_retries: Count = 2
    base: Amount = 0.5
    factor: Annotated[Amount, Field(ge=1)] = 2.0
    max_delay: Amount = 30.0
    jitter: Annotated[Amount, Field(le=1)] = 0.1

    def delay(self, retry: int, random: float) -> float:
        """The seconds before retry number `retry`, counted from 1. `random`, in [0, 1), decides the jitter."""
        plain = min(self.base * self.factor ** (retry - 1), self.max_delay)
        return plain * (1 + self.jitter * (2 * random - 1))
