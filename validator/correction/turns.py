"""How the answer to a correction takes the place of a turn's failing calls, while the kept ones stand.

A kept call that the answer makes again runs once. It is known by what it runs with: name and arguments after validation,
defaults filled in, so that neither `"1"` for 1 nor a default that is written out makes another call of it. A kept call that
comes with other arguments was changed by the model, and the changed one takes its place: it is known by its place in an answer
that makes the whole turn anew, else by its id, where that does more than count the calls of a reply (`call_0`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmcore.types import Block, Envelope, Repair, ToolCall, ToolSet, ToolUseBlock
from llmcore.types.copies import updated
from llmcore.types.narrowing import is_list, is_object, object_in
from llmcore.validator.report import ValidationReport
from llmcore.validator.schema.keywords import json_key
from llmcore.validator.schema.references import resolve_pointer

__all__ = ["Turn", "merged", "with_all_withdrawn", "without_failing"]

_COUNTED = re.compile(r"(?:(?:call|tool|fc)(?:_[a-z]+)?[_-]?|functions?\.\S+:)?\d{1,3}")
"""Ids that say which call of its reply one is, and nothing else: another reply has the same ones."""

_NEVER_RAN = frozenset({"withdrawn_call", "calls_limit"})
"""Repairs that tell of calls which the turn holds no more."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn with failing calls, its report, and the indexes of the calls that are kept."""

    envelope: Envelope
    report: ValidationReport
    kept: Sequence[int]


def merged(turn: Turn, answer: Envelope, report: ValidationReport, tools: ToolSet) -> Envelope:
    """The turn with its failing calls replaced by the answer's (`report` is that one's). Without a call to keep, or one in the
    answer, the answer is the turn. It is as whole as the answer is."""
    end = {"truncated": answer.truncated, "finish_reason": answer.finish_reason, "finish_word": answer.finish_word}
    says_nothing = not answer.tool_calls and not answer.content.strip()
    if turn.kept and says_nothing and (answer.truncated or answer.finish_reason == "length"):
        return turn.envelope.model_copy(update=end)  # a cut turn now, of which every call is asked for again
    if not turn.kept or not answer.tool_calls:
        return with_all_withdrawn(turn.envelope, answer) if turn.kept else _with_notes(turn.envelope, answer, [])
    again = _made_again(turn, report, tools)
    changed = _changed(turn, answer, report, again)
    old = turn.envelope.tool_calls
    fresh = [at for at in range(len(answer.tool_calls)) if at not in again and at not in changed]
    new = [_renamed(answer.tool_calls[at], [old[kept] for kept in turn.kept]) for at in fresh]
    if not new and not changed:
        return turn.envelope
    replaced = {kept: updated(answer.tool_calls[at], {"id": old[kept].id}) for at, kept in changed.items()}
    failing = turn.report.failing_indexes
    calls: list[ToolCall] = []
    for at, call in enumerate(old):
        if new and at in failing:
            calls += new if at == min(failing) else []
        else:
            calls.append(replaced.get(at, call))
    notes = [Repair(kind="repeated_call", before=answer.tool_calls[at].name, after=None) for at in again]
    left_out = _left_out(turn, [report.calls[at].name for at in fresh]) if new else []
    notes += map(_withdrawn, [*(old[at] for at in replaced), *left_out])
    changes = {"tool_calls": calls, "near_misses": [], "repairs": [*turn.envelope.repairs, *notes], **end}
    blocks = _blocks(turn.envelope.blocks, {old[at].id for at in failing} if new else set(), new, replaced.values())
    return turn.envelope.model_copy(update=changes).attach(turn.envelope.source, turn.envelope.segments, blocks)


def with_all_withdrawn(turn: Envelope, answer: Envelope) -> Envelope:
    """The model took its calls back in words, the failing ones and those that were kept meanwhile: its words are the turn."""
    return _with_notes(turn, answer, list(map(_withdrawn, turn.tool_calls)))


def without_failing(turn: Turn) -> Envelope:
    """The turn with the calls that may run; the others are taken back."""
    calls, failing = turn.envelope.tool_calls, turn.report.failing_indexes
    notes = [*turn.envelope.repairs, *(_withdrawn(calls[at]) for at in failing)]
    changed = updated(
        turn.envelope, {"tool_calls": [call for at, call in enumerate(calls) if at not in failing], "repairs": notes}
    )
    blocks = _blocks(turn.envelope.blocks, {calls[at].id for at in failing}, [], ())
    return changed.attach(turn.envelope.source, turn.envelope.segments, blocks)


def _with_notes(turn: Envelope, answer: Envelope, notes: list[Repair]) -> Envelope:
    """The answer as the turn, with what it took back, and with the calls of earlier answers that did not run."""
    notes = [*(repair for repair in turn.repairs if repair.kind in _NEVER_RAN), *notes]
    return updated(answer, {"repairs": [*answer.repairs, *notes]}) if notes else answer


