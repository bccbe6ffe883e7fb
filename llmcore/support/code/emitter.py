"""Emitting events from a coroutine, at any depth, to a consumer of an async generator.

The coroutine receives a function `tell` and awaits it with each event. If nobody consumes the events, it receives `silently`.
Otherwise the consumer iterates over `event_stream(work)`. The coroutine is suspended in `tell` until the consumer asks for the
next event, and it is closed there if the consumer stops. The cost of an event does not depend on the depth.
"""

from __future__ import annotations

import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

__all__ = ["Emit", "emit_after", "emit_outside", "event_stream", "silently"]

E = TypeVar("E")
Emit = Callable[[E], Awaitable[None]]
"""Emits one event. It is awaited in the task of the work and under no timeout, because the consumer decides how long it takes."""


class _Emitted:
    """The awaitable of one emitted event. `event_stream` receives it, and the event loop never does."""

    __slots__ = ("event",)

    def __init__(self, event: object) -> None:
        self.event = event

    def __await__(self) -> Generator[Any, BaseException | None, None]:
        thrown = yield self
        if thrown is not None:
            raise thrown


_OVER = object()


async def silently(event: object) -> None:
    """Discard the event."""


def emit_after(observe: Callable[[E], object], tell: Emit[E]) -> Emit[E]:
    """A `Emit` that calls `observe(event)` before it emits the event."""

    async def emit(event: E) -> None:
        observe(event)
        await tell(event)

    return emit


def emit_outside(scope: AbstractContextManager[object], tell: Emit[E]) -> Emit[E]:
    """A `Emit` that leaves `scope` while it emits the event, and enters it again afterwards."""

    async def emit(event: E) -> None:
        scope.__exit__(None, None, None)
        try:
            await tell(event)
        finally:
            scope.__enter__()

    return emit


async def event_stream(work: Callable[[Emit[E]], Coroutine[Any, Any, object]]) -> AsyncGenerator[E, None]:
    """The events that the work emits. An exception thrown into the generator, and its closing, are raised in the work."""
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
    """Run the work until it emits an event. Returns the event, or `_OVER` at its end. Its other awaits go to the event loop."""
    try:
        step = coroutine.send(error)  # `throw` of a GeneratorExit would close the inner coroutines, which could not await then
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
