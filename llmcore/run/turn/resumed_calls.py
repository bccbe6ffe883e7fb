"""What becomes of the calls that a history left open, when the run goes on: by what was saved of them and what the caller says.

Nothing that may have taken effect runs again: a call that was started, and of whose outcome nothing is known, is answered so,
unless its tool is `read_only` or `idempotent`, or the caller approves it anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.hooks.hook_results import judged_again, judged_anew, wrong_call
from llmcore.run.results.open_calls import UNKNOWN_OUTCOME, OpenCall, id_within
from llmcore.run.resume.answers import Answer, Approve, CallAnswer, Deny
from llmcore.run.resume.resumption import Resumed
from llmcore.run.setup.parent_run import LeftWithin, may_go_on
from llmcore.run.setup.settings import Toolbox
from llmcore.support.values.copies import copied, updated
from llmcore.tools import Tool, ToolConfig
from llmcore.tools.execution.parallel_calls import aborts
from llmcore.tools.results.outcome import Outcome, failed, synthetic, unfinished
from llmcore.tools.results.rendering import UnwritableResult, rendered
from llmcore.tools.schema.signature import ArgumentsError
from llmcore.types import CallerError, ToolCall, ToolError
from llmcore.validator import Strictness
from llmcore.validator.schema.problems import summary

__all__ = ["ResumedCalls", "aborted", "resumed_calls"]

_DENIED = "The call was not approved"
_NOT_TAKEN = "It was not taken, for the program stopped before. Give the final result again."


@dataclass(frozen=True, slots=True)
class ResumedCalls:
    """The open calls as they may run. Of each that is not simply to run, its fate: its outcome, or how it still waits. `changed`:
    those that the caller changed; `answers`: what the caller said of them; `approved` run without being asked about again."""

    calls: list[ToolCall]
    fates: Mapping[str, Outcome | OpenCall]
    changed: list[ToolCall]
    answers: Mapping[str, Literal["approve", "deny", "answer"]]
    approved: frozenset[str]
    within: Mapping[str, LeftWithin]
    """By the ids of calls, the runs within them that go on."""


def resumed_calls(resumed: Resumed, toolbox: Toolbox, strictness: Strictness, tools: ToolConfig) -> ResumedCalls:
    """Raises `CallerError` for an answer that cannot be taken, before anything is done."""
    settling = _Resolver(resumed, toolbox, strictness, tools)
    for call in resumed.calls:
        settling.resolve(call)
    return settling.resolved


class _Resolver:
    """Settles call after call. `resumed_calls` is what has become of them so far."""

    def __init__(self, resumed: Resumed, toolbox: Toolbox, strictness: Strictness, tools: ToolConfig) -> None:
        self._resumed = resumed
        self._toolbox = toolbox
        self._strictness: Strictness = strictness
        self._max_chars = tools.max_result_chars
        self._fates: dict[str, Outcome | OpenCall] = {}
        self._changed: dict[str, ToolCall] = {}
        self._answers: dict[str, Literal["approve", "deny", "answer"]] = {}
        self._approved: set[str] = set()
        self._within = {call.id: left for call in resumed.calls if (left := self._goes_on(call)) is not None}
        ended = (outcome.call for outcome in resumed.carried if outcome.ended or aborted(outcome, tools))
        self._ended_by = next(ended, None)

    def _goes_on(self, call: ToolCall) -> LeftWithin | None:
        """The run within the call, where that goes on: with the caller's answers, or because it was saved in its midst."""
        left = _left(self._resumed, call.id) if call.id in self._resumed.within else None
        goes_by_itself = left is not None and not left.state.ended and call.id not in self._resumed.answers
        return (
            left if left is not None and (left.answers or (goes_by_itself and may_go_on(self._toolbox.get(call.name)))) else None
        )

    @property
    def resolved(self) -> ResumedCalls:
        by_id = {**{call.id: call for call in self._resumed.calls}, **self._changed}
        changed, approved = [*self._changed.values()], frozenset(self._approved)
        return ResumedCalls([*by_id.values()], self._fates, changed, self._answers, approved, self._within)

    def resolve(self, call: ToolCall) -> None:
        answer, stage = self._resumed.answers.get(call.id), self._resumed.stages.get(call.id)
        _check_answer(call, answer, stage, self._resumed)
        is_within = call.id in self._within
        if is_within:
            _check_goes_on(call, answer, self._toolbox)
        fate = self._unanswered(call, stage) if answer is None and not is_within else self._answered(call, answer)
        if fate is None and self._ended_by is not None:
            if answer is not None or is_within:
                raise _cannot_run(call, f"{self._ended_by.id!r} ({self._ended_by.name}) has ended the run; leave the answer out")
            fate = unfinished(call)
        if fate is None and self._toolbox.can_run(call.name) and call.id not in self._changed:
            decided = judged_again(call, self._toolbox, self._strictness)
            if decided.problems and is_within:
                raise _cannot_run(call, f"its arguments do not fit the tool as it is now: {summary(decided.problems)}")
            if decided.changed:
                self._changed[call.id] = decided.call
            fate = wrong_call(decided, "the call") if decided.problems else None
        if fate is not None:
            self._fates[call.id] = fate

    def _answered(self, call: ToolCall, answer: CallAnswer | None) -> Outcome | None:
        """What becomes of a call by what the caller says of it, or of the calls within it; None = it is to run."""
        if isinstance(answer, Deny):
            self._answers[call.id] = "deny"
            return synthetic(call, f"{_DENIED}: {answer.reason}" if answer.reason else f"{_DENIED}.")
        if isinstance(answer, Answer):
            self._answers[call.id] = "answer"
            return _answered(call, answer, self._max_chars)
        self._approved.add(call.id)
        if isinstance(answer, Approve):
            self._answers[call.id] = "approve"
            for changed in _changed(call, answer, self._toolbox, self._strictness):
                self._changed[call.id] = changed
        return None

    def _unanswered(self, call: ToolCall, stage: OpenCall | None) -> Outcome | OpenCall | None:
        """The same, of a call of which nothing is said."""
        tool, within = self._toolbox.get(call.name), self._resumed.within.get(call.id)
        if stage is not None and stage.waits and (within is None or within.pending):
            return _judged_by(tool, stage)
        if call.name == FINAL_RESULT and tool is None:
            return synthetic(call, _NOT_TAKEN)
        if stage is not None and (stage.stage == "ready" or _may_run_again(tool)):
            self._approved.add(call.id)
            if stage.approved:
                self._answers[call.id] = "approve"
        elif stage is not None:
            return replace(synthetic(call, UNKNOWN_OUTCOME), ran=True)
        return None


