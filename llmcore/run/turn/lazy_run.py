"""A run whose checks are done, and which is made when it begins. The first run of a process loads the layers in a thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING

from llmcore.run.results.result import RunResult
from llmcore.support.code.emitter import Emit, event_stream
from llmcore.types import Event
from llmcore.types.errors import with_partial

if TYPE_CHECKING:
    from llmcore.run.turn.loop import Run

__all__ = ["LazyRun"]


class LazyRun:
    """The part of `Run` that streams and steps need. `ready` is awaited first. Then `make` is called, in the context of the code
    that started the run."""

    def __init__(self, ready: Callable[[], Awaitable[None]], make: Callable[[], Run]) -> None:
        self._ready, self._make, self._context = ready, make, copy_context()
        self._run: Run | None = None
        self._is_abandoned = False
        self.is_stepped = False

    def _made(self) -> Run:
        if self._run is None:
            self._run = self._context.run(self._make)
            self._run.is_stepped = self.is_stepped
        return self._run

    def events(self) -> AsyncGenerator[Event, None]:
        return event_stream(self.carry_out)

    async def carry_out(self, emit: Emit[Event]) -> RunResult:
        """Run to the end. Errors carry the partial result."""
        try:
            await self._ready()
        except BaseException as error:
            with suppress(Exception):  # making the run may fail, too
                self.abandon()
                partial = self.partial_result()
                with_partial(error, partial, partial.attempts)
            raise
        return await self._made().carry_out(emit)

    def abandon(self) -> None:
        self._is_abandoned = True
        if self._run is not None:
            self._run.abandon()

    def partial_result(self) -> RunResult:
        run = self._made()
        if self._is_abandoned:  # before it was made
            run.abandon()
        return run.partial_result()
