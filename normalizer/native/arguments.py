"""The arguments of a native call, from any value in the place of a JSON object.

Rules
- An object is used unchanged, unless it has a number that is not finite. Such an object is treated as its text would be.
- A string is read as JSON, and decoded once more if it holds a string.
- Several objects one after the other are several calls. Exact repetitions are one.
- Empty text is `{}`, unless a known tool requires a parameter.
- Unreadable arguments are None, never an invented `{}`.
- Text without its closers is complete if its last value shows its end and the reply ended by itself. Otherwise it was cut.
- If a length limit ended the reply, `{}` was cut, too: servers send it for a call whose arguments had not begun.

The work is linear in the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.normalizer.core.damage.windows_paths import with_paths
from llmcore.normalizer.native.shape import json_text
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
"""How a number that is not finite looks in JSON text. It may also be text in a string."""


@dataclass(slots=True)
class Arguments:
    """The arguments of one call. `value` is None if no object could be read. `raw` is their JSON text."""

    value: dict[str, Any] | None
    raw: str
    complete: bool = True
    repairs: list[Repair] = field(default_factory=list[Repair])


@dataclass(slots=True)
class Ending:
    """How the reply ended after a call.

    `by_itself`: there is a finish reason other than `length`. `at_call`: a length limit ended the reply, and nothing followed
    this call.
    """

    by_itself: bool
    at_call: bool


def is_without_arguments(tool: CompiledTool | None, whole: bool) -> Arguments:
    """The arguments of a call without text, or with blanks or `null`: `{}`, unless a known tool requires any.

    There is no repair, because servers send a call without arguments in all of these ways.
    """
    value: dict[str, Any] | None = {} if tool is None or not tool.required else None
    return Arguments(value if whole else None, "", whole)


def free_text_arguments(text: str, whole: bool) -> Arguments:
    """The text of a custom tool, which is not parsed."""
    value = {"input": text}
    return Arguments(value, json_text(value), whole)


def object_arguments(value: object, tool: CompiledTool | None, ending: Ending, limits: Limits) -> Arguments:
    """The arguments from a JSON value."""
    raw = json_text(value)
    if not is_object(value):
        return Arguments(None, raw)
    keys: Iterable[object] = value  # a caller's dict may have keys of any type
    if raw.count("{") + raw.count("[") > limits.depth or not all(type(key) is str for key in keys):
        reading = read_json(raw, limits=limits)  # read as text, which checks the depth and makes keys strings
        read = _objects(reading)
        return Arguments(read[0] if len(read) == 1 else None, raw, repairs=reading.repairs)
    if len(raw) > limits.arguments or (_MAY_BE_NO_NUMBER.search(raw) is not None and _holds_no_number(value)):
        return Arguments(None, raw)  # as its text: validation may find a type for the number as written
    cut = ending.at_call and (not value or (tool is not None and not tool.required <= value.keys()))
    return Arguments(copied(value), raw, not cut)


_MARKUP = lazy_regex(r"<[^<>]{0,64}>|`{3}\w*")
_WORD = lazy_regex(r"\w")


def _holds_no_number(value: object) -> bool:
    """Whether it has a number that is not finite: none of JSON's, or larger than any float."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if is_object(value):
        return any(map(_holds_no_number, value.values()))
    return is_list(value) and any(map(_holds_no_number, value))


def text_arguments(text: str, ending: Ending, limits: Limits) -> list[Arguments]:
    """The arguments from text. There are several if several objects stand one after the other."""
    reading = _read(text, ending, limits)
    decoded: list[Repair] = []
    if len(reading.values) == 1 and isinstance(inner := reading.values[0], str) and inner.lstrip()[:1] == "{":
        decoded = [Repair(kind="double_encoded", before=text, after=inner), *reading.repairs]
        text, reading = inner, _read(inner, ending, limits)
    if not reading.error and (rest := text[reading.end :].strip()):
        has_words = _WORD.search(_MARKUP.sub("", rest)) is not None  # words behind it may revoke it
        decoded.append(Repair(kind="trailing_text", before=rest, after="", safety="guess" if has_words else "lossless"))
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
    """Read it as complete. If closers are missing and its end is unclear, or if it may be cut, read it once more as cut."""
    reading = read_json(text, limits=limits)
    sound = reading.complete and not reading.repairs and not reading.error
    if sound or (ending.by_itself and (reading.error or _shows_its_end(reading))):
        return reading
    return read_json(text, limits=limits, cut=True)


def _shows_its_end(reading: JsonReading) -> bool:
    """Whether all brackets are closed, or only missing behind a last value that shows its end, without a guess."""
    if not reading.delimited:
        return False
    closers_missing = any(repair.kind == "missing_closer" for repair in reading.repairs)
    return not closers_missing or all(repair.safety == "lossless" for repair in reading.repairs)


def _objects(reading: JsonReading) -> list[dict[str, Any]]:
    if reading.error:
        return []
    return [cast("dict[str, Any]", value) for value in reading.values if isinstance(value, dict)]


def _split(found: list[dict[str, Any]], text: str, whole: bool, repairs: list[Repair]) -> list[Arguments]:
    """Separate calls for concatenated objects, each once. Only the last one can be cut."""
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
