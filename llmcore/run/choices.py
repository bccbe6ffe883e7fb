"""What layer 4's strategies may choose from, for one run: modes and models that can take the request."""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.models import Needs
from llmcore.run.catalog import Catalog, has_price
from llmcore.run.modes import usable_modes
from llmcore.types import OutputMode

__all__ = ["RunModels"]


class RunModels:
    """The `Models` of the fallback layer. `priced_only`: a cost budget admits no model without a price."""

    def __init__(self, catalog: Catalog, needs: Needs, *, priced_only: bool) -> None:
        self._catalog = catalog
        self._needs = needs
        self._priced_only = priced_only

    def modes(self, model: str) -> Sequence[OutputMode]:
        config = self._catalog.registry.get(model)
        return usable_modes(config, self._catalog.can(config))

    def escalations(self, model: str) -> Sequence[str]:
        return [
            alias
            for alias in self._catalog.registry.get(model).escalates_to
            if alias in self._catalog.registry and self._fits(alias)
        ]

    def window(self, model: str) -> int | None:
        config = self._catalog.registry.get(model)
        return config.context_window or self._catalog.can(config).context_window

    def provider(self, model: str) -> str:
        return self._catalog.registry.get(model).provider

    def may_change_mode(self, model: str) -> bool:
        return self._catalog.registry.get(model).retry_with_different_format

    def learn_refused(self, model: str, capability: str) -> None:
        self._catalog.store.record_failure(self._catalog.registry.get(model).endpoint, capability)

    def _fits(self, alias: str) -> bool:
        config = self._catalog.registry.get(alias)
        priced = not self._priced_only or has_price(config)
        return priced and self._catalog.fits(config, self._needs)
