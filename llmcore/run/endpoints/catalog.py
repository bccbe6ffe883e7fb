"""The models of one orchestrator: their registry, their adapters, their capabilities and their cooldowns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import partial
from os import PathLike
from typing import Any

from llmcore.adapters.base import OWN_ADAPTER, Adapter, Capabilities, Endpoint
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.capabilities.beliefs import Beliefs, Layer, beliefs_of
from llmcore.adapters.capabilities.known import known_fields
from llmcore.adapters.litellm.usage import cost_of
from llmcore.adapters.providers import IN_PROCESS, provider_of
from llmcore.adapters.providers.names import check_provider_names
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.fallback import Cooldown, SharedCooldowns
from llmcore.models import ModelConfig, ModelRegistry, Needs
from llmcore.models.selection import missing_capabilities
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.copies import updated
from llmcore.support.values.json_data import encodable
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import ConfigError, InternalError, LLMCoreError, Usage

__all__ = [
    "Catalog",
    "KnownModels",
    "adapter_raised",
    "call_adapter",
    "has_price",
    "lets_exceptions_through",
    "unknown_price_error",
    "wrong_adapter_value",
]

_MAX_SHOWN = 200
"""How many characters of an adapter's wrong value an error shows."""
_MAX_SCANNED = 4096


class Catalog:
    """A registry, its adapters and the capability store.

    `models`: a registry, settings or a path to them, a model name, or an adapter, which then is the one model. `adapter`: the
    adapter of all models, or adapters by alias. The default is LiteLLM, which is loaded with the first request.
    `cooldowns`: shares cooldowns with other processes.
    """

    def __init__(
        self,
        models: Any,
        *,
        capabilities: CapabilityStore | None = None,
        adapter: Adapter | Mapping[str, Adapter] | None = None,
        cooldowns: SharedCooldowns | None = None,
    ) -> None:
        _check_given(models, adapter)
        only = models if _is_adapter(models) else None
        self.registry = _registry_of(only) if only is not None else ModelRegistry.load(models)
        given = only if only is not None else adapter
        self._by_alias: Mapping[str, Adapter] = given if isinstance(given, Mapping) else {}
        self._default: Adapter | None = None if given is None or isinstance(given, Mapping) else given
        self._default_is_given = self._default is not None
        self._store = capabilities
        self._store_is_given = capabilities is not None
        self.cooldown = Cooldown(shared=cooldowns)
        for alias in self._by_alias:
            self.registry.get(alias)
        if self._default is None:
            _check_reachable(config for config in self.registry if config.alias not in self._by_alias)

    def __deepcopy__(self, memo: dict[int, Any]) -> Catalog:
        """For a copy of an orchestrator."""
        given = deepcopy(self._by_alias or self._default, memo)
        store = deepcopy(self._store, memo) if self._store_is_given else None
        cooldowns = deepcopy(self.cooldown.shared, memo)
        return Catalog(deepcopy(self.registry, memo), capabilities=store, adapter=given, cooldowns=cooldowns)

    @property
    def store(self) -> CapabilityStore:
        """The capability store. If none was given, it is made with the adapter's own facts as its table."""
        if self._store is None:
            adapter = self._default
            self._store = CapabilityStore() if adapter is None else CapabilityStore(table=partial(_adapter_facts, adapter))
        return self._store

    def adapter(self, config: ModelConfig) -> Adapter:
        found = self._given(config)
        if found is None:
            from llmcore.adapters.litellm.adapter import LiteLLMAdapter

            found = self._default = LiteLLMAdapter(self.store)
        return found

    def _given(self, config: ModelConfig) -> Adapter | None:
        """The caller's adapter of this model, or the one of its process. None: LiteLLM's, which is not made yet."""
        found = self._by_alias.get(config.alias)
        if found is None and config.provider in IN_PROCESS and not self._default_is_given:
            from llmcore.adapters.local import LocalAdapter  # few programs use it

            return LocalAdapter()
        return found or self._default

    @property
    def adapters(self) -> list[Adapter]:
        return [*self._by_alias.values(), *([self._default] if self._default else [])]

    def is_priced(self, config: ModelConfig) -> bool:
        """Whether the cost of this model's requests is known: by its prices, or because its adapter reports it (`tells_cost`)."""
        adapter = self._by_alias.get(config.alias) or self._default
        return has_price(config) or getattr(adapter, "tells_cost", False) is True

    def check_prices(self, first: ModelConfig) -> None:
        """Raises `ConfigError` if a model has no price that a run may reach: `first`, or one that it escalates to."""
        waiting = [first]
        seen = {first.alias}
        for config in waiting:  # grows
            if not self.is_priced(config):
                raise unknown_price_error(config)
            behind = [alias for alias in config.escalates_to if alias in self.registry and alias not in seen]
            seen.update(behind)
            waiting += map(self.registry.get, behind)

    def can(self, config: ModelConfig, endpoint: Endpoint | None = None) -> Capabilities:
        """The model's capabilities. The user's settings come first, then the store. `endpoint` is that of `config`; pass it if
        you have it."""
        adapter = self._by_alias.get(config.alias) or (self._default if self._store_is_given else None)
        endpoint = endpoint or config.endpoint
        known = self.store.can(endpoint)
        if adapter is not None:  # the store's table is not this adapter's
            known = _adapter_facts(adapter, endpoint).updated(known)
        known = known.updated(config.told)
        if known.web_search and adapter is None and not provider_of(endpoint).searches_by:
            known = updated(known, {"web_search": False})  # a search that cannot be requested must not replace another
        return known

    def beliefs(self, config: ModelConfig) -> Beliefs:
        """The model's capabilities, with the source of each."""
        endpoint, can = config.endpoint, self.can(config)
        adapter = self._by_alias.get(config.alias)
        layers: list[Layer] = [] if adapter is None else [("adapter", known_fields(_adapter_facts(adapter, endpoint)))]
        layers += self.store.layers(endpoint)
        layers.append(("registry", known_fields(config.told)))
        if can.web_search is False and not provider_of(endpoint).searches_by:
            layers.append(("table", {"web_search": False}))
        return beliefs_of(endpoint, can, layers, self.store.unproven(endpoint))

    def select(self, alias: str | None, needs: Needs) -> ModelConfig:
        """The model that a request goes to. Raises `ModelNotFound`."""
        return self.registry.select(alias, needs=needs, capabilities=self.can)

    def fits(self, config: ModelConfig, needs: Needs) -> bool:
        return not missing_capabilities(config, needs, self.can)


