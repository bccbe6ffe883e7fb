"""A run that is checked, and made when it begins: the first one of a process loads the layers, in a thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING

from llmcore.run.results.result import RunResult
from llmcore.support.code.emitter import Tell, event_stream
from llmcore.types import Event
from llmcore.types.errors import with_partial

if TYPE_CHECKING:
    from llmcore.run.turn.loop import Run

__all__ = ["LazyRun"]


class LazyRun:
    """What streams and steps need of a run. `ready` is awaited before `make` is called, which is in the context of who asked for
    the run."""

    def __init__(self, ready: Callable[[], Awaitable[None]], make: Callable[[], Run]) -> None:
        self._ready, self._make, self._context = ready, make, copy_context()
        self._run: Run | None = None
        self._is_left = False
        self.is_stepped = False

    def _made(self) -> Run:
        if self._run is None:
            self._run = self._context.run(self._make)
            self._run.is_stepped = self.is_stepped
        return self._run

    def events(self) -> AsyncGenerator[Event, None]:
        return event_stream(self.out)

    async def out(self, tell: Tell[Event]) -> RunResult:
        """Carry it out. Errors carry the partial result."""
        try:
            await self._ready()
        except BaseException as error:
            with suppress(Exception):  # it may be a run that cannot be made
                self.leave()
                partial = self.so_far()
                with_partial(error, partial, partial.attempts)
            raise
        return await self._made().out(tell)

    def leave(self) -> None:
        self._is_left = True
        if self._run is not None:
            self._run.leave()

    def so_far(self) -> RunResult:
        run = self._made()
        if self._is_left:  # before it was made
            run.leave()
        return run.so_far()
