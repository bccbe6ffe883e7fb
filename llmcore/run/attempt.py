"""One attempt = adapter -> normaliser -> validator with its re-ask, for one plan of layer 4.

It accepts a reply or raises why not. Every request is entered in the ledger before it goes out. What a reply taught
about the endpoint is recorded: a server that ignores tools or a format is found out here, one that refuses them in
layer 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from llmcore.adapters.base import Capabilities
from llmcore.fallback import Plan
from llmcore.models import ModelConfig
from llmcore.run.choices import admitted_tools
from llmcore.run.context_size import check_context
from llmcore.run.correcting import Correcting
from llmcore.run.entering import take_interjections
from llmcore.run.hooked import hooked_reply, hooked_request
from llmcore.run.left_out import CALL_NOT_ALLOWED, left_out_of
from llmcore.run.output_checks import Checked, check_output
from llmcore.run.partial import PartialValues
from llmcore.run.sending import Sending
from llmcore.run.settings import Toolbox
from llmcore.run.turn_state import TurnState, to_listener
from llmcore.run.validating import with_types_code
from llmcore.run.verdict import NO_ANSWER, emptiness
from llmcore.run.watching import ChunkClock
from llmcore.tools import compile_tools
from llmcore.types import (
    Attempt,
    AttemptReason,
    AttemptStarted,
    Event,
    Message,
    Request,
    ToolSet,
)
from llmcore.types.telling import Tell, silently
from llmcore.validator import CorrectionLoop, CorrectionResult

__all__ = ["TurnAttempt"]

T = TypeVar("T")


class TurnAttempt(TurnState):
    """Carries out plans for one turn; called by the fallback manager. After a success `accepted` is set."""

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
            while not (loop.is_over or self._is_told(loop)) and (correction := correcting.next()) is not None:
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
        entered = await take_interjections(self._state) if self._has_asked else ()
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
                await sending.out(self._telling(sending, attempt, scope.telling(tell)))
        except BaseException as error:
            self._failed(sending, attempt, adapter, can, error)
            raise
        self._requests.reply = sending.envelope
        envelope = self._came(sending, attempt, config)
        self._take(await hooked_reply(self._hooks, envelope), sending, attempt)
        if not (self._envelope.tool_calls or self._envelope.content.strip()):
            await self._refuse_empty()

    def _telling(self, sending: Sending, attempt: Attempt, tell: Tell[Event]) -> Tell[Event | None]:
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
        look = partial(values.saw_held, sending.held) if event is None else partial(values.saw, event)
        value = await self._typed(look)
        if event is not None and not values.hides(event):
            await tell(to_listener(event))
        if value is not None:
            await tell(value)

    async def _hooked(self, request: Request, tools: ToolSet) -> tuple[Request, ToolSet]:
        """The request with its tools, as the hooks leave it. What they did to the tools holds for the whole turn."""
        request, left = await hooked_request(self._hooks, request, self.toolbox.told(tool.name for tool in tools))
        others = self.toolbox.told(tool.name for tool in self._tools if tool.name not in tools)
        self.toolbox, tools = Toolbox.telling([*others, *left]), compile_tools([definition for _, definition in left])
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
