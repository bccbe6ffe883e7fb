"""What the attempts of one turn teach about the endpoints: by the form of a reply, and by the parts of refused requests.

If a server names the part that it refuses, the fallback layer learns it. If it does not, the parts of the refused request
count as refused together, as a set. Such a set is a doubt at first. If the endpoint refuses the set again, the set is believed
for a time. One answer to a request with the whole set ends the doubt.
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
from llmcore.run.endpoints.choices import RunModels, ignored_part, is_prose
from llmcore.run.turn.reply_checks import missing_call_failure, no_json_failure
from llmcore.run.turn.state import RunState
from llmcore.support.values.media_kinds import MEDIA_PARTS
from llmcore.types import Envelope, LLMCoreError, RemoteServerError, Request, RequestRefused, ToolCall
from llmcore.validator import CorrectionLoop

__all__ = ["SPARE_REQUESTS", "Learning"]

_JSON_MODES = frozenset({"json_schema", "json_object"})
_TEXT_CALLS = "emits_text_calls"
_FAULT = 500
SPARE_REQUESTS = 3
"""If a run's budget has no more requests left than these, none is spent on a comparison."""
_Place = tuple[str, str]
"""An alias, and the name of a deployment."""


def is_certain(call: ToolCall) -> bool:
    """Whether the call was read without a guess. A guess teaches nothing."""
    return call.complete and all(repair.safety != "guess" for repair in call.repairs)


