"""The phrases that the sentence before a call may hold, read from `phrases/<language>.toml`.

To add a language, you add a file. A phrase is plain text with these signs:

- `(a|b)` stands for either, and `(a|b)?` may be missing;
- `*` stands for the rest of a word, and `...` for up to four words;
- `$` stands for the end of the sentence.

Case does not matter: callers pass sentences in lower case. An expression is compiled when a sentence first needs it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from llmcore.normalizer.scanning.words import NOT_IN_ASCII
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["Kind", "Language", "finds", "joining_words", "languages", "rows_of"]

Kind = Literal["prohibition", "refusal", "label", "form", "example", "announcement", "answer"]
KINDS: tuple[Kind, ...] = ("prohibition", "refusal", "label", "form", "example", "announcement", "answer")

_WORDS = re.compile(r"[^\W\d_]+")
_SPLITS = re.compile(r" (?![^(]*\))")
"""A blank outside of parentheses."""
_OPTIONAL = re.compile(r"\([^()]*\)\?")
_ANCHOR = 4
_ANCHORS = re.compile(rf"([^\W\d_]{{1,{_ANCHOR}}})[^\W\d_]*+")
_ASCII_ANCHORS = re.compile(rf"([a-z]{{1,{_ANCHOR}}})[a-z]*+")
"""The first letters of each word."""
_UNSPACED = lazy_regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of the languages that put no blanks between words: Japanese, Chinese, Korean."""
_FIRST_UNSPACED = "\u3040"
"""The first letter of these languages; all letters of other languages come before it.

It is a cheap check: compiling `_UNSPACED` takes two milliseconds.
"""
_CLAUSE = lazy_regex(r"[,;:.!?，、；：。！？]")  # noqa: RUF001 # the full-width signs are meant
_SPEAKER_REACH = 2
"""The number of words before a negation that may hold its subject."""
_SHOWING_REACH = 5
"""The number of words behind an announcement that may hold its verb."""


class Language(NamedTuple):
    """The phrases of one file."""

    name: str
    phrases: dict[Kind, tuple[str, ...]]
    speaker: frozenset[str]
    article: tuple[str, ...]
    showing: tuple[str, ...]
    joining: frozenset[str]

    @property
    def is_spaced(self) -> bool:
        """Whether the language puts blanks between words."""
        return all(max(phrase) < _FIRST_UNSPACED for phrase in self.phrases["prohibition"])


class Row(NamedTuple):
    """The phrases of one kind in one language."""

    kind: Kind
    language: str


_FILES = files("llmcore.normalizer.trust").joinpath("phrases")


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(file.name.removesuffix(".toml") for file in _FILES.iterdir() if file.name.endswith(".toml")))


@cache
def _language(name: str) -> Language:
    read = tomllib.loads(_FILES.joinpath(f"{name}.toml").read_text("utf-8"))
    phrases: dict[Kind, tuple[str, ...]] = {kind: tuple(read[kind]) for kind in KINDS}
    speaker = frozenset(word.lower() for word in read["speaker"])
    return Language(name, phrases, speaker, tuple(read["article"]), tuple(read["showing"]), frozenset(read["joining"]))


def languages() -> dict[str, Language]:
    """Every language by its name."""
    return {name: _language(name) for name in _names()}


@cache
def joining_words() -> frozenset[str]:
    """The words of all languages that join two calls."""
    return frozenset[str]().union(*(language.joining for language in languages().values()))


def rows_of(sentence: str) -> frozenset[Row]:
    """The rows that may have a phrase in the sentence, which is in lower case. For most sentences, no other step is needed."""
    in_ascii = sentence.isascii()
    by_anchor, unspaced = _by_anchor(in_ascii)
    found: set[Row] = set()
    for anchor in by_anchor.keys() & (_ASCII_ANCHORS if in_ascii else _ANCHORS).findall(sentence):
        found |= by_anchor[anchor]
    if not in_ascii and _UNSPACED.search(sentence) is not None:
        found |= unspaced
    return frozenset(found)


def finds(kind: Kind, rows: frozenset[Row], sentence: str) -> bool:
    """Whether the sentence holds a phrase of this kind."""
    for row in rows:  # noqa: SIM110 # five times for each sentence before a call: a generator takes twice as long
        if row.kind == kind and _finds(row, sentence):
            return True
    return False


def _finds(row: Row, sentence: str) -> bool:
    language = _language(row.language)
    for found in _expression(row).finditer(sentence):
        if row.kind == "prohibition" and _has_speaker_before(sentence[: found.start()], language):
            continue
        if row.kind == "announcement" and _announces_showing(sentence, found.start(), language):
            continue
        return True
    return False


