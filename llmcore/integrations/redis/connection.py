"""One Redis that all parts of the shared state ask, with one breaker and one warning.

Blocking exchanges run in daemon threads, so nothing depends on an event loop. The client has no retries: the loss of a server
that refuses connections costs milliseconds, and the loss of one that hangs costs one timeout for each pause. All keys of a
namespace have one hash tag, so that a script may use them together in a cluster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any, TypeVar

from llmcore.adapters.capabilities.breaker import BackendLost, Breaker, loss_words
from llmcore.adapters.capabilities.redis_client import check_source, connect
from llmcore.support.code.threads import in_thread
from llmcore.types.logs import logger

__all__ = ["PAUSE", "RedisConnection"]

T = TypeVar("T")

PAUSE = 1.0
"""Seconds for which a lost Redis is not asked."""
_log = logger("redis")


class RedisConnection:
    """The Redis at `url`, or behind the caller's `client`. Raises `ConfigError` for an unusable one."""

    def __init__(self, url: str | None, client: Any, namespace: str, timeout: float) -> None:
        self.shown = check_source("RedisState", url, client)
        self.namespace = namespace
        self.client: Any = connect(url, timeout) if url is not None else client
        self._breaker = Breaker(PAUSE, _log)

    def __deepcopy__(self, memo: dict[int, Any]) -> RedisConnection:
        """The copies share the connection."""
        return self

    def __repr__(self) -> str:
        return f"RedisState({self.shown!r}, namespace={self.namespace!r})"

    def key(self, *parts: str) -> str:
        return ":".join(("llmcore", f"{{{self.namespace}}}", *parts))

    async def exchange(self, work: Callable[[], T]) -> T:
        """Carry out one blocking exchange. Raises `BackendLost` if it fails, or if the Redis failed a moment ago."""
        if not self._breaker.admits():
            raise BackendLost(f"{self!r} failed a moment ago")
        try:
            answer = await in_thread(work)
        except Exception as error:  # a lost server, one that loads or is full, a key of another kind
            self._breaker.failed(f"state is not shared, since {self!r} failed", error)
            raise BackendLost(f"{self!r} failed: {loss_words(error)}") from None
        if self._breaker.worked():
            _log.info("%r answers again", self)
        return answer

    async def run(self, name: str, keys: Sequence[str], *arguments: str | int) -> Any:
        """Run the script `scripts/<name>.lua`, which is one atomic step. Raises `BackendLost`."""
        return await self.exchange(partial(self._run, name, keys, arguments))

    def _run(self, name: str, keys: Sequence[str], arguments: Sequence[str | int]) -> Any:
        text, digest = _script(name)
        try:
            return self.client.evalsha(digest, len(keys), *keys, *arguments)
        except Exception as error:
            if type(error).__name__ != "NoScriptError":
                raise
        return self.client.eval(text, len(keys), *keys, *arguments)  # a new server, which keeps the script from now on


@cache
def _script(name: str) -> tuple[str, str]:
    """The text of a script and its digest, by which the server knows it."""
    text = files("llmcore.integrations.redis").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8")
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
