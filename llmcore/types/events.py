"""The events of a stream. An emitted event is never withdrawn; a later `Reclassified` corrects it.

They are slotted dataclasses, not pydantic models: one takes 0.14 us to build, a validated model 0.69 us, and a stream builds one
per chunk. `feed` and `finish` build them; `normalize` does not.

The order of the events of a run:

1. `AttemptStarted`, then the contents of the reply. Text and reasoning are emitted as they arrive. Each call has one
   `ToolCallStarted`, its `ArgumentsDelta`s and one `ToolCallFinished`, with one `index`. `PartialOutput` follows the delta that
   completed it.
2. If a request fails, one `AttemptFailed` follows its other events. If it is repeated, `Waiting` (if there is a wait) and an
   `AttemptStarted` with the next `n` follow, and the events of the failed attempt are void. A re-ask (`reason` is `reask`) has no
   `AttemptFailed`; the next `AttemptStarted.detail` has the reason.
3. `Repaired` follows what it repairs. Those of the accepted reply precede its calls.
4. Each call that runs has a `ToolStarted` and a `ToolResult`. Between them are the `ToolProgress`es that it emits, and
   `NestedEvent`s if the run was started with `nested_events=True`. The calls of a turn run in parallel, so their events may
   interleave. A call has only a `ToolResult` if a hook refused it, its tool does not exist, or the budget is spent. Calls that
   the caller answers (`RunResult.pending`) have neither.
5. The next turn begins with `AttemptStarted`. `Finished` is the last event of the run. A run that raises has no `Finished`. Its
   `ToolResult`s precede the error, unless a hook `on_tool_response` is set, which sees results first. If the run is cancelled or
   its stream is closed, the results are in `partial`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar  # accepts a default, as typing's does from Python 3.13 on

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
    """The name of a call is certain. `index` numbers the calls of this reply from 0, in the order of their appearance."""

    index: int
    id: str
    name: str


@dataclass(slots=True)
class ToolCallFinished:
    """A call is complete. It must not run before the whole reply is finished."""

    index: int
    call: ToolCall


@dataclass(slots=True)
class Reclassified:
    """`source[start:end]`, which was emitted before, is of this `kind`. A call in it is void unless `kind` is `call`."""

    start: int
    end: int
    kind: SegmentKind


@dataclass(slots=True)
class AttemptStarted:
    """A request is sent; see `Attempt`. `detail`: the recorded problem that made it necessary; "" for a first request."""

    n: int
    model: str
    mode: OutputMode
    reason: AttemptReason
    deployment: str = ""
    detail: str = ""


@dataclass(slots=True)
class AttemptFailed:
    """Attempt `n` failed after `duration` seconds. If the request is repeated, `AttemptStarted` follows, else the run ends.

    `kind`: the class of the failure (`RateLimited`). `message`: its message. `status`: the HTTP status; None if there is none.
    """

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
    """Attempt `n` is made in `seconds`, by the provider's `Retry-After` or a back-off. `AttemptStarted` follows.

    `reason` and `detail` are those of the attempt: the recorded problem that made it necessary.
    """

    n: int
    model: str
    mode: OutputMode
    reason: AttemptReason
    detail: str
    seconds: float
    deployment: str = ""


@dataclass(slots=True)
class Repaired:
    """A repair of the call at `index`; None means the reply or the typed output."""

    index: int | None
    repair: Repair


@dataclass(slots=True)
class ToolStarted:
    """A call starts with these `arguments`, which hooks may have changed. `ToolResult` follows.

    `turn` counts the tool turns of the run from 1. `summary`: the call described to users, if the tool has `tool(summary=...)`.
    """

    tool_use_id: str
    name: str
    arguments: dict[str, Any] | None = None
    turn: int = 1
    summary: str = ""


@dataclass(slots=True)
class ToolProgress:
    """Progress of a running tool: `RunContext.emit(value)`, or the `yield` of a generator. The model does not see it.

    `turn` counts the tool turns of the run from 1.
    """

    tool_use_id: str
    name: str
    value: Any = None
    turn: int = 1


@dataclass(slots=True)
class NestedEvent:
    """An event of a run that a call of this run started, such as a sub-agent's (`nested_events=True`).

    `tool_use_id`: the id of the call, or the path of ids for deeper runs (`call_1/call_0`). `name`: the tool of the call.
    """

    tool_use_id: str
    name: str
    event: Event


@dataclass(slots=True)
class ToolResult:
    """The result of a call.

    `content`: the text for the model. `error`: the text of the error; None if the call succeeded.
    `duration`: seconds. `arguments`: those that the tool received. `turn` counts the tool turns of the run from 1.
    `ran`: the tool was started, so it may have had effects. False if the call was refused or its arguments did not fit.
    """

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
    """The typed output as far as it has arrived. The last one of a run has the final value.

    Keys that have not arrived are missing in dicts; in models and dataclasses they have the field's default, or None. If a
    `ToolResult` follows, the partial output is void, because its reply was no answer.
    """

    value: T

    def __repr__(self) -> str:
        """The `__repr__` of the value may fail, because it may need what has not arrived."""
        try:
            return f"PartialOutput(value={self.value!r})"
        except KeyboardInterrupt:
            raise
        except BaseException:
            return f"PartialOutput(value=<{type(self.value).__name__} {json_data(self.value)!r}>)"


@dataclass(slots=True)
class Finished(Generic[T]):
    """The run has ended, with its `RunResult`, which has the typed value."""

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
