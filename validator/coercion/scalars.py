"""Reads numbers, booleans and allowed values from text. Pure functions, which return None if the text is ambiguous.

`exact_*` reads a text that *is* the value. `*_in_prose` finds the one value that a sentence names. If the sentence names two,
or denies the one that it names, the result is None. Linear in the length of the text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from llmcore.types import DEFAULT_LIMITS

__all__ = [
    "boolean_in_prose",
    "boolean_word",
    "choice_in_prose",
    "exact_boolean",
    "exact_number",
    "folded",
    "number_in_prose",
    "without_layout",
]

_MAX_PROSE = 20_000
"""The most characters of prose that are searched. Longer texts name no value."""

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_CONTEXT_LENGTH = 24
"""How many characters beside a number may change its meaning."""
_CHANGING_PREFIX = re.compile(
    r"""
    (?: [-\u2010-\u2015\u2212\ufe63\uff0d+] \s* [$€£¥]? \s*      # a sign that is no hyphen-minus just before the digits
      | [<>≤≥≠±∓]=? \s* | [/^*\u00d7÷√] \s* | !=\s*
      | (?:\A|[\s$€£¥]) \( [$€£¥]? \s*                          # (5) is -5 in books
      | \b (?: minus | neg(?:ative)? | not | never | cannot | nor | neither | without | except | no(?![.,])
            | (?: less | more | fewer | greater | higher | lower | smaller | larger | bigger | other | better | worse ) \s than
            | at \s (?: least | most ) | up \s to | under | over | above | below | beyond | exceed(?:s|ing)?
            | half (?: \s of )? | third \s of | quarter \s of | double | twice | triple | times | squared? | log | sqrt
            | hundred | thousand | million | billion | twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety
            | minimum | maximum | min | max | nicht | kein\w* | unter | über | mindestens | höchstens
        ) (?: \s (?: of | the | a | about ) )? \s+
      | n['\u2019]t \s+
    ) \Z""",
    re.IGNORECASE | re.VERBOSE,
)
_SCALE = r"""(?: k | kk | m | b | t | g | bn | mn | mm | mil | mill | mio | mrd | mia | md | tn | tr | trn
    | hundreds? | thousands? | thsd | millions? | billions? | trillions? | quadrillions? | dozens? | scores? | grand | gross
    | lakhs? | lacs? | crores? | cr | mille | tausend | million(?:en|es)? | milliarden? | millones | milh(?:ão|ões|oes)
    | milliards? | mila | milioni | percent | per\s?cent | pct | permille | bps | bp | basis\s points? )"""
_CHANGING_SUFFIX = re.compile(
    rf"""
      \s? -? \s? {_SCALE} (?![^\W\d_])
    | [^\W\d_]+ \d | [xXbBoO][0-9a-fA-F]                        # 0x1F, 1e5x3
    | e [-+]? (?!\w)                                           # 1e, 1e-: the exponent is cut off
    | \s? [%‰‱^*\u00d7÷!√] | \s* \*\* | [:]\d | \+
    | \s (?: and \s a \s | below \s (?:zero|0)
          | or \s (?: more | less | fewer | higher | lower | above | below | over | under | none )
          | (?: times | squared | cubed | halves | thirds | quarters | fifths | tenths | hundredths ) \b | negative\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A number beside a match of this pattern, or of `_CHANGING_PREFIX`, is not certainly the one meant."""
_ARITHMETIC = re.compile(r"\d\s?(?:[x\u00d7*÷^=]|\s[-+/]\s)\s?\d|\d['\u2019\s]\d", re.ASCII)
_MINUS = re.compile(r"(?<![\w.)\]])\u2212(?=\d)", re.ASCII)
_PROSE_NUMBER = re.compile(r"[+-]?\d[\d.,_]*(?:[eE][+-]?\d+)?(?:\s?/\s?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d{1,15})\s?/\s?(\d{1,15})", re.ASCII)
_LAYOUT = re.compile(r"(?:[#>-]{1,6}[ \t]+)?[*_`~\"'“”]{0,6}([^\n]+?)[.!]?[*_`~\"'“”]{0,6}[.!]?")
_BOOLEAN_WORD = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_DENIERS = frozenset(
    """
    not never no neither nor none nothing without except non hardly barely scarcely rarely seldom cannot cant
    isnt wasnt arent dont doesnt didnt wont wouldnt shouldnt couldnt aint far but instead than less least unlike
    lacks lacking fails wrong incorrect false untrue opposite contrary almost nearly formerly previously excluding exclude
    excludes ruled unlikely doubtful unless if whether
    nicht kein keine keinen keiner kaum weder ohne statt falsch nie niemals
    pas ni aucun aucune sans jamais peu guere faux plutot
    nunca jamas ningun ninguna sin apenas tampoco nao nem sem falso
    """.split()  # noqa: SIM905  (a table of words, read as one)
)
"""Words that deny or weaken what their sentence names, in the form that `folded` returns. In doubt, the sentence names
nothing."""
_DENYING_PREFIX = re.compile(
    r"\b(?:un|non|anti|semi|quasi|pseudo|sub|a|in|im|dis|de|ex|half|mis|counter|near)[-\u2010\u2011](?=\w)", re.IGNORECASE
)
_NOT = re.compile(r"n t\b")  # isn't, folded
_DENIERS_IN_CJK = re.compile("[不没沒无無非未]|ない|ではな|じゃな")
_DENYING_SUFFIX = re.compile(r"(?<=\w)[-\u2010\u2011](?:ish|like|free|less|esque|adjacent)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.;!](?=\s|\Z)|[\n。\uff01\uff1b]")
_BEFORE_CJK = 0x2E80
"""From this code point on, scripts are written without spaces, so a match needs no word boundary."""


def exact_number(text: str) -> int | float | None:
    """Return the finite number that a text is, in JSON's grammar: `" 5 "`, `-2.5e3`. No leading zeros, no plus sign."""
    text = text.strip()
    found = _JSON_NUMBER.fullmatch(text) if len(text) <= DEFAULT_LIMITS.digits else None
    if found is None:
        return None
    return int(text) if found[1] is None and found[2] is None else _finite(float(text))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def exact_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.strip().lower())


def number_in_prose(text: str) -> int | float | None:
    """Return the one number that a text names: `$1,234`, `about 5`, `1/5`.

    None if there is none or if two differ. None also if the digits belong to a word (`v2`), or if the text beside them may
    change them (`minus 5`, `3k`).
    """
    if len(text) > _MAX_PROSE or _ARITHMETIC.search(text):
        return None
    found = list(_numbers(_MINUS.sub("-", text)))
    return found[0] if found and found[0] is not None and all(value == found[0] for value in found) else None


def _numbers(text: str) -> Iterator[int | float | None]:
    for match in _PROSE_NUMBER.finditer(text):
        start = match.start()
        before = text[start - 1 : start]
        token = match[0].rstrip(".,_")
        if before.isalpha() or before in ("_", "."):
            continue
        if token[0] in "+-" and before.isdigit():
            token = token[1:]  # a hyphen: `10-20` names two numbers
        elif token[0] in "+-" and before.isalnum():
            yield None  # `T-5`: a hyphen or a sign
            continue
        end = start + len(match[0].rstrip(".,_"))
        yield None if _is_changed(text, start, end) else _number(token)


def _is_changed(text: str, start: int, end: int) -> bool:
    """Whether the text beside a number makes it another number, or a bound, or no number."""
    before, after = text[max(0, start - _CONTEXT_LENGTH) : start], text[end : end + _CONTEXT_LENGTH]
    if _CHANGING_PREFIX.search(before) or _CHANGING_SUFFIX.match(after):
        return True
    neighbour = after.lstrip(" \u00a0\u202f'\u2019")[:1]
    return bool(neighbour) and (unicodedata.numeric(neighbour, None) is not None)


def _number(token: str) -> int | float | None:
    if fraction := _FRACTION.fullmatch(token):
        return _reduced(fraction)
    if not (_GROUPED.fullmatch(token) or _DECIMAL.fullmatch(token)) or len(token) > DEFAULT_LIMITS.digits:
        return None
    plain = token.replace(",", "").removeprefix("+")
    return _finite(float(plain)) if set(plain) & set(".eE") else int(plain)


def _reduced(fraction: re.Match[str]) -> int | float | None:
    if int(fraction[2]) == 0:
        return None
    value = Fraction(int(fraction[1]), int(fraction[2]))
    return value.numerator if value.denominator == 1 else float(value)


def without_layout(text: str) -> str:
    """One line without the Markdown, quotation marks and closing punctuation around it."""
    found = _LAYOUT.fullmatch(text) if len(text) <= _MAX_PROSE else None
    return text if found is None else found[1]


def boolean_word(text: str) -> bool | None:
    """Return True or False for a text that is `yes` or `no`, apart from case and layout around it."""
    word = without_layout(text.strip()).lower()
    return word == "yes" if word in ("yes", "no") else None


def boolean_in_prose(text: str) -> bool | None:
    """Return True or False for a text that is `yes` or `no`, or that names only one of true and false without denying it."""
    word = text.strip().strip(".!\"'`*").lower()
    if word in ("yes", "no"):
        return word == "yes"
    if len(text) > _MAX_PROSE:
        return None
    named = {match[1].lower() for match in _BOOLEAN_WORD.finditer(text)}
    return named == {"true"} if len(named) == 1 and not _denied(text, ["true", "false"]) else None


@lru_cache(maxsize=2048)
def folded(text: str) -> str:
    """The text without accents, case and punctuation. Anything between letters and digits becomes one space."""
    plain = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join("".join(c if c.isalnum() else " " for c in plain).casefold().split())


def choice_in_prose(text: str, choices: Sequence[str]) -> str | None:
    """Return the only one of `choices` that a text names and does not deny. Accents, case and punctuation are ignored.

    A choice inside a longer named one (`SPAM` in `NOT_SPAM`) does not count. None if no choice or several are named.
    """
    if len(text) > _MAX_PROSE:
        return None
    named = {choice for _, _, choice in _named(folded(text), choices)}
    return named.pop() if len(named) == 1 and not _denied(text, choices) else None


_Span = tuple[int, int, str]


def _named(haystack: str, choices: Sequence[str]) -> list[_Span]:
    """The positions at which a folded text names choices, without those inside a longer one."""
    spans = [
        (start, start + len(folded(choice)), choice) for choice in choices for start in _occurrences(haystack, folded(choice))
    ]
    return [one for one in spans if not any(_inside(one, other) for other in spans)]


def _inside(one: _Span, other: _Span) -> bool:
    return other[0] <= one[0] and one[1] <= other[1] and other[1] - other[0] > one[1] - one[0]


def _denied(text: str, choices: Sequence[str]) -> bool:
    """Whether a sentence that names a choice also holds a word that denies or weakens it. Linear in the text."""
    text = _DENYING_SUFFIX.sub(" not ", _DENYING_PREFIX.sub(" not ", text))
    sentences = [(sentence, spans) for sentence in _SENTENCE_END.split(text) if (spans := _named(folded(sentence), choices))]
    return any(_holds_denier(*one) for one in sentences or [(text, _named(folded(text), choices))])


def _holds_denier(sentence: str, spans: Sequence[_Span]) -> bool:
    rest = folded(sentence)
    for start, end, _ in sorted(spans, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    if not _DENIERS.isdisjoint(rest.split()) or _NOT.search(rest):
        return True
    return any(found[0] not in "".join(choice for _, _, choice in spans) for found in _DENIERS_IN_CJK.finditer(sentence))


_MAX_OCCURRENCES = 50


def _occurrences(haystack: str, needle: str) -> Iterator[int]:
    """The positions of `needle` as a separate word. The first few suffice to see whether another choice is named too."""
    start, found = (haystack.find(needle), 0) if needle else (-1, 0)
    while start >= 0 and found < _MAX_OCCURRENCES:
        if _bounded(haystack, start, needle[0], -1) and _bounded(haystack, start + len(needle), needle[-1], 0):
            found += 1
            yield start
        start = haystack.find(needle, start + 1)


def _bounded(haystack: str, edge: int, inner: str, offset: int) -> bool:
    neighbour = haystack[edge + offset : edge + offset + 1] if edge + offset >= 0 else ""
    return not neighbour.isalnum() or ord(neighbour) >= _BEFORE_CJK or ord(inner) >= _BEFORE_CJK
