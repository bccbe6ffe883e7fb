"""What there is to choose in one run: modes and models that can take the request, for layer 4's strategies; and which tools a
request's `tool_choice` leaves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import is_learnable
from llmcore.adapters.capabilities.facts import dialect_of_fact
from llmcore.adapters.providers.accounts import account_of
from llmcore.adapters.providers.families import own_dialects
from llmcore.adapters.request.choices import requires_call
from llmcore.adapters.request.output import output_plan
from llmcore.adapters.request.parts import MODES, is_refused_set
from llmcore.compiling import compile_tools
from llmcore.models import ModelConfig, Needs
from llmcore.run.endpoints.catalog import Catalog, unknown_price
from llmcore.run.endpoints.modes import usable_modes, why_unusable
from llmcore.support.values.copies import updated
from llmcore.types import Envelope, LLMCoreError, OutputMode, Request, ToolSet
from llmcore.types.logs import logger

__all__ = ["RunModels", "admitted_tools", "ignored_part", "is_prose_mode"]

_log = logger("run")


_Place = tuple[str, str, str, str | None]


def _place(config: ModelConfig) -> _Place:
    """What tells one place of a model from another, cheaper than its endpoint's key."""
    return config.alias, config.provider, config.model, config.base_url


class _Known(NamedTuple):
    """What a run looked up of a place."""

    can: Capabilities
    modes: tuple[OutputMode, ...]
    config: ModelConfig
    endpoint: Endpoint


class RunModels:
    """The `Models` of the fallback layer. `priced_only`: a cost budget admits no model without a price."""

    def __init__(self, catalog: Catalog, needs: Needs, *, priced_only: bool) -> None:
        self._catalog = catalog
        self._needs = needs
        self._priced_only = priced_only
        self._known: dict[_Place, _Known] = {}
        self._latest: _Known | None = None
        self._offered = 0

    def offer(self, tools: int) -> None:
        """So many tools are offered from now on, that of a typed answer among them."""
        if tools != self._offered:
            self._offered = tools
            self._known.clear()
            self._latest = None

    def can(self, config: ModelConfig) -> Capabilities:
        """What the model can do."""
        return self._of(config).can

    def endpoint(self, config: ModelConfig) -> Endpoint:
        """Where it is asked."""
        known = self._of(config)
        return known.endpoint if known.config is config else config.endpoint  # another deployment may have a key of its own

    def _of(self, config: ModelConfig) -> _Known:
        """Looked up once a run, and again after this run learnt something of it."""
        found = self._latest
        if found is not None and found.config is config:
            return found
        key = _place(config)
        found = self._known.get(key)
        if found is None:
            endpoint = config.endpoint
            can = self._catalog.can(config, endpoint)
            modes = usable_modes(config, can, self._offered, images=self._needs.images)
            found = self._known[key] = _Known(can, modes, config, endpoint)
        self._latest = found
        return found

    def _forget(self, config: ModelConfig) -> None:
        self._known.pop(_place(config), None)
        self._latest = None

    def config(self, model: str, deployment: str = "") -> ModelConfig:
        """The model as it is at one of its places."""
        return self._catalog.registry.get(model).at(deployment)

    def learn(self, config: ModelConfig, capability: str, *, works: bool) -> None:
        """Record what an endpoint showed. What takes a way from it is not proven by one reply."""
        store, takes_away = self._catalog.store, works == (capability == "emits_text_calls")
        record = store.record_success if works else store.record_failure
        record(config.endpoint, capability, proven=not takes_away)
        _log.info("learnt of %s: %s is %s", config.alias, capability, works)
        self._forget(config)

    def learnt(self, config: ModelConfig) -> dict[str, bool]:
        """What was learnt of its endpoint, whatever the user says of it."""
        return self._catalog.store.learnt(config.endpoint)

    def own_dialects(self, config: ModelConfig) -> frozenset[str] | None:
        """The dialects of a model whose endpoint has answered with native calls; None for any other."""
        learnt = self.learnt(config)
        if not learnt.get("native_tools"):
            return None
        seen = (dialect_of_fact(name) for name, value in learnt.items() if value)
        return frozenset((*own_dialects(config.model), *(name for name in seen if name is not None)))

    def suppose(self, config: ModelConfig, capability: str) -> None:
        """What was not asked for is taken to be refused, until it is tried."""
        self._catalog.store.suppose(config.endpoint, capability)
        self._forget(config)

    def doubt(self, config: ModelConfig, capability: str) -> bool:
        """The endpoint refused this, in words that do not say so; whether it did so before."""
        return self._catalog.store.doubt(config.endpoint, capability)

    def is_doubted(self, config: ModelConfig, capability: str) -> bool:
        """Did the endpoint refuse or ignore this before, and was not seen to do it since?"""
        return self._catalog.store.is_doubted(config.endpoint, capability)

    def doubts(self, config: ModelConfig) -> list[frozenset[str]]:
        """The sets of parts that the endpoint refused before, and was not seen to take since."""
        return self._catalog.store.doubts(config.endpoint) if self.has_doubts else []

    @property
    def has_doubts(self) -> bool:
        """Was anything that is known of any endpoint doubted?"""
        return self._catalog.store.has_doubts

    def clear(self, config: ModelConfig, capabilities: Collection[str]) -> None:
        """The endpoint did these: nothing of them is doubted any more."""
        self._catalog.store.clear(config.endpoint, capabilities)

    def check_price(self, config: ModelConfig) -> None:
        """Raises `ConfigError` for a model without a price under a cost budget, by whatever way it was chosen."""
        if self._priced_only and not self._catalog.is_priced(config):
            raise unknown_price(config)

    def attempts(self, model: str) -> int | None:
        """How many requests of one turn the registry allows with this model; None leaves it to the budget."""
        retries = self._catalog.registry.get(model).max_retries if model in self._catalog.registry else None
        return None if retries is None else retries + 1

    def modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        return self._of(self.config(model, deployment)).modes

    def why_not(self, model: str, deployment: str, mode: OutputMode) -> str:
        """Why a mode is none of the model's modes now."""
        config = self.config(model, deployment)
        return why_unusable(mode, config, self.can(config), self._offered, self.learnt(config))

    def doubted_modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        config = self.config(model, deployment)
        unproven = self._catalog.store.unproven(config.endpoint)
        if not unproven:
            return ()
        can = self.can(config)
        refused = can.unsupported_parameters.difference([name for name in unproven if is_refused_set(name)])
        can = updated(can, {**dict.fromkeys(unproven & MODES, None), "unsupported_parameters": refused})
        known = self.modes(model, deployment)
        return [mode for mode in usable_modes(config, can, self._offered, images=self._needs.images) if mode not in known]

    def escalations(self, model: str) -> Sequence[str]:
        registry = self._catalog.registry
        listed = [alias for alias in registry.get(model).escalates_to if alias in registry]
        found: list[str] = []
        for alias in listed:  # grows meanwhile: one that cannot take the request leads on to its own list
            if self._fits(alias):
                found.append(alias)
                continue
            behind = registry.get(alias).escalates_to
            listed += [one for one in behind if one in registry and one not in listed and one != model]
        return found

    def window(self, model: str) -> int | None:
        config = self._catalog.registry.get(model)
        return config.context_window or self.can(config).context_window

    def provider(self, model: str) -> str:
        return self._catalog.registry.get(model).provider

    def account(self, model: str, deployment: str = "") -> object:
        return account_of(self.config(model, deployment).endpoint)

    def may_change_mode(self, model: str) -> bool:
        return self._catalog.registry.get(model).retry_with_different_format

    def learn_refused(self, model: str, capability: str, deployment: str = "") -> None:
        if is_learnable(capability):  # an adapter of one's own may name anything
            self.learn(self.config(model, deployment), capability, works=False)

    def deployments(self, model: str) -> Sequence[str]:
        return self._catalog.registry.get(model).places

    @property
    def all_well(self) -> bool:
        """Is no place of any model to be left aside?"""
        return self._catalog.cooldown.is_idle

    def cooldown_left(self, model: str, deployment: str) -> float:
        return self._catalog.cooldown.left(model, deployment)

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        self._catalog.cooldown.failed(model, deployment, failure)

    def worked(self, model: str, deployment: str) -> None:
        self._catalog.cooldown.worked(model, deployment)

    def _fits(self, alias: str) -> bool:
        return self._catalog.fits(self._catalog.registry.get(alias), self._needs)


