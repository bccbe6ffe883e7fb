"""Numbers, booleans and allowed values out of text: pure functions that answer None rather than guess twice.

Two strengths: `exact_*` reads a text that *is* the value; `*_in_prose` finds the one value a sentence names, and
refuses when it names two, or denies the one it names. Linear in the length of the text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from llmcore.types import DEFAULT_LIMITS
from llmcore.types.numbers import exact_float

__all__ = ["choice_in_prose", "exact_boolean", "exact_number", "folded", "number_in_prose", "truth_in_prose"]

_MAX_PROSE = 20_000
"""Characters of prose that are searched for a value; longer texts name none."""

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_PROSE_NUMBER = re.compile(r"[+-]?\d[\d.,_]*(?:[eE][+-]?\d+)?(?:\s?/\s?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d{1,15})\s?/\s?(\d{1,15})", re.ASCII)
_TRUTH = re.compile(r"\b(true|false)\b", re.IGNORECASE)
# n.t: don't, with either apostrophe
_DENIED = re.compile(r"(?:\b(?:not|never|no|neither|nor|without|except)|n.t)\W*$", re.IGNORECASE)
_BEFORE_CJK = 0x2E80
"""From here on scripts are written without spaces, so a match needs no word boundary."""


def exact_number(text: str) -> int | float | None:
    """The number that a text is, in JSON's grammar and finite: `" 5 "`, `-2.5e3`. Leading zeros or a plus sign are no
    number."""
    text = text.strip()
    found = _JSON_NUMBER.fullmatch(text) if len(text) <= DEFAULT_LIMITS.digits else None
    if found is None:
        return None
    return int(text) if found[1] is None and found[2] is None else _finite(exact_float(text))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def exact_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.strip().lower())


def number_in_prose(text: str) -> int | float | None:
    """The one number a text names: `$1,234`, `about 5`, `1/5`. None when there is none, or two that differ, or when
    digits belong to a word (`v2`)."""
    if len(text) > _MAX_PROSE:
        return None
    found = list(_numbers(text))
    return found[0] if found and found[0] is not None and all(value == found[0] for value in found) else None


def _numbers(text: str) -> Iterator[int | float | None]:
    for match in _PROSE_NUMBER.finditer(text):
        before = text[match.start() - 1 : match.start()]
        token = match[0].rstrip(".,_")
        if before.isalpha() or before in ("_", "."):
            continue
        if token[0] in "+-" and before.isalnum():
            token = token[1:]  # a hyphen: `10-20` names two numbers
        yield _number(token)


def _number(token: str) -> int | float | None:
    if fraction := _FRACTION.fullmatch(token):
        return _reduced(fraction)
    if not (_GROUPED.fullmatch(token) or _DECIMAL.fullmatch(token)) or len(token) > DEFAULT_LIMITS.digits:
        return None
    plain = token.replace(",", "").removeprefix("+")
    return _finite(exact_float(plain)) if set(plain) & set(".eE") else int(plain)


def _reduced(fraction: re.Match[str]) -> int | float | None:
    if int(fraction[2]) == 0:
        return None
    value = Fraction(int(fraction[1]), int(fraction[2]))
    return value.numerator if value.denominator == 1 else float(value)


def truth_in_prose(text: str) -> bool | None:
    """`yes` and `no` where they are the whole text; else the one of true and false that a text names and does not
    deny."""
    word = text.strip().strip(".!\"'`*").lower()
    if word in ("yes", "no"):
        return word == "yes"
    if len(text) > _MAX_PROSE:
        return None
    named = list(_TRUTH.finditer(text))
    values = {match[1].lower() for match in named}
    if len(values) != 1 or any(_denied(text, match.start()) for match in named):
        return None
    return values == {"true"}


def _denied(text: str, start: int) -> bool:
    return _DENIED.search(text[max(0, start - 16) : start]) is not None


@lru_cache(maxsize=2048)
def folded(text: str) -> str:
    """Without accents, case and punctuation; runs of what is neither letter nor digit become one space."""
    plain = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join("".join(c if c.isalnum() else " " for c in plain).casefold().split())


def choice_in_prose(text: str, choices: Sequence[str]) -> str | None:
    """The one of `choices` a text names, without accents, case or punctuation, and does not deny. A choice inside a
    longer one that was named (`SPAM` in `NOT_SPAM`) is not named. None when none or two are."""
    if len(text) > _MAX_PROSE:
        return None
    haystack = folded(text)
    spans = [
        (start, start + len(folded(choice)), choice) for choice in choices for start in _occurrences(haystack, folded(choice))
    ]
    outer = [one for one in spans if not any(_inside(one, other) for other in spans)]
    named = {choice for _, _, choice in outer}
    if len(named) != 1 or any(_denied(haystack, start) for start, _, _ in outer):
        return None
    return named.pop()


def _inside(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1] and other[1] - other[0] > one[1] - one[0]


_MAX_OCCURRENCES = 50


def _occurrences(haystack: str, needle: str) -> Iterator[int]:
    """Where `needle` stands as a word of its own; the first few are enough to know whether another choice is named
    too."""
    start, found = (haystack.find(needle), 0) if needle else (-1, 0)
    while start >= 0 and found < _MAX_OCCURRENCES:
        if _bounded(haystack, start, needle[0], -1) and _bounded(haystack, start + len(needle), needle[-1], 0):
            found += 1
            yield start
        start = haystack.find(needle, start + 1)


def _bounded(haystack: str, edge: int, inner: str, offset: int) -> bool:
    neighbour = haystack[edge + offset : edge + offset + 1] if edge + offset >= 0 else ""
    return not neighbour.isalnum() or ord(neighbour) >= _BEFORE_CJK or ord(inner) >= _BEFORE_CJK
