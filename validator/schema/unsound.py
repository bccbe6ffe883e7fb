"""Numbers that JSON has not, or no float holds: which one it was and where it stood, for telling the model what to change; and
the text in which those that are numbers (1e400) stand as strings, for the types that keep every digit.

Readers refuse NaN, infinities and numbers beyond every float without a word on them. Asked only when nothing could be read.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal

from llmcore.types import Repair
from llmcore.types.numbers import ExactFloat, exact_float
from llmcore.validator.schema.problems import Problem, cut
from llmcore.validator.schema.survey import survey

__all__ = ["NUMBER_AS_TEXT", "huge_numbers_probed", "huge_numbers_quoted", "unsound_number"]

_TRIED = 20
"""Brackets at which JSON is looked for."""
_DECODER = json.JSONDecoder(parse_constant=ExactFloat, parse_float=exact_float)
_STARTS = re.compile(r"[{\[]")
_TOKEN = re.compile(r"(?<![\w\"'.])(?:[-+]?(?:NaN|Infinity|inf)|[-+]?\d[\d.]{0,400}[eE]\+?\d{1,20})(?![\w\"'])")
_MAX_SHOWN = 40
_STRING_OR_NUMBER = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?<![\w.+-])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]\+?\d+)?(?![\w.])', re.ASCII | re.DOTALL
)
_MAX_NUMBER = 4300
_MAX_HUGE = 20

NUMBER_AS_TEXT = Repair(kind="number_as_text", safety="coerced")
"""A number that no float holds was read as the text of it, of which a Decimal is made with every digit."""


def huge_numbers_quoted(text: str) -> str | None:
    """JSON text with each number beyond every float as a string; None where there is none. Linear."""
    if "." not in text and "e" not in text and "E" not in text:
        return None
    quoted = _STRING_OR_NUMBER.sub(_quoted, text)
    return quoted if len(quoted) != len(text) else None


def huge_numbers_probed(text: str) -> tuple[list[str], list[str]]:
    """The text as `huge_numbers_quoted` has it, once for each of the numbers with a number there that a float holds, and once
    with a truth value. Empty where there are too many to be looked at one by one."""
    places = [match.span() for match in _STRING_OR_NUMBER.finditer(text) if _quoted(match) != match[0]]
    if len(places) > _MAX_HUGE:
        return [], []
    signs = ["-" if text[start] == "-" else "" for start, _ in places]
    numbers = [f"{text[:start]}{sign}1e300{text[end:]}" for (start, end), sign in zip(places, signs, strict=True)]
    truths = [f"{text[:start]}true{text[end:]}" for start, end in places]
    return [_STRING_OR_NUMBER.sub(_quoted, each) for each in numbers], [_STRING_OR_NUMBER.sub(_quoted, each) for each in truths]


def _quoted(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] == '"' or token.removeprefix("-").isdecimal() or len(token) > _MAX_NUMBER or math.isfinite(float(token)):
        return token
    try:
        return f'"{token}"' if Decimal(token).is_finite() else token
    except ArithmeticError:  # an exponent beyond Decimal's own
        return token


def unsound_number(text: str) -> Problem | None:
    """The first number in a text's JSON that no value can hold; None where there is none."""
    first = _STARTS.search(text)
    start = first.start() if first else len(text) - len(text.lstrip())
    for _ in range(_TRIED):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        alone = isinstance(value, (dict, list)) or not text[end:].strip()
        found = survey(value).problem if alone else None
        if found is not None and found.expected == "a finite number":
            return found
        bracket = _STARTS.search(text, end)
        if bracket is None:
            return None
        start = bracket.start()
    return _of_no_json(text)


def _of_no_json(text: str) -> Problem | None:
    if not _STARTS.search(text):
        return None
    for token in _TOKEN.finditer(text):
        if not math.isfinite(float(token[0])):
            got = f"{cut(token[0], _MAX_SHOWN)} at character {token.start()}"
            return Problem(
                kind="value", expected="a finite number", got=got, message=f"it holds {got}, which is no finite number"
            )
    return None
