"""Growth ratios: the one kind of timed assertion, made so that a busy machine cannot fail it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

__all__ = ["assert_linear"]

_RATIO = 11.0  # four times the input: 4 when linear, 16 when quadratic
_FLOOR = 0.04  # seconds below which a ratio says nothing
_LOOKS = 4


def _seconds(work: Callable[[int], object], size: int) -> float:
    """CPU seconds of this thread."""
    started = time.thread_time()
    work(size)
    return time.thread_time() - started


def assert_linear(work: Callable[[int], object], size: int, *, ratio: float = _RATIO) -> None:
    """`work(4 * size)` takes less than `ratio` times what `work(size)` takes.

    Only what takes long is looked at again: the best of several looks on either side counts, since another process
    can only make a run slower. What is old is left alone: to collect it walks over all of litellm, and to freeze it
    keeps clients that tests have left until the interpreter ends, which then warns of their sockets.
    """
    gc.collect(1)
    long = _seconds(work, 4 * size)
    if long < _FLOOR:
        return
    short = float("inf")
    for _ in range(_LOOKS):
        short = min(short, _seconds(work, size), _seconds(work, size))
        long = min(long, _seconds(work, 4 * size))
        if long < ratio * short:
            return
    raise AssertionError(f"four times the input took {long / short:.1f} times as long ({long:.2f} s)")
