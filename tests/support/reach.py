"""How far a regular expression looks: what a reader that waits for its match must leave to be looked at again.

Read from the parsed form of CPython's own `re`, which is not public but has been the same since 3.11.
"""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

__all__ = ["reach"]

_PARSER: Any = importlib.import_module("re._parser")
_BACK_REFERENCE = 64  # characters: those in use mean tags


def reach(pattern: re.Pattern[str]) -> float:
    """How many characters at most decide a match, from its beginning on: its own and those a lookahead sees (`inf`: any number)."""
    return _measured(_PARSER.parse(pattern.pattern, pattern.flags & ~re.UNICODE))[1]


def _measured(parsed: Any) -> tuple[float, float]:
    """(how long a match may be, how far it looks)."""
    length, furthest = 0.0, 0.0
    for operation, argument in parsed:
        own, looks = _of_one(str(operation), argument)
        furthest = max(furthest, length + looks)
        length += own
    return length, max(furthest, length)


def _of_one(operation: str, argument: Any) -> tuple[float, float]:
    match operation:
        case "AT":
            return 0, 0
        case "ASSERT" | "ASSERT_NOT":
            direction, inner = argument
            return 0, _measured(inner)[1] if direction > 0 else 0
        case "BRANCH":
            branches = [_measured(branch) for branch in argument[1]]
            return max(own for own, _ in branches), max(looks for _, looks in branches)
        case "SUBPATTERN":
            return _measured(argument[-1])
        case "ATOMIC_GROUP":
            return _measured(argument)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            most, (own, looks) = argument[1], _measured(argument[2])
            times = math.inf if str(most) == "MAXREPEAT" else int(most)
            return (times * own, (times - 1) * own + looks) if own and times else (0, looks if times else 0)
        case "GROUPREF":
            return _BACK_REFERENCE, _BACK_REFERENCE
        case _:
            return 1, 1
