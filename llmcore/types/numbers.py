"""Numbers that are kept as they were written.

JSON has one kind of number, and parsers read one with a fraction or an exponent as a 64-bit float, which holds about 16 digits
and forgets how it was written. `ExactFloat` is such a float that remembers its literal. Only a literal that is not what Python
writes for the float becomes one (`12345678901234567890.12`, `1.10`, `1e5`); all others stay plain floats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any, cast

from pydantic_core import from_json

from llmcore.types.limits import DEFAULT_LIMITS
from llmcore.types.narrowing import holds_floats, is_list, is_object

__all__ = [
    "ExactFloat",
    "exact_float",
    "exact_fraction",
    "exact_json",
    "exact_loads",
    "holds_exact_floats",
    "is_float",
    "may_hold_exact_floats",
    "may_hold_exact_members",
    "number_key",
    "rounded",
    "whole",
    "with_literals",
    "with_literals_of",
]

_LARGEST_EXACT_FLOAT = 2**53
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_encoded = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes a new encoder a call for any setting of its own


class ExactFloat(float):
    """A float that remembers the number it was read from.

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


def is_float(value: object) -> bool:
    """Is it a float? For compiled modules: what `isinstance` shows to be a float they hold as a plain one, its digits lost."""
    return isinstance(value, float)


def exact_float(literal: str) -> Any:
    """The float of a literal in Python's or JSON's grammar: an `ExactFloat` where it is written otherwise than Python writes
    that float, else a plain one. Not typed as a float, which a compiled module would hold as a plain one.

    Infinite where the number is beyond every float. Raises ValueError for a text that is no number.
    """
    value = float(literal)
    if repr(value) == literal:
        return value
    try:
        written = literal if _JSON_NUMBER.fullmatch(literal) else str(Decimal(literal))
        Decimal(written)
    except ArithmeticError:  # not a number to Decimal, or an exponent beyond its own
        return value
    return value if repr(value) == written else ExactFloat(written)


# --- from JSON text and back ------------------------------------------------------------------------------------------

_SIGNS = (  # each begins with a literal: found at the speed of `str.find`
    r"\.[0-9](?:(?=[0-9])(?:[0-9]{7}|[0-9]*0(?![0-9])|(?<=0)000)|(?<=[0-9]{8}\.[0-9]))",
    r"e[-+0-9](?<=[0-9]e[-+0-9])",
    r"E[-+0-9](?<=[0-9]E[-+0-9])",
)
_FRACTION, _EXPONENT, _CAPITAL = map(re.compile, _SIGNS)
_MEMBER = re.compile(r":[ \t\r\n]*+-?[0-9]++(?:[eE]|\.(?:(?<=[0-9]{8}\.)|0000|[0-9]{8}|[0-9]++(?:[eE]|(?<=[0-9]0))))")
"""The same signs, behind a key: by far fewer places are looked at than behind each `e`."""
_WRITTEN_OTHERWISE_IN_BYTES = tuple(re.compile(pattern.encode()) for pattern in _SIGNS)


def may_hold_exact_floats(text: str | bytes, start: int = 0, end: int | None = None) -> bool:
    """May JSON text hold a number that is an `ExactFloat`? A look that costs little and may be wrong about strings."""
    stop = len(text) if end is None else end
    if isinstance(text, bytes):
        return any(pattern.search(text, start, stop) is not None for pattern in _WRITTEN_OTHERWISE_IN_BYTES)
    if _FRACTION.search(text, start, stop) is not None or _EXPONENT.search(text, start, stop) is not None:
        return True
    return text.find("E", start, stop) >= 0 and _CAPITAL.search(text, start, stop) is not None  # most texts hold none


def may_hold_exact_members(text: str, start: int, end: int) -> bool:
    """As `may_hold_exact_floats`, of text whose floats all are members of objects, none an item of an array."""
    return _MEMBER.search(text, start, end) is not None


def exact_loads(text: str | bytes, parse: Callable[[str | bytes], Any] = from_json) -> Any:
    """The value of JSON text, each number as it was written. `parse` reads it first, and raises what it raises."""
    value = parse(text)
    if not may_hold_exact_floats(text):
        return value
    try:
        return json.loads(text, parse_float=exact_float)
    except (ValueError, RecursionError):  # what only the other parser takes: an integer of thousands of digits
        return value