def admitted_tools(request: Request, tools: ToolSet) -> ToolSet:
    """The tools whose calls are taken: the turn's, the one that was named, or none."""
    choice = request.tool_choice
    if choice == "none":
        return ToolSet()
    named = tools.get(choice.get("name", "")) if isinstance(choice, dict) else None
    return compile_tools([named.definition]) if named else tools


def ignored_part(call: ModelCall, reply: Envelope, can: Capabilities) -> str | None:
    """What of a native request the endpoint of a reply in words seems to have never looked at: the tools, or the format beside
    them."""
    if _ignores_tools(call, reply, can):
        return "native_tools"
    is_format = bool(call.tools) and output_plan(call, can) == "format"
    return "schema_with_tools" if is_format and not reply.tool_calls and is_prose_mode(reply.source) else None


def _ignores_tools(call: ModelCall, reply: Envelope, can: Capabilities) -> bool:
    """It was told that a call is required, be it that of the output tool, which was sent, and answered with nothing but words."""
    if call.request.tool_choice in ("auto", "none") and not is_prose_mode(reply.source):
        return False  # data where the output tool's call was due: the value, if not in the form of a call
    return requires_call(call, can) and not reply.tool_calls and not reply.near_misses and bool(reply.content.strip())


def is_prose_mode(text: str) -> bool:
    """Words without any JSON object or list: no server that enforces a JSON mode lets them through."""
    return bool(text.strip()) and not ("{" in text or "[" in text)
