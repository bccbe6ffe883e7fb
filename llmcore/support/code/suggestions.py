"""Error messages for a caller's mistakes: the wrong thing, what fits there, and the nearest name.

Settings may be secrets. So a message quotes a value only if it is a short number or text that is itself wrong, and of pydantic's
errors only their kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from inspect import iscoroutinefunction, signature
from types import BuiltinFunctionType, FunctionType
from typing import get_origin

from pydantic import ValidationError

__all__ = ["describe_value", "dollars", "hint", "meant", "misspelled", "mistake_in", "nearest", "unknown"]

_MAX_SHOWN = 40
_SIMILAR = 0.85  # of two names one of which is a slip of the other
_VERY_SIMILAR = 0.9
_MIN_LETTERS_TRANSPOSED, _MIN_LETTERS_REPLACED = 5, 6  # letters of a name; `books` are no `hooks`
_PLAIN = re.compile(r"\w+")
_PLAIN_NAMES = {
    "dictionary or object to extract fields from": "a dict or an object",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "True or False",
    "dictionary": "a dict",
    "list": "a list",
    "set": "a set",
    "frozenset": "a set",
    "tuple": "a list",
}


def nearest(name: str, known: Collection[str], cutoff: float = 0.6) -> str | None:
    """The most similar known name; None if none is similar enough."""
    from difflib import get_close_matches  # imported on demand: mistakes are rare

    return next(iter(get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def hint(name: str, known: Iterable[str], instead: Mapping[str, str] | None = None) -> str:
    """A hint for an unknown name: the text of `instead` for it, the nearest known name, or all known names."""
    if instead and name in instead:
        return instead[name]
    names = list(known)
    if instead and (slip := misspelled(name, instead)) is not None and misspelled(name, names) is None:
        return f"did you mean {slip!r}? {instead[slip]}"
    if (near := nearest(name, names)) is not None:
        return f"did you mean {near!r}?"
    return f"there are {', '.join(names)}" if names else "there is none"


def meant(name: str, known: Collection[str]) -> str | None:
    """The known name that a public name equals or misspells; None for an unrelated name."""
    if name in known or name.startswith("_"):
        return name if name in known else None
    return nearest(name, known, _SIMILAR)


def misspelled(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one certainly misspells: it is very similar, or has two letters transposed or one replaced.

    Stricter than `meant`, for names that users may choose freely.
    """
    names = list(known)
    near = nearest(name, names, _VERY_SIMILAR)
    return near or next((each for each in names if _is_one_typo(name, each)), None)


def _is_one_typo(word: str, other: str) -> bool:
    differ = [at for at, letter in enumerate(word) if letter != other[at]] if len(word) == len(other) else []
    if len(differ) == 2 and len(word) >= _MIN_LETTERS_TRANSPOSED:
        first, second = differ
        return second == first + 1 and (word[first], word[second]) == (other[second], other[first])
    return len(differ) == 1 and len(word) >= _MIN_LETTERS_REPLACED


def unknown(thing: str, what: str, name: str, known: Iterable[str], instead: Mapping[str, str] | None = None) -> str:
    """`Budget has no field 'token'; did you mean 'tokens'?`"""
    return f"{thing} has no {what} {name!r}; {hint(name, known, instead)}"


def describe_value(value: object) -> str:
    """A value in an error message: a number or short text itself, a class by its name, a function by its signature, anything else
    by its type."""
    if isinstance(value, int | float) or value is None or (isinstance(value, str) and len(value) <= _MAX_SHOWN):
        return repr(value)
    if isinstance(value, FunctionType):
        kind = "async function" if iscoroutinefunction(value) else "function"
        return f"the {kind} {value.__name__}({', '.join(signature(value).parameters)})"
    if isinstance(value, BuiltinFunctionType):
        return f"the function {value.__name__}"
    if get_origin(value) is not None:  # list[int]
        return repr(value)[:_MAX_SHOWN]
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def dollars(amount: float) -> str:
    """An amount in US dollars: to the cent from 100 dollars on, else to four digits. Never with an exponent."""
    if amount >= _MIN_IN_CENTS:
        return f"${amount:.2f}"
    return f"${Decimal(f'{amount:.4g}'):f}"


