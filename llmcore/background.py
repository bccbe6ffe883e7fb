"""One event loop for all synchronous calls of the process, in a daemon thread. Thread-safe.

- There is one loop, because clients keep connections for the loop that made them. A loop for each call would leave them open.
- The loop starts with the first call and ends with the interpreter. Before that, running tasks are cancelled and LiteLLM's
  clients closed.
- Nothing that runs on the loop can end it.
- A forked child gets its own loop, even if the loop's own thread forked.
- Nothing that runs on the loop can change it for later calls. Setting its task factory, executor, exception handler, debug mode
  or attributes (`loop.call_later = ...`) has no effect, and logs a warning.
- Its default executor has as many threads as needed. So a tool that blocks some (`asyncio.to_thread`) delays neither name
  look-ups nor LiteLLM.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import aclosing, suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, Generic, TypeVar, cast

from llmcore.adapters.litellm.engine import close_clients
from llmcore.adapters.litellm.patches.exit_order import at_exit
from llmcore.run.results.result import RunResult
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.threads import UnboundedExecutor
from llmcore.types import CallerError, Finished, InternalError
from llmcore.types.logs import logger

__all__ = ["BackgroundLoop", "refuse_to_block", "run_in_background", "shared_loop"]

T = TypeVar("T")

_log = logger("tools")
_SETTERS = ("set_task_factory", "set_default_executor", "set_exception_handler", "set_debug")
_SHUTDOWNS = ("shutdown_default_executor", "shutdown_asyncgens")
"""Methods of the loop that would change it for every later run."""
_FIXED = frozenset(
    {"__dict__", "slow_callback_duration"}
    | {"_asyncgens", "_clock_resolution", "_debug", "_default_executor", "_exception_handler"}
    | {"_ready", "_scheduled", "_selector", "_signal_handlers", "_task_factory"}
)
"""Attributes that only asyncio may set. Its methods are never set. Other attributes change while it runs."""
_SET_BY_METHODS = frozenset({"__dict__", "_debug", "_default_executor", "_exception_handler", "_task_factory"})
"""The fixed attributes that asyncio sets only through the loop's methods. It sets the others itself while it runs."""
_POLL_SECONDS = 0.5
_SECONDS_TO_STOP = 5.0
"""How long an interrupted call waits for its run to end; a second Ctrl-C ends the waiting."""
_SECONDS_TO_END = 0.3
"""The time for each step at the end of the interpreter."""


