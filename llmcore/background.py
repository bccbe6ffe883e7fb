"""One event loop for all synchronous calls of the process, in a daemon thread.

One, because clients keep connections for the loop they were made in: a loop a call would leave them open. It starts
with the first call and ends with the interpreter, after what still runs was cancelled and LiteLLM's clients were
closed. Nothing that runs on it can end it, and a forked child begins with a loop of its own, also where the fork was
made on the loop itself. Nor can anything that runs on it change it for those that come after: who sets its task factory,
executor, exception handler, debug mode, or any of its attributes that asyncio itself leaves alone (`loop.call_later = ...`), is
not heard, and a warning says so. Its default executor has as many threads as
there is work: an async tool that blocks some (`asyncio.to_thread`) takes none from name look-ups and from LiteLLM. Thread-safe.
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
from llmcore.tools.execution.threads import UnboundedExecutor
from llmcore.types import CallerError, Finished, InternalError
from llmcore.types.logs import logger

__all__ = ["BackgroundLoop", "refuse_to_block", "run_in_background", "shared_loop"]

T = TypeVar("T")

_log = logger("tools")
_SETTERS = ("set_task_factory", "set_default_executor", "set_exception_handler", "set_debug")
_SHUTDOWNS = ("shutdown_default_executor", "shutdown_asyncgens")
"""What would change the loop, or take something from it, for every later run."""
_FIXED = frozenset(
    {"__dict__", "slow_callback_duration"}
    | {"_asyncgens", "_clock_resolution", "_debug", "_default_executor", "_exception_handler"}
    | {"_ready", "_scheduled", "_selector", "_signal_handlers", "_task_factory"}
)
"""What nobody but asyncio may set. None of its methods is ever set; what else it has changes while it runs."""
_SET_BY_METHODS = frozenset({"__dict__", "_debug", "_default_executor", "_exception_handler", "_task_factory"})
"""Those of them that asyncio sets only where somebody asks it to. The others are its own: it sets them while it runs."""
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_TO_STOP = 5.0
"""How long an interrupted call waits for its run to end; a second Ctrl-C ends the waiting."""
_SECONDS_TO_END = 0.3
"""For each of the steps at the end of the interpreter."""


class _Call(Generic[T]):
    """One coroutine on the loop. `ended` is done in any case once it runs no more; then `error` or `value` is set."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._task: asyncio.Task[None] | None = None
        self._begun = False
        self.value: T | None = None
        self.error: BaseException | None = None
        self.ended: Future[None] = Future()

    def start(self) -> None:
        """On the loop. Whatever goes wrong here, somebody waits for the end."""
        try:
            self._task = asyncio.get_running_loop().create_task(self._carry_out())
            self._task.add_done_callback(lambda _: self.drop())
        except BaseException as error:
            self.error = error
            self.drop()

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
        """In the waiting thread. It looks up now and then: a signal does not wake every wait (never on Windows)."""
        while not self.ended.done():
            with suppress(TimeoutError):
                self.ended.result(_SECONDS_BETWEEN_LOOKS)

    def explains(self, error: BaseException) -> bool:
        """Is this how it ended, and not what came to the thread that waits?"""
        return self.error is not None and self.error in (error, error.__cause__)

    def drop(self) -> None:
        """It runs no more, or never will."""
        if self.ended.done():
            return
        if not self._begun:
            self._coroutine.close()
            self.error = self.error or asyncio.CancelledError()
        self.ended.set_result(None)


