"""What a running tool may know: the call it answers, the run's dependencies, usage and history.

A tool asks for it by a parameter annotated `RunContext`, which is injected and never shown to the model. Code too
deep for a parameter asks `current_tool_call_id()`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, cast, overload

from typing_extensions import TypeVar  # with a default, so that a bare RunContext is one of any deps

from llmcore.support.values.copies import copied
from llmcore.types import Message, ToolProgress, Usage
from llmcore.types.input.argument_errors import in_words

__all__ = ["DepsT", "MessageCopies", "ProgressSink", "RunContext", "TryState", "Within", "current_tool_call_id", "tool_call_id"]

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

    @property
    def seconds_uncounted(self) -> float:
        """So long was done what counts in no deadline of it, by runs within it, too."""
        ...


class TryState:
    """One try of a call. The event loop writes it, and any thread reads it."""

    __slots__ = ("_stops", "in_thread", "is_cancelled", "is_over")

    def __init__(self) -> None:
        self.is_cancelled = False
        self.is_over = False
        self.in_thread = False
        """Does a sync tool run in its thread? The cancellation of the task does not reach what that waits for."""
        self._stops: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self.is_cancelled = self.is_over = True
        for stop in tuple(self._stops):
            stop()

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Generator[None, None, None]:
        """What is done within is told to `stop` when nobody waits for the try any more, or does not by now."""
        self._stops.append(stop)
        if self.is_cancelled:
            stop()
        try:
            yield
        finally:
            self._stops.remove(stop)


class ProgressSink(Protocol):
    """Who is told what the calls of one turn emit."""

    @property
    def turn(self) -> int: ...

    @property
    def hears_nested(self) -> bool:
        """Are events of runs within the calls wanted, too?"""
        ...

    def put(self, of: TryState, event: Any) -> None:
        """Tell the event, unless the try is over by then. Any thread may call it."""
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
    _sink: ProgressSink | None = field(default=None, init=False, repr=False, compare=False)
    _try: TryState | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def cancelled(self) -> bool:
        """Has the run stopped waiting for this call? True from the moment when the call's timeout or the run's deadline passes,
        the run is cancelled or its stream closed, or another call ends the run. A tool that runs in a thread polls it, for a
        thread cannot be stopped. Any thread may read it. Outside of a tool it is False."""
        return self._try is not None and self._try.is_cancelled

    def emit(self, value: Any) -> None:
        """Report progress: the run's stream and its observers are told a `ToolProgress` with a copy of the value. The model is
        not told. Any thread may call it; values are told in the order in which they were emitted. Nobody is waited for. A value
        that is emitted outside of a tool, or after its call has ended, is dropped."""
        if self._sink is not None and self._try is not None and not self._try.is_over:
            self._sink.put(self._try, ToolProgress(self.tool_call_id, self.tool_name, copied(value), self._sink.turn))

    def for_call(self, call_id: str, name: str, retry: int) -> RunContext[Any]:
        """This context, for one call of the turn."""
        made: RunContext[Any] = RunContext(self.deps, self.usage, self.messages, call_id, name, retry)
        made._within, made._sink = self._within, self._sink
        return made

    def emitting_to(self, sink: ProgressSink) -> RunContext[DepsT]:
        """This context, whose calls emit to the sink."""
        self._sink = sink
        return self

    def begins(self, this: TryState) -> None:
        """A try begins that is given this context."""
        self._try = this

    def hearing(self) -> tuple[ProgressSink, TryState] | None:
        """Who hears the events of the runs within this call, and of which try they are; None = nobody."""
        if self._sink is None or self._try is None or not self._sink.hears_nested:
            return None
        return self._sink, self._try

    def in_thread(self) -> TryState | None:
        """The try, where a sync tool runs in a thread for it."""
        return self._try if self._try is not None and self._try.in_thread else None

    def of(self, within: Within) -> RunContext[DepsT]:
        """This context, which knows its run."""
        self._within = within
        return self

    def of_its_run(self) -> RunContext[DepsT]:
        """This context, for the one run that its call is carried out by: what is saved of that run is saved of the call."""
        made: RunContext[DepsT] = self.for_call(self.tool_call_id, self.tool_name, self.retry)
        made._is_the_calls, made._try = True, self._try
        return made

    @property
    def is_of_its_run(self) -> bool:
        return self._is_the_calls

    def seconds_uncounted(self) -> float:
        """Of its run: what a timer around code that is given this context is put off by."""
        return 0.0 if self._within is None else self._within.seconds_uncounted

    @property
    def within(self) -> Within | None:
        """The run, for runs that are made within it; None for a context that was made by hand."""
        return self._within


class MessageCopies(Sequence[Message]):
    """A read-only view of a history. Each access returns copies, so that a tool cannot change the history."""

    __slots__ = ("_messages",)

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = tuple(messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        return copied(self._messages[index])

    def __len__(self) -> int:
        return len(self._messages)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._messages == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(len(self._messages))

    def __repr__(self) -> str:
        return repr(self._messages)
