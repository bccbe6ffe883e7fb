"""The models one orchestrator may use: where they are, who makes their requests, what is known of them, what comes
after them."""

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
from llmcore.adapters.providers import provider_of
from llmcore.adapters.providers.names import check_provider_names
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.fallback import Cooldown
from llmcore.models import ModelConfig, ModelRegistry, Needs
from llmcore.models.selection import missing_capabilities
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.copies import updated
from llmcore.support.values.json_data import encodable
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import ConfigError, InternalError, LLMCoreError, Usage

__all__ = ["Catalog", "asked_of", "broken_contract", "has_price", "lets_through", "raised_by", "unknown_price"]

_MAX_SHOWN = 200
"""Characters of a wrong value of an adapter that an error shows."""
_LOOKED_THROUGH = 4096


class Catalog:
    """A registry, its adapters and the capability store.

    `models`: a registry, settings or a path to them, a model name, or an adapter, which then is the one model.
    `adapter`: who makes the requests, for all models or by alias; by default LiteLLM, loaded with the first request.
    """

    def __init__(
        self,
        models: Any,
        *,
        capabilities: CapabilityStore | None = None,
        adapter: Adapter | Mapping[str, Adapter] | None = None,
    ) -> None:
        _check_given(models, adapter)
        only = models if _is_adapter(models) else None
        self.registry = _registry_of(only) if only is not None else ModelRegistry.load(models)
        given = only if only is not None else adapter
        self._by_alias: Mapping[str, Adapter] = given if isinstance(given, Mapping) else {}
        self._default: Adapter | None = None if given is None or isinstance(given, Mapping) else given
        self._store = capabilities
        self._store_is_theirs = capabilities is not None
        self.cooldown = Cooldown()
        for alias in self._by_alias:
            self.registry.get(alias)
        if self._default is None:
            _check_reachable(config for config in self.registry if config.alias not in self._by_alias)

    def __deepcopy__(self, memo: dict[int, Any]) -> Catalog:
        """For a copy of an orchestrator."""
        given = deepcopy(self._by_alias or self._default, memo)
        store = deepcopy(self._store, memo) if self._store_is_theirs else None
        return Catalog(deepcopy(self.registry, memo), capabilities=store, adapter=given)

    @property
    def store(self) -> CapabilityStore:
        """What is known of endpoints; made when none was given, with the adapter's own knowledge as its table."""
        if self._store is None:
            own = self._default
            self._store = CapabilityStore() if own is None else CapabilityStore(table=partial(_adapter_facts, own))
        return self._store

    def adapter(self, config: ModelConfig) -> Adapter:
        """Who makes this model's requests."""
        found = self._by_alias.get(config.alias) or self._default
        if found is None:
            from llmcore.adapters.litellm.adapter import LiteLLMAdapter

            found = self._default = LiteLLMAdapter(self.store)
        return found

    @property
    def adapters(self) -> list[Adapter]:
        """Those in use."""
        return [*self._by_alias.values(), *([self._default] if self._default else [])]

    def is_priced(self, config: ModelConfig) -> bool:
        """Can the cost of this model's requests be told: by its prices, or by who makes the requests (`tells_cost`)?"""
        adapter = self._by_alias.get(config.alias) or self._default
        return has_price(config) or getattr(adapter, "tells_cost", False) is True

    def check_prices(self, first: ModelConfig) -> None:
        """Raises `ConfigError` where the cost of a model cannot be told that a run may come to, be it `first` or one that this
        escalates to."""
        waiting = [first]
        seen = {first.alias}
        for config in waiting:  # grows meanwhile
            if not self.is_priced(config):
                raise unknown_price(config)
            behind = [alias for alias in config.escalates_to if alias in self.registry and alias not in seen]
            seen.update(behind)
            waiting += map(self.registry.get, behind)

    def can(self, config: ModelConfig, endpoint: Endpoint | None = None) -> Capabilities:
        """What the model can do: told by the user, then the store. `endpoint`: its own, where it is there already."""
        own = self._by_alias.get(config.alias) or (self._default if self._store_is_theirs else None)
        endpoint = endpoint or config.endpoint
        known = self.store.can(endpoint)
        if own is not None:  # the store's table is not this adapter's
            known = _adapter_facts(own, endpoint).updated(known)
        known = known.updated(config.told)
        if known.web_search and own is None and not provider_of(endpoint).searches_by:
            known = updated(known, {"web_search": False})  # what cannot be asked for takes no other search's place
        return known

    def believed(self, config: ModelConfig) -> Beliefs:
        """The same with the source of each belief."""
        endpoint, can = config.endpoint, self.can(config)
        own = self._by_alias.get(config.alias)
        layers: list[Layer] = [] if own is None else [("adapter", known_fields(_adapter_facts(own, endpoint)))]
        layers += self.store.layers(endpoint)
        layers.append(("registry", known_fields(config.told)))
        if can.web_search is False and not provider_of(endpoint).searches_by:
            layers.append(("table", {"web_search": False}))
        return beliefs_of(endpoint, can, layers, self.store.unproven(endpoint))

    def select(self, alias: str | None, needs: Needs) -> ModelConfig:
        """The model a request goes to. Raises `ModelNotFound`."""
        return self.registry.select(alias, needs=needs, capabilities=self.can)

    def fits(self, config: ModelConfig, needs: Needs) -> bool:
        return not missing_capabilities(config, needs, self.can)


