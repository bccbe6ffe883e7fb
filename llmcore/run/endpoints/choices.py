"""The modes and models that one run may use, as the strategies of the fallback layer see them."""

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
from llmcore.run.endpoints.catalog import Catalog, unknown_price_error
from llmcore.run.endpoints.modes import usable_modes, why_unusable
from llmcore.support.values.copies import updated
from llmcore.types import Envelope, LLMCoreError, OutputMode, Request, ToolSet
from llmcore.types.logs import logger

__all__ = ["RunModels", "callable_tools", "ignored_part", "is_prose"]

_log = logger("run")


_Place = tuple[str, str, str, str | None]


def _place(config: ModelConfig) -> _Place:
    """The key of one place of a model. It is cheaper than the key of its endpoint."""
    return config.alias, config.provider, config.model, config.base_url


class _PlaceFacts(NamedTuple):
    """What a run has looked up about one place."""

    can: Capabilities
    modes: tuple[OutputMode, ...]
    config: ModelConfig
    endpoint: Endpoint


class RunModels:
    """The `Models` of the fallback layer for one run. `priced_only`: a cost budget excludes models without a price."""

    def __init__(self, catalog: Catalog, needs: Needs, *, priced_only: bool) -> None:
        self._catalog = catalog
        self._needs = needs
        self._priced_only = priced_only
        self._known: dict[_Place, _PlaceFacts] = {}
        self._latest: _PlaceFacts | None = None
        self._offered = 0

    def set_tools_offered(self, tools: int) -> None:
        """Set how many tools requests offer from now on, the output tool included."""
        if tools != self._offered:
            self._offered = tools
            self._known.clear()
            self._latest = None

    def can(self, config: ModelConfig) -> Capabilities:
        return self._facts(config).can

    def endpoint(self, config: ModelConfig) -> Endpoint:
        known = self._facts(config)
        return known.endpoint if known.config is config else config.endpoint  # another deployment may have its own key

    def _facts(self, config: ModelConfig) -> _PlaceFacts:
        """What is known about the place. It is looked up once a run, and again after this run learned something about it."""
        found = self._latest
        if found is not None and found.config is config:
            return found
        key = _place(config)
        found = self._known.get(key)
        if found is None:
            endpoint = config.endpoint
            can = self._catalog.can(config, endpoint)
            modes = usable_modes(config, can, self._offered, media=self._needs.all_media)
            found = self._known[key] = _PlaceFacts(can, modes, config, endpoint)
        self._latest = found
        return found

    def _forget(self, config: ModelConfig) -> None:
        self._known.pop(_place(config), None)
        self._latest = None

    def config(self, model: str, deployment: str = "") -> ModelConfig:
        """The model's settings at one of its deployments."""
        return self._catalog.registry.get(model).at(deployment)

    def learn(self, config: ModelConfig, capability: str, *, works: bool) -> None:
        """Record what a reply of the endpoint showed. One reply does not prove that a capability is missing."""
        store, takes_away = self._catalog.store, works == (capability == "emits_text_calls")
        record = store.record_success if works else store.record_failure
        record(config.endpoint, capability, proven=not takes_away)
        _log.info("learnt of %s: %s is %s", config.alias, capability, works)
        self._forget(config)

    def learnt(self, config: ModelConfig) -> dict[str, bool]:
        """What was learned about the endpoint, whatever the user's settings say."""
        return self._catalog.store.learnt(config.endpoint)

    def own_dialects(self, config: ModelConfig) -> frozenset[str] | None:
        """The dialects of a model whose endpoint has made native calls; None for any other model."""
        learnt = self.learnt(config)
        if not learnt.get("native_tools"):
            return None
        seen = (dialect_of_fact(name) for name, value in learnt.items() if value)
        return frozenset((*own_dialects(config.model), *(name for name in seen if name is not None)))

    def suppose(self, config: ModelConfig, capability: str) -> None:
        """Treat a capability as refused, although no request tried it, until one does."""
        self._catalog.store.suppose(config.endpoint, capability)
        self._forget(config)

    def doubt(self, config: ModelConfig, capability: str) -> bool:
        """Record that the endpoint refused this without an explanation. Returns whether it had done so before."""
        return self._catalog.store.doubt(config.endpoint, capability)

    def is_doubted(self, config: ModelConfig, capability: str) -> bool:
        """Whether the endpoint refused or ignored this before, and no reply since showed otherwise."""
        return self._catalog.store.is_doubted(config.endpoint, capability)

    def doubts(self, config: ModelConfig) -> list[frozenset[str]]:
        """The sets of parts that the endpoint refused before, and has not accepted since."""
        return self._catalog.store.doubts(config.endpoint) if self.has_doubts else []

    @property
    def has_doubts(self) -> bool:
        """Whether there is a doubt about any endpoint."""
        return self._catalog.store.has_doubts

    def clear(self, config: ModelConfig, capabilities: Collection[str]) -> None:
        """The endpoint accepted these capabilities: end all doubts about them."""
        self._catalog.store.clear(config.endpoint, capabilities)

    def check_price(self, config: ModelConfig) -> None:
        """Under a cost budget, raises `ConfigError` if the model has no price."""
        if self._priced_only and not self._catalog.is_priced(config):
            raise unknown_price_error(config)

    def attempts(self, model: str) -> int | None:
        """How many requests of one turn the registry allows with this model; None leaves it to the budget."""
        retries = self._catalog.registry.get(model).max_retries if model in self._catalog.registry else None
        return None if retries is None else retries + 1

    def modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        return self._facts(self.config(model, deployment)).modes

    def why_not(self, model: str, deployment: str, mode: OutputMode) -> str:
        """Why the mode is none of the model's modes now."""
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
        return [mode for mode in usable_modes(config, can, self._offered, media=self._needs.all_media) if mode not in known]

    def escalations(self, model: str) -> Sequence[str]:
        registry = self._catalog.registry
        listed = [alias for alias in registry.get(model).escalates_to if alias in registry]
        found: list[str] = []
        for alias in listed:  # grows: a model that cannot take the request adds its own list
            if self._catalog.fits(self._catalog.registry.get(alias), self._needs):
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
        if is_learnable(capability):  # a custom adapter may name anything
            self.learn(self.config(model, deployment), capability, works=False)

    def deployments(self, model: str) -> Sequence[str]:
        return self._catalog.registry.get(model).places

    @property
    def all_well(self) -> bool:
        """Whether no place of any model is cooling down."""
        return self._catalog.cooldown.is_idle

    def cooldown_left(self, model: str, deployment: str) -> float:
        return self._catalog.cooldown.left(model, deployment)

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        self._catalog.cooldown.failed(model, deployment, failure)

    def worked(self, model: str, deployment: str) -> None:
        self._catalog.cooldown.worked(model, deployment)

    async def share_cooldowns(self) -> None:
        await self._catalog.cooldown.publish()


