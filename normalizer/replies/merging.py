"""Which calls count if a reply has native calls and calls in its text.

If a call in the text equals a native one, it is dropped and recorded. Another call counts if its dialect delimits it. A bare
call stays content, as a near miss. Native calls come first. Calls without an id get `call_<n>`, by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from llmcore.normalizer.dialects import registry
from llmcore.normalizer.replies.left_out import CALLS_LIMIT
from llmcore.normalizer.text.engine import TextEngine
from llmcore.types.envelope import NearMiss, Repair, SegmentKind, ToolCall
from llmcore.types.limits import Limits

__all__ = ["MergedReply", "merge", "numbered"]

_NAMESPACE = "functions."
_Tile = tuple[int, int, SegmentKind]


@dataclass(slots=True)
class MergedReply:
    """The parts of the text that count beside the native calls. `reclassified` are the stretches of dropped calls."""

    calls: list[ToolCall]
    content: str
    tiles: list[_Tile]
    near_misses: list[NearMiss]
    repairs: list[Repair] = field(default_factory=list[Repair])
    reclassified: list[_Tile] = field(default_factory=list[_Tile])
    left_out: list[ToolCall] = field(default_factory=list[ToolCall])
    """Calls that exceed the limit together with the native ones."""


def numbered(calls: Iterable[ToolCall], first: int = 0) -> list[ToolCall]:
    """The calls. Those without an id get `call_<n>`, by position from `first`."""
    numbered_calls = list(calls)
    for n, call in enumerate(numbered_calls, first):
        if not call.id:
            vars(call)["id"] = f"call_{n}"  # not handed out yet: a copy would cost as much as the call
    return numbered_calls


def merge(native: Sequence[ToolCall], text: TextEngine, limits: Limits) -> MergedReply:
    """Decide which calls in the text count beside the `native` ones."""
    merged = MergedReply([], text.content, text.pieces, text.near_misses)
    if not native or not text.calls:
        merged.calls = list(text.calls)
        return merged
    for call in text.calls:
        if any(_same(call, other) for other in native):
            before = {"name": call.name, "arguments": call.arguments}
            merged.repairs.append(Repair(kind="repeated_call", before=before))
        elif registry.is_bare(call.dialect):
            _miss(merged, call, "bare_call_beside_native", limits)
        elif len(native) + len(merged.calls) < limits.calls:
            merged.calls.append(call)
        else:
            merged.left_out.append(call)
            _miss(merged, call, CALLS_LIMIT, limits)
    _retile(merged, text)
    return merged


def _miss(merged: MergedReply, call: ToolCall, reason: str, limits: Limits) -> None:
    if call.span and len(merged.near_misses) < limits.near_misses:
        merged.near_misses = [*merged.near_misses, NearMiss(span=call.span, name=call.name, reason=reason)]


def _same(call: ToolCall, other: ToolCall) -> bool:
    names = call.name.removeprefix(_NAMESPACE), other.name.removeprefix(_NAMESPACE)
    return names[0] == names[1] and call.arguments == other.arguments


def _retile(merged: MergedReply, text: TextEngine) -> None:
    """Make a stretch whose calls were all dropped markup, or content if one of them is a near miss."""
    kept = {call.span for call in merged.calls}
    missed = {miss.span for miss in merged.near_misses} | {call.span for call in merged.left_out}
    gone = {call.span: "content" if call.span in missed else "markup" for call in text.calls if call.span not in kept}
    if not gone:
        return
    tiles: list[_Tile] = []
    for start, end, kind in text.pieces:
        span = (start, end)
        if kind == "call" and span in gone:
            kind = "content" if gone[span] == "content" else "markup"
            merged.reclassified.append((start, end, kind))
        tiles.append((start, end, kind))
    merged.tiles = _with_space(
        tiles, {(start, end) for start, end, kind in merged.reclassified if kind == "content"}, text.source
    )
    merged.content = _content(merged.tiles, text)


def _with_space(tiles: list[_Tile], restored: set[tuple[int, int]], source: str) -> list[_Tile]:
    """The tiles, with white space beside restored content as content. Beside a call, it is markup."""

    def restored_at(k: int) -> bool:
        return 0 <= k < len(tiles) and tiles[k][:2] in restored

    return [
        (start, end, "content")
        if kind == "markup" and source[start:end].isspace() and (restored_at(k - 1) or restored_at(k + 1))
        else (start, end, kind)
        for k, (start, end, kind) in enumerate(tiles)
    ]


def _content(tiles: list[_Tile], text: TextEngine) -> str:
    """The content of the tiles, with the replacement texts of markup."""
    source, parts = text.source, list[str]()
    for start, end, kind in tiles:
        if kind == "content":
            parts.append(source[start:end])
        else:
            parts.extend(text.replacing(start, end))
    return "".join(parts)
