"""The arguments of a call in which some value is no literal: `f(room=str(hall), seats=3)`.

Nothing is evaluated. Literals are read, added string literals are joined, and any other expression becomes its source text, as
a guess. Items of a list are read one by one. The work is linear: the text is split once per level of brackets, and the levels
are limited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["Expressions", "read_expressions"]

Literal = Callable[[str], tuple[bool, Any]]
"""(whether it is a literal, its value) of an expression's text."""

_TOKEN = lazy_regex(r"""(?P<quote>\"\"\"|'''|["'`])|(?P<open>[(\[{])|(?P<close>[)\]}])|[,+]""")
_KEYWORD = lazy_regex(r"\s*([A-Za-z_]\w{0,255})\s*+(?:=(?![=>])|:(?!:))\s*")
_LAMBDA = lazy_regex(r"lambda\b[^:]*\Z")
_STRING = lazy_regex(r"""\s*[rRuU]?(?:"|')""")
_LONGEST_HEAD = 200  # the most characters of a lambda before its colon
_DEEPEST = 4  # levels of lists that are split


@dataclass(slots=True)
class Expressions:
    """The arguments between the parentheses. `end` is just past the closing one."""

    end: int
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    positional: list[Any] = field(default_factory=list[Any])
    repairs: list[Repair] = field(default_factory=list[Repair])


def read_expressions(text: str, opening: int, literal: Literal) -> Expressions | None:
    """The arguments behind the parenthesis at `opening`. None if it never closes, or if a keyword has no value."""
    parts, end = _split(text, opening + 1, ",")
    if end < 0:
        return None
    found = Expressions(end)
    for part in _with_lambdas(parts):
        if not part.strip():
            continue
        keyword = _KEYWORD.match(part)
        key = keyword[1] if keyword is not None else ""
        written = part[keyword.end() :].strip() if keyword is not None else part.strip()
        if not written:
            return None
        value = _value(written, key, literal, found.repairs, 0)
        if key:
            found.arguments[key] = value
        else:
            found.positional.append(value)
    return found


def _value(written: str, path: str, literal: Literal, repairs: list[Repair], depth: int) -> Any:
    is_one, value = literal(written)
    if is_one:
        return value
    if (joined := _joined(written, literal)) is not None:
        repairs.append(Repair(kind="joined_strings", path=path, before=written, after=joined, safety="guess"))
        return joined
    if written[0] == "[" and depth < _DEEPEST:
        parts, end = _split(written, 1, ",")
        if end == len(written) and not any(" for " in part for part in parts):
            items = [part.strip() for part in parts if part.strip()]
            return [_value(item, f"{path}[{n}]", literal, repairs, depth + 1) for n, item in enumerate(items)]
    repairs.append(Repair(kind="expression", path=path, before=written, after=written, safety="guess"))
    return written


def _joined(written: str, literal: Literal) -> str | None:
    """The string of `'a' + 'b'`; None if it is anything else."""
    parts, _ = _split(written, 0, "+")
    if len(parts) < 2 or not all(_STRING.match(part) for part in parts):
        return None
    read = [literal(part.strip()) for part in parts]
    return "".join(value for _, value in read) if all(one and isinstance(value, str) for one, value in read) else None


def _with_lambdas(parts: list[str]) -> list[str]:
    """The parts, with a lambda's parts joined: its parameters are separated by commas."""
    whole: list[str] = []
    for part in parts:
        if whole and len(whole[-1]) <= _LONGEST_HEAD and _LAMBDA.search(whole[-1].partition("=")[2]):
            whole[-1] += "," + part
        else:
            whole.append(part)
    return whole


def _split(text: str, start: int, separator: str) -> tuple[list[str], int]:
    """The text from `start` on, split at each separator outside of brackets and strings.

    It ends at the first unmatched closing bracket. The second result is just past that bracket, -1 if there is none.
    """
    parts: list[str] = []
    depth, position, last = 0, start, start
    while (token := _TOKEN.search(text, position)) is not None:
        position = token.end()
        if token["quote"]:
            position = _past_string(text, token["quote"], position)
            if position < 0:
                return [], -1
        elif token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
            if depth < 0:
                return [*parts, text[last : token.start()]], position
        elif not depth and token[0] == separator:
            parts.append(text[last : token.start()])
            last = position
    return [*parts, text[last:]], -1


def _past_string(text: str, quote: str, at: int) -> int:
    """Just past the string that opened before `at`, -1 if it never closes."""
    while (found := text.find(quote, at)) >= 0:
        slashes = found
        while slashes > at and text[slashes - 1] == "\\":
            slashes -= 1
        if (found - slashes) % 2 == 0:
            return found + len(quote)
        at = found + 1
    return -1