def _withdrawn(call: ToolCall) -> Repair:
    return Repair(kind="withdrawn_call", before={"name": call.name, "arguments": call.raw_arguments})


def _made_again(turn: Turn, report: ValidationReport, tools: ToolSet) -> dict[int, list[int]]:
    """Which of the answer's calls are kept ones, made once more: index in the answer -> indexes in the turn."""
    keys = {at: _run_key(turn.report.calls[at], tools) for at in turn.kept}
    found = {at: [kept for kept, key in keys.items() if key == _run_key(call, tools)] for at, call in enumerate(report.calls)}
    return {at: same for at, same in found.items() if same}


def _changed(turn: Turn, answer: Envelope, report: ValidationReport, again: Mapping[int, list[int]]) -> dict[int, int]:
    """Which of the answer's calls are kept ones with other arguments: index in the answer -> index in the turn."""
    names, old = [call.name for call in report.calls], turn.report.calls
    if (
        len(names) == len(old)
        and all(names[at] == old[at].name for at in turn.kept)
        and all(at in places for at, places in again.items())
    ):
        return {at: at for at in turn.kept if at not in again}
    unsure = {old[at].id for at in turn.report.failing_indexes}  # a server may give one id twice
    by_id = {old[at].id: at for at in turn.kept if old[at].id not in unsure and not _COUNTED.fullmatch(old[at].id)}
    found = {at: by_id.get(call.id, -1) for at, call in enumerate(answer.tool_calls) if at not in again}
    return {at: kept for at, kept in found.items() if kept >= 0 and old[kept].name == names[at]}


def _left_out(turn: Turn, made: Iterable[str]) -> list[ToolCall]:
    """The failing calls that the answer does not make again, as it was free to; `made` are the names of those it makes."""
    left, calls = Counter(made), list[ToolCall]()
    for at in sorted(turn.report.failing_indexes):
        name = turn.report.calls[at].name
        if not left[name]:
            calls.append(turn.envelope.tool_calls[at])
        left[name] -= 1 if left[name] else 0
    return calls


def _run_key(call: ToolCall, tools: ToolSet) -> Any:
    """Equal for calls that do the same."""
    tool = tools.get(call.name)
    schema = tool.definition.parameters if tool is not None else {}
    return call.name, json_key(_filled(call.arguments, schema, schema))


def _filled(value: Any, schema: Any, root: Any) -> Any:
    """The value with the defaults that its schema gives to what is left out."""
    reference = object_in(schema).get("$ref")
    if isinstance(reference, str):
        return _filled(value, resolve_pointer(root, reference), root) if is_object(value) else value
    if is_list(value):
        items = object_in(schema).get("items")
        return [_filled(one, items, root) for one in value] if items else value
    if not is_object(value):
        return value
    for way in (*_ways(schema, "anyOf", value, root), *_ways(schema, "oneOf", value, root)):
        return _filled(value, way, root)
    properties = object_in(object_in(schema).get("properties"))
    if not properties:
        return value
    defaults = {name: one["default"] for name, one in properties.items() if is_object(one) and "default" in one}
    return {**defaults, **{name: _filled(one, properties.get(name), root) for name, one in value.items()}}


def _list(value: Any) -> list[Any]:
    return value if is_list(value) else []


def _ways(schema: Any, keyword: str, value: Mapping[str, Any], root: Any) -> list[Any]:
    """The one way of `anyOf` or `oneOf` that is an object with all of the value's keys; none where several are, or none is."""
    found: list[Any] = []
    for way in _list(object_in(schema).get(keyword)):
        reference = object_in(way).get("$ref")
        target = resolve_pointer(root, reference) if isinstance(reference, str) else way
        properties = object_in(object_in(target).get("properties"))
        if properties and value.keys() <= properties.keys():
            found.append(target)
    return found if len(found) == 1 else []


def _blocks(blocks: Sequence[Block], gone: set[str], new: Sequence[ToolCall], changed: Iterable[ToolCall]) -> list[Block]:
    """The history blocks with the failing calls' blocks replaced by those of the corrected calls, and changed ones by theirs."""
    added: list[Block] = list(map(_block, new))
    in_place = {call.id: _block(call) for call in changed}
    result: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolUseBlock) and block.id in gone:
            result += added
            added = []
        else:
            result.append(in_place.get(block.id, block) if isinstance(block, ToolUseBlock) else block)
    return result + added if blocks else result


def _block(call: ToolCall) -> ToolUseBlock:
    return ToolUseBlock(id=call.id, name=call.name, input=call.arguments, raw_input=call.raw_arguments)


def _renamed(call: ToolCall, kept: Sequence[ToolCall]) -> ToolCall:
    """Ids like `call_0` count within one reply, so those of two replies may clash."""
    taken = {good.id for good in kept}
    if call.id not in taken:
        return call
    number = len(taken)
    while f"call_{number}" in taken:
        number += 1
    return updated(call, {"id": f"call_{number}"})
