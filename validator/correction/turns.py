"""How the answer to a correction takes the place of a turn's failing calls, while the kept ones stand.

The answer's calls are corrections of the failing ones, by position and count: the first one takes the first failing call's
place, and further ones than were asked for stand with the last. Ids say nothing, for a server may count them anew in each reply.

A kept call that the answer makes again runs once. It is known by what it runs with: name and arguments after validation,
defaults filled in, so that neither `"1"` for 1 nor a default that is written out makes another call of it. An answer may make
the whole turn anew. Then a kept call that it changed is taken as it stands there, lest the old and the new one run.

Each call that the turn holds no more is told with the reason why it did not run (`DroppedCall`).
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

__all__ = ["CorrectionTurn", "DroppedCall", "dropped", "merged", "with_all_withdrawn", "without_failing"]

_NEVER_RAN = frozenset({"calls_limit", "call_not_allowed"})
"""Repairs that tell of calls which a reply held and the turn does not."""
_OF_GUESSES = ("doubtful", "untrusted")
"""Kinds of problems that a model's saying the call once more may settle."""
DroppedType = Literal["validation", "not_found", "execution"]
_MAX_REASON = 500
"""Characters of what is wrong with a call."""
_MADE_ANEW = "The model made another one in its place"
_MADE_AGAIN = "The model made it again unchanged"
_NOT_MADE_AGAIN = "The model did not make it again"
_IN_WORDS = "The model answered in words instead"
_CHANGED = "The model changed it when it was asked for another call again"


@dataclass(frozen=True, slots=True)
class DroppedCall:
    """A call that a reply made and that does not run. `reason` says why, in a sentence or two. `type` is that of the `ToolError`
    which tells it: `validation` and `not_found` where the call itself was wrong, else `execution`. `is_known`: the model knows
    that it does not run, or took it back."""

    call: ToolCall
    reason: str
    type: DroppedType = "execution"
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class CorrectionTurn:
    """A turn with failing calls, its report, the indexes of the calls that are kept, and what is wrong with the turn."""

    envelope: Envelope
    report: ValidationReport
    kept: Sequence[int]
    problems: Sequence[Problem] = ()


def merged(
    turn: CorrectionTurn, answer: Envelope, report: ValidationReport, tools: ToolSet
) -> tuple[Envelope, list[DroppedCall]]:
    """The turn with its failing calls replaced by the answer's (`report` is that one's), and the calls that it holds no more.
    Without a call to keep, or one in the answer, the answer is the turn. It is as whole as the answer is.

    Where the answer corrects none of the calls that were asked about, the turn's own envelope is returned.
    """
    end = {"truncated": answer.truncated, "finish_reason": answer.finish_reason, "finish_word": answer.finish_word}
    says_nothing = not answer.tool_calls and not answer.content.strip()
    if turn.kept and says_nothing and (answer.truncated or answer.finish_reason == "length"):
        return turn.envelope.model_copy(update=end), []  # a cut turn now, of which every call is asked for again
    if not turn.kept or not answer.tool_calls:
        return with_all_withdrawn(turn, answer)
    again = _made_again(turn, report, tools)
    asked = sorted(turn.report.failing_indexes)
    changed = _changed(turn, report, again, asked)
    fresh, twice = _fresh(
        [at for at in range(len(answer.tool_calls)) if at not in again and at not in changed], report, asked, tools
    )
    is_one_of_the_kept = [one.name for one in report.calls] == [turn.report.calls[at].name for at in asked]
    if not fresh and not changed and not is_one_of_the_kept:
        return turn.envelope, []
    old, is_corrected = turn.envelope.tool_calls, bool(fresh) or is_one_of_the_kept
    corrected = _with_own_ids([answer.tool_calls[at] for at in fresh], [old[at].id for at in turn.kept])
    places: dict[int, list[ToolCall]] = {at: [updated(answer.tool_calls[at], {"id": old[at].id})] for at in changed}
    if is_corrected:
        places |= {at: [] for at in asked}
        for n, call in enumerate(corrected):
            places[asked[min(n, len(asked) - 1)]].append(call)
    calls = [one for at, call in enumerate(old) for one in places.get(at, [call])]
    notes = [Repair(kind="repeated_call", before=answer.tool_calls[at].name, after=None) for at in sorted((*again, *twice))]
    gone = [dropped(turn, at, _CHANGED) for at in changed]
    if is_corrected:
        gone += _replaced(turn, asked, [report.calls[at].name for at in fresh], corrected)
    changes = {"tool_calls": calls, "near_misses": [], "repairs": [*turn.envelope.repairs, *notes], **end}
    blocks = _blocks(turn.envelope, places)
    return turn.envelope.model_copy(update=changes).attach(turn.envelope.source, turn.envelope.segments, blocks), gone


def with_all_withdrawn(turn: CorrectionTurn, answer: Envelope) -> tuple[Envelope, list[DroppedCall]]:
    """The answer as the turn. The turn's calls, the failing ones and those that were kept meanwhile, do not run, but where the
    answer makes them again. Calls of earlier answers that did not run are told on."""
    old = turn.envelope.tool_calls
    if answer.tool_calls:
        gone = _replaced(turn, range(len(old)), [call.name for call in answer.tool_calls], answer.tool_calls)
    else:
        gone = [dropped(turn, at, _IN_WORDS) for at in range(len(old))]
    notes = [repair for repair in turn.envelope.repairs if repair.kind in _NEVER_RAN]
    return updated(answer, {"repairs": [*answer.repairs, *notes]}) if notes else answer, gone


