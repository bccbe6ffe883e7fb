"""One event loop for all synchronous calls of the process, in a daemon thread.

One, because clients keep connections for the loop they were made in: a loop a call would leave them open. It starts
with the first call and ends with the interpreter, after what still runs was cancelled and LiteLLM's clients were
closed. Thread-safe.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from llmcore.adapters.engine import close_clients

__all__ = ["BackgroundLoop", "run_in_background"]

T = TypeVar("T")
_SECONDS_TO_END = 5.0


class BackgroundLoop:
    """A loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="llmcore-background", daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Does the asking code run on this loop? Waiting for it would then never end."""
        return threading.current_thread() is self._thread

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result. When the waiting thread is interrupted the coroutine is cancelled and waited for."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
            raise

    def close(self) -> None:
        """End the loop: cancel what runs, close the clients, stop, and wait for the thread."""
        if self._loop.is_closed():
            return
        with suppress(Exception):  # at the end of the interpreter nobody is left to tell
            asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop).result(_SECONDS_TO_END)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS_TO_END)
        if not self._thread.is_alive():
            self._loop.close()

    async def _wind_up(self) -> None:
        await close_clients()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


_lock = threading.Lock()
_shared: BackgroundLoop | None = None


def run_in_background(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the shared loop and wait for it. Raises what it raises; `RuntimeError` from code on that
    very loop."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = BackgroundLoop()
            atexit.register(_shared.close)
        shared = _shared
    if shared.is_current:
        coroutine.close()
        raise RuntimeError("a *_sync method was called from code that runs on llmcore's own loop; await the async method there")
    return shared.run(coroutine)
