"""Numbers as Python holds them: an int of any size, and a float, which holds about 16 digits."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

__all__ = ["is_rounded", "may_be_rounded", "rounded", "whole"]

_LARGEST_EXACT_FLOAT: Final = 2**53
_FRACTION: Final = re.compile(r"\.[0-9](?:[0-9]{7}|(?<=[0-9]{8}\.[0-9]))")
_EXPONENT: Final = re.compile(r"e[-+0-9](?<=[0-9]e[-+0-9])")
_CAPITAL_EXPONENT: Final = re.compile(r"E[-+0-9](?<=[0-9]E[-+0-9])")
"""What a number has that a float may round: eight digits on one side of its point, or an exponent. Each expression begins with a
literal, so that it is found at the speed of `str.find`."""


def may_be_rounded(text: str, start: int, end: int) -> bool:
    """May JSON text hold a number that its float rounds? A look that costs little and may be wrong."""
    if _FRACTION.search(text, start, end) is not None or _EXPONENT.search(text, start, end) is not None:
        return True
    return _CAPITAL_EXPONENT.search(text, start, end) is not None


def is_rounded(literal: str, value: float) -> bool:
    """Is the float, which was read from this literal, another number than was written?"""
    written = repr(value)
    try:
        return written != literal and Decimal(literal) != Decimal(written)
    except ArithmeticError:  # an exponent beyond Decimal's own
        return True


def whole(number: float) -> int | None:
    """The integer that a number is, where no digit can have been lost on the way; else None."""
    given: object = number  # told apart, `number` would be narrowed to int, which has no `is_integer` before Python 3.12
    if isinstance(given, float):
        return int(given) if given.is_integer() and abs(given) <= _LARGEST_EXACT_FLOAT else None
    return number if isinstance(number, int) else None


def rounded(number: float) -> int | None:
    """The nearest integer, halves away from zero; None where digits that count may have been lost."""
    return int(Decimal(number).to_integral_value(ROUND_HALF_UP)) if abs(number) <= _LARGEST_EXACT_FLOAT else None
