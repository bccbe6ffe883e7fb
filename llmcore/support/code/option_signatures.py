"""What `inspect.signature` and `help` tell of a function that takes its options as `**options`: each by its name and type.

A checker reads the same from `Unpack`. Nothing is made before somebody asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ForwardRef

__all__ = ["show_options"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def show_options(
    function: Callable[..., Any], options: type[Any], more: Mapping[str, Any] = _NOTHING, defaults: Mapping[str, Any] = _NOTHING
) -> None:
    """Show the keys of `options`, a TypedDict, and `more` of that kind in a function's signature, in place of `**options`.
    `defaults`: what an option is if it is left out; the others show `...`."""
    vars(function)["__signature__"] = _Shown(inspect.unwrap(function), options, more, defaults)


class _NotGiven:
    """What stands for the default of an option that may be left out."""

    def __repr__(self) -> str:
        return "..."


_NOT_GIVEN = _NotGiven()


class _Shown(inspect.Signature):
    """A signature that is made when it is looked at."""

    __slots__ = ("_defaults", "_function", "_made", "_more", "_options")

    def __init__(
        self, function: Callable[..., Any], options: type[Any], more: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> None:
        self._function, self._options, self._more, self._defaults = function, options, more, defaults
        self._made: inspect.Signature | None = None

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        return self._whole().parameters

    @property
    def return_annotation(self) -> Any:
        return self._whole().return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]  # the same keywords, by whatever name
        return self._whole().replace(**changes)

    def __reduce__(self) -> Any:
        return self._whole().__reduce__()

    def _whole(self) -> inspect.Signature:
        if self._made is None:
            plain = inspect.signature(self._function)
            own = [one for one in plain.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
            told = {**self._more, **self._options.__annotations__}
            options = [
                _option(name, kind, self._defaults.get(name, _NOT_GIVEN))
                for name, kind in told.items()
                if name not in plain.parameters
            ]
            self._made = plain.replace(parameters=[*own, *options])
        return self._made


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    annotation = kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
