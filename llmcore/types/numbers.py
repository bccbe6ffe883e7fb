"""Numbers that keep the digits they were written with.

JSON has one kind of number, and parsers read one with a fraction or an exponent as a 64-bit float, which holds about 16 digits.
`ExactFloat` is such a float that remembers its literal. Only a literal that a float would change becomes one; all others stay
plain floats.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, cast

from llmcore.types.narrowing import is_list, is_object

__all__ = ["ExactFloat", "exact_float", "exact_json", "holds_exact_floats"]

_ALWAYS_EXACT = 16
"""A literal of so many characters has at most 15 digits beside its point, which every float keeps."""


_encoded = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes a new encoder a call for any setting of its own


class ExactFloat(float):
    """A float read from a number that has more digits than a float holds.

    It computes, compares and hashes as the nearest float. `str()` and `repr()` give the number as it was written, so that
    pydantic makes an exact `Decimal` of it, and copies and pickles keep it. `json.dumps` writes the nearest float;
    `exact_json` writes the number itself.
    """

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> ExactFloat:
        made = super().__new__(cls, literal)
        made.literal = literal
        return made

    def __repr__(self) -> str:
        return self.literal

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[ExactFloat], tuple[str]]:
        return ExactFloat, (self.literal,)

    def is_integer(self) -> bool:
        """Is the number whole as it was written? The nearest float of 0.99999999999999999999 is."""
        return self.decimal == self.decimal.to_integral_value()

    @property
    def decimal(self) -> Decimal:
        """The number as it was written."""
        return Decimal(self.literal)


def exact_float(literal: str) -> float:
    """The float of a literal in Python's or JSON's grammar: an `ExactFloat` where digits would be lost, else a plain one.

    Infinite where the number is beyond every float. Raises ValueError for a text that is no number.
    """
    value = float(literal)
    if len(literal) <= _ALWAYS_EXACT and "-" not in literal[1:]:
        return value
    try:
        written = Decimal(literal)
        return value if Decimal(repr(value)) == written else ExactFloat(str(written))
    except ArithmeticError:  # not a number to Decimal, or an exponent beyond its own
        return value


def holds_exact_floats(value: Any) -> bool:
    """Does JSON data hold an `ExactFloat` anywhere?"""
    level: list[Any] = [value]
    for item in level:  # grows while it is read
        if is_object(item):
            level += item.values()
        elif is_list(item):
            level += item
        elif isinstance(item, ExactFloat):
            return True
    return False


def exact_json(value: Any, *, quoted: bool = False) -> str:
    """JSON data as text, not escaped to ASCII, each `ExactFloat` with all its digits.

    `quoted`: write those as strings. Raises TypeError for what is no JSON data.
    """
    return _written(value, quoted) if holds_exact_floats(value) else _encoded(value)


def _written(value: Any, quoted: bool) -> str:
    if isinstance(value, ExactFloat):
        return f'"{value.literal}"' if quoted else value.literal
    if is_object(value):
        members = [f"{_key(key)}: {_written(item, quoted)}" for key, item in cast("dict[Any, Any]", value).items()]
        return "{" + ", ".join(members) + "}"
    if is_list(value):
        return "[" + ", ".join([_written(item, quoted) for item in value]) + "]"
    return _encoded(value)


def _key(key: Any) -> str:
    """A key as `json.dumps` writes it: what is no text becomes one."""
    return _encoded(key) if isinstance(key, str) else json.dumps({key: 0})[1:].rpartition(":")[0]