class KnownModels(CapabilityStore):
    """A view of the store, which shares its state: what is learned or set in one is learned or set in the other."""

    __slots__ = ("_catalog",)

    def __init__(self, catalog: Catalog) -> None:
        self.__dict__ = catalog.store.__dict__
        self._catalog = catalog

    def get(self, endpoint: Endpoint | str) -> Beliefs:
        """What the orchestrator's runs believe about a model, given by its alias (then: its first deployment) or as an
        `Endpoint`.

        The registry entry is included. `Beliefs.sources` tells where each belief comes from. Raises `ModelNotFound` for an
        alias that the registry does not have.
        """
        config = self._catalog.registry.get(endpoint) if isinstance(endpoint, str) else self._model_at(endpoint)
        return super().get(endpoint) if config is None else self._catalog.beliefs(config)

    def _model_at(self, endpoint: Endpoint) -> ModelConfig | None:
        """The model of the registry with this endpoint; None if there is none."""
        registry = self._catalog.registry
        if getattr(endpoint, "alias", None) not in registry:  # the store raises for what is no endpoint
            return None
        model = registry.get(endpoint.alias)
        return next((config for config in map(model.at, model.places) if config.endpoint.key == endpoint.key), None)


_MODELS = "a ModelRegistry, a path to a YAML file or folder, a model name such as 'openai/gpt-4o', or an adapter"


def _check_given(models: Any, adapter: Any) -> None:
    """Raises `ConfigError` if `models` or `adapter` is of a wrong kind."""
    if isinstance(models, type):
        raise ConfigError(f"the models must be an instance: write {models.__name__}() for {models.__name__}")
    if not (isinstance(models, str | Mapping | ModelRegistry | PathLike) or _is_adapter(models)):
        fix = "; of several adapters make models by `adapter={alias: ...}`" if is_list(models) else ""
        raise ConfigError(f"the models must be {_MODELS}, not {describe_value(models)}{fix}")
    if adapter is not None and _is_adapter(models):
        raise ConfigError("the models are an adapter already, so `adapter` would never be used: give one of them")
    given: list[Any] = [] if adapter is None else [*adapter.values()] if is_object(adapter) else [adapter]
    for each in given:
        if isinstance(each, type) or not _is_adapter(each):
            raise ConfigError(
                f"`adapter` must be an adapter, or adapters by alias, not {describe_value(each)}; LiteLLM needs none"
            )


