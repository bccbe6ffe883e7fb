"""What the attempts of one turn teach of the endpoints they asked: by the form of a reply, and by contrast.

A server that refuses a capability in words that we know teaches it in layer 4; here is what has no such words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.capabilities import is_learnable
from llmcore.adapters.capabilities.facts import writes
from llmcore.adapters.request.choices import calls_for_one, requires_call
from llmcore.fallback import Plan
from llmcore.models import ModelConfig
from llmcore.run.choices import RunModels, ignored_part, is_prose
from llmcore.run.comparing import MODES_OWN
from llmcore.run.contrast import IGNORED, Contrast, Doubt, Proof
from llmcore.run.parts import BESIDE_TOOLS, LEARNT_AS, parts_of
from llmcore.run.state import RunState
from llmcore.run.verdict import no_call, no_json
from llmcore.types import Envelope, LLMCoreError, Request, RequestRefused, ToolCall
from llmcore.validator import CorrectionLoop

__all__ = ["SPARE_REQUESTS", "Learning"]

_JSON_MODES = frozenset({"json_schema", "json_object"})
_BESIDE_TOOLS = BESIDE_TOOLS | {"tool_results"}
_WRITTEN = "a call written as text"
"""By these it is filed that a place wrote one where it is known to make native ones."""
SPARE_REQUESTS = 3
"""With so many requests left, or fewer, of a run's budget none is made in order to compare."""


def is_certain(call: ToolCall) -> bool:
    """Was it read without a guess? A guess teaches nothing."""
    return call.complete and all(repair.safety != "guess" for repair in call.repairs)


