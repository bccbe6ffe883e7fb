"""The phrases of `phrases.toml`, compiled at the first refusal."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from llmcore.adapters.litellm.errors.fields import MARK

__all__ = ["denials", "meanings", "nouns", "part_phrases", "pattern_of", "table"]

_PIECES = re.compile(r"\*|#|\{field\}|\{[a-z_]+\}")
_ANY = MARK.format("[a-z_]+")
_AND = r"(?:,? ?(?:and|or|nor|&|/|und|和|与) ?|, ?|; ?)"
_FIELDS = rf"{_ANY}(?:{_AND}{_ANY}){{0,11}}"
_PATTERNS = {"*": r"[^;\n]{0,60}?", "#": r"(?:\d[\d,_' ]{0,12}|one\b|a single\b)", "{field}": _FIELDS}
_END = (
    r"(?=[\W\u3000-\u9fff]*$|\W{0,2}[.;,)!:]|\W{1,3}(?:is|are|fields?|parameters?|params?|arguments?|options?|with|for|in|on|by|when|while|if|and|but"
    r"|together|yet|here|at|from|cannot)\b)"
)
"""What may follow a field at the end of a phrase. Any other word makes it another thing (`tools names`)."""


@cache
def table() -> Mapping[str, Any]:
    """The parsed file."""
    return tomllib.loads(files(__name__.rpartition(".")[0]).joinpath("phrases.toml").read_text("utf-8"))


def pattern_of(phrase: str, *, after: str = "") -> str:
    """The regular expression of a phrase."""
    begins_a_word = phrase[:1].isalnum() and not phrase.startswith("n't")
    found, last = [r"(?<![a-z0-9_-])" if begins_a_word else ""], 0
    for piece in _PIECES.finditer(phrase):
        found += (re.escape(phrase[last : piece.start()]), _PATTERNS.get(piece[0]) or MARK.format(piece[0].strip("{}")))
        last = piece.end()
    ending = after if phrase.endswith("}") else ""
    return "".join((*found, re.escape(phrase[last:]), ending))


def _one_of(phrases: Iterable[str], after: str = "") -> re.Pattern[str]:
    return re.compile("|".join(pattern_of(phrase, after=after) for phrase in phrases))


@cache
def nouns() -> Mapping[str, re.Pattern[str]]:
    """The words for each field in sentences."""
    return {
        name: re.compile(rf"(?:{'|'.join(map(pattern_of, phrases))})(?:s|es)?(?![a-z0-9_\u27e7-])")
        for name, phrases in table()["nouns"].items()
    }


@cache
def denials(section: str) -> re.Pattern[str]:
    """The sentences of the section `refused` or `together`, which refuse the fields that they name."""
    return _one_of(table()[section], after=_END)


@cache
def part_phrases() -> Mapping[str, re.Pattern[str]]:
    """The phrases that refuse one part."""
    return {name: _one_of(phrases) for name, phrases in table()["parts"].items()}


@cache
def _meanings() -> Mapping[str, re.Pattern[str]]:
    return {name: _one_of(phrases) for name, phrases in table()["meaning"].items()}


def meanings(text: str) -> frozenset[str]:
    """Return what the phrases in a text (lower case) mean: names of the sections of `meaning`."""
    return frozenset(name for name, phrases in _meanings().items() if phrases.search(text))
