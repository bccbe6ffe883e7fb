"""A named collection of tools that may grow and shrink while others read it. Thread-safe; every operation is O(1) or
O(n)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from llmcore.tools.tool import Tool, as_tool, checked_tool
from llmcore.types import ToolDefinitionError, ToolSet
from llmcore.types.locks import ForkSafeLock
from llmcore.types.tools import tools_in

__all__ = ["ToolRegistry"]


class ToolRegistry:
    """Tools by name. Iterating gives a snapshot of them in the order of registration; it goes wherever tools are taken.

    Anything that is a tool may be registered: a `Tool`, a function, a provider's tool dict.
    """

    def __init__(self, tools: Iterable[object] = ()) -> None:
        self._lock = ForkSafeLock()
        self._tools: dict[str, Tool] = {}
        for given in tools_in(tools):
            self.register(given)

    def register(self, given: object, *, name: str | None = None, replace: bool = False) -> Tool:
        """Add a tool and return it, so that `@registry.register` decorates a function.

        Raises `ToolDefinitionError` when the name is taken and `replace` is False, or an example does not fit the
        schema.
        """
        made = checked_tool(given)
        if name is not None and name != made.name:
            made = made.renamed(name)
        with self._lock:
            if made.name in self._tools and not replace:
                raise ToolDefinitionError(f"a tool {made.name!r} is already registered; unregister it or pass replace=True")
            self._tools[made.name] = made
        return made

    def get(self, name: str) -> Tool | None:
        with self._lock:
            return self._tools.get(name)

    def list(self) -> list[Tool]:
        """The tools, in the order of registration."""
        with self._lock:
            return [*self._tools.values()]

    def unregister(self, name: str) -> Tool:
        """Remove a tool and return it. Raises `ToolDefinitionError` when there is none of that name."""
        with self._lock:
            if name not in self._tools:
                raise ToolDefinitionError(f"no tool {name!r} is registered; there are {sorted(self._tools)}")
            return self._tools.pop(name)

    def clone(self) -> ToolRegistry:
        """A registry of its own with the same tools."""
        made = ToolRegistry()
        made._tools = {tool.name: tool for tool in self.list()}
        return made

    def merge(self, other: Iterable[object], *, on_conflict: Literal["error", "ours", "theirs"] = "error") -> ToolRegistry:
        """A new registry with the tools of both. A name that stands for different tools is an error unless told which
        wins."""
        made = self.clone()
        for given in tools_in(other):
            theirs = as_tool(given)
            ours = made.get(theirs.name)
            if ours is None or on_conflict == "theirs":
                made.register(theirs, replace=True)
            elif ours is not theirs and on_conflict == "error":
                raise ToolDefinitionError(
                    f"both registries have a tool {theirs.name!r}; rename one or pass on_conflict='ours' or 'theirs'"
                )
        return made

    def tool_set(self) -> ToolSet:
        """The definitions as they are now, compiled."""
        return ToolSet(self.list())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __repr__(self) -> str:
        return f"ToolRegistry({[tool.name for tool in self.list()]})"
