"""Numbers as settings take them: finite, and no booleans. What does not fit is refused in words that say what does.

A bound such as `gt=0` alone lets infinity and True pass; the value itself is never quoted, for settings may hold secrets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeGuard

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

__all__ = ["Amount", "Count", "PositiveAmount", "PositiveCount", "is_amount"]

_INFINITY = float("inf")


def is_amount(value: object) -> TypeGuard[float]:
    """A finite number of at least 0; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _INFINITY


def _number(words: str, fits: Callable[[Any], bool]) -> WrapValidator:
    def check(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
        try:
            number = None if isinstance(value, bool) else read(value)
        except ValidationError:
            number = None
        if not is_amount(number) or not fits(number):
            raise PydanticCustomError("number", "must be {words}", {"words": words})
        return number

    return WrapValidator(check)


Amount = Annotated[float, _number("a finite number of at least 0", lambda number: number >= 0)]
PositiveAmount = Annotated[float, _number("a finite number above 0", lambda number: number > 0)]
Count = Annotated[int, _number("a whole number of at least 0", lambda number: number >= 0)]
PositiveCount = Annotated[int, _number("a whole number of at least 1", lambda number: number >= 1)]
