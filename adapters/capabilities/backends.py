"""What the backends `FileFacts` and `RedisFacts` share: a thread for blocking work, and the kinds of their settings."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from llmcore.support.values.bounds import is_amount
from llmcore.types.input.argument_errors import Kind

__all__ = ["KINDS", "in_daemon_thread"]


T = TypeVar("T")

KINDS = {
    "name": Kind(lambda value: isinstance(value, str) and bool(value.strip()), "a text, the key of the hash"),
    "timeout": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "maxsize": Kind(lambda value: isinstance(value, int) and is_amount(value) and value > 0, "a whole number of at least 1"),
    "ttl": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "clock": Kind(callable, "a function that gives wall-clock seconds"),
}
"""The valid settings of backends."""


async def in_daemon_thread(work: Callable[[], T]) -> T:
    """Run blocking `work` in a daemon thread and return its result.

    A thread that hangs blocks neither the event loop nor the end of the program, unlike a thread of the loop's executor. If
    the caller is cancelled, the thread continues alone.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def resolve(value: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]  # without an error, there is a value

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except Exception as error:
            failure = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(resolve, value, failure)

    threading.Thread(target=run, name="llmcore-facts", daemon=True).start()
    return await future
