"""A lock that a fork cannot leave locked."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any
from weakref import WeakSet

__all__ = ["ForkSafeLock", "renew_all"]


class ForkSafeLock:
    """A reentrant lock for `with`. In a forked child it is free again, because the thread that locked it may not exist there."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self.renew()
        _all.add(self)

    def __reduce__(self) -> Any:
        """A copy is a new lock, because it guards another object."""
        return ForkSafeLock, ()

    def renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()


_all: WeakSet[ForkSafeLock] = WeakSet()


def renew_all() -> None:
    for lock in _all:
        lock.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=renew_all)
