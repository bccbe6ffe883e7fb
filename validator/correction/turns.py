"""Merges the answer to a correction into its turn: the answer's calls replace the failing calls, and the other calls stay.

The answer's calls match the failing ones by position. The first replaces the first failing call; surplus ones follow the
last. Ids do not matter, since a server may number each reply's calls from the start.

If the answer repeats a kept call, the call runs once. Calls are equal if their names and their arguments are, after
validation and with defaults filled in. So `"1"` for 1, or a default that is written out, makes no other call.

An answer may repeat the whole turn. If it changes a kept call, the changed one replaces it, so that not both run.

Each call that is removed from the turn is reported with the reason (`DroppedCall`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.types import Block, Envelope, Repair, ToolCall, ToolSet, ToolUseBlock
from llmcore.validator.report import ValidationReport
from llmcore.validator.schema.keywords import json_key
from llmcore.validator.schema.problems import Problem, cut, summary
from llmcore.validator.schema.references import resolve_pointer

__all__ = ["CorrectionTurn", "DroppedCall", "dropped_call", "merge_answer", "with_all_withdrawn", "without_failing"]

_DROPPED_CALL_KINDS = frozenset({"calls_limit", "call_not_allowed"})
"""Kinds of repairs that record calls which the reply held but the turn does not."""
_GUESS_KINDS = ("doubtful", "untrusted")
"""Kinds of problems that the model resolves if it repeats the call."""
DroppedType = Literal["validation", "not_found", "execution"]
_MAX_REASON = 500
"""The most characters of a call's problems."""
_MADE_ANEW = "The model made another one in its place"
_MADE_AGAIN = "The model made it again unchanged"
_NOT_MADE_AGAIN = "The model did not make it again"
_IN_WORDS = "The model answered in words instead"
_CHANGED = "The model changed it when it was asked for another call again"


@dataclass(frozen=True, slots=True)
class DroppedCall:
    """A call of a reply that does not run.

    `reason` says why, in one or two sentences. `type` is that of its `ToolError`: `validation` or `not_found` if the call
    itself was wrong, else `execution`. `is_known`: the model knows that the call does not run.
    """

    call: ToolCall
    reason: str
    type: DroppedType = "execution"
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class CorrectionTurn:
    """A turn with failing calls: its report, the indexes of the calls that stay, and its problems."""

    envelope: Envelope
    report: ValidationReport
    kept_indexes: Sequence[int]
    problems: Sequence[Problem] = ()


def merge_answer(
    turn: CorrectionTurn, answer: Envelope, report: ValidationReport, tools: ToolSet
) -> tuple[Envelope, list[DroppedCall]]:
    """Return the turn with the answer's calls in place of the failing ones, and the calls that were removed.

    `report` is the answer's report. If no call stays, or the answer has no call, the answer becomes the turn. If the answer
    corrects none of the failing calls, the turn's own envelope is returned. The merged envelope is truncated if the answer
    is.
    """
    end = {"truncated": answer.truncated, "finish_reason": answer.finish_reason, "finish_word": answer.finish_word}
    says_nothing = not answer.tool_calls and not answer.content.strip()
    if turn.kept_indexes and says_nothing and (answer.truncated or answer.finish_reason == "length"):
        return turn.envelope.model_copy(update=end), []  # the turn now counts as cut: the next correction asks for every call
    if not turn.kept_indexes or not answer.tool_calls:
        return with_all_withdrawn(turn, answer)
    again = _made_again(turn, report, tools)
    asked = sorted(turn.report.failing_indexes)
    changed = _changed(turn, report, again, asked)
    fresh, twice = _corrections(
        [at for at in range(len(answer.tool_calls)) if at not in again and at not in changed], report, asked, tools
    )
    repeats_asked_names = [one.name for one in report.calls] == [turn.report.calls[at].name for at in asked]
    if not fresh and not changed and not repeats_asked_names:
        return turn.envelope, []
    old, is_corrected = turn.envelope.tool_calls, bool(fresh) or repeats_asked_names
    corrected = _with_unique_ids([answer.tool_calls[at] for at in fresh], [old[at].id for at in turn.kept_indexes])
    places: dict[int, list[ToolCall]] = {at: [updated(answer.tool_calls[at], {"id": old[at].id})] for at in changed}
    if is_corrected:
        places |= {at: [] for at in asked}
        for n, call in enumerate(corrected):
            places[asked[min(n, len(asked) - 1)]].append(call)
    calls = [one for at, call in enumerate(old) for one in places.get(at, [call])]
    notes = [Repair(kind="repeated_call", before=answer.tool_calls[at].name, after=None) for at in sorted((*again, *twice))]
    removed = [dropped_call(turn, at, _CHANGED) for at in changed]
    if is_corrected:
        removed += _replaced(turn, asked, [report.calls[at].name for at in fresh], corrected)
    changes = {"tool_calls": calls, "near_misses": [], "repairs": [*turn.envelope.repairs, *notes], **end}
    blocks = _blocks(turn.envelope, places)
    return turn.envelope.model_copy(update=changes).attach(turn.envelope.source, turn.envelope.segments, blocks), removed


