"""The source of a run's tools: a list, whose registries are read before each turn, or a provider function that is called
before each turn.

The tools that a turn offers validate and run its calls, even if others are registered meanwhile. Tools that are the same
objects as in the turn before are not compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from llmcore.run.caller_functions import CallersFunction, takes_context
from llmcore.run.setup.settings import Toolbox
from llmcore.support.code.signatures import signature_of
from llmcore.tools import RunContext, Tool
from llmcore.types import ToolDefinitionError
from llmcore.types.tools import tools_in

__all__ = ["ToolSource", "is_tool_provider"]


def is_tool_provider(tools: object) -> bool:
    """Whether this is a function that returns the tools of each turn."""
    return callable(tools) and not isinstance(tools, Tool | type | Iterable)


class ToolSource:
    """The tools of an orchestrator, plus those of an agent or a run. Raises `ToolDefinitionError`."""

    def __init__(self, tools: object) -> None:
        self._set_parts((_Part(tools),))

    def beside(self, *others: object) -> ToolSource:
        """These tools with others: lists or providers."""
        made = ToolSource(())
        made._set_parts((*self._parts, *map(_Part, others)))
        return made

    def __deepcopy__(self, memo: object) -> ToolSource:
        """Returns itself: a source never changes, and functions are not copied."""
        return self

    def _set_parts(self, parts: tuple[_Part, ...]) -> None:
        self._parts = parts
        self.is_open = any(part.provider is not None for part in parts)
        """Whether a provider may give tools that are not known yet."""

    def snapshot(self) -> Toolbox:
        """The tools that are known without calling a provider."""
        if len(self._parts) == 1:
            return self._parts[0].known_toolbox()
        return _joined([part.known_toolbox() for part in self._parts], more=self.is_open)

    async def current_toolbox(self, context: RunContext[Any], seconds: float | None) -> Toolbox:
        """The tools of the turn that begins. Raises what a provider raises, and `ToolDefinitionError` for wrong tools."""
        return _joined([await part.current_toolbox(context, seconds) for part in self._parts], more=self.is_open)


def _joined(boxes: Sequence[Toolbox], *, more: bool) -> Toolbox:
    """The tools of all boxes. `more`: other turns may have further tools."""
    first, *others = boxes
    for box in others:
        if first.is_none and (more or not any(tool.replaces for tool in box)):
            first = box
        elif not box.is_none:
            first = first.extended(box, more=more)
    return first


class _Part:
    def __init__(self, tools: object) -> None:
        self.provider = _provider(tools) if is_tool_provider(tools) else None
        self._given: tuple[object, ...] = ()
        """The provider's last tools; `_toolbox` has them compiled."""
        self._toolbox = Toolbox() if self.provider is not None else Toolbox.of(cast("Iterable[object]", tools))

    def known_toolbox(self) -> Toolbox:
        if self.provider is not None:
            return Toolbox()
        self._toolbox = self._toolbox.now()
        return self._toolbox

    async def current_toolbox(self, context: RunContext[Any], seconds: float | None) -> Toolbox:
        if self.provider is None:
            return self.known_toolbox()
        answer = await self.provider(seconds, context)
        try:
            given = tuple(tools_in(answer))
            if len(given) != len(self._given) or any(one is not last for one, last in zip(given, self._given, strict=True)):
                self._given, self._toolbox = given, Toolbox.of(given)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"the function given as tools: {error}") from error
        return self._toolbox


def _provider(tools: Any) -> CallersFunction:
    """The function as a provider. If it takes more than the context, raises `ToolDefinitionError`, since it is probably a
    tool outside a list."""
    signature = signature_of(tools)
    needed = [] if signature is None else [one for one in signature.parameters.values() if one.default is one.empty]
    if needed and not takes_context(tools, needed):
        name = getattr(tools, "__name__", type(tools).__name__)
        raise ToolDefinitionError(
            f"give a list of tools, not a function: [{name}]. A function that returns the tools of each turn takes no argument, "
            "or the RunContext"
        )
    return CallersFunction("the function given as tools", tools, 0)
