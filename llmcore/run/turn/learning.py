"""What the attempts of one turn teach of the endpoints they asked: by the form of a reply, and by the parts of refused requests.

A server that says which part it refuses teaches that in layer 4. If its words do not say it, the parts of the refused request
were refused together, as a set. Such a set is a doubt at first. When the endpoint refuses the set again, it is believed for a
time. One answer to a request that holds the whole set ends the doubt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.capabilities import is_learnable
from llmcore.adapters.capabilities.facts import dialect_fact
from llmcore.adapters.request.choices import expects_call, requires_call
from llmcore.adapters.request.parts import MODES, UBIQUITOUS, joined_parts, parts_of
from llmcore.fallback import Plan
from llmcore.models import ModelConfig
from llmcore.run.endpoints.choices import RunModels, ignored_part, is_prose_mode
from llmcore.run.turn.reply_checks import no_json, required_call_missing
from llmcore.run.turn.state import RunState
from llmcore.types import Envelope, LLMCoreError, RemoteServerError, Request, RequestRefused, ToolCall
from llmcore.validator import CorrectionLoop

__all__ = ["SPARE_REQUESTS", "Learning"]

_JSON_MODES = frozenset({"json_schema", "json_object"})
_TEXT_CALLS = "emits_text_calls"
_IMAGES = frozenset({"images"})
_FAULT = 500
SPARE_REQUESTS = 3
"""With so many requests left, or fewer, of a run's budget none is made in order to compare."""
_Place = tuple[str, str]
"""An alias, and the name of a deployment."""


def is_certain(call: ToolCall) -> bool:
    """Was it read without a guess? A guess teaches nothing."""
    return call.complete and all(repair.safety != "guess" for repair in call.repairs)


