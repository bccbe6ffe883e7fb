"""The model that a run begins with, its tools, and how the run searches the web.

The run searches natively if the provider can, else by the orchestrator's own `web_search` tool. If a named model lacks a
needed capability, it is used all the same, and a warning says what it lacks. These checks load none of the layers.
"""

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

__all__ = ["FirstChoice", "choose_first", "revise_model"]

_log = logger("run")


@dataclass(slots=True)
class FirstChoice:
    """The first model of a run, the capabilities that every other model needs, and the settings with their tools."""

    model: ModelConfig
    needs: Needs
    settings: RunSettings
    search: Tool | None = None
    """The tool that searches the web, if the model does not."""
    spare_search: Tool | None = None
    """The tool that searches the web if the model's server refuses to."""
    tools: ToolConfig = field(default_factory=ToolConfig)
    """How the tools run."""


def choose_first(runtime: Runtime, settings: RunSettings, *, more_tools: bool) -> FirstChoice:
    """Choose how the run begins, and check everything. `more_tools`: a provider may give further tools later.

    Raises `CallerError`s.
    """
    chosen = _choose(runtime.catalog, settings, runtime.web_search, more_tools)
    settings, model, search = chosen.settings, chosen.model, chosen.search
    request, parent = settings.request, settings.place
    tools = runtime.tool_config.overlaid(model.tools).overlaid(settings.tool_overrides)
    if tools.tool_choice is not None and "tool_choice" not in request.model_fields_set:
        request = updated(request, {"tool_choice": tools.tool_choice})
    check_tool_names(settings.toolbox, typed=request.output_type is not None)
    if not more_tools:
        check_allowed(tools, settings.toolbox)
        check_choice(request, settings.toolbox, tools)
    toolbox = settings.toolbox.limited(tools)
    if search is not None and toolbox.get(search.name) is None:  # a warning then says that nobody searches
        request = updated(request, {"allow_web_search": True})
    if request is not settings.request or toolbox is not settings.toolbox:
        settings = replace(settings, request=request, toolbox=toolbox)
    own = settings.budget.cost is not None or settings.shared_budget is not None
    if own or (parent is not None and parent.ledger.bounds_cost):
        runtime.catalog.check_prices(model)
    return replace(chosen, settings=settings, tools=tools)


def _choose(catalog: Catalog, settings: RunSettings, web_search: Tool | None, more_tools: bool) -> FirstChoice:
    """Raises `ModelNotFound`."""
    request = settings.request
    needs = needs_of(request, tools=more_tools or len(settings.toolbox) > 0)
    search: Tool | None = None
    toolbox = settings.toolbox
    if request.allow_web_search and (tool := web_search or toolbox.get(WEB_SEARCH)) is not None:
        if (native := _searching_model(catalog, request.model, needs)) is not None:
            return FirstChoice(native, needs, settings, spare_search=web_search)
        if toolbox.get(tool.name) is None:  # otherwise the caller's own tool searches
            toolbox = toolbox.extended([tool])
        needs = replace(needs, web_search=False, tools=True)
        settings = replace(settings, request=updated(request, {"allow_web_search": False}), toolbox=toolbox)
        search = tool
    model = catalog.select(request.model, needs)
    if request.model is not None and (missing := missing_capabilities(model, needs, catalog.can)):
        _log.warning("the model %s was asked for and lacks %s, which the request needs", model.alias, " and ".join(missing))
    return FirstChoice(model, needs, settings, search)


def revise_model(catalog: Catalog, chosen: FirstChoice) -> ModelConfig:
    """The first model of a run by what is known now. If the model was not named and was learned to lack a capability, another is
    chosen.

    Raises `ModelNotFound`.
    """
    needs = replace(chosen.needs, web_search=False) if chosen.spare_search is not None else chosen.needs
    if chosen.settings.request.model is not None or not missing_capabilities(chosen.model, needs, catalog.can):
        return chosen.model
    return catalog.select(None, needs)


def _searching_model(catalog: Catalog, alias: str | None, needs: Needs) -> ModelConfig | None:
    """The model, if it searches the web itself, beside the given tools."""
    try:
        model = catalog.select(alias, needs)
    except ModelNotFound:
        if alias is not None:
            raise
        return None
    is_possible = not needs.tools or provider_of(model.endpoint).searches_beside_tools
    return model if is_possible and catalog.can(model).web_search is True else None
