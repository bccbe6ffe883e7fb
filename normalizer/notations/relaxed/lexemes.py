"""Values without quotes or brackets: literals, numbers, arithmetic on numbers, bare words.

Nothing is evaluated as code. A number that would lose information is no number: `1,000`, `00501`, `1e400`, `NaN`.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from llmcore.normalizer.notations.refusals import DIGITS_LIMIT, NESTED_CALL, too_long
from llmcore.normalizer.notations.relaxed.arithmetic import computed
from llmcore.normalizer.notations.relaxed.state import CLOSERS, Ended, State, Stop
from llmcore.normalizer.notations.relaxed.strings import starts_member
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.numbers import is_rounded

__all__ = ["ABSENT", "LITERALS", "json_number", "loose_number", "read_bare"]

ABSENT: Final[Any] = object()
"""Stands for "no such value", because None is a value."""

LITERALS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS: Final[dict[str, Any]] = {"True": True, "False": False, "None": None}
_DRIFTED_LITERALS: Final[dict[str, Any]] = {"TRUE": True, "FALSE": False, "NULL": None, "undefined": None, "nil": None}
_LITERAL_BEGINNINGS: Final = frozenset(word[:at] for word in (*LITERALS, *_PYTHON_LITERALS) for at in range(1, len(word)))
_NOT_FINITE: Final = frozenset({"nan", "inf", "infinity"})

_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_NUMBER_LIKE: Final = lazy_regex(r"[+-]?[0-9.][0-9_.eE+-]*")
_CURRENCY_GROUPED: Final = lazy_regex(r"[+-]?(?:[$\u20ac\u00a3]|[A-Za-z]{1,3}) ?[0-9]{1,3},[0-9]{3}(?![0-9])")
_GROUP: Final = lazy_regex(r"[0-9]{3}(?![0-9])")
_BASED: Final = lazy_regex(r"[+-]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)")
_LEADING_ZERO: Final = lazy_regex(r"[+-]?0[0-9_]")
_TOKEN: Final = lazy_regex(r"""[^,\]}\n\r"'`{\[(\u201c\u201d\uff0c]*""")
_TOKEN_IN_PARENTHESES: Final = lazy_regex(r"""[^,\]}\n\r"'`{\[()\u201c\u201d\uff0c]*""")
_LAYOUT: Final = lazy_regex(r"\\[nrt](?![A-Za-z])|[ \t](?://|#)|/\*")
_COLON_AS_SEPARATOR: Final = lazy_regex(r":(?:\s|$)")
_CALLABLE: Final = lazy_regex(r"[^\W\d][\w.]*\s*")

_OPENERS: Final = "{[(" + "".join(CLOSERS)


def read_bare(state: State) -> Any:
    """The value at the position, which starts with no quote or bracket. A word becomes a string, as a guess."""
    if state.frames and (_CURRENCY_GROUPED.match(state.text, state.pos, state.end) or _later_group(state)):
        raise Stop  # two items, or one number with a thousands separator
    token = _token(state)
    after = state.pos + len(token)
    at_end = after >= state.end
    stripped = token.strip()
    if stripped.lstrip("+-").lower() in _NOT_FINITE:
        raise Stop
    value = _literal(state, stripped)
    state.delimited = value is not ABSENT
    if value is ABSENT:
        if at_end and token == stripped and (state.cut or stripped in _LITERAL_BEGINNINGS):
            raise Ended  # the next characters may change it
        value = _number(state, stripped)
    if value is ABSENT:
        after = _end_of_words(state, after)
        if after >= state.end and state.cut:
            raise Ended
        value = _word(state, state.text[state.pos : after], after)
    else:
        after = state.pos + len(token.rstrip())  # the caller knows which white space is JSON's
    state.pos = after
    return value


def _later_group(state: State) -> bool:
    """Whether three digits that are no number stand right behind a digit and a comma."""
    text, pos = state.text, state.pos
    if text[pos - 1] != "," or not text[pos - 2].isdigit() or not _GROUP.match(text, pos, state.end):
        return False
    return not _JSON_NUMBER.fullmatch(text[pos : _token_end(state, pos)].strip())


def _token(state: State) -> str:
    """The text up to a separator, a bracket, a quote, a comment or the end of the line."""
    token = state.text[state.pos : _token_end(state, state.pos)]
    if not token.strip():
        raise Stop
    return token


