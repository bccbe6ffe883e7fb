"""Reasons why a text cannot be read, and the part of a value that a repair shows."""

from __future__ import annotations

from typing import Any, Final

__all__ = [
    "ARGUMENTS_LIMIT",
    "CALLS_LIMIT",
    "DEPTH_LIMIT",
    "DIGITS_LIMIT",
    "NESTED_CALL",
    "REPAIRS_LIMIT",
    "SHOWN",
    "UNREADABLE",
    "clipped",
    "too_long",
]

UNREADABLE: Final = "unreadable"
NESTED_CALL: Final = "nested_call"
ARGUMENTS_LIMIT: Final = "arguments_limit"
CALLS_LIMIT: Final = "calls_limit"
DEPTH_LIMIT: Final = "depth_limit"
DIGITS_LIMIT: Final = "digits_limit"
REPAIRS_LIMIT: Final = "repairs_limit"

_BITS_A_DIGIT: Final = 3.321928094887362
SHOWN: Final = 120  # characters


def clipped(value: Any) -> Any:
    """The value as a repair shows it: long text is cut."""
    return value if not isinstance(value, str) or len(value) <= SHOWN else value[:SHOWN] + "…"


def too_long(number: int, digits: int) -> bool:
    """Whether the number has more decimal digits, whatever its notation. It computes a power only near the bound."""
    return number.bit_length() > digits * _BITS_A_DIGIT and abs(number) >= 10**digits
