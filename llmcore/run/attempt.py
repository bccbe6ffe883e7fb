"""One attempt = adapter -> normaliser -> validator with its re-ask, for one plan of layer 4.

It accepts a reply or raises why not. Every request is entered in the ledger before it goes out. What a reply taught
about the endpoint is recorded: a server that ignores tools or a format is found out here, one that refuses them in
layer 4.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.output import output_plan
from llmcore.adapters.usage import cost_of
from llmcore.fallback import Plan
from llmcore.hooks import HookChain
from llmcore.models import ModelConfig
from llmcore.run.catalog import Catalog
from llmcore.run.choices import RunModels
from llmcore.run.modes import build_call
from llmcore.run.output import take_final_call
from llmcore.run.partial import PartialValues
from llmcore.run.sending import Sending
from llmcore.run.state import RunState
from llmcore.run.verdict import forced_tool, refuse_empty, unusable, without_calls
from llmcore.tools import compile_tools
from llmcore.types import (
    Attempt,
    AttemptReason,
    AttemptStarted,
    Envelope,
    Event,
    LLMCoreError,
    OutputParseError,
    Repaired,
    Request,
    ToolCall,
    ToolSet,
    Usage,
)
from llmcore.validator import Correction, CorrectionLoop, CorrectionResult, parse_detailed

__all__ = ["Accepted", "TurnAttempt"]

_CHARACTERS_PER_TOKEN = 4
_JSON_MODES = frozenset({"json_schema", "json_object"})


@dataclass(frozen=True, slots=True)
class Accepted:
    """A reply that may be used. `calls` are validated, as they may run; `final` is the call of the output tool, if
    one was made; `is_final`: nothing is left to do but to run the calls, and `value` is the typed output, if one was
    asked for."""

    envelope: Envelope
    calls: list[ToolCall]
    final: ToolCall | None
    value: Any
    is_final: bool


class TurnAttempt:
    """Carries out plans for one turn; called by the fallback manager. After a success `accepted` is set."""

    def __init__(
        self,
        state: RunState,
        catalog: Catalog,
        hooks: HookChain,
        tools: ToolSet,
        models: RunModels,
        *,
        listening: bool,
        enforce_limits: bool,
        reason: AttemptReason,
    ) -> None:
        self._state = state
        self._catalog = catalog
        self._hooks = hooks
        self._tools = tools
        self._models = models
        self._listening = listening
        self._enforce_limits = enforce_limits
        self._first_reason: AttemptReason = reason
        self._envelope = Envelope()
        self._final: ToolCall | None = None
        self.accepted: Accepted | None = None

    @property
    def mode_matters(self) -> bool:
        """Are tools or a typed answer asked for, so that the output mode changes the request?"""
        return len(self._tools) > 0 or self._state.settings.output is not None

    async def __call__(self, plan: Plan) -> AsyncGenerator[Event, None]:
        config = self._catalog.registry.get(plan.model)
        request = self._state.request()
        reason = self._first_reason if plan.reason == "first" else plan.reason
        async with aclosing(self._send(config, plan, request, self._tools, reason, plan.detail)) as events:
            async for event in events:
                yield event
        self._refuse_empty()
        loop = self._loop(request)
        async with aclosing(self._corrected(loop, config, request, plan)) as events:
            async for event in events:
                yield event
        for event in self._accept(loop.result):
            yield event

    # One request

    async def _send(
        self, config: ModelConfig, plan: Plan, request: Request, tools: ToolSet, reason: AttemptReason, detail: str
    ) -> AsyncGenerator[Event, None]:
        """One request, entered in the ledger; leaves the reply in `_envelope` and `_final`."""
        request, tools = await self._asked(request, tools)
        attempt = self._state.ledger.start(plan.model, plan.mode, reason, detail)
        sending: Sending | None = None
        try:
            can = self._models.can(config)
            output = self._state.settings.output
            limits = self._enforce_limits
            call = build_call(config, can, plan.mode, request, tuple(tools), output, enforce_limits=limits, reason=reason)
            sending = self._sending(config, call, tools, can)
            yield AttemptStarted(attempt.n, attempt.model, attempt.mode, attempt.reason)
            async with aclosing(self._with_values(sending)) as events:
                async for event in events:
                    yield event
        except BaseException as error:
            self._broken_off(sending, attempt, error)
            raise
        await self._came(sending, attempt, call, config)

    async def _asked(self, request: Request, tools: ToolSet) -> tuple[Request, ToolSet]:
        """The request with its tools, as the hooks leave it."""
        if not self._hooks.has("before_request"):
            return request, tools
        request = await self._hooks.before_request(request.model_copy(update={"tools": tuple(tools)}))
        return request, compile_tools(request.tools)

    def _sending(self, config: ModelConfig, call: ModelCall, tools: ToolSet, can: Capabilities) -> Sending:
        state, output = self._state, self._state.settings.output
        known = ToolSet() if call.request.tool_choice == "none" else tools
        if output is not None and output_plan(call, can) == "tool":
            known = compile_tools([*known, output.tool])
        return Sending(
            self._catalog.adapter(config),
            call,
            known,
            self._hooks,
            lambda: state.ledger.seconds_left,
            listening=self._listening,
            streaming=self._listening and can.streaming is not False,
            forced_tool=forced_tool(call.request, call.tools),
        )

    async def _with_values(self, sending: Sending) -> AsyncGenerator[Event, None]:
        """The events of a reply, and with a typed output its partial values in between."""
        settings = self._state.settings
        values = PartialValues(settings.output, settings.request.output_type) if settings.output else None
        async with aclosing(sending.events()) as events:
            async for event in events:
                yield event
                partial = values.saw(event) if values else None
                if partial is not None:
                    yield partial

    def _broken_off(self, sending: Sending | None, attempt: Attempt, error: BaseException) -> None:
        failure = error if isinstance(error, LLMCoreError) else None
        self._state.ledger.finish(attempt, sending.usage if sending else None, failure=failure)
        if sending is not None and sending.envelope is not None:
            self._state.note(sending.envelope, whole=False)

    async def _came(self, sending: Sending, attempt: Attempt, call: ModelCall, config: ModelConfig) -> None:
        """A reply is there, whole."""
        envelope = sending.envelope or Envelope()
        self._state.ledger.finish(attempt, self._usage(sending.usage, call, envelope))
        envelope = await self._hooks.on_response(envelope)
        self._state.note(envelope)
        self._learn(config, call, envelope)
        if call.request.tool_choice == "none" and self._state.settings.output is None:
            envelope = without_calls(envelope)
        self._envelope, self._final = take_final_call(envelope, self._state.settings.output)

    def _usage(self, told: Usage | None, call: ModelCall, envelope: Envelope) -> Usage:
        """Tokens and cost: as told; where a budget of tokens hangs on it and nothing was told, as estimated."""
        usage = told or Usage()
        if not usage.total_tokens and self._state.ledger.budget.tokens is not None:
            asked = sum(len(message.model_dump_json()) for message in call.request.messages)
            usage = Usage(
                input_tokens=asked // _CHARACTERS_PER_TOKEN,
                output_tokens=len(envelope.source) // _CHARACTERS_PER_TOKEN,
                estimated=True,
            )
        priced = call.endpoint.prices is not None or self._state.ledger.budget.cost is not None
        if usage.cost is None and usage.total_tokens and priced:
            usage = usage.model_copy(update={"cost": cost_of(usage, call.endpoint)})
        return usage

    # Judging

    def _refuse_empty(self) -> None:
        state = self._state
        try:
            refuse_empty(self._envelope, answer_due=self.mode_matters and not state.tool_turns and self._final is None)
        except LLMCoreError as error:
            state.ledger.finish(state.ledger.attempts[-1], failure=error)
            raise

    def _loop(self, request: Request) -> CorrectionLoop:
        settings, choice = self._state.settings, request.tool_choice
        unfinished = self._envelope.needs_more_work is True and self._final is None
        named = self._tools.get(choice.get("name", "")) if isinstance(choice, dict) else None
        return CorrectionLoop(
            self._envelope,
            compile_tools([named.definition]) if named else self._tools,
            reasks=self._state.ledger.reasks_left,
            required=choice not in ("auto", "none"),
            strictness=settings.strictness,
            output_type=None if unfinished else settings.request.output_type,
            max_tokens=request.max_tokens,
        )

    async def _corrected(
        self, loop: CorrectionLoop, config: ModelConfig, request: Request, plan: Plan
    ) -> AsyncGenerator[Event, None]:
        """The re-asks, each a request of its own that replaces the bad turn."""
        ledger = self._state.ledger
        ledger.finish(ledger.attempts[-1], report=loop.result.report)
        while (correction := loop.next()) is not None:
            asked, tools = _corrected_request(request, correction), compile_tools(correction.tools)
            async with aclosing(self._send(config, plan, asked, tools, "reask", correction.detail)) as events:
                async for event in events:
                    yield event
            loop.receive(self._envelope)
            ledger.finish(ledger.attempts[-1], report=loop.result.report)

    def _accept(self, result: CorrectionResult) -> list[Event]:
        """Set `accepted` and tell the repairs, or raise why the reply cannot be used."""
        state, typed = self._state, self._state.settings.output is not None
        if not result.ok:
            failure = unusable(result, typed=typed)
            state.ledger.finish(state.ledger.attempts[-1], failure=failure)
            raise failure
        envelope, calls = result.envelope, result.report.runnable
        detail, final = result.detail, self._final
        if calls and final is not None:
            detail = self._beside_calls(final)
            final = final if detail is not None else None
        done = not calls and envelope.needs_more_work is not True
        is_final = detail is not None if typed else done
        value = detail.value if detail is not None else None
        self.accepted = Accepted(envelope, calls, final, value, is_final)
        repaired: list[Event] = [
            Repaired(index, repair)
            for index, (before, after) in enumerate(zip(envelope.tool_calls, result.report.calls, strict=True))
            for repair in after.repairs[len(before.repairs) :]
        ]
        return repaired + [Repaired(None, repair) for repair in (detail.repairs if detail else ())]

    def _beside_calls(self, final: ToolCall) -> Any:
        """The output given in one reply with calls, None when it does not fit: then the calls' results come first."""
        settings = self._state.settings
        assert settings.output is not None  # without it no call is the output tool's
        try:
            return parse_detailed(settings.output.text_of(final), settings.request.output_type, strictness=settings.strictness)
        except OutputParseError:
            return None

    def _learn(self, config: ModelConfig, call: ModelCall, envelope: Envelope) -> None:
        """What the reply shows of the endpoint: that it takes tools, or ignores what it was asked for."""
        can = self._models.can(config)
        if call.mode in _JSON_MODES and getattr(can, call.mode) is not False and _is_prose(envelope.source):
            self._models.learn(config, call.mode, works=False)
        if call.mode != "native_tools" or not envelope.tool_calls:
            return
        if any(made.dialect == "native" for made in envelope.tool_calls):
            if can.native_tools is None:
                self._models.learn(config, "native_tools", works=True)
        elif can.emits_text_calls is None:
            self._models.learn(config, "emits_text_calls", works=True)


def _is_prose(text: str) -> bool:
    """Words without any JSON object or list: no server that enforces a JSON mode lets them through."""
    return bool(text.strip()) and not ("{" in text or "[" in text)


def _corrected_request(request: Request, correction: Correction) -> Request:
    changes: dict[str, Any] = {
        "messages": [*request.messages, *correction.messages],
        "tool_choice": correction.tool_choice,
    }
    if correction.max_tokens is not None:
        changes["max_tokens"] = correction.max_tokens
    return request.model_copy(update=changes)
