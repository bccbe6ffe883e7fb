"""Fault: LiteLLM has one worker for callbacks in a process, and forgets the worker's task of one event loop on the next loop.

A program may use several loops (`run_sync`, then `asyncio.run`, then another). Python then warns, at the end of each, of a task
that was collected while it waited. This patch gives each loop a worker of its own. Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Coroutine
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch

__all__ = ["PATCHES", "end_worker"]

_workers: dict[asyncio.AbstractEventLoop, Any] = {}


def _for_each_loop(enqueue: Any) -> Any:
    shared = enqueue.__self__

    @wraps(enqueue)
    def ensure_initialized_and_enqueue(async_coroutine: Coroutine[Any, Any, None]) -> None:
        loop = asyncio.get_running_loop()
        if loop not in _workers:
            for closed in [other for other in tuple(_workers) if other.is_closed()]:
                _workers.pop(closed, None)
            _workers[loop] = type(shared)()
            atexit.unregister(_workers[loop]._flush_on_exit)  # a loop that ended has nothing left to flush
        _workers[loop].ensure_initialized_and_enqueue(async_coroutine)

    return ensure_initialized_and_enqueue


async def end_worker() -> None:
    """End the running loop's worker, after the work that it had not begun: its loop may have cancelled it before it ran."""
    worker = _workers.pop(asyncio.get_running_loop(), None)
    if worker is not None:
        await worker.stop()
        worker._requeue_unstarted_dequeued(worker._queue)
        await worker.clear_queue()


PATCHES = (
    Patch(
        "litellm.litellm_core_utils.logging_worker",
        "GLOBAL_LOGGING_WORKER",
        "ensure_initialized_and_enqueue",
        _for_each_loop,
    ),
)