def with_literals(value: Any, text: str) -> Any:
    """The value with its floats as they are written in the JSON text that it was read from; where both differ, as it is.

    For values that were kept in a form that rounds them, beside their text. Never raises.
    """
    if not may_hold_exact_floats(text):
        return value
    try:
        return with_literals_of(exact_loads(text), value)
    except (ValueError, RecursionError):
        return value


def with_literals_of(written: Any, value: Any) -> Any:
    """JSON data, `value`, with each float as it stands at the same place of `written`; where both differ, as it is."""
    if isinstance(written, ExactFloat):
        return written if isinstance(value, float) and value == written else value
    if is_object(value) and is_object(written):
        return {key: with_literals_of(written.get(key), item) for key, item in value.items()}
    if is_list(value) and isinstance(written, list | tuple) and len(value) == len(cast("list[Any]", written)):
        return [with_literals_of(other, item) for item, other in zip(value, cast("list[Any]", written), strict=True)]
    return value


def holds_exact_floats(value: Any) -> bool:
    """Does JSON data hold an `ExactFloat` anywhere? Ends also for what holds itself."""
    return holds_floats(value, ExactFloat)


_SEPARATORS = (", ", ": ")
"""As `json.dumps` has them."""


def exact_json(
    value: Any, *, quoted: str | None = None, ascii_only: bool = False, separators: tuple[str, str] = _SEPARATORS
) -> str:
    """JSON data as text, each `ExactFloat` as it was written.

    `quoted`: write those as strings that begin so. `ascii_only`: what is not ASCII as escapes. `separators`: as for
    `json.dumps`. Raises TypeError for what is no JSON data.
    """
    own = separators != _SEPARATORS
    text = _written(value, quoted, separators) if own or holds_exact_floats(value) else _encoded(value)
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text) if ascii_only else text


def _written(value: Any, quoted: str | None, separators: tuple[str, str]) -> str:
    between, behind_key = separators
    if isinstance(value, ExactFloat):
        return value.literal if quoted is None else f'"{quoted}{value.literal}"'
    if is_object(value):
        members = [_key(key) + behind_key + _written(item, quoted, separators) for key, item in value.items()]
        return "{" + between.join(members) + "}"
    if is_list(value):
        return "[" + between.join([_written(item, quoted, separators) for item in value]) + "]"
    return _encoded(value)


def _key(key: Any) -> str:
    """A key as `json.dumps` writes it: what is no text becomes one."""
    return _encoded(key) if isinstance(key, str) else json.dumps({key: 0})[1:].rpartition(":")[0]


# --- what a number is exactly -----------------------------------------------------------------------------------------


def whole(number: float) -> int | None:
    """The integer that a number is, where no digit can have been lost on the way; else None."""
    given: object = number  # told apart, `number` would be narrowed to int, which has no `is_integer` before Python 3.12
    if isinstance(given, ExactFloat):
        exact = given.decimal
        return int(exact) if exact.adjusted() < DEFAULT_LIMITS.digits and exact == exact.to_integral_value() else None
    if isinstance(given, float):
        return int(given) if given.is_integer() and abs(given) <= _LARGEST_EXACT_FLOAT else None
    return number if isinstance(number, int) else None


def rounded(number: float) -> int | None:
    """The nearest integer, halves away from zero; None where digits that count may have been lost."""
    if isinstance(number, ExactFloat):
        exact = number.decimal
        return int(exact.to_integral_value(ROUND_HALF_UP)) if exact.adjusted() < DEFAULT_LIMITS.digits else None
    return int(Decimal(number).to_integral_value(ROUND_HALF_UP)) if abs(number) <= _LARGEST_EXACT_FLOAT else None


def exact_fraction(number: float) -> Fraction:
    """The number as it was written, for exact arithmetic; the nearest float's where its exponent is beyond all bounds."""
    if isinstance(number, int):
        return Fraction(number)
    bounded = not isinstance(number, ExactFloat) or abs(number.decimal.adjusted()) < DEFAULT_LIMITS.digits
    return Fraction(repr(number) if bounded else float.__repr__(number))


def number_key(number: float) -> float | Decimal:
    """Hashable, and equal for numbers that are written with the same value: `1.10` and `1.1`, but not two that only share
    their nearest float."""
    if not isinstance(number, ExactFloat):
        return number
    nearest = float(number.literal)
    return nearest if Decimal(repr(nearest)) == number.decimal else number.decimal
