"""What a running tool may know: the call it answers, the run's dependencies, usage and history.

A tool asks for it by a parameter annotated `RunContext`, which is injected and never shown to the model. Code too
deep for a parameter asks `current_tool_call_id()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from typing_extensions import TypeVar  # with a default, so that a bare RunContext is one of any deps

from llmcore.types import Message, Usage
from llmcore.types.called import in_words

__all__ = ["DepsT", "RunContext", "Within", "current_tool_call_id", "tool_call_id"]

DepsT = TypeVar("DepsT", default=Any)

tool_call_id: ContextVar[str | None] = ContextVar("llmcore_tool_call_id", default=None)
"""Set in the task of each tool; threads of sync tools inherit it."""


def current_tool_call_id() -> str | None:
    """The id of the call that is being answered, None outside of a tool."""
    return tool_call_id.get()


class Within(Protocol):
    """What a run is to those that are made within it, by a tool of it, say."""

    @property
    def is_over(self) -> bool:
        """Was something refused to a run within it that ends it as well?"""
        ...


@in_words(only=("__init__",))
@dataclass(slots=True)
class RunContext(Generic[DepsT]):
    """One call's view of the run. `deps` is what the caller gave to the run or the orchestrator; `messages` is the
    history up to and with the turn that made the call, as copies; `retry` counts the times this call was already
    tried."""

    deps: DepsT
    usage: Usage = field(default_factory=Usage)
    messages: Sequence[Message] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    retry: int = 0
    _within: Within | None = field(default=None, init=False, repr=False, compare=False)
    _is_the_calls: bool = field(default=False, init=False, repr=False, compare=False)

    def for_call(self, call_id: str, name: str, retry: int) -> RunContext[Any]:
        """This context, for one call of the turn."""
        made: RunContext[Any] = RunContext(self.deps, self.usage, self.messages, call_id, name, retry)
        made._within = self._within
        return made

    def of(self, within: Within) -> RunContext[DepsT]:
        """This context, which knows its run."""
        self._within = within
        return self

    def of_its_run(self) -> RunContext[DepsT]:
        """This context, for the one run that its call is carried out by: what is saved of that run is saved of the call."""
        made: RunContext[DepsT] = self.for_call(self.tool_call_id, self.tool_name, self.retry)
        made._is_the_calls = True
        return made

    @property
    def is_of_its_run(self) -> bool:
        return self._is_the_calls

    @property
    def within(self) -> Within | None:
        """The run, for runs that are made within it; None for a context that was made by hand."""
        return self._within
