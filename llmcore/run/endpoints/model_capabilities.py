"""The capability store of an orchestrator, which also accepts model aliases."""

from __future__ import annotations

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.capabilities.beliefs import Beliefs
from llmcore.models import ModelConfig
from llmcore.run.endpoints.catalog import Catalog

__all__ = ["KnownModels"]


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
