"""Numbers that JSON has not, or no float holds: which one it was and where it stood, for telling the model what to change.

Readers refuse NaN, infinities and numbers beyond every float without a word on them. Asked only when nothing could be read.
"""

from __future__ import annotations

import json
import math
import re

from llmcore.validator.schema.problems import Problem, cut
from llmcore.validator.schema.survey import survey

__all__ = ["unsound_number"]

_TRIED = 20
"""Brackets at which JSON is looked for."""
_STARTS = re.compile(r"[{\[]")
_TOKEN = re.compile(r"(?<![\w\"'.])(?:[-+]?(?:NaN|Infinity|inf)|[-+]?\d[\d.]{0,400}[eE]\+?\d{1,20})(?![\w\"'])")
_MAX_SHOWN = 40


class _Written(float):
    """A float that is shown as it was written."""

    __slots__ = ("_literal",)
    _literal: str

    def __new__(cls, literal: str) -> _Written:
        made = super().__new__(cls, literal)
        made._literal = literal
        return made

    def __str__(self) -> str:
        return self._literal


_DECODER = json.JSONDecoder(parse_constant=_Written, parse_float=_Written)


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
