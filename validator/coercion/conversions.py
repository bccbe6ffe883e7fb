"""The table of value conversions: from which value to which type, at which strictness, and how far it can be trusted.

Pure functions of one value; whether the result fits is asked of the schema afterwards. Shapes (lists, objects, keys) are the
coercer's own.
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

__all__ = ["CONVERSIONS", "OF_FORMATS", "WAYS_TO_MEAN", "Conversion", "Strictness", "check_strictness"]

Strictness = Literal["off", "safe", "lenient"]
"""How far values may be changed: `off` not at all, `safe` where nothing is lost, `lenient` where it is likely."""


def check_strictness(given: object) -> None:
    """Raises `CallerError` for what is none."""
    if given not in get_args(Strictness):
        raise CallerError(f'strictness must be "off", "safe" or "lenient", got {given!r}')


_OTHER_UUID = re.compile(r"[0-9a-fA-F]{32}|urn:uuid:[0-9a-fA-F-]{36}|\{[0-9a-fA-F-]{36}\}")
_CHARS_OF_A_DATE = 10
_LARGE = 1e15
_THIS_CENTURY = (978_307_200, 4_102_444_800)
"""The seconds from 1970 to 2001, and to 2100."""


class Conversion(NamedTuple):
    """`convert` answers None when the row does not apply; the result must still fit the schema."""

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
    """The nearest integer, halves away from zero; of a number or of a text that is one."""
    number = scalars.exact_number(value) if isinstance(value, str) else value
    return rounded(number) if isinstance(number, float) and math.isfinite(number) else None


def _text_of(value: Any) -> str | None:
    if isinstance(value, bool) or (isinstance(value, (int, float)) and not _too_long(value)):
        return json.dumps(value)
    return None


def _with_hyphens(text: str) -> str | None:
    """A UUID that is written without its hyphens, in braces or as a URN, as Python and pydantic read it."""
    try:
        return str(UUID(text)) if _OTHER_UUID.fullmatch(text) else None
    except ValueError:  # its hyphens stand elsewhere
        return None


def _number_in(value: Any) -> int | float | None:
    """A finite number, or a text that is one."""
    number = scalars.exact_number(value) if isinstance(value, str) else value
    return number if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < _LARGE else None


def _duration(value: Any) -> str | None:
    """A number of seconds as ISO 8601 has it."""
    number = _number_in(value)
    digits = "" if number is None else repr(number)
    return None if number is None or "e" in digits else f"{'-' if number < 0 else ''}PT{digits.lstrip('-')}S"


def _date_of_midnight(text: str) -> str | None:
    """The date of a time that says no more than that."""
    try:
        moment = datetime.fromisoformat(text.strip()) if len(text) > _CHARS_OF_A_DATE else None
    except ValueError:
        return None
    return moment.date().isoformat() if moment is not None and moment.time() == time() else None


def _time_of_epoch(value: Any) -> str | None:
    """Seconds or milliseconds since 1970, of a time in this century: a number such as 20260102 is no such time."""
    number = _number_in(value)
    for unit in (1, 1000):
        if number is not None and _THIS_CENTURY[0] <= number / unit < _THIS_CENTURY[1]:
            return datetime.fromtimestamp(number / unit, UTC).isoformat().replace("+00:00", "Z")
    return None


def _date_of_epoch(value: Any) -> str | None:
    """As `_time_of_epoch`, of a midnight."""
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
        Conversion("boolean_from_prose", "lenient", "guess", _of_text(scalars.truth_in_prose)),
    ),
    "string": (Conversion("text_from_scalar", "safe", "coerced", _text_of),),
}

OF_FORMATS: dict[str, tuple[Conversion, ...]] = {
    "uuid": (Conversion("uuid_hyphens", "safe", "coerced", _of_text(_with_hyphens)),),
    "duration": (Conversion("duration_from_seconds", "safe", "coerced", _duration),),
    "date": (
        Conversion("date_of_midnight", "safe", "coerced", _of_text(_date_of_midnight)),
        Conversion("date_from_epoch", "safe", "coerced", _date_of_epoch),
    ),
    "date-time": (Conversion("time_from_epoch", "safe", "coerced", _time_of_epoch),),
}
"""What becomes a text of a format."""


def _same_text(value: Any, allowed: list[Any]) -> list[Any]:
    """The allowed values that are `value` but for case, white space around it, or being a number or boolean in
    quotes."""
    text = _text_of(value) if not isinstance(value, str) else value
    if text is None:
        return []
    wanted = text.strip().casefold()
    return [choice for choice in allowed if (_text_of(choice) or str(choice)).strip().casefold() == wanted]


def _in_prose(value: Any, allowed: list[Any]) -> list[Any]:
    """The allowed values that a text names: strings as words, numbers and booleans as such."""
    if not isinstance(value, str):
        return []
    words = [choice for choice in allowed if isinstance(choice, str)]
    named: list[Any] = [scalars.choice_in_prose(value, words)] if words else []
    numbers = {type_name(choice) for choice in allowed} & {"integer", "number"}
    named += [scalars.number_in_prose(value)] if numbers else []
    named += [scalars.truth_in_prose(value)] if any(isinstance(choice, bool) for choice in allowed) else []
    keys = {json_key(choice) for choice in allowed}
    return [choice for choice in named if choice is not None and json_key(choice) in keys]


WAYS_TO_MEAN: tuple[tuple[Strictness, Callable[[Any, list[Any]], list[Any]], Safety], ...] = (
    ("safe", _same_text, "coerced"),
    ("lenient", _in_prose, "guess"),
)
