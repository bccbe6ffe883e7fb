"""Keeps callers away from a backend that has just failed, and logs one warning for each loss."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.code.quoted_words import clipped_words

__all__ = ["BackendLost", "Breaker", "loss_words"]


class BackendLost(Exception):
    """A backend failed, or is not asked because it failed a moment ago. The warning was logged already."""


class Breaker:
    """The state of one backend. After a failure, callers do not ask it for `pause` seconds. `clock` returns seconds."""

    def __init__(self, pause: float, log: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause = pause
        self._log = log
        self._clock = clock
        self._open_until = 0.0
        self._is_lost = False

    @property
    def is_open(self) -> bool:
        """Whether the backend must not be asked now."""
        return self._is_lost and self._clock() < self._open_until

    def admits(self) -> bool:
        """Whether the caller may ask the backend now. After a loss, one caller in each pause may."""
        if self.is_open:
            return False
        if self._is_lost:
            self._open_until = self._clock() + self._pause
        return True

    def failed(self, loss: str, error: Exception) -> None:
        """Record a failure. `loss` begins the warning: what does not work now."""
        self._open_until = self._clock() + self._pause
        if not self._is_lost and not isinstance(error, BackendLost):
            self._log.warning("%s (%s)", loss, loss_words(error))
        self._is_lost = True

    def worked(self) -> bool:
        """Record an answer. Returns whether the backend was lost before."""
        was_lost, self._is_lost = self._is_lost, False
        return was_lost


def loss_words(error: Exception) -> str:
    """The class and the message of an error, without secrets."""
    return clipped_words(process_scrubber().text(f"{type(error).__name__}: {error}"))
