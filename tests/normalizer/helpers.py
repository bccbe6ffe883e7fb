"""The one way in which every text fixture is read: whole, one character at a time and in seeded random chunks.

`read_every_way` asserts what must hold of any text whatever and returns the envelope, so
that a test only says what the text means.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.types.envelope import Envelope, ToolCall
from llmcore.types.events import (
    ArgumentsDelta,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from llmcore.types.tools import ToolSet

__all__ = ["TOOLS", "Sample", "cuts", "folded", "read_every_way", "samples", "tool"]

_FOLDER = Path(__file__).parent / "samples"
_ONE_BY_ONE_MAX = 3_000


def tool(name: str, required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    """A tool dict. A property is a JSON type's name or a schema."""
    schemas = {key: {"type": kind} if isinstance(kind, str) else kind for key, kind in properties.items()}
    return {"name": name, "parameters": {"type": "object", "properties": schemas, "required": list(required)}}


TOOLS = ToolSet(
    [
        tool("get_weather", ["city"], city="string", days="integer"),
        tool("read_file", ["path"], path="string"),
        tool("ping"),
    ]
)
"""The tools behind every sample of the catalogue."""


def read_every_way(
    text: str, tools: ToolSet | None = TOOLS, *, finish_reason: str | None = None, chunkings: int = 5, **settings: Any
) -> Envelope:
    """The envelope of `text`, the same however the text is cut, with segments that tile it and events that tell of it."""
    whole = normalize(text, tools, finish_reason=finish_reason, **settings)
    assert_tiled(whole, text)
    for chunks in cuts(text, chunkings):
        normalizer = Normalizer(tools, **settings)
        events = [event for chunk in chunks for event in normalizer.feed(chunk)]
        events += normalizer.finish(finish_reason)
        assert_same(normalizer.envelope, whole, chunks)
        assert_told(events, whole)
    return whole


def cuts(text: str, chunkings: int) -> Iterator[list[str]]:
    """The whole text, single characters, and random chunks whose sizes depend on the text alone."""
    yield [text]
    if len(text) <= _ONE_BY_ONE_MAX:
        yield list(text)
    for seed in range(chunkings):
        draw = random.Random(f"{seed}:{len(text)}")  # reproducible cuts, no secret
        widest = draw.choice([3, 7, 20, 80])
        places = [0]
        while places[-1] < len(text):
            places.append(min(len(text), places[-1] + draw.randint(1, widest)))
        yield [text[start:end] for start, end in pairwise(places)]


def assert_same(got: Envelope, want: Envelope, chunks: Sequence[str]) -> None:
    assert got.model_dump() == want.model_dump(), f"the envelope depends on the cut {chunks!r}"
    assert got.segments == want.segments, f"the segments depend on the cut {chunks!r}"


def assert_tiled(envelope: Envelope, text: str) -> None:
    """Every character of the text is in exactly one segment, and the calls stand in segments of calls."""
    assert envelope.source == text
    end = 0
    for segment in envelope.segments:
        assert segment.start == end, "the segments leave a gap or overlap"
        assert segment.end > segment.start
        end = segment.end
    assert end == len(text)
    for call in envelope.tool_calls:
        assert call.span is not None
        start, stop = call.span
        assert 0 <= start <= stop <= len(text)
        inside = {kind for begin, until, kind in envelope.segments if begin < stop and until > start}
        assert inside <= {"call", "markup"}, f"the call at {call.span} is said to be {inside}"


@dataclass
class Folded:
    """What a listener knows after all events."""

    text: str
    reasoning: str
    names: list[str]
    arguments: list[str]
    finished: list[ToolCall]
    reclassified: bool


def folded(events: Sequence[NormalizerEvent]) -> Folded:
    """Fold events into what they told, checking that calls start and finish in order."""
    told = Folded("", "", [], [], [], reclassified=False)
    for event in events:
        if isinstance(event, TextDelta):
            told.text += event.text
        elif isinstance(event, ReasoningDelta):
            told.reasoning += event.text
        elif isinstance(event, ToolCallStarted):
            assert event.index == len(told.names), "calls start in order"
            told.names.append(event.name)
            told.arguments.append("")
        elif isinstance(event, ArgumentsDelta):
            assert event.index == len(told.names) - 1, "arguments belong to the call that is open"
            assert len(told.finished) <= event.index, "no arguments after the end of a call"
            told.arguments[event.index] += event.json
        elif isinstance(event, ToolCallFinished):
            assert event.index == len(told.finished), "calls finish in order"
            told.finished.append(event.call)
        else:
            assert isinstance(event, Reclassified)
            told.reclassified = True
    return told


def assert_told(events: Sequence[NormalizerEvent], envelope: Envelope) -> None:
    told = folded(events)
    assert len(told.finished) == len(told.names), "each call that begins finishes, one that is withdrawn too"
    if told.reclassified:
        return
    assert told.text == envelope.content
    assert told.reasoning == envelope.reasoning
    assert told.finished == envelope.tool_calls
    for call, name, arguments in zip(envelope.tool_calls, told.names, told.arguments, strict=True):
        if call.complete and call.arguments is not None and not call.repairs:
            assert name == call.name
            assert json.loads(arguments) == call.arguments


# ---------------------------------------------------------------------- samples


@dataclass(frozen=True)
class WantedCall:
    """`facts`: what else must hold of the call: its fields, `repairs` (their kinds) or `safety` (one of its repairs')."""

    name: str
    arguments: dict[str, Any] | None
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Sample:
    """One reply of `samples/*.md` and what it means. `tools`: "told", "none" or "untold"."""

    id: str
    dialect: str
    text: str
    calls: tuple[WantedCall, ...]
    content: str
    reasoning: str
    tools: str
    finish: str | None
    more: dict[str, Any]

    @property
    def toolset(self) -> ToolSet | None:
        return {"told": TOOLS, "none": ToolSet(), "untold": None}[self.tools]

    @property
    def pairs(self) -> list[tuple[str, dict[str, Any] | None]]:
        return [(call.name, call.arguments) for call in self.calls]


def sample_files() -> list[str]:
    """The names of the files with samples."""
    return sorted(path.stem for path in _FOLDER.glob("*.md"))


def samples(name: str) -> list[Sample]:
    """The samples of a file: a fence `~~~sample ID [dialect]`, the reply, a fence, and perhaps `=> {...}` with what differs from
    one call of `get_weather` for Paris and no text. A call is written `[name, arguments]` or `[name, arguments, facts]`."""
    found: list[Sample] = []
    lines = (_FOLDER / f"{name}.md").read_text(encoding="utf-8").split("\n")
    at = 0
    while at < len(lines):
        if lines[at].startswith("~~~sample "):
            end = lines.index("~~~", at + 1)
            written = lines[end + 1][3:] if lines[end + 1].startswith("=> ") else "{}"
            found.append(_sample(lines[at].split()[1:], "\n".join(lines[at + 1 : end]), json.loads(written)))
            at = end
        at += 1
    ids = [sample.id for sample in found]
    assert not (twice := {one for one in ids if ids.count(one) > 1}), (
        f"{name}.md: several samples share the ID {', '.join(sorted(twice))}"
    )
    return found


def _sample(words: list[str], text: str, means: dict[str, Any]) -> Sample:
    calls = tuple(WantedCall(*call) for call in means.pop("calls", [["get_weather", {"city": "Paris"}]]))
    content, reasoning = means.pop("content", ""), means.pop("reasoning", "")
    tools, finish = means.pop("tools", "told"), means.pop("finish", None)
    return Sample(words[0], words[1] if len(words) > 1 else "", text, calls, content, reasoning, tools, finish, means)