class _Call(Generic[T]):
    """One coroutine on the loop. `ended` is always done once it stops running. Then `error` or `value` is set."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._task: asyncio.Task[None] | None = None
        self._begun = False
        self.value: T | None = None
        self.error: BaseException | None = None
        self.ended: Future[None] = Future()

    def start(self) -> None:
        """Start it, on the loop. If that fails, the waiting thread gets the error."""
        try:
            self._task = asyncio.get_running_loop().create_task(self._carry_out())
            self._task.add_done_callback(lambda _: self.finish())
        except BaseException as error:
            self.error = error
            self.finish()

    async def _carry_out(self) -> None:
        self._begun = True
        try:
            self.value = await self._coroutine
        except BaseException as error:  # for the thread that waits; the loop goes on
            self.error = error

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def wait(self) -> None:
        """Wait in the calling thread. It polls, because signals do not interrupt every wait (never on Windows)."""
        while not self.ended.done():
            with suppress(TimeoutError):
                self.ended.result(_POLL_SECONDS)

    def ended_with(self, error: BaseException) -> bool:
        """Whether the coroutine ended with this error. Otherwise the error came to the waiting thread."""
        return self.error is not None and self.error in (error, error.__cause__)

    def finish(self) -> None:
        """The coroutine runs no more, or never will."""
        if self.ended.done():
            return
        if not self._begun:
            self._coroutine.close()
            self.error = self.error or asyncio.CancelledError()
        self.ended.set_result(None)


class BackgroundLoop:
    """An event loop in its own thread."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(UnboundedExecutor())
        for name in _SETTERS:
            setattr(self._loop, name, partial(_warn_ignored, name))
        for name in _SHUTDOWNS:
            setattr(self._loop, name, partial(_warn_ignored_async, name))
        self._kind = type(self._loop)
        self._loop.__class__ = _guarded_class(self._kind)
        self._calls: set[_Call[Any]] = set()
        self._closing = False
        self._quitting = False
        self._ending = False
        self._thread = threading.Thread(target=self._serve, name="llmcore-background", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it takes calls. In a forked child it does not: if its own thread forked, that thread lives on, but serves the
        child's caller."""
        return self._pid == os.getpid() and self._thread.is_alive() and not self._closing

    def _serve(self) -> None:
        """Run the loop until it is closed. A `SystemExit` or `KeyboardInterrupt` of any task ends a loop, and tools may start
        tasks."""
        while not self._ending:
            with suppress(BaseException):
                self._loop.run_forever()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result. Raises what it raises, and `InternalError` if other code cancelled it, such as a tool that
        cancels foreign tasks.

        If the waiting thread is interrupted (Ctrl-C), this cancels the coroutine and waits for it. The interruption then
        carries the partial result (`error.partial`, `error.attempts`), or the whole one if the coroutine had just ended.
        """
        call = self._submit(coroutine)
        try:
            call.wait()
            return self._outcome(call)
        except BaseException as interruption:
            if not call.ended_with(interruption):
                self._interrupt(call, interruption)
            raise
        finally:
            self._calls.discard(call)

    def stream(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """The items, which one task on the loop reads as fast as they come. Raises what `run` raises. If you close the generator
        early, or the thread is interrupted, this cancels the task and waits for it."""
        read: SimpleQueue[tuple[T] | None] = SimpleQueue()

        async def reading() -> T | None:
            last: T | None = None
            async with aclosing(items):
                async for item in items:
                    last = item
                    read.put((item,))
            return last

        call = self._submit(reading())
        call.ended.add_done_callback(lambda _: read.put(None))
        try:
            while (item := next_item(read)) is not None:
                yield item[0]
            self._outcome(call)
        except BaseException as interruption:
            if not call.ended_with(interruption):
                self._interrupt(call, interruption)
            raise
        finally:
            self._calls.discard(call)

    def close_stream(self, items: AsyncGenerator[Any, None]) -> None:
        """Close items that another thread reads by `stream`; from the loop's own thread without waiting for that."""

        async def close_items() -> None:
            await items.aclose()

        if threading.current_thread() is self._thread:
            call = self._submit(close_items())
            call.ended.add_done_callback(lambda _: self._calls.discard(call))
        else:
            self.run(close_items())

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> _Call[T]:
        call = _Call(coroutine)
        self._calls.add(call)
        self._loop.call_soon_threadsafe(call.start)
        return call

    def _outcome(self, call: _Call[T]) -> T:
        if call.error is None:
            return cast("T", call.value)
        if self._quitting and isinstance(call.error, asyncio.CancelledError):
            raise SystemExit  # ends a daemon thread without a traceback when the interpreter ends
        if not self._closing and isinstance(call.error, asyncio.CancelledError):
            raise _cancelled_by_others(call.error) from call.error
        raise call.error

    def _interrupt(self, call: _Call[Any], interruption: BaseException) -> None:
        if not self._thread.is_alive():
            call.finish()
            return
        self._loop.call_soon_threadsafe(call.cancel)
        with suppress(TimeoutError):
            call.ended.result(_SECONDS_TO_STOP)
        interruption.__dict__.update(_partial_of(call))

    def close(self, *, quitting: bool = False) -> None:
        """Cancel what runs, close the clients, stop the loop and wait for the thread; two seconds at most. `quitting`: the
        interpreter ends."""
        if self._loop.is_closed():
            return
        self._closing, self._quitting = True, quitting
        with suppress(Exception):  # at the end of the interpreter nobody could handle it
            asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result(3 * _SECONDS_TO_END)
        self._ending = True
        object.__setattr__(self._loop, "__class__", self._kind)
        self._kind.set_exception_handler(self._loop, _ignore)  # about tasks that ignore their cancellation
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS_TO_END)
        if not self._thread.is_alive():
            self._loop.close()
            for call in tuple(self._calls):
                call.finish()

    async def _cancel_all(self) -> None:
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=_SECONDS_TO_END)
        await type(self._loop).shutdown_asyncgens(self._loop)
        await close_clients()


