"""A run within another one: what the inner one spends counts in the outer one's budget and usage, and the outer result has it.

The outer run is told by the `RunContext` that a tool (a validator, a provider of tools) of it was given, as `parent=` of the
inner one. The budget's side is the `Ledger`'s, which may have a parent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmcore.fallback import Ledger
from llmcore.run.result import RunResult
from llmcore.tools import RunContext
from llmcore.types.copies import updated

__all__ = ["EnclosingRun", "Place", "enclosing"]


@dataclass(frozen=True, slots=True)
class EnclosingRun:
    """The outer run, as its inner ones know it. `keep` takes their results."""

    ledger: Ledger
    keep: Callable[[RunResult[Any]], object]

    @property
    def is_over(self) -> bool:
        return self.ledger.has_refused_below


class Place:
    """Where an inner run stands: within which run, and for which of its calls."""

    def __init__(self, run: EnclosingRun, call_id: str) -> None:
        self.ledger = run.ledger
        self._run = run
        self._call_id = call_id

    def keep(self, result: RunResult[Any]) -> None:
        """Enter the inner run's result, whole or partial, in the outer one's."""
        self._run.keep(updated(result, {"parent_call": self._call_id}))


def enclosing(context: RunContext[Any] | None) -> Place | None:
    """The place that a `RunContext` tells; None for one that was made by hand."""
    within = None if context is None else context.within
    return Place(within, context.tool_call_id) if isinstance(within, EnclosingRun) and context is not None else None
