"""One attempt = adapter -> normaliser -> validator with its re-ask, for one plan of layer 4.

It accepts a reply or raises why not. Every request is entered in the ledger before it goes out. What a reply taught
about the endpoint is recorded: a server that ignores tools or a format is found out here, one that refuses them in
layer 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from llmcore.adapters.base import PART_OF_MAX_TOKENS, Adapter, Capabilities, ModelCall
from llmcore.adapters.litellm.usage import accounted, cost_of
from llmcore.adapters.request.openings import forced_tool, reasoning_is_open
from llmcore.adapters.request.output import output_plan, output_tools
from llmcore.adapters.request.parts import optional_parts, parts_of
from llmcore.fallback import Plan
from llmcore.hooks import HookChain
from llmcore.models import ModelConfig
from llmcore.run.asking.sending import Sending
from llmcore.run.endpoints.catalog import Catalog
from llmcore.run.endpoints.choices import RunModels, admitted_tools
from llmcore.run.endpoints.modes import build_call
from llmcore.run.hooks.hook_results import hooked_reply, hooked_request
from llmcore.run.observing.dispatch import ChunkClock, Requests
from llmcore.run.output.answer_type import take_final_call
from llmcore.run.output.partial import PartialValues
from llmcore.run.output.validation import with_types_code
from llmcore.run.output.validators import Checked, check_output
from llmcore.run.results.history import fit_reply
from llmcore.run.setup.context_size import check_context
from llmcore.run.setup.settings import Toolbox
from llmcore.run.turn.calls_left_out import CALL_NOT_ALLOWED, left_out_of
from llmcore.run.turn.correction import Correcting
from llmcore.run.turn.learning import Learning
from llmcore.run.turn.reply_checks import (
    NO_ANSWER,
    broken_off,
    cut_shown,
    emptiness,
    first_call_alone,
    forced_calls_alone,
    unusable_after_reasks,
    without_calls,
    without_failed_call,
)
from llmcore.run.turn.state import RunState
from llmcore.run.turn.unknown_calls import TOLD_PER_NAME, unknown_beside_good
from llmcore.support.code.emitter import Tell, silently
from llmcore.support.values.copies import assign_field, copied, updated
from llmcore.support.values.identity import alike
from llmcore.support.values.narrowing import is_object
from llmcore.tools import compile_tools
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

_NOT_TOLD = Usage(estimated=True)
_NO_PLAN = Plan("", "text")
_ENDED_BEFORE = "It did not run: the reply ended before it was whole."


@dataclass(slots=True)
class Accepted:
    """A reply that may be used. `calls` are validated, as they may run; `came` are those of the reply as it came, which can be
    encoded; `final` is the call of the output tool, if one was made; `is_final`: nothing is left to do but to run the calls, and
    `value` is the typed output, if one was asked for. `dropped`: the calls that corrections left out."""

    envelope: Envelope
    calls: list[ToolCall]
    came: Sequence[ToolCall]
    final: ToolCall | None
    value: Any
    is_final: bool
    dropped: Sequence[DroppedCall]


class TurnAttempt:
    """Carries out plans for one turn; called by the fallback manager. After a success `accepted` is set."""

    def __init__(
        self,
        state: RunState,
        catalog: Catalog,
        hooks: HookChain,
        toolbox: Toolbox,
        models: RunModels,
        *,
        listening: bool,
        enforce_limits: bool,
        reason: AttemptReason,
        with_search: Callable[[Toolbox], Toolbox] | None = None,
    ) -> None:
        self._state = state
        self._catalog = catalog
        self._hooks = hooks
        self._given = toolbox
        self._with_search = with_search  # adds the tool that searches where the provider refuses to
        self.toolbox = toolbox
        """The tools of this turn: the given ones, as `before_request` left them."""
        self._offered = self._tools = toolbox.tool_set()
        self._models = models
        self._offer()
        self._listening = listening
        self._enforce_limits = enforce_limits
        self._first_reason: AttemptReason = reason
        self._plan = _NO_PLAN
        self._altered: Request | None = None
        self._request: Request  # of the latest reply, as `_envelope`
        self._envelope: Envelope
        self._calls_that_came: Sequence[ToolCall] = ()
        self._final: ToolCall | None = None
        self._correcting: Correcting | None = None
        self._has_asked = False
        self._only_thought = False
        self._asked_to_answer: set[str] = set()
        self._learning = Learning(models, state)
        self._call: ModelCall | None = None
        self._checked: Checked | None = None
        self._requests = Requests(state.watch)
        self.accepted: Accepted | None = None

    def _seconds_left(self) -> float | None:
        return self._state.ledger.seconds_left

    @property
    def leaves_doubt(self) -> bool:
        """May what was refused before the answer have been a passing thing?"""
        return self._learning.leaves_doubt

    @property
    def tool_names(self) -> list[str]:
        """Of the tools that this turn offers."""
        return [tool.name for tool in self._tools]

    @property
    def mode_matters(self) -> bool:
        """Are tools or a typed answer asked for, so that the output mode changes the request?"""
        return len(self._tools) > 0 or self._state.settings.output is not None

    def _offer(self) -> None:
        self._models.offer(len(self._tools) + (self._state.settings.output is not None))

    async def carry_out(self, plan: Plan, tell: Tell[Event]) -> None:
        """Carry out the plan. Raises the `LLMCoreError` that says why its reply cannot be used."""
        self._plan = plan
        self._take_altered(plan)
        config = self._models.config(plan.model, plan.deployment)
        self._models.check_price(config)
        reason = self._first_reason if plan.reason == "first" else plan.reason
        with self._requests:
            correcting, detail = self._correcting, plan.detail
            if correcting is None or not correcting.goes_on_with(plan.model):
                self._correcting = None
                self._state.give_up_reply()
                self.toolbox, self._tools = self._given, self._offered
                await self._added()
                await self._ask(config, plan, self._begun(config, plan), self._tools, reason, detail, tell)
                correcting = self._correcting = Correcting(plan.model, self._request, await self._judged_first(config, plan))
                reason, detail = "reask", ""
            loop = correcting.loop
            while not (loop.is_over or self._is_listened_to(loop)) and (correction := correcting.next()) is not None:
                # a request of its own that replaces the bad turn
                correcting.add(await self._added())
                asked, tools = correcting.corrected(correction), compile_tools(correction.tools)
                await self._ask(config, plan, asked, tools, reason, detail or correction.detail, tell)
                correcting.unanswered = None
                await self._typed(partial(loop.receive, self._envelope, admitted_tools(correcting.request, self._tools)))
                self._judged(loop)
                await self._ask_validators(loop)
                reason, detail = "reask", ""
            for event in await self._accept(loop.result):
                await tell(event)
            if self.accepted is not None and self._call is not None:
                self._learning.answered(config, plan, self._call, obeyed=self._obeyed(self.accepted))

    async def _judged_first(self, config: ModelConfig, plan: Plan) -> CorrectionLoop:
        """The loop that corrects a turn, whose first reply has come."""
        if self._state.settings.output is None:
            loop = self._loop(self._request)
        else:
            loop = await self._typed(partial(self._loop, self._request))
        self._state.judges(loop)
        if self._only_thought:
            loop.refuse(NO_ANSWER)
        self._judged(loop)
        if self._only_thought:
            return loop
        if self._call is not None and (failure := self._learning.ignoring(config, plan, self._call, self._request, loop)):
            self._state.ledger.finish(self._state.ledger.attempts[-1], failure=failure)
            raise failure
        await self._ask_validators(loop)
        return loop

    async def _added(self) -> Sequence[Message]:
        """What was added to the run since this turn's last request; what was there before its first entered with the turn."""
        entered = await self._state.take_interjections() if self._has_asked else ()
        self._has_asked = True
        return entered

    async def _ask(
        self,
        config: ModelConfig,
        plan: Plan,
        request: Request,
        tools: ToolSet,
        reason: AttemptReason,
        detail: str,
        tell: Tell[Event],
    ) -> None:
        """One request, entered in the ledger; leaves the reply in `_envelope` and `_final`. Raises `ModelError` for one that says
        nothing.

        Between the events of the reply come the partial values of a typed output.
        """
        if self._hooks.has("before_request"):
            request, tools = await self._hooked(request, tools)
        self._request = request
        call = self._built(config, plan, request, tools, reason, detail)
        can = call.capabilities or Capabilities()
        adapter = self._state.recorded(self._catalog.adapter(config))
        await check_context(self._state.settings.context, config, call, adapter, self._state.ledger.seconds_left)
        attempt = self._entered(adapter, call, can, request.max_tokens)
        scope = self._requests.begins(attempt, call)
        sending = self._sending(adapter, call, tools, can)
        try:
            if tell is not silently:
                await tell(AttemptStarted(attempt.n, attempt.model, attempt.mode, attempt.reason, attempt.deployment, detail))
            with scope:
                with self._state.ledger.uncounted():
                    await sending.ready()
                await sending.out(self._emit_events(sending, attempt, scope.emitting(tell)))
        except BaseException as error:
            self._failed(sending, attempt, adapter, can, error)
            raise
        self._requests.reply = sending.envelope
        envelope = self._enter_reply(sending, attempt, config)
        self._take(await hooked_reply(self._hooks, envelope), sending, attempt)
        if not (self._envelope.tool_calls or self._envelope.content.strip()):
            await self._refuse_empty()

    def _emit_events(self, sending: Sending, attempt: Attempt, tell: Tell[Event]) -> Tell[Event | None]:
        """Tells the events of a reply as they may be told, and between them the partial values of a typed output."""
        output, watch = self._state.settings.output, self._state.watch
        values = PartialValues(output, sending.tools) if output and self._listening else None
        silent = tell is silently and values is None
        told: Tell[Event | None] = silently if silent else partial(self._tell, values, sending, tell)
        return partial(self._clocked, ChunkClock(watch, attempt), told) if watch.has("chunk_came") else told

    async def _clocked(self, clock: ChunkClock, tell: Tell[Event | None], event: Event | None) -> None:
        if event is None:
            clock.tick()
        await tell(event)

    async def _tell(self, values: PartialValues | None, sending: Sending, tell: Tell[Event], event: Event | None) -> None:
        if values is None:
            if event is not None:
                await tell(to_listener(event))
            return
        look = partial(values.read_withheld, sending.held) if event is None else partial(values.saw, event)
        value = await self._typed(look)
        if event is not None and not values.hides(event):
            await tell(to_listener(event))
        if value is not None:
            await tell(value)

    async def _hooked(self, request: Request, tools: ToolSet) -> tuple[Request, ToolSet]:
        """The request with its tools, as the hooks leave it. What they did to the tools holds for the whole turn."""
        request, left = await hooked_request(self._hooks, request, self.toolbox.definitions(tool.name for tool in tools))
        others = self.toolbox.definitions(tool.name for tool in self._tools if tool.name not in tools)
        self.toolbox, tools = Toolbox.redefined([*others, *left]), compile_tools([definition for _, definition in left])
        self._tools = self.toolbox.tool_set()
        self._offer()
        return request, tools

    # Judging

    async def _refuse_empty(self) -> None:
        """Raises `ModelError` where the reply holds nothing although an answer was due. A model that only thought where a value
        was asked for is asked for the answer first, once."""
        state, failure = self._state, emptiness(self._envelope, answer_due=self._answer_due())
        self._only_thought = failure is not None and self._may_ask_for_answer()
        if failure is not None and not self._only_thought:
            self._end_asking()
            self._judged(await self._typed(partial(self._loop, self._request)))
            state.note_dropped(left_out_of(self._envelope))
            state.note_repairs("reply", [one for one in self._envelope.repairs if one.kind == CALL_NOT_ALLOWED])
            state.ledger.finish(state.ledger.attempts[-1], failure=failure)
            state.note_silence()
            raise failure

    async def _typed(self, function: Callable[[], T]) -> T:
        """What the function gives, which may run the code of the output type."""
        output = self._state.settings.output
        return function() if output is None else await with_types_code(output, self._state.ledger.seconds_left, function)

    async def _ask_validators(self, loop: CorrectionLoop) -> None:
        """Let the caller's validators judge a final answer; one that they refuse is asked for again."""
        if not self._state.settings.output_validators:
            return
        result, typed = loop.result, self._state.settings.output is not None
        due = result.detail is not None if typed else result.envelope.needs_more_work is not True
        if not result.ok or result.report.calls or not due:
            return
        self._checked = await self._check(result.detail.value if result.detail is not None else result.envelope.content)
        if self._checked.problem is not None:
            loop.refuse(self._checked.problem, self._checked.cause)
            self._judged(loop)

    async def _check(self, value: Any) -> Checked:
        state = self._state
        settings = state.settings
        return await check_output(settings.output_validators, value, state.context(), self._seconds_left, settings.output)

    async def _accept(self, result: CorrectionResult) -> list[Event]:
        """Set `accepted` and tell the repairs, or raise why the reply cannot be used."""
        unknown, detail, final = self._may_be_used(result), result.detail, self._final
        calls = result.report.calls if unknown else result.report.runnable
        if calls and final is not None:
            detail = await self._typed(partial(self._beside_calls, final))
            self._checked = await self._check(detail.value) if detail is not None else None
            detail = None if self._checked is not None and self._checked.problem is not None else detail
            final = final if detail is not None else None
        return self._accepted_as(result, calls, detail, final)

    # The request

    def _take_altered(self, plan: Plan) -> None:
        """A strategy put another request in the place of the turn's: the turn begins anew with it."""
        if plan.request is not None and plan.request is not self._altered:
            self._altered = plan.request
            self._state.alter(plan.request)
            self._correcting = None

    def _begun(self, config: ModelConfig, plan: Plan) -> Request:
        """The turn's request; where the provider was to search the web and refuses to, our own tool does it."""
        request = self._state.request()
        if self._with_search is None or not request.allow_web_search:
            return request
        call = self._built(config, plan, request, self._tools, "first", "")
        if call.capabilities is not None and "web_search" in parts_of(call, call.capabilities):
            return request
        toolbox = self._with_search(self._given)
        if toolbox.get(WEB_SEARCH) is None:  # `allowed` leaves it out: who sends the request tells that nobody searches
            return request
        self.toolbox, self._tools = toolbox, toolbox.tool_set()
        return updated(request, {"allow_web_search": False})

    def _built(
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
            self._state.settings.output,
            streamed=self._streams(plan, can),
            enforce_limits=self._enforce_limits,
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
        """The parts of the latest request that it can do without; in the `last` mode these are more."""
        call = self._call
        if call is None:
            return frozenset()
        return optional_parts(call, call.capabilities or Capabilities(), last=last)

    def _entered(self, adapter: Adapter, call: ModelCall, can: Capabilities, most_tokens: int | None) -> Attempt:
        """The ledger's entry of a request that goes out, which asked for `most_tokens`. Raises `RequestRefused` for one that was
        refused before, and `LimitExceeded` where the budget is spent."""
        plan = self._plan
        try:
            self._state.refused.check(adapter, call)
        except RequestRefused as error:  # what was left out was not in it
            self._learning.refused(plan, call, can, error)
            raise
        attempt = self._state.ledger.start(plan.model, plan.mode, call.reason or "first", call.detail, plan.deployment)
        if call.request.max_tokens != most_tokens:
            assign_field(attempt, dropped=[PART_OF_MAX_TOKENS])
        return attempt

    def _streams(self, plan: Plan, can: Capabilities) -> bool:
        """Is the reply asked for as a stream? A server may take tools only without one."""
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

    def _failed(self, sending: Sending, attempt: Attempt, adapter: Adapter, can: Capabilities, error: BaseException) -> None:
        """The request ended in an error: what that teaches, and what came before it."""
        call = sending.call
        self._state.refused.note(adapter, call, error)
        self._learning.refused(self._plan, call, can, error)
        self._broken_off(sending, attempt, error)

    def _broken_off(self, sending: Sending, attempt: Attempt, error: BaseException) -> None:
        failure = error if isinstance(error, LLMCoreError) else None
        self._state.ledger.finish(attempt, self._charged(sending), failure=failure)
        if failure is not None and failure.dropped:
            assign_field(attempt, dropped=[*dict.fromkeys((*attempt.dropped, *failure.dropped))])
        if sending.has_content:
            _tell_of_reply(attempt, sending)
        if sending.envelope is not None and not self._hooks.has("on_response"):
            came = _fit(sending)  # such a hook sees whole replies only, and may have hidden a part
            self._state.note(came)
            self._state.note_dropped([DroppedCall(call, _ENDED_BEFORE) for call in came.tool_calls if call.complete])
        self._requests.reply = sending.envelope

    def _charged(self, sending: Sending) -> Usage | None:
        """The usage of a request that was broken off: of what came, it is paid for. When nothing came, it costs nothing where its
        price is known, and is None elsewhere. Servers tell usage at the end, which this one has not come to."""
        if not sending.has_content:
            nothing = Usage()
            free = cost_of(nothing, sending.call.endpoint)
            return None if free is None else updated(nothing, {"cost": free})
        return self._usage(sending.usage or _NOT_TOLD, sending.call, sending.envelope or Envelope())

    # The reply

    def _enter_reply(self, sending: Sending, attempt: Attempt, config: ModelConfig) -> Envelope:
        """A reply is there, whole: as it may stand in a result, and entered in the ledger."""
        envelope, call = _fit(sending), sending.call
        self._calls_that_came = envelope.tool_calls
        is_whole = broken_off(envelope) is None
        self._state.ledger.finish(attempt, self._usage(sending.usage or (None if is_whole else _NOT_TOLD), call, envelope))
        _tell_of_reply(attempt, sending)
        if is_whole:
            self._learning.learn_from_reply(config, call, envelope)
        return envelope

    def _take(self, envelope: Envelope, sending: Sending, attempt: Attempt) -> None:
        """The reply as hooks left it. Raises what its end says, where that is no good one."""
        state, asked = self._state, sending.call.request
        output = state.settings.output
        envelope = without_failed_call(envelope, typed=output is not None)
        failure = broken_off(envelope)
        none_allowed = asked.tool_choice == "none" or not sending.tools
        if failure is None and none_allowed and output is None:
            envelope = without_calls(envelope, self._given.known())
        state.note(cut_shown(envelope, broken=failure is not None))
        if failure is not None:
            state.ledger.finish(attempt, failure=failure)
            state.note_dropped([DroppedCall(call, f"It did not run: {failure}.") for call in envelope.tool_calls])
            raise failure
        if is_object(choice := self._request.tool_choice):
            envelope = forced_calls_alone(envelope, choice["name"])
        self._envelope, self._final = take_final_call(envelope, output)
        if asked.parallel_tool_calls is False:
            self._envelope = first_call_alone(self._envelope)

    def _usage(self, told: Usage | None, call: ModelCall, envelope: Envelope) -> Usage:
        """Tokens and cost: as told; estimated where nothing was, and under a budget where that cannot be believed."""
        budget = self._state.ledger.budget
        nothing_told = told is not None and told.estimated and not told.total_tokens
        if nothing_told or budget.tokens is not None or budget.cost is not None:
            return accounted(told, call, envelope)
        usage = told or Usage()
        if usage.cost is None and usage.total_tokens and call.endpoint.prices is not None:
            usage = updated(usage, {"cost": cost_of(usage, call.endpoint)})
        return usage

    # Judging

    def _answer_due(self) -> bool:
        """An empty reply is none, but where it was asked for: a `stop` sequence may stand first. Of a correction it may not: what
        was asked for there is a call or a value."""
        silenced = bool(self._request.stop) and self._envelope.finish_reason == "stop" and self._correcting is None
        return self._final is None and not silenced

    def _may_ask_for_answer(self) -> bool:
        """Is the reply nothing but reasoning, of a model that was to give a value and was not asked for it yet?"""
        name, state = self._plan.model, self._state
        if state.settings.output is None or self._correcting is not None or not self._envelope.reasoning.strip():
            return False
        if name in self._asked_to_answer or state.ledger.reasks_left(name) == 0:
            return False
        self._asked_to_answer.add(name)
        return True

    def _end_asking(self) -> None:
        """A model that was asked for the answer gave none: what follows begins the turn anew."""
        correcting = self._correcting
        if correcting is not None and correcting.loop.problems == (NO_ANSWER,):
            self._correcting = None

    def _loop(self, request: Request) -> CorrectionLoop:
        settings, choice = self._state.settings, request.tool_choice
        return CorrectionLoop(
            self._envelope,
            admitted_tools(request, self._tools),
            reasks=self._state.ledger.reasks_left(self._plan.model),
            required=choice not in ("auto", "none"),
            may_call=self._state.tool_turns == 0,
            strictness=settings.strictness,
            output_type=settings.request.output_type,
            max_tokens=request.max_tokens,
            read=self._read if settings.output else None,
        )

    def _read(self, text: str) -> ParseDetail:
        settings = self._state.settings
        assert settings.output is not None  # only then is a value read
        return settings.output.read(text, settings.strictness)

    def _judged(self, loop: CorrectionLoop) -> None:
        """Enter the report of the last reply, with the problems of the typed output, if that is what is wrong."""
        ledger, report = self._state.ledger, loop.report
        if loop.problems and report.ok:
            report = updated(report, {"problems": list(loop.problems)})
        ledger.finish(ledger.attempts[-1], report=report)

    def _obeyed(self, accepted: Accepted) -> bool:
        """Did the reply do what its mode asks for: a call, or the typed value?"""
        return bool(accepted.envelope.tool_calls) or (self._state.settings.output is not None and accepted.is_final)

    def _may_be_used(self, result: CorrectionResult) -> Sequence[ToolCall]:
        """The calls of unknown tools that are answered as such. Raises why the reply cannot be used."""
        state = self._state
        unknown = () if result.ok else self._unknown(result)
        if not result.ok and not unknown:
            failure = unusable_after_reasks(result, typed=state.settings.output is not None)
            if self._call is not None:
                self._learning.unusable(self._plan, self._call, result.envelope)
            state.ledger.finish(state.ledger.attempts[-1], failure=failure)
            raise failure
        for name in {call.name for call in unknown} if unknown else ():
            state.unknown_told[name] += 1
        return unknown

    def _accepted_as(
        self, result: CorrectionResult, calls: list[ToolCall], detail: ParseDetail | None, final: ToolCall | None
    ) -> list[Event]:
        """Set `accepted` and tell the repairs."""
        state, typed = self._state, self._state.settings.output is not None
        envelope = result.envelope
        done = not calls and envelope.needs_more_work is not True
        is_final = detail is not None if typed else done
        value = self._value(detail, is_final)
        self.accepted = Accepted(envelope, calls, self._calls_that_came, final, value, is_final, result.dropped)
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
        return list(map(to_listener, repaired))

    def _value(self, detail: ParseDetail | None, is_final: bool) -> Any:
        """The typed output, as the validators left it; of an answer in words, what they made of it."""
        value = detail.value if detail is not None else None
        if self._checked is None or not is_final:
            return value
        changed = detail is not None or not alike(self._checked.value, self._envelope.content)
        return self._checked.value if changed else None

    def _unknown(self, result: CorrectionResult) -> Sequence[ToolCall]:
        """Calls of unknown tools that are answered as such, because the reply's other calls may run."""
        unknown, told = unknown_beside_good(result, self.toolbox), self._state.unknown_told
        return () if any(told[call.name] >= TOLD_PER_NAME for call in unknown) else unknown

    def _is_listened_to(self, loop: CorrectionLoop) -> bool:
        return len(self._unknown(loop.result)) > 0

    def _beside_calls(self, final: ToolCall) -> ParseDetail | None:
        """The output given in one reply with calls, None when it does not fit: then the calls' results come first."""
        output = self._state.settings.output
        assert output is not None  # without it no call is the output tool's
        if not final.complete:
            return None
        try:
            return self._read(output.text_of(final))
        except OutputParseError:
            return None


def _tell_of_reply(attempt: Attempt, sending: Sending) -> None:
    """What is known of the reply itself, whole or not."""
    if sending.response_id or sending.response_model or sending.time_to_first_token is not None:
        assign_field(
            attempt,
            response_id=sending.shown(sending.response_id),
            response_model=sending.shown(sending.response_model),
            time_to_first_token=sending.time_to_first_token,
        )
    if sending.dropped:
        assign_field(attempt, dropped=[*dict.fromkeys((*attempt.dropped, *sending.dropped))])


def _fit(sending: Sending) -> Envelope:
    """The reply, or what came of it, as it may stand in a result."""
    envelope = fit_reply(sending.envelope or Envelope())
    word = envelope.finish_word
    if not word or envelope.finish_reason is not None:  # one that we know
        return envelope
    return envelope.model_copy(update={"finish_word": sending.shown(word)})


def to_listener(event: Event) -> Event:
    """The event; where it holds data of the reply, with a copy of it."""
    if isinstance(event, ToolCallFinished):
        return ToolCallFinished(event.index, copied(event.call))
    return Repaired(event.index, copied(event.repair)) if isinstance(event, Repaired) else event
