"""Finds numbers that JSON or a float cannot hold, so that a problem can name them.

Readers refuse NaN, infinities and numbers beyond every float without a reason. This is used only if nothing could be read.
"""

from __future__ import annotations

import json
import math
import re

from llmcore.validator.schema.problems import Problem, cut
from llmcore.validator.schema.survey import survey

__all__ = ["unsound_number"]

_MAX_BRACKETS = 20
"""The most brackets at which JSON is tried."""
_STARTS = re.compile(r"[{\[]")
_TOKEN = re.compile(r"(?<![\w\"'.])(?:[-+]?(?:NaN|Infinity|inf)|[-+]?\d[\d.]{0,400}[eE]\+?\d{1,20})(?![\w\"'])")
_MAX_SHOWN = 40


class _LiteralFloat(float):
    """A float whose text is the literal in the source."""

    __slots__ = ("_literal",)
    _literal: str

    def __new__(cls, literal: str) -> _LiteralFloat:
        made = super().__new__(cls, literal)
        made._literal = literal
        return made

    def __str__(self) -> str:
        return self._literal


_DECODER = json.JSONDecoder(parse_constant=_LiteralFloat, parse_float=_LiteralFloat)


def unsound_number(text: str) -> Problem | None:
    """A problem with the first number in a text's JSON that no value can hold, None without one."""
    first = _STARTS.search(text)
    start = first.start() if first else len(text) - len(text.lstrip())
    for _ in range(_MAX_BRACKETS):
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
    return _number_in_invalid_json(text)


def _number_in_invalid_json(text: str) -> Problem | None:
    if not _STARTS.search(text):
        return None
    for token in _TOKEN.finditer(text):
        if not math.isfinite(float(token[0])):
            got = f"{cut(token[0], _MAX_SHOWN)} at character {token.start()}"
            return Problem(
                kind="value", expected="a finite number", got=got, message=f"it holds {got}, which is not a finite number"
            )
    return None
