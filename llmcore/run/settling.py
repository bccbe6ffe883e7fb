"""What becomes of the calls that a history left open, when the run goes on: by what was saved of them and what the caller says.

Nothing that may have taken effect runs again: a call that was started, and of whose outcome nothing is known, is answered so,
unless its tool is `read_only` or `idempotent`, or the caller approves it anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.answers import Answer, Approve, CallAnswer, Deny
from llmcore.run.enclosing import LeftWithin
from llmcore.run.hooked import judged_again, judged_anew, wrong_call
from llmcore.run.open_calls import UNKNOWN_OUTCOME, OpenCall, id_within
from llmcore.run.resumption import Resumed
from llmcore.run.settings import Toolbox
from llmcore.tools import Tool
from llmcore.tools.execution import Outcome, failed, synthetic, unfinished
from llmcore.tools.results import UnwritableResult, rendered
from llmcore.types import CallerError, ToolCall, ToolError
from llmcore.types.copies import copied, updated
from llmcore.validator import Strictness
from llmcore.validator.schema.problems import summary

__all__ = ["Settled", "settled"]

_DENIED = "The call was not approved"
_NOT_TAKEN = "It was not taken, for the program stopped before. Give the final result again."


@dataclass(frozen=True, slots=True)
class Settled:
    """The open calls as they may run. Of each that is not simply to run, its fate: its outcome, or how it still waits. `changed`:
    those that the caller changed; `answers`: what the caller said of them; `approved` run without being asked about again."""

    calls: list[ToolCall]
    fates: Mapping[str, Outcome | OpenCall]
    changed: list[ToolCall]
    answers: Mapping[str, Literal["approve", "deny", "answer"]]
    approved: frozenset[str]
    within: Mapping[str, LeftWithin]
    """By the ids of calls, the runs within them that go on."""


def settled(resumed: Resumed, toolbox: Toolbox, strictness: Strictness, max_chars: int) -> Settled:
    """Raises `CallerError` for an answer that cannot be taken, before anything is done."""
    fates: dict[str, Outcome | OpenCall] = {}
    changed: list[ToolCall] = []
    answers: dict[str, Literal["approve", "deny", "answer"]] = {}
    approved: set[str] = set()
    within = {call_id: left for call_id in resumed.within if (left := _left(resumed, call_id)).answers}
    has_ended = any(outcome.ended for outcome in resumed.carried)
    for call in resumed.calls:
        answer, stage, tool = resumed.answers.get(call.id), resumed.stages.get(call.id), toolbox.get(call.name)
        fate: Outcome | OpenCall | None = None
        _check_answer(call, answer, stage, resumed)
        if isinstance(answer, Deny):
            answers[call.id] = "deny"
            fate = synthetic(call, f"{_DENIED}: {answer.reason}" if answer.reason else f"{_DENIED}.")
        elif isinstance(answer, Answer):
            answers[call.id] = "answer"
            fate = _answered(call, answer, max_chars)
        elif isinstance(answer, Approve):
            answers[call.id] = "approve"
            approved.add(call.id)
            changed += _changed(call, answer, toolbox, strictness)
        elif call.id in within:
            approved.add(call.id)
        elif stage is not None and stage.waits:
            fate = _judged_by(tool, stage)
        elif call.name == FINAL_RESULT and tool is None:
            fate = synthetic(call, _NOT_TAKEN)
        elif stage is not None and (stage.stage == "ready" or _may_run_again(tool)):
            approved.add(call.id)
            if stage.approved:
                answers[call.id] = "approve"
        elif stage is not None:
            fate = replace(synthetic(call, UNKNOWN_OUTCOME), ran=True)
        if has_ended:
            fate = fate or unfinished(call)
        if fate is None and toolbox.can_run(call.name) and call.id not in {one.id for one in changed}:
            decided = judged_again(call, toolbox, strictness)
            changed += [decided.call] if decided.changed else []
            fate = wrong_call(decided, "the call") if decided.problems else None
        if fate is not None:
            fates[call.id] = fate
    by_id = {call.id: call for call in [*resumed.calls, *changed]}
    return Settled([*by_id.values()], fates, changed, answers, frozenset(approved), within)


def _left(resumed: Resumed, call_id: str) -> LeftWithin:
    """The run that waits within a call, with what the caller says of its calls."""
    state = resumed.within[call_id]
    ids = {call.id: id_within(call_id, call.id) for call in state.pending}
    return LeftWithin(state, {own: resumed.answers[outer] for own, outer in ids.items() if outer in resumed.answers})


def _check_answer(call: ToolCall, answer: CallAnswer | None, stage: OpenCall | None, resumed: Resumed) -> None:
    """Raises `CallerError` for an answer that would say of a call that was begun what is not so."""
    if stage is None or answer is None or isinstance(answer, Answer):
        return
    if stage.stage == "within":
        inner = ", ".join(repr(id_within(call.id, one.id)) for one in resumed.within[call.id].pending)
        raise CallerError(
            f"answers: {call.id!r} ({call.name}) was begun, and waits for answers to {inner}: give those, or an Answer"
        )
    if stage.stage == "started" and isinstance(answer, Deny):
        raise CallerError(
            f"answers: {call.id!r} ({call.name}) was started and may have taken effect, so it cannot be denied: give an Answer "
            "that says what became of it, Approve to run it again, or nothing"
        )


def _judged_by(tool: Tool | None, stage: OpenCall) -> OpenCall:
    """How the call waits, by the tool that there is now: nobody can approve what has no function here."""
    if stage.stage != "approval" or tool is None:
        return stage
    stage_now = "elsewhere" if tool.function is None else "approval"
    return updated(stage, {"stage": stage_now, "summary": tool.summary_of(stage.arguments)})


def _may_run_again(tool: Tool | None) -> bool:
    return tool is not None and (tool.options.idempotent or tool.definition.read_only)


def _answered(call: ToolCall, answer: Answer, max_chars: int) -> Outcome:
    try:
        content = rendered(answer.value, max_chars)
    except UnwritableResult as error:
        raise CallerError(f"answers: the value for {call.id!r} ({call.name}) cannot be written: {error}") from error
    if not answer.is_error:
        return Outcome(call, content, copied(answer.value))
    said = "".join(getattr(block, "text", "") for block in content)
    return failed(call, ToolError(said, tool_name=call.name, tool_id=call.id, type="execution"), max_chars)


def _changed(call: ToolCall, answer: Approve, toolbox: Toolbox, strictness: Strictness) -> list[ToolCall]:
    """The call with the arguments that the caller gives, as it may run; nothing where he gives none."""
    if not toolbox.can_run(call.name):
        known = toolbox.get(call.name) is not None
        why = (
            "it has no function here: give an Answer, or a Deny" if known else "there is no such tool in this run: give it again"
        )
        raise CallerError(f"answers: {call.id!r} cannot be approved, for it calls {call.name!r}; {why}")
    if answer.arguments is None:
        return []
    decided = judged_anew(call, updated(call, {"arguments": copied(answer.arguments), "complete": True}), toolbox, strictness)
    if decided.problems:
        raise CallerError(
            f"answers: the arguments given for {call.id!r} ({call.name}) do not fit its tool: {summary(decided.problems)}"
        )
    return [decided.call] if decided.changed else []
