"""Where a run's tools come from: a list, in which registries are read before each turn, or a function (a dynamic provider) that
is asked for them before each turn.

A turn's calls are judged and run by the tools that it was offered, whatever is registered meanwhile. Tools that are the same
objects as in the turn before are compiled once.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, cast

from llmcore.run.caller_functions import CallersFunction, takes_context
from llmcore.run.setup.settings import Toolbox
from llmcore.tools import RunContext, Tool
from llmcore.types import ToolDefinitionError
from llmcore.types.tools import tools_in

__all__ = ["ToolSource", "is_tool_provider"]


def is_tool_provider(tools: object) -> bool:
    """Is it a function that gives the tools of each turn?"""
    return callable(tools) and not isinstance(tools, Tool | type | Iterable)


class ToolSource:
    """The tools of an orchestrator, and perhaps others beside them, of an agent or a run. Raises `ToolDefinitionError`."""

    def __init__(self, tools: object) -> None:
        self._have((_Part(tools),))

    def beside(self, *others: object) -> ToolSource:
        """These, with others: lists or providers."""
        made = ToolSource(())
        made._have((*self._parts, *map(_Part, others)))
        return made

    def __deepcopy__(self, memo: object) -> ToolSource:
        """Itself, for a copy of an orchestrator: it is settled when it is made, and functions are not copied either."""
        return self

    def _have(self, parts: tuple[_Part, ...]) -> None:
        self._parts = parts
        self.is_open = any(part.provider is not None for part in parts)
        """May there be tools that only a function can tell?"""

    def snapshot(self) -> Toolbox:
        """Those that can be told without asking a function."""
        if len(self._parts) == 1:
            return self._parts[0].known()
        return _joined([part.known() for part in self._parts], more=self.is_open)

    async def now(self, context: RunContext[Any], seconds: float | None) -> Toolbox:
        """Those of the turn that begins. Raises what a provider raises, and `ToolDefinitionError` for what it gives."""
        return _joined([await part.now(context, seconds) for part in self._parts], more=self.is_open)


def _joined(boxes: Sequence[Toolbox], *, more: bool) -> Toolbox:
    """`more`: in other turns there may be others."""
    first, *others = boxes
    for own in others:
        if first.is_none and (more or not any(tool.replaces for tool in own)):
            first = own
        elif not own.is_none:
            first = first.extended(own, more=more)
    return first


class _Part:
    def __init__(self, tools: object) -> None:
        self.provider = _provider(tools) if is_tool_provider(tools) else None
        self._given: tuple[object, ...] = ()
        """What the provider gave last, and in `_toolbox` what was made of it."""
        self._toolbox = Toolbox() if self.provider is not None else Toolbox.of(cast("Iterable[object]", tools))

    def known(self) -> Toolbox:
        if self.provider is not None:
            return Toolbox()
        self._toolbox = self._toolbox.now()
        return self._toolbox

    async def now(self, context: RunContext[Any], seconds: float | None) -> Toolbox:
        if self.provider is None:
            return self.known()
        answer = await self.provider(seconds, context)
        try:
            given = tuple(tools_in(answer))
            if len(given) != len(self._given) or any(one is not last for one, last in zip(given, self._given, strict=True)):
                self._given, self._toolbox = given, Toolbox.of(given)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"the function given as tools: {error}") from error
        return self._toolbox


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
