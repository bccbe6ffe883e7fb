"""Runs within runs. A child run's spending counts in the parent's budget and usage. The parent's result has the child's.

A tool (or validator, or tool provider) passes its `RunContext` to a child run as `parent=`. The parent of the child's
`Ledger` is the parent run's `Ledger`.
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

__all__ = ["OpenRun", "ParentRun", "WaitingRun", "can_resume", "parent_run_of", "resuming", "take_waiting_run"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A child run that ended with calls for the caller, plus the caller's answers; or one that was saved while it ran."""

    state: RunResult[Any]
    answers: Answers


@dataclass(slots=True)  # not frozen: each run creates one, and freezing triples its cost
class OpenRun:
    """A run as its child runs see it.

    - `add_result`: adds their results.
    - `waiting_runs`: the unfinished child runs of an earlier run that resume, by the ids of their calls.
    - `save`: saves the run with a child run's current state; None if nothing is saved.
    """

    ledger: Ledger
    add_result: Callable[[RunResult[Any]], object]
    waiting_runs: dict[str, WaitingRun] = field(default_factory=dict[str, "WaitingRun"])
    save: Callable[[RunResult[Any]], Awaitable[object]] | None = None

    @property
    def is_over(self) -> bool:
        return self.ledger.has_refused_child

    @property
    def seconds_uncounted(self) -> float:
        return self.ledger.seconds_uncounted


class ParentRun:
    """The parent of one child run, and the parent's call that made it."""

    def __init__(self, run: OpenRun, context: RunContext[Any]) -> None:
        """`context`: the context of the call. The child run may carry out that call."""
        call_id, is_of_call = context.tool_call_id, context.is_delegated
        self._name, self._nested_sink = context.tool_name, context.nested_event_sink()
        self.ledger = run.ledger
        self.is_of_call = is_of_call
        self.saves = is_of_call and run.save is not None
        self._run = run
        self._call_id = call_id
        self._try = context.thread_try()

    def cancelled_with_call(self) -> AbstractContextManager[object]:
        """A context in which the child run's task is cancelled when nothing waits for the call any more.

        If the call is a task, its own cancellation does that. Raises `CancelledError` if nothing waits for it already.
        """
        if self._try is None:
            return nullcontext()
        if self._try.is_cancelled:
            raise asyncio.CancelledError("nothing waits any more for the call that started this run")
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if task is not None and not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

        return self._try.on_cancel(stop)

    @property
    def emits_nested(self) -> bool:
        """Whether the parent emits the child run's events among its own."""
        return self._nested_sink is not None

    def emit_nested(self, event: Event) -> None:
        """Emit an event of the child run among those of the parent."""
        if self._nested_sink is None:
            return
        sink, of = self._nested_sink
        if isinstance(event, NestedEvent):
            nested = NestedEvent(id_within(self._call_id, event.tool_use_id), event.name, event.event)
        else:
            nested = NestedEvent(self._call_id, self._name, event)
        sink.put(of, nested)

    def add_result(self, result: RunResult[Any]) -> None:
        """Add the child run's result, whole or partial, to the parent's."""
        self._run.add_result(updated(result, {"parent_call": self._call_id}))

    async def save(self, result: RunResult[Any]) -> None:
        """Save the parent with the child run's current state. Raises what the parent's checkpoint raises."""
        if self._run.save is not None:
            await self._run.save(updated(result, {"parent_call": self._call_id}))


def parent_run_of(context: RunContext[Any] | None) -> ParentRun | None:
    """The parent run of a `RunContext`; None if the context was made by hand."""
    within = None if context is None else context.enclosing_run
    if context is None or not isinstance(within, OpenRun):
        return None
    return ParentRun(within, context)


def take_waiting_run(context: RunContext[Any]) -> WaitingRun | None:
    """The waiting run that an earlier run of the call's tool left. It is returned only once."""
    return (
        context.enclosing_run.waiting_runs.pop(context.tool_call_id, None) if isinstance(context.enclosing_run, OpenRun) else None
    )


def resuming(function: F) -> F:
    """Mark a tool's function that resumes the waiting run of its call (`take_waiting_run`). Any other function would start
    over without the answers."""
    function.__dict__["_resumes"] = True
    return function


def can_resume(tool: Tool | None) -> bool:
    return getattr(None if tool is None else tool.function, "_resumes", False)
