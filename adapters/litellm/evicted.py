"""HTTP clients that LiteLLM's cache evicts, held until no call of ours can use them any more, and closed then.

LiteLLM keeps a client for each endpoint and key, 200 at most and each for an hour, and forgets the others while their sockets are
open: those are closed by Python's collector alone, which tells of it on stderr. A client may be evicted while a call uses it, or
is about to, so it is held as long as one of the calls lasts that ran at that time and could have it: those that had sent nothing
yet, and those that sent through it. What others in the process send through is left to LiteLLM.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any
from weakref import WeakSet

from llmcore.adapters.litellm.patching import replace
from llmcore.adapters.wire.watching import Watch
from llmcore.types.locks import ForkSafeLock

__all__ = ["client_of", "close_evicted", "hold_evicted", "in_use", "name_loop", "of_others", "transport_of"]

of_others: WeakSet[Any] = WeakSet()
"""The transports that carried a request which is none of ours."""
_lock = ForkSafeLock()
"""The cache is one for all loops, and so for all threads."""


class _Evicted:
    """A client, and the calls that may use it."""

    def __init__(self, handler: Any, users: set[Watch]) -> None:
        self.handler = handler
        self.users = users


class _OnLoop:
    """One event loop's calls that run, and its clients that were evicted."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.name = ""
        """What LiteLLM's cache writes behind the keys of this loop's clients."""
        self.calls: set[Watch] = set()
        self.evicted: list[_Evicted] = []
        self._closing: asyncio.Task[None] | None = None

    def hold(self, handler: Any) -> None:
        transport = transport_of(handler)
        users = {call for call in self.calls if not call.carriers or transport in call.carriers}
        self.evicted.append(_Evicted(handler, users))
        self._close_soon()

    def ended(self, call: Watch) -> None:
        self.calls.discard(call)
        for one in self.evicted:
            one.users.discard(call)
        self._close_soon()

    def _close_soon(self) -> None:
        """From any thread: a call may evict a client of another loop."""
        if any(not one.users for one in self.evicted):
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self.loop.call_soon_threadsafe(self._close_now)

    def _close_now(self) -> None:
        if (self._closing is None or self._closing.done()) and any(not one.users for one in self.evicted):
            self._closing = self.loop.create_task(self._close_unused())

    async def _close_unused(self) -> None:
        """All of them at once: in a busy loop each takes some of its long turns, and others are evicted meanwhile."""
        while unused := self._unused():
            await asyncio.gather(*(self._close_one(one) for one in unused))

    def _unused(self) -> list[_Evicted]:
        with _lock:
            return [one for one in self.evicted if not one.users]

    async def _close_one(self, one: _Evicted) -> None:
        """It stays among them until it is closed: the task may be cancelled before."""
        await _close(one.handler)
        with _lock, suppress(ValueError):  # all were closed meanwhile
            self.evicted.remove(one)

    async def close_all(self) -> None:
        while self.evicted:
            await _close(self.evicted.pop().handler)


_loops: dict[int, _OnLoop] = {}
"""By `id`."""


@contextmanager
def in_use(call: Watch) -> Generator[None, None, None]:
    """Around the whole of a call: no client that it may use is closed meanwhile."""
    on_loop = _here()
    with _lock:
        on_loop.calls.add(call)
    try:
        yield
    finally:
        with _lock:
            on_loop.ended(call)


def hold_evicted(module: Any) -> None:
    """Let the clients that LiteLLM's cache evicts from now on be held, and closed when they are not used."""
    cache: Any = getattr(module, "in_memory_llm_clients_cache", None)
    if getattr(cache, "_remove_key", None) is None:  # of another version: its evicted clients stay its own
        return

    def holding(remove: Callable[[str], None]) -> Callable[[str], None]:
        @wraps(remove)
        def removed(key: str) -> None:
            handler = cache.cache_dict.get(key)
            remove(key)
            if not _is_the_callers(handler, module):
                _hold(key, handler)

        return removed

    replace(cache, "_remove_key", holding)


def name_loop(module: Any) -> None:
    """Note by what LiteLLM's cache tells the running loop from others, which stands at the ends of the keys of its clients."""
    on_loop = _here()
    on_loop.name = on_loop.name or module.in_memory_llm_clients_cache.update_cache_key_with_event_loop("")


async def close_evicted() -> None:
    """Close those of the running event loop, used or not."""
    with _lock:
        on_loop = _loops.pop(id(asyncio.get_running_loop()), None)
    if on_loop is not None:
        await on_loop.close_all()


def client_of(handler: Any) -> Any:
    """The httpx client inside an SDK client or one of LiteLLM's handlers."""
    return getattr(handler, "_client", None) or getattr(handler, "client", None) or handler


def transport_of(handler: Any) -> Any:
    return getattr(client_of(handler), "_transport", None)


def _is_the_callers(handler: Any, module: Any) -> bool:
    """Is it a client that the program gave LiteLLM, which LiteLLM may have wrapped?"""
    return client_of(handler) is getattr(module, "aclient_session", None)


def _hold(key: str, handler: Any) -> None:
    name = f"-{key.rpartition('-')[2]}"
    with _lock:
        on_loop = next((one for one in _loops.values() if one.name == name), None)
        transport = transport_of(handler)
        if on_loop is not None and transport is not None and transport not in of_others:
            on_loop.hold(handler)


def _here() -> _OnLoop:
    loop = asyncio.get_running_loop()
    found = _loops.get(id(loop))
    if found is None or found.loop is not loop:
        with _lock:
            for name in [name for name, one in _loops.items() if one.loop.is_closed()]:
                del _loops[name]
            found = _loops[id(loop)] = _OnLoop(loop)
    return found


async def _close(handler: Any) -> None:
    """The connections alone: the client makes new ones, should somebody send through it yet."""
    with suppress(Exception):
        await transport_of(handler).aclose()