def with_all_withdrawn(turn: CorrectionTurn, answer: Envelope) -> tuple[Envelope, list[DroppedCall]]:
    """Return the answer as the turn, and the turn's calls that the answer does not repeat.

    Records of calls that earlier answers dropped stay.
    """
    old = turn.envelope.tool_calls
    if answer.tool_calls:
        removed = _replaced(turn, range(len(old)), [call.name for call in answer.tool_calls], answer.tool_calls)
    else:
        removed = [dropped_call(turn, at, _IN_WORDS) for at in range(len(old))]
    notes = [repair for repair in turn.envelope.repairs if repair.kind in _DROPPED_CALL_KINDS]
    return updated(answer, {"repairs": [*answer.repairs, *notes]}) if notes else answer, removed


def without_failing(turn: CorrectionTurn) -> tuple[Envelope, list[DroppedCall]]:
    """Return the turn with only the calls that may run, and the failing ones."""
    failing = turn.report.failing_indexes
    changed = updated(
        turn.envelope, {"tool_calls": [call for at, call in enumerate(turn.envelope.tool_calls) if at not in failing]}
    )
    blocks = _blocks(turn.envelope, {at: [] for at in failing})
    removed = [dropped_call(turn, at) for at in sorted(failing)]
    return changed.attach(turn.envelope.source, turn.envelope.segments, blocks), removed


def dropped_call(turn: CorrectionTurn, at: int, outcome: str = "") -> DroppedCall:
    """The call at index `at` as one that does not run, with its problem or that of its turn. `outcome` says what the model
    did then."""
    own = [problem for problem in turn.problems if problem.call == at]
    of_turn = [problem for problem in turn.problems if problem.call is None]
    other = "other calls of its reply could not be used" if turn.problems else "the run ended before"
    problem_text = cut(summary(own or of_turn), _MAX_REASON) if own or of_turn else other
    unknown = any(problem.kind == "unknown_tool" for problem in own)
    reason = ". ".join([f"It did not run: {problem_text}", *([outcome] if outcome else [])])
    kind: DroppedType = "not_found" if unknown else "validation" if own else "execution"
    return DroppedCall(turn.envelope.tool_calls[at], f"{reason}.", kind, is_known=bool(outcome))


def _replaced(turn: CorrectionTurn, asked: Iterable[int], names: Iterable[str], calls: Iterable[ToolCall]) -> list[DroppedCall]:
    """Those of the calls at the indexes `asked` that were wrong, or that `calls` does not repeat.

    `calls` replaced them; `names` are the tools that these resolve to.
    """
    made, left = Counter(map(_as_written, calls)), Counter(names)
    removed: list[DroppedCall] = []
    for at in asked:
        name, key = turn.report.calls[at].name, _as_written(turn.envelope.tool_calls[at])
        is_named, is_same = left[name] > 0, made[key] > 0
        left[name] -= is_named
        made[key] -= is_same
        if not is_same:
            removed.append(dropped_call(turn, at, _MADE_ANEW if is_named else _NOT_MADE_AGAIN))
        elif any(problem.call == at and problem.kind not in _GUESS_KINDS for problem in turn.problems):
            removed.append(dropped_call(turn, at, _MADE_AGAIN))
    return removed


def _as_written(call: ToolCall) -> Any:
    return call.name, call.raw_arguments if call.arguments is None else json_key(call.arguments)


def _made_again(turn: CorrectionTurn, report: ValidationReport, tools: ToolSet) -> dict[int, list[int]]:
    """Which of the answer's calls repeat kept ones: index in the answer -> indexes in the turn."""
    keys = {at: _run_key(turn.report.calls[at], tools) for at in turn.kept_indexes}
    found = {at: [kept for kept, key in keys.items() if key == _run_key(call, tools)] for at, call in enumerate(report.calls)}
    return {at: same for at, same in found.items() if same}


