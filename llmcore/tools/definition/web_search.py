"""Web search as an ordinary tool, for models whose provider has no web search. The caller's function does the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmcore.support.code.signatures import misfit, signature_of
from llmcore.support.values.narrowing import is_list
from llmcore.tools.definition.tool import Tool, ToolOptions
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import is_async

__all__ = ["WEB_SEARCH", "Searcher", "web_search_tool"]

WEB_SEARCH = "web_search"
"""The tool's name."""
_DEFAULT_MAX_RESULTS = 5
_DESCRIPTION = "Search the web. Returns the results found, the best first."

Searcher = Callable[..., Any]
"""`search(query)` or `search(query, max_results)`, sync or async. It returns text or JSON data, usually a list of results with
title, URL and text."""


def web_search_tool(search: Searcher, *, description: str = _DESCRIPTION) -> Tool:
    """The tool `web_search(query, max_results=5)`, which calls `search`. A list of results is cut to `max_results`.

    Raises `ConfigError` if `search` cannot be called with a query.
    """
    passes_max_results = _accepts_max_results(search)

    def arguments(query: str, max_results: int) -> tuple[Any, ...]:
        return (query, max_results) if passes_max_results else (query,)

    async def run_async(query: str, max_results: int = _DEFAULT_MAX_RESULTS) -> Any:
        return _first(await search(*arguments(query, max_results)), max_results)

    def run(query: str, max_results: int = _DEFAULT_MAX_RESULTS) -> Any:
        return _first(search(*arguments(query, max_results)), max_results)

    asynchronous = is_async(search)
    options = ToolOptions(name=WEB_SEARCH, description=description, params=_PARAMETERS, read_only=True)
    return Tool(run_async if asynchronous else run, options)


_PARAMETERS: dict[str, dict[str, Any]] = {
    "query": {"description": "What to search for."},
    "max_results": {"description": "The most results to return.", "minimum": 1, "maximum": 20},
}


def _accepts_max_results(search: object) -> bool:
    if not callable(search):
        raise ConfigError(f"web_search must be a function of a query, not {type(search).__name__}")
    if signature_of(search) is None:
        return False
    for given in (("", 1), ("",)):
        if misfit(search, *given) is None:
            return len(given) > 1
    raise ConfigError("web_search must take a query, and at most one argument more without a default: the number of results")


def _first(found: Any, number: int) -> Any:
    return found[:number] if is_list(found) else found
