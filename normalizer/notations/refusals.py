"""Why a text could not be read, and what of a value is shown where it is recorded."""

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
    """What a repair shows of a value: long text is cut."""
    return value if not isinstance(value, str) or len(value) <= SHOWN else value[:SHOWN] + "…"


def too_long(number: int, digits: int) -> bool:
    """Has it more decimal digits than these, in whatever base it was written? Costs nothing but near the bound."""
    return number.bit_length() > digits * _BITS_A_DIGIT and abs(number) >= 10**digits