class Learning:
    """What one turn of a run has learned about its endpoints."""

    def __init__(self, models: RunModels, state: RunState) -> None:
        self._models = models
        self._state = state
        self._refused: dict[
            _Place, list[tuple[frozenset[str], frozenset[str]]]
        ] = {}  # the parts of each request, and those that the server named
        self._ignored: dict[_Place, tuple[str, bool]] = {}  # the ignored part, and whether it is known to work
        self._fault: tuple[_Place, str] | None = None
        self._wrote_calls = False
        self.leaves_doubt = False

    def note_refusal(self, plan: Plan, call: ModelCall, can: Capabilities, error: BaseException) -> None:
        """Note a failed request. If the server's words do not explain the failure, remember what the request held."""
        place = plan.model, plan.deployment
        is_repeated = self._fault == (place, str(error)) and isinstance(error, RemoteServerError)
        self._fault = (place, str(error)) if isinstance(error, RemoteServerError) and error.status == _FAULT else None
        kind = error.facts.kind if isinstance(error, LLMCoreError) else ""
        if not (is_repeated or kind in ("unexplained", "unsent") or (isinstance(error, RequestRefused) and not kind)):
            return
        named = error.facts.parts if isinstance(error, LLMCoreError) else frozenset[str]()
        self._refused.setdefault(place, []).extend([(parts_of(call, can), named)] * (2 if is_repeated else 1))

    def learn_from_reply(self, config: ModelConfig, call: ModelCall, envelope: Envelope) -> None:
        """Learn from a whole reply whether its endpoint takes tools, or ignores what the request asked for."""
        can = self._models.can(config)
        if call.mode in _JSON_MODES and getattr(can, call.mode) is not False and is_prose(envelope.source):
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
        elif can.emits_text_calls is None and (can.native_tools is not True or self._writes_text_calls_again(config)):
            self._models.learn(config, "emits_text_calls", works=True)

    def _writes_text_calls_again(self, config: ModelConfig) -> bool:
        """Whether a model that is known for native calls wrote a call as text in two turns, with no native call in between.

        One such call may be a slip. If a native call was ever seen, this returns False.
        """
        if self._wrote_calls or self._models.learnt(config).get("native_tools"):
            return False
        self._wrote_calls = True
        return self._models.doubt(config, _TEXT_CALLS)

    def ignored_request_failure(
        self, config: ModelConfig, plan: Plan, call: ModelCall, request: Request, loop: CorrectionLoop
    ) -> LLMCoreError | None:
        """The failure of an unusable reply whose form shows that the endpoint ignores what the mode asks for; None for any other
        reply.

        A re-ask in the same mode would get the same reply. So the next mode is used at once, if there is one.
        """
        if loop.is_over:
            return None
        result = loop.result
        is_cut = result.envelope.truncated or result.envelope.finish_reason == "length"
        if is_cut or not self._models.may_change_mode(config.alias):
            return None
        modes = self._models.modes(config.alias)
        if not set(modes) - {plan.mode}:
            return None
        if not self._state.ledger.attempts_left(config.alias):  # only re-asks are left
            return None
        typed = self._state.settings.output is not None
        if plan.mode in _JSON_MODES and plan.mode not in modes:
            return no_json_failure(result, typed=typed)
        can = self._models.can(config)
        ignored = ignored_part(call, result.envelope, can) if plan.mode == "native_tools" else None
        if ignored is None:
            return None
        is_known = getattr(can, ignored) is True
        self._ignored[plan.model, plan.deployment] = (ignored, is_known)
        if request.tool_choice in ("auto", "none"):
            return None  # only a value was asked for: a re-ask comes first
        if is_known and not self._models.is_doubted(config, "native_tools"):
            return None  # this reply may be an exception
        return missing_call_failure(result, typed=typed)

    def note_unusable(self, plan: Plan, call: ModelCall, reply: Envelope) -> None:
        """Note a reply that stays unusable after its re-asks. If a call was due and the reply is text alone, the endpoint may
        ignore tools.

        This holds only for requests that cannot require a call: the wire has no such option, or the endpoint refuses it.
        """
        can = call.capabilities or Capabilities()
        if call.mode != "native_tools" or can.native_tools is True or requires_call(call, can):
            return
        if expects_call(call, can) and not reply.tool_calls and is_prose(reply.content):
            self._ignored[plan.model, plan.deployment] = ("native_tools", False)

    def learn_from_answer(self, config: ModelConfig, plan: Plan, call: ModelCall, *, obeyed: bool) -> None:
        """Learn from an accepted answer. What was refused or ignored before, and is absent from this request, may be what the
        endpoint refuses. `obeyed`: the reply made a call or gave the typed value."""
        place = plan.model, plan.deployment
        if not (self._refused or self._ignored or self._models.has_doubts):
            return
        can = call.capabilities or self._models.can(config)
        accepted_parts = parts_of(call, can)
        if self._models.has_doubts:
            self._models.clear(config, accepted_parts)
        found = self._believed_sets(place, config, accepted_parts)
        if place in self._ignored and obeyed and call.mode != "native_tools":
            part, is_known = self._ignored.pop(place)
            found += [part] if not is_known or self._models.doubt(config, part) else []
        for name in found:
            self._models.learn(config, name, works=False)
        for (model, deployment), refused in self._refused.items():
            least = _minimal_sets([parts - MODES - UBIQUITOUS for parts, _ in refused]) if (model, deployment) != place else []
            for (part,) in (parts for parts in least if len(parts) == 1 and parts <= MEDIA_PARTS):
                other = self._models.config(model, deployment)
                if self._models.doubt(other, part):
                    self._models.learn(other, part, works=False)
        if call.mode == "text" and not _JSON_MODES.isdisjoint(found):
            passed_over = self._models.modes(config.alias, plan.deployment)  # no attempt was left for them
            for mode in _JSON_MODES.intersection(passed_over) - set(found):
                if getattr(can, mode) is None:
                    self._models.suppose(config, mode)

    def _believed_sets(self, place: _Place, config: ModelConfig, accepted_parts: Collection[str]) -> list[str]:
        """The names of the sets of parts that are believed to be refused from now on.

        These are the sets that the server named, the sets doubted before, and the sets of a turn with more than one refused
        request.
        """
        refused = self._refused.pop(place, [])
        doubted = [parts for parts in self._models.doubts(config) if not parts.issubset(accepted_parts)]
        blamed: list[frozenset[str]] = []
        for parts, named in refused:
            doubted_again = [doubt for doubt in doubted if doubt <= parts]
            blamed += doubted_again or [_refused_together(parts, named, accepted_parts)]
        believed: list[str] = []
        for least in _minimal_sets(found for found in blamed if found):
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


def _refused_together(parts: frozenset[str], named: frozenset[str], accepted_parts: Collection[str]) -> frozenset[str]:
    """The parts of a refused request that were refused together; none if the answered request held all of them, too.

    These are the parts that the server named. If it named none, they are all parts except those of nearly every request.
    """
    blamed = (named & parts).difference(UBIQUITOUS.intersection(accepted_parts))
    if not blamed.difference(accepted_parts):
        blamed = parts.difference(UBIQUITOUS.intersection(accepted_parts))
    if "tool_results" in blamed:
        blamed -= {"native_tools"}
    return blamed if blamed.difference(accepted_parts) else frozenset()


def _minimal_sets(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The sets of which no other set is a part."""
    found = list(dict.fromkeys(sets))
    return [parts for parts in found if not any(other < parts for other in found)]
