"""What LiteLLM leaves running on an event loop, ended with that loop: its HTTP clients, and its worker for callbacks.

A program that asks on several loops (`run_sync`, then `asyncio.run`, then another) would otherwise be told at the end of each of
sockets that nobody closed, and of a worker that was collected while it waited: LiteLLM has one worker for the process, and
forgets the task of one loop when it is asked on the next.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any

from llmcore.adapters.litellm.patching import replace

__all__ = ["at_exit", "at_loop_end", "end_worker", "exit_first", "give_each_loop_a_worker"]

_ends: dict[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = {}
"""Held here, for loops know their generators weakly. A generator knows its loop, so that a weak key would not help."""

_workers: dict[asyncio.AbstractEventLoop, Any] = {}
_exits: list[Callable[[], None]] = []


async def at_loop_end(close: Callable[[], Awaitable[None]]) -> None:
    """Let `close` be awaited when the running loop ends; once a loop, however often it is asked for.

    asyncio's way for that is a generator: `asyncio.run` and the like close those of their loop when all its tasks have ended.
    """
    loop = asyncio.get_running_loop()
    if loop in _ends:
        return
    _forget_closed(_ends)
    _ends[loop] = _until_the_end(loop, close)
    await anext(_ends[loop])


async def _until_the_end(loop: asyncio.AbstractEventLoop, close: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _ends.pop(loop, None)
        await close()


def at_exit(function: Callable[[], None]) -> None:
    """As `atexit.register`, but before what LiteLLM does then: from a loop of its own it closes the clients of every loop, which
    leaves their sockets open."""
    _exits.append(function)
    atexit.register(function)


def exit_first() -> None:
    """After LiteLLM's import: what was registered last comes first."""
    for function in _exits:
        atexit.unregister(function)
        atexit.register(function)


def give_each_loop_a_worker(one: Any) -> None:
    """Let LiteLLM's worker hand what it is given to a worker of the loop that asks, which `end_worker` ends with its loop."""

    def enqueue(async_coroutine: Coroutine[Any, Any, None]) -> None:
        loop = asyncio.get_running_loop()
        if loop not in _workers:
            _forget_closed(_workers)
            _workers[loop] = type(one)()
            atexit.unregister(_workers[loop]._flush_on_exit)  # there is nothing left of a loop that ended, and few know theirs
        _workers[loop].ensure_initialized_and_enqueue(async_coroutine)

    replace(one, "ensure_initialized_and_enqueue", lambda _: enqueue)


async def end_worker() -> None:
    """End the running loop's worker, when what it had not yet begun is done: its loop may have cancelled it before it ran."""
    worker = _workers.pop(asyncio.get_running_loop(), None)
    if worker is not None:
        await worker.stop()
        worker._requeue_unstarted_dequeued(worker._queue)
        await worker.clear_queue()


def _forget_closed(held: dict[asyncio.AbstractEventLoop, Any]) -> None:
    """Those that were closed without an end."""
    for ended in [loop for loop in tuple(held) if loop.is_closed()]:
        held.pop(ended, None)