def without_failing(turn: CorrectionTurn) -> tuple[Envelope, list[DroppedCall]]:
    """The turn with the calls that may run; the others are taken back."""
    failing = turn.report.failing_indexes
    changed = updated(
        turn.envelope, {"tool_calls": [call for at, call in enumerate(turn.envelope.tool_calls) if at not in failing]}
    )
    blocks = _blocks(turn.envelope, {at: [] for at in failing})
    gone = [dropped(turn, at) for at in sorted(failing)]
    return changed.attach(turn.envelope.source, turn.envelope.segments, blocks), gone


def dropped(turn: CorrectionTurn, at: int, became: str = "") -> DroppedCall:
    """The call at this index as one that does not run: what is wrong with it or with its turn, and what `became` of it."""
    own = [problem for problem in turn.problems if problem.call == at]
    of_turn = [problem for problem in turn.problems if problem.call is None]
    other = "other calls of its reply could not be used" if turn.problems else "the run ended before"
    said = cut(summary(own or of_turn), _MAX_REASON) if own or of_turn else other
    unknown = any(problem.kind == "unknown_tool" for problem in own)
    reason = ". ".join([f"It did not run: {said}", *([became] if became else [])])
    kind: DroppedType = "not_found" if unknown else "validation" if own else "execution"
    return DroppedCall(turn.envelope.tool_calls[at], f"{reason}.", kind, is_known=bool(became))


def _replaced(turn: CorrectionTurn, asked: Iterable[int], names: Iterable[str], calls: Iterable[ToolCall]) -> list[DroppedCall]:
    """Those of the calls at these indexes that were wrong, or that were not simply made once more. `calls` took their place,
    which have the `names` as the report maps them."""
    made, left = Counter(map(_as_written, calls)), Counter(names)
    gone: list[DroppedCall] = []
    for at in asked:
        name, key = turn.report.calls[at].name, _as_written(turn.envelope.tool_calls[at])
        is_named, is_same = left[name] > 0, made[key] > 0
        left[name] -= is_named
        made[key] -= is_same
        if not is_same:
            gone.append(dropped(turn, at, _MADE_ANEW if is_named else _NOT_MADE_AGAIN))
        elif any(problem.call == at and problem.kind not in _OF_GUESSES for problem in turn.problems):
            gone.append(dropped(turn, at, _MADE_AGAIN))
    return gone


def _as_written(call: ToolCall) -> Any:
    return call.name, call.raw_arguments if call.arguments is None else json_key(call.arguments)


def _made_again(turn: CorrectionTurn, report: ValidationReport, tools: ToolSet) -> dict[int, list[int]]:
    """Which of the answer's calls are kept ones, made once more: index in the answer -> indexes in the turn."""
    keys = {at: _run_key(turn.report.calls[at], tools) for at in turn.kept}
    found = {at: [kept for kept, key in keys.items() if key == _run_key(call, tools)] for at, call in enumerate(report.calls)}
    return {at: same for at, same in found.items() if same}


def _changed(turn: CorrectionTurn, report: ValidationReport, again: Mapping[int, list[int]], asked: Sequence[int]) -> list[int]:
    """The kept calls that the answer changes, where it makes the whole turn anew: as many calls, the kept ones in their places,
    those alike in more arguments than in common with any call that was asked about."""
    new, old = report.calls, turn.report.calls
    if len(new) != len(old) or any(at not in places for at, places in again.items()):
        return []
    return [
        at
        for at in turn.kept
        if at not in again
        and new[at].name == old[at].name
        and _in_common(new[at], old[at]) > max(_in_common(new[at], old[one]) for one in asked)
    ]


def _in_common(call: ToolCall, other: ToolCall) -> int:
    """How many arguments the two calls share."""
    there = other.arguments or {}
    return sum(key in there and json_key(there[key]) == json_key(value) for key, value in (call.arguments or {}).items())


def _fresh(found: Sequence[int], report: ValidationReport, asked: Sequence[int], tools: ToolSet) -> tuple[list[int], list[int]]:
    """Of these calls of the answer those that are corrections, and those that say one of them once more: of more calls than were
    asked for, the same one is meant once."""
    surplus, seen = len(found) - len(asked), list[Any]()
    fresh, twice = list[int](), list[int]()
    for at in found:
        key = _run_key(report.calls[at], tools)
        (twice if len(twice) < surplus and key in seen else fresh).append(at)
        seen.append(key)
    return fresh, twice


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


def _blocks(envelope: Envelope, places: Mapping[int, Sequence[ToolCall]]) -> list[Block]:
    """The history blocks with those of the calls at these indexes replaced by those of other calls."""
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


def _with_own_ids(calls: Sequence[ToolCall], kept: Iterable[str]) -> list[ToolCall]:
    """Ids may count within one reply, so those of two replies may clash."""
    taken, given = set(kept), list[ToolCall]()
    for call in calls:
        number, wanted = len(taken), call.id
        while wanted in taken:
            wanted, number = f"call_{number}", number + 1
        taken.add(wanted)
        given.append(call if wanted == call.id else updated(call, {"id": wanted}))
    return given
