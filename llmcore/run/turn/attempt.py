"""One attempt of a turn: adapter, normaliser, then validator with its re-asks, for one plan of the fallback layer.

An attempt accepts a reply or raises why not. Every request enters the ledger before it is sent. What a reply shows about the
endpoint is recorded. This module finds servers that ignore tools or a format; the fallback layer finds those that refuse them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from llmcore.adapters.base import PART_OF_MAX_TOKENS, Adapter, Capabilities, ModelCall
from llmcore.adapters.litellm.usage import accounted, cost_of
from llmcore.adapters.request.openings import forced_tool, reasoning_is_open
from llmcore.adapters.request.output import output_plan, output_tools
from llmcore.adapters.request.parts import optional_parts, parts_of
from llmcore.compiling import compile_tools
from llmcore.fallback import Plan
from llmcore.hooks import HookChain
from llmcore.models import ModelConfig, check_media_needs
from llmcore.run.asking.sending import Sending
from llmcore.run.endpoints.choices import RunModels, callable_tools
from llmcore.run.endpoints.modes import build_call
from llmcore.run.endpoints.runtime import Runtime
from llmcore.run.hooks.hook_results import hooked_reply, hooked_request
from llmcore.run.observing.dispatch import AttemptNotices, ChunkClock
from llmcore.run.output.answer_type import split_final_call
from llmcore.run.output.partial import PartialValues
from llmcore.run.output.validators import Checked, check_output, run_types_code
from llmcore.run.results.history import encodable_reply
from llmcore.run.setup.context_size import check_context
from llmcore.run.setup.settings import Toolbox
from llmcore.run.turn.calls_left_out import CALL_NOT_ALLOWED, left_out_calls
from llmcore.run.turn.correction import PendingCorrection
from llmcore.run.turn.learning import Learning
from llmcore.run.turn.reply_checks import (
    NO_ANSWER,
    broken_reply_failure,
    empty_reply_failure,
    first_call_alone,
    forced_calls_alone,
    unusable_reply_failure,
    with_truncation_shown,
    without_calls,
    without_failed_call,
)
from llmcore.run.turn.reservations import reserved
from llmcore.run.turn.state import RunState
from llmcore.run.turn.unknown_calls import ANSWERS_PER_NAME, unknown_beside_good
from llmcore.support.code.emitter import Emit, silently
from llmcore.support.values.copies import assign_field, copied, updated
from llmcore.support.values.identity import alike
from llmcore.support.values.narrowing import is_object
from llmcore.tools.definition.web_search import WEB_SEARCH
from llmcore.types import (
    Attempt,
    AttemptReason,
    AttemptStarted,
    Envelope,
    Event,
    LLMCoreError,
    Message,
    OutputParseError,
    Repaired,
    Request,
    RequestRefused,
    ToolCall,
    ToolCallFinished,
    ToolSet,
    Usage,
)
from llmcore.validator import CorrectionLoop, CorrectionResult, ParseDetail
from llmcore.validator.correction.turns import DroppedCall

__all__ = ["Accepted", "TurnAttempt"]

T = TypeVar("T")

_NOT_REPORTED = Usage(estimated=True)
_NO_PLAN = Plan("", "text")
_ENDED_BEFORE = "It did not run: the reply ended before it was whole."


@dataclass(slots=True)
class Accepted:
    """A reply that may be used.

    - `calls`: the validated calls, which may run.
    - `encodable_calls`: the calls as the reply held them, which can be encoded.
    - `final`: the call of the output tool, if the model made one.
    - `value`: the typed output, if one was asked for.
    - `is_final`: whether the turn needs nothing but its calls to run.
    - `dropped`: the calls that corrections left out.
    """

    envelope: Envelope
    calls: list[ToolCall]
    encodable_calls: Sequence[ToolCall]
    final: ToolCall | None
    value: Any
    is_final: bool
    dropped: Sequence[DroppedCall]


class TurnAttempt:
    """Carries out the plans of one turn for the fallback manager. After a success `accepted` is set."""

    def __init__(
        self,
        state: RunState,
        runtime: Runtime,
        hooks: HookChain,
        toolbox: Toolbox,
        models: RunModels,
        *,
        listening: bool,
        reason: AttemptReason,
        with_search: Callable[[Toolbox], Toolbox] | None = None,
    ) -> None:
        self._state = state
        self._runtime = runtime
        self._hooks = hooks
        self._given = toolbox
        self._with_search = with_search  # adds the search tool if the provider refuses to search
        self.toolbox = toolbox
        """The tools of this turn, as `before_request` returned them."""
        self._offered = self._tools = toolbox.tool_set()
        self._models = models
        self._offer()
        self._listening = listening
        self._first_reason: AttemptReason = reason
        self._plan = _NO_PLAN
        self._strategy_request: Request | None = None
        self._request: Request  # of the latest reply, as `_envelope`
        self._envelope: Envelope
        self._encodable_calls: Sequence[ToolCall] = ()
        self._final: ToolCall | None = None
        self._correction: PendingCorrection | None = None
        self._has_sent = False
        self._is_reasoning_only = False
        self._models_asked_to_answer: set[str] = set()
        self._learning = Learning(models, state)
        self._call: ModelCall | None = None
        self._checked: Checked | None = None
        self._requests = AttemptNotices(state.watch)
        self.accepted: Accepted | None = None

    def _seconds_left(self) -> float | None:
        return self._state.ledger.seconds_left

    @property
    def leaves_doubt(self) -> bool:
        """Whether a refusal before the answer may have been temporary."""
        return self._learning.leaves_doubt

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that this turn offers."""
        return [tool.name for tool in self._tools]

    @property
    def mode_matters(self) -> bool:
        """Whether the request has tools or an output type, so that the output mode changes it."""
        return len(self._tools) > 0 or self._state.settings.output is not None

    def _offer(self) -> None:
        self._models.set_tools_offered(len(self._tools) + (self._state.settings.output is not None))

    async def carry_out(self, plan: Plan, emit: Emit[Event]) -> None:
        """Carry out the plan. Raises the `LLMCoreError` that says why its reply cannot be used."""
        self._plan = plan
        self._use_strategy_request(plan)
        config = self._models.config(plan.model, plan.deployment)
        self._models.check_price(config)
        reason = self._first_reason if plan.reason == "first" else plan.reason
        with self._requests:
            correcting, detail = self._correction, plan.detail
            if correcting is None or not correcting.continues_with(plan.model):
                self._correction = None
                self._state.discard_reply()
                self.toolbox, self._tools = self._given, self._offered
                await self._new_interjections()
                await self._send(config, plan, self._turn_request(config, plan), self._tools, reason, detail, emit)
                correcting = self._correction = PendingCorrection(
                    plan.model, self._request, await self._start_correction(config, plan)
                )
                reason, detail = "reask", ""
            loop = correcting.loop
            while (
                not (loop.is_over or self._unknown_calls(loop.result))
                and (correction := correcting.next_correction()) is not None
            ):
                await asyncio.sleep(0)  # other tasks run before the corrected request, which replaces the bad one
                correcting.add_messages(await self._new_interjections())
                asked, tools = correcting.corrected_request(correction), compile_tools(correction.tools)
                await self._send(config, plan, asked, tools, reason, detail or correction.detail, emit)
                correcting.unanswered = None
                await self._run_types_code(partial(loop.receive, self._envelope, callable_tools(correcting.request, self._tools)))
                self._record_report(loop)
                await self._ask_validators(loop)
                reason, detail = "reask", ""
            for event in await self._accept(loop.result):
                await emit(event)
            if self.accepted is not None and self._call is not None:
                self._learning.learn_from_answer(config, plan, self._call, obeyed=self._obeyed(self.accepted))

    async def _start_correction(self, config: ModelConfig, plan: Plan) -> CorrectionLoop:
        """The correction loop of a turn, begun with its first reply."""
        if self._state.settings.output is None:
            loop = self._loop(self._request)
        else:
            loop = await self._run_types_code(partial(self._loop, self._request))
        self._state.start_correction(loop)
        if self._is_reasoning_only:
            loop.refuse(NO_ANSWER)
        self._record_report(loop)
        if self._is_reasoning_only:
            return loop
        if self._call is not None and (
            failure := self._learning.ignored_request_failure(config, plan, self._call, self._request, loop)
        ):
            self._state.ledger.finish(self._state.ledger.attempts[-1], failure=failure)
            raise failure
        await self._ask_validators(loop)
        return loop

    async def _new_interjections(self) -> Sequence[Message]:
        """The interjections since this turn's last request. Those before its first request entered the history with the turn."""
        entered = await self._state.take_interjections() if self._has_sent else ()
        self._has_sent = True
        return entered

    async def _send(
        self,
        config: ModelConfig,
        plan: Plan,
        request: Request,
        tools: ToolSet,
        reason: AttemptReason,
        detail: str,
        emit: Emit[Event],
    ) -> None:
        """Send one request, entered in the ledger. Leaves the reply in `_envelope` and `_final`. Raises `ModelError` for an empty
        reply.

        The partial values of a typed output come between the events of the reply.
        """
        if self._hooks.has("before_request"):
            request, tools = await self._apply_request_hooks(request, tools)
        self._request = request
        call = self._build_call(config, plan, request, tools, reason, detail)
        can = call.capabilities or Capabilities()
        check_media_needs(config.alias, call.request, can)
        adapter = self._state.recorded(self._runtime.catalog.adapter(config))
        await check_context(self._state.settings.context, config, call, adapter, self._state.ledger.seconds_left)
        async with reserved(self._state.ledger.shared_budgets, call) as reservation:
            attempt = reservation.attempt = self._start_attempt(adapter, call, can, request.max_tokens)
            scope = self._requests.begin(attempt, call)
            sending = self._sending(adapter, call, tools, can)
            try:
                if emit is not silently:
                    await emit(AttemptStarted(attempt.n, attempt.model, attempt.mode, attempt.reason, attempt.deployment, detail))
                with scope:
                    with self._state.ledger.uncounted():
                        await sending.ready()
                    await sending.send(self._emit_events(sending, attempt, scope.emitting(emit)))
            except BaseException as error:
                self._record_failure(sending, attempt, adapter, can, error)
                raise
            self._requests.reply = sending.envelope
            envelope = self._record_reply(sending, attempt, config)
        self._use_reply(await hooked_reply(self._hooks, envelope), sending, attempt)
        if not (self._envelope.tool_calls or self._envelope.content.strip()):
            await self._refuse_empty()

    def _emit_events(self, sending: Sending, attempt: Attempt, emit: Emit[Event]) -> Emit[Event | None]:
        """An emitter for the events of a reply, with the partial values of a typed output between them."""
        output, watch = self._state.settings.output, self._state.watch
        values = PartialValues(output, sending.tools) if output and self._listening else None
        silent = emit is silently and values is None
        emit_next: Emit[Event | None] = silently if silent else partial(self._emit_with_partials, values, sending, emit)
        return partial(self._emit_with_clock, ChunkClock(watch, attempt), emit_next) if watch.has("chunk_came") else emit_next

    async def _emit_with_clock(self, clock: ChunkClock, emit: Emit[Event | None], event: Event | None) -> None:
        if event is None:
            clock.tick()
        await emit(event)

    async def _emit_with_partials(
        self, values: PartialValues | None, sending: Sending, emit: Emit[Event], event: Event | None
    ) -> None:
        if values is None:
            if event is not None:
                await emit(event_copy(event))
            return
        look = partial(values.read_withheld, sending.withheld) if event is None else partial(values.feed, event)
        value = await self._run_types_code(look)
        if event is not None and not values.is_output_call(event):
            await emit(event_copy(event))
        if value is not None:
            await emit(value)

    async def _apply_request_hooks(self, request: Request, tools: ToolSet) -> tuple[Request, ToolSet]:
        """The request and its tools, as the hooks return them. Changes to the tools hold for the whole turn."""
        request, left = await hooked_request(self._hooks, request, self.toolbox.definitions(tool.name for tool in tools))
        others = self.toolbox.definitions(tool.name for tool in self._tools if tool.name not in tools)
        self.toolbox, tools = Toolbox.redefined([*others, *left]), compile_tools([definition for _, definition in left])
        self._tools = self.toolbox.tool_set()
        self._offer()
        return request, tools

    # Validation

    async def _refuse_empty(self) -> None:
        """Raises `ModelError` if an answer was due and the reply is empty. If a value was due and the reply is reasoning alone,
        the model is asked for the answer first, once."""
        state, failure = self._state, empty_reply_failure(self._envelope, answer_due=self._answer_due())
        self._is_reasoning_only = failure is not None and self._may_ask_for_answer()
        if failure is not None and not self._is_reasoning_only:
            self._end_request_for_answer()
            self._record_report(await self._run_types_code(partial(self._loop, self._request)))
            state.note_dropped(left_out_calls(self._envelope))
            state.note_repairs("reply", [one for one in self._envelope.repairs if one.kind == CALL_NOT_ALLOWED])
            state.ledger.finish(state.ledger.attempts[-1], failure=failure)
            state.note_silence()
            raise failure

    async def _run_types_code(self, function: Callable[[], T]) -> T:
        """The function's value. If there is an output type, its code runs off the event loop and within the deadline."""
        output = self._state.settings.output
        return function() if output is None else await run_types_code(output, self._state.ledger.seconds_left, function)

    async def _ask_validators(self, loop: CorrectionLoop) -> None:
        """Let the caller's validators check a final answer. If they refuse it, the correction loop asks for another one."""
        if not self._state.settings.output_validators:
            return
        result, typed = loop.result, self._state.settings.output is not None
        due = result.detail is not None if typed else result.envelope.needs_more_work is not True
        if not result.ok or result.report.calls or not due:
            return
        self._checked = await self._check(result.detail.value if result.detail is not None else result.envelope.content)
        if self._checked.problem is not None:
            loop.refuse(self._checked.problem, self._checked.cause)
            self._record_report(loop)

    async def _check(self, value: Any) -> Checked:
        state = self._state
        settings = state.settings
        return await check_output(settings.output_validators, value, state.context(), self._seconds_left, settings.output)

    async def _accept(self, result: CorrectionResult) -> list[Event]:
        """Set `accepted` and return the repairs as events, or raise why the reply cannot be used."""
        unknown, detail, final = self._answered_unknown_calls(result), result.detail, self._final
        calls = result.report.calls if unknown else result.report.runnable
        if calls and final is not None:
            detail = await self._run_types_code(partial(self._output_beside_calls, final))
            self._checked = await self._check(detail.value) if detail is not None else None
            detail = None if self._checked is not None and self._checked.problem is not None else detail
            final = final if detail is not None else None
        return self._set_accepted(result, calls, detail, final)

    # The request

    def _use_strategy_request(self, plan: Plan) -> None:
        """If a strategy replaced the turn's request, begin the turn again with the new one."""
        if plan.request is not None and plan.request is not self._strategy_request:
            self._strategy_request = plan.request
            self._state.replace_request(plan.request)
            self._correction = None

    def _turn_request(self, config: ModelConfig, plan: Plan) -> Request:
        """The turn's request. If the provider refuses web search, the orchestrator's own search tool takes its place."""
        request = self._state.request()
        if self._with_search is None or not request.allow_web_search:
            return request
        call = self._build_call(config, plan, request, self._tools, "first", "")
        if call.capabilities is not None and "web_search" in parts_of(call, call.capabilities):
            return request
        toolbox = self._with_search(self._given)
        if toolbox.get(WEB_SEARCH) is None:  # `allowed` excludes it: the sender warns that nobody searches
            return request
        self.toolbox, self._tools = toolbox, toolbox.tool_set()
        return updated(request, {"allow_web_search": False})

    def _build_call(
        self,
        config: ModelConfig,
        plan: Plan,
        request: Request,
        tools: ToolSet,
        reason: AttemptReason,
        detail: str,
    ) -> ModelCall:
        can = self._models.can(config)
        settings = self._state.settings
        call = build_call(
            config,
            can,
            plan.mode,
            request,
            tools.definitions,
            settings.output,
            streamed=self._streams(plan, can),
            enforce_limits=self._runtime.enforce_limits,
            reason=reason,
            detail=detail,
            endpoint=self._models.endpoint(config),
            text_calls=settings.text_calls or config.text_calls or settings.default_text_calls,
            own_dialects=self._models.own_dialects(config),
            without=plan.without,
        )
        self._call = call = self._state.refused.annotated(call)
        return call

    def optional(self, *, last: bool) -> frozenset[str]:
        """The parts of the latest request that may be left out. In the `last` mode, more parts may."""
        call = self._call
        if call is None:
            return frozenset()
        return optional_parts(call, call.capabilities or Capabilities(), last=last)

    def _start_attempt(self, adapter: Adapter, call: ModelCall, can: Capabilities, max_tokens: int | None) -> Attempt:
        """The ledger's entry of a request about to be sent. `max_tokens`: what the request asked for.

        Raises `RequestRefused` if this body was refused before, and `LimitExceeded` if the budget is spent.
        """
        plan = self._plan
        try:
            self._state.refused.check(adapter, call)
        except RequestRefused as error:  # the same body, after parts were left out
            self._learning.note_refusal(plan, call, can, error)
            raise
        attempt = self._state.ledger.start(plan.model, plan.mode, call.reason or "first", call.detail, plan.deployment)
        if call.request.max_tokens != max_tokens:
            assign_field(attempt, dropped=[PART_OF_MAX_TOKENS])
        return attempt

    def _streams(self, plan: Plan, can: Capabilities) -> bool:
        """Whether to ask for a stream. Some servers take tools only without one."""
        beside = plan.mode != "native_tools" or can.streaming_with_tools is not False or not self.mode_matters
        return self._listening and can.streaming is not False and beside

    def _sending(self, adapter: Adapter, call: ModelCall, tools: ToolSet, can: Capabilities) -> Sending:
        state, output = self._state, self._state.settings.output
        known = ToolSet() if call.request.tool_choice == "none" else tools
        plan = output_plan(call, can)
        if output is not None and plan == "tool":
            known = compile_tools([*known, output.tool])
        return Sending(
            adapter,
            call,
            known,
            self._hooks,
            lambda: state.ledger.seconds_left,
            listening=self._listening,
            forced_tool=forced_tool(call, output_tools(call, plan)),
            reasoning_open=reasoning_is_open(call),
        )

    def _record_failure(
        self, sending: Sending, attempt: Attempt, adapter: Adapter, can: Capabilities, error: BaseException
    ) -> None:
        """Record a request that ended in an error: what it teaches, and the part of the reply before the error."""
        call = sending.call
        self._state.refused.note(adapter, call, error)
        self._learning.note_refusal(self._plan, call, can, error)
        self._record_cut_reply(sending, attempt, error)

    def _record_cut_reply(self, sending: Sending, attempt: Attempt, error: BaseException) -> None:
        failure = error if isinstance(error, LLMCoreError) else None
        self._state.ledger.finish(attempt, self._usage_of_cut_reply(sending), failure=failure)
        if failure is not None and failure.dropped:
            assign_field(attempt, dropped=[*dict.fromkeys((*attempt.dropped, *failure.dropped))])
        if sending.has_content:
            _record_response_facts(attempt, sending)
        if sending.envelope is not None and not self._hooks.has("on_response"):
            reply = _encodable_reply(sending)  # `on_response` hooks see whole replies only, and might have hidden a part
            self._state.note_reply(reply)
            self._state.note_dropped([DroppedCall(call, _ENDED_BEFORE) for call in reply.tool_calls if call.complete])
        self._requests.reply = sending.envelope

    def _usage_of_cut_reply(self, sending: Sending) -> Usage | None:
        """The usage of a request that ended early. Servers report usage at the end of a reply, so it is estimated from the part
        that came.

        If no part came, the request costs nothing: zero usage if its price is known, else None.
        """
        if not sending.has_content:
            nothing = Usage()
            free = cost_of(nothing, sending.call.endpoint)
            return None if free is None else updated(nothing, {"cost": free})
        return self._usage(sending.usage or _NOT_REPORTED, sending.call, sending.envelope or Envelope())

    # The reply

    def _record_reply(self, sending: Sending, attempt: Attempt, config: ModelConfig) -> Envelope:
        """Enter a whole reply in the ledger. Returns it as a result may hold it."""
        envelope, call = _encodable_reply(sending), sending.call
        self._encodable_calls = envelope.tool_calls
        is_whole = broken_reply_failure(envelope) is None
        self._state.ledger.finish(attempt, self._usage(sending.usage or (None if is_whole else _NOT_REPORTED), call, envelope))
        _record_response_facts(attempt, sending)
        if is_whole:
            self._learning.learn_from_reply(config, call, envelope)
        return envelope

    def _use_reply(self, envelope: Envelope, sending: Sending, attempt: Attempt) -> None:
        """Use the reply as the hooks returned it. If its finish reason makes it unusable, raises the failure."""
        state, asked = self._state, sending.call.request
        output = state.settings.output
        envelope = without_failed_call(envelope, typed=output is not None)
        failure = broken_reply_failure(envelope)
        none_allowed = asked.tool_choice == "none" or not sending.tools
        if failure is None and none_allowed and output is None:
            envelope = without_calls(envelope, self._given.known())
        state.note_reply(with_truncation_shown(envelope, broken=failure is not None))
        if failure is not None:
            state.ledger.finish(attempt, failure=failure)
            state.note_dropped([DroppedCall(call, f"It did not run: {failure}.") for call in envelope.tool_calls])
            raise failure
        if is_object(choice := self._request.tool_choice):
            envelope = forced_calls_alone(envelope, choice["name"])
        self._envelope, self._final = split_final_call(envelope, output)
        if asked.parallel_tool_calls is False:
            self._envelope = first_call_alone(self._envelope)

    def _usage(self, reported: Usage | None, call: ModelCall, envelope: Envelope) -> Usage:
        """Tokens and cost as the server reported them. They are estimated if it reported none, and under a budget if they are
        implausible."""
        ledger = self._state.ledger
        is_unknown = reported is not None and reported.estimated and not reported.total_tokens
        if is_unknown or ledger.budget.tokens is not None or ledger.budget.cost is not None or ledger.shared_budgets:
            return accounted(reported, call, envelope)
        usage = reported or Usage()
        if usage.cost is None and usage.total_tokens and call.endpoint.prices is not None:
            usage = updated(usage, {"cost": cost_of(usage, call.endpoint)})
        return usage

    # Validation

    def _answer_due(self) -> bool:
        """Whether an empty reply is a failure. It is not if a `stop` sequence may have ended it, except in a correction."""
        silenced = bool(self._request.stop) and self._envelope.finish_reason == "stop" and self._correction is None
        return self._final is None and not silenced

    def _may_ask_for_answer(self) -> bool:
        """Whether the reply is reasoning alone, a value was due, and this model was not yet asked for it."""
        name, state = self._plan.model, self._state
        if state.settings.output is None or self._correction is not None or not self._envelope.reasoning.strip():
            return False
        if name in self._models_asked_to_answer or state.ledger.reasks_left(name) == 0:
            return False
        self._models_asked_to_answer.add(name)
        return True

    def _end_request_for_answer(self) -> None:
        """If a model that was asked for the answer gave none, the turn begins again."""
        correcting = self._correction
        if correcting is not None and correcting.loop.problems == (NO_ANSWER,):
            self._correction = None

    def _loop(self, request: Request) -> CorrectionLoop:
        settings, choice = self._state.settings, request.tool_choice
        return CorrectionLoop(
            self._envelope,
            callable_tools(request, self._tools),
            reasks=self._state.ledger.reasks_left(self._plan.model),
            required=choice not in ("auto", "none"),
            may_call=self._state.tool_turns == 0,
            strictness=settings.strictness,
            output=settings.output,
            max_tokens=request.max_tokens,
        )

    def _record_report(self, loop: CorrectionLoop) -> None:
        """Enter the report of the last reply. If only the typed output is wrong, the report gets its problems."""
        ledger, report = self._state.ledger, loop.report
        if loop.problems and report.ok:
            report = updated(report, {"problems": list(loop.problems)})
        ledger.finish(ledger.attempts[-1], report=report)

    def _obeyed(self, accepted: Accepted) -> bool:
        """Whether the reply did what its mode asks for: it made a call, or gave the typed value."""
        return bool(accepted.envelope.tool_calls) or (self._state.settings.output is not None and accepted.is_final)

    def _answered_unknown_calls(self, result: CorrectionResult) -> Sequence[ToolCall]:
        """The calls of unknown tools that get an error as their result. Raises why the reply cannot be used."""
        state = self._state
        unknown = () if result.ok else self._unknown_calls(result)
        if not result.ok and not unknown:
            failure = unusable_reply_failure(result, typed=state.settings.output is not None)
            if self._call is not None:
                self._learning.note_unusable(self._plan, self._call, result.envelope)
            state.ledger.finish(state.ledger.attempts[-1], failure=failure)
            raise failure
        for name in {call.name for call in unknown} if unknown else ():
            state.unknown_name_answers[name] += 1
        return unknown

    def _set_accepted(
        self, result: CorrectionResult, calls: list[ToolCall], detail: ParseDetail | None, final: ToolCall | None
    ) -> list[Event]:
        """Set `accepted`, and return the repairs as events."""
        state, typed = self._state, self._state.settings.output is not None
        envelope = result.envelope
        done = not calls and envelope.needs_more_work is not True
        is_final = detail is not None if typed else done
        value = self._value(detail, is_final)
        self.accepted = Accepted(envelope, calls, self._encodable_calls, final, value, is_final, result.dropped)
        of_output = detail.repairs if detail is not None else ()
        state.note_repairs("reply", envelope.repairs)
        state.note_repairs("output", of_output)
        repaired: list[Event] = [
            Repaired(index, repair)
            for index, (before, after) in enumerate(zip(envelope.tool_calls, result.report.calls, strict=True))
            if after is not before
            for repair in after.repairs[len(before.repairs) :]
        ]
        repaired += [Repaired(None, repair) for repair in of_output]
        return list(map(event_copy, repaired))

    def _value(self, detail: ParseDetail | None, is_final: bool) -> Any:
        """The typed output as the validators returned it. For an answer in text, what they changed it to, else None."""
        value = detail.value if detail is not None else None
        if self._checked is None or not is_final:
            return value
        changed = detail is not None or not alike(self._checked.value, self._envelope.content)
        return self._checked.value if changed else None

    def _unknown_calls(self, result: CorrectionResult) -> Sequence[ToolCall]:
        """The calls of unknown tools that get an error as their result, because the reply's other calls may run."""
        unknown, answers = unknown_beside_good(result, self.toolbox), self._state.unknown_name_answers
        return () if any(answers[call.name] >= ANSWERS_PER_NAME for call in unknown) else unknown

    def _output_beside_calls(self, final: ToolCall) -> ParseDetail | None:
        """The output that stands in one reply with calls. None if it does not fit: then the calls' results come first."""
        output = self._state.settings.output
        assert output is not None  # otherwise no call is the output tool's
        if not final.complete:
            return None
        try:
            return output.read(output.text_of(final), self._state.settings.strictness)
        except OutputParseError:
            return None


def _record_response_facts(attempt: Attempt, sending: Sending) -> None:
    """Record what the response says of itself, whether the reply is whole or not."""
    if sending.response_id or sending.response_model or sending.time_to_first_token is not None:
        assign_field(
            attempt,
            response_id=sending.shown(sending.response_id),
            response_model=sending.shown(sending.response_model),
            time_to_first_token=sending.time_to_first_token,
        )
    if sending.dropped:
        assign_field(attempt, dropped=[*dict.fromkeys((*attempt.dropped, *sending.dropped))])


def _encodable_reply(sending: Sending) -> Envelope:
    """The reply, or the part that came, as a result may hold it."""
    envelope = encodable_reply(sending.envelope or Envelope())
    word = envelope.finish_word
    if not word or envelope.finish_reason is not None:  # a known one
        return envelope
    return envelope.model_copy(update={"finish_word": sending.shown(word)})


def event_copy(event: Event) -> Event:
    """The event. If it holds data of the reply, a copy with its own data."""
    if isinstance(event, ToolCallFinished):
        return ToolCallFinished(event.index, copied(event.call))
    return Repaired(event.index, copied(event.repair)) if isinstance(event, Repaired) else event
