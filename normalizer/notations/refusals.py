"""Why a text could not be read, and what of a value is shown where it is recorded."""

from __future__ import annotations

from typing import Any

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

UNREADABLE = "unreadable"
NESTED_CALL = "nested_call"
ARGUMENTS_LIMIT = "arguments_limit"
CALLS_LIMIT = "calls_limit"
DEPTH_LIMIT = "depth_limit"
DIGITS_LIMIT = "digits_limit"
REPAIRS_LIMIT = "repairs_limit"

_BITS_A_DIGIT = 3.321928094887362
SHOWN = 120  # characters


def clipped(value: Any) -> Any:
    """What a repair shows of a value: long text is cut."""
    return value if not isinstance(value, str) or len(value) <= SHOWN else value[:SHOWN] + "…"


def too_long(number: int, digits: int) -> bool:
    """Has it more decimal digits than these, in whatever base it was written? Costs nothing but near the bound."""
    return number.bit_length() > digits * _BITS_A_DIGIT and abs(number) >= 10**digits
