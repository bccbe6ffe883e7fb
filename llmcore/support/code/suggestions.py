"""How a caller's mistake is told: the thing, what fits there, and the nearest name. Here once, for every option there is.

A value is never quoted but a short number or text that is named as wrong; of pydantic's findings only the kind is told, for
settings may hold secrets.
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
_ALIKE = 0.85  # of two names one of which is a slip of the other
_NEARLY_THE_SAME = 0.9
_SHORTEST_EXCHANGED, _SHORTEST_CHANGED = 5, 6  # letters of a name; `books` are no `hooks`
_PLAIN = re.compile(r"\w+")
_A = {
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
    """The known name that is most alike, if one is alike enough."""
    from difflib import get_close_matches  # only here: mistakes are seldom

    return next(iter(get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def hint(name: str, known: Iterable[str], instead: Mapping[str, str] | None = None) -> str:
    """Where to look: what is said `instead` of a well-known name, the nearest known one, or all of them."""
    if instead and name in instead:
        return instead[name]
    names = list(known)
    if instead and (slip := misspelled(name, instead)) is not None and misspelled(name, names) is None:
        return f"did you mean {slip!r}? {instead[slip]}"
    if (near := nearest(name, names)) is not None:
        return f"did you mean {near!r}?"
    return f"there are {', '.join(names)}" if names else "there is none"


def meant(name: str, known: Collection[str]) -> str | None:
    """The known name that a public name is, or misspells; None for one of its own."""
    if name in known or name.startswith("_"):
        return name if name in known else None
    return nearest(name, known, _ALIKE)


def misspelled(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one, which is another, was surely meant to be: nearly the same, or two neighbouring letters are
    exchanged, or one is another. Stricter than `meant`, for names that somebody else may give to things of his own."""
    names = list(known)
    near = nearest(name, names, _NEARLY_THE_SAME)
    return near or next((one for one in names if _is_one_slip(name, one)), None)


def _is_one_slip(word: str, other: str) -> bool:
    differ = [at for at, letter in enumerate(word) if letter != other[at]] if len(word) == len(other) else []
    if len(differ) == 2 and len(word) >= _SHORTEST_EXCHANGED:
        first, second = differ
        return second == first + 1 and (word[first], word[second]) == (other[second], other[first])
    return len(differ) == 1 and len(word) >= _SHORTEST_CHANGED


def unknown(thing: str, what: str, name: str, known: Iterable[str], instead: Mapping[str, str] | None = None) -> str:
    """`Budget has no field 'token'; did you mean 'tokens'?`"""
    return f"{thing} has no {what} {name!r}; {hint(name, known, instead)}"


def describe_value(value: object) -> str:
    """A number or a short text as it is, of a class its name, of a function how it is called, of anything else its type."""
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
    """To the cent, and small amounts to four digits: never in powers of ten."""
    if amount >= _TO_THE_CENT:
        return f"${amount:.2f}"
    return f"${Decimal(f'{amount:.4g}'):f}"


_TO_THE_CENT = 100


def mistake_in(error: ValidationError, thing: str, known: Collection[str] = (), instead: Mapping[str, str] | None = None) -> str:
    """The first thing that is wrong with a value; a misspelt name before all else, for what it was to set lacks then, too."""
    problems = error.errors(include_url=False, include_context=True)
    problem = min(problems, key=lambda one: one["type"] != "extra_forbidden")
    where = _where(problem["loc"])
    if problem["type"] == "extra_forbidden":
        if len(problem["loc"]) > 1:
            return f"{thing}.{where}: there is no field {str(problem['loc'][-1])[:_MAX_SHOWN]!r}"
        return unknown(thing, "field", where, known, instead)
    if problem["type"] == "missing":
        return f"{thing} needs `{where}`"
    if problem["type"].startswith("union_tag"):
        return f"{thing}.{where}{_tag_of(problem.get('ctx', {}))}"
    words = _SHORT.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
    given = problem.get("input")
    if problem["type"] in _TOLD_OF_TEXTS and isinstance(given, str):
        words += ", not a text"
    if problem["type"] == "literal_error" and isinstance(given, str):
        choices = re.findall(r"'([^']+)'", words)
        near = nearest(given, choices, 0.5)
        words = f"{_must_be(words)}{f'; did you mean {near!r}?' if near else ''}"
    elif words.startswith("Input should be"):
        words = f"{_must_be(words)}{_but(problem['type'], given)}"
    named = f"{thing}.{where}" if where else thing
    return f"{named} {words}" if words.startswith("must") else f"{named}: {words}"


_SHORT = {"string_too_short": "must not be empty", "too_short": "must not be empty"}
_TOLD_OF_TEXTS = frozenset({"number", "switch", "thinking"})
"""What `bounds` and others refuse: `max_tokens="5"`."""


def _tag_of(context: Mapping[str, object]) -> str:
    """What is wrong with the field by which one of several types is told."""
    field, known = str(context.get("discriminator", "")).strip("'"), str(context.get("expected_tags", ""))
    if not known:
        return f" needs `{field}`, which says what it is"
    given = str(context.get("tag", ""))[:_MAX_SHOWN]
    near = nearest(given, re.findall(r"'([^']+)'", known))
    return f".{field} is {given!r}, and must be one of {known}{f'; did you mean {near!r}?' if near else ''}"


def _where(steps: tuple[int | str, ...]) -> str:
    """The path to it, without the branches of unions that pydantic tells beside the fields."""
    found: list[str] = []
    for at, step in enumerate(steps):
        if step in _TAGS and 0 < at < len(steps) - 1 and isinstance(steps[at - 1], int):
            continue
        if isinstance(step, str) and (not _PLAIN.fullmatch(step) or (found and step in _BRANCHES)):
            break
        found.append(str(step))
    return ".".join(found)


_TAGS = frozenset({"text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking", "provider"})
"""Types of blocks, which pydantic tells behind the number of each."""
_BRANCHES = frozenset({"str", "int", "bool", "float", "dict", "list", "none"})


def _must_be(words: str) -> str:
    said = words.removeprefix("Input should be ").removeprefix("a valid ").removeprefix("an instance of ")
    if said.startswith("dictionary or instance of"):
        return "must be a dict of it, or one"
    for kind, plain in _A.items():
        if said == kind or said.startswith(f"{kind},"):
            said = plain
            break
    return f"must be {said}"


def _but(kind: str, given: object) -> str:
    """What was given, where its type says what is wrong."""
    return f", not {type(given).__name__}" if kind.endswith(("_type", "_parsing")) else ""
