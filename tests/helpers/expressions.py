"""What a regular expression may cost: how far it looks, and whether it goes back over white space.

Read from the parsed form of CPython's own `re`, which is not public but has been the same since 3.11.
"""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

from llmcore.normalizer.scanning.sought import Sought

__all__ = ["goes_back", "reach"]

_PARSER: Any = importlib.import_module("re._parser")
_COMPILER: Any = importlib.import_module("re._compiler")
_BACK_REFERENCE = 64  # characters: those in use mean tags
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
_MANY = 100  # fewer of them cost little, however they are divided


def _parsed(pattern: Sought) -> Any:
    flags: int = getattr(pattern, "flags", 0)
    return _PARSER.parse(pattern.pattern, flags & ~re.UNICODE)


def reach(pattern: Sought, character: str = "") -> float:
    """How many characters at most decide a match, from its beginning on: its own and those a lookahead sees (`inf`: any number).
    `character`: only those that may be it are counted."""
    return _measured(_parsed(pattern), character)[1]


def _measured(parsed: Any, character: str) -> tuple[float, float]:
    """(how long a match may be, how far it looks)."""
    length, furthest = 0.0, 0.0
    for part in parsed:
        operation = str(part[0])
        own, looks = _of_one(operation, part[1], character)
        if operation in _SINGLE and character and not _may_be(parsed, part, character):
            own = looks = 0
        furthest = max(furthest, length + looks)
        length += own
    return length, max(furthest, length)


def _may_be(parsed: Any, part: Any, character: str) -> bool:
    return _COMPILER.compile(_PARSER.SubPattern(parsed.state, [part])).fullmatch(character) is not None


def _of_one(operation: str, argument: Any, character: str) -> tuple[float, float]:
    if operation in _REPEATS:
        own, looks = _measured(argument[2], character)
        times = _times(argument)
        return (times * own, (times - 1) * own + looks) if own and times else (0, looks if times else 0)
    match operation:
        case "AT":
            return 0, 0
        case "ASSERT" | "ASSERT_NOT":
            direction, inner = argument
            return 0, _measured(inner, character)[1] if direction > 0 else 0
        case "BRANCH":
            branches = [_measured(branch, character) for branch in argument[1]]
            return max(own for own, _ in branches), max(looks for _, looks in branches)
        case "SUBPATTERN":
            return _measured(argument[-1], character)
        case "ATOMIC_GROUP":
            return _measured(argument, character)
        case "GROUPREF":
            return _BACK_REFERENCE, _BACK_REFERENCE
        case _:
            return 1, 1


def _times(argument: Any) -> float:
    most = argument[1]
    return math.inf if str(most) == "MAXREPEAT" else int(most)


def goes_back(pattern: Sought) -> bool:
    """May two repetitions, one right behind the other, divide a long run of blanks between them in every possible way?

    Then a run of n of them costs n * n / 2 steps wherever the expression does not match behind it.
    """
    return any(_divides(sequence) for sequence in _sequences(_parsed(pattern)))


def _sequences(parsed: Any) -> list[Any]:
    """All sequences in an expression, those inside others too."""
    found = [parsed]
    for operation, argument in parsed:
        for inner in _inside(str(operation), argument):
            found += _sequences(inner)
    return found


def _inside(operation: str, argument: Any) -> list[Any]:
    match operation:
        case "BRANCH":
            return list(argument[1])
        case "SUBPATTERN":
            return [argument[-1]]
        case "ASSERT" | "ASSERT_NOT":
            return [argument[1]]
        case "ATOMIC_GROUP":
            return [argument]
        case _:
            return [argument[2]] if operation in _REPEATS else []


def _divides(sequence: Any) -> bool:
    parts = sequence.data
    return any(_edge(sequence, parts[:at], last=True) and _edge(sequence, parts[at:], last=False) for at in range(1, len(parts)))


def _edge(sequence: Any, parts: list[Any], *, last: bool) -> bool:
    """Does the last (or the first) thing in the parts that matches anything repeat blanks, and may it be given up in part?"""
    for part in reversed(parts) if last else parts:
        if _repeats_blanks(part, last=last):
            return True
        if _PARSER.SubPattern(sequence.state, [part]).getwidth()[0]:
            return False
    return False


def _repeats_blanks(part: Any, *, last: bool) -> bool:
    operation, argument = str(part[0]), part[1]
    if operation in ("ASSERT", "ASSERT_NOT", "ATOMIC_GROUP", "POSSESSIVE_REPEAT"):
        return False
    if operation in _REPEATS and _times(argument) >= _MANY and argument[2].getwidth()[1] == 1:
        return _COMPILER.compile(argument[2]).fullmatch(" ") is not None
    return any(_edge(inner, inner.data, last=last) for inner in _inside(operation, argument))
