"""The state of a run: the history so far, what the run spent, and the result as it stands."""

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
from llmcore.run.hooks.hook_edits import outcome_of_block, rebuilt_envelope, without_values
from llmcore.run.observing.dispatch import Watchers
from llmcore.run.observing.recording import AdapterContext
from llmcore.run.output.validators import run_types_code
from llmcore.run.results.boundary_copies import damage_repairs, encodable_copy, is_encodable
from llmcore.run.results.history import (
    assistant_message,
    encodable_call,
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
from llmcore.run.setup.interjections import take_interjections, waiting_messages, without_waiting
from llmcore.run.setup.settings import RunSettings
from llmcore.run.turn.calls_left_out import left_out_calls, note_on_left_out
from llmcore.run.turn.child_runs import ChildRuns
from llmcore.run.turn.reply_checks import with_truncation_shown
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
_NOT_ACCEPTED = (
    "The final result was not accepted: a call beside it failed or did not run. "
    "Read that call's result, and give the final result again."
)
_UNANSWERED = "No result: the conversation went on before anybody answered this call. It was not run."


class RunState:
    """The mutable state of one run, which belongs to one task. While the run goes on, nobody outside shares a part of `messages`.

    What enters the history is copied and made encodable. What leaves it is a copy, so nothing recorded changes later.
    """

    def __init__(self, settings: RunSettings, watch: Watchers, recordings: Sequence[AdapterContext] = ()) -> None:
        self.settings = settings
        place, resumed = settings.place, settings.resumed
        self.ledger = Ledger(settings.budget, parent=None if place is None else place.ledger, shared=settings.shared_budget)
        self.refused = RefusedRequests()
        self.child_runs = ChildRuns(self.ledger, {} if resumed is None else resumed.within)
        given = settings.request.messages
        self.messages: list[Message] = list(given if resumed is None else given[: resumed.head])
        self._copied: list[Message] = []
        self._sent: list[Message] = []
        """Each message of the history that was sent, and its copy in the requests."""
        self._strategy_request: tuple[Request, int] | None = None
        """The request that a strategy put in place of the run's, and how many messages of the history it stands for."""
        self._messages_after_turn = [] if resumed is None else list(given[resumed.head :])
        """The messages behind the open turn. They enter when it is over."""
        self._envelope: Envelope | None = None if resumed is None else resumed.envelope
        self.output: Any = None
        self.has_output = False
        """Whether `output` is a value of the output type. That value may be None."""
        self.degraded = False
        self.ended = False
        self.saved_as = ""
        """The key of the last checkpoint in a store."""
        self.tool_turns = 0
        self._used_tools = resumed is not None and resumed.used_tools
        self.unknown_name_answers: defaultdict[str, int] = defaultdict(int)
        """How many calls of each unknown tool name were answered with an error."""
        self.tool_results: list[ToolRecord] = [] if resumed is None else [*resumed.dropped]
        self._ids_not_run = {record.id for record in self.tool_results}
        self._correction: CorrectionLoop | None = None
        """The loop of the reply that is being corrected, until it is accepted or discarded."""
        self._model_knows_dropped = True
        """Whether the model was told of each dropped call of the last reply."""
        self.repairs: list[RepairRecord] = list(settings.repairs)
        self.done: dict[str, Outcome] = {}
        """The outcomes of this turn's calls so far, by call id."""
        self._open: dict[str, Callable[[], OpenCall]] = {}
        """The stage of each open call, computed when it is read."""
        self._waiting_calls: dict[str, ToolCall] = {}
        self._answers: Mapping[str, Literal["approve", "deny", "answer"]] = {}
        self.approved: Set[str] = frozenset()
        self._not_entered = [] if resumed is None else without_waiting(resumed.not_entered, settings.interjections)
        self._ids = ids_in(given)
        self._given = len(self.messages)
        self.watch = watch
        self.recordings = recordings
        self.final: ToolCall | None = None
        """The last reply's call of the output tool, if its value was accepted."""
        self._hooked_blocks: list[Block] = []
        """The blocks behind the open turn that hooks have seen already."""
        if resumed is not None:
            self._resume(resumed)
        self._started_at, self._started = datetime.now(UTC), time.monotonic()
        self._best_text = ""
        self._silent: set[int] = set()
        """The numbers of the requests whose reply was empty."""
        self._reported_calls: dict[str, ToolCall] = {}
        """The calls of the last turn as its validation report has them, by their ids in the history."""

    def _resume(self, resumed: Resumed) -> None:
        """Take over the open turn of the run that this one resumes."""
        if self.messages and self.messages[-1].tool_results:
            self._given -= 1
            carried = {outcome.call.id for outcome in resumed.carried}
            content = self.messages[-1].content
            self._hooked_blocks = [b for b in content if not isinstance(b, ToolResultBlock) or b.tool_use_id not in carried]
        self.done = {outcome.call.id: outcome for outcome in resumed.carried}
        for call in resumed.calls:
            stage = resumed.stages.get(call.id)
            if stage is not None and stage.waits:
                self.wait_for_caller(call, stage)

    def apply_resumed_calls(self, resolved: ResumedCalls) -> None:
        """Apply what the caller's answers decided about the calls that were open."""
        for call in resolved.changed:
            self.replace_call(call)
        self._answers, self.approved = resolved.answers, resolved.approved
        self.child_runs.resume(resolved.within)
        waiting = {
            call_id: call
            for call_id, call in self._waiting_calls.items()
            if call_id in resolved.within or isinstance(resolved.fates.get(call_id), OpenCall)
        }
        fates = {call_id: resolved.fates.get(call_id) for call_id in waiting}
        self._open = {
            call_id: partial(copied, fate) if isinstance(fate, OpenCall) else self._open[call_id]
            for call_id, fate in fates.items()
        }
        self._waiting_calls = waiting
        for use in open_calls(self.messages):
            if use.id in self.approved and use.id not in waiting:
                was_approved = self._answers.get(use.id) == "approve"
                ready = OpenCall(id=use.id, name=use.name, arguments=copied(use.input), stage="ready", approved=was_approved)
                self._open[use.id] = partial(copied, ready)

    def wait_for_caller(self, call: ToolCall, waiting: OpenCall) -> None:
        """Record that the call waits for the caller."""
        self._open[call.id], self._waiting_calls[call.id] = partial(copied, waiting), call

    def wait_for_child_run(self, call: ToolCall) -> None:
        """Record that calls of the child run within this call wait for the caller."""
        self.child_runs.keep_waiting(call.id)
        self.wait_for_caller(call, OpenCall.of(call, "within"))

    def start_call(self, call: ToolCall) -> None:
        """Record that the call's tool is about to start."""
        self._waiting_calls.pop(call.id, None)
        approved = self._answers.get(call.id) == "approve"
        self._open[call.id] = partial(OpenCall.of, call, "started", approved=approved)
        self.child_runs.start_call(call.id)

    @property
    def pending(self) -> list[ToolCall]:
        """The calls that wait for the caller, in call order. If a child run waits within a call, its calls stand here in its
        place."""
        if not self._waiting_calls:
            return []
        waiting = [use.id for use in open_calls(self.messages) if use.id in self._waiting_calls and use.id not in self.done]
        return [one for call_id in waiting for one in self._pending_of(call_id)]

    def _own_waiting_calls(self) -> list[ToolCall]:
        """The waiting calls without those in which a child run waits."""
        waiting = [(use.id, self._open[use.id]()) for use in open_calls(self.messages) if use.id in self._waiting_calls]
        return [self._waiting_calls[call_id] for call_id, open_call in waiting if open_call.stage != "within"]

    def _pending_of(self, call_id: str) -> list[ToolCall]:
        if self._open[call_id]().stage != "within":
            return [self._waiting_calls[call_id]]
        return [updated(one, {"id": id_within(call_id, one.id)}) for one in self.child_runs.waiting_run(call_id).pending]

    def _open_calls_of(self, call_id: str) -> list[OpenCall]:
        """The open call, then the waiting calls of the child run within it."""
        open_call = self._open[call_id]()
        run = self.child_runs.waiting_run(call_id) if open_call.stage == "within" else None
        if open_call.stage == "started" and (run := self.child_runs.running_run(call_id)) is not None:
            open_call = updated(open_call, {"stage": "within"})
        inner = run.open_calls if run is not None else []
        waiting = [one for one in inner if one.waits and one.stage != "within"]
        return [open_call, *(updated(one, {"id": id_within(call_id, one.id)}) for one in waiting)]

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
        """The next request: the run's own with the history so far. A forced tool choice holds until tools have run."""
        asked, messages = self.settings.request, self._outgoing()
        if self._strategy_request is not None:
            asked, end = self._strategy_request
            messages = [*asked.messages, *messages[end:]]
        changes: dict[str, Any] = {"messages": messages}
        if self.has_used_tools and asked.tool_choice != "none":
            changes["tool_choice"] = "auto"
        return updated(asked, changes)

    def replace_request(self, request: Request) -> None:
        """Replace the run's request from now on. The history stays whole: later messages are added to those of this request."""
        self._strategy_request = request, len(self.messages)

    def _outgoing(self) -> list[Message]:
        """The history as requests hold it. Each message is copied once, for all requests of the run.

        So the memory that adapters and observers keep grows with the history, not with its square.
        """
        for index, message in enumerate(self.messages):
            if index == len(self._sent) or self._copied[index] is not message:
                self._copied[index : index + 1], self._sent[index : index + 1] = [message], [copied(message)]
        return self._sent[: len(self.messages)]

    @property
    def has_used_tools(self) -> bool:
        """Whether a turn of this run, or of the run that it resumes, has used tools."""
        return self.tool_turns > 0 or self._used_tools

    async def take_interjections(self) -> list[Message]:
        """Add the waiting interjections to the history. Returns them as the history holds them."""
        source, added = self.settings.interjections, self._not_entered
        self._not_entered = []
        if source is not None:
            added += await take_interjections(source, self.context(), self.ledger.seconds_left)
        return [self._enter(message) for message in added]

    async def continue_with_interjections(self) -> bool:
        """After the final message, ask the interjections function for messages and add them. Returns whether there were any.

        What waits in an `Interjections` box by then stays there for the next run.
        """
        source = self.settings.interjections
        if source is None:
            return False
        added = await take_interjections(source, self.context(), self.ledger.seconds_left, is_over=True)
        return len([self._enter(message) for message in added]) > 0

    def context(self) -> RunContext[Any]:
        """A new `RunContext` of the run as it stands, for tools and the caller's functions."""
        return RunContext(self.settings.deps, self.ledger.usage, MessageCopies(self.messages)).in_run(self.child_runs.enclosing)

    def recorded(self, adapter: Adapter) -> Adapter:
        """The adapter, wrapped by the run's recordings."""
        for recording in self.recordings:
            adapter = recording.adapter(self.watch.run.id, adapter)
        return adapter

    def note_silence(self) -> None:
        """Record that the reply to the last request was empty."""
        self._silent.add(self.ledger.attempts[-1].n)

    def note_reply(self, envelope: Envelope) -> None:
        """Record a reply. If it was not truncated, its text may later stand in for an answer."""
        self.envelope = envelope
        if not envelope.truncated:
            self._best_text = envelope.content.strip() or self._best_text

    def add_reply(
        self,
        envelope: Envelope,
        calls: Sequence[ToolCall],
        final: ToolCall | None,
        encodable_calls: Sequence[ToolCall] = (),
        dropped: Sequence[DroppedCall] = (),
    ) -> list[ToolCall]:
        """Add an accepted reply to the history. Returns its calls as the history holds them, without the call of the output tool.

        If the output tool's call stands alone, it gets its result at once. `encodable_calls` need no check. `dropped` lists
        the calls that corrections left out.
        """
        for of_last_turn in (self.done, self._open, self._waiting_calls):
            of_last_turn.clear()
        self._best_text = ""  # text before a call is no answer to the call's result
        self._hooked_blocks = []
        before = [*calls, *([final] if final else [])]
        fit = set(map(id, encodable_calls))
        unique = [call if id(call) in fit else encodable_call(call) for call in with_unique_ids(before, self._ids)]
        message = assistant_message(envelope, before, unique)
        runnable = unique[: len(calls)]
        self.envelope = updated(with_truncation_shown(envelope), {"tool_calls": runnable})
        entered = [] if message is None else self._enter(message, known_encodable=envelope.is_calls_alone).content
        self.envelope.attach(envelope.source, lambda: envelope.segments, entered)
        self.final = None if final is None else unique[-1]
        if self.final is not None and not calls:
            self.accept_final_call(self.final)
        self._reported_calls = {call.id: made for call, made in zip(unique, before, strict=True)}
        for call in unique:
            self.note_repairs("call", call.repairs, call.id)
        self._correction = None
        self.note_dropped([*dropped, *left_out_calls(envelope)])
        return runnable

    def close_final_call(self, final: ToolCall) -> bool:
        """Answer the call of the output tool that stands beside other calls. If each of them succeeded, accepts its value and
        returns True. Otherwise asks the model for another final result and returns False."""
        if self.all_calls_succeeded and self._model_knows_dropped:
            self.accept_final_call(final)
            return True
        self.add_results([synthetic(final, _NOT_ACCEPTED).block()])
        return False

    def accept_final_call(self, final: ToolCall) -> None:
        """Answer the call of the output tool, whose value becomes the run's output."""
        self.add_results([_final_result_block(final)])

    @property
    def all_calls_succeeded(self) -> bool:
        """Whether each call of the turn succeeded, earlier runs included, and no message follows the turn."""
        if self._messages_after_turn or any(outcome.error is not None for outcome in self.done.values()):
            return False
        return not any(result.is_error for result in self.messages[-1].tool_results)

    def note_repairs(self, of: Literal["call", "output", "reply"], repairs: Sequence[Repair], call_id: str | None = None) -> None:
        """Record the repairs of the reply to the last request, and notify the observers."""
        if not repairs:
            return
        n = self.ledger.attempts[-1].n if self.ledger.attempts else 0
        made = [RepairRecord(attempt=n, of=of, call_id=call_id, repair=repair) for repair in repairs]
        self.repairs += made
        for record in made:
            self.watch.notify("repaired", record)

    def start_correction(self, loop: CorrectionLoop) -> None:
        """Remember the loop that validates and corrects the latest reply."""
        self._correction, self._model_knows_dropped = loop, True

    def discard_reply(self) -> None:
        """If a reply is being corrected, record all its calls as not run."""
        loop, self._correction = self._correction, None
        if loop is not None:
            self.note_dropped([*loop.all_dropped, *left_out_calls(loop.result.envelope)])

    def note_dropped(self, dropped: Sequence[DroppedCall]) -> None:
        """Record calls of a reply that never entered the history."""
        for one in dropped:
            if one.call.name == FINAL_RESULT and self.settings.output is not None:
                continue
            self._model_knows_dropped = self._model_knows_dropped and one.is_known
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
        """Record the outcomes of this turn's calls."""
        self.tool_results += map(self.record, outcomes)
        for outcome in outcomes:
            self.note_repairs("call", outcome.repairs, outcome.call.id)

    def record(self, outcome: Outcome) -> ToolRecord:
        """The record of a call's outcome for the result."""
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
        """These outcomes and the saved ones of this turn, in call order."""
        by_call = self.done | {outcome.call.id: outcome for outcome in outcomes if not outcome.suspended}
        return [by_call[use.id] for use in last_calls(self.messages) if use.id in by_call]

    def add_results(self, blocks: Sequence[ToolResultBlock]) -> None:
        """Add results of the last turn's calls. Each gets the tool name that its call has in the history."""
        self._put_results(self._with_results(blocks))

    def _with_results(self, blocks: Sequence[ToolResultBlock]) -> Message:
        """The message of the last turn's results, with these added."""
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
        """Put the message of the last turn's results into the history, in place of an earlier one."""
        last = self.messages[-1]
        if last.role != "assistant" and last.tool_results:
            self.messages.pop()
        self._enter(message)

    def fresh_results(self) -> Message | None:
        """The last turn's results that no hook has seen; None if there are none."""
        last = self.messages[-1]
        fresh = [block for block in last.content if block not in self._hooked_blocks] if last.role == "tool" else []
        return Message(role="tool", content=fresh) if fresh else None

    def replace_call(self, call: ToolCall) -> None:
        """Replace the call of this id in the last turn, the last reply and its report."""
        at = max(index for index, message in enumerate(self.messages) if message.role == "assistant")
        self.messages[at] = with_call(self.messages[at], call)
        calls = [call if old.id == call.id else old for old in self.envelope.tool_calls]
        self.envelope = rebuilt_envelope(self.envelope, calls, self.messages[at].content)
        if call.id not in self._reported_calls:  # a call of an earlier run
            return
        attempt, made = self.ledger.attempts[-1], self._reported_calls.pop(call.id)
        judged = [updated(call, {"id": made.id}) if old is made else old for old in attempt.report.calls]
        self.ledger.finish(attempt, report=updated(attempt.report, {"calls": judged}))
        self.repairs = [_without_repair_values(record, attempt.n) for record in self.repairs if record.call_id != call.id]
        self.note_repairs("call", call.repairs, call.id)

    def replace_results(self, message: Message, outcomes: Sequence[Outcome], max_chars: int) -> list[Outcome]:
        """Replace the last message of results. Returns the outcomes as the new message states them."""
        before = {block.tool_use_id: block for block in self.messages[-1].tool_results}
        after = {block.tool_use_id: block for block in message.tool_results}
        hooked = [block for block in self._hooked_blocks if isinstance(block, ToolResultBlock)]
        others = [block for block in (*self._hooked_blocks, *message.content) if not isinstance(block, ToolResultBlock)]
        results = in_call_order(self.messages, [*hooked, *message.tool_results])
        self.messages[-1] = Message(role="tool", content=[*results, *others])
        hooked_outcomes = [
            one if after[one.call.id] == before[one.call.id] else outcome_of_block(one, after[one.call.id], max_chars)
            for one in outcomes
        ]
        del self.tool_results[len(self.tool_results) - len(hooked_outcomes) :]
        self.note_outcomes(hooked_outcomes)
        return hooked_outcomes

    def _enter(self, message: Message, *, known_encodable: bool = False) -> Message:
        """Append a message to the history, made encodable. Every message enters here. `known_encodable`: the check is not
        needed."""
        entered, found = (message, None) if known_encodable or is_encodable(message) else encodable_copy(message)
        if found:
            self.envelope = updated(self.envelope, {"repairs": [*self.envelope.repairs, *damage_repairs(found)]})
        self.messages.append(entered)
        return entered

    def add_left_out_note(self) -> None:
        """If the last reply had too many calls, list those that did not run to the model. The other calls have their results by
        then."""
        if words := note_on_left_out(self.envelope):
            self.add_user(words)

    def add_user(self, text: str) -> None:
        self._enter(Message(role="user", content=[TextBlock(text=text)]))

    def close_open_calls(self, reason: str, *, waiting: bool = False) -> None:
        """Give each open call a result, so that the history stays valid. Calls that wait for the caller stay open, unless
        `waiting` is True."""
        self.discard_reply()
        if waiting:
            self._waiting_calls.clear()
            self._open.clear()
        if self._messages_after_turn:
            self.close_open_turn()
        left = [use for use in open_calls(self.messages) if use.id not in self._waiting_calls]
        if left:
            self.add_results([_error_result(use, reason) for use in left])
            closed = ({use.id for use in left} & self._reported_calls.keys()) - {record.id for record in self.tool_results}
            self.note_outcomes([synthetic(call, reason) for call in self.envelope.tool_calls if call.id in closed])

    def close_open_turn(self) -> None:
        """Once the open turn is over, add the messages behind it. Calls that still wait get a result that says that nobody
        answered them."""
        resumed = self.settings.resumed
        messages, self._messages_after_turn = self._messages_after_turn, []
        if messages:
            unanswered = [(use, self._unanswered_text(use.id)) for use in open_calls(self.messages)]
            self.note_outcomes([synthetic(call, _UNANSWERED) for call in self._own_waiting_calls()])
            self._waiting_calls.clear()
            self._open.clear()
            if unanswered:
                self.add_results([_error_result(use, text) for use, text in unanswered])
            for use, text in unanswered:
                made = Repair(kind="result_made_up", before={"id": use.id, "name": use.name}, after=text, safety="guess")
                self.repairs.append(RepairRecord(attempt=0, of="history", call_id=use.id, repair=made))
            self.messages += messages
        elif resumed is not None and resumed.goes_on:
            self.add_user(GO_ON)

    def _unanswered_text(self, call_id: str) -> str:
        """The result text of a call that nobody answered. If a child run had begun within it, the text lists what that run
        did."""
        if call_id not in self._open or self._open[call_id]().stage != "within":
            return _UNANSWERED
        return self.child_runs.unanswered_text(call_id)

    def set_output(self, value: Any) -> None:
        """Set the typed output, if one was asked for."""
        self.output = value
        self.has_output = self.settings.output is not None

    async def end_with(self, ended: TerminateLoop) -> None:
        """End the run with the value of a `TerminateLoop`. It is the final content, and the output if it fits the output type.

        Raises `Timeout` if the deadline passes while the output type's own code runs.
        """
        asked = self.settings.output
        try:
            text, is_written = encodable(to_text(ended.value) if ended.text is None else ended.text), True
        except UnwritableResult as error:
            text, is_written = f"({error})", False
        value = copied(ended.value)
        fit = None
        if asked is not None and is_written:
            fit = await run_types_code(asked, self.ledger.seconds_left, lambda: asked.fitting(value))
        if fit is not None:
            self.set_output(fit[0])
        elif self.settings.output is None:
            self.output = value
        if value is None:
            return
        self.envelope = Envelope(content=text).attach(text, (), [TextBlock(text=text)])
        self._enter(Message(role="assistant", content=[TextBlock(text=text)]))

    def degrade(self) -> bool:
        """If every strategy failed, use the best text as the answer. Returns False if no attempt gave any text.

        If tools ran and every reply of the last turn was empty, the run ends without text instead of an error. An error would
        make callers run those tools again.
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
        """The result of the run in the middle of a turn, with the outcomes so far. It shares nothing that changes."""
        entered = {block.tool_use_id for block in self.messages[-1].tool_results}
        outcomes = [outcome for outcome in self.outcomes(()) if outcome.call.id not in entered]
        noted = {record.id for record in self.tool_results}
        messages = self.messages
        if outcomes:
            tail = [self._with_results([outcome.block() for outcome in outcomes])]
            messages = [*(messages[:-1] if entered else messages), *tail]
        records = [*self.tool_results, *(self.record(one) for one in self.outcomes(()) if one.call.id not in noted)]
        made = updated(self._result(), {"messages": [*messages, *self._messages_after_turn], "tool_results": records})
        return copied(signed_result(made, self.settings.signing_key))

    def result(self) -> RunResult:
        """The result of the run as it stands. It holds the history itself, so only a run that is over may hand it out."""
        return signed_result(self._result(), self.settings.signing_key)

    def set_saved_as(self, key: str) -> None:
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
            not_entered=[*self._not_entered, *waiting_messages(self.settings.interjections)],
            runs=self._child_results() if self.child_runs.has_runs else [],
        )

    def _child_results(self) -> list[RunResult]:
        begun = {use.id for use in open_calls(self.messages)} - self.done.keys()
        return self.child_runs.child_results(self._waiting_calls, begun)

    def _open_calls(self) -> list[OpenCall]:
        is_open = self._open.keys() - self.done.keys()
        if not is_open:
            return []
        return [one for use in open_calls(self.messages) if use.id in is_open for one in self._open_calls_of(use.id)]


def _named(block: ToolResultBlock, name: str | None) -> ToolResultBlock:
    return block if block.name == name else updated(block, {"name": name})


def _error_result(use: ToolUseBlock, reason: str) -> ToolResultBlock:
    return ToolResultBlock(tool_use_id=use.id, name=use.name, content=[TextBlock(text=reason)], is_error=True)


def _without_repair_values(record: RepairRecord, n: int) -> RepairRecord:
    """The record without its values, if it belongs to the reply to request `n`. A hook changed that reply's calls, which the
    values would reveal."""
    is_of_reply = record.of == "reply" and record.attempt == n
    return updated(record, {"repair": without_values([record.repair])[0]}) if is_of_reply else record


def _final_result_block(call: ToolCall) -> ToolResultBlock:
    outcome = Outcome(call, [TextBlock(text="The final result was accepted.")])
    return outcome.block()
