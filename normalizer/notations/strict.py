"""Strict JSON: C parsers read valid JSON, which is never repaired.

The parser is `pydantic_core`, or the json module if a value begins in the middle of a text. One walk then finds what both
accept: infinite floats, too deep nesting, too long integers, duplicate keys. Both read fractions as floats. If a text may hold
a number that a float rounds, it is parsed once more to record that. The work is linear, and no text makes it raise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, NoReturn, cast

from pydantic_core import from_json

from llmcore.normalizer.notations.refusals import ARGUMENTS_LIMIT, DEPTH_LIMIT, DIGITS_LIMIT, UNREADABLE, clipped, too_long
from llmcore.support.values.numbers import is_rounded, may_be_rounded
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "UNSOUND",
    "Audit",
    "Strict",
    "audited",
    "parsed_strictly",
    "rounded_number",
    "sound_container",
    "sound_object",
    "sound_object_at",
    "strict_at",
]

UNSOUND: Final = (ValueError, TypeError, RecursionError)
"""The exceptions of `parsed_strictly` for a text that is no JSON."""


def parsed_strictly(text: str) -> Any:
    """The value of the whole text, before the audit."""
    return from_json(text, allow_inf_nan=False, cache_strings="keys")


def sound_container(text: str, limits: Limits = DEFAULT_LIMITS, inside: int = 0) -> dict[str, Any] | list[Any] | None:
    """The object or array that is the whole text. None if it is invalid, exceeds a limit, or has duplicate keys.

    `inside` is the number of brackets around it, which count as nesting.
    """
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]") or len(text) > limits.arguments:
        return None
    try:
        value: dict[str, Any] | list[Any] = parsed_strictly(text)
    except UNSOUND:
        return None
    sound: dict[str, Any] | list[Any] | None = _audited_sound(value, text, 0, len(text), limits, inside)
    return sound


def _audited_sound(value: Any, text: str, start: int, end: int, limits: Limits, inside: int) -> Any:
    """The value, or None if it is not sound."""
    keys, has_floats, error = _walked(value, limits, end - start, inside)
    if not error and not (has_floats and may_be_rounded(text, start, end)) and _have_no_duplicate(keys, text, start, end):
        return value
    audit = audited(value, text, start, end, limits, inside)
    return None if audit.error or audit.repairs else audit.value


def sound_object(text: str, limits: Limits = DEFAULT_LIMITS, inside: int = 0) -> dict[str, Any] | None:
    """As `sound_container`, for an object."""
    value = sound_container(text, limits, inside) if text.startswith("{") else None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def sound_object_at(text: str, start: int, limits: Limits, inside: int = 0) -> tuple[dict[str, Any], int] | None:
    """As `sound_object`, for the object that begins at `start`. Also returns where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (*UNSOUND, IndexError):
        return None
    if type(value) is not dict or end - start > limits.arguments:
        return None
    found = _audited_sound(value, text, start, end, limits, inside)
    return None if found is None else (found, end)


class Strict(NamedTuple):
    value: Any
    end: int
    repairs: list[Repair]
    error: str | None


