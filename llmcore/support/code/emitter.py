"""Telling a listener what happens, from however deep within the work that makes it happen.

Work that has something to tell is a coroutine that is given `tell` and awaits it with each event. Where nobody listens it is
awaited as it is, with `silently`. Who listens reads `event_stream(work)`: between two events the work stands still where it
tells, and whoever leaves early has it left there. An event costs the same however deep it comes from.
"""

from __future__ import annotations

import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

__all__ = ["Emit", "emit_after", "emit_outside", "event_stream", "silently"]

E = TypeVar("E")
Emit = Callable[[E], Awaitable[None]]
"""Tells one event. It is awaited in the task of the work, and under no timeout: the time belongs to whoever listens."""


class _Emitted:
    """What the work waits for while its listener has an event: it is given to `event_stream`, and never to the event loop."""

    __slots__ = ("event",)

    def __init__(self, event: object) -> None:
        self.event = event

    def __await__(self) -> Generator[Any, BaseException | None, None]:
        thrown = yield self
        if thrown is not None:
            raise thrown


_OVER = object()


async def silently(event: object) -> None:
    """Nobody listens."""


def emit_after(look: Callable[[E], object], tell: Emit[E]) -> Emit[E]:
    """Tells each event when `look` has seen it."""

    async def told(event: E) -> None:
        look(event)
        await tell(event)

    return told


def emit_outside(scope: AbstractContextManager[object], tell: Emit[E]) -> Emit[E]:
    """Tells events outside the scope that the work goes on in."""

    async def told(event: E) -> None:
        scope.__exit__(None, None, None)
        try:
            await tell(event)
        finally:
            scope.__enter__()

    return told


async def event_stream(work: Callable[[Emit[E]], Coroutine[Any, Any, object]]) -> AsyncGenerator[E, None]:
    """The events that the work tells, as they come. What is thrown in, and leaving early, is raised where the work stands."""
    coroutine = work(_Emitted)
    try:
        event = await _next_of(coroutine)
        while event is not _OVER:
            try:
                yield cast("E", event)
            except BaseException as error:
                event = await _next_of(coroutine, error)
            else:
                event = await _next_of(coroutine)
    finally:
        coroutine.close()


@types.coroutine
def _next_of(coroutine: Coroutine[Any, Any, object], error: BaseException | None = None) -> Generator[Any, Any, object]:
    """Carry the work on until it tells something: the event, or `_OVER`. What it waits for meanwhile, the event loop is given."""
    try:
        step = coroutine.send(error)  # thrown in, a GeneratorExit would close what is awaited, which then could not wait any more
        while step.__class__ is not _Emitted:
            try:
                answer = yield step
            except BaseException as thrown:
                step = coroutine.throw(thrown)
            else:
                step = coroutine.send(answer)
    except StopIteration:
        return _OVER
    return step.event
