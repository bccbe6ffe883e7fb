"""Threads for code that may block: one for each call in progress, made on demand and used again when idle.

asyncio's own pool is of no use here: it has few threads, which name look-ups and LiteLLM need too, so that tools that
block would stop every request of the process; and the interpreter waits for its threads before it ends. So there is
no upper bound (with one, tools that wait for other tools could wait for ever), and the threads are daemons. A forked
child begins without threads.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, ParamSpec, Protocol, TypeVar

from llmcore.tools.execution.abandonment import Raised

__all__ = ["IDLE_SECONDS", "ThreadCall", "UnboundedExecutor", "idle"]

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 10.0

idle: deque[_Worker] = deque()
"""Appending, popping and removing are atomic, so no lock is needed, which a fork could leave locked."""


class ThreadCall:
    """A call of a function in a thread, with the context variables of the caller; begun at once.

    Raises `RuntimeError` when the system gives no more threads.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self._loop.create_future()
        self._context = contextvars.copy_context()
        self._function = function
        self.is_running = True
        _hand_out(self)

    async def result(self) -> Any:
        """What the function gave. What it raised comes inside `Raised`, also exceptions that end programs."""
        value = await self._future
        if isinstance(value, Raised):
            raise value
        return value

    def carry_out(self) -> Any:
        """In the thread: the function's value, or `Raised`."""
        try:
            return self._context.run(self._function)
        except BaseException as error:
            return Raised(error)
        finally:
            self.is_running = False

    def deliver(self, value: Any) -> None:
        """In the thread: hand the value to the event loop, which may have ended meanwhile."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._resolve, value)

    def _resolve(self, value: Any) -> None:
        if not self._future.done():
            self._future.set_result(value)
        elif inspect.iscoroutine(value):  # nobody waits for it any more
            value.close()


class UnboundedExecutor(ThreadPoolExecutor):
    """An executor for event loops (which take no other class than this base) that never lets work wait for other work."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        _hand_out(_Work(future, lambda: fn(*args, **kwargs)))
        return future


class _Work:
    """One function handed to an `UnboundedExecutor`."""

    def __init__(self, future: Future[Any], function: Callable[[], Any]) -> None:
        self._future = future
        self._function = function

    def carry_out(self) -> Any:
        if not self._future.set_running_or_notify_cancel():
            return None
        try:
            return self._function()
        except BaseException as error:
            return Raised(error)

    def deliver(self, value: Any) -> None:
        if self._future.cancelled():
            return
        if isinstance(value, Raised):
            self._future.set_exception(value.error)
        else:
            self._future.set_result(value)


class _ForAThread(Protocol):
    """What a thread is handed: `deliver` is given what `carry_out` gave. Neither raises anything."""

    def carry_out(self) -> Any: ...

    def deliver(self, value: Any) -> None: ...


def _hand_out(call: _ForAThread) -> None:
    """Raises `RuntimeError` when the system gives no more threads."""
    try:
        worker = idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take(call)


class _Worker:
    """One thread. It counts as idle before its value is delivered, so that the next call finds it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_ForAThread] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="llmcore-tool", daemon=True).start()

    def take(self, call: _ForAThread) -> None:
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            try:
                call = self._calls.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                try:
                    idle.remove(self)
                except ValueError:  # somebody took this worker just now and is about to hand it a call
                    continue
                return
            value = call.carry_out()
            idle.append(self)
            call.deliver(value)
            del call, value  # an idle thread holds on to nothing


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=idle.clear)