def strict_at(text: str, start: int, limits: Limits) -> Strict | None:
    """The valid JSON value at `start`, or the limit that it exceeds. None if it is invalid."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        return Strict(None, start, [], DEPTH_LIMIT)
    except (ValueError, IndexError):
        return None
    if end - start > limits.arguments:
        return Strict(None, start, [], ARGUMENTS_LIMIT)
    audit = audited(value, text, start, end, limits)
    return Strict(audit.value, start if audit.error else end, audit.repairs, audit.error)


class Audit(NamedTuple):
    """The value, the limit that it exceeds, and repairs for duplicate keys and rounded numbers."""

    value: Any
    error: str | None
    repairs: list[Repair]


def audited(value: Any, text: str, start: int, end: int, limits: Limits, inside: int = 0) -> Audit:
    """Check for infinite floats, too deep nesting, too long integers, duplicate keys and rounded numbers."""
    keys, has_floats, error = _walked(value, limits, end - start, inside)
    if error:
        return Audit(None, error, [])
    repairs: list[Repair] = []
    if has_floats and may_be_rounded(text, start, end):
        if _is_infinite(value):
            return Audit(None, UNREADABLE, [])
        repairs = _rounded(text[start:end])
    return Audit(
        value, None, repairs if _have_no_duplicate(keys, text, start, end) else [*_duplicates(text[start:end]), *repairs]
    )


def _rounded(text: str) -> list[Repair]:
    """The numbers that their floats round, each once."""
    found: dict[str, Repair] = {}

    def note(literal: str) -> float:
        value = float(literal)
        if literal not in found and is_rounded(literal, value):
            found[literal] = rounded_number(literal, value)
        return value

    json.loads(text, parse_float=note)
    return list(found.values())


def rounded_number(literal: str, value: float) -> Repair:
    """The repair of a number with more digits than a float has. The raw text keeps all digits."""
    return Repair(kind="rounded_number", before=clipped(literal), after=value, safety="coerced")


def _walked(value: Any, limits: Limits, length: int, inside: int) -> tuple[int, bool, str]:
    """(number of keys, whether there are floats, the exceeded limit or "") of the value.

    `length` is the length of its text. `inside` is the number of brackets around it.
    """
    keys, may_be_long = 0, length > limits.digits
    has_floats = False
    containers: list[Iterable[Any]] = [(value,)]
    for items in containers:  # grows during the loop
        for item in items:
            kind: object = type(item)  # pyright: ignore[reportUnknownVariableType]  # of anything
            if kind is str or (kind is int and not may_be_long):  # the usual case
                continue
            if kind is dict:
                keys += len(item)
                containers.append(item.values())
            elif kind is list:
                containers.append(item)
            elif kind is float:
                has_floats = True
            elif kind is int and too_long(item, limits.digits):
                return keys, False, DIGITS_LIMIT
    most = max(limits.depth - inside, 0)
    deep = len(containers) > most and _depth(value) > most
    return keys, has_floats, DEPTH_LIMIT if deep else ""


def _is_infinite(value: Any) -> bool:
    """Whether the value has an infinite float."""
    waiting: list[Any] = [value]
    for item in waiting:  # grows during the loop
        if item.__class__ is float:
            if math.isinf(item):
                return True
        elif item.__class__ is dict or item.__class__ is list:
            waiting += _items(item)
    return False


def _have_no_duplicate(keys: int, text: str, start: int, end: int) -> bool:
    """Whether certainly no key is a duplicate, by a count of the colons."""
    return not keys or keys == text.count('":', start, end) or keys == text.count(":", start, end)


def _items(container: Any) -> Iterable[Any]:
    return cast("dict[str, Any]", container).values() if type(container) is dict else container


def _depth(value: Any) -> int:
    """How deep brackets are nested. It goes level by level and does not recurse."""
    depth = 0
    level: list[Any] = [value]
    while True:
        open_ones: list[Any] = [item for item in level if type(item) in (dict, list)]
        if not open_ones:
            return depth
        depth += 1
        level = [inner for item in open_ones for inner in _items(item)]


def duplicate(path: str, before: Any, after: Any) -> Repair:
    """The repair of a duplicate key, whose last value wins. It is a guess unless both values are equal."""
    same = type(before) is type(after) and before == after
    return Repair(
        kind="duplicate_key", path=path, before=clipped(before), after=clipped(after), safety="lossless" if same else "guess"
    )


def _duplicates(text: str) -> list[Repair]:
    """The repairs of all duplicate keys. The last value wins, as in any parser."""
    found: list[Repair] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        kept = dict(pairs)
        if len(kept) < len(pairs):
            seen: dict[str, Any] = {}
            for key, value in pairs:
                if key in seen:
                    found.append(duplicate(clipped(key), seen[key], value))
                seen[key] = value
        return kept

    json.loads(text, object_pairs_hook=members)
    return found
