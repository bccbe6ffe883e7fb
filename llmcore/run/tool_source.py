"""Where a run's tools come from: a list that stands still, a registry that is read before each turn, or a function (a dynamic
provider) that is asked for them before each turn.

A turn's calls are judged and run by the tools that it was offered, whatever is registered meanwhile. Tools that are the same
objects as in the turn before are compiled once.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from llmcore.run.callers_code import CallersFunction, takes_context
from llmcore.run.settings import Toolbox
from llmcore.tools import RunContext, Tool, ToolRegistry
from llmcore.types import ToolDefinitionError
from llmcore.types.tools import tools_in

__all__ = ["ToolSource", "is_live"]


def is_live(tools: object) -> bool:
    """Are these tools to be read before each turn: a registry, or a function that gives them?"""
    function = callable(tools) and not isinstance(tools, Tool | type | Iterable)
    return isinstance(tools, ToolRegistry) or function


class ToolSource:
    """The tools of an orchestrator, and perhaps a run's own beside them. Raises `ToolDefinitionError`."""

    def __init__(self, tools: object, own: object = ()) -> None:
        self._parts = (_Part(tools), _Part(own))

    def beside(self, own: object) -> ToolSource:
        """These, with a run's own live tools."""
        made = ToolSource(())
        made._parts = (self._parts[0], _Part(own))
        return made

    @property
    def is_live(self) -> bool:
        return any(part.is_live for part in self._parts)

    @property
    def is_open(self) -> bool:
        """May there be tools that only a function can tell?"""
        return any(part.provider is not None for part in self._parts)

    def snapshot(self) -> Toolbox:
        """Those that can be told without asking a function."""
        first, own = (part.known() for part in self._parts)
        return first.extended(own) if len(own) else first

    async def now(self, context: RunContext[Any], seconds: float | None) -> Toolbox:
        """Those of the turn that begins. Raises what a provider raises, and `ToolDefinitionError` for what it gives."""
        first, own = [await part.now(context, seconds) for part in self._parts]
        return first.extended(own) if len(own) else first


class _Part:
    def __init__(self, tools: object) -> None:
        self.is_live = is_live(tools)
        self.provider = _provider(tools) if self.is_live and not isinstance(tools, ToolRegistry) else None
        self._registry = tools if isinstance(tools, ToolRegistry) else None
        self._last: tuple[tuple[object, ...], Toolbox] = ((), Toolbox())
        if not self.is_live:
            self._last = ((), Toolbox.of(tools_in(tools)))

    def known(self) -> Toolbox:
        if self._registry is not None:
            return self._made(self._registry.list())
        return Toolbox() if self.provider is not None else self._last[1]

    async def now(self, context: RunContext[Any], seconds: float | None) -> Toolbox:
        if self.provider is None:
            return self.known()
        given = await self.provider(seconds, context)
        try:
            return self._made(tools_in(given))
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"the function given as tools: {error}") from error

    def _made(self, tools: Iterable[object]) -> Toolbox:
        """A toolbox of them; the one from before where they are the same objects."""
        given, (last, box) = tuple(tools), self._last
        if len(given) != len(last) or any(one is not other for one, other in zip(given, last, strict=True)):
            box = Toolbox.of(given)
            self._last = (given, box)
        return box


def _provider(tools: Any) -> CallersFunction:
    """The function as a provider. One that needs anything but the context is rather a tool that was not put in a list."""
    try:
        needed = [one for one in inspect.signature(tools).parameters.values() if one.default is inspect.Parameter.empty]
    except (TypeError, ValueError):
        needed = []
    if needed and not takes_context(tools, needed):
        name = getattr(tools, "__name__", type(tools).__name__)
        raise ToolDefinitionError(
            f"give a list of tools, not function: [{name}]. A function that gives the tools of each turn takes no argument, "
            "or the RunContext"
        )
    return CallersFunction("the function given as tools", tools, 0)