def _guarded_class(kind: type[asyncio.AbstractEventLoop]) -> type[asyncio.AbstractEventLoop]:
    """A subclass of the loop's class. Only asyncio can set or delete its methods and fixed attributes."""

    def is_fixed(name: str, setter: FrameType) -> bool:
        if name in _FIXED and name not in _SET_BY_METHODS and _is_asyncio(setter):
            return False
        return name in _FIXED or callable(getattr(kind, name, None))

    def set_attribute(loop: asyncio.AbstractEventLoop, name: str, value: object) -> None:
        if is_fixed(name, sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]  # only the stack shows who sets it
            _warn_ignored(name)
        else:
            kind.__setattr__(loop, name, value)

    def delete_attribute(loop: asyncio.AbstractEventLoop, name: str) -> None:
        if is_fixed(name, sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]  # only the stack shows who sets it
            _warn_ignored(name)
        else:
            kind.__delattr__(loop, name)

    return type(kind.__name__, (kind,), {"__slots__": (), "__setattr__": set_attribute, "__delattr__": delete_attribute})


def _is_asyncio(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "asyncio"


def _partial_of(call: _Call[Any]) -> dict[str, Any]:
    """The attributes of an interruption: what the call's run had done, or its result if it had just ended."""
    value: object = call.value
    result = cast("Finished[object]", value).result if isinstance(value, Finished) else value
    if call.error is None and isinstance(result, RunResult):
        return {"partial": result, "attempts": result.attempts}
    return {"partial": getattr(call.error, "partial", None), "attempts": getattr(call.error, "attempts", ())}


def next_item(queue: SimpleQueue[T]) -> T:
    """The next item of the queue. It polls like `_Call.wait`."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=_POLL_SECONDS)


def _warn_ignored(name: str, *_: object, **__: object) -> None:
    """Takes the place of the loop's own method."""
    _log.warning("`%s` changes nothing on the event loop that all run_sync share; use `await run` on a loop of your own", name)


async def _warn_ignored_async(name: str, *_: object, **__: object) -> None:
    _warn_ignored(name)


def _ignore(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    pass


def _cancelled_by_others(error: asyncio.CancelledError) -> InternalError:
    """The error for a cancellation that the waiting thread did not ask for."""
    failure = InternalError(
        "the run was cancelled by other code on its event loop; let tools and hooks cancel only the tasks that they made"
    )
    failure.with_partial(getattr(error, "partial", None), getattr(error, "attempts", ()))
    return failure


_lock = ForkSafeLock()
_shared: BackgroundLoop | None = None
_replaced: list[BackgroundLoop] = []
"""Never freed: in a forked child, freeing or closing the parent's loop would disturb the sockets that both share."""


def run_in_background(name: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Call the async method `name` by `start` on the shared loop, and wait for it.

    Raises what it raises. Raises `CallerError` if an event loop runs in this thread, because waiting would block it.
    """
    refuse_to_block(f"{name}_sync", f"await {name}(...)")
    return shared_loop().run(start())


def refuse_to_block(name: str, instead: str) -> None:
    """Raises `CallerError` if an event loop runs in this thread, because waiting in `name` would block it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise CallerError(f"{name} would block the event loop that runs in this thread; write `{instead}` instead")


def shared_loop() -> BackgroundLoop:
    """The loop that all synchronous calls share. A new one is made if the last one was closed, or if this is a forked child."""
    global _shared
    with _lock:
        if _shared is None or not _shared.is_alive:
            if _shared is not None:
                _replaced.append(_shared)
            _shared = BackgroundLoop()
        return _shared


def _close_shared() -> None:
    if _shared is not None and _shared.is_alive:
        _shared.close(quitting=True)


at_exit(_close_shared)
