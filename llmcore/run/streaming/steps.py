"""A run taken step by step: one step a reply of the model, one a batch of tool results.

Between two steps nothing goes on: the next request, or the tools, begin when the next step is asked for. So whoever iterates may
look at what came, add a message, or leave.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, cast

from llmcore.run.results.result import RunResult, T  # another TypeVar would make another model of RunResult
from llmcore.run.setup.interjections import Interjections
from llmcore.run.streaming.async_only import AsyncOnly
from llmcore.run.streaming.closable import ClosableStream
from llmcore.support.values.copies import copied
from llmcore.types import Event, Message

__all__ = ["Step", "Steps"]


@dataclass(frozen=True, slots=True)
class Step:
    """`kind` is `reply` (the model answered, and its calls have not run yet) or `results` (they have). `message` is what entered
    the history, a copy; None for a reply that held nothing. `turn` counts from 1."""

    kind: Literal["reply", "results"]
    turn: int
    message: Message | None


class _Run(Protocol):
    """What the steps need of a run."""

    is_stepped: bool

    def events(self) -> AsyncGenerator[Event, None]: ...

    def abandon(self) -> None: ...

    def partial_result(self) -> RunResult: ...


class Steps(AsyncOnly, Generic[T]):
    """The steps of one run: `async for step in steps`. Leave early by `break` and `await steps.aclose()`, or by `async with`.

    `result` is the run as far as it has come. When the run is left or ends, each call in its history has a result.
    """

    _what_is = "the steps are"

    def __init__(self, run: _Run, interjections: Interjections) -> None:
        self._run = run
        run.is_stepped = True
        self._events = ClosableStream(cast("AsyncGenerator[Event | Step, None]", run.events()))
        self._interjections = interjections

    def interject(self, *messages: str | Message) -> None:
        """Add messages of the user, which enter before the next request. Raises `CallerError`."""
        self._interjections.add(*messages)

    @property
    def result(self) -> RunResult[T]:
        """The run as far as it has come; its parts are copies."""
        return copied(cast("RunResult[T]", self._run.partial_result()))

    def __aiter__(self) -> Steps[T]:
        return self

    async def __anext__(self) -> Step:
        async for event in self._events:
            if isinstance(event, Step):
                return event
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Leave the run: what it waits for is stopped, and calls that are open get a result that says so."""
        await self._events.aclose()
        self._run.abandon()

    async def __aenter__(self) -> Steps[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
