"""Calls that do not fit: a `ConfigError` that names what was misspelt or left out, and the fix, in place of Python's `TypeError`.

One decorator for all of the public face. What fits costs one more call; only after a `TypeError` is the signature looked at.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from llmcore.types.errors import ConfigError, LLMCoreError, RetryTool, TerminateLoop
from llmcore.types.groups import told_by
from llmcore.types.wordings import described, unknown

__all__ = ["Kind", "check_kinds", "check_takes_one", "in_words", "is_async", "naming", "placed", "takes", "told"]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Instead = Mapping[str, str]
_NAMED = inspect.Parameter.KEYWORD_ONLY
_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Kind:
    """What an option may be: a test, and what to say where it fails."""

    fits: Callable[[object], bool]
    words: str


def check_kinds(thing: str, values: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
    """Raises `ConfigError` for the first value that is not of its option's kind. None always is: it is left out."""
    for name, kind in kinds.items():
        value = values.get(name)
        if value is not None and not kind.fits(value):
            raise ConfigError(f"{thing}: `{name}` must be {kind.words}, not {described(value)}")


def check_takes_one(what: str, function: object) -> None:
    """Raises `ConfigError` for what is no function of the request."""
    if not callable(function) or isinstance(function, type):
        raise ConfigError(f"{what} must be a function of the request, not {described(function)}")
    if (error := _misfit(function, 1)) is not None:
        raise ConfigError(f"{what} is called with the request, which its function does not take: {error}")


def takes(function: object, count: int) -> bool:
    """Is it a function that can be called with so many arguments by position? One that tells no signature may be."""
    return callable(function) and _misfit(function, count) is None


def _misfit(function: Callable[..., Any], count: int) -> TypeError | None:
    """Why it cannot be called with so many arguments by position; None where it can, or tells no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins tell none
        return None
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        return error
    return None


def is_async(function: object) -> bool:
    """Does calling it give something to be awaited?"""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004  # an object with an async __call__


def told(function: F, name: str | None = None, instead: Instead | None = None) -> F:
    """The function, telling calls that do not fit its signature in our words."""
    called = name or function.__name__
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            try:
                coroutine = function(*args, **kwargs)
            except TypeError as error:
                raise _mistake(function, called, args, kwargs, instead) or error from error
            return await coroutine

        return cast("F", awaited)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            mistake = _mistake(function, called, args, kwargs, instead)
            if mistake is None:
                raise
            raise mistake from error

    return cast("F", call)


def placed(*arguments: Any) -> tuple[Any, ...]:
    """The arguments up to the last that is not None: a method that a user has written anew need not take the others."""
    while arguments and arguments[-1] is None:
        arguments = arguments[:-1]
    return arguments


def in_words(*, instead: Instead | None = None, only: Collection[str] | None = None) -> Callable[[type[T]], type[T]]:
    """A class whose constructor and public methods, or `only` those, tell calls that do not fit. `instead`: what to say of
    well-known names that are none of its own."""

    def decorate(kind: type[T]) -> type[T]:
        for name, value in list(vars(kind).items()):
            is_public = name == "__init__" or not name.startswith("_")
            if inspect.isfunction(value) and (is_public if only is None else name in only):
                called = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
                setattr(kind, name, told(value, called, instead))
        return kind

    return decorate


@contextmanager
def naming(what: str, function: object) -> Generator[None]:
    """Add to an exception that is none of ours which function of the caller's raised it, as a note: what is caught stays what
    was raised. What tells the run something is that also out of a group of tasks."""
    try:
        yield
    except BaseException as raised:
        error = told_by(raised)
        if error is not raised:
            raise error from None
        if not isinstance(error, Exception):
            raise
        if not isinstance(error, LLMCoreError | TerminateLoop | RetryTool):
            name = getattr(function, "__qualname__", None) or type(function).__name__
            error.add_note(f"raised by {what}: {name}")
        raise


def _mistake(
    function: Callable[..., Any], called: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], instead: Instead | None
) -> ConfigError | None:
    """What is wrong with the call; None where it fits, and the `TypeError` came from within."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        words = str(error)
    else:
        return None
    parameters = [one for one in signature.parameters.values() if one.name != "self" and one.kind not in _ANY]
    names = [one.name for one in parameters]
    unexpected = next((name for name in kwargs if name not in names), None)
    if unexpected is not None and "unexpected" in words:
        return ConfigError(unknown(called, "option", unexpected, names, instead))
    form = f"write {called}({', '.join([*(one.name for one in parameters if one.kind is not _NAMED)][:3])}{_named(parameters)})"
    if "missing" in words:
        lacking = words.rpartition(": ")[2].strip("'")
        return ConfigError(f"{called} needs `{lacking}`: {form}")
    return ConfigError(f"{called} was called with {words}: {form}")


def _named(parameters: list[inspect.Parameter]) -> str:
    """How options are given by name, by the example of the first."""
    first = next((one.name for one in parameters if one.kind is _NAMED), None)
    return "" if first is None else f"{', ' if len(parameters) > 1 and parameters[0].kind is not _NAMED else ''}{first}=..."