_MIN_IN_CENTS = 100


def mistake_in(error: ValidationError, thing: str, known: Collection[str] = (), instead: Mapping[str, str] | None = None) -> str:
    """The message for the first problem of a value. A misspelt name comes first, because it may cause a missing field."""
    problems = error.errors(include_url=False, include_context=True)
    problem = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    where = _path_of(problem["loc"])
    if problem["type"] == "extra_forbidden":
        if len(problem["loc"]) > 1:
            return f"{thing}.{where}: there is no field {str(problem['loc'][-1])[:_MAX_SHOWN]!r}"
        return unknown(thing, "field", where, known, instead)
    if problem["type"] == "missing":
        return f"{thing} needs `{where}`"
    if problem["type"].startswith("union_tag"):
        return f"{thing}.{where}{_tag_problem(problem.get('ctx', {}))}"
    words = _SHORT.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
    given = problem.get("input")
    if problem["type"] in _REFUSES_TEXT and isinstance(given, str):
        words += ", not a text"
    if problem["type"] == "literal_error" and isinstance(given, str):
        choices = re.findall(r"'([^']+)'", words)
        near = nearest(given, choices, 0.5)
        words = f"{_must_be(words)}{f'; did you mean {near!r}?' if near else ''}"
    elif words.startswith("Input should be"):
        words = f"{_must_be(words)}{_instead_of(problem['type'], given)}"
    named = f"{thing}.{where}" if where else thing
    return f"{named} {words}" if words.startswith("must") else f"{named}: {words}"


_SHORT = {"string_too_short": "must not be empty", "too_short": "must not be empty"}
_REFUSES_TEXT = frozenset({"number", "switch", "thinking"})
"""The error types of `bounds` and others that refuse texts: `max_tokens="5"`."""


def _tag_problem(context: Mapping[str, object]) -> str:
    """What is wrong with the discriminator field of a union."""
    field, known = str(context.get("discriminator", "")).strip("'"), str(context.get("expected_tags", ""))
    if not known:
        return f" needs `{field}`, which says what it is"
    given = str(context.get("tag", ""))[:_MAX_SHOWN]
    near = nearest(given, re.findall(r"'([^']+)'", known))
    return f".{field} is {given!r}, and must be one of {known}{f'; did you mean {near!r}?' if near else ''}"


def _path_of(steps: tuple[int | str, ...]) -> str:
    """The path of a problem, without the branches of unions, which pydantic lists among the fields."""
    found: list[str] = []
    for at, step in enumerate(steps):
        if step in _TAGS and 0 < at < len(steps) - 1 and isinstance(steps[at - 1], int):
            continue
        if isinstance(step, str) and (not _PLAIN.fullmatch(step) or (found and step in _BRANCHES)):
            break
        found.append(str(step))
    return ".".join(found)


_TAGS = frozenset({"text", "image", "file", "audio", "tool_use", "tool_result", "thinking", "redacted_thinking", "provider"})
"""The types of blocks, which pydantic lists after the index of each."""
_BRANCHES = frozenset({"str", "int", "bool", "float", "dict", "list", "none"})


def _must_be(words: str) -> str:
    expected = words.removeprefix("Input should be ").removeprefix("a valid ").removeprefix("an instance of ")
    if expected.startswith("dictionary or instance of"):
        return "must be a dict of it, or one"
    for kind, plain in _PLAIN_NAMES.items():
        if expected == kind or expected.startswith(f"{kind},"):
            expected = plain
            break
    return f"must be {expected}"


def _instead_of(kind: str, given: object) -> str:
    """The type of the given value, if the type is what is wrong."""
    return f", not {type(given).__name__}" if kind.endswith(("_type", "_parsing")) else ""
