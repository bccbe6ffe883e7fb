"""A run step by step: one step for each reply of the model, and one for each batch of tool results.

Nothing runs between two steps. The next request, or the tools, begin when the next step is requested. So you can look at the
reply, add a message, or leave.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, cast

from llmcore.run.results.result import RunResult, T  # another TypeVar would make another model of RunResult
from llmcore.run.setup.interjections import Interjections
from llmcore.run.streaming.closable import AsyncOnly, ClosableStream
from llmcore.support.values.copies import copied
from llmcore.types import Event, Message

__all__ = ["Step", "Steps"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run.

    - `kind`: `reply` (the model answered, and its calls have not run yet) or `results` (they have).
    - `turn`: counts from 1.
    - `message`: a copy of what entered the history; None for an empty reply.
    """

    kind: Literal["reply", "results"]
    turn: int
    message: Message | None


class _Run(Protocol):
    """The part of a run that the steps need."""

    is_stepped: bool

    def events(self) -> AsyncGenerator[Event, None]: ...

    def abandon(self) -> None: ...

    def partial_result(self) -> RunResult: ...


class Steps(AsyncOnly, Generic[T]):
    """The steps of one run: `async for step in steps`. To leave early, use `break` and `await steps.aclose()`, or `async with`.

    `result` is the run as it stands. When the run is left or ends, each call in its history has a result.
    """

    _what_is = "the steps are"

    def __init__(self, run: _Run, interjections: Interjections) -> None:
        self._run = run
        run.is_stepped = True
        self._events = ClosableStream(cast("AsyncGenerator[Event | Step, None]", run.events()))
        self._interjections = interjections

    def interject(self, *messages: str | Message) -> None:
        """Add messages of the user, which enter before the next request. Raises `CallerError` for anything else."""
        self._interjections.add(*messages)

    @property
    def result(self) -> RunResult[T]:
        """The result of the run as it stands, as a copy."""
        return copied(cast("RunResult[T]", self._run.partial_result()))

    def __aiter__(self) -> Steps[T]:
        return self

    async def __anext__(self) -> Step:
        async for event in self._events:
            if isinstance(event, Step):
                return event
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Leave the run. This stops what it waits for, and gives each open call a result that says so."""
        await self._events.aclose()
        self._run.abandon()

    async def __aenter__(self) -> Steps[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
