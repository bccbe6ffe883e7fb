"""Native calls at the end of a reply: assembled calls in, `ToolCall`s out.

A call without a name cannot run and is recorded as a near miss. (Some servers send an empty call with each text; it is
ignored.) Concatenated arguments are several calls, and `multi_tool_use.parallel` is unfolded. The token limit can have cut
only the last call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

from llmcore.normalizer.calls.call_messages import calls_listed
from llmcore.normalizer.calls.call_objects import default_arguments as arguments_without
from llmcore.normalizer.core.names import holds_calls
from llmcore.normalizer.native.arguments import (
    Arguments,
    Ending,
    free_text_arguments,
    is_without_arguments,
    object_arguments,
    text_arguments,
)
from llmcore.normalizer.native.calls import NativeCall
from llmcore.normalizer.native.shape import json_text
from llmcore.normalizer.replies.leaks import calls_in_name, switched_arguments
from llmcore.normalizer.replies.left_out import CALLS_LIMIT
from llmcore.normalizer.replies.merging import numbered
from llmcore.support.values.copies import updated
from llmcore.types.envelope import Repair, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["Dropped", "Readings", "Terms", "calls_of_pieces", "decided_call"]


@dataclass(slots=True)
class Terms:
    """How calls are read: the tools, the limits, and whether and how the reply ended."""

    tools: ToolSet | None
    limits: Limits
    ended_by_itself: bool
    ended_by_length: bool


@dataclass(slots=True)
class Dropped:
    """A call that cannot run. `reason` is `native_call_without_name` or `calls_limit`; `calls` are its results beyond the
    limit."""

    call: NativeCall
    reason: str
    calls: Sequence[ToolCall] = ()


@dataclass(slots=True)
class Readings:
    """The calls of a reply in order, each with its numbered results, and the dropped ones."""

    found: list[tuple[NativeCall, list[ToolCall]]] = field(default_factory=list[tuple[NativeCall, list[ToolCall]]])
    dropped: list[Dropped] = field(default_factory=list[Dropped])

    @property
    def calls(self) -> list[ToolCall]:
        return [call for _, found in self.found for call in found]


def calls_of_pieces(calls: list[NativeCall], terms: Terms, last: NativeCall | None) -> Readings:
    """Read all calls of a reply. `last` is the one that nothing followed."""
    readings, count = Readings(), 0
    for call in calls:
        found = call.read or _read_call(call, terms, call is last)
        room = terms.limits.calls - count
        if len(found) > room:
            readings.dropped.append(Dropped(call, CALLS_LIMIT, found[room:]))
            found = found[:room]
        elif not found and not call.says_nothing():
            readings.dropped.append(Dropped(call, "native_call_without_name"))
        readings.found.append((call, numbered(found, count)))
        count += len(found)
    return readings


def decided_call(call: NativeCall, tools: ToolSet | None, limits: Limits) -> list[ToolCall] | None:
    """The result of a call that no later text can change, numbered by its position. None if later text may change it."""
    found = _read_call(call, Terms(tools, limits, ended_by_itself=False, ended_by_length=True), is_last=True)
    if len(found) != 1 or not found[0].complete or found[0].arguments is None or found[0].repairs:
        return None
    return numbered(found, call.position)


def _read_call(call: NativeCall, terms: Terms, is_last: bool) -> list[ToolCall]:
    """The results of a native call: one, several for concatenated or folded calls, none without a name.

    If the call's last part is missing, none is complete. Ids that the reply does not give are "".
    """
    found = _read_arrived(call, terms, is_last)
    return [updated(each, {"complete": False}) for each in found] if call.is_cut else found


def _read_arrived(call: NativeCall, terms: Terms, is_last: bool) -> list[ToolCall]:
    """The results of the call as far as it has arrived."""
    if leaked := calls_in_name(call.name, terms.tools, terms.limits):
        return [updated(leaked[0], {"id": call.id}), *leaked[1:]]
    if not call.name or len(call.name) > terms.limits.name:
        return []
    tool = None if terms.tools is None else terms.tools.get(call.name)
    ended_by_itself = terms.ended_by_itself and not call.is_unfinished  # if unfinished, only JSON with all closers is complete
    ending = Ending(ended_by_itself, terms.ended_by_length and is_last)
    text = call.text
    if call.free_text:
        found = [free_text_arguments(text, call.whole or ended_by_itself)]
    elif text.strip() and text.strip() != "null":
        found = text_arguments(text, ending, terms.limits)
    elif call.has_value:
        found = [object_arguments(call.value, tool, ending, terms.limits)]
    else:
        found = [is_without_arguments(tool, (call.whole or ended_by_itself) and not ending.at_call)]
    if (
        not _sound(found)
        and not call.is_unfinished
        and (switched := switched_arguments(call.name, text, terms.tools, terms.limits))
    ):
        found = [switched]
    named = [(call.name, arguments) for arguments in found]
    if holds_calls(call.name, terms.tools):
        named = _unfold(call.name, found, terms) or named
    ids = chain([call.id], repeat(""))
    return [_tool_call(name, id, arguments, terms) for (name, arguments), id in zip(named, ids, strict=False)]


def _sound(found: list[Arguments]) -> bool:
    return len(found) == 1 and found[0].value is not None and found[0].complete and not found[0].repairs


def _tool_call(name: str, id: str, arguments: Arguments, terms: Terms) -> ToolCall:
    return ToolCall.trusted(
        {
            "id": id,
            "name": name,
            "arguments": arguments.value,
            "raw_arguments": arguments.raw,
            "dialect": "native",
            "span": None,
            "complete": arguments.complete,
            "known": None if terms.tools is None else name in terms.tools.names,
            "repairs": [*arguments.repairs],
        }
    )


def _unfold(wrapper: str, found: list[Arguments], terms: Terms) -> list[tuple[str, Arguments]]:
    """The calls in `{"tool_uses": [{"recipient_name": "functions.f", "parameters": {...}}]}`, read as in text. [] if it is
    none.

    What stands beside them is recorded.
    """
    unfolded: list[tuple[str, Arguments]] = []
    for folded in found:
        message = calls_listed(folded.value or {}, terms.tools, terms.limits)
        if message is None or not message.calls:
            return []
        beside = message.repairs
        if message.content:
            beside = [*beside, Repair(kind="text_dropped", before=message.content, after=None)]
        for call in message.calls:
            value = call.arguments if call.given else arguments_without(call.name, terms.tools)
            raw = "" if value is None else json_text(value)
            repairs = [Repair(kind="unfolded", before=wrapper, after=call.name), *folded.repairs, *call.repairs, *beside]
            unfolded.append((call.name, Arguments(value, raw, repairs=repairs)))
            beside = []
        unfolded[-1][1].complete = folded.complete
    return unfolded