class BackgroundLoop:
    """A loop in a thread of its own."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(UnboundedExecutor())
        for name in _SETTERS:
            setattr(self._loop, name, partial(_not_heard, name))
        for name in _SHUTDOWNS:
            setattr(self._loop, name, partial(_goes_on, name))
        self._kind = type(self._loop)
        self._loop.__class__ = _guarded(self._kind)
        self._calls: set[_Call[Any]] = set()
        self._closing = False
        self._quitting = False
        self._ending = False
        self._thread = threading.Thread(target=self._serve, name="llmcore-background", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Does it take calls? In a forked child it does not: where its own thread has forked, that thread lives on
        there, but waits for whoever calls."""
        return self._pid == os.getpid() and self._thread.is_alive() and not self._closing

    def _serve(self) -> None:
        """Run the loop until it is closed. asyncio lets a `SystemExit` or `KeyboardInterrupt` of any task end the
        loop it runs on, and a tool may start tasks of its own."""
        while not self._ending:
            with suppress(BaseException):
                self._loop.run_forever()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result. Raises what it raises, and `InternalError` where other code cancelled it: a tool or hook
        that cancels tasks that are not its own.

        When the waiting thread is interrupted (Ctrl-C), the coroutine is cancelled and waited for, and the partial
        result rides on the interruption: `error.partial`, `error.attempts`; the whole one where the coroutine had just ended.
        """
        call = self._begin(coroutine)
        try:
            call.wait()
            return self._outcome(call)
        except BaseException as interruption:
            if not call.explains(interruption):
                self._stop(call, interruption)
            raise
        finally:
            self._calls.discard(call)

    def stream(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """The items, read by one task on the loop as fast as they come. Raises as `run` does. Closing the generator early
        cancels the task and waits for it; so does an interruption."""
        read: SimpleQueue[tuple[T] | None] = SimpleQueue()

        async def reading() -> T | None:
            last: T | None = None
            async with aclosing(items):
                async for item in items:
                    last = item
                    read.put((item,))
            return last

        call = self._begin(reading())
        call.ended.add_done_callback(lambda _: read.put(None))
        try:
            while (item := next_item(read)) is not None:
                yield item[0]
            self._outcome(call)
        except BaseException as interruption:
            if not call.explains(interruption):
                self._stop(call, interruption)
            raise
        finally:
            self._calls.discard(call)

    def leave(self, items: AsyncGenerator[Any, None]) -> None:
        """Close items that another thread reads by `stream`; from the loop's own thread without waiting for that."""

        async def leaving() -> None:
            await items.aclose()

        if threading.current_thread() is self._thread:
            call = self._begin(leaving())
            call.ended.add_done_callback(lambda _: self._calls.discard(call))
        else:
            self.run(leaving())

    def _begin(self, coroutine: Coroutine[Any, Any, T]) -> _Call[T]:
        call = _Call(coroutine)
        self._calls.add(call)
        self._loop.call_soon_threadsafe(call.start)
        return call

    def _outcome(self, call: _Call[T]) -> T:
        if call.error is None:
            return cast("T", call.value)
        if self._quitting and isinstance(call.error, asyncio.CancelledError):
            raise SystemExit  # in a daemon thread at the end of the interpreter: it ends without a traceback
        if not self._closing and isinstance(call.error, asyncio.CancelledError):
            raise _cancelled_by_others(call.error) from call.error
        raise call.error

    def _stop(self, call: _Call[Any], interruption: BaseException) -> None:
        if not self._thread.is_alive():
            call.drop()
            return
        self._loop.call_soon_threadsafe(call.cancel)
        with suppress(TimeoutError):
            call.ended.result(_SECONDS_TO_STOP)
        interruption.__dict__.update(_done_by(call))

    def close(self, *, quitting: bool = False) -> None:
        """End the loop: cancel what runs, close the clients, stop, and wait for the thread; two seconds at most.
        `quitting`: because the interpreter ends."""
        if self._loop.is_closed():
            return
        self._closing, self._quitting = True, quitting
        with suppress(Exception):  # at the end of the interpreter nobody is left to tell
            asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop).result(3 * _SECONDS_TO_END)
        self._ending = True
        object.__setattr__(self._loop, "__class__", self._kind)
        self._kind.set_exception_handler(self._loop, _no_word)  # about tasks that ignore their cancellation
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS_TO_END)
        if not self._thread.is_alive():
            self._loop.close()
            for call in tuple(self._calls):
                call.drop()

    async def _wind_up(self) -> None:
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=_SECONDS_TO_END)
        await type(self._loop).shutdown_asyncgens(self._loop)
        await close_clients()


def _guarded(kind: type[asyncio.AbstractEventLoop]) -> type[asyncio.AbstractEventLoop]:
    """The class of loops, with the same layout, whose methods and fixed attributes nobody but asyncio can set or delete."""

    def is_fixed(name: str, setter: FrameType) -> bool:
        if name in _FIXED and name not in _SET_BY_METHODS and _is_asyncio(setter):
            return False
        return name in _FIXED or callable(getattr(kind, name, None))

    def set_attribute(loop: asyncio.AbstractEventLoop, name: str, value: object) -> None:
        if is_fixed(name, sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]  # who sets it is told nowhere else
            _not_heard(name)
        else:
            kind.__setattr__(loop, name, value)

    def delete_attribute(loop: asyncio.AbstractEventLoop, name: str) -> None:
        if is_fixed(name, sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]  # who sets it is told nowhere else
            _not_heard(name)
        else:
            kind.__delattr__(loop, name)

    return type(kind.__name__, (kind,), {"__slots__": (), "__setattr__": set_attribute, "__delattr__": delete_attribute})


def _is_asyncio(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "asyncio"


def _done_by(call: _Call[Any]) -> dict[str, Any]:
    """What an interruption tells of a call: what its run had done when it was stopped, or its result where it had just ended."""
    value: object = call.value
    result = cast("Finished[object]", value).result if isinstance(value, Finished) else value
    if call.error is None and isinstance(result, RunResult):
        return {"partial": result, "attempts": result.attempts}
    return {"partial": getattr(call.error, "partial", None), "attempts": getattr(call.error, "attempts", ())}


def next_item(queue: SimpleQueue[T]) -> T:
    """The next of the queue. Like `_Call.wait` it looks up now and then."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=_SECONDS_BETWEEN_LOOKS)


def _not_heard(name: str, *_: object, **__: object) -> None:
    """In place of the loop's own method."""
    _log.warning("`%s` changes nothing on the event loop that all run_sync share; use `await run` on a loop of your own", name)


async def _goes_on(name: str, *_: object, **__: object) -> None:
    _not_heard(name)


def _no_word(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    pass


def _cancelled_by_others(error: asyncio.CancelledError) -> InternalError:
    """In the waiting thread nobody has asked for a cancellation, and nobody there expects one."""
    failure = InternalError(
        "the run was cancelled by other code on its event loop; let tools and hooks cancel only the tasks that they made"
    )
    failure.with_partial(getattr(error, "partial", None), getattr(error, "attempts", ()))
    return failure


_lock = ForkSafeLock()
_shared: BackgroundLoop | None = None
_replaced: list[BackgroundLoop] = []
"""Kept for good: in a forked child, freeing or closing the loop of the parent would disturb the sockets they share."""


def run_in_background(name: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Call the async method `name` by `start`, on the shared loop, and wait for it. Raises what it raises, and
    `CallerError` where an event loop runs in this thread, which the waiting would block."""
    refuse_to_block(f"{name}_sync", f"await {name}(...)")
    return shared_loop().run(start())


def refuse_to_block(name: str, instead: str) -> None:
    """Raises `CallerError` where an event loop runs in this thread, which waiting in `name` would block."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise CallerError(f"{name} would block the event loop that runs in this thread; write `{instead}` instead")


def shared_loop() -> BackgroundLoop:
    """The loop that all of them share. It is made anew when it takes no calls any more: it was closed, or this
    is the child of a fork."""
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