def _token_end(state: State, at: int) -> int:
    pattern = _TOKEN_IN_PARENTHESES if any(frame.closer == ")" for frame in state.frames) else _TOKEN
    found = pattern.match(state.text, at, state.end)
    end = found.end() if found else at
    layout = _LAYOUT.search(state.text, at, end)
    return layout.start() if layout else end


def _end_of_words(state: State, after: int) -> int:
    """The end of bare text in an object. It includes commas, line breaks and apostrophes up to a new member or a bracket."""
    text = state.text
    if not state.frames or state.frames[-1].kind != "object":
        return after
    while after < state.end:
        character, onward = text[after], after + 1
        if character == ",":
            if starts_member(state, after + 1, state.frames[-1]):
                break
        elif character in "\r\n":
            onward = state.peek_past_comments(after, comments=False)
            if onward >= state.end or text[onward] in "}],#/" or _key_follows(state, onward):
                break
        elif not (character == "'" and text[after - 1].isalnum() and text[after + 1 : after + 2].isalnum()):
            break
        after = _token_end(state, onward)
    return after


def _key_follows(state: State, at: int) -> bool:
    return starts_member(state, at, state.frames[-1], strict=True)


def _literal(state: State, token: str) -> Any:
    if token in LITERALS:
        return LITERALS[token]
    if token in _PYTHON_LITERALS:
        state.note("python_literal", token, _PYTHON_LITERALS[token])
        return _PYTHON_LITERALS[token]
    if token in _DRIFTED_LITERALS:
        state.record("literal", token, _DRIFTED_LITERALS[token], "guess")
        return _DRIFTED_LITERALS[token]
    return ABSENT


def _number(state: State, token: str) -> Any:
    digits = state.limits.digits
    value = json_number(token, digits)
    if value is not ABSENT:
        return _noting_loss(state, token, value)
    value = loose_number(token, digits)
    if value is not ABSENT:
        _noting_loss(state, token, value)
        # A plus sign may begin a telephone number.
        state.record("number_notation", token, value, "guess" if token.startswith("+") else "lossless")
        return value
    sum_of = computed(token, digits)
    if sum_of is None:
        return ABSENT
    state.record("arithmetic", token, sum_of, "coerced")
    return sum_of


def _noting_loss(state: State, token: str, value: Any) -> Any:
    if isinstance(value, float) and is_rounded(token, value):
        state.record("rounded_number", token, value, "coerced")
    return value


def json_number(token: str, digits: int) -> Any:
    """The value of a JSON number, else `ABSENT`. Raises `Stop` if it has too many digits or is infinite."""
    if not _JSON_NUMBER.fullmatch(token):
        return ABSENT
    if not token.isdecimal() and not token[1:].isdecimal():  # a fraction or an exponent
        return _float(token)
    try:
        return _int(token, 10, digits)
    except ValueError as error:  # CPython's limit
        raise Stop(DIGITS_LIMIT) from error


def loose_number(token: str, digits: int) -> Any:
    """The value of a number in Python's or JavaScript's notation (`.5`, `1.`, `+1`, `1_000`, `0x1F`), else `ABSENT`."""
    if _BASED.fullmatch(token):
        return _int(token, 0, digits)
    if not _NUMBER_LIKE.fullmatch(token) or _LEADING_ZERO.match(token):
        return ABSENT
    try:
        return _float(token) if any(mark in token for mark in ".eE") else _int(token, 10, digits)
    except ValueError:
        return ABSENT


def _int(token: str, base: int, digits: int) -> Any:
    if len(token.lstrip("+-")) > digits or too_long(value := int(token, base), digits):
        raise Stop(DIGITS_LIMIT)
    return value


def _float(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise Stop
    return value


def _word(state: State, token: str, after: int) -> str:
    """A bare word as a string, a guess. Raises `Stop` if it may be code, a key or a merged value."""
    word = token.strip()
    following = state.text[after : after + 1] if after < state.end else ""
    if not state.frames:
        raise Stop  # prose
    if following == "(" and _CALLABLE.fullmatch(word):
        raise Stop(NESTED_CALL)
    if (following and following in _OPENERS) or _COLON_AS_SEPARATOR.search(word) or word.startswith((":", "=")):
        raise Stop
    if state.flavour.python and "=" in word:
        raise Stop  # another keyword argument
    state.record("bare_text" if "," in word or "\n" in word else "bare_word", word, word, "guess")
    return word
