"""Fault: LiteLLM's cache of HTTP clients forgets clients while their sockets are open, and cannot close those of one event loop.

The cache keeps a client for each endpoint and key: 200 at most, and each for an hour. Only Python's collector closes the others,
and warns of each on stderr. LiteLLM's own function closes the clients of every loop, and leaves them in the cache for the next
call. Seen on LiteLLM 1.105.3 and 1.110.2.

A call may use a client when the cache evicts it, or be about to. So llmcore closes an evicted client after the last call that ran
at that time and could have it: one that had sent nothing yet, or one that sent through it. A client that carried a request of the
program's own is left to LiteLLM.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from typing import Any
from weakref import WeakSet

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import TrafficWatch
from llmcore.support.code.fork_safe_lock import ForkSafeLock

__all__ = ["PATCHES", "close_clients_of_loop", "foreign_transports", "in_use", "register_loop"]

foreign_transports: WeakSet[Any] = WeakSet()
"""The transports that carried a request which is none of ours."""
_lock = ForkSafeLock()
"""The cache is one for all loops, and so for all threads."""


class _Evicted:
    """A client, and the calls that may use it."""

    def __init__(self, handler: Any, users: set[TrafficWatch]) -> None:
        self.handler = handler
        self.users = users


class _OnLoop:
    """One event loop's calls that run, and its clients that the cache evicted."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.suffix = ""
        """What LiteLLM's cache writes behind the keys of this loop's clients."""
        self.calls: set[TrafficWatch] = set()
        self.evicted: list[_Evicted] = []
        self._closing: asyncio.Task[None] | None = None

    def add_evicted(self, handler: Any) -> None:
        transport = _transport_of(handler)
        users = {call for call in self.calls if not call.carriers or transport in call.carriers}
        self.evicted.append(_Evicted(handler, users))
        self._close_soon()

    def end_call(self, call: TrafficWatch) -> None:
        self.calls.discard(call)
        for one in self.evicted:
            one.users.discard(call)
        self._close_soon()

    def _close_soon(self) -> None:
        """From any thread: a call may evict a client of another loop."""
        if any(not one.users for one in self.evicted):
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self.loop.call_soon_threadsafe(self._start_closing)

    def _start_closing(self) -> None:
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
        await _close_connections(one.handler)
        with _lock, suppress(ValueError):  # all were closed meanwhile
            self.evicted.remove(one)

    async def close_evicted(self) -> None:
        while self.evicted:
            await _close_connections(self.evicted.pop().handler)


_loops: dict[int, _OnLoop] = {}
"""By `id`."""


@contextmanager
def in_use(call: TrafficWatch) -> Generator[None, None, None]:
    """Around the whole of a call: no client that it may use is closed meanwhile."""
    on_loop = _running_loop()
    with _lock:
        on_loop.calls.add(call)
    try:
        yield
    finally:
        with _lock:
            on_loop.end_call(call)


def register_loop(module: Any) -> None:
    """Note what LiteLLM's cache writes behind the keys of the running loop's clients."""
    on_loop = _running_loop()
    on_loop.suffix = on_loop.suffix or module.in_memory_llm_clients_cache.update_cache_key_with_event_loop("")


async def close_clients_of_loop(module: Any) -> None:
    """Close the running loop's clients, used or not, and take them out of LiteLLM's cache."""
    loop = asyncio.get_running_loop()
    cache = module.in_memory_llm_clients_cache
    suffix = cache.update_cache_key_with_event_loop("")
    for key, handler in list(cache.cache_dict.items()):
        if str(key).endswith(suffix):
            cache.cache_dict.pop(key, None)
            cache.ttl_dict.pop(key, None)
            await _close_client(handler)
        else:
            await _close_session(handler, loop)
    with _lock:
        on_loop = _loops.pop(id(loop), None)
    if on_loop is not None:
        await on_loop.close_evicted()
    await _close_session(getattr(module, "module_level_aclient", None), loop)
    await asyncio.sleep(0)  # a transport is closed one step after it was told to


def _client_of(handler: Any) -> Any:
    """The httpx client inside an SDK client or one of LiteLLM's handlers."""
    return getattr(handler, "_client", None) or getattr(handler, "client", None) or handler


def _transport_of(handler: Any) -> Any:
    return getattr(_client_of(handler), "_transport", None)


def _running_loop() -> _OnLoop:
    loop = asyncio.get_running_loop()
    found = _loops.get(id(loop))
    if found is None or found.loop is not loop:
        with _lock:
            for name in [name for name, one in _loops.items() if one.loop.is_closed()]:
                del _loops[name]
            found = _loops[id(loop)] = _OnLoop(loop)
    return found


async def _close_connections(handler: Any) -> None:
    """The connections alone: the client makes new ones if somebody sends through it after all."""
    with suppress(Exception):
        await _transport_of(handler).aclose()


async def _close_client(handler: Any) -> None:
    client = _client_of(handler)
    for part in (getattr(client, "_transport", None), client):
        close = getattr(part, "aclose", None)
        if close is not None:
            with suppress(Exception):  # it may be closed already
                await close()


async def _close_session(handler: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Handlers made at import serve any loop with one session at a time, and make a new one when it is closed."""
    session: Any = getattr(_transport_of(handler), "client", None)
    if getattr(session, "_loop", None) is loop:
        with suppress(Exception):
            await session.close()


def _with_close(remove: Any) -> Callable[[str], None]:
    """`remove`, which evicts a client from LiteLLM's cache, with the client kept until it can be closed."""
    cache = remove.__self__
    litellm: Any = import_module("litellm")

    @wraps(remove)
    def remove_key(key: str) -> None:
        handler = cache.cache_dict.get(key)
        remove(key)
        if _client_of(handler) is not getattr(litellm, "aclient_session", None):  # the program's own, which LiteLLM may wrap
            _keep_until_unused(key, handler)

    return remove_key


def _keep_until_unused(key: str, handler: Any) -> None:
    suffix = f"-{key.rpartition('-')[2]}"
    with _lock:
        on_loop = next((one for one in _loops.values() if one.suffix == suffix), None)
        transport = _transport_of(handler)
        if on_loop is not None and transport is not None and transport not in foreign_transports:
            on_loop.add_evicted(handler)


PATCHES = (Patch("litellm", "in_memory_llm_clients_cache", "_remove_key", _with_close),)
