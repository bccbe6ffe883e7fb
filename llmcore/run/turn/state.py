"""A run while it goes on: the growing history, what was spent, and the result as far as it has come."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from llmcore.adapters.base import Adapter
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.fallback import Ledger
from llmcore.run.asking.sending import RefusedRequests
from llmcore.run.hooks.hook_edits import answered, rebuilt_envelope, without_values
from llmcore.run.observing.dispatch import Watchers
from llmcore.run.observing.recording import Recording
from llmcore.run.output.validation import with_types_code
from llmcore.run.results.boundary_copies import is_fit, mended, recorded
from llmcore.run.results.history import (
    assistant_message,
    fit_call,
    ids_in,
    in_call_order,
    last_calls,
    open_calls,
    with_call,
    with_unique_ids,
)
from llmcore.run.results.open_calls import OpenCall, id_within
from llmcore.run.results.result import RepairRecord, RunResult, ToolFailure, ToolRecord
from llmcore.run.resume.resumption import Resumed
from llmcore.run.resume.seals import signed_result
from llmcore.run.setup.interjections import interjected, left_waiting, not_waiting
from llmcore.run.setup.settings import RunSettings
from llmcore.run.turn.calls_left_out import left_out_of, note_on_left_out
from llmcore.run.turn.child_runs import ChildRuns
from llmcore.run.turn.reply_checks import cut_shown
from llmcore.run.turn.resumed_calls import ResumedCalls
from llmcore.support.values.copies import copied, made, updated
from llmcore.support.values.json_data import encodable
from llmcore.tools import RunContext
from llmcore.tools.context import MessageCopies
from llmcore.tools.results.outcome import Outcome, synthetic
from llmcore.tools.results.rendering import UnwritableResult, to_text
from llmcore.types import (
    Block,
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
from llmcore.validator import CorrectionLoop
from llmcore.validator.correction.turns import DroppedCall

__all__ = ["GO_ON", "RunState"]

GO_ON = "Go on."
_NOT_TAKEN = "It was not taken: a call beside it failed or did not run. Look at its result, and give the final result again."
_WENT_ON = "No result: the conversation went on before anybody answered this call. It was not run."


class RunState:
    """Mutable, of one run and one task. `messages` grows; nobody outside holds a part of it while the run goes on: what
    enters is copied (and made encodable), what leaves is a copy, so that nothing recorded changes later."""

    def __init__(self, settings: RunSettings, watch: Watchers, recordings: Sequence[Recording] = ()) -> None:
        self.settings = settings
        self.ledger = Ledger(settings.budget, parent=None if settings.place is None else settings.place.ledger)
        self.refused = RefusedRequests()
        resumed = settings.resumed
        self.inner = ChildRuns(self.ledger, {} if resumed is None else resumed.within)
        given = settings.request.messages
        self.messages: list[Message] = list(given if resumed is None else given[: resumed.head])
        self._copied: list[Message] = []
        self._sent: list[Message] = []
        """The messages that requests hold, and their copies there."""
        self._altered: Request | None = None
        """What a strategy put in the place of the run's request, for the messages up to `_altered_at`."""
        self._altered_at = 0
        self._later = [] if resumed is None else list(given[resumed.head :])
        """What was said behind a turn that is not over."""
        self._envelope: Envelope | None = None if resumed is None else resumed.envelope
        self.output: Any = None
        self.has_output = False
        """Is `output` a value of the type that was asked for? It may be None."""
        self.degraded = False
        self.ended = False
        self.saved_as = ""
        """The key of the last checkpoint in a store."""
        self.tool_turns = 0
        self._used_tools = resumed is not None and resumed.used_tools
        self.unknown_told: defaultdict[str, int] = defaultdict(int)
        """How many times each name of a tool that does not exist was answered as unknown."""
        self.tool_results: list[ToolRecord] = [] if resumed is None else [*resumed.dropped]
        self._ids_not_run = {record.id for record in self.tool_results}
        self._correcting: CorrectionLoop | None = None
        """Of the reply that is judged, until it is accepted or given up."""
        self._all_known = True
        """Does the model know of each call of the last reply that was dropped?"""
        self.repairs: list[RepairRecord] = list(settings.repairs)
        self.done: dict[str, Outcome] = {}
        """What became of the calls of this turn so far."""
        self._open: dict[str, Callable[[], OpenCall]] = {}
        """How each call that is open stands, told when it is asked for."""
        self._held: dict[str, ToolCall] = {}
        self._answers: Mapping[str, Literal["approve", "deny", "answer"]] = {}
        self.approved: Set[str] = frozenset()
        self._not_entered = [] if resumed is None else not_waiting(resumed.not_entered, settings.interjections)
        self._ids = ids_in(given)
        self._given = len(self.messages)
        self.watch = watch
        self.recordings = recordings
        self.final: ToolCall | None = None
        """The last reply's call of the output tool, if its value was accepted."""
        self._settled: list[Block] = []
        """What stood behind the turn that is not over: it has passed the hooks."""
        if resumed is not None:
            self._take_up(resumed)
        self._started_at, self._started = datetime.now(UTC), time.monotonic()
        self._best_text = ""
        self._silent: set[int] = set()
        """The numbers of the requests that were answered by nothing."""
        self._judged: dict[str, ToolCall] = {}
        """The calls of the last turn as its report has them, by their ids in the history."""

    def _take_up(self, resumed: Resumed) -> None:
        """Stand where an earlier run stopped."""
        if self.messages and self.messages[-1].tool_results:
            self._given -= 1
            carried = {outcome.call.id for outcome in resumed.carried}
            content = self.messages[-1].content
            self._settled = [b for b in content if not isinstance(b, ToolResultBlock) or b.tool_use_id not in carried]
        self.done = {outcome.call.id: outcome for outcome in resumed.carried}
        for call in resumed.calls:
            stage = resumed.stages.get(call.id)
            if stage is not None and stage.waits:
                self.hold(call, stage)

    def enter_resumed(self, settled: ResumedCalls) -> None:
        """Take what is to become of the calls that were open: how the run goes on."""
        for call in settled.changed:
            self.replace_call(call)
        self._answers, self.approved = settled.answers, settled.approved
        self.inner.go_on(settled.within)
        held = {
            call_id: call
            for call_id, call in self._held.items()
            if call_id in settled.within or isinstance(settled.fates.get(call_id), OpenCall)
        }
        fates = {call_id: settled.fates.get(call_id) for call_id in held}
        self._open = {
            call_id: partial(copied, fate) if isinstance(fate, OpenCall) else self._open[call_id]
            for call_id, fate in fates.items()
        }
        self._held = held
        for use in open_calls(self.messages):
            if use.id in self.approved and use.id not in held:
                was_approved = self._answers.get(use.id) == "approve"
                ready = OpenCall(id=use.id, name=use.name, arguments=copied(use.input), stage="ready", approved=was_approved)
                self._open[use.id] = partial(copied, ready)

    def hold(self, call: ToolCall, waiting: OpenCall) -> None:
        """The call waits for the caller."""
        self._open[call.id], self._held[call.id] = partial(copied, waiting), call

    def hold_within(self, call: ToolCall) -> None:
        """Calls of the run within this one wait for the caller."""
        self.inner.hold(call.id)
        self.hold(call, OpenCall.of(call, "within"))

    def begin(self, call: ToolCall) -> None:
        """The call's tool is about to be started."""
        self._held.pop(call.id, None)
        approved = self._answers.get(call.id) == "approve"
        self._open[call.id] = partial(OpenCall.of, call, "started", approved=approved)
        self.inner.begin(call.id)

    @property
    def pending(self) -> list[ToolCall]:
        """The calls that wait for the caller, in call order; of a run within a call those of that run."""
        if not self._held:
            return []
        waiting = [use.id for use in open_calls(self.messages) if use.id in self._held and use.id not in self.done]
        return [one for call_id in waiting for one in self._waiting(call_id)]

    def _waiting_here(self) -> list[ToolCall]:
        """The calls that wait for the caller, and of which nothing was done."""
        held = [(use.id, self._open[use.id]()) for use in open_calls(self.messages) if use.id in self._held]
        return [self._held[call_id] for call_id, told in held if told.stage != "within"]

    def _waiting(self, call_id: str) -> list[ToolCall]:
        if self._open[call_id]().stage != "within":
            return [self._held[call_id]]
        return [updated(one, {"id": id_within(call_id, one.id)}) for one in self.inner.waiting(call_id).pending]

    def _open_calls_of(self, call_id: str) -> list[OpenCall]:
        """The open call, and behind it those that wait within it."""
        told = self._open[call_id]()
        run = self.inner.waiting(call_id) if told.stage == "within" else None
        if told.stage == "started" and (run := self.inner.under_way(call_id)) is not None:
            told = updated(told, {"stage": "within"})
        inner = run.open_calls if run is not None else []
        waiting = [one for one in inner if one.waits and one.stage != "within"]
        return [told, *(updated(one, {"id": id_within(call_id, one.id)}) for one in waiting)]

    @property
    def envelope(self) -> Envelope:
        """The last reply, or what stands in its place; an empty one before there is any."""
        if self._envelope is None:
            self._envelope = made(Envelope)
        return self._envelope

    @envelope.setter
    def envelope(self, envelope: Envelope) -> None:
        self._envelope = envelope

    def request(self) -> Request:
        """The next request: the run's with the history so far. A forced tool choice holds until tools have run."""
        asked, messages = self.settings.request, self._outgoing()
        if self._altered is not None:
            asked, messages = self._altered, [*self._altered.messages, *messages[self._altered_at :]]
        changes: dict[str, Any] = {"messages": messages}
        if self.has_used_tools and asked.tool_choice != "none":
            changes["tool_choice"] = "auto"
        return updated(asked, changes)

    def alter(self, request: Request) -> None:
        """Let this request stand in the place of the run's from now on. The history stays whole: what enters it later is added to
        the messages of this request."""
        self._altered, self._altered_at = request, len(self.messages)

    def _outgoing(self) -> list[Message]:
        """The history as requests hold it. Each message is copied once, for all requests of the run: so what an adapter or an
        observer keeps of them grows with the history, not with its square."""
        for index, message in enumerate(self.messages):
            if index == len(self._sent) or self._copied[index] is not message:
                self._copied[index : index + 1], self._sent[index : index + 1] = [message], [copied(message)]
        return self._sent[: len(self.messages)]

    @property
    def has_used_tools(self) -> bool:
        """Has a turn used tools, in this run or in the one that it goes on with?"""
        return self.tool_turns > 0 or self._used_tools

    async def take_interjections(self) -> list[Message]:
        """Enter what was added to the run, or to the one that it goes on with; returns it as it stands in the history."""
        source, added = self.settings.interjections, self._not_entered
        self._not_entered = []
        if source is not None:
            added += await interjected(source, self.context(), self.ledger.seconds_left)
        return [self._enter(message) for message in added]

    async def goes_on_by_interjections(self) -> bool:
        """The final message is there: ask a function for messages that let the run go on, and enter them. What is put into a box
        by then is for the next run."""
        source = self.settings.interjections
        if source is None:
            return False
        added = await interjected(source, self.context(), self.ledger.seconds_left, is_over=True)
        return len([self._enter(message) for message in added]) > 0

    def context(self) -> RunContext[Any]:
        """What tools and the caller's functions may know of the run, as it stands now."""
        return RunContext(self.settings.deps, self.ledger.usage, MessageCopies(self.messages)).in_run(self.inner.enclosing)

    def recorded(self, adapter: Adapter) -> Adapter:
        """The adapter, its requests recorded where this run is."""
        for recording in self.recordings:
            adapter = recording.adapter(self.watch.run.id, adapter)
        return adapter

    def note_silence(self) -> None:
        """The reply to the last request says nothing."""
        self._silent.add(self.ledger.attempts[-1].n)

    def note(self, envelope: Envelope) -> None:
        """A reply came: it is the last one, and its text may have to stand in for an answer, if it is not a part of one."""
        self.envelope = envelope
        if not envelope.truncated:
            self._best_text = envelope.content.strip() or self._best_text

    def add_reply(
        self,
        envelope: Envelope,
        calls: Sequence[ToolCall],
        final: ToolCall | None,
        came: Sequence[ToolCall] = (),
        dropped: Sequence[DroppedCall] = (),
    ) -> list[ToolCall]:
        """Enter an accepted reply. Returns its calls as they stand in the history, the one of the output tool (closed
        at once) left out. `came`: calls that can be encoded as they are; `dropped`: those that corrections left out of it."""
        for of_last_turn in (self.done, self._open, self._held):
            of_last_turn.clear()
        self._best_text = ""  # what was said before a call is no answer to what the call gave
        self._settled = []
        before = [*calls, *([final] if final else [])]
        fit = set(map(id, came))
        unique = [call if id(call) in fit else fit_call(call) for call in with_unique_ids(before, self._ids)]
        message = assistant_message(envelope, before, unique)
        runnable = unique[: len(calls)]
        self.envelope = updated(cut_shown(envelope), {"tool_calls": runnable})
        entered = [] if message is None else self._enter(message, looked_at=envelope.is_calls_alone).content
        self.envelope.attach(envelope.source, lambda: envelope.segments, entered)
        self.final = None if final is None else unique[-1]
        if self.final is not None and not calls:
            self.take_final(self.final)
        self._judged = {call.id: made for call, made in zip(unique, before, strict=True)}
        for call in unique:
            self.note_repairs("call", call.repairs, call.id)
        self._correcting = None
        self.note_dropped([*dropped, *left_out_of(envelope)])
        return runnable

    def close_final(self, final: ToolCall) -> bool:
        """Its value is the run's, if each call beside it went well; else the model is told that it has to give another one."""
        if self.went_well and self._all_known:
            self.take_final(final)
            return True
        self.add_results([synthetic(final, _NOT_TAKEN).block()])
        return False

    def take_final(self, final: ToolCall) -> None:
        """Close the call of the output tool, whose value is the run's."""
        self.add_results([_accepted(final)])

    @property
    def went_well(self) -> bool:
        """Did each call of the turn do what it was to do, also in the run that this one goes on with, and was nothing said behind
        it?"""
        if self._later or any(outcome.error is not None for outcome in self.done.values()):
            return False
        return not any(result.is_error for result in self.messages[-1].tool_results)

    def note_repairs(self, of: Literal["call", "output", "reply"], repairs: Sequence[Repair], call_id: str | None = None) -> None:
        """Enter what was repaired of the reply to the last request, which is accepted."""
        if not repairs:
            return
        n = self.ledger.attempts[-1].n if self.ledger.attempts else 0
        made = [RepairRecord(attempt=n, of=of, call_id=call_id, repair=repair) for repair in repairs]
        self.repairs += made
        for record in made:
            self.watch.tell("repaired", record)

    def judges(self, loop: CorrectionLoop) -> None:
        """A reply came, and is judged and corrected by this loop."""
        self._correcting, self._all_known = loop, True

    def give_up_reply(self) -> None:
        """The reply that was judged, if there is one, is not used: none of its calls runs."""
        loop, self._correcting = self._correcting, None
        if loop is not None:
            self.note_dropped([*loop.given_up, *left_out_of(loop.result.envelope)])

    def note_dropped(self, dropped: Sequence[DroppedCall]) -> None:
        """Enter calls that a reply made, and that never came into the history."""
        for one in dropped:
            if one.call.name == FINAL_RESULT and self.settings.output is not None:
                continue
            self._all_known = self._all_known and one.is_known
            call_id, number = f"{one.call.id or 'call'}_not_run", 1
            while call_id in self._ids_not_run or call_id in self._ids:
                number += 1
                call_id = f"{one.call.id or 'call'}_{number}_not_run"
            self._ids_not_run.add(call_id)
            failure, turn = ToolFailure(type=one.type, message=one.reason), self.tool_turns + 1
            arguments = copied(one.call.arguments)
            self.tool_results.append(
                made(ToolRecord, id=call_id, name=one.call.name, arguments=arguments, error=failure, turn=turn)
            )

    def note_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Enter what became of this turn's calls."""
        self.tool_results += map(self.record, outcomes)
        for outcome in outcomes:
            self.note_repairs("call", outcome.repairs, outcome.call.id)

    def record(self, outcome: Outcome) -> ToolRecord:
        """What became of a call of this turn, as the result tells it."""
        call, error = outcome.call, outcome.error
        exception = "" if outcome.raised is None else type(outcome.raised).__name__
        return made(
            ToolRecord,
            id=call.id,
            name=call.name,
            arguments=copied(call.arguments),
            value=copied(outcome.value),
            content=outcome.text,
            error=None if error is None else ToolFailure.of(error, exception),
            duration=outcome.duration,
            retries=outcome.retries,
            turn=max(1, self.tool_turns),
            ran=outcome.ran,
            summary=outcome.summary,
            answer=self._answers.get(call.id),
            ended=outcome.ended is not None,
        )

    def outcomes(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """These and those that were saved of this turn, in call order."""
        by_call = self.done | {outcome.call.id: outcome for outcome in outcomes if not outcome.suspended}
        return [by_call[use.id] for use in last_calls(self.messages) if use.id in by_call]

    def add_results(self, blocks: Sequence[ToolResultBlock]) -> None:
        """Enter the results of calls of the last turn, each under the name its call has in the history."""
        self._put_results(self._with_results(blocks))

    def _with_results(self, blocks: Sequence[ToolResultBlock]) -> Message:
        """The message of the last turn's results, with these."""
        names = {use.id: use.name for use in last_calls(self.messages)}
        named = [_named(block, names.get(block.tool_use_id, block.name)) for block in blocks]
        last = self.messages[-1]
        if last.role == "assistant" or not last.tool_results:
            return made(Message, role="tool", content=in_call_order(self.messages, named))
        there, new = last.content, {block.tool_use_id for block in named}
        old = [block for block in there if isinstance(block, ToolResultBlock) and block.tool_use_id not in new]
        others = [block for block in there if not isinstance(block, ToolResultBlock)]
        return made(Message, role="tool", content=[*in_call_order(self.messages, [*old, *named]), *others])

    def _put_results(self, message: Message) -> None:
        """Let the message of the last turn's results stand in the history, once."""
        last = self.messages[-1]
        if last.role != "assistant" and last.tool_results:
            self.messages.pop()
        self._enter(message)

    def fresh_results(self) -> Message | None:
        """The last turn's results that no hook has seen; None where there are none."""
        last = self.messages[-1]
        fresh = [block for block in last.content if block not in self._settled] if last.role == "tool" else []
        return Message(role="tool", content=fresh) if fresh else None

    def replace_call(self, call: ToolCall) -> None:
        """Let this call stand in the place of the one with its id: in the last turn, the last reply and its report."""
        at = max(index for index, message in enumerate(self.messages) if message.role == "assistant")
        self.messages[at] = with_call(self.messages[at], call)
        calls = [call if old.id == call.id else old for old in self.envelope.tool_calls]
        self.envelope = rebuilt_envelope(self.envelope, calls, self.messages[at].content)
        if call.id not in self._judged:  # a call of an earlier run
            return
        attempt, made = self.ledger.attempts[-1], self._judged.pop(call.id)
        judged = [updated(call, {"id": made.id}) if old is made else old for old in attempt.report.calls]
        self.ledger.finish(attempt, report=updated(attempt.report, {"calls": judged}))
        self.repairs = [_unsaid(record, attempt.n) for record in self.repairs if record.call_id != call.id]
        self.note_repairs("call", call.repairs, call.id)

    def replace_results(self, message: Message, outcomes: Sequence[Outcome], max_chars: int) -> list[Outcome]:
        """Let this message of results stand in the place of the last one. Returns the outcomes as it tells them."""
        before = {block.tool_use_id: block for block in self.messages[-1].tool_results}
        after = {block.tool_use_id: block for block in message.tool_results}
        settled = [block for block in self._settled if isinstance(block, ToolResultBlock)]
        others = [block for block in (*self._settled, *message.content) if not isinstance(block, ToolResultBlock)]
        results = in_call_order(self.messages, [*settled, *message.tool_results])
        self.messages[-1] = Message(role="tool", content=[*results, *others])
        told = [
            one if after[one.call.id] == before[one.call.id] else answered(one, after[one.call.id], max_chars) for one in outcomes
        ]
        del self.tool_results[len(self.tool_results) - len(told) :]
        self.note_outcomes(told)
        return told

    def _enter(self, message: Message, *, looked_at: bool = False) -> Message:
        """The one way into the history, of what is the run's own by then. `looked_at`: its parts can be encoded for certain."""
        entered, found = (message, None) if looked_at or is_fit(message) else mended(message)
        if found:
            self.envelope = updated(self.envelope, {"repairs": [*self.envelope.repairs, *recorded(found)]})
        self.messages.append(entered)
        return entered

    def tell_left_out(self) -> None:
        """Tell the model of the calls of the last reply that were too many to run, once its other calls have their results."""
        if words := note_on_left_out(self.envelope):
            self.add_user(words)

    def add_user(self, text: str) -> None:
        self._enter(Message(role="user", content=[TextBlock(text=text)]))

    def close_open_calls(self, reason: str, *, waiting: bool = False) -> None:
        """Give each open call the one result it lacks, so that the history stays valid; those that wait for the caller only where
        `waiting` says so, for the run has its answer without them."""
        self.give_up_reply()
        if waiting:
            self._held.clear()
            self._open.clear()
        if self._later:
            self.go_on()
        left = [use for use in open_calls(self.messages) if use.id not in self._held]
        if left:
            self.add_results([_closed(use, reason) for use in left])
            closed = ({use.id for use in left} & self._judged.keys()) - {record.id for record in self.tool_results}
            self.note_outcomes([synthetic(call, reason) for call in self.envelope.tool_calls if call.id in closed])

    def go_on(self) -> None:
        """What was open is settled: let what was said behind it enter. Calls that still wait are told that nobody answered."""
        resumed = self.settings.resumed
        later, self._later = self._later, []
        if later:
            unanswered = [(use, self._went_on(use.id)) for use in open_calls(self.messages)]
            self.note_outcomes([synthetic(call, _WENT_ON) for call in self._waiting_here()])
            self._held.clear()
            self._open.clear()
            if unanswered:
                self.add_results([_closed(use, said) for use, said in unanswered])
            for use, said in unanswered:
                made = Repair(kind="result_made_up", before={"id": use.id, "name": use.name}, after=said, safety="guess")
                self.repairs.append(RepairRecord(attempt=0, of="history", call_id=use.id, repair=made))
            self.messages += later
        elif resumed is not None and resumed.goes_on:
            self.add_user(GO_ON)

    def _went_on(self, call_id: str) -> str:
        """What is said of a call that nobody answered; of one that was begun, also what was done within it."""
        if call_id not in self._open or self._open[call_id]().stage != "within":
            return _WENT_ON
        return self.inner.given_up(call_id)

    def take_output(self, value: Any) -> None:
        """The run is over; `value` is the typed output, if one was asked for."""
        self.output = value
        self.has_output = self.settings.output is not None

    async def end_by(self, ended: TerminateLoop) -> None:
        """A tool or hook ended the run: its value is the final content, and the output if it is of the type asked for.

        Raises `Timeout` when the deadline passes while the type's own code looks at it.
        """
        asked = self.settings.output
        try:
            text, is_written = encodable(to_text(ended.value) if ended.text is None else ended.text), True
        except UnwritableResult as error:
            text, is_written = f"({error})", False
        value = copied(ended.value)
        fit = None
        if asked is not None and is_written:
            fit = await with_types_code(asked, self.ledger.seconds_left, lambda: asked.fitting(value))
        if fit is not None:
            self.take_output(fit[0])
        elif self.settings.output is None:
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

    def snapshot(self) -> RunResult:
        """The run as it stands in the midst of a turn, with the results that are there. It shares nothing that changes."""
        entered = {block.tool_use_id for block in self.messages[-1].tool_results}
        outcomes = [outcome for outcome in self.outcomes(()) if outcome.call.id not in entered]
        noted = {record.id for record in self.tool_results}
        messages = self.messages
        if outcomes:
            tail = [self._with_results([outcome.block() for outcome in outcomes])]
            messages = [*(messages[:-1] if entered else messages), *tail]
        records = [*self.tool_results, *(self.record(one) for one in self.outcomes(()) if one.call.id not in noted)]
        made = updated(self._result(), {"messages": [*messages, *self._later], "tool_results": records})
        return copied(signed_result(made, self.settings.signing_key))

    def result(self) -> RunResult:
        """The run as it stands. Asked for when it is over: the caller is given the history itself."""
        return signed_result(self._result(), self.settings.signing_key)

    def is_saved_as(self, key: str) -> None:
        self.saved_as = key

    def _result(self) -> RunResult:
        return made(
            RunResult,
            envelope=self.envelope,
            messages=[*self.messages],
            open_calls=self._open_calls(),
            ended=self.ended,
            saved_as=self.saved_as,
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
            not_entered=[*self._not_entered, *left_waiting(self.settings.interjections)],
            runs=self._child_results() if self.inner.is_any else [],
        )

    def _child_results(self) -> list[RunResult]:
        begun = {use.id for use in open_calls(self.messages)} - self.done.keys()
        return self.inner.child_results(self._held, begun)

    def _open_calls(self) -> list[OpenCall]:
        is_open = self._open.keys() - self.done.keys()
        if not is_open:
            return []
        return [one for use in open_calls(self.messages) if use.id in is_open for one in self._open_calls_of(use.id)]


def _named(block: ToolResultBlock, name: str | None) -> ToolResultBlock:
    return block if block.name == name else updated(block, {"name": name})


def _closed(use: ToolUseBlock, reason: str) -> ToolResultBlock:
    return ToolResultBlock(tool_use_id=use.id, name=use.name, content=[TextBlock(text=reason)], is_error=True)


def _unsaid(record: RepairRecord, n: int) -> RepairRecord:
    """A repair of the reply to request `n`, whose calls are not as the model made them any more: without what it said."""
    told = record.of == "reply" and record.attempt == n
    return updated(record, {"repair": without_values([record.repair])[0]}) if told else record


def _accepted(call: ToolCall) -> ToolResultBlock:
    outcome = Outcome(call, [TextBlock(text="The final result was taken.")])
    return outcome.block()
