"""What rewriting a provider's reply needs on every wire: the settings, the report, and which calls are handed out.

A rewritten reply keeps every field that need not change. Calls in its text become native calls. A native call that its server
delivered whole stays, also if `offered` withholds it: its client would have received it anyway, and knows how to answer a wrong
one. The native calls of a cut stream are dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from llmcore.compiling import compile_tools
from llmcore.normalizer import normalize
from llmcore.support.values.json_data import as_json, json_data
from llmcore.types import Envelope, TextDelta, ToolCall, ToolSet
from llmcore.types.requests import TextCalls
from llmcore.wire.append_only import AppendOnlyStream
from llmcore.wire.ids import IdForm, with_new_ids
from llmcore.wire.offering import Offered, WithheldCall, cut_off_at, offered, restored_spans
from llmcore.wire.tools import FREE_TEXT_PARAMETER

__all__ = [
    "HandedOut",
    "ReplyReport",
    "RewriteSettings",
    "Rewritten",
    "StreamRewriter",
    "arguments_text",
    "free_text_of",
    "hand_out",
    "is_error_event",
    "is_same_text",
    "joined_texts",
    "judged",
    "line_ends",
    "new_texts",
    "reasoning_in_text",
    "text_ranges",
    "text_with_withheld",
]


@dataclass(frozen=True, slots=True)
class RewriteSettings:
    """How replies are read and rewritten. `tools`: those of the request, in any form that `llmcore.normalize` takes.

    `free_text`: the names of the tools that take one text (`decode_tools`). `ids`: the form of the ids of new calls.
    The other fields are those of `llmcore.normalize`.
    """

    tools: ToolSet | Iterable[object]
    dialects: Collection[str] | None = None
    reasoning_open: bool = False
    forced_tool: str | None = None
    text_calls: TextCalls = "standard"
    free_text: frozenset[str] = frozenset()
    ids: IdForm = "openai"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", compile_tools(self.tools))

    def stream(self) -> AppendOnlyStream:
        """A new reader of a streamed reply."""
        return AppendOnlyStream(
            self.tools,
            dialects=self.dialects,
            reasoning_open=self.reasoning_open,
            forced_tool=self.forced_tool,
            text_calls=self.text_calls,
        )

    def envelope(self, body: dict[str, Any]) -> Envelope:
        """The envelope of a whole reply."""
        return normalize(
            body,
            compile_tools(self.tools),
            dialects=self.dialects,
            reasoning_open=self.reasoning_open,
            forced_tool=self.forced_tool,
            text_calls=self.text_calls,
        )


@dataclass(frozen=True, slots=True)
class ReplyReport:
    """What was done with one reply, or one choice of it.

    `calls`: the calls that were handed out. `withheld`: the calls that `offered` withholds. Those of them that are native and
    whole are in `calls` too. `reclassified_reasoning`: text that was streamed as content and turned out to be reasoning.
    `cut`: the stream ended before the reply did.
    """

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    withheld: list[WithheldCall] = field(default_factory=list[WithheldCall])
    reclassified_reasoning: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten body, and a report of each choice. `body` is the given object if nothing had to change."""

    body: dict[str, Any]
    reports: list[ReplyReport]


