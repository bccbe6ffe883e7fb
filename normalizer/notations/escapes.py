r"""Backslash escapes of JSON, JavaScript and Python strings. Invalid escapes (`\U`, `\_`, `\d`) stay as they are.

The standard library's C scanner decodes valid JSON escapes. One substitution over bounded tokens decodes the rest.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["Decoded", "decode", "decode_once", "python_escape_at"]

_DECODER = json.JSONDecoder(strict=False)
_JSON = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PYTHON = {
    '"': '"', "'": "'", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\n": "", "\r\n": "",
}  # fmt: skip
_ESCAPE = lazy_regex(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|[0-7]{1,3}|N\{[A-Za-z0-9 -]{1,80}\}|\r\n|[\s\S]|$)")
_UNFINISHED = lazy_regex(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7}|[0-7]{1,2}|N(?:\{[A-Za-z0-9 -]{0,80})?|\r)?\Z")
_DRIVE_PATH = lazy_regex(r"""(?<![A-Za-z0-9])[A-Za-z]:\\(?![\\/"'])[^\s"'<>|*?,;]*+""")
_SHARE_PATH = lazy_regex(r"""\\\\[A-Za-z0-9][\w.$-]*\\(?!\\)[^\s"'<>|*?,;]+""")
r"""A path that begins with a computer's name, `\\\\host\\share`, with single backslashes behind that."""
_SURROGATE = lazy_regex(r"[\ud800-\udfff]")
_LAST_CODE_POINT = 0x10FFFF


class Decoded(NamedTuple):
    """`invalid`: an invalid escape stayed as it is. `path`: the backslashes of a raw Windows path are literal."""

    value: str
    invalid: bool = False
    path: bool = False


def decode(raw: str, opener: str = '"', python: bool = False) -> Decoded:
    r"""The text between two quotes, decoded. `opener` is the quote: in single quotes, `\'`, `\x41` and `\U0001f600` are valid.

    If a string has an invalid escape and a drive letter (`C:\Users\new`), all backslashes of the path are literal.
    """
    if "\\" not in raw:
        return Decoded(raw)
    if not python and opener == '"':
        try:
            value, end = _DECODER.raw_decode(f'"{raw}"')
            if end == len(raw) + 2:
                return Decoded(value)
        except ValueError:
            pass
    value, invalid = _substituted(raw, opener, python)
    if invalid and _DRIVE_PATH.search(raw):
        return Decoded(_around_paths(raw, opener, python), True, True)
    if invalid and _SHARE_PATH.fullmatch(raw) and "\\\\" not in raw[2:]:
        return Decoded(raw, True, True)
    return Decoded(value, invalid)


def python_escape_at(text: str, at: int) -> tuple[str | None, int] | None:
    """(text of the escape of a Python string at `at`, where it ends). The text is None for an invalid escape.

    The result is None if the escape has not arrived completely.
    """
    if _UNFINISHED.match(text, at) is not None:
        return None
    found = _ESCAPE.match(text, at)
    return (_python_escape(found[1], ""), found.end()) if found is not None else (None, at + 1)


def decode_once(raw: str) -> str:
    """The text with one layer of JSON escapes decoded. Invalid ones stay."""
    return _substituted(raw, '"', False)[0]


def _around_paths(raw: str, opener: str, python: bool) -> str:
    parts: list[str] = []
    done = 0
    for found in _DRIVE_PATH.finditer(raw):
        parts.append(_substituted(raw[done : found.start()], opener, python)[0])
        parts.append(found[0].replace("\\\\", "\\"))
        done = found.end()
    parts.append(_substituted(raw[done:], opener, python)[0])
    return "".join(parts)


def _substituted(raw: str, opener: str, python: bool) -> tuple[str, bool]:
    one = _python_escape if python else _json_escape
    invalid = False

    def replacement(found: re.Match[str]) -> str:
        nonlocal invalid
        value = one(found[1], opener)
        if value is None:
            invalid = True
            return found[0]
        return value

    value = _ESCAPE.sub(replacement, raw)
    if _SURROGATE.search(value):
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return value, invalid or (not python and opener != "'" and "\\'" in raw)


def _json_escape(escape: str, opener: str) -> str | None:
    """The character of an escape, which is passed without its backslash. None if it is invalid."""
    if escape in _JSON:
        return _JSON[escape]
    if len(escape) == 5 and escape[0] == "u":
        return chr(int(escape[1:], 16))
    if escape == "'" or escape == opener or (opener == "`" and escape == "$"):
        return escape
    if opener in "'`" and ((len(escape) == 3 and escape[0] == "x") or (len(escape) == 9 and escape[0] == "U")):
        code_point = int(escape[1:], 16)
        return chr(code_point) if code_point <= _LAST_CODE_POINT else None
    return None


def _python_escape(escape: str, opener: str) -> str | None:
    """As `_json_escape`. In Python, an unknown escape stands for itself, but one that is no code point is invalid."""
    if escape in _PYTHON:
        return _PYTHON[escape]
    kind, rest = escape[:1], escape[1:]
    if kind.isdigit() and escape.isascii():
        return chr(int(escape, 8)) if kind in "01234567" else "\\" + escape
    if rest and kind in "uUx":
        return chr(int(rest, 16)) if int(rest, 16) <= _LAST_CODE_POINT else None
    if rest and kind == "N":
        from unicodedata import lookup  # only here: its table takes a millisecond

        try:
            return lookup(rest[1:-1])
        except KeyError:
            return None
    return None if kind in "uUxN" or not kind else "\\" + escape
