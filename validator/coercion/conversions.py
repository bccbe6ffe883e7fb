"""The table of value conversions. Each row has a target type, the least strictness that allows it, and its safety.

Each conversion is a pure function of one value. The schema then decides whether the result fits. The coercer itself changes
structure (lists, objects, keys).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, time
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

from llmcore.support.values.numbers import rounded, whole
from llmcore.types import CallerError, Safety
from llmcore.validator.coercion import scalars
from llmcore.validator.schema.keywords import json_key
from llmcore.validator.schema.problems import type_name

__all__ = ["CHOICE_MATCHERS", "CONVERSIONS", "FORMAT_CONVERSIONS", "Conversion", "Strictness", "check_strictness"]

Strictness = Literal["off", "safe", "lenient"]
"""How far values may be changed: `off` not at all, `safe` without loss, `lenient` also by likely guesses."""


def check_strictness(given: object) -> None:
    """Raises `CallerError` for an invalid strictness."""
    if given not in get_args(Strictness):
        raise CallerError(f'strictness must be "off", "safe" or "lenient", got {given!r}')


_OTHER_UUID = re.compile(r"[0-9a-fA-F]{32}|urn:uuid:[0-9a-fA-F-]{36}|\{[0-9a-fA-F-]{36}\}")
_DATE_LENGTH = 10
_LARGE = 1e15
_THIS_CENTURY = (978_307_200, 4_102_444_800)
"""The years 2001 to 2100, in seconds since 1970."""


class Conversion(NamedTuple):
    """One row. `convert` returns None if the row does not apply. Its result must still fit the schema."""

    kind: str
    strictness: Strictness
    safety: Safety
    convert: Callable[[Any], Any]


def _of_text(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda value: read(value) if isinstance(value, str) else None


def _integer(text: str) -> int | None:
    number = scalars.exact_number(text)
    return None if number is None else whole(number)


def _integer_in_prose(text: str) -> int | None:
    number = scalars.number_in_prose(text)
    return number if isinstance(number, int) else None


def _rounded(value: Any) -> int | None:
    """The nearest integer, halves away from zero, of a float or of a text that is a number."""
    number = scalars.exact_number(value) if isinstance(value, str) else value
    return rounded(number) if isinstance(number, float) and math.isfinite(number) else None


def _text_of(value: Any) -> str | None:
    if isinstance(value, bool) or (isinstance(value, (int, float)) and not _too_long(value)):
        return json.dumps(value)
    return None


def _with_hyphens(text: str) -> str | None:
    """A UUID written without hyphens, in braces or as a URN, in the standard form."""
    try:
        return str(UUID(text)) if _OTHER_UUID.fullmatch(text) else None
    except ValueError:  # misplaced hyphens
        return None


def _number_in(value: Any) -> int | float | None:
    """A number, or a text that is one; None if it is too large."""
    number = scalars.exact_number(value) if isinstance(value, str) else value
    return number if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < _LARGE else None


def _duration(value: Any) -> str | None:
    """A number of seconds as an ISO 8601 duration."""
    number = _number_in(value)
    digits = "" if number is None else repr(number)
    return None if number is None or "e" in digits else f"{'-' if number < 0 else ''}PT{digits.lstrip('-')}S"


def _date_of_midnight(text: str) -> str | None:
    try:
        moment = datetime.fromisoformat(text.strip()) if len(text) > _DATE_LENGTH else None
    except ValueError:
        return None
    return moment.date().isoformat() if moment is not None and moment.time() == time() else None


def _time_of_epoch(value: Any) -> str | None:
    """Seconds or milliseconds since 1970 as a timestamp in this century. A number such as 20260102 is none."""
    number = _number_in(value)
    for unit in (1, 1000):
        if number is not None and _THIS_CENTURY[0] <= number / unit < _THIS_CENTURY[1]:
            return datetime.fromtimestamp(number / unit, UTC).isoformat().replace("+00:00", "Z")
    return None


def _date_of_epoch(value: Any) -> str | None:
    """The date of seconds or milliseconds since 1970, if they are a midnight."""
    return _date_of_midnight(_time_of_epoch(value) or "")


def _too_long(number: float) -> bool:
    return isinstance(number, int) and number.bit_length() > 14_000  # about 4,200 digits: CPython refuses 4,300


CONVERSIONS: dict[str, tuple[Conversion, ...]] = {
    "integer": (
        Conversion("number_from_text", "safe", "coerced", _of_text(_integer)),
        Conversion("number_from_prose", "lenient", "guess", _of_text(_integer_in_prose)),
        Conversion("rounded", "lenient", "guess", _rounded),
    ),
    "number": (
        Conversion("number_from_text", "safe", "coerced", _of_text(scalars.exact_number)),
        Conversion("number_from_prose", "lenient", "guess", _of_text(scalars.number_in_prose)),
    ),
    "boolean": (
        Conversion("boolean_from_text", "safe", "coerced", _of_text(scalars.exact_boolean)),
        Conversion("boolean_from_word", "safe", "coerced", _of_text(scalars.boolean_word)),
        Conversion("boolean_from_prose", "lenient", "guess", _of_text(scalars.boolean_in_prose)),
    ),
    "string": (Conversion("text_from_scalar", "safe", "coerced", _text_of),),
}

FORMAT_CONVERSIONS: dict[str, tuple[Conversion, ...]] = {
    "uuid": (Conversion("uuid_hyphens", "safe", "coerced", _of_text(_with_hyphens)),),
    "duration": (Conversion("duration_from_seconds", "safe", "coerced", _duration),),
    "date": (
        Conversion("date_of_midnight", "safe", "coerced", _of_text(_date_of_midnight)),
        Conversion("date_from_epoch", "safe", "coerced", _date_of_epoch),
    ),
    "date-time": (Conversion("time_from_epoch", "safe", "coerced", _time_of_epoch),),
}
"""Conversions to strings of a `format`."""


def _same_text(value: Any, allowed: list[Any]) -> list[Any]:
    """The allowed values that equal `value`, apart from case, surrounding white space, and quotes around a number or boolean.

    If there is none, layout around the text does not count either.
    """
    text = _text_of(value) if not isinstance(value, str) else value
    if text is None:
        return []
    choices = [(choice, (_text_of(choice) or str(choice)).strip().casefold()) for choice in allowed]
    wanted = text.strip().casefold()
    return [choice for choice, spelled in choices if spelled == wanted] or [
        choice for choice, spelled in choices if spelled and spelled == scalars.without_layout(wanted)
    ]


def _choices_in_prose(value: Any, allowed: list[Any]) -> list[Any]:
    """The allowed values that a text names: strings as words, numbers and booleans as such."""
    if not isinstance(value, str):
        return []
    words = [choice for choice in allowed if isinstance(choice, str)]
    named: list[Any] = [scalars.choice_in_prose(value, words)] if words else []
    numbers = {type_name(choice) for choice in allowed} & {"integer", "number"}
    named += [scalars.number_in_prose(value)] if numbers else []
    named += [scalars.boolean_in_prose(value)] if any(isinstance(choice, bool) for choice in allowed) else []
    keys = {json_key(choice) for choice in allowed}
    return [choice for choice in named if choice is not None and json_key(choice) in keys]


CHOICE_MATCHERS: tuple[tuple[Strictness, Callable[[Any, list[Any]], list[Any]], Safety], ...] = (
    ("safe", _same_text, "coerced"),
    ("lenient", _choices_in_prose, "guess"),
)