def aborted(outcome: Outcome, tools: ToolConfig) -> bool:
    """Did its tool fail, and end the run by that?"""
    return outcome.ran and aborts(outcome, tools)


def _left(resumed: Resumed, call_id: str) -> LeftWithin:
    """The run that waits within a call, with what the caller says of its calls."""
    state = resumed.within[call_id]
    ids = {call.id: id_within(call_id, call.id) for call in state.pending}
    return LeftWithin(state, {own: resumed.answers[outer] for own, outer in ids.items() if outer in resumed.answers})


def _cannot_run(call: ToolCall, why: str) -> CallerError:
    return CallerError(f"answers: {call.id!r} ({call.name}) cannot run: {why}")


def _check_goes_on(call: ToolCall, answer: CallAnswer | None, toolbox: Toolbox) -> None:
    """Raises `CallerError` where the run within a call, of which the caller answers calls, cannot go on."""
    if answer is not None:
        raise CallerError(
            f"answers: {call.id!r} ({call.name}) is answered, and calls within it too: give an answer in its place, or those to "
            "the calls within it"
        )
    tool, runs = toolbox.get(call.name), toolbox.can_run(call.name)
    if runs and may_go_on(tool):
        return
    what = "is no tool of this run" if tool is None else "is no agent in this run" if runs else "has no function here"
    raise CallerError(
        f"answers: calls within {call.id!r} are answered, and {call.name!r} {what}, which could go on with them: give the agent "
        "again, or an Answer in its place"
    )


def _check_answer(call: ToolCall, answer: CallAnswer | None, stage: OpenCall | None, resumed: Resumed) -> None:
    """Raises `CallerError` for an answer that would say of a call that was begun what is not so."""
    if stage is None or answer is None or isinstance(answer, Answer):
        return
    if stage.stage == "within":
        inner = ", ".join(repr(id_within(call.id, one.id)) for one in resumed.within[call.id].pending)
        fix = f"waits for answers to {inner}: give those" if inner else "goes on by itself: give nothing"
        raise CallerError(f"answers: {call.id!r} ({call.name}) was begun, and {fix}, or an Answer")
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


def _misfit(tool: Tool | None, call: ToolCall) -> str:
    """Why arguments that fit the schema do not fit the types of the tool's function; "" where they do."""
    try:
        if tool is not None:
            tool.keywords(call.arguments or {})
    except ArgumentsError as error:
        return str(error)
    except Exception:  # of the caller's own code, which fails likewise when the call runs, and is judged there
        return ""
    return ""


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
    if misfit := summary(decided.problems) or _misfit(toolbox.get(call.name), decided.call):
        raise CallerError(f"answers: the arguments given for {call.id!r} ({call.name}) do not fit its tool: {misfit}")
    return [decided.call] if decided.changed else []
