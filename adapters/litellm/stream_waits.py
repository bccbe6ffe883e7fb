"""How long a stream may keep its reader waiting: for the first piece that says something, and between two.

LiteLLM's own timeout covers not every provider's reads, and signs of life (comments, empty deltas) would renew it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.litellm.errors.words import place_words
from llmcore.types import Timeout

__all__ = ["StreamWaits"]

T = TypeVar("T")
_ALMOST = 0.95
"""The part of a wait after which a connection's timeout is the same one."""


class StreamWaits:
    """The waits of one stream. `said`: a piece came that says something."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._started = asyncio.get_running_loop().time()
        self.said = False

    async def on(self, awaitable: Awaitable[T]) -> T:
        """Await it. Raises `Timeout` when it takes too long, also where the connection's own clock was first to say so."""
        seconds = self._seconds()
        limit, before = asyncio.timeout(seconds), asyncio.get_running_loop().time()
        try:
            async with limit:
                return await awaitable
        except Exception as error:
            waited = asyncio.get_running_loop().time() - before
            if limit.expired() or (waited >= seconds * _ALMOST and isinstance(classify(error), Timeout)):
                raise Timeout(self._words()) from None
            raise

    def _seconds(self) -> float:
        first = self._call.first_token_timeout
        if self.said or first is None:
            return self._call.timeout
        return max(0.0, self._started + first - asyncio.get_running_loop().time())

    def _words(self) -> str:
        call, name = self._call, place_words(self._call)
        if not self.said and call.first_token_timeout is not None:
            return f"{name}: no first token came within {call.first_token_timeout:g} s (first_token_timeout)"
        return f"{name}: nothing of the stream came for {call.timeout:g} s (timeout)"
