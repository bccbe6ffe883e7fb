"""Signatures that list each option of a function with `**options`, for `inspect.signature` and `help`.

Type checkers read the same from `Unpack`. A signature is built when it is first read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ForwardRef

__all__ = ["show_options"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def show_options(function: Callable[..., Any], options: type[Any], more: Mapping[str, Any] = _NOTHING) -> None:
    """Make the signature of a function list the keys of `options`, a TypedDict, and of `more` instead of `**options`."""
    vars(function)["__signature__"] = _LazySignature(inspect.unwrap(function), options, more)


class _NotGiven:
    """The default that the signature shows for each option."""

    def __repr__(self) -> str:
        return "..."


_NOT_GIVEN = _NotGiven()


class _LazySignature(inspect.Signature):
    """A signature that is built when it is first read."""

    __slots__ = ("_function", "_more", "_options", "_signature")

    def __init__(self, function: Callable[..., Any], options: type[Any], more: Mapping[str, Any]) -> None:
        self._function, self._options, self._more = function, options, more
        self._signature: inspect.Signature | None = None

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        return self._resolved().parameters

    @property
    def return_annotation(self) -> Any:
        return self._resolved().return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]  # any keywords
        return self._resolved().replace(**changes)

    def __reduce__(self) -> Any:
        return self._resolved().__reduce__()

    def _resolved(self) -> inspect.Signature:
        if self._signature is None:
            plain = inspect.signature(self._function)
            declared = [each for each in plain.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
            types = {**self._more, **self._options.__annotations__}
            options = [_option(name, kind) for name, kind in types.items() if name not in plain.parameters]
            self._signature = plain.replace(parameters=[*declared, *options])
        return self._signature


def _option(name: str, kind: Any) -> inspect.Parameter:
    annotation = kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_NOT_GIVEN, annotation=annotation)
