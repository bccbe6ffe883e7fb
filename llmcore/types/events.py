"""Streaming events. What was emitted is never taken back; `Reclassified` says later what a stretch really was.

Slotted dataclasses, not pydantic models: one costs 0.14 us to build, a validated model 0.69 us (performance.md), and a stream
builds one per chunk. `feed` and `finish` build them, `normalize` never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar  # with a default, as typing's own has from 3.13 on

from llmcore.types.envelope import Repair, SegmentKind, ToolCall
from llmcore.types.usage import AttemptReason, OutputMode

__all__ = [
    "ArgumentsDelta",
    "AttemptStarted",
    "Event",
    "Finished",
    "NormalizerEvent",
    "PartialOutput",
    "ReasoningDelta",
    "Reclassified",
    "Repaired",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
    "ToolResult",
    "Waiting",
]

T = TypeVar("T", default=Any)


@dataclass(slots=True)
class TextDelta:
    """More content."""

    text: str


@dataclass(slots=True)
class ReasoningDelta:
    """More reasoning."""

    text: str


@dataclass(slots=True)
class ToolCallStarted:
    """A call's name is certain. `index` numbers the calls of this reply from 0 in the order in which they were seen."""

    index: int
    id: str
    name: str


@dataclass(slots=True)
class ArgumentsDelta:
    """A piece of a call's arguments. The pieces of a sound body join to JSON equal to its arguments; where a body needed
    repair they are a preview, and `ToolCallFinished` is the truth."""

    index: int
    json: str


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
class ToolResult:
    """A tool ran. `error` is the text of its error, None if it succeeded; `duration` is in seconds."""

    tool_use_id: str
    name: str
    content: str
    error: str | None = None
    duration: float = 0.0
    retries: int = 0
    value: Any = None


@dataclass(slots=True)
class PartialOutput(Generic[T]):
    """The typed output as far as it is certain; the last one of a run is the value itself. What has not come yet is left out of
    dicts; in models and dataclasses it is the field's default, or None. One that stands before a tool's result is void: its
    reply was no answer."""

    value: T


@dataclass(slots=True)
class Finished(Generic[T]):
    """The end, with the `RunResult` of a run, which holds the typed value."""

    result: T


NormalizerEvent = TextDelta | ReasoningDelta | ToolCallStarted | ArgumentsDelta | ToolCallFinished | Reclassified | Repaired
Event = NormalizerEvent | Waiting | AttemptStarted | ToolResult | PartialOutput[Any] | Finished[Any]
