"""The garbage collector paused while many modules are imported.

A full pass over the heap of a process that has imported LiteLLM takes a quarter of a second and holds the interpreter's lock.
An import makes several such passes, and each holds up every event loop of the process.
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
"""The thresholds that each pause found, in order. Only the first one's are those of the program."""


@contextmanager
def paused_collector() -> Generator[None, None, None]:
    """No automatic collection starts within. Pauses nest, also across threads; the last one to end restores the thresholds.

    The first threshold is set to 0 and `gc.disable` is not called, so `gc.isenabled()` stays the program's. If the program
    changes the thresholds meanwhile, its change stays. What was made within counts as long-lived afterwards, so that no quick
    pass looks at all of it. If the program has frozen objects (`gc.freeze`), that is left out: it would unfreeze them.
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
                    gc.freeze()  # moves all objects out of the young generations without a look at them
                    gc.unfreeze()  # and into the oldest one
                gc.set_threshold(*found)


def _end_pauses() -> None:
    """In a forked child: the threads that paused do not exist there."""
    if _pauses:
        gc.set_threshold(*_pauses[0])
        _pauses.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_end_pauses)
