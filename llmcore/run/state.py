"""A run while it goes on: the growing history, what was spent, and the result as far as it has come."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from llmcore.fallback import Ledger
from llmcore.run.agreeing import answered, told_anew, without_values
from llmcore.run.copies import mended, recorded
from llmcore.run.enclosing import EnclosingRun
from llmcore.run.history import assistant_message, fit_call, ids_in, in_call_order, open_calls, results_message, with_unique_ids
from llmcore.run.interjections import interjected, left_waiting
from llmcore.run.observing import Watch
from llmcore.run.result import RepairRecord, RunResult, ToolFailure, ToolRecord
from llmcore.run.sending import RefusedRequests
from llmcore.run.settings import RunSettings
from llmcore.run.validating import with_types_code
from llmcore.run.verdict import cut_shown
from llmcore.tools import RunContext
from llmcore.tools.copies import MessageCopies
from llmcore.tools.execution import Outcome
from llmcore.tools.results import UnwritableResult, written
from llmcore.types import (
    Budget,
    Envelope,
    Message,
    Repair,
    Request,
    TerminateLoop,
    TextBlock,
    ToolCall,
    ToolResultBlock,
    ToolUseBlock,
)
from llmcore.types.copies import copied, made, updated
from llmcore.types.json_data import encodable

__all__ = ["RunState"]


class RunState:
    """Mutable, of one run and one task. `messages` grows; nobody outside holds a part of it while the run goes on: what
    enters is copied (and made encodable), what leaves is a copy, so that nothing recorded changes later."""

    def __init__(self, settings: RunSettings, budget: Budget, watch: Watch) -> None:
        self.settings = settings
        self.ledger = Ledger(budget, parent=None if settings.place is None else settings.place.ledger)
        self.runs: list[RunResult] = []
        """Those made within this one."""
        self._as_enclosing = EnclosingRun(self.ledger, self.runs.append)
        self.refused = RefusedRequests()
        self.messages: list[Message] = list(settings.request.messages)
        self.envelope = made(Envelope)
        self.output: Any = None
        self.has_output = False
        """Is `output` a value of the type that was asked for? It may be None."""
        self.degraded = False
        self.pending: list[ToolCall] = []
        self.tool_turns = 0
        self.unknown_told = Counter[str]()
        """How many times each name of a tool that does not exist was answered as unknown."""
        self.tool_results: list[ToolRecord] = []
        self.repairs: list[RepairRecord] = []
        self._ids = ids_in(self.messages)
        self._given = len(self.messages)
        self.watch = watch
        self._started_at, self._started = datetime.now(UTC), time.monotonic()
        self._best_text = ""
        self._silent: set[int] = set()
        """The numbers of the requests that were answered by nothing."""
        self._judged: dict[str, ToolCall] = {}
        """The calls of the last turn as its report has them, by their ids in the history."""

    def request(self) -> Request:
        """The next request: the run's with the history so far. A forced tool choice holds until tools have run."""
        changes: dict[str, Any] = {"messages": copied(self.messages)}
        if self.tool_turns and self.settings.request.tool_choice != "none":
            changes["tool_choice"] = "auto"
        return self.settings.request.model_copy(update=changes)

    async def take_interjections(self) -> list[Message]:
        """Enter what was added to the run; returns it as it stands in the history."""
        source = self.settings.interjections
        added = await interjected(source, self.context(), self.ledger.seconds_left) if source is not None else []
        return [self._enter(message) for message in added]

    def context(self) -> RunContext[Any]:
        """What tools and the caller's functions may know of the run, as it stands now."""
        return RunContext(self.settings.deps, self.ledger.usage, MessageCopies(self.messages)).of(self._as_enclosing)

    def note_silence(self) -> None:
        """The reply to the last request says nothing."""
        self._silent.add(self.ledger.attempts[-1].n)

    def note(self, envelope: Envelope) -> None:
        """A reply came: it is the last one, and its text may have to stand in for an answer, if it is not a part of one."""
        self.envelope = envelope
        if not envelope.truncated:
            self._best_text = envelope.content.strip() or self._best_text

    def add_reply(self, envelope: Envelope, calls: Sequence[ToolCall], final: ToolCall | None) -> list[ToolCall]:
        """Enter an accepted reply. Returns its calls as they stand in the history, the one of the output tool (closed
        at once) left out."""
        before = [*calls, *([final] if final else [])]
        unique = [fit_call(call) for call in with_unique_ids(before, self._ids)]
        message = assistant_message(envelope, before, unique)
        runnable = unique[: len(calls)]
        self.envelope = updated(cut_shown(envelope), {"tool_calls": runnable})
        entered = self._enter(message).content if message is not None else []
        self.envelope.attach(envelope.source, envelope.segments, entered)
        if final is not None and not calls:
            self.add_results([_taken(unique[-1])])
        self._judged = {call.id: made for call, made in zip(unique, before, strict=True)}
        for call in unique:
            self.note_repairs("call", call.repairs, call.id)
        return runnable

    def note_repairs(self, of: Literal["call", "output", "reply"], repairs: Sequence[Repair], call_id: str | None = None) -> None:
        """Enter what was repaired of the reply to the last request, which is accepted."""
        n = self.ledger.attempts[-1].n if self.ledger.attempts else 0
        made = [RepairRecord(attempt=n, of=of, call_id=call_id, repair=repair) for repair in repairs]
        self.repairs += made
        for record in made:
            self.watch.tell("repaired", record)

    def note_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Enter what became of this turn's calls."""
        self.tool_results += map(self.record, outcomes)

    def record(self, outcome: Outcome) -> ToolRecord:
        """What became of a call of this turn, as the result tells it."""
        call, error = outcome.call, outcome.error
        exception = "" if outcome.raised is None else type(outcome.raised).__name__
        return ToolRecord(
            id=call.id,
            name=call.name,
            arguments=copied(call.arguments),
            value=copied(outcome.value),
            content=outcome.text,
            error=None if error is None else ToolFailure(type=error.type, message=error.message, exception=exception),
            duration=outcome.duration,
            retries=outcome.retries,
            turn=self.tool_turns,
            ran=outcome.ran,
            summary=outcome.summary,
        )

    def add_results(self, blocks: Sequence[ToolResultBlock]) -> Message:
        """Enter the results of calls of the last turn, each under the name its call has in the history."""
        names = {use.id: use.name for use in open_calls(self.messages)}
        named = [updated(block, {"name": names.get(block.tool_use_id, block.name)}) for block in blocks]
        return self._enter(results_message(in_call_order(self.messages, named)))

    def replace_call(self, call: ToolCall) -> None:
        """Let this call stand in the place of the one with its id: in the last turn, the last reply and its report."""
        at = max(index for index, message in enumerate(self.messages) if message.role == "assistant")
        block = ToolUseBlock(id=call.id, name=call.name, input=copied(call.arguments), raw_input=call.raw_arguments)
        content = [block if isinstance(old, ToolUseBlock) and old.id == call.id else old for old in self.messages[at].content]
        self.messages[at] = Message(role="assistant", content=content)
        calls = [call if old.id == call.id else old for old in self.envelope.tool_calls]
        self.envelope = told_anew(self.envelope, calls, content)
        attempt, made = self.ledger.attempts[-1], self._judged.pop(call.id)
        judged = [updated(call, {"id": made.id}) if old is made else old for old in attempt.report.calls]
        self.ledger.finish(attempt, report=updated(attempt.report, {"calls": judged}))
        self.repairs = [_unsaid(record, attempt.n) for record in self.repairs if record.call_id != call.id]
        self.note_repairs("call", call.repairs, call.id)

    def replace_results(self, message: Message, outcomes: Sequence[Outcome], max_chars: int) -> list[Outcome]:
        """Let this message of results stand in the place of the last one. Returns the outcomes as it tells them."""
        before = {block.tool_use_id: block for block in self.messages[-1].tool_results}
        after = {block.tool_use_id: block for block in message.tool_results}
        self.messages[-1] = message
        told = [
            one if after[one.call.id] == before[one.call.id] else answered(one, after[one.call.id], max_chars) for one in outcomes
        ]
        del self.tool_results[len(self.tool_results) - len(told) :]
        self.note_outcomes(told)
        return told

    def _enter(self, message: Message) -> Message:
        """The one way into the history."""
        entered, found = mended(message)
        if found:
            self.envelope = updated(self.envelope, {"repairs": [*self.envelope.repairs, *recorded(found)]})
        self.messages.append(entered)
        return entered

    def add_user(self, text: str) -> None:
        self._enter(Message(role="user", content=[TextBlock(text=text)]))

    def close_open_calls(self, reason: str) -> None:
        """Give each open call of this run the one result it lacks, so that the history stays valid. What the given history left
        open stays so: behind a later message no result may stand."""
        waiting = {call.id for call in self.pending}
        left = [use for use in open_calls(self.messages[self._given :]) if use.id not in waiting]
        if not left:
            return
        blocks = [
            ToolResultBlock(tool_use_id=use.id, name=use.name, content=[TextBlock(text=reason)], is_error=True) for use in left
        ]
        last = self.messages[-1]
        if last.role == "tool":
            others = [block for block in last.content if not isinstance(block, ToolResultBlock)]
            results = in_call_order(self.messages, [*last.tool_results, *blocks])
            self.messages[-1] = Message(role="tool", content=[*results, *others])
        else:
            self.add_results(blocks)

    def take_output(self, value: Any) -> None:
        """The run is over; `value` is the typed output, if one was asked for."""
        self.output = value
        self.has_output = self.settings.output is not None

    async def end(self, ended: TerminateLoop) -> None:
        """A tool or hook ended the run: its value is the final content, and the output if it is of the type asked for.

        Raises `Timeout` when the deadline passes while the type's own code looks at it.
        """
        asked = self.settings.output
        try:
            text, is_written = encodable(written(ended.value) if ended.text is None else ended.text), True
        except UnwritableResult as error:
            text, is_written = f"({error})", False
        value = copied(ended.value)
        fit = None
        if asked is not None and is_written:
            fit = await with_types_code(asked, self.ledger.seconds_left, lambda: asked.fitting(value))
        if fit is not None:
            self.take_output(fit[0])
        elif asked is None:
            self.output = value
        if value is None:
            return
        self.envelope = Envelope(content=text).attach(text, (), [TextBlock(text=text)])
        self._enter(Message(role="assistant", content=[TextBlock(text=text)]))

    def degrade(self) -> bool:
        """Every strategy failed: let the best text stand in for an answer. False when no attempt gave any.

        Where tools ran and every reply of the last turn is empty, the model has nothing to add: the run ends in silence. What the
        tools did is done, and no error shall make anybody do it again.
        """
        if self._is_silenced():
            self.degraded = True
            return True
        if not self._best_text:
            return False
        self.degraded = True
        text = self._best_text
        self.envelope = Envelope(content=text, finish_reason=self.envelope.finish_reason).attach(text, (), [TextBlock(text=text)])
        self._enter(Message(role="assistant", content=[TextBlock(text=text)]))
        return True

    def _is_silenced(self) -> bool:
        asked = {attempt.n for attempt in self.ledger.of_turn}
        return bool(asked) and asked <= self._silent and any(record.ran for record in self.tool_results)

    def result(self) -> RunResult:
        """The run as it stands. Asked for when it is over: the caller is given the history itself."""
        return made(
            RunResult,
            envelope=self.envelope,
            messages=[*self.messages],
            usage=self.ledger.usage,
            attempts=[*self.ledger.attempts],
            degraded=self.degraded,
            pending=[*self.pending],
            output=self.output,
            has_output=self.has_output,
            output_asked=self.settings.output is not None,
            id=self.watch.run.id,
            started_at=self._started_at,
            duration=time.monotonic() - self._started,
            tool_results=[*self.tool_results],
            repairs=[*self.repairs],
            given_messages=self._given,
            not_entered=left_waiting(self.settings.interjections),
            runs=self.runs,
        )


def _unsaid(record: RepairRecord, n: int) -> RepairRecord:
    """A repair of the reply to request `n`, whose calls are not as the model made them any more: without what it said."""
    told = record.of == "reply" and record.attempt == n
    return updated(record, {"repair": without_values([record.repair])[0]}) if told else record


def _taken(call: ToolCall) -> ToolResultBlock:
    outcome = Outcome(call, [TextBlock(text="The final result was taken.")])
    return outcome.block()