class StreamRewriter(Protocol):
    """Rewrites the events of one stream."""

    @property
    def reports(self) -> list[ReplyReport]:
        """A report of each choice, after the end."""
        ...

    def feed(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        """The events to send for this one. An event that need not change is the given object."""
        ...

    def finish(self, *, done: bool = False) -> list[dict[str, Any]]:
        """The last events. `done`: the wire's end mark has come. Without an end, the reply was cut, and no call is handed out."""
        ...


@dataclass(frozen=True, slots=True)
class HandedOut:
    """The calls of a rewritten reply, with their ids.

    `native`: the calls that its server delivered. `keeps_native`: these stay as they came, because nothing in them has to change.
    `in_text`: the calls that the model wrote as text.
    """

    native: list[ToolCall]
    in_text: list[ToolCall]
    keeps_native: bool

    @property
    def calls(self) -> list[ToolCall]:
        return [*self.native, *self.in_text]

    @property
    def changes_calls(self) -> bool:
        """Whether the calls differ from those of the reply as it came."""
        return bool(self.in_text) or not self.keeps_native


def hand_out(
    envelope: Envelope,
    result: Offered,
    settings: RewriteSettings,
    are_sound: Callable[[list[ToolCall]], bool],
    *,
    cut: bool = False,
    keeps_incomplete: bool = False,
) -> HandedOut:
    """The offered calls, and the native ones that their server delivered whole. None if the stream was cut.

    `keeps_incomplete`: the native calls that are not whole are among them.
    `are_sound`: whether a client would read the native calls of the reply as these ones.
    """
    if cut:
        return HandedOut([], [], keeps_native=False)
    native = [call for call in envelope.tool_calls if _is_native(call) and (call.complete or keeps_incomplete)]
    in_text = with_new_ids([call for call in result.calls if not _is_native(call)], settings.ids)
    is_sound = are_sound(native)
    return HandedOut(native if is_sound else with_new_ids(native, settings.ids), in_text, is_sound)


def _is_native(call: ToolCall) -> bool:
    return call.dialect == "native" and call.span is None


def arguments_text(call: ToolCall) -> str:
    """The arguments as JSON text, repaired. If that takes a guess, or fails, or the call is cut, it is the model's text.

    Arguments without repairs keep their text, too, so that a server's own calls do not change.
    """
    is_guess = any(repair.safety == "guess" for repair in call.repairs)
    if call.arguments is None or not call.complete or is_guess:
        return call.raw_arguments
    if call.dialect == "native" and not call.repairs and call.raw_arguments.strip():
        return call.raw_arguments
    return as_json(json_data(call.arguments))


def free_text_of(call: ToolCall) -> str:
    """The text of a call of a free-text tool."""
    value = (call.arguments or {}).get(FREE_TEXT_PARAMETER)
    return value if isinstance(value, str) else call.raw_arguments


def text_with_withheld(envelope: Envelope, result: Offered) -> str:
    """The content of a whole reply, with the text of the calls in text that are not handed out at its place.

    The beginning of a call at the end of a cut reply is such text, too.
    """
    if not restored_spans(result.calls, result.withheld) and cut_off_at(envelope) < 0:
        return envelope.content
    return "".join([envelope.source[start:end] for start, end in text_ranges(envelope, result)])


def text_ranges(envelope: Envelope, result: Offered) -> list[tuple[int, int]]:
    """The stretches of the source that are content, or the text of withheld calls."""
    source, segments, wanted = envelope.source, envelope.segments, {*restored_spans(result.calls, result.withheld)}
    begun = cut_off_at(envelope)
    restored = [(start, end) in wanted for start, end, _ in segments]
    ranges: list[tuple[int, int]] = []
    for at, (start, end, kind) in enumerate(segments):
        is_space = kind == "markup" and source[start:end].isspace()
        beside = any(restored[max(0, at - 1) : at + 2])
        if kind == "content" or restored[at] or (is_space and beside):
            ranges.append((start, end))
    if begun >= 0:
        ranges.append((len(source[:begun].rstrip()) if ranges else begun, len(source)))
    return ranges


def line_ends(texts: Sequence[str]) -> list[str]:
    """What ends the line of each text of a reply for the normaliser, which joins them: "" if the text has a line end, or is the
    last one."""
    last = max((at for at, text in enumerate(texts) if text), default=0)
    return ["\n" if at < last and text and not text.endswith("\n") else "" for at, text in enumerate(texts)]


def new_texts(envelope: Envelope, result: Offered, texts: Sequence[str], ends: Sequence[str]) -> list[str] | None:
    """What is content in each text of a whole reply. None if nothing changes, or if the calls stand in the reasoning.

    `ends`: what was added to each text for the envelope.
    """
    source, content = envelope.source, text_with_withheld(envelope, result)
    if content == source or "".join(map("".join, zip(texts, ends, strict=True))) != source:
        return None
    if sum(map(bool, texts)) == 1:
        return [content if text else "" for text in texts]
    ranges = text_ranges(envelope, result)
    stops = [stop for _, stop in ranges]
    written: list[str] = []
    begin = 0
    for text, end in zip(texts, ends, strict=True):
        stop = begin + len(text)
        clipped: list[str] = []
        at = bisect_right(stops, begin)
        while at < len(ranges) and ranges[at][0] < stop:
            clipped.append(source[max(ranges[at][0], begin) : min(stops[at], stop)])
            at += 1
        new = "".join(clipped)
        written.append(text if new.strip() == text.strip() else new)
        begin = stop + len(end)
    return written


def reasoning_in_text(envelope: Envelope) -> str:
    """The reasoning in the text of a whole reply."""
    return "".join([envelope.source[start:end] for start, end, kind in envelope.segments if kind == "reasoning"])


def is_error_event(event: Mapping[str, Any]) -> bool:
    """Whether the event of a stream says that the reply failed, on any wire. Nothing of the reply follows."""
    kind = event.get("type")
    return kind == "error" or (kind is None and bool(event.get("error")) and not event.get("choices"))


def judged(settings: RewriteSettings, body: dict[str, Any]) -> tuple[Envelope, Offered]:
    """The envelope of a whole reply, and which of its calls are offered."""
    envelope = settings.envelope(body)
    return envelope, offered(envelope)


def is_same_text(events: list[Any], text: str) -> bool:
    """Whether the events are this text and nothing else."""
    return len(events) == 1 and type(events[0]) is TextDelta and events[0].text == text


def joined_texts(events: Iterable[Any]) -> Iterator[tuple[bool, str]]:
    """(whether it is content, text) of text events. Adjacent ones of one type are joined."""
    last: bool | None = None
    texts: list[str] = []
    for event in events:
        is_text = isinstance(event, TextDelta)
        if last is not None and is_text is not last:
            yield last, "".join(texts)
            texts = []
        last = is_text
        texts.append(event.text)
    if last is not None:
        yield last, "".join(texts)
