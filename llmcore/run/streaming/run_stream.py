"""A run's events for their reader, with what they add up to so far.

What an attempt emitted is void when another attempt follows, unless its calls ran.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from threading import Event as Flag
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, cast

from llmcore.run.results.result import RunEvent, RunResult, T  # another TypeVar would make another model of RunResult
from llmcore.run.streaming.closable import READ_TWICE, AsyncOnly, ClosableStream
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

__all__ = ["RunStream", "SyncRunStream", "stands_within", "sync_stream"]

E = TypeVar("E")


class _Run(Protocol):
    """The part of a run that a stream needs."""

    def events(self) -> AsyncGenerator[Event, None]: ...

    def abandon(self) -> None: ...

    def partial_result(self) -> RunResult: ...


class _Loop(Protocol):
    """The event loop that serves a reader without one."""

    def stream(self, items: AsyncGenerator[E, None]) -> Generator[E, None, None]: ...

    def close_stream(self, items: AsyncGenerator[Any, None]) -> None: ...


_ALREADY_EXECUTING = ("generator already executing",)
"""Python's message for a generator that another thread executes."""
_POLL_SECONDS = 0.5
"""A signal does not wake every wait (never on Windows)."""


class _StreamView(Generic[T]):
    """What the events read so far add up to."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self.text = ""
        """The text of the current or last reply; at the end, the answer."""
        self.reasoning = ""
        """The reasoning of that reply."""
        self.calls: list[ToolCall] = []
        """The calls of the run's replies, in order, without those of a reply that another attempt replaced."""
        self.results: list[ToolResult] = []
        """The results of the calls."""
        self.partial: T | None = None
        """The certain part of the typed value; None while nothing is certain."""
        self._accepted = 0  # how many of the calls have run
        self._result: RunResult[T] | None = None
        self._is_over = False

    @property
    def result(self) -> RunResult[T]:
        """The run's result, as `Finished` holds it. If the stream was left early or failed, the partial result.

        Raises `CallerError` while the run goes on.
        """
        if self._result is not None:
            return self._result
        if not self._is_over:
            raise CallerError("the stream has no result yet: read it to its end, or leave it (by `aclose`, or the end of `with`)")
        return cast("RunResult[T]", self._run.partial_result())

    def _mark_abandoned(self) -> None:
        if not self._is_over:
            self._run.abandon()
        self._is_over = True

    def _apply(self, event: RunEvent[T]) -> RunEvent[T]:
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
        """Move text that turned out to be reasoning, and drop calls that turned out to be none."""
        if event.kind == "reasoning" and event.start == 0:
            self.reasoning, self.text = self.reasoning + self.text, ""
        if event.kind != "call":
            new = self.calls[self._accepted :]
            self.calls[self._accepted :] = [call for call in new if not stands_within(call, event)]


def stands_within(call: ToolCall, event: Reclassified) -> bool:
    """Whether the call stands in the part of the text that the event reclassifies."""
    return call.span is not None and event.start <= call.span[0] and call.span[1] <= event.end


class RunStream(AsyncOnly, _StreamView[T], AsyncGenerator[RunEvent[T], None]):
    """The events of a run: `async for event in stream`. `text`, `reasoning`, `calls`, `results` and `partial` are what they add
    up to. `result` is the run's result at the end.

    `async with orchestrator.stream(...) as stream` closes the stream if you leave it early. That stops what the run waits for,
    and closes the connection. `result` is then the partial result, whose history is valid for another run.
    """

    _what_is = "a RunStream is"

    def __init__(self, run: _Run) -> None:
        super().__init__(run)
        self._events = ClosableStream(cast("AsyncGenerator[RunEvent[T], None]", run.events()))

    async def asend(self, value: None = None) -> RunEvent[T]:
        return self._apply(await self._ending_on_error(self._events.asend(value)))

    async def athrow(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> RunEvent[T]:
        return self._apply(await self._ending_on_error(self._events.athrow(typ if val is None else val)))

    async def _ending_on_error(self, event: Any) -> RunEvent[T]:
        try:
            return cast("RunEvent[T]", await event)
        except BaseException:
            self._is_over = True
            raise

    async def aclose(self) -> None:
        """Leave the run. Another task than the reader may call this; the reader's loop then ends. If the run is over, does
        nothing."""
        await self._events.aclose()
        self._mark_abandoned()

    async def __aenter__(self) -> RunStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class SyncRunStream(_StreamView[T], Generator[RunEvent[T], None, None]):
    """`RunStream` for code without an event loop: `for event in stream`, `with orchestrator.stream_sync(...) as stream`."""

    def __init__(self, run: _Run, loop: _Loop) -> None:
        super().__init__(run)
        self._loop = loop
        self._read = ClosableStream(cast("AsyncGenerator[RunEvent[T], None]", run.events()))
        self._events = loop.stream(self._read)
        self._is_abandoned, self._is_closed = False, Flag()

    def send(self, value: None) -> RunEvent[T]:
        try:
            return self._apply(self._events.send(value))
        except BaseException as error:
            if isinstance(error, ValueError) and error.args == _ALREADY_EXECUTING:
                self._end_if_left()
                raise CallerError(READ_TWICE.format("thread")) from None
            self._is_over = True
            raise

    def throw(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> RunEvent[T]:
        self._is_over = True
        return self._events.throw(typ if val is None else val)

    def _end_if_left(self) -> None:
        """If another thread closes the stream, wait for that, then end the iteration."""
        if self._is_abandoned:
            while not self._is_closed.wait(_POLL_SECONDS):
                pass
            self._mark_abandoned()
            raise StopIteration

    def close(self) -> None:
        """Leave the run. Another thread than the reader may call this; the reader's loop then ends. Cancels the run and waits for
        it. If the run is over, does nothing."""
        self._is_abandoned = True
        try:
            self._events.close()
        except ValueError:  # another thread executes it
            self._loop.close_stream(self._read)
        finally:
            self._is_closed.set()
        self._mark_abandoned()

    def __enter__(self) -> SyncRunStream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _ForeignStream:
    """The result of a `stream` method that a derived class overrides, as a run. Its reader abandons it."""

    def __init__(self, events: AsyncGenerator[Event, None]) -> None:
        self._events = events

    def events(self) -> AsyncGenerator[Event, None]:
        return self._events

    def abandon(self) -> None:
        pass

    def partial_result(self) -> RunResult:
        return RunResult()


def sync_stream(stream: AsyncGenerator[Any, None], loop: _Loop) -> SyncRunStream[Any]:
    """The stream of the async method `stream`, for code without an event loop."""
    return SyncRunStream(stream._run if isinstance(stream, RunStream) else _ForeignStream(stream), loop)  # pyright: ignore[reportPrivateUsage]  # its own
