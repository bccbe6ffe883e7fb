"""Which model a run begins with, and how it searches the web: natively where its provider can, else by the orchestrator's own
`web_search` tool. A model that was named and lacks what the request needs is taken, and a warning says what it lacks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from llmcore.adapters.providers import provider_of
from llmcore.models import ModelConfig, Needs, needs_of
from llmcore.models.selection import lacking
from llmcore.run.catalog import Catalog
from llmcore.run.settings import RunSettings
from llmcore.tools import Tool
from llmcore.tools.web_search import WEB_SEARCH
from llmcore.types import ModelNotFound
from llmcore.types.copies import updated
from llmcore.types.logs import logger

__all__ = ["Chosen", "choose", "chosen_again"]

_log = logger("run")


@dataclass(slots=True)
class Chosen:
    """The first model of a run, what every other must be able to do, and the settings with the tools that it needs."""

    model: ModelConfig
    needs: Needs
    settings: RunSettings
    search: Tool | None = None
    """The tool by which the web is searched, where the model does not do it itself."""
    spare_search: Tool | None = None
    """The same, where the model does, for when its server refuses to."""


def choose(catalog: Catalog, settings: RunSettings, web_search: Tool | None, more_tools: bool = False) -> Chosen:
    """`more_tools`: there may be tools that are told later. Raises `ModelNotFound`."""
    request = settings.request
    needs = needs_of(request, tools=more_tools or len(settings.toolbox) > 0)
    search: Tool | None = None
    toolbox = settings.toolbox
    if request.allow_web_search and (tool := web_search or toolbox.get(WEB_SEARCH)) is not None:
        if (native := _searching(catalog, request.model, needs)) is not None:
            return Chosen(native, needs, settings, spare_search=web_search)
        if toolbox.get(tool.name) is None:  # else the caller's own search is asked for
            toolbox = toolbox.extended([tool])
        needs = replace(needs, web_search=False, tools=True)
        settings = replace(settings, request=updated(request, {"allow_web_search": False}), toolbox=toolbox)
        search = tool
    model = catalog.select(request.model, needs)
    if request.model is not None and (missing := lacking(model, needs, catalog.can)):
        _log.warning("the model %s was asked for and lacks %s, which the request needs", model.alias, " and ".join(missing))
    return Chosen(model, needs, settings, search)


def chosen_again(catalog: Catalog, chosen: Chosen) -> ModelConfig:
    """The first model of a run by what is known now, where it was not named: that which was chosen, unless it was learnt to lack
    what the request needs. Raises `ModelNotFound`."""
    needs = replace(chosen.needs, web_search=False) if chosen.spare_search is not None else chosen.needs
    if chosen.settings.request.model is not None or not lacking(chosen.model, needs, catalog.can):
        return chosen.model
    return catalog.select(None, needs)


def _searching(catalog: Catalog, alias: str | None, needs: Needs) -> ModelConfig | None:
    """The model, if it searches the web itself, beside the tools that there are."""
    try:
        model = catalog.select(alias, needs)
    except ModelNotFound:
        if alias is not None:
            raise
        return None
    together = not needs.tools or provider_of(model.endpoint).searches_beside_tools
    return model if together and catalog.can(model).web_search is True else None