def _is_adapter(given: Any) -> bool:
    return not isinstance(given, str | Mapping | ModelRegistry) and isinstance(given, Adapter)


def _check_reachable(models: Iterable[ModelConfig]) -> None:
    """Raises `ConfigError` if LiteLLM knows no such provider or model."""
    for config in (model.at(place) for model in models for place in model.places):
        if config.provider in OWN_ADAPTER:
            raise ConfigError(f"the provider of {config.alias!r} is {config.provider!r}: give its `adapter=` to the Orchestrator")
        try:
            check_provider_names(config.provider, config.model, config.base_url)
            if config.provider in IN_PROCESS:
                from llmcore.adapters.local import check_installed

                check_installed()
        except ConfigError as error:
            raise ConfigError(f"{config.alias}: {error}") from None


def _registry_of(adapter: Any) -> ModelRegistry:
    """A registry of one model, made from an adapter. The adapter's `endpoint` describes the model, if there is one."""
    endpoint = getattr(adapter, "endpoint", None)
    if endpoint is None:
        return ModelRegistry([ModelConfig(alias=adapter.provider_id, provider=adapter.provider_id, model=adapter.provider_id)])
    known = {name: value for name in _ENDPOINT_FIELDS if (value := getattr(endpoint, name)) is not None}
    alias = endpoint.alias or endpoint.model
    return ModelRegistry([ModelConfig(alias=alias, provider=endpoint.provider, model=endpoint.model, **known)])


_ENDPOINT_FIELDS = ("api_key", "base_url", "context_window", "max_output_tokens", "prices", "extra_headers")
"""The fields of an adapter's endpoint that the registry takes over."""


def has_price(config: ModelConfig) -> bool:
    """Whether the cost of this model's requests is known at each of its deployments."""
    usage = Usage(input_tokens=1, output_tokens=1)
    return all(cost_of(usage, config.at(place).endpoint) is not None for place in config.places)


def wrong_adapter_value(
    adapter: object, what: str, given: object, without_secrets: Callable[[str], str] | None = None
) -> InternalError:
    """The error of an adapter that returned a value of a wrong kind. It names the adapter and shows the value."""
    shown = process_scrubber().text(_described(given))
    shown = clipped_words(encodable(without_secrets(shown) if without_secrets is not None else shown), _MAX_SHOWN)
    return InternalError(f"the adapter {type(adapter).__name__} is wrong: {what} {shown}")


def lets_exceptions_through(adapter: object) -> bool:
    return bool(getattr(adapter, "lets_exceptions_through", False))


def adapter_raised(adapter: object, error: Exception) -> InternalError:
    """The error of an adapter that raised an exception that is no `LLMCoreError`."""
    return InternalError(f"the adapter {type(adapter).__name__} raised {clipped_words(f'{type(error).__name__}: {error}')}")


def call_adapter(adapter: object, method: str, given: object) -> Any:
    """Call this method of the adapter, without awaiting the result. Raises `InternalError` if it raises anything but an
    `LLMCoreError`."""
    try:
        return getattr(adapter, method)(given)
    except LLMCoreError:
        raise
    except Exception as error:  # the adapter's contract is broken
        if lets_exceptions_through(adapter):
            raise
        raise adapter_raised(adapter, error) from error


def _adapter_facts(adapter: object, endpoint: Endpoint) -> Capabilities:
    """The adapter's capabilities of an endpoint. Raises `InternalError` if it returns anything else."""
    facts = call_adapter(adapter, "capabilities", endpoint)
    if not isinstance(facts, Capabilities):
        raise wrong_adapter_value(adapter, "capabilities() must give Capabilities, not", facts)
    return facts


def _described(given: object) -> str:
    """The type and the value. The value is cut to the length that is scanned for secrets."""
    try:
        text = repr(given[:_MAX_SCANNED] if isinstance(given, str | bytes) else given)[:_MAX_SCANNED]
    except Exception:  # the value's own code
        text = ""
    return "None" if given is None else f"{type(given).__name__} {text}".strip()


def unknown_price_error(config: ModelConfig) -> ConfigError:
    return ConfigError(
        f"a cost budget needs the price of {config.alias!r}: give `prices: {{input: ..., output: ...}}` "
        "(US dollars per million tokens) in the registry, or bound the tokens instead"
    )
