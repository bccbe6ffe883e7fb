"""Streaming events. What was emitted is never taken back; `Reclassified` says later what a stretch really was.

Slotted dataclasses, not pydantic models: one costs 0.14 us to build, a validated model 0.69 us, and a stream
builds one per chunk. `feed` and `finish` build them, `normalize` never does.

The order in which a run tells them

1. `AttemptStarted` comes first, and then what the reply holds: text and reasoning as they come; of each call, by its `index`, one
   `ToolCallStarted`, its `ArgumentsDelta`s and one `ToolCallFinished`; `PartialOutput` right behind the piece that made it.
2. A request that fails is told by `AttemptFailed`, once, after all that came of it. If it is asked again: `Waiting`, where there
   is a wait, and `AttemptStarted` with the next `n`. What the earlier attempt of the turn told is void. A reply that is asked for
   again because of what it says (`reason` is `reask`) has no `AttemptFailed`: the next `AttemptStarted.detail` says so.
3. `Repaired` stands behind what it repairs, those of the accepted reply before its calls run.
4. Then, of each call that is carried out, `ToolStarted` and `ToolResult`, and between them what it emits: `ToolProgress`, and
   `NestedEvent` where a run was asked for those. A turn's calls run side by side, so their events may mix. A call that a hook
   refused, whose tool does not exist, or that the budget left no room for, has a `ToolResult` alone. Calls that are left to the
   caller (`RunResult.pending`) have neither.
5. The next turn begins with `AttemptStarted`, and `Finished` is the last event, once. A run that raises has no `Finished`; its
   calls have their results before (but for a hook `on_tool_response`, which sees results first). Of one that is cancelled or
   left, the results are in `partial`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar  # with a default, as typing's own has from 3.13 on

from llmcore.support.values.json_data import json_data
from llmcore.types.deltas import ArgumentsDelta, ReasoningDelta, TextDelta
from llmcore.types.envelope import Repair, SegmentKind, ToolCall
from llmcore.types.usage import AttemptReason, OutputMode

__all__ = [
    "ArgumentsDelta",
    "AttemptFailed",
    "AttemptStarted",
    "Event",
    "Finished",
    "NestedEvent",
    "NormalizerEvent",
    "PartialOutput",
    "ReasoningDelta",
    "Reclassified",
    "Repaired",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
    "ToolProgress",
    "ToolResult",
    "ToolStarted",
    "Waiting",
]

T = TypeVar("T", default=Any)


@dataclass(slots=True)
class ToolCallStarted:
    """A call's name is certain. `index` numbers the calls of this reply from 0 in the order in which they were seen."""

    index: int
    id: str
    name: str


@dataclass(slots=True)
class ToolCallFinished:
    """A call as it stands. Nothing may run before the whole reply is finished."""

    index: int
    call: ToolCall


@dataclass(slots=True)
class Reclassified:
    """`source[start:end]`, already emitted, turned out to be `kind`; a call inside it is withdrawn unless kind is `call`."""

    start: int
    end: int
    kind: SegmentKind


@dataclass(slots=True)
class AttemptStarted:
    """A request goes out; see `Attempt`. `detail`: the recorded problem that made it necessary, "" for a first one."""

    n: int
    model: str
    mode: OutputMode
    reason: AttemptReason
    deployment: str = ""
    detail: str = ""


@dataclass(slots=True)
class AttemptFailed:
    """Attempt `n` failed after `duration` seconds. `kind` is the failure's class (`RateLimited`), `message` its words, `status`
    the HTTP status, None where there was none. `AttemptStarted` follows if it is asked again, else the run ends."""

    n: int
    model: str
    mode: OutputMode
    kind: str
    message: str
    status: int | None = None
    duration: float = 0.0
    deployment: str = ""


@dataclass(slots=True)
class Waiting:
    """Attempt `n` will be made in so many `seconds`, as the provider asked (`Retry-After`) or as a back-off. `reason` and
    `detail` are the attempt's: the recorded problem that made it necessary. `AttemptStarted` follows."""

    n: int
    model: str
    mode: OutputMode
    reason: AttemptReason
    detail: str
    seconds: float
    deployment: str = ""


@dataclass(slots=True)
class Repaired:
    """A recorded repair of the call at `index` (None: of the reply or of the typed output)."""

    index: int | None
    repair: Repair


@dataclass(slots=True)
class ToolStarted:
    """A call is about to be carried out with these `arguments`, as hooks left them; `ToolResult` follows. `turn` counts the tool
    turns of the run from 1. `summary`: the call in words, where the tool has some (`tool(summary=...)`)."""

    tool_use_id: str
    name: str
    arguments: dict[str, Any] | None = None
    turn: int = 1
    summary: str = ""


@dataclass(slots=True)
class ToolProgress:
    """What a tool reported while it ran: `RunContext.emit(value)`, or a generator's `yield`. The model is not told. `turn` counts
    the tool turns of the run from 1."""

    tool_use_id: str
    name: str
    value: Any = None
    turn: int = 1


@dataclass(slots=True)
class NestedEvent:
    """An event of a run within a call of this one, such as a sub-agent's (`nested_events=True`). `tool_use_id` is the call's, or
    the path to it where the runs stand deeper (`call_1/call_0`), `name` the tool whose run it is of."""

    tool_use_id: str
    name: str
    event: Event


@dataclass(slots=True)
class ToolResult:
    """What became of a call. `content` is what the model is shown; `error` is the text of its error, None if it succeeded;
    `duration` is in seconds. `arguments` are those it was carried out with, `turn` counts the tool turns of the run from 1.
    `ran`: the tool was begun, so it may have done something; False for a call that was refused or whose arguments did not fit."""

    tool_use_id: str
    name: str
    content: str
    error: str | None = None
    duration: float = 0.0
    retries: int = 0
    value: Any = None
    arguments: dict[str, Any] | None = None
    turn: int = 1
    ran: bool = False
    summary: str = ""


@dataclass(slots=True)
class PartialOutput(Generic[T]):
    """The typed output as far as it is certain; the last one of a run is the value itself. What has not come yet is left out of
    dicts; in models and dataclasses it is the field's default, or None. One that stands before a tool's result is void: its
    reply was no answer."""

    value: T

    def __repr__(self) -> str:
        """Its type's own `__repr__` may count on what has not come."""
        try:
            return f"PartialOutput(value={self.value!r})"
        except KeyboardInterrupt:
            raise
        except BaseException:
            return f"PartialOutput(value=<{type(self.value).__name__} {json_data(self.value)!r}>)"


@dataclass(slots=True)
class Finished(Generic[T]):
    """The end, with the `RunResult` of a run, which holds the typed value."""

    result: T


NormalizerEvent = TextDelta | ReasoningDelta | ToolCallStarted | ArgumentsDelta | ToolCallFinished | Reclassified | Repaired
Event = (
    NormalizerEvent
    | Waiting
    | AttemptStarted
    | AttemptFailed
    | ToolStarted
    | ToolProgress
    | NestedEvent
    | ToolResult
    | PartialOutput[Any]
    | Finished[Any]
)
