"""Conversions of numbers that lose no digits: a float has about 16 digits, an int any number of them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

__all__ = ["is_rounded", "may_be_rounded", "rounded", "whole"]

_LARGEST_EXACT_FLOAT: Final = 2**53
_FRACTION: Final = re.compile(r"\.[0-9](?:[0-9]{7}|(?<=[0-9]{8}\.[0-9]))")
_EXPONENTS: Final = re.compile(r"e[-+0-9](?<=[0-9]e[-+0-9])"), re.compile(r"E[-+0-9](?<=[0-9]E[-+0-9])")
"""The signs of a number that a float may round: eight digits on one side of its point, or an exponent. Each expression starts
with a literal, so that the search is as fast as `str.find`."""


def may_be_rounded(text: str, start: int, end: int) -> bool:
    """Whether the JSON text may contain a number that a float rounds. A quick check with false positives."""
    return any(pattern.search(text, start, end) is not None for pattern in (_FRACTION, *_EXPONENTS))


def is_rounded(literal: str, value: float) -> bool:
    """Whether the float differs from the literal that it was read from."""
    written = repr(value)
    try:
        return written != literal and Decimal(literal) != Decimal(written)
    except ArithmeticError:  # an exponent beyond Decimal's range
        return True


def whole(number: float) -> int | None:
    """The number as an int; None if it is no whole number, or so large that digits may have been lost."""
    given: object = number  # else checkers narrow `number` to int, which has no `is_integer` before Python 3.12
    if isinstance(given, float):
        return int(given) if given.is_integer() and abs(given) <= _LARGEST_EXACT_FLOAT else None
    return number if isinstance(number, int) else None


def rounded(number: float) -> int | None:
    """The nearest int, halves away from zero; None if the number is so large that digits may have been lost."""
    return int(Decimal(number).to_integral_value(ROUND_HALF_UP)) if abs(number) <= _LARGEST_EXACT_FLOAT else None
