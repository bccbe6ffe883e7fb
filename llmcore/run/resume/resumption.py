"""How a given history enters a run: repaired if it is broken, with its open turn if the run resumes it.

- If a result is given, the run resumes it. Its open calls are resolved first, by their saved stages and the caller's `answers`.
  Then the messages behind them enter.
- If messages come with `answers`, the same holds. They have no saved stages, so calls without an answer wait.
- In any other history, an open call gets a result that says that there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llmcore.adapters.request.conversation.history import last_open_turn, repaired_history
from llmcore.run.results.history import ids_in, open_calls
from llmcore.run.results.open_calls import OpenCall, id_within
from llmcore.run.results.openai_history import check_results_answer_calls
from llmcore.run.results.result import RepairRecord, RunResult, ToolRecord
from llmcore.run.resume.answers import Answers, check_answers
from llmcore.run.resume.seals import SigningKey, check_seal
from llmcore.support.values.copies import copied
from llmcore.support.values.json_data import as_json
from llmcore.tools.results.outcome import Outcome
from llmcore.types import (
    CallerError,
    Envelope,
    Message,
    TerminateLoop,
    TextBlock,
    ToolCall,
    ToolError,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["GivenHistory", "Resumed", "enter_history"]

_NOT_RECORDED = "the history does not tell whether it was carried out"


@dataclass(frozen=True, slots=True)
class Resumed:
    """A turn that is not over.

    - `head`: how many of the request's messages belong to the turn and to those before it. The rest enters when the turn is over.
    - `calls`: the calls without a result.
    - `stages`: the saved stages of those calls, by id.
    - `answers`: the caller's answers.
    - `carried`: the outcomes that were saved while the turn was running.
    - `envelope`: the reply that made the calls.
    - `goes_on`: that reply made no calls and was no answer.
    - `within`: the runs that wait within calls, by call id.
    - `used_tools`: whether the saved run had used its tools.
    - `not_entered`: interjections that had not entered.
    - `dropped`: records of calls that never entered the history.
    - `saved`: the result itself.
    """

    head: int
    calls: list[ToolCall]
    stages: Mapping[str, OpenCall]
    answers: Answers
    carried: list[Outcome]
    envelope: Envelope | None = None
    goes_on: bool = False
    within: Mapping[str, RunResult[Any]] = field(default_factory=dict[str, RunResult[Any]])
    used_tools: bool = False
    not_entered: Sequence[Message] = ()
    dropped: Sequence[ToolRecord] = ()
    saved: RunResult[Any] | None = None


@dataclass(slots=True)
class GivenHistory:
    """The messages as the run uses them, their repairs, and the open turn, if there is one."""

    messages: Sequence[Message]
    repairs: list[RepairRecord] = field(default_factory=list[RepairRecord])
    resumed: Resumed | None = None


def enter_history(
    messages: Sequence[Message],
    *,
    history: int,
    saved: RunResult[Any] | None,
    answers: Answers | None,
    system: str,
    key: SigningKey | None,
) -> GivenHistory:
    """Check and repair the given messages. `history`: how many of them are earlier history. `saved`: the result that they are
    from.

    Raises `CallerError` for an answer to a call that does not wait, and for a result in the request that answers no call.
    """
    if saved is None and answers is None and len(messages) == 1 and _is_plain_text(messages[0]):
        return GivenHistory(messages)
    if history:
        check_results_answer_calls(messages, start=history)
    resumes = saved is not None or answers is not None
    mended, found = repaired_history(messages, open_end=resumes, systems=[system] if system else ())
    repairs = [RepairRecord(attempt=0, of="history", repair=one) for one in found]
    resumed = _resumed(mended, saved, answers or {}) if resumes else None
    if resumed is not None and saved is not None:
        check_seal(saved, key)
        known = ids_in(mended)  # dropped calls are in no history
        last = max([record.turn for record in saved.tool_results], default=0)
        dropped = [one for one in saved.tool_results if one.id not in known and one.turn == last and not saved.ended]
        used_tools = not saved.ended and any(record.id in known for record in saved.tool_results)
        resumed = replace(resumed, used_tools=used_tools, dropped=copied(dropped), not_entered=copied(saved.not_entered))
        resumed = replace(resumed, saved=saved)
    return GivenHistory(mended, repairs, resumed)


def _is_plain_text(message: Message) -> bool:
    """Whether the message is text of the user alone, which needs no repair."""
    return message.role == "user" and all(block.__class__ is TextBlock for block in message.content)


def _resumed(messages: Sequence[Message], saved: RunResult[Any] | None, answers: Answers) -> Resumed | None:
    is_midway = saved is not None and not saved.ended
    at = last_open_turn(messages)
    if at is None:
        check_answers(answers, {})
        goes_on = is_midway and bool(messages) and messages[-1].role == "assistant"
        envelope = saved.envelope if saved is not None else None
        return Resumed(len(messages), [], {}, {}, [], envelope, goes_on=True) if goes_on else None
    results = messages[at + 1].tool_results if at + 1 < len(messages) else []
    uses = open_calls(messages[: at + 2])
    if not uses and not is_midway:
        check_answers(answers, {})
        return None
    waiting = {call.id: call.name for call in saved.open_calls if call.waits} if saved is not None else {}
    check_answers(answers, {use.id: use.name for use in uses} | waiting)
    known = {call.id: call for call in saved.pending} if saved is not None else {}
    within = _waiting_child_runs(saved) if saved is not None else {}
    if saved is not None:
        _check_shown(saved, uses, within)
    return Resumed(
        head=at + 1 + bool(results),
        calls=[known.get(use.id) or _call(use) for use in uses],
        stages=_stages(uses, saved, answers),
        answers=answers,
        carried=_saved_outcomes(results, saved.tool_results) if saved is not None and is_midway else [],
        envelope=saved.envelope if saved is not None else None,
        within=within,
    )


def _waiting_child_runs(saved: RunResult[Any]) -> dict[str, RunResult[Any]]:
    """The last child run of each call within which calls wait, or that was saved while it ran. Raises `CallerError` if one is
    missing."""
    runs = {run.parent_call: run for run in saved.runs if run.pending or not run.ended}
    wanted = [call.id for call in saved.open_calls if call.stage == "within"]
    if lost := [call_id for call_id in wanted if call_id not in runs]:
        raise CallerError(f"the saved result has no run within {lost[0]!r} among its `runs`, whose calls wait: save it whole")
    return {call_id: runs[call_id] for call_id in wanted}


def _check_shown(saved: RunResult[Any], uses: Sequence[ToolUseBlock], within: Mapping[str, RunResult[Any]]) -> None:
    """Raises `CallerError` if a call that the result shows as open differs from the one in its history. The caller must approve
    what runs."""
    by_id: dict[str, Any] = {use.id: (use.name, use.input) for use in uses}
    by_id |= {id_within(at, call.id): (call.name, call.arguments) for at, run in within.items() for call in run.pending}
    shown_open: list[ToolCall | OpenCall] = [*saved.pending, *saved.open_calls]
    for shown in shown_open:
        if shown.id in by_id and _comparable((shown.name, shown.arguments)) != _comparable(by_id[shown.id]):
            raise CallerError(
                f"the result shows its call {shown.id!r} ({shown.name}) with other arguments than its history holds: one was "
                "changed; give other arguments by Approve(arguments={...})"
            )


def _comparable(call: tuple[str, Any]) -> str:
    return json.dumps(call, sort_keys=True, default=str)


def _stages(uses: Sequence[ToolUseBlock], saved: RunResult[Any] | None, answers: Answers) -> dict[str, OpenCall]:
    if saved is None:
        return {use.id: OpenCall.of(_call(use), "approval", reason=_NOT_RECORDED) for use in uses if use.id not in answers}
    stages = {call.id: OpenCall.of(call, "elsewhere") for call in saved.pending}
    return stages | {call.id: call for call in saved.open_calls}


def _call(use: ToolUseBlock) -> ToolCall:
    raw = use.raw_input if use.input is None else as_json(use.input)
    return ToolCall(id=use.id, name=use.name, arguments=copied(use.input), raw_arguments=raw)


def _saved_outcomes(results: Sequence[ToolResultBlock], records: Sequence[ToolRecord]) -> list[Outcome]:
    """The outcomes of the calls that had ended when the turn was saved."""
    by_id = {record.id: record for record in records}
    return [_outcome(result, by_id[result.tool_use_id]) for result in results if result.tool_use_id in by_id]


def _outcome(result: ToolResultBlock, record: ToolRecord) -> Outcome:
    failure = record.error
    error: ToolError | None = None
    if failure is not None:
        kind: Any = failure.type
        error = ToolError(failure.message, tool_name=record.name, tool_id=record.id, type=kind, details=copied(failure.details))
    ended = TerminateLoop(record.value) if record.ended else None
    return Outcome(
        ToolCall(id=record.id, name=record.name, arguments=copied(record.arguments)),
        list(result.content),
        copied(record.value),
        error,
        record.duration,
        record.retries,
        ended,
        record.ran,
        record.summary,
    )