class Learning:
    """Of one turn."""

    def __init__(self, models: RunModels, state: RunState) -> None:
        self._models = models
        self._state = state
        self._refused: dict[_Place, list[tuple[frozenset[str], frozenset[str]]]] = {}  # what each request held, and was named
        self._ignored: dict[_Place, tuple[str, bool]] = {}  # what of its request, and whether it is known to heed that
        self._fault: tuple[_Place, str] | None = None
        self._wrote_calls = False
        self.leaves_doubt = False

    def refused(self, plan: Plan, call: ModelCall, can: Capabilities, error: BaseException) -> None:
        """A request failed. If the server's words do not say why, what the request held is kept in mind."""
        place = plan.model, plan.deployment
        again = self._fault == (place, str(error)) and isinstance(error, RemoteServerError)
        self._fault = (place, str(error)) if isinstance(error, RemoteServerError) and error.status == _FAULT else None
        kind = error.facts.kind if isinstance(error, LLMCoreError) else ""
        if not (again or kind in ("unexplained", "unsent") or (isinstance(error, RequestRefused) and not kind)):
            return
        named = error.facts.parts if isinstance(error, LLMCoreError) else frozenset[str]()
        self._refused.setdefault(place, []).extend([(parts_of(call, can), named)] * (2 if again else 1))

    def learn_from_reply(self, config: ModelConfig, call: ModelCall, envelope: Envelope) -> None:
        """A whole reply shows of its endpoint that it takes tools, or ignores what it was asked for."""
        can = self._models.can(config)
        if call.mode in _JSON_MODES and getattr(can, call.mode) is not False and is_prose_mode(envelope.source):
            self._models.learn(config, call.mode, works=False)
        if call.mode != "native_tools" or not envelope.tool_calls:
            return
        for dialect in {made.dialect for made in envelope.tool_calls if is_certain(made)} - {"native"}:
            if not self._models.learnt(config).get(dialect_fact(dialect)):
                self._models.learn(config, dialect_fact(dialect), works=True)
        if any(made.dialect == "native" for made in envelope.tool_calls):
            if can.native_tools is not True:
                self._models.learn(config, "native_tools", works=True)
            if can.emits_text_calls and not config.expect_xml:
                self._models.learn(config, "emits_text_calls", works=False)
            if self._models.has_doubts:
                self._models.clear(config, [_TEXT_CALLS])
        elif can.emits_text_calls is None and (can.native_tools is not True or self._writes_again(config)):
            self._models.learn(config, "emits_text_calls", works=True)

    def _writes_again(self, config: ModelConfig) -> bool:
        """Did a model that is known to make native calls write one as text in another turn, too, and make none since? Once is
        the slip of a reply. What was seen to make one is not doubted."""
        if self._wrote_calls or self._models.learnt(config).get("native_tools"):
            return False
        self._wrote_calls = True
        return self._models.doubt(config, _TEXT_CALLS)

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
        self._ignored[plan.model, plan.deployment] = (ignored, is_known)
        if request.tool_choice in ("auto", "none"):
            return None  # only a value was asked for: the model is told first what is wrong with its words
        if is_known and not self._models.is_doubted(config, "native_tools"):
            return None  # it may be the slip of one reply
        return required_call_missing(result, typed=typed)

    def unusable(self, plan: Plan, call: ModelCall, reply: Envelope) -> None:
        """A reply cannot be used, also after it was told what is wrong. Words alone, where a call is due that the request cannot
        require (the wire has no word for it, or the endpoint refuses it), come from an endpoint that may ignore tools."""
        can = call.capabilities or Capabilities()
        if call.mode != "native_tools" or can.native_tools is True or requires_call(call, can):
            return
        if expects_call(call, can) and not reply.tool_calls and is_prose_mode(reply.content):
            self._ignored[plan.model, plan.deployment] = ("native_tools", False)

    def answered(self, config: ModelConfig, plan: Plan, call: ModelCall, *, obeyed: bool) -> None:
        """An answer was accepted. What was refused or ignored before, and is not in the request that was answered, may be what
        the endpoint does not take. `obeyed`: it made a call, or gave the typed value."""
        place = plan.model, plan.deployment
        if not (self._refused or self._ignored or self._models.has_doubts):
            return
        can = call.capabilities or self._models.can(config)
        taken = parts_of(call, can)
        if self._models.has_doubts:
            self._models.clear(config, taken)
        found = self._sets(place, config, taken)
        if place in self._ignored and obeyed and call.mode != "native_tools":
            what, is_known = self._ignored.pop(place)
            found += [what] if not is_known or self._models.doubt(config, what) else []
        for name in found:
            self._models.learn(config, name, works=False)
        for (model, deployment), refused in self._refused.items():
            if (model, deployment) != place and _IMAGES in _least([parts - MODES - UBIQUITOUS for parts, _ in refused]):
                other = self._models.config(model, deployment)
                if self._models.doubt(other, "images"):
                    self._models.learn(other, "images", works=False)
        if call.mode == "text" and not _JSON_MODES.isdisjoint(found):
            passed_over = self._models.modes(config.alias, plan.deployment)  # for want of attempts
            for mode in _JSON_MODES.intersection(passed_over) - set(found):
                if getattr(can, mode) is None:
                    self._models.suppose(config, mode)

    def _sets(self, place: _Place, config: ModelConfig, taken: Collection[str]) -> list[str]:
        """The names of the sets of parts that are believed to be refused from now on: those that the server's words name, those
        that were doubted before, and those of which this turn made more than one request that was refused."""
        refused = self._refused.pop(place, [])
        doubted = [parts for parts in self._models.doubts(config) if not parts.issubset(taken)]
        blamed: list[frozenset[str]] = []
        for parts, named in refused:
            again = [one for one in doubted if one <= parts]
            blamed += again or [_blamed(parts, named, taken)]
        believed: list[str] = []
        for least in _least(found for found in blamed if found):
            parts = least if MODES.isdisjoint(least) else least - UBIQUITOUS  # a mode is taught by a system prompt
            name = joined_parts(parts)
            if not is_learnable(name):
                continue
            is_named = any(named and parts <= named for _, named in refused)
            if self._models.doubt(config, name) or is_named or len(refused) > 1:
                believed.append(name)
            else:
                self.leaves_doubt = True
        return believed


def _blamed(parts: frozenset[str], named: frozenset[str], taken: Collection[str]) -> frozenset[str]:
    """Of a refused request the parts that were refused together: those that the server's words name, else all of them but those
    that are in nearly every request. Nothing where the request that was answered held all of them, too."""
    blamed = (named & parts).difference(UBIQUITOUS.intersection(taken))
    if not blamed.difference(taken):
        blamed = parts.difference(UBIQUITOUS.intersection(taken))
    if "tool_results" in blamed:
        blamed -= {"native_tools"}
    return blamed if blamed.difference(taken) else frozenset()


def _least(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The sets that hold no other one."""
    found = list(dict.fromkeys(sets))
    return [one for one in found if not any(other < one for other in found)]
