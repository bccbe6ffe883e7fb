"""A run within another one: what the inner one spends counts in the outer one's budget and usage, and the outer result has it.

The outer run is told by the `RunContext` that a tool (a validator, a provider of tools) of it was given, as `parent=` of the
inner one. The budget's side is the `Ledger`'s, which may have a parent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from llmcore.fallback import Ledger
from llmcore.run.results.open_calls import id_within
from llmcore.run.results.result import RunResult
from llmcore.run.resume.answers import Answers
from llmcore.support.values.copies import updated
from llmcore.tools import RunContext, Tool
from llmcore.types import Event, NestedEvent

__all__ = ["EnclosingRun", "LeftWithin", "ParentRun", "enclosing", "going_on", "left_within", "may_go_on"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class LeftWithin:
    """An inner run that ended with calls for the caller, and what the caller says of them; or one that was saved in its midst."""

    state: RunResult[Any]
    answers: Answers


@dataclass(slots=True)  # not frozen: one is made for each run, and that triples what it costs
class EnclosingRun:
    """The outer run, as its inner ones know it. `keep` takes their results. `left`: by the ids of its calls, the inner runs that
    an earlier run left, waiting or in their midst, and that go on. `save` saves the run with one of them as it stands; None where
    nothing is saved."""

    ledger: Ledger
    keep: Callable[[RunResult[Any]], object]
    left: dict[str, LeftWithin] = field(default_factory=dict[str, "LeftWithin"])
    save: Callable[[RunResult[Any]], Awaitable[object]] | None = None

    @property
    def is_over(self) -> bool:
        return self.ledger.has_refused_below

    @property
    def seconds_uncounted(self) -> float:
        return self.ledger.seconds_uncounted


class ParentRun:
    """Where an inner run stands: within which run, and for which of its calls."""

    def __init__(self, run: EnclosingRun, context: RunContext[Any]) -> None:
        """`context`: of the call, which may be carried out by this inner run."""
        call_id, is_the_calls = context.tool_call_id, context.is_delegated
        self._name, self._hearing = context.tool_name, context.nested_event_sink()
        self.ledger = run.ledger
        self.is_the_calls = is_the_calls
        self.saves = is_the_calls and run.save is not None
        self._run = run
        self._call_id = call_id
        self._try = context.thread_try()

    def stopping(self) -> AbstractContextManager[object]:
        """The task that carries the inner run out is cancelled when nobody waits for the call any more. Where the call is a task
        itself, that one's cancellation does it. Raises `CancelledError` where nobody waits for it by now."""
        if self._try is None:
            return nullcontext()
        if self._try.is_cancelled:
            raise asyncio.CancelledError("nobody waits any more for the call that this run was made for")
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if task is not None and not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

        return self._try.on_cancel(stop)

    @property
    def hears(self) -> bool:
        """Are the inner run's events told among the outer one's?"""
        return self._hearing is not None

    def hear(self, event: Event) -> None:
        """An event of the inner run."""
        if self._hearing is None:
            return
        sink, of = self._hearing
        if isinstance(event, NestedEvent):
            told = NestedEvent(id_within(self._call_id, event.tool_use_id), event.name, event.event)
        else:
            told = NestedEvent(self._call_id, self._name, event)
        sink.put(of, told)

    def keep(self, result: RunResult[Any]) -> None:
        """Enter the inner run's result, whole or partial, in the outer one's."""
        self._run.keep(updated(result, {"parent_call": self._call_id}))

    async def save(self, result: RunResult[Any]) -> None:
        """Save the outer run, with the inner one as it stands. Raises what the outer run's function raises."""
        if self._run.save is not None:
            await self._run.save(updated(result, {"parent_call": self._call_id}))


def enclosing(context: RunContext[Any] | None) -> ParentRun | None:
    """The place that a `RunContext` tells; None for one that was made by hand."""
    within = None if context is None else context.enclosing_run
    if context is None or not isinstance(within, EnclosingRun):
        return None
    return ParentRun(within, context)


def left_within(context: RunContext[Any]) -> LeftWithin | None:
    """What an earlier run of the call's tool left waiting, taken once."""
    return context.enclosing_run.left.pop(context.tool_call_id, None) if isinstance(context.enclosing_run, EnclosingRun) else None


def going_on(function: F) -> F:
    """Mark the function of a tool that goes on with the run that is `left_within` its call. Any other would begin anew what was
    begun, and hear of no answer."""
    function.__dict__["_goes_on"] = True
    return function


def may_go_on(tool: Tool | None) -> bool:
    return getattr(None if tool is None else tool.function, "_goes_on", False)
