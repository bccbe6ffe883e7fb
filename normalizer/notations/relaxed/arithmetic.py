"""Arithmetic on numbers, where a model wrote a sum in place of its value: `60 * 60`, `2**10`, `1/6`.

Computed exactly, by Python's precedence: powers first, from the right and before a sign (`-2**2` is -4), then `*` and `/`, then
`+` and `-`. A value whose digits end has all of them; another is the nearest float. Bounded in the text and the exponents.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from llmcore.normalizer.notations.refusals import too_long
from llmcore.types.late import late
from llmcore.types.numbers import exact_float, exact_fraction, is_float

__all__ = ["computed"]

_OPERATOR = late(r"\s?(\*\*|[*/])\s?|\s([+-])\s")
_LONGEST = 200
_MAX_EXPONENT = 1024
_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "*": Fraction.__mul__,
    "/": Fraction.__truediv__,
    "+": Fraction.__add__,
    "-": Fraction.__sub__,
}


def computed(token: str, number: Callable[[str], Any], digits: int) -> Any:
    """The value of numbers joined by `*`, `/`, `**` and, with spaces around them, `+` and `-`; None where the text is none of
    these or its value has more than `digits` digits. `number` reads one; what it raises is raised.

    A date (`2026-11-15`, `12/25/2024`) is none.
    """
    if len(token) > _LONGEST or token.count("/") > 1:
        return None
    parts = _OPERATOR.split(token)
    operands = [number(part) for part in parts[::3]]
    if len(operands) < 2 or not all(isinstance(each, int) or is_float(each) for each in operands):
        return None
    operators = [times or plus for times, plus in zip(parts[1::3], parts[2::3], strict=True)]
    try:
        value = _value([exact_fraction(each) for each in operands], operators)
        stays_whole = "/" not in operators and all(isinstance(each, int) for each in operands)
        return _as_number(value, digits, stays_whole=stays_whole)
    except ArithmeticError:
        return None


def _value(operands: list[Fraction], operators: list[str]) -> Fraction:
    left, over = _without_powers(operands, operators)
    for level in ("*/", "+-"):
        left, over = _without(level, left, over)
    return left[0]


def _without_powers(operands: list[Fraction], operators: list[str]) -> tuple[list[Fraction], list[str]]:
    left, over = [operands[-1]], list[str]()
    for operator, operand in zip(reversed(operators), reversed(operands[:-1]), strict=True):
        if operator == "**":
            left[0] = _power(operand, left[0])
        else:
            left.insert(0, operand)
            over.insert(0, operator)
    return left, over


def _without(level: str, operands: list[Fraction], operators: list[str]) -> tuple[list[Fraction], list[str]]:
    left, over = [operands[0]], list[str]()
    for operator, operand in zip(operators, operands[1:], strict=True):
        if operator in level:
            left[-1] = _OPERATIONS[operator](left[-1], operand)
        else:
            left.append(operand)
            over.append(operator)
    return left, over


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    """Raises ArithmeticError for a root, and beyond the bound."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) > _MAX_EXPONENT or bits > _MAX_EXPONENT:
        raise ArithmeticError
    power = abs(base) ** int(exponent)
    return -power if base < 0 else power


def _as_number(value: Fraction, digits: int, *, stays_whole: bool) -> Any:
    """Whole where `stays_whole` and it is; else a float, with all its digits where they end."""
    if too_long(value.numerator, digits) or too_long(value.denominator, digits):
        return None
    if stays_whole and value.denominator == 1:
        return int(value)
    nearest = float(value)
    places = _places(value.denominator)
    if places is None:
        return nearest
    written = Decimal(int(value * 10**places)).as_tuple()
    literal = str(Decimal((written.sign, written.digits, -places)))
    return exact_float(literal if places else f"{literal}.0")


def _places(denominator: int) -> int | None:
    """How many decimal places a fraction of this denominator has; None where they never end."""
    twos = fives = 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    return max(twos, fives) if denominator == 1 else None
