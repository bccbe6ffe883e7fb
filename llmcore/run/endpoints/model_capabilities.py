"""The capability store of an orchestrator, which knows the orchestrator's models by their aliases as well."""

from __future__ import annotations

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.capabilities.beliefs import Beliefs
from llmcore.models import ModelConfig
from llmcore.run.endpoints.catalog import Catalog

__all__ = ["KnownModels"]


class KnownModels(CapabilityStore):
    """The store itself, by another face: both have one state, so what is learnt or told here is learnt or told there."""

    __slots__ = ("_catalog",)

    def __init__(self, catalog: Catalog) -> None:
        self.__dict__ = catalog.store.__dict__
        self._catalog = catalog

    def get(self, endpoint: Endpoint | str) -> Beliefs:
        """What the orchestrator's runs believe of a model, given by its alias (at the first of its deployments) or as an
        `Endpoint`: what its registry entry says is included. Where each belief comes from is in `Beliefs.sources`.

        Raises `ModelNotFound` for an alias that the registry does not have.
        """
        config = self._catalog.registry.get(endpoint) if isinstance(endpoint, str) else self._model_at(endpoint)
        return super().get(endpoint) if config is None else self._catalog.believed(config)

    def _model_at(self, endpoint: Endpoint) -> ModelConfig | None:
        """The model of the registry that is this endpoint."""
        registry = self._catalog.registry
        if getattr(endpoint, "alias", None) not in registry:  # of what is no endpoint the store says so
            return None
        model = registry.get(endpoint.alias)
        return next((config for config in map(model.at, model.places) if config.endpoint.key == endpoint.key), None)
