"""`@tool`: a function or method becomes a `Tool`, with or without options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from llmcore.support.code.option_signatures import show_options
from llmcore.tools.definition.function_checks import describe_non_function
from llmcore.tools.definition.options import OptionsByName, ToolOptions
from llmcore.tools.definition.tool import Tool
from llmcore.types import ToolDefinitionError
from llmcore.types.input.argument_errors import with_readable_errors

__all__ = ["tool"]


P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
O = TypeVar("O")  # noqa: E741  (the class that a class method is bound to)

if TYPE_CHECKING:

    class ClassTool(Tool[Concatenate[type[O], P], R_co], Generic[O, P, R_co]):
        """The static type of a tool whose first parameter is a class: `@classmethod` above the tool binds that parameter."""

        def __get__(  # type: ignore[override]  # mypy and pyright: it is bound where any other tool is not
            self, instance: object, owner: type | None = None
        ) -> Tool[P, R_co]: ...

else:
    ClassTool = Tool


class Decorator(Protocol):
    """The decorator that `tool(...)` with options returns. The tool has the signature of the decorated function."""

    @overload
    def __call__(self, function: Callable[Concatenate[type[O], P], R], /) -> ClassTool[O, P, R]: ...

    @overload
    def __call__(self, function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(function: Callable[Concatenate[type[O], P], R], /, **options: Unpack[OptionsByName]) -> ClassTool[O, P, R]: ...


@overload
def tool(function: Callable[P, R], /, **options: Unpack[OptionsByName]) -> Tool[P, R]: ...


@overload
def tool(**options: Unpack[OptionsByName]) -> Decorator: ...


@with_readable_errors
def tool(function: Callable[..., Any] | None = None, /, **options: Unpack[OptionsByName]) -> Tool[..., Any] | Decorator:
    """Make a tool of a function or method, sync or async: `@tool` or `@tool(name=..., ...)`.

    The schema comes from the signature, the type hints (`Annotated`, pydantic's `Field`) and the docstring (Google, NumPy,
    Sphinx). Arguments arrive as values of the annotated types; an unannotated parameter accepts anything. A parameter annotated
    `RunContext` is injected, and the schema omits it.

    The options are those of `ToolOptions`. `params` and `required` override the inferred schema. Any schema keyword in `params`
    may be a callable, which is called for each request, of a method with the instance.

    If the function is a `Tool` or wraps one (a decorator, a `functools.partial`), the new tool keeps the options that are not
    given here.

    Raises `ToolDefinitionError` at once: for a signature that no model can fill (positional-only parameters, `*args`, a type
    without a JSON Schema), an unknown option or a wrong value, an example that does not fit the schema, a class, or a method
    without its object.
    """
    if function is not None and not callable(function):
        raise ToolDefinitionError(
            f"tool takes a function, or options by name as in @tool(name=...), not {describe_non_function(function)}"
        )
    ToolOptions.of(options)  # raises now, not when the decorator is applied

    def decorate(decorated: Callable[P, R], /) -> Tool[P, R]:
        return Tool.from_function(decorated, options)

    return cast("Decorator", decorate) if function is None else decorate(function)


show_options(tool, OptionsByName)
