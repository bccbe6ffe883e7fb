"""A run's events for whoever reads them, with what they add up to so far.

The view follows the rule of the events: what an attempt emitted is void when another one follows, unless its calls ran.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from threading import Event as Flag
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, cast

from llmcore.run.results.result import RunEvent, RunResult, T  # another TypeVar would make another model of RunResult
from llmcore.run.streaming.async_only import AsyncOnly
from llmcore.run.streaming.closable import READ_TWICE, ClosableStream
from llmcore.types import (
    AttemptStarted,
    CallerError,
    Event,
    Finished,
    PartialOutput,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCall,
    ToolCallFinished,
    ToolResult,
)

__all__ = ["RunStream", "SyncRunStream", "in_sync", "is_within"]

E = TypeVar("E")


class _Run(Protocol):
    """What a stream needs of a run."""

    def events(self) -> AsyncGenerator[Event, None]: ...

    def abandon(self) -> None: ...

    def partial_result(self) -> RunResult: ...


class _Loop(Protocol):
    """The event loop that code without one reads by."""

    def stream(self, items: AsyncGenerator[E, None]) -> Generator[E, None, None]: ...

    def leave(self, items: AsyncGenerator[Any, None]) -> None: ...


_RUNNING = ("generator already executing",)
"""What Python says of a generator that another thread is in."""
_SECONDS_BETWEEN_LOOKS = 0.5
"""A signal does not wake every wait (never on Windows)."""


class _View(Generic[T]):
    """What the events that were read add up to."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self.text = ""
        """The text of the reply that is coming, or of the last one; at the end the answer's."""
        self.reasoning = ""
        """The reasoning of that reply."""
        self.calls: list[ToolCall] = []
        """The calls that the run's replies made, in order; those of a reply that another attempt took the place of left out."""
        self.results: list[ToolResult] = []
        """What came of the calls."""
        self.partial: T | None = None
        """The typed value as far as it is certain; None while nothing is."""
        self._accepted = 0  # so many of the calls have run
        self._result: RunResult[T] | None = None
        self._is_over = False

    @property
    def result(self) -> RunResult[T]:
        """The run's result, as `Finished` holds it. Where the stream was left early or failed, the run as far as it came.

        Raises `CallerError` while the run goes on.
        """
        if self._result is not None:
            return self._result
        if not self._is_over:
            raise CallerError("the stream has no result yet: read it to its end, or leave it (by `aclose`, or the end of `with`)")
        return cast("RunResult[T]", self._run.partial_result())

    def _left(self) -> None:
        if not self._is_over:
            self._run.abandon()
        self._is_over = True

    def _saw(self, event: RunEvent[T]) -> RunEvent[T]:
        match event:
            case TextDelta():
                self.text += event.text
            case ReasoningDelta():
                self.reasoning += event.text
            case ToolCallFinished():
                self.calls.append(event.call)
            case ToolResult():
                self.results.append(event)
                self._accepted = len(self.calls)
            case PartialOutput():
                self.partial = event.value
            case AttemptStarted():
                self.text = self.reasoning = ""
                self.partial = None
                del self.calls[self._accepted :]
            case Reclassified():
                self._withdraw(event)
            case Finished():
                self._result, self._is_over = event.result, True
                self.text, self.reasoning = event.result.content, event.result.envelope.reasoning
            case _:
                pass
        return event

    def _withdraw(self, event: Reclassified) -> None:
        """What was told as text was reasoning, from the beginning on; what was told as a call is none."""
        if event.kind == "reasoning" and event.start == 0:
            self.reasoning, self.text = self.reasoning + self.text, ""
        if event.kind != "call":
            new = self.calls[self._accepted :]
            self.calls[self._accepted :] = [call for call in new if not is_within(call, event)]


def is_within(call: ToolCall, event: Reclassified) -> bool:
    """Does the call stand in the part of the text that the event tells of?"""
    return call.span is not None and event.start <= call.span[0] and call.span[1] <= event.end


class RunStream(AsyncOnly, _View[T], AsyncGenerator[RunEvent[T], None]):
    """The events of a run: `async for event in stream`. `text`, `reasoning`, `calls`, `results` and `partial` are what they add
    up to, `result` is the run's at its end.

    `async with orchestrator.stream(...) as stream` closes it when it is left early: what the run waits for is stopped, the
    connection is closed, and `result` is the run as far as it came, its history fit for another run.
    """

    _what_is = "a RunStream is"

    def __init__(self, run: _Run) -> None:
        super().__init__(run)
        self._events = ClosableStream(cast("AsyncGenerator[RunEvent[T], None]", run.events()))

    async def asend(self, value: None = None) -> RunEvent[T]:
        return self._saw(await self._over_on_error(self._events.asend(value)))

    async def athrow(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> RunEvent[T]:
        return self._saw(await self._over_on_error(self._events.athrow(typ if val is None else val)))

    async def _over_on_error(self, event: Any) -> RunEvent[T]:
        try:
            return cast("RunEvent[T]", await event)
        except BaseException:
            self._is_over = True
            raise

    async def aclose(self) -> None:
        """Leave the run, also from another task than the one that reads, whose loop then ends. Raises nothing when it is over."""
        await self._events.aclose()
        self._left()

    async def __aenter__(self) -> RunStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class SyncRunStream(_View[T], Generator[RunEvent[T], None, None]):
    """`RunStream` for code without an event loop: `for event in stream`, `with orchestrator.stream_sync(...) as stream`."""

    def __init__(self, run: _Run, loop: _Loop) -> None:
        super().__init__(run)
        self._loop = loop
        self._read = ClosableStream(cast("AsyncGenerator[RunEvent[T], None]", run.events()))
        self._events = loop.stream(self._read)
        self._is_left, self._is_closed = False, Flag()

    def send(self, value: None) -> RunEvent[T]:
        try:
            return self._saw(self._events.send(value))
        except BaseException as error:
            if isinstance(error, ValueError) and error.args == _RUNNING:
                self._end_if_left()
                raise CallerError(READ_TWICE.format("thread")) from None
            self._is_over = True
            raise

    def throw(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> RunEvent[T]:
        self._is_over = True
        return self._events.throw(typ if val is None else val)

    def _end_if_left(self) -> None:
        """The thread in the generator may be one that closes it: then who reads waits for that, and hears that it is over."""
        if self._is_left:
            while not self._is_closed.wait(_SECONDS_BETWEEN_LOOKS):
                pass
            self._left()
            raise StopIteration

    def close(self) -> None:
        """Leave the run, also from another thread than the one that reads, whose loop then ends: it is cancelled and waited for.
        Raises nothing when it is over."""
        self._is_left = True
        try:
            self._events.close()
        except ValueError:  # it waits in another thread
            self._loop.leave(self._read)
        finally:
            self._is_closed.set()
        self._left()

    def __enter__(self) -> SyncRunStream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Foreign:
    """What a `stream` gives that a derived class has written anew, as a run. It is left by who reads it."""

    def __init__(self, events: AsyncGenerator[Event, None]) -> None:
        self._events = events

    def events(self) -> AsyncGenerator[Event, None]:
        return self._events

    def abandon(self) -> None:
        pass

    def partial_result(self) -> RunResult:
        return RunResult()


def in_sync(stream: AsyncGenerator[Any, None], loop: _Loop) -> SyncRunStream[Any]:
    """What the async method `stream` gives, for code without an event loop."""
    return SyncRunStream(stream._run if isinstance(stream, RunStream) else _Foreign(stream), loop)  # pyright: ignore[reportPrivateUsage]  # its own
