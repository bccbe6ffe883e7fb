r"""Regular expressions in schemas: translates ECMA 262 patterns for `regex`, which supports a timeout.

A pattern may come from an untrusted tool server, so it always runs with a timeout. After a timeout, it is not tried again in
the same validation. As in ECMA 262, `$` is the very end, and `\d` and `\w` are ASCII.
"""

from __future__ import annotations

from functools import lru_cache

import regex

__all__ = ["MATCH_TIMEOUT", "MAX_MATCHED", "PatternError", "compile_pattern", "matches"]

PatternError = regex.error

MATCH_TIMEOUT = 0.05
"""Seconds for one search."""

MAX_MATCHED = 100_000
"""The most characters that are searched. A longer string is a problem."""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Compile an ECMA pattern. Raises `PatternError` (`regex.error`) for an invalid one."""
    translated = _translated(pattern)
    unicode_properties = "\\p" in pattern or "\\P" in pattern  # with the ASCII flag, they would only match ASCII letters
    return regex.compile(translated, regex.UNICODE if unicode_properties else regex.ASCII)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern matches anywhere in the text. Raises TimeoutError after `MATCH_TIMEOUT`."""
    return compile_pattern(pattern).search(text, timeout=MATCH_TIMEOUT) is not None


def _translated(pattern: str) -> str:
    out: list[str] = []
    position, in_class = 0, False
    while position < len(pattern):
        token = _token(pattern, position, in_class)
        position += len(token)
        if in_class:
            in_class = token != "]"
        elif token == "[":
            in_class = True
        out.append(token if in_class else _OUTSIDE.get(token, token))
        out[-1] = _escape(out[-1])
    return "".join(out)


_OUTSIDE = {"$": r"\Z", "[^]": r"[\s\S]", "[]": r"(?!)"}


def _token(pattern: str, position: int, in_class: bool) -> str:
    if pattern[position] == "\\":
        if pattern.startswith("\\u{", position) and (end := pattern.find("}", position)) > 0:
            return pattern[position : end + 1]
        return pattern[position : position + (3 if pattern.startswith("\\c", position) else 2)]
    if not in_class:
        for empty in ("[^]", "[]"):
            if pattern.startswith(empty, position):
                return empty
    return pattern[position]


def _escape(token: str) -> str:
    r"""The token as a literal, if it is `\u{1F600}` or `\cJ`, which `regex` does not know."""
    if token.startswith("\\u{"):
        try:
            return regex.escape(chr(int(token[3:-1], 16)))
        except (ValueError, OverflowError):
            return token
    if token.startswith("\\c") and len(token) == 3 and token[2].isascii() and token[2].isalpha():
        return regex.escape(chr(ord(token[2].upper()) - 64))
    return token
