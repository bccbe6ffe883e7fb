"""Web search as an ordinary tool, for models whose provider has none of its own: the search itself is the caller's function.

No engine of ours: any function of a query, and of a number of results if it takes one, sync or async, will do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from llmcore.support.values.narrowing import is_list
from llmcore.tools.definition.tool import Tool, ToolOptions
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import is_async

__all__ = ["WEB_SEARCH", "Searcher", "web_search_tool"]

WEB_SEARCH = "web_search"
"""The tool's name."""
_MOST = 5
_DESCRIPTION = "Search the web. Returns the results found, the best first."

Searcher = Callable[..., Any]
"""`search(query)` or `search(query, max_results)`, sync or async: text, or anything that can be written as JSON, usually a list
of results with title, URL and text."""


def web_search_tool(search: Searcher, *, description: str = _DESCRIPTION) -> Tool:
    """The tool `web_search(query, max_results=5)`, run by `search`. Of a list no more than `max_results` come back.

    Raises `ConfigError` for what cannot be called with a query.
    """
    both = _takes_a_number(search)

    def arguments(query: str, max_results: int) -> tuple[Any, ...]:
        return (query, max_results) if both else (query,)

    async def run_async(query: str, max_results: int = _MOST) -> Any:
        return _first(await search(*arguments(query, max_results)), max_results)

    def run(query: str, max_results: int = _MOST) -> Any:
        return _first(search(*arguments(query, max_results)), max_results)

    asynchronous = is_async(search)
    options = ToolOptions(name=WEB_SEARCH, description=description, params=_PARAMETERS, read_only=True)
    return Tool(run_async if asynchronous else run, options)


_PARAMETERS: dict[str, dict[str, Any]] = {
    "query": {"description": "What to search for."},
    "max_results": {"description": "The most results to return.", "minimum": 1, "maximum": 20},
}


def _takes_a_number(search: object) -> bool:
    if not callable(search):
        raise ConfigError(f"web_search must be a function of a query, not {type(search).__name__}")
    try:
        signature = inspect.signature(search)
    except ValueError:  # built in: it says nothing of itself
        return False
    for given in (("", 1), ("",)):
        try:
            signature.bind(*given)
        except TypeError:
            continue
        return len(given) > 1
    raise ConfigError("web_search must take a query, and at most one argument more without a default: the number of results")


def _first(found: Any, number: int) -> Any:
    """The results, a list of them cut to the number that was asked for."""
    return found[:number] if is_list(found) else found
