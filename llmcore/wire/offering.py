"""`offered`: the calls of a reply that a caller may run without looking at them.

An `Orchestrator` validates each call, asks the model about doubtful ones, and runs guesses only on tools marked `read_only`. Many
other programs run every call that they receive. They may be handed only the calls that this rule offers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from llmcore.compiling import compile_tools
from llmcore.types import CallerError, Envelope, ToolCall, ToolSet

__all__ = ["Offered", "WithheldCall", "WithheldReason", "cut_off_at", "offered", "restored_spans", "withheld_call"]

WithheldReason = Literal["broken_reply", "incomplete", "unknown_tool", "unreadable_arguments", "truncated", "guess"]
"""Why a call is not offered.

`broken_reply`: the reply was cut before its end, or an error, a cancellation or a content filter ended it. `incomplete`: the
reply ended within the call. `unknown_tool`: no tool has the name. `unreadable_arguments`: no object could be read. `truncated`: a
value was cut. `guess`: it needs a repair that is a guess, or it stands where it may not be meant (docs/trust.md).
"""
_BROKEN = frozenset({"error", "cancelled", "content_filter"})
_FAILED_AT_PROVIDER = frozenset({"tool_use_failed", "json_validate_failed", "MALFORMED_FUNCTION_CALL"})
"""Finish words of a provider that could not read a call. If the normaliser could, the reply is not broken."""


@dataclass(frozen=True, slots=True)
class WithheldCall:
    """A call that is not offered. `detail`: the kinds of the repairs that are the reason (`example_lead_in`), else ""."""

    call: ToolCall
    reason: WithheldReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """The calls that any caller may run, in the order of the reply, and beside them the calls that were withheld."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    withheld: list[WithheldCall] = field(default_factory=list[WithheldCall])


def offered(envelope: Envelope, tools: ToolSet | Iterable[object] | None = None, *, cut: bool = False) -> Offered:
    """Decide which calls of a reply may go to a caller that runs every call it receives.

    A call is offered if it is complete, its tool is known, its arguments are an object, and none of its repairs is a `guess` or
    `truncated`. A call in a doubtful place has a repair that is a guess. No call of a broken reply is offered.

    `tools`: as in `llmcore.normalize`. If None, the calls' own `known` counts; a call with `known=None` is offered.
    `cut`: the reply ended before its end, for example because the connection broke. Then no call is offered.

    Raises `CallerError` for anything but an `Envelope`, and `ToolDefinitionError` for what is no tool.
    """
    if not isinstance(envelope, Envelope):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        given = type(envelope).__name__
        fix = "normalise the reply first, as in offered(normalize(reply, tools), tools)"
        raise CallerError(f"offered takes an Envelope, not {given}; {fix}")
    if not envelope.tool_calls:
        return Offered()
    names = None if tools is None else compile_tools(tools).names
    broken = cut or (envelope.finish_reason in _BROKEN and envelope.finish_word not in _FAILED_AT_PROVIDER)
    result = Offered()
    for call in envelope.tool_calls:
        withheld = WithheldCall(call, "broken_reply") if broken else withheld_call(call, names)
        if withheld is None:
            result.calls.append(call)
        else:
            result.withheld.append(withheld)
    return result


def withheld_call(call: ToolCall, names: Collection[str] | None) -> WithheldCall | None:
    """Why the call alone is not offered; None if it is. `names`: those of the tools, None if the call's `known` counts."""
    if not call.complete:
        return WithheldCall(call, "incomplete")
    if (call.known is False) if names is None else (call.name not in names):
        return WithheldCall(call, "unknown_tool")
    if call.arguments is None:
        return WithheldCall(call, "unreadable_arguments")
    for safety in ("truncated", "guess"):
        if kinds := sorted({repair.kind for repair in call.repairs if repair.safety == safety}):
            return WithheldCall(call, safety, ", ".join(kinds))
    return None


def restored_spans(calls: Sequence[ToolCall], withheld: Sequence[WithheldCall]) -> list[tuple[int, int]]:
    """The stretches of text that only withheld calls come from, in order. On a wire without calls in text they are text."""
    kept = {call.span for call in calls}
    return sorted({each.call.span for each in withheld if each.call.span is not None and each.call.span not in kept})


def cut_off_at(envelope: Envelope) -> int:
    """Where the beginning of a call stands that the reply's end cut off before the call had a name; -1 if there is none."""
    cut = next((repair.before for repair in envelope.repairs if repair.kind == "cut_off"), None)
    return len(envelope.source) - len(cut) if isinstance(cut, str) and envelope.source.endswith(cut) else -1
