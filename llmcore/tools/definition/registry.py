"""`ToolRegistry`: tools by name, which may be added and removed while runs read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.suggestions import describe_value, hint
from llmcore.tools.definition.decorator import Decorator
from llmcore.tools.definition.tool import Tool, as_tool, checked_tool, is_tool
from llmcore.types import ConfigError, ToolDefinition, ToolDefinitionError, ToolSet
from llmcore.types.input.argument_errors import in_words
from llmcore.types.tools import LiveTools, tools_in

__all__ = ["ToolRegistry"]

P = ParamSpec("P")
R = TypeVar("R")
_CONFLICTS = ("error", "ours", "theirs")


@in_words()
class ToolRegistry(LiveTools):
    """Tools by name, in the order of registration. Thread-safe; iteration reads a snapshot.

    Every parameter for tools accepts a registry. An orchestrator and its runs offer the tools that are registered when a turn
    begins. A `Tool`, a function and a provider's tool dict can be registered.
    """

    def __init__(self, tools: Iterable[object] = ()) -> None:
        self._lock = ForkSafeLock()
        self._tools: dict[str, Tool] = {}
        self._version = 0
        for given in tools_in(tools):
            self._add(given, None, replace=False)

    @overload
    def register(self, given: Callable[P, R], *, name: str | None = None, replace: bool = False) -> Tool[P, R]: ...

    @overload
    def register(self, given: ToolDefinition | Mapping[str, Any], *, name: str | None = None, replace: bool = False) -> Tool: ...

    @overload
    def register(self, *, name: str | None = None, replace: bool = False) -> Decorator: ...

    def register(self, given: object = None, *, name: str | None = None, replace: bool = False) -> Tool[..., Any] | Decorator:
        """Add a tool and return it, so that `@registry.register` and `@registry.register(name=...)` decorate a function.

        Raises `ToolDefinitionError` if the name is registered and `replace` is False, the schema is invalid, or an example does
        not fit it.
        """
        if given is None:

            def decorate(function: Callable[P, R], /) -> Tool[P, R]:
                return cast("Tool[P, R]", self._add(function, name, replace=replace))

            return cast("Decorator", decorate)
        return self._add(given, name, replace=replace)

    def _add(self, given: object, name: str | None, *, replace: bool) -> Tool:
        made = _named(given, name)
        with self._lock:
            if made.name in self._tools and not replace:
                raise ToolDefinitionError(f"a tool {made.name!r} is already registered; unregister it or pass replace=True")
            self._tools[made.name] = made
            self._version += 1
        return made

    @property
    def version(self) -> int:
        """A number that grows with each change."""
        return self._version

    def tools_now(self) -> list[Tool]:
        return self.list()

    def get(self, name: str) -> Tool | None:
        with self._lock:
            return self._tools.get(name)

    def list(self) -> list[Tool]:
        """A snapshot of the tools, in the order of registration."""
        with self._lock:
            return [*self._tools.values()]

    def unregister(self, name: str) -> Tool:
        """Remove a tool and return it. Raises `ToolDefinitionError` if no tool has that name."""
        with self._lock:
            if name not in self._tools:
                raise ToolDefinitionError(f"no tool {name!r} is registered; {hint(name, sorted(self._tools))}")
            self._version += 1
            return self._tools.pop(name)

    def clone(self) -> ToolRegistry:
        """A registry with deep copies of the tools: changes of their schemas, examples or tags do not affect this one."""
        made = ToolRegistry()
        made._tools = {tool.name: tool.deep_copy() for tool in self.list()}
        return made

    def merge(self, other: Iterable[object], *, on_conflict: Literal["error", "ours", "theirs"] = "error") -> ToolRegistry:
        """A new registry with deep copies of the tools of both. If both have the same tool, it is taken once.

        `on_conflict`: for a name of two different tools, "error" raises `ToolDefinitionError`, "ours" keeps the tool of this
        registry, "theirs" takes the other one. Raises `ConfigError` for any other value.
        """
        if on_conflict not in _CONFLICTS:
            raise ConfigError(
                f"on_conflict must be 'error', 'ours' or 'theirs', not {describe_value(on_conflict)}; "
                f"{hint(on_conflict, _CONFLICTS)}"
            )
        made = self.clone()
        for given in tools_in(other):
            theirs = as_tool(given)
            ours = made.get(theirs.name)
            if ours is None or on_conflict == "theirs":
                made.register(theirs.deep_copy(), replace=True)
            elif not ours.is_same(theirs) and on_conflict == "error":
                raise ToolDefinitionError(
                    f"both registries have a tool {theirs.name!r}; rename one or pass on_conflict='ours' or 'theirs'"
                )
        return made

    def tool_set(self) -> ToolSet:
        """The current tools, compiled."""
        return ToolSet(self.list())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __repr__(self) -> str:
        return f"ToolRegistry({[tool.name for tool in self.list()]})"


def _named(given: object, name: str | None) -> Tool:
    """The checked tool of `given`, renamed if a name is given. A `lambda` has no usable name, so it gets this one at once."""
    if name is None:
        return checked_tool(given)
    if callable(given) and not is_tool(given):
        return Tool.from_function(given, {"name": name}).check()
    made = as_tool(given)
    return (made if made.name == name else made.renamed(name)).check()
