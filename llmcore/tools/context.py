"""`RunContext`: a running tool's view of its call and its run.

A tool receives it in a parameter annotated `RunContext`, which the model's schema omits. Code that has no such parameter
calls `current_tool_call_id()`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, cast, overload

from typing_extensions import TypeVar  # it takes a default: a bare `RunContext` accepts any deps

from llmcore.support.values.copies import copied
from llmcore.types import Message, ToolProgress, Usage
from llmcore.types.input.argument_errors import in_words

__all__ = [
    "DepsT",
    "EnclosingRun",
    "MessageCopies",
    "ProgressSink",
    "RunContext",
    "TryState",
    "current_tool_call_id",
    "tool_call_id",
]

DepsT = TypeVar("DepsT", default=Any)

tool_call_id: ContextVar[str | None] = ContextVar("llmcore_tool_call_id", default=None)
"""Set in the task of each tool. The threads of sync tools inherit it."""


def current_tool_call_id() -> str | None:
    """The id of the tool call that runs now; None outside of a tool."""
    return tool_call_id.get()


class EnclosingRun(Protocol):
    """A run, for the runs that its tools start."""

    @property
    def is_over(self) -> bool:
        """Whether a nested run spent a budget that it shares with this run, so that this run ends too."""
        ...

    @property
    def seconds_uncounted(self) -> float:
        """The seconds so far that count in no deadline, those of nested runs among them."""
        ...


class TryState:
    """The state of one try of a call. The event loop writes it, and any thread reads it."""

    __slots__ = ("_callbacks", "in_thread", "is_cancelled", "is_over")

    def __init__(self) -> None:
        self.is_cancelled = False
        self.is_over = False
        self.in_thread = False
        """Whether a sync tool runs in its thread, which the cancellation of the task does not reach."""
        self._callbacks: list[Callable[[], object]] = []

    def cancel(self) -> None:
        self.is_cancelled = self.is_over = True
        for callback in tuple(self._callbacks):
            callback()

    @contextmanager
    def on_cancel(self, callback: Callable[[], object]) -> Generator[None, None, None]:
        """Call `callback` if the try is cancelled before the `with` block ends, or was cancelled before it began."""
        self._callbacks.append(callback)
        if self.is_cancelled:
            callback()
        try:
            yield
        finally:
            self._callbacks.remove(callback)


class ProgressSink(Protocol):
    """Receives the events that the calls of one turn emit."""

    @property
    def turn(self) -> int: ...

    @property
    def wants_nested_events(self) -> bool:
        """Whether the sink also takes the events of runs that the calls start."""
        ...

    def put(self, of: TryState, event: Any) -> None:
        """Deliver the event, unless the try is over by then. Any thread may call it."""
        ...


@in_words(only=("__init__",))
@dataclass(slots=True)
class RunContext(Generic[DepsT]):
    """One call's view of the run.

    `deps`: what the caller gave to the run or the orchestrator.
    `messages`: copies of the history, up to and including the turn that made the call.
    `retry`: how many tries of this call have failed before.
    """

    deps: DepsT
    usage: Usage = field(default_factory=Usage)
    messages: Sequence[Message] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    retry: int = 0
    _run: EnclosingRun | None = field(default=None, init=False, repr=False, compare=False)
    _is_delegated: bool = field(default=False, init=False, repr=False, compare=False)
    _sink: ProgressSink | None = field(default=None, init=False, repr=False, compare=False)
    _try: TryState | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def cancelled(self) -> bool:
        """Whether the run has stopped waiting for this call.

        It becomes True when the call's timeout or the run's deadline passes, the run is cancelled, its stream is closed, or
        another call ends the run. A thread cannot be stopped, so a sync tool polls this. Any thread may read it. Outside of a
        tool it is False.
        """
        return self._try is not None and self._try.is_cancelled

    def emit(self, value: Any) -> None:
        """Report progress: the run's stream and its observers receive a `ToolProgress` with a copy of the value.

        The model does not receive it. Any thread may call it, and it never blocks. Values arrive in the order in which they were
        emitted. Outside of a tool, or after the call has ended, the value is dropped.
        """
        if self._sink is not None and self._try is not None and not self._try.is_over:
            self._sink.put(self._try, ToolProgress(self.tool_call_id, self.tool_name, copied(value), self._sink.turn))

    def for_call(self, call_id: str, name: str, retry: int) -> RunContext[Any]:
        """A copy of this context for one call of the turn."""
        made: RunContext[Any] = RunContext(self.deps, self.usage, self.messages, call_id, name, retry)
        made._run, made._sink = self._run, self._sink
        return made

    def emitting_to(self, sink: ProgressSink) -> RunContext[DepsT]:
        """This context. Its calls emit to the sink from now on."""
        self._sink = sink
        return self

    def start_try(self, state: TryState) -> None:
        """Attach the state of the try that receives this context."""
        self._try = state

    def nested_event_sink(self) -> tuple[ProgressSink, TryState] | None:
        """The sink for the events of runs that this call starts, and the current try; None if no sink takes them."""
        if self._sink is None or self._try is None or not self._sink.wants_nested_events:
            return None
        return self._sink, self._try

    def thread_try(self) -> TryState | None:
        """The current try, if it runs in a thread."""
        return self._try if self._try is not None and self._try.in_thread else None

    def in_run(self, run: EnclosingRun) -> RunContext[DepsT]:
        """This context, attached to its run."""
        self._run = run
        return self

    def for_delegated_run(self) -> RunContext[DepsT]:
        """A copy of this context for the one run that carries out the whole call, such as an agent's.

        A save point of that run is saved as part of the call.
        """
        made: RunContext[DepsT] = self.for_call(self.tool_call_id, self.tool_name, self.retry)
        made._is_delegated, made._try = True, self._try
        return made

    @property
    def is_delegated(self) -> bool:
        return self._is_delegated

    def seconds_uncounted(self) -> float:
        """The seconds of its run that count in no deadline. A timer around code with this context is extended by them."""
        return 0.0 if self._run is None else self._run.seconds_uncounted

    @property
    def enclosing_run(self) -> EnclosingRun | None:
        """The run, for the runs that the tool starts; None for a context that a caller constructed."""
        return self._run


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