class Learning:
    """Of one turn."""

    def __init__(self, models: RunModels, state: RunState) -> None:
        self._models = models
        self._state = state
        self._contrast = Contrast()
        self._wrote_calls = False
        self.leaves_doubt = False

    def refused(self, plan: Plan, call: ModelCall, can: Capabilities, error: BaseException, *, again: bool = False) -> None:
        """A request failed. What the user promises goes out though it was refused before: then it is left out first. `again`: it
        was not sent, since it would have been one that was refused before."""
        config, left = self._models.config(plan.model, plan.deployment), self._state.ledger.requests_left
        self._contrast.refused(
            (plan.model, plan.deployment),
            call,
            can,
            error,
            without=plan.without,
            doubted=partial(self._models.doubted, config),
            may_compare=left is None or left > SPARE_REQUESTS,
            again=again,
        )
        if isinstance(error, RequestRefused) and len(error.additions) > 1:
            known = self._models.learnt(config)
            refused = [name for name in error.additions if known.get(LEARNT_AS.get(name, name)) is False]
            error.additions = tuple(dict.fromkeys((*refused, *error.additions)))

    def came(self, config: ModelConfig, call: ModelCall, envelope: Envelope) -> None:
        """A whole reply shows of its endpoint that it takes tools, or ignores what it was asked for."""
        can = self._models.can(config)
        if call.mode in _JSON_MODES and getattr(can, call.mode) is not False and is_prose(envelope.source):
            self._models.learn(config, call.mode, works=False)
        if call.mode != "native_tools" or not envelope.tool_calls:
            return
        for dialect in {made.dialect for made in envelope.tool_calls if is_certain(made)} - {"native"}:
            if not self._models.learnt(config).get(writes(dialect)):
                self._models.learn(config, writes(dialect), works=True)
        if any(made.dialect == "native" for made in envelope.tool_calls):
            if can.native_tools is not True:
                self._models.learn(config, "native_tools", works=True)
            if can.emits_text_calls and not config.expect_xml:
                self._models.learn(config, "emits_text_calls", works=False)
            if self._models.has_doubts:
                self._models.clear(config, ["emits_text_calls"])
        elif can.emits_text_calls is None and (can.native_tools is not True or self._writes_again(config)):
            self._models.learn(config, "emits_text_calls", works=True)

    def _writes_again(self, config: ModelConfig) -> bool:
        """Did a model that is known to make native calls write one as text in another turn, too, and make none since? Once is
        the slip of a reply. What was seen to make one is not doubted."""
        if self._wrote_calls or self._models.learnt(config).get("native_tools"):
            return False
        self._wrote_calls = True
        return self._models.doubt(config, "emits_text_calls", _WRITTEN)

    def ignoring(
        self, config: ModelConfig, plan: Plan, call: ModelCall, request: Request, loop: CorrectionLoop
    ) -> LLMCoreError | None:
        """The failure of a reply that cannot be used and by its form comes from an endpoint that ignores what the mode asks for:
        asked again in the same words it would say the same, so the next mode is asked at once, where there is one."""
        if loop.is_over:
            return None
        result = loop.result
        is_cut = result.envelope.truncated or result.envelope.finish_reason == "length"
        if is_cut or not self._models.may_change_mode(config.alias):
            return None
        modes = self._models.modes(config.alias)
        if not set(modes) - {plan.mode}:
            return None
        if not self._state.ledger.attempts_left(config.alias):  # a re-ask is all that is left
            return None
        typed = self._state.settings.output is not None
        if plan.mode in _JSON_MODES and plan.mode not in modes:
            return no_json(result, typed=typed)
        can = self._models.can(config)
        ignored = ignored_part(call, result.envelope, can) if plan.mode == "native_tools" else None
        if ignored is None:
            return None
        is_known = getattr(can, ignored) is True
        self._contrast.ignored((plan.model, plan.deployment), ignored, is_known=is_known)
        if request.tool_choice in ("auto", "none"):
            return None  # only a value was asked for: the model is told first what is wrong with its words
        if is_known and "native_tools" not in self._models.doubted(config, IGNORED):
            return None  # it may be the slip of one reply
        return no_call(result, typed=typed)

    def unusable(self, plan: Plan, call: ModelCall, reply: Envelope) -> None:
        """A reply cannot be used, also after it was told what is wrong. Words alone, where a call is due that the request cannot
        require (the wire has no word for it, or the endpoint refuses it), come from an endpoint that may ignore tools."""
        can = call.capabilities or Capabilities()
        if call.mode != "native_tools" or can.native_tools is True or requires_call(call, can):
            return
        if calls_for_one(call, can) and not reply.tool_calls and is_prose(reply.content):
            self._contrast.ignored((plan.model, plan.deployment))

    def answered(self, config: ModelConfig, plan: Plan, call: ModelCall, *, obeyed: bool) -> None:
        """An answer was accepted where another mode had been refused or ignored: that is what the endpoint does not take.
        `obeyed`: it made a call, or gave the typed value."""
        can = call.capabilities or self._models.can(config)
        if self._models.has_doubts:
            self._models.clear(config, [LEARNT_AS.get(name, name) for name in parts_of(call, can)])
        if not self._contrast:
            return
        place = (plan.model, plan.deployment)
        proof = self._contrast.proven(place, call, can, obeyed=obeyed, without=plan.without)
        self.leaves_doubt = any(doubt.words != IGNORED for doubt in proof.doubts)
        for met in proof.met:  # its words are known from now on, whatever else they refuse
            self._confirmed(config, [met])
        found = [*proof.lacks, *self._confirmed(config, proof.doubts)]
        found += self._all_left_out(config, proof, found)
        for capability in found:
            self._models.learn(config, capability, works=False)
        for (model, deployment), doubt in self._contrast.blind(place):
            other = self._models.config(model, deployment)
            for capability in self._confirmed(other, [doubt]):
                self._models.learn(other, capability, works=False)
        if call.mode == "text" and not _JSON_MODES.isdisjoint(found):
            passed_over = self._models.modes(config.alias, plan.deployment)  # for want of attempts
            for mode in _JSON_MODES.intersection(passed_over) - set(found):
                if getattr(can, mode) is None:
                    self._models.suppose(config, mode)

    def _all_left_out(self, config: ModelConfig, proof: Proof, found: Sequence[str]) -> list[str]:
        """Where more was left out on purpose than was found: all that the request which was answered went without, for nothing
        tells which of it is refused. It is believed until it is tried again. What the endpoint was seen to take is not among it,
        nor, where there are no tools any more, what is beside them."""
        if proof.on_purpose.issubset(found):
            return []
        learnt = self._models.learnt(config)
        every = {name for name in proof.left_out if is_learnable(name) and not learnt.get(name)}
        moot = _BESIDE_TOOLS if "native_tools" in every else frozenset[str]()
        return sorted(every.difference(moot, found))

    def _confirmed(self, config: ModelConfig, doubts: Sequence[Doubt]) -> list[str]:
        """What is to be believed now, since the same words refused it before. Where it may be one of several, it is kept in mind
        which."""
        found: list[str] = []
        for doubt in doubts:
            names = [LEARNT_AS.get(name, name) for name in doubt.capabilities]
            again = [self._models.doubt(config, name, doubt.words) for name in names if is_learnable(name)]
            if len(names) == 1 and any(again):
                found += names
            elif again and all(again):  # nothing could tell them apart: what all of the mode rests on
                found += [name for name in names if name in MODES_OWN]
        return found
