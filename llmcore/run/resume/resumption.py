"""How a given history enters a run: repaired where it is broken, and with the turn that it left open, if the run goes on there.

Rules
- A result that is given goes on where it ended: its open calls are settled first, by what it tells of them and by the caller's
  `answers`; what was said behind it enters then.
- So does a list of messages that comes with `answers`; it tells nothing of its open calls, so those without an answer wait.
- In any other history an open call gets a result that says that there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llmcore.adapters.request.history import last_open_turn, repaired_history
from llmcore.run.results.history import ids_in, open_calls
from llmcore.run.results.open_calls import OpenCall, id_within
from llmcore.run.results.openai_history import check_results_answer_calls
from llmcore.run.results.result import RepairRecord, RunResult, ToolRecord
from llmcore.run.resume.answers import Answers, check_answered
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

__all__ = ["Entered", "Resumed", "entered"]

_UNTOLD = "the history does not tell whether it was carried out"


@dataclass(frozen=True, slots=True)
class Resumed:
    """A turn that is not over. So many of the request's messages, `head`, belong to it and to what was before; those behind it
    enter when it is settled. `calls` have no result; `stages` is what is told of some of them, and `answers` what the caller
    says. `carried`: outcomes that were saved in the midst of the turn. `envelope`: the reply that made the calls. `goes_on`:
    that made none and was no answer. `within`: by the ids of calls, the runs within them that wait. `used_tools`: the run that
    was saved in the midst had used its tools. `not_entered`: messages that were added to it. `saved`: the result itself."""

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
class Entered:
    """The messages as the run has them, what was repaired of them, and the turn that is not over, if there is one."""

    messages: Sequence[Message]
    repairs: list[RepairRecord] = field(default_factory=list[RepairRecord])
    resumed: Resumed | None = None


def entered(
    messages: Sequence[Message],
    *,
    history: int,
    saved: RunResult[Any] | None,
    answers: Answers | None,
    system: str,
    key: SigningKey | None,
) -> Entered:
    """`history`: so many of the messages were given as what came before. `saved`: the result that they are of, if they are.
    Raises `CallerError` for an answer to a call that does not wait, and for a result behind the history that answers none."""
    if saved is None and answers is None and len(messages) == 1 and _is_words(messages[0]):
        return Entered(messages)
    if history:
        check_results_answer_calls(messages, start=history)
    resumes = saved is not None or answers is not None
    mended, found = repaired_history(messages, open_end=resumes, systems=[system] if system else ())
    repairs = [RepairRecord(attempt=0, of="history", repair=one) for one in found]
    resumed = _resumed(mended, saved, answers or {}) if resumes else None
    if resumed is not None and saved is not None:
        check_seal(saved, key)
        known = ids_in(mended)  # calls that were dropped stand in no history
        last = max([record.turn for record in saved.tool_results], default=0)
        dropped = [one for one in saved.tool_results if one.id not in known and one.turn == last and not saved.ended]
        used_tools = not saved.ended and any(record.id in known for record in saved.tool_results)
        resumed = replace(resumed, used_tools=used_tools, dropped=copied(dropped), not_entered=copied(saved.not_entered))
        resumed = replace(resumed, saved=saved)
    return Entered(mended, repairs, resumed)


def _is_words(message: Message) -> bool:
    """Are they words of the user and nothing else, in which there is nothing to repair?"""
    return message.role == "user" and all(block.__class__ is TextBlock for block in message.content)


def _resumed(messages: Sequence[Message], saved: RunResult[Any] | None, answers: Answers) -> Resumed | None:
    is_midway = saved is not None and not saved.ended
    at = last_open_turn(messages)
    if at is None:
        check_answered(answers, {})
        goes_on = is_midway and bool(messages) and messages[-1].role == "assistant"
        envelope = saved.envelope if saved is not None else None
        return Resumed(len(messages), [], {}, {}, [], envelope, goes_on=True) if goes_on else None
    results = messages[at + 1].tool_results if at + 1 < len(messages) else []
    uses = open_calls(messages[: at + 2])
    if not uses and not is_midway:
        check_answered(answers, {})
        return None
    waiting = {call.id: call.name for call in saved.open_calls if call.waits} if saved is not None else {}
    check_answered(answers, {use.id: use.name for use in uses} | waiting)
    known = {call.id: call for call in saved.pending} if saved is not None else {}
    within = _within(saved) if saved is not None else {}
    if saved is not None:
        _check_shown(saved, uses, within)
    return Resumed(
        head=at + 1 + bool(results),
        calls=[known.get(use.id) or _call(use) for use in uses],
        stages=_stages(uses, saved, answers),
        answers=answers,
        carried=_carried(results, saved.tool_results) if saved is not None and is_midway else [],
        envelope=saved.envelope if saved is not None else None,
        within=within,
    )


def _within(saved: RunResult[Any]) -> dict[str, RunResult[Any]]:
    """The last run of each call whose own calls wait, or that was saved in its midst. Raises `CallerError` where one is lost."""
    runs = {run.parent_call: run for run in saved.runs if run.pending or not run.ended}
    wanted = [call.id for call in saved.open_calls if call.stage == "within"]
    if lost := [call_id for call_id in wanted if call_id not in runs]:
        raise CallerError(f"the saved result has no run within {lost[0]!r} among its `runs`, whose calls wait: save it whole")
    return {call_id: runs[call_id] for call_id in wanted}


def _check_shown(saved: RunResult[Any], uses: Sequence[ToolUseBlock], within: Mapping[str, RunResult[Any]]) -> None:
    """Raises `CallerError` where a call that is shown as open is not the one that the history holds, and that would run: whoever
    approves the one must not set off the other."""
    held: dict[str, Any] = {use.id: (use.name, use.input) for use in uses}
    held |= {id_within(at, call.id): (call.name, call.arguments) for at, run in within.items() for call in run.pending}
    shown_open: list[ToolCall | OpenCall] = [*saved.pending, *saved.open_calls]
    for shown in shown_open:
        if shown.id in held and _plain((shown.name, shown.arguments)) != _plain(held[shown.id]):
            raise CallerError(
                f"the result shows its call {shown.id!r} ({shown.name}) with other arguments than its history holds: one was "
                "changed; give other arguments by Approve(arguments={...})"
            )


def _plain(call: tuple[str, Any]) -> str:
    return json.dumps(call, sort_keys=True, default=str)


def _stages(uses: Sequence[ToolUseBlock], saved: RunResult[Any] | None, answers: Answers) -> dict[str, OpenCall]:
    if saved is None:
        return {use.id: OpenCall.of(_call(use), "approval", reason=_UNTOLD) for use in uses if use.id not in answers}
    told = {call.id: OpenCall.of(call, "elsewhere") for call in saved.pending}
    return told | {call.id: call for call in saved.open_calls}


def _call(use: ToolUseBlock) -> ToolCall:
    raw = use.raw_input if use.input is None else as_json(use.input)
    return ToolCall(id=use.id, name=use.name, arguments=copied(use.input), raw_arguments=raw)


def _carried(results: Sequence[ToolResultBlock], records: Sequence[ToolRecord]) -> list[Outcome]:
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