_MODELS = "a ModelRegistry, a path to a YAML file or folder, a model name such as 'openai/gpt-4o', or an adapter"


def _check_given(models: Any, adapter: Any) -> None:
    """Raises `ConfigError` for what are no models, and for an `adapter` that is none."""
    if isinstance(models, type):
        raise ConfigError(f"the models must be an instance: write {models.__name__}() for {models.__name__}")
    if not (isinstance(models, str | Mapping | ModelRegistry | PathLike) or _is_adapter(models)):
        fix = "; of several adapters make models by `adapter={alias: ...}`" if is_list(models) else ""
        raise ConfigError(f"the models must be {_MODELS}, not {describe_value(models)}{fix}")
    if adapter is not None and _is_adapter(models):
        raise ConfigError("the models are an adapter already, so `adapter` would never be asked: give one of them")
    given: list[Any] = [] if adapter is None else [*adapter.values()] if is_object(adapter) else [adapter]
    for each in given:
        if isinstance(each, type) or not _is_adapter(each):
            raise ConfigError(
                f"`adapter` must be an adapter, or adapters by alias, not {describe_value(each)}; LiteLLM needs none"
            )


def _is_adapter(given: Any) -> bool:
    return not isinstance(given, str | Mapping | ModelRegistry) and isinstance(given, Adapter)


def _check_reachable(models: Iterable[ModelConfig]) -> None:
    """Raises `ConfigError` for a model that LiteLLM is to be asked for and nobody knows."""
    for config in (model.at(place) for model in models for place in model.places):
        if config.provider in OWN_ADAPTER:
            raise ConfigError(f"the provider of {config.alias!r} is {config.provider!r}: give its `adapter=` to the Orchestrator")
        try:
            check_provider_names(config.provider, config.model, config.base_url)
        except ConfigError as error:
            raise ConfigError(f"{config.alias}: {error}") from None


def _registry_of(adapter: Any) -> ModelRegistry:
    """An adapter as a registry of one; it says itself which endpoint it is, if it cares."""
    endpoint = getattr(adapter, "endpoint", None)
    if endpoint is None:
        return ModelRegistry([ModelConfig(alias=adapter.provider_id, provider=adapter.provider_id, model=adapter.provider_id)])
    told = {name: value for name in _TOLD if (value := getattr(endpoint, name)) is not None}
    alias = endpoint.alias or endpoint.model
    return ModelRegistry([ModelConfig(alias=alias, provider=endpoint.provider, model=endpoint.model, **told)])


_TOLD = ("api_key", "base_url", "context_window", "max_output_tokens", "prices", "extra_headers")
"""What an endpoint may tell of itself."""


def has_price(config: ModelConfig) -> bool:
    """Can the cost of this model's requests be told, wherever they are made?"""
    one = Usage(input_tokens=1, output_tokens=1)
    return all(cost_of(one, config.at(place).endpoint) is not None for place in config.places)


def broken_contract(
    adapter: object, what: str, given: object, without_secrets: Callable[[str], str] | None = None
) -> InternalError:
    """The error of an adapter that gave a value which is none of its kind; it names the adapter, and shows the value."""
    shown = process_scrubber().text(_shown(given))
    shown = clipped_words(encodable(without_secrets(shown) if without_secrets is not None else shown), _MAX_SHOWN)
    return InternalError(f"the adapter {type(adapter).__name__} is wrong: {what} {shown}")


def lets_through(adapter: object) -> bool:
    return bool(getattr(adapter, "lets_exceptions_through", False))


def raised_by(adapter: object, error: Exception) -> InternalError:
    """What is heard of something that the adapter raised, and that is no `LLMCoreError`."""
    return InternalError(f"the adapter {type(adapter).__name__} raised {clipped_words(f'{type(error).__name__}: {error}')}")


def asked_of(adapter: object, method: str, given: object) -> Any:
    """What this method of the adapter gives, before anything is waited for. Raises `InternalError` where it raises anything but
    a `LLMCoreError`."""
    try:
        return getattr(adapter, method)(given)
    except LLMCoreError:
        raise
    except Exception as error:  # the adapter's contract is broken
        if lets_through(adapter):
            raise
        raise raised_by(adapter, error) from error


def _adapter_facts(adapter: object, endpoint: Endpoint) -> Capabilities:
    """What the adapter says of an endpoint. Raises `InternalError` where that is nothing of the kind."""
    told = asked_of(adapter, "capabilities", endpoint)
    if not isinstance(told, Capabilities):
        raise broken_contract(adapter, "capabilities() must give Capabilities, not", told)
    return told


def _shown(given: object) -> str:
    """The type and the value, as far as they are looked through for secrets."""
    try:
        said = repr(given[:_LOOKED_THROUGH] if isinstance(given, str | bytes) else given)[:_LOOKED_THROUGH]
    except Exception:  # its own code
        said = ""
    return "None" if given is None else f"{type(given).__name__} {said}".strip()


def unknown_price(config: ModelConfig) -> ConfigError:
    return ConfigError(
        f"a cost budget needs the price of {config.alias!r}: give `prices: {{input: ..., output: ...}}` "
        "(US dollars per million tokens) in the registry, or bound the tokens instead"
    )