def callable_tools(request: Request, tools: ToolSet) -> ToolSet:
    """The tools that a request's `tool_choice` allows: all of the turn's, the named one, or none."""
    choice = request.tool_choice
    if choice == "none":
        return ToolSet()
    named = tools.get(choice.get("name", "")) if isinstance(choice, dict) else None
    return compile_tools([named.definition]) if named else tools


def ignored_part(call: ModelCall, reply: Envelope, can: Capabilities) -> str | None:
    """The part of a native request that its endpoint ignored, if the reply is text: the tools, or the format beside them; else
    None."""
    if _ignores_tools(call, reply, can):
        return "native_tools"
    is_format = bool(call.tools) and output_plan(call, can) == "format"
    return "schema_with_tools" if is_format and not reply.tool_calls and is_prose(reply.source) else None


def _ignores_tools(call: ModelCall, reply: Envelope, can: Capabilities) -> bool:
    """Whether the request required a call, the tool was sent, and the reply is text alone."""
    if call.request.tool_choice in ("auto", "none") and not is_prose(reply.source):
        return False  # JSON where the output tool's call was due may be the value
    return requires_call(call, can) and not reply.tool_calls and not reply.near_misses and bool(reply.content.strip())


def is_prose(text: str) -> bool:
    """Whether text holds no JSON object or list. A server that enforces a JSON mode never sends such text."""
    return bool(text.strip()) and not ("{" in text or "[" in text)
