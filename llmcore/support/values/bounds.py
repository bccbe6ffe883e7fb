"""Annotated types for settings: finite numbers that are neither bools nor texts, and bools that are nothing else.

pydantic's `gt=0` alone accepts infinity and True. The error says what fits and never quotes the value, which may be a secret.
With `context=FROM_TEXT`, texts are read too, because a registry's `${ENV}` is text.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Annotated, Any, TypeGuard

from pydantic import BeforeValidator, ValidationError, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

__all__ = ["FROM_TEXT", "Amount", "Count", "PositiveAmount", "PositiveCount", "Switch", "is_amount", "whole_number"]

_INFINITY = float("inf")
FROM_TEXT = MappingProxyType({"from_text": True})
"""The validation context in which numbers and switches are read from texts too."""


def is_amount(value: object) -> TypeGuard[float]:
    """Whether it is a finite number of at least 0, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _INFINITY


def _number(words: str, fits: Callable[[Any], bool]) -> WrapValidator:
    def check(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        is_refused = isinstance(value, bool) or (isinstance(value, str | bytes) and info.context is not FROM_TEXT)
        try:
            number = None if is_refused else read(value)
        except ValidationError:
            number = None
        if not is_amount(number) or not fits(number):
            raise PydanticCustomError("number", "must be {words}", {"words": words})
        return number

    return WrapValidator(check)


def whole_number(least: int) -> WrapValidator:
    """The validator of a whole number of at least `least`, for an `Annotated` field."""
    return _number(f"a whole number of at least {least}", lambda number: number >= least)


def _switch(value: object, info: ValidationInfo) -> object:
    if isinstance(value, bool) or info.context is FROM_TEXT:
        return value
    raise PydanticCustomError("switch", "must be True or False")


Amount = Annotated[float, _number("a finite number of at least 0", lambda number: number >= 0)]
PositiveAmount = Annotated[float, _number("a finite number above 0", lambda number: number > 0)]
Count = Annotated[int, whole_number(0)]
PositiveCount = Annotated[int, whole_number(1)]
Switch = Annotated[bool, BeforeValidator(_switch)]
