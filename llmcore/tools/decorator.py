"""`@tool`: a function or method becomes a `Tool`, with or without options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, overload

from llmcore.tools.tool import P, R, Tool, ToolOptions
from llmcore.types import RetryConfig, ToolDefinitionError

__all__ = ["tool"]


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    params: Mapping[str, Mapping[str, Any]] | type[Any] | None = None,
    required: Collection[str] | None = None,
    preprocess: Callable[[dict[str, Any]], Any] | None = None,
    postprocess: Callable[[Any], Any] | None = None,
    read_only: bool = False,
    strict: bool | None = None,
    examples: Collection[dict[str, Any]] = (),
    tags: Collection[str] = (),
    version: str | None = None,
    timeout: float | None = None,
    retries: int | RetryConfig | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function or method, sync or async: `@tool` or `@tool(name=..., ...)`.

    The schema comes from the signature, the type hints (`Annotated`, pydantic's `Field`) and the docstring (Google,
    NumPy, Sphinx); arguments arrive as the annotated types. A parameter annotated `RunContext` is injected and
    hidden. The options are those of `ToolOptions`; `params` and `required` lay a schema of one's own over the
    inferred one, and any schema keyword there may be a callable (of the instance, for methods) that is asked anew for
    each request. `read_only` says that running the tool changes nothing, so that a call which needed a guess may run.

    Raises `ToolDefinitionError` at once for a signature no model can fill: positional-only parameters, `*args`, a
    type without a JSON Schema, an option that is none or has a wrong value. An unannotated parameter takes anything.
    """
    if function is not None and not callable(function):
        raise ToolDefinitionError(f"tool takes a function, or options by name as in @tool(name=...), not {function!r}")
    settings = ToolOptions.of(options)
    if function is not None:
        return Tool(function, settings)

    def decorate(decorated: Callable[..., Any]) -> Tool:
        return Tool(decorated, settings)

    return decorate
