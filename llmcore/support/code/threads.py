"""Threads for blocking code: one for each call in progress, created on demand and reused when idle.

asyncio's default executor does not fit. It has few threads, which DNS look-ups and LiteLLM need too, so blocking tools would stop
every request of the process. And the interpreter waits for its threads at exit. So the number of threads here is unbounded (a
bound could deadlock tools that wait for other tools), and they are daemons. A forked child starts without them.
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

__all__ = ["IDLE_SECONDS", "Raised", "ThreadCall", "UnboundedExecutor", "idle", "in_thread"]

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 10.0

idle: deque[_Worker] = deque()
"""The idle workers. Deque operations are atomic, so no lock is needed, which a fork could leave locked."""


class Raised(Exception):
    """Carries an exception of foreign code, as a value or through coroutines, which would convert a `StopIteration`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


class ThreadCall:
    """A call of a function in a thread, started at once, with the context variables of the caller.

    Raises `RuntimeError` if the system cannot start another thread.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self._loop.create_future()
        self._context = contextvars.copy_context()
        self._function = function
        self.is_running = True
        _assign(self)

    async def result(self) -> Any:
        """The value of the function. Raises `Raised` with whatever the function raised, `SystemExit` included."""
        value = await self._future
        if isinstance(value, Raised):
            raise value
        return value

    def run(self) -> Any:
        """In the thread: call the function. Returns its value, or `Raised`."""
        try:
            return self._context.run(self._function)
        except BaseException as error:
            return Raised(error)
        finally:
            self.is_running = False

    def deliver(self, value: Any) -> None:
        """In the thread: pass the value to the event loop, unless it is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._resolve, value)

    def _resolve(self, value: Any) -> None:
        if not self._future.done():
            self._future.set_result(value)
        elif inspect.iscoroutine(value):  # nobody will await it
            value.close()


async def in_thread(function: Callable[[], T]) -> T:
    """Call the function in a thread and return its result. If the caller is cancelled, the thread continues alone.

    Raises what the function raises, and `RuntimeError` if the system cannot start another thread.
    """
    try:
        value: T = await ThreadCall(function).result()
    except Raised as raised:
        raise raised.error from raised.error.__cause__
    return value


class UnboundedExecutor(ThreadPoolExecutor):
    """An executor that runs each submitted function at once. Event loops accept only subclasses of `ThreadPoolExecutor`."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        _assign(_Work(future, lambda: fn(*args, **kwargs)))
        return future


class _Work:
    """One function submitted to an `UnboundedExecutor`."""

    def __init__(self, future: Future[Any], function: Callable[[], Any]) -> None:
        self._future = future
        self._function = function

    def run(self) -> Any:
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


class _ThreadJob(Protocol):
    """A job for a worker, which passes the value of `run` to `deliver`. Neither raises."""

    def run(self) -> Any: ...

    def deliver(self, value: Any) -> None: ...


def _assign(call: _ThreadJob) -> None:
    """Start the call in an idle or new thread. Raises `RuntimeError` if the system cannot start one."""
    try:
        worker = idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take(call)


class _Worker:
    """One thread. It becomes idle before it delivers a value, so that the next call can use it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_ThreadJob] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="llmcore-tool", daemon=True).start()

    def take(self, call: _ThreadJob) -> None:
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            try:
                call = self._calls.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                try:
                    idle.remove(self)
                except ValueError:  # `_assign` has just popped this worker and will send it a call
                    continue
                return
            value = call.run()
            idle.append(self)
            call.deliver(value)
            del call, value  # an idle thread must not keep them alive


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=idle.clear)
