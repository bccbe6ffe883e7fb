"""The arguments of a native call, from whatever stands where a JSON object was promised.

Rules: an object is taken as it is, unless a number in it is not finite: then it is what its text would be; a string
is read as JSON, decoded once more when it holds a string; several objects written one after the other are several
calls, exact repeats collapse; nothing written is `{}` only where no tool that is known requires a parameter. What
cannot be read is None, never an invented `{}`. Text that lacks only closers is whole when its last value is delimited
and the reply ended by itself; otherwise it was cut. So was `{}` where the reply ended for want of room:
servers write it for a call whose arguments had not begun. Linear in the text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.normalizer.core.damage.windows_paths import with_paths
from llmcore.normalizer.native.shape import as_json_text
from llmcore.normalizer.notations.json import JsonReading, read_json
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.copies import copied
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool

__all__ = ["Arguments", "Ending", "free_text_arguments", "is_without_arguments", "object_arguments", "text_arguments"]

_MAY_BE_NO_NUMBER = lazy_regex(r"Infinity|NaN|[eE](?<=[0-9][eE])[+0-9]")
"""In JSON text, what a number that is not finite looks like; it may as well stand in a string."""


@dataclass(slots=True)
class Arguments:
    """`value` None: no object could be read. `raw` is the JSON text it was read from."""

    value: dict[str, Any] | None
    raw: str
    complete: bool = True
    repairs: list[Repair] = field(default_factory=list[Repair])


@dataclass(slots=True)
class Ending:
    """How the reply ended after a call. `by_itself`: a finish reason came and it is not `length`. `at_call`: it ended
    for want of room and nothing came after this call."""

    by_itself: bool
    at_call: bool


def is_without_arguments(tool: CompiledTool | None, whole: bool) -> Arguments:
    """Nothing was written (no text, blanks or `null`): `{}` unless a known tool requires something. No repair tells of it, for
    servers write a call without arguments in all of these ways."""
    value: dict[str, Any] | None = {} if tool is None or not tool.required else None
    return Arguments(value if whole else None, "", whole)


def free_text_arguments(text: str, whole: bool) -> Arguments:
    """A custom tool's text, never parsed."""
    value = {"input": text}
    return Arguments(value, as_json_text(value), whole)


def object_arguments(value: object, tool: CompiledTool | None, ending: Ending, limits: Limits) -> Arguments:
    """Arguments that came as a JSON value."""
    raw = as_json_text(value)
    if not is_object(value):
        return Arguments(None, raw)
    keys: Iterable[object] = value  # a caller's own dict may have keys of any kind
    if raw.count("{") + raw.count("[") > limits.depth or not all(type(key) is str for key in keys):
        reading = read_json(raw, limits=limits)  # as its text would be: it judges depth, and keys become strings
        read = _objects(reading)
        return Arguments(read[0] if len(read) == 1 else None, raw, repairs=reading.repairs)
    if len(raw) > limits.arguments or (_MAY_BE_NO_NUMBER.search(raw) is not None and _holds_no_number(value)):
        return Arguments(None, raw)  # as its text would be: whoever validates may find a type that takes the number as written
    cut = ending.at_call and (not value or (tool is not None and not tool.required <= value.keys()))
    return Arguments(copied(value), raw, not cut)


_MARKUP = lazy_regex(r"<[^<>]{0,64}>|`{3}\w*")
_WORD = lazy_regex(r"\w")


def _holds_no_number(value: object) -> bool:
    """Does it hold a number that is not finite: none of JSON's, or one beyond every float?"""
    if isinstance(value, float):
        return not math.isfinite(value)
    if is_object(value):
        return any(map(_holds_no_number, value.values()))
    return is_list(value) and any(map(_holds_no_number, value))


def text_arguments(text: str, ending: Ending, limits: Limits) -> list[Arguments]:
    """Arguments that came as text; more than one when several objects were written one after the other."""
    reading = _read(text, ending, limits)
    decoded: list[Repair] = []
    if len(reading.values) == 1 and isinstance(inner := reading.values[0], str) and inner.lstrip()[:1] == "{":
        decoded = [Repair(kind="double_encoded", before=text, after=inner), *reading.repairs]
        text, reading = inner, _read(inner, ending, limits)
    if not reading.error and (rest := text[reading.end :].strip()):
        said = _WORD.search(_MARKUP.sub("", rest)) is not None  # words behind it may take it back
        decoded.append(Repair(kind="trailing_text", before=rest, after="", safety="guess" if said else "lossless"))
    found = _objects(reading)
    repairs = [*decoded, *reading.repairs]
    if not found or len(found) != len(reading.values):
        return [Arguments(None, text, reading.complete, repairs)]
    if len(found) == 1:
        cut = ending.at_call and not found[0]
        value, paths = with_paths(found[0], text)
        return [Arguments(value, text, reading.complete and not cut, [*repairs, *paths])]
    return _split(found, text, reading.complete, repairs)


def _read(text: str, ending: Ending, limits: Limits) -> JsonReading:
    """Read it as whole; what lacks closers without showing its end, or may have been cut, once more as cut."""
    reading = read_json(text, limits=limits)
    sound = reading.complete and not reading.repairs and not reading.error
    if sound or (ending.by_itself and (reading.error or _shows_its_end(reading))):
        return reading
    return read_json(text, limits=limits, cut=True)


def _shows_its_end(reading: JsonReading) -> bool:
    """All brackets closed, or missing after a last value that shows where it ends, without a guess at it."""
    if not reading.delimited:
        return False
    closers_missing = any(repair.kind == "missing_closer" for repair in reading.repairs)
    return not closers_missing or all(repair.safety == "lossless" for repair in reading.repairs)


def _objects(reading: JsonReading) -> list[dict[str, Any]]:
    if reading.error:
        return []
    return [cast("dict[str, Any]", value) for value in reading.values if isinstance(value, dict)]


def _split(found: list[dict[str, Any]], text: str, whole: bool, repairs: list[Repair]) -> list[Arguments]:
    """Concatenated objects: separate calls, each once. Only the last can have been cut."""
    calls: dict[str, Arguments] = {}
    repeats = 0
    for value in found:
        raw = as_json(value)
        repeats += raw in calls
        calls.setdefault(raw, Arguments(value, raw, repairs=list(repairs)))
    read = list(calls.values())
    read[-1].complete = whole
    if repeats:
        read[0].repairs.append(Repair(kind="repeated_arguments", before=text, after=read[0].value))
    if len(read) > 1:
        for call in read:
            call.repairs.append(Repair(kind="concatenated_arguments", before=text, after=call.value))
    else:
        read[0].raw = text
    return read
