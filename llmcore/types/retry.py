"""How long to wait before something is tried again. Sans-IO: it says how long; who waits is the caller."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["RetryConfig"]


class RetryConfig(BaseModel):
    """Exponential back-off: the n-th retry waits `base * factor**(n-1)` seconds, at most `max_delay`, give or take
    `jitter` (a fraction of it, so that parallel failures do not return in step)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_retries: int = Field(default=2, ge=0)
    base: float = Field(default=0.5, ge=0)
    factor: float = Field(default=2.0, ge=1)
    max_delay: float = Field(default=30.0, ge=0)
    jitter: float = Field(default=0.1, ge=0, le=1)

    def delay(self, retry: int, random: float) -> float:
        """Seconds before retry number `retry` (from 1); `random` in [0, 1) decides the jitter."""
        plain = min(self.base * self.factor ** (retry - 1), self.max_delay)
        return plain * (1 + self.jitter * (2 * random - 1))
