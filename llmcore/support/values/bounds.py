"""Numbers and switches as settings take them: finite, no booleans for numbers, and no texts. What does not fit is refused in
words that say what does.

A bound such as `gt=0` alone lets infinity and True pass; the value itself is never quoted, for settings may hold secrets.
Texts are read where a registry's `${ENV}` gives them (`context=FROM_TEXT`).
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
"""The context of a validation that reads numbers and switches from texts, too."""


def is_amount(value: object) -> TypeGuard[float]:
    """A finite number of at least 0; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _INFINITY


def _number(words: str, fits: Callable[[Any], bool]) -> WrapValidator:
    def check(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        is_none = isinstance(value, bool) or (isinstance(value, str | bytes) and info.context is not FROM_TEXT)
        try:
            number = None if is_none else read(value)
        except ValidationError:
            number = None
        if not is_amount(number) or not fits(number):
            raise PydanticCustomError("number", "must be {words}", {"words": words})
        return number

    return WrapValidator(check)


def whole_number(least: int) -> WrapValidator:
    """A whole number of at least `least`, as the annotation of a field."""
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
