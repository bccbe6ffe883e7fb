"""Pausing the garbage collector while many modules are imported.

A full collection in a process that has imported LiteLLM takes a quarter of a second and keeps the GIL. An import triggers
several, and each blocks every event loop of the process.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager

from llmcore.support.code.fork_safe_lock import ForkSafeLock

__all__ = ["paused_collector"]

_lock = ForkSafeLock()
_pauses: list[tuple[int, int, int]] = []
"""The thresholds at the start of each pause, in order. Only the first ones are the program's."""


@contextmanager
def paused_collector() -> Generator[None, None, None]:
    """No automatic collection starts within. Pauses nest, also across threads; the last one to end restores the thresholds.

    The pause sets the first threshold to 0 instead of calling `gc.disable`, so `gc.isenabled()` stays the same. If the program
    changes the thresholds meanwhile, its change stays. Objects created within move to the oldest generation, so that quick
    collections skip them. If the program has frozen objects (`gc.freeze`), this step is skipped, because it would unfreeze them.
    """
    with _lock:
        _pauses.append(gc.get_threshold())
        gc.set_threshold(0)
    try:
        yield
    finally:
        with _lock:
            found = _pauses.pop()
            if not _pauses and gc.get_threshold()[0] == 0:
                if not gc.get_freeze_count():
                    gc.freeze()  # moves all objects to the permanent generation without visiting them
                    gc.unfreeze()  # and from there to the oldest one
                gc.set_threshold(*found)


def _end_pauses() -> None:
    """In a forked child: end the pauses of threads that do not exist there."""
    if _pauses:
        gc.set_threshold(*_pauses[0])
        _pauses.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_end_pauses)
