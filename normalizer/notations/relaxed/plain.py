"""Plain objects in other notations, translated to JSON for the fast parser.

Most arguments that are no JSON hold only what JSON has: strings, numbers, literals, lists and dicts. Each word and string is
translated to JSON, and the result is parsed strictly. If a text holds anything else, or the result is not sound, the full
reader reads it and records its repairs. On plain texts both agree (tests/normalizer/notations/relaxed/test_plain.py), and this
one takes a fifth of the time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final

from llmcore.normalizer.notations.strict import sound_container, sound_object
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.limits import DEFAULT_LIMITS, Limits

__all__ = ["plain_arguments", "plain_braces"]

_STRING: Final = r"'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\""
_ARGUMENTS: Final = lazy_regex(rf"\(((?:[^()'\"\\#]++|{_STRING})*+)\)")
_STRINGS: Final = lazy_regex(f"({_STRING})")
_WORD: Final = lazy_regex(r"([^\W\d]\w*)(\s*=)?")
_PYTHON_LITERALS: Final = {"True": "true", "False": "false", "None": "null"}
_LITERALS: Final = {"true": "true", "false": "false", "null": "null"}
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def plain_arguments(text: str, opening: int, limits: Limits = DEFAULT_LIMITS) -> tuple[dict[str, Any], int] | None:
    """(keyword arguments, end) of the Python call whose parenthesis stands at `opening`. None if they are not plain."""
    found = _ARGUMENTS.match(text, opening)
    if found is None:
        return None
    keywords = 0

    def word(found: re.Match[str]) -> str:
        nonlocal keywords
        if found.lastindex == 2:
            keywords += 1
            return f'"{found[1]}":'
        return _PYTHON_LITERALS[found[1]]

    pieces = _STRINGS.split(found[1])
    try:
        # One pass over the text between the strings, which has few words.
        pieces[::2] = _WORD.sub(word, "'".join(pieces[::2])).split("'")
        pieces[1::2] = [_string(quoted) for quoted in pieces[1::2]]
    except KeyError:  # a word, or an escape, that JSON does not have
        return None
    arguments = sound_object(f"{{{''.join(pieces)}}}", limits)
    # a keyword in a dict, or a key outside of one, is invalid in Python
    return None if arguments is None or len(arguments) != keywords else (arguments, found.end())


def _string(quoted: str) -> str:
    unquoted = quoted[1:-1]
    return encode_basestring(_ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], unquoted) if "\\" in unquoted else unquoted)


@lru_cache
def _brace_token(delimiter: str) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    return re.compile(rf"{mark}(.*?){mark}|([^\W\d][\w-]*)(\s*:)?", re.DOTALL)


def plain_braces(text: str, delimiter: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any] | list[Any] | None:
    """The container that is all of `text`, written as `{key:value}` with strings between two delimiters. None if not plain."""

    def as_json(token: re.Match[str]) -> str:
        if token.lastindex == 1:
            return encode_basestring(token[1])
        return f'"{token[2]}":' if token.lastindex == 3 else _LITERALS[token[2]]

    try:
        return sound_container(_brace_token(delimiter).sub(as_json, text), limits)
    except KeyError:
        return None
