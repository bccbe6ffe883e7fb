"""What becomes of the open calls of a history when a run resumes: by their saved stages and the caller's answers.

Nothing that may have taken effect runs again. A call that was started and has no known outcome gets a result that says so. It
runs again only if its tool is `read_only` or `idempotent`, or if the caller approves it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.hooks.hook_results import changed_call, invalid_call_outcome, revalidated_call
from llmcore.run.results.open_calls import UNKNOWN_OUTCOME, OpenCall, id_within
from llmcore.run.resume.answers import Answer, Approve, CallAnswer, Deny
from llmcore.run.resume.resumption import Resumed
from llmcore.run.setup.parent_run import WaitingRun, can_resume
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

__all__ = ["ResumedCalls", "ended_by_failure", "resumed_calls"]

_DENIED = "The call was not approved"
_NOT_ACCEPTED = "The final result was not accepted: the program stopped before. Give the final result again."


@dataclass(frozen=True, slots=True)
class ResumedCalls:
    """The open calls of a resumed run.

    - `calls`: all of them, as they may run.
    - `fates`: for each call that is not simply to run, its outcome or its open stage.
    - `changed`: the calls that the caller or a new schema changed.
    - `answers`: how the caller answered them, by id.
    - `approved`: the ids of those that run without another approval.
    """

    calls: list[ToolCall]
    fates: Mapping[str, Outcome | OpenCall]
    changed: list[ToolCall]
    answers: Mapping[str, Literal["approve", "deny", "answer"]]
    approved: frozenset[str]
    within: Mapping[str, WaitingRun]
    """The child runs that resume, by the ids of their calls."""


def resumed_calls(resumed: Resumed, toolbox: Toolbox, strictness: Strictness, tools: ToolConfig) -> ResumedCalls:
    """Resolve the open calls. Raises `CallerError` for an answer that does not fit its call, before anything runs."""
    resolver = _Resolver(resumed, toolbox, strictness, tools)
    for call in resumed.calls:
        resolver.resolve(call)
    return resolver.resolved


class _Resolver:
    """Resolves one call after another. `resolved` holds the decisions so far."""

    def __init__(self, resumed: Resumed, toolbox: Toolbox, strictness: Strictness, tools: ToolConfig) -> None:
        self._resumed = resumed
        self._toolbox = toolbox
        self._strictness: Strictness = strictness
        self._max_chars = tools.max_result_chars
        self._fates: dict[str, Outcome | OpenCall] = {}
        self._changed: dict[str, ToolCall] = {}
        self._answers: dict[str, Literal["approve", "deny", "answer"]] = {}
        self._approved: set[str] = set()
        self._within = {call.id: left for call in resumed.calls if (left := self._child_run_to_resume(call)) is not None}
        ended = (outcome.call for outcome in resumed.carried if outcome.ended or ended_by_failure(outcome, tools))
        self._ended_by = next(ended, None)

    def _child_run_to_resume(self, call: ToolCall) -> WaitingRun | None:
        """The run within the call, if it resumes: with the caller's answers, or because it was saved while it was running."""
        left = _waiting_child_run(self._resumed, call.id) if call.id in self._resumed.within else None
        goes_by_itself = left is not None and not left.state.ended and call.id not in self._resumed.answers
        return (
            left if left is not None and (left.answers or (goes_by_itself and can_resume(self._toolbox.get(call.name)))) else None
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
            _check_child_run_resumes(call, answer, self._toolbox)
        fate = self._fate_without_answer(call, stage) if answer is None and not is_within else self._fate_by_answer(call, answer)
        if fate is None and self._ended_by is not None:
            if answer is not None or is_within:
                raise _cannot_run(call, f"{self._ended_by.id!r} ({self._ended_by.name}) has ended the run; leave the answer out")
            fate = unfinished(call)
        if fate is None and self._toolbox.can_run(call.name) and call.id not in self._changed:
            decided = revalidated_call(call, self._toolbox, self._strictness)
            if decided.problems and is_within:
                raise _cannot_run(call, f"its arguments do not fit the tool as it is now: {summary(decided.problems)}")
            if decided.changed:
                self._changed[call.id] = decided.call
            fate = invalid_call_outcome(decided, "the call") if decided.problems else None
        if fate is not None:
            self._fates[call.id] = fate

    def _fate_by_answer(self, call: ToolCall, answer: CallAnswer | None) -> Outcome | None:
        """The outcome that the caller's answer gives the call; None if the call is to run."""
        if isinstance(answer, Deny):
            self._answers[call.id] = "deny"
            return synthetic(call, f"{_DENIED}: {answer.reason}" if answer.reason else f"{_DENIED}.")
        if isinstance(answer, Answer):
            self._answers[call.id] = "answer"
            return _answer_outcome(call, answer, self._max_chars)
        self._approved.add(call.id)
        if isinstance(answer, Approve):
            self._answers[call.id] = "approve"
            for changed in _approved_call(call, answer, self._toolbox, self._strictness):
                self._changed[call.id] = changed
        return None

    def _fate_without_answer(self, call: ToolCall, stage: OpenCall | None) -> Outcome | OpenCall | None:
        """The outcome or stage of a call that the caller did not answer; None if the call is to run."""
        tool, within = self._toolbox.get(call.name), self._resumed.within.get(call.id)
        if stage is not None and stage.waits and (within is None or within.pending):
            return _stage_for_tool(tool, stage)
        if call.name == FINAL_RESULT and tool is None:
            return synthetic(call, _NOT_ACCEPTED)
        if stage is not None and (stage.stage == "ready" or _may_run_again(tool)):
            self._approved.add(call.id)
            if stage.approved:
                self._answers[call.id] = "approve"
        elif stage is not None:
            return replace(synthetic(call, UNKNOWN_OUTCOME), ran=True)
        return None


def ended_by_failure(outcome: Outcome, tools: ToolConfig) -> bool:
    """Whether the call's tool failed and thereby ended the run."""
    return outcome.ran and aborts(outcome, tools)


def _waiting_child_run(resumed: Resumed, call_id: str) -> WaitingRun:
    """The run that waits within a call, with the caller's answers to its calls."""
    state = resumed.within[call_id]
    ids = {call.id: id_within(call_id, call.id) for call in state.pending}
    return WaitingRun(
        state, {inner_id: resumed.answers[outer_id] for inner_id, outer_id in ids.items() if outer_id in resumed.answers}
    )


def _cannot_run(call: ToolCall, why: str) -> CallerError:
    return CallerError(f"answers: {call.id!r} ({call.name}) cannot run: {why}")


def _check_child_run_resumes(call: ToolCall, answer: CallAnswer | None, toolbox: Toolbox) -> None:
    """Raises `CallerError` if the caller answers calls within this one and their run cannot resume."""
    if answer is not None:
        raise CallerError(
            f"answers: {call.id!r} ({call.name}) is answered, and calls within it too: give an answer in its place, or those to "
            "the calls within it"
        )
    tool, runs = toolbox.get(call.name), toolbox.can_run(call.name)
    if runs and can_resume(tool):
        return
    what = "is no tool of this run" if tool is None else "is no agent in this run" if runs else "has no function here"
    raise CallerError(
        f"answers: calls within {call.id!r} are answered, and {call.name!r} {what}, which could go on with them: give the agent "
        "again, or an Answer in its place"
    )


def _check_answer(call: ToolCall, answer: CallAnswer | None, stage: OpenCall | None, resumed: Resumed) -> None:
    """Raises `CallerError` for an answer that contradicts the stage of a call that was started."""
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


def _stage_for_tool(tool: Tool | None, stage: OpenCall) -> OpenCall:
    """The call's stage by the tool as it is now. A tool without a function here needs an answer instead of an approval."""
    if stage.stage != "approval" or tool is None:
        return stage
    stage_now = "elsewhere" if tool.function is None else "approval"
    return updated(stage, {"stage": stage_now, "summary": tool.summary_of(stage.arguments)})


def _may_run_again(tool: Tool | None) -> bool:
    return tool is not None and (tool.options.idempotent or tool.definition.read_only)


def _answer_outcome(call: ToolCall, answer: Answer, max_chars: int) -> Outcome:
    try:
        content = rendered(answer.value, max_chars)
    except UnwritableResult as error:
        raise CallerError(f"answers: the value for {call.id!r} ({call.name}) cannot be written: {error}") from error
    if not answer.is_error:
        return Outcome(call, content, copied(answer.value))
    text = "".join(getattr(block, "text", "") for block in content)
    return failed(call, ToolError(text, tool_name=call.name, tool_id=call.id, type="execution"), max_chars)


def _signature_problem(tool: Tool | None, call: ToolCall) -> str:
    """Why arguments that fit the schema do not fit the types of the tool's function; "" if they fit."""
    try:
        if tool is not None:
            tool.keywords(call.arguments or {})
    except ArgumentsError as error:
        return str(error)
    except Exception:  # the caller's own code, which fails again when the call runs, and is reported there
        return ""
    return ""


def _approved_call(call: ToolCall, answer: Approve, toolbox: Toolbox, strictness: Strictness) -> list[ToolCall]:
    """The call with the arguments that the caller approved; an empty list if they change nothing."""
    if not toolbox.can_run(call.name):
        known = toolbox.get(call.name) is not None
        why = (
            "it has no function here: give an Answer, or a Deny" if known else "there is no such tool in this run: give it again"
        )
        raise CallerError(f"answers: {call.id!r} cannot be approved, for it calls {call.name!r}; {why}")
    if answer.arguments is None:
        return []
    decided = changed_call(call, updated(call, {"arguments": copied(answer.arguments), "complete": True}), toolbox, strictness)
    if misfit := summary(decided.problems) or _signature_problem(toolbox.get(call.name), decided.call):
        raise CallerError(f"answers: the arguments given for {call.id!r} ({call.name}) do not fit its tool: {misfit}")
    return [decided.call] if decided.changed else []
