"""Which model a run begins with, with which tools, and how it searches the web: natively where its provider can, else by the
orchestrator's own `web_search` tool. A model that was named and lacks what the request needs is taken, and a warning says what it
lacks. All that can be said at once of a run stands here, and loads none of the layers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from llmcore.adapters.providers import provider_of
from llmcore.models import ModelConfig, Needs, needs_of
from llmcore.models.selection import missing_capabilities
from llmcore.run.endpoints.catalog import Catalog
from llmcore.run.setup.settings import RunSettings, check_allowed, check_choice, check_tool_names
from llmcore.support.values.copies import updated
from llmcore.tools import Tool, ToolConfig
from llmcore.tools.definition.web_search import WEB_SEARCH
from llmcore.types import ModelNotFound
from llmcore.types.logs import logger

if TYPE_CHECKING:
    from llmcore.run.endpoints.runtime import Runtime  # loads layers

__all__ = ["Chosen", "begun", "chosen_again"]

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
    tools: ToolConfig = field(default_factory=ToolConfig)
    """How its tools run."""


def begun(machinery: Runtime, settings: RunSettings, *, more_tools: bool) -> Chosen:
    """How the run begins, with everything checked. `more_tools`: there may be tools that are told later.

    Raises `CallerError`s.
    """
    chosen = _choose(machinery.catalog, settings, machinery.web_search, more_tools)
    settings, model, search = chosen.settings, chosen.model, chosen.search
    request, place = settings.request, settings.place
    tools = machinery.tool_config.overlaid(model.tools).overlaid(settings.tool_overrides)
    if tools.tool_choice is not None and "tool_choice" not in request.model_fields_set:
        request = updated(request, {"tool_choice": tools.tool_choice})
    check_tool_names(settings.toolbox, typed=request.output_type is not None)
    if not more_tools:
        check_allowed(tools, settings.toolbox)
        check_choice(request, settings.toolbox, tools)
    toolbox = settings.toolbox.limited(tools)
    if search is not None and toolbox.get(search.name) is None:  # then it is told that nobody searches
        request = updated(request, {"allow_web_search": True})
    if request is not settings.request or toolbox is not settings.toolbox:
        settings = replace(settings, request=request, toolbox=toolbox)
    if settings.budget.cost is not None or (place is not None and place.ledger.bounds_cost):
        machinery.catalog.check_prices(model)
    return replace(chosen, settings=settings, tools=tools)


def _choose(catalog: Catalog, settings: RunSettings, web_search: Tool | None, more_tools: bool) -> Chosen:
    """Raises `ModelNotFound`."""
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
    if request.model is not None and (missing := missing_capabilities(model, needs, catalog.can)):
        _log.warning("the model %s was asked for and lacks %s, which the request needs", model.alias, " and ".join(missing))
    return Chosen(model, needs, settings, search)


def chosen_again(catalog: Catalog, chosen: Chosen) -> ModelConfig:
    """The first model of a run by what is known now, where it was not named: that which was chosen, unless it was learnt to lack
    what the request needs. Raises `ModelNotFound`."""
    needs = replace(chosen.needs, web_search=False) if chosen.spare_search is not None else chosen.needs
    if chosen.settings.request.model is not None or not missing_capabilities(chosen.model, needs, catalog.can):
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