def _changed(turn: CorrectionTurn, report: ValidationReport, again: Mapping[int, list[int]], asked: Sequence[int]) -> list[int]:
    """The kept calls that the answer changes, if it repeats the whole turn.

    Then the numbers of calls are equal, and the kept calls have their old positions. A changed call shares more arguments
    with the kept call than with any failing call.
    """
    new, old = report.calls, turn.report.calls
    if len(new) != len(old) or any(at not in places for at, places in again.items()):
        return []
    return [
        at
        for at in turn.kept_indexes
        if at not in again
        and new[at].name == old[at].name
        and _shared_arguments(new[at], old[at]) > max(_shared_arguments(new[at], old[one]) for one in asked)
    ]


def _shared_arguments(call: ToolCall, other: ToolCall) -> int:
    """How many arguments the two calls share."""
    there = other.arguments or {}
    return sum(key in there and json_key(there[key]) == json_key(value) for key, value in (call.arguments or {}).items())


def _corrections(
    found: Sequence[int], report: ValidationReport, asked: Sequence[int], tools: ToolSet
) -> tuple[list[int], list[int]]:
    """The answer's calls that are corrections, and those that repeat one of them. If there are surplus calls, equal ones
    count once."""
    surplus, seen = len(found) - len(asked), list[Any]()
    fresh, twice = list[int](), list[int]()
    for at in found:
        key = _run_key(report.calls[at], tools)
        (twice if len(twice) < surplus and key in seen else fresh).append(at)
        seen.append(key)
    return fresh, twice


def _run_key(call: ToolCall, tools: ToolSet) -> Any:
    """A key that is equal for calls with the same effect."""
    tool = tools.get(call.name)
    schema = tool.definition.parameters if tool is not None else {}
    return call.name, json_key(_filled(call.arguments, schema, schema))


def _filled(value: Any, schema: Any, root: Any) -> Any:
    """The value with its schema's defaults for missing properties."""
    reference = object_in(schema).get("$ref")
    if isinstance(reference, str):
        return _filled(value, resolve_pointer(root, reference), root) if is_object(value) else value
    if is_list(value):
        items = object_in(schema).get("items")
        return [_filled(one, items, root) for one in value] if items else value
    if not is_object(value):
        return value
    for branch in (*_matching_branches(schema, "anyOf", value, root), *_matching_branches(schema, "oneOf", value, root)):
        return _filled(value, branch, root)
    properties = object_in(object_in(schema).get("properties"))
    if not properties:
        return value
    defaults = {name: one["default"] for name, one in properties.items() if is_object(one) and "default" in one}
    return {**defaults, **{name: _filled(one, properties.get(name), root) for name, one in value.items()}}


def _list(value: Any) -> list[Any]:
    return value if is_list(value) else []


def _matching_branches(schema: Any, keyword: str, value: Mapping[str, Any], root: Any) -> list[Any]:
    """The only branch of `anyOf` or `oneOf` that is an object with all keys of the value. Empty if none or several are."""
    found: list[Any] = []
    for branch in _list(object_in(schema).get(keyword)):
        reference = object_in(branch).get("$ref")
        target = resolve_pointer(root, reference) if isinstance(reference, str) else branch
        properties = object_in(object_in(target).get("properties"))
        if properties and value.keys() <= properties.keys():
            found.append(target)
    return found if len(found) == 1 else []


def _blocks(envelope: Envelope, places: Mapping[int, Sequence[ToolCall]]) -> list[Block]:
    """The history blocks, where `places` maps a call's index to the calls that replace it."""
    if not envelope.blocks:
        return []
    left = [(at, call.id) for at, call in enumerate(envelope.tool_calls)]
    result: list[Block] = []
    for block in envelope.blocks:
        found = next((one for one in left if isinstance(block, ToolUseBlock) and one[1] == block.id), None)
        if found is None:
            result.append(block)
            continue
        left.remove(found)
        at = found[0]
        result += map(_block, places[at]) if at in places else [block]
    return [*result, *(_block(call) for at, _ in left for call in places.get(at, ()))]


def _block(call: ToolCall) -> ToolUseBlock:
    return ToolUseBlock(id=call.id, name=call.name, input=call.arguments, raw_input=call.raw_arguments)


def _with_unique_ids(calls: Sequence[ToolCall], kept: Iterable[str]) -> list[ToolCall]:
    """The calls with ids that do not clash with kept ones. A server may number each reply's calls from the start."""
    used, renamed = set(kept), list[ToolCall]()
    for call in calls:
        number, wanted = len(used), call.id
        while wanted in used:
            wanted, number = f"call_{number}", number + 1
        used.add(wanted)
        renamed.append(call if wanted == call.id else updated(call, {"id": wanted}))
    return renamed
