"""Readable errors for wrong arguments: a `ConfigError` that names the argument and the fix, instead of Python's `TypeError`.

Decorators add them to the public functions and classes. A correct call takes one more function call; the signature is inspected
only after a `TypeError`.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from llmcore.support.code.signatures import misfit
from llmcore.support.code.suggestions import describe_value, unknown
from llmcore.types.errors import ConfigError, LLMCoreError, RetryTool, TerminateLoop
from llmcore.types.exception_groups import unwrap_group

__all__ = [
    "Kind",
    "check_kinds",
    "check_takes_one",
    "in_words",
    "is_async",
    "naming",
    "takes_positional",
    "trim_arguments",
    "with_readable_errors",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Instead = Mapping[str, str]
_NAMED = inspect.Parameter.KEYWORD_ONLY
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Kind:
    """The test for an option's value, and the description of the expected value for the error message."""

    fits: Callable[[object], bool]
    words: str


def check_kinds(thing: str, values: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
    """Raises `ConfigError` for the first value that is not of its option's kind. None is an omitted option and passes."""
    for name, kind in kinds.items():
        value = values.get(name)
        if value is not None and not kind.fits(value):
            raise ConfigError(f"{thing}: `{name}` must be {kind.words}, not {describe_value(value)}")


def check_takes_one(what: str, function: object) -> None:
    """Raises `ConfigError` if it is no function that accepts the request as its only argument."""
    if not callable(function) or isinstance(function, type):
        raise ConfigError(f"{what} must be a function of the request, not {describe_value(function)}")
    if (error := misfit(function, None)) is not None:
        raise ConfigError(f"{what} is called with the request, which its function does not take: {error}")


def takes_positional(function: object, count: int) -> bool:
    """Whether it is callable with `count` positional arguments. True for a callable without a readable signature."""
    return callable(function) and misfit(function, *[None] * count) is None


def is_async(function: object) -> bool:
    """Whether calling it returns an awaitable."""
    call = getattr(function, "__call__", None)  # noqa: B004  # an object with an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def with_readable_errors(function: F, name: str | None = None, instead: Instead | None = None) -> F:
    """The function, which raises a readable `ConfigError` for calls that do not fit its signature.

    If a sync function raises a `ConfigError`, its frames lose their variables. A variable may hold a key, and pytest prints it.
    """
    label = name or function.__name__
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            try:
                coroutine = function(*args, **kwargs)
            except TypeError as error:
                raise _mistake(function, label, args, kwargs, instead) or error from error
            return await coroutine

        return cast("F", awaited)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            mistake = _mistake(function, label, args, kwargs, instead)
            if mistake is None:
                raise
            raise mistake from error
        except ConfigError as error:
            traceback.clear_frames(error.__traceback__)
            args, kwargs = (), {}
            raise

    return cast("F", call)


def trim_arguments(*arguments: Any) -> tuple[Any, ...]:
    """The arguments up to the last one that is not None. A method that a user overrides need not accept the others."""
    while arguments and arguments[-1] is None:
        arguments = arguments[:-1]
    return arguments


def in_words(*, instead: Instead | None = None, only: Collection[str] | None = None) -> Callable[[type[T]], type[T]]:
    """A class decorator: the constructor and public methods raise readable errors for calls that do not fit.

    `only`: the names of the methods; None means all public ones. `instead`: hints for well-known names that the class does not
    have.
    """

    def decorate(kind: type[T]) -> type[T]:
        for name, value in list(vars(kind).items()):
            is_public = name == "__init__" or not name.startswith("_")
            if inspect.isfunction(value) and (is_public if only is None else name in only):
                label = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
                setattr(kind, name, with_readable_errors(value, label, instead))
        return kind

    return decorate


@contextmanager
def naming(what: str, function: object) -> Generator[None]:
    """Add a note to an exception of the caller's function that names the function. The exception itself is raised unchanged.

    llmcore's own errors get no note. A control exception (`TerminateLoop`, `RetryTool`) is unwrapped from an exception group.
    """
    try:
        yield
    except BaseException as raised:
        error = unwrap_group(raised)
        if error is not raised:
            raise error from None
        if not isinstance(error, Exception):
            raise
        if not isinstance(error, LLMCoreError | TerminateLoop | RetryTool):
            name = getattr(function, "__qualname__", None) or type(function).__name__
            error.add_note(f"raised by {what}: {name}")
        raise


def _mistake(
    function: Callable[..., Any], label: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], instead: Instead | None
) -> ConfigError | None:
    """The error for a call that does not fit; None if it fits, and the `TypeError` came from the function's body."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        words = str(error)
    else:
        return None
    parameters = [each for each in signature.parameters.values() if each.name != "self" and each.kind not in _VARIADIC]
    names = [each.name for each in parameters]
    unexpected = next((name for name in kwargs if name not in names), None)
    if unexpected is not None and "unexpected" in words:
        return ConfigError(unknown(label, "option", unexpected, names, instead))
    form = f"write {label}({', '.join([*(each.name for each in parameters if each.kind is not _NAMED)][:3])}{_named(parameters)})"
    if "missing" in words:
        missing = words.rpartition(": ")[2].strip("'")
        return ConfigError(f"{label} needs `{missing}`: {form}")
    return ConfigError(f"{label} was called with {words}: {form}")


def _named(parameters: list[inspect.Parameter]) -> str:
    """The first keyword-only parameter as an example of how to give options by name."""
    first = next((each.name for each in parameters if each.kind is _NAMED), None)
    return "" if first is None else f"{', ' if len(parameters) > 1 and parameters[0].kind is not _NAMED else ''}{first}=..."