def _has_speaker_before(before: str, language: Language) -> bool:
    """Whether the speaker (`I`) stands before a negation in its clause."""
    clause = _CLAUSE.split(before)[-1]
    if not language.is_spaced:
        return any(clause.strip().endswith(word) for word in language.speaker)
    return not language.speaker.isdisjoint(_WORDS.findall(clause)[-_SPEAKER_REACH:])


def _announces_showing(sentence: str, at: int, language: Language) -> bool:
    """Whether the verb of an announcement is one of showing or explaining.

    In Japanese and Korean, the verb stands before the rest of the announcement.
    """
    searched = " ".join(sentence[at:].split()[: _SHOWING_REACH + 1]) if language.is_spaced else sentence
    return _showing(language.name).search(searched) is not None


@cache
def _by_anchor(in_ascii: bool) -> tuple[dict[str, set[Row]], set[Row]]:
    """The rows by the first letters of one of their words, and the rows of the languages without blanks.

    `in_ascii`: only languages that can be written in ASCII.
    """
    found: dict[str, set[Row]] = {}
    unspaced: set[Row] = set()
    for language in (_language(name) for name in _names() if not in_ascii or name not in NOT_IN_ASCII):
        rows = {Row(kind, language.name): phrases for kind, phrases in language.phrases.items()}
        if not language.is_spaced:
            unspaced |= rows.keys()
            continue
        for row, phrases in rows.items():
            for phrase in phrases:
                for anchor in _anchors(phrase):
                    found.setdefault(anchor, set()).add(row)
    return found, unspaced


def _anchors(phrase: str) -> tuple[str, ...]:
    """First letters of words. Every sentence with the phrase has a word that begins with one of them."""
    best: tuple[str, ...] = ()
    lowered = phrase.lower()
    for word in _SPLITS.split(lowered) if "(" in lowered else lowered.split(" "):
        if word in ("...", "$") or word.endswith(")?"):
            continue
        anchors = tuple([_anchor(one) for one in word.strip("()").split("|")])
        weight = min(map(len, anchors))
        if weight > min(map(len, best), default=0):
            best = anchors
    return best


def _anchor(word: str) -> str:
    """The first letters of the longest part of a word or of several words. "" if signs leave too few letters."""
    if word.isalpha():  # most words
        return word[:_ANCHOR]
    parts = _WORDS.findall(re.sub(r"\b\w{0,3}\*|\*\w*|\([^)]*\)\??", " ", word))
    return max(parts, key=len, default="")[:_ANCHOR]


@cache
def _expression(row: Row) -> re.Pattern[str]:
    language = _language(row.language)
    phrases = _either(language.phrases[row.kind], is_spaced=language.is_spaced)
    if row.kind == "label":
        articles = "|".join(map(re.escape, language.article))
        blank = r"\s+" if language.is_spaced else ""
        article = rf"(?:(?:{articles}){blank})?" if articles else ""
        phrases = rf"\A\W*{article}(?:{phrases})(?:\s*\d{{1,3}})?\W*\Z"
    return re.compile(phrases)


@cache
def _showing(language: str) -> re.Pattern[str]:
    row = _language(language)
    return re.compile(_either(row.showing, is_spaced=row.is_spaced))


def _either(phrases: Iterable[str], *, is_spaced: bool) -> str:
    """One expression for all phrases. It has no flag for case, so that `re` can check first letters."""
    expression = "|".join(_pattern(phrase.lower(), is_spaced=is_spaced) for phrase in phrases)
    return rf"(?<!\w)(?:{expression})" if is_spaced else expression


def _pattern(phrase: str, *, is_spaced: bool) -> str:
    """The phrase as a regular expression."""
    blank = r"\s+" if is_spaced else r"\s*"
    expression, begun = "", False
    for word in _SPLITS.split(phrase):
        if word == "$":
            expression += r"\W*\Z"
        elif word == "...":
            expression += r"(?:\s+\S+){0,4}?"
        elif _OPTIONAL.fullmatch(word) is not None:
            group = _word(word[:-1])
            expression += rf"(?:{blank}{group})?" if begun else rf"(?:{group}{blank})?"
        else:
            expression += (blank if begun else "") + _word(word)
            begun = True
    return expression if not is_spaced or phrase.endswith(("*", "$")) else expression + r"(?!\w)"


def _word(word: str) -> str:
    signs = {"(": "(?:", ")": ")", "|": "|", "?": "?", "*": r"\w*", "'": "['’]", " ": r"\s+"}  # noqa: RUF001 # typographic
    return "".join(signs.get(char) or re.escape(char) for char in word)
