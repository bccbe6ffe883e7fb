"""Types for text values (XML parameters, key/value pairs, positional arguments), by the tool's schema.

The first type that converts wins, in the order null, integer, number, boolean, object, array, string. If no type converts, the
value stays text, and the validator reports it. The work is linear, and no text makes it raise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, cast

from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.notations.relaxed.lexemes import ABSENT, json_number, loose_number
from llmcore.normalizer.notations.relaxed.state import Stop
from llmcore.normalizer.notations.strict import rounded_number, sound_container
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.numbers import is_rounded
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import CompiledTool

__all__ = ["positional_arguments", "typed_by", "typed_value"]

_BOOLEANS: Final = {"true": True, "True": True, "false": False, "False": False}
_CONTAINER_STARTS: Final = {"object": ("{", '"', "`"), "array": ("[", "(", "{", '"', "`")}

_ZERO_LED: Final = lazy_regex(r"-?0[0-9]{1,64}")

_Converted = tuple[Any, list[Repair]]


def typed_value(text: str, tool: CompiledTool | None, key: str, *, limits: Limits = DEFAULT_LIMITS) -> tuple[Any, list[Repair]]:
    """The value of `text` for property `key` of `tool`, and the repairs. The text itself if the schema has no type."""
    if tool is None:
        return text, []
    return typed_by(text, tool.types(key), path=key, limits=limits)


def typed_by(text: str, types: tuple[str, ...], *, path: str = "", limits: Limits = DEFAULT_LIMITS) -> tuple[Any, list[Repair]]:
    """The value of `text` as one of these JSON types, and the repairs of its JSON, with `path` before their paths.

    A string schema keeps the text verbatim. For other types, white space around the value is layout. The word `null` is None;
    if no string is allowed, so is `None`. If a string is allowed, only an exact value becomes another type.
    """
    if not types or types[0] == "string":
        return text, []
    stripped = text.strip()
    for kind in types:
        converted = _CONVERTERS[kind](stripped, types, limits) if kind in _CONVERTERS else None
        if converted is not None:
            value, repairs = converted
            return value, [_below(path, repair) for repair in repairs] if repairs else repairs
    return text, []


def positional_arguments(values: Sequence[Any], tool: CompiledTool | None, given: Collection[str] = ()) -> dict[str, Any] | None:
    """Positional arguments by the names of the schema's properties, in order.

    None if there is no tool, if there are more values than properties, or if a name is already `given` by keyword.
    """
    names = list(tool.properties) if tool is not None else []
    if len(values) > len(names) or any(name in given for name in names[: len(values)]):
        return None
    return dict(zip(names, values, strict=False))


def _below(path: str, repair: Repair) -> Repair:
    joint = "." if path and repair.path and not repair.path.startswith("[") else ""
    return repair.model_copy(update={"path": path + joint + repair.path}) if path else repair


def _null(text: str, types: tuple[str, ...], limits: Limits) -> _Converted | None:
    return (None, []) if text == "null" or (text == "None" and "string" not in types) else None


def _integer(text: str, types: tuple[str, ...], limits: Limits) -> _Converted | None:
    converted = _number(text, types, limits)
    return converted if converted is not None and isinstance(converted[0], int) else None


def _number(text: str, types: tuple[str, ...], limits: Limits) -> _Converted | None:
    if not text or text[0] not in "-.0123456789":
        return None
    try:
        value = json_number(text, limits.digits)
        if value is not ABSENT:
            if not isinstance(value, float) or not is_rounded(text, value):
                return value, []
            return None if "string" in types else (value, [rounded_number(text, value)])
        value = ABSENT if "string" in types else loose_number(text, limits.digits)
        if value is ABSENT and "string" not in types and _ZERO_LED.fullmatch(text) and len(text) <= limits.digits:
            return int(text), [Repair(kind="leading_zero", before=text, after=int(text), safety="coerced")]
    except (Stop, ValueError):  # ValueError: CPython's limit of digits
        return None
    return None if value is ABSENT else (value, [Repair(kind="number_notation", before=text, after=value)])


def _boolean(text: str, types: tuple[str, ...], limits: Limits) -> _Converted | None:
    return (_BOOLEANS[text], []) if text in _BOOLEANS else None


def _object(text: str, types: tuple[str, ...], limits: Limits) -> _Converted | None:
    return _container(text, types, limits, "object", dict)


def _array(text: str, types: tuple[str, ...], limits: Limits) -> _Converted | None:
    return _container(text, types, limits, "array", list)


def _container(text: str, types: tuple[str, ...], limits: Limits, kind: str, wanted: type) -> _Converted | None:
    """A JSON or Python container that is the whole text, or a JSON string of one. None if it is neither."""
    if not text.startswith(_CONTAINER_STARTS[kind]):
        return None
    sound = sound_container(text, limits)
    if isinstance(sound, wanted):
        return sound, []
    repairs: list[Repair] = []
    value: Any = text
    for _ in range(2):
        reading = read_json(cast("str", value), limits=limits)
        if len(reading.values) != 1 or not reading.complete or value[reading.end :].strip():
            return None
        value = reading.values[0]
        repairs += reading.repairs
        if not isinstance(value, str):
            break
        repairs.append(Repair(kind="double_encoded"))
    if not isinstance(value, wanted):
        return None
    if "string" in types and any(repair.safety != "lossless" for repair in repairs):
        return None
    return value, repairs


_CONVERTERS: Final[dict[str, Callable[[str, tuple[str, ...], Limits], _Converted | None]]] = {
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": _object,
    "array": _array,
    "string": lambda text, types, limits: None,
}
