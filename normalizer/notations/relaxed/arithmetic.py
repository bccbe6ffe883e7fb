"""Arithmetic on number literals in the place of a value: `60 * 60`, `10 - 5`, `1/6`.

Nothing is evaluated as code: the text is parsed, and only `+ - * /` between numbers are computed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from llmcore.normalizer.notations.refusals import too_long
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["computed"]

_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_SUM: Final = lazy_regex(rf"{_NUMBER}(?:(?: ?[*/] ?| [+-] ){_NUMBER})+")
"""`+` and `-` need spaces around them, because dates (`2026-11-15`) and ranges have none."""
_LONGEST: Final = 200
_OPERATIONS: Final[dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: Fraction.__add__,
    ast.Sub: Fraction.__sub__,
    ast.Mult: Fraction.__mul__,
    ast.Div: Fraction.__truediv__,
}


def computed(token: str, digits: int) -> int | float | None:
    """The value of numbers joined by `*`, `/` and, with spaces around them, `+` and `-`.

    None for any other text, for a date (`12/25/2024`), and for a value that is infinite or has more than `digits` digits.
    """
    if len(token) > _LONGEST or token.count("/") > 1 or not _SUM.fullmatch(token):
        return None
    try:
        value = _value(ast.parse(token, mode="eval").body)
        if set(token) & set("./eE"):
            return float(value)
        return None if too_long(value.numerator, digits) else value.numerator
    except (ArithmeticError, ValueError):  # larger than any float
        return None


def _value(node: ast.expr) -> Fraction:
    """The exact value, so that `0.1*3` is 0.3."""
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand)
    assert isinstance(node, ast.Constant)  # the expression lets nothing else through
    return Fraction(repr(node.value))
