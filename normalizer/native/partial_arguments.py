"""Arguments that arrive in parts, each with its place, as `{"jsonPath": "$.stops[0].city", "stringValue": "Os"}`.

A string continues while its parts have `willContinue`. A part may contradict earlier ones: its place is closed, its index
leaves a gap, or it has a key in a list. Then all arguments are unreadable, and `value` is the list of the parts, which is no
object. The work is linear in the parts.
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.normalizer.native.shape import text_or_empty
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["PartialArguments", "twin"]

_STEP = lazy_regex(
    r"""\.?(?P<name>[^.\[\]]+)|\[(?P<index>\d{1,6})\]|\[(?P<mark>["'])(?P<quoted>(?:\\.|(?!(?P=mark)).)*)(?P=mark)\]"""
)
_ESCAPED = lazy_regex(r"\\(.)")
_VALUES = (("stringValue", "string_value"), ("numberValue", "number_value"), ("boolValue", "bool_value"))
_NOTHING = object()

_Steps = list[str | int]


def twin(holder: dict[str, Any], camel: str, snake: str) -> Any:
    """The value of a Google key, which an SDK may write in snake_case."""
    value = holder.get(camel)
    return holder.get(snake) if value is None else value


class PartialArguments:
    """Assembles one call's arguments. `given` is the object that some of them arrived in."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._root: dict[str, Any] = copied(given)
        self._parts: list[dict[str, Any]] = []
        self._strings: dict[str, tuple[Any, str | int, list[str]]] = {}
        self._readable = True

    @property
    def goes_on(self) -> bool:
        """Whether the last part of a string is missing."""
        return any(isinstance(holder[key], str) for holder, key, _ in self._strings.values())

    @property
    def value(self) -> object:
        """The arguments so far."""
        if not self._readable:
            return self._parts
        for path in [*self._strings]:
            self._close(path)
        return self._root

    def add(self, part: dict[str, Any]) -> None:
        self._parts.append(part)
        self._readable = self._readable and self._takes(part)

    def _takes(self, part: dict[str, Any]) -> bool:
        path = text_or_empty(twin(part, "jsonPath", "json_path"))
        value, goes_on = _value(part), twin(part, "willContinue", "will_continue") is True
        if (begun := self._strings.get(path)) is not None:
            if value is not _NOTHING and not isinstance(value, str):
                return False
            begun[2].append(value if isinstance(value, str) else "")
        elif value is _NOTHING and not goes_on:
            return False
        else:
            place = self._place(path, "" if value is _NOTHING else value)
            if place is None:
                return False
            if goes_on:
                self._strings[path] = (*place, [value] if isinstance(value, str) else [])
        if not goes_on and begun is not None:
            self._close(path)
        return True

    def _close(self, path: str) -> None:
        holder, key, pieces = self._strings.pop(path)
        if pieces:
            holder[key] = "".join(pieces)

    def _place(self, path: str, value: object) -> tuple[Any, str | int] | None:
        """Put the value at its place, and return the place. None if the place is not a new one."""
        steps = _steps(path)
        if not steps:
            return None
        holder: Any = self._root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            held = _value_at(holder, step)
            if held is _NOTHING or (following is None and held is not None):
                return None
            if held is None:
                _set(holder, step, value if following is None else [] if isinstance(following, int) else {})
            holder = holder if following is None else holder[step]
        return holder, steps[-1]


def _value_at(holder: object, step: str | int) -> object:
    """The value at a step, in a list of one. None if the next value goes there, _NOTHING if no value can."""
    if isinstance(step, str) and is_object(holder):
        return [holder[step]] if step in holder else None
    if isinstance(step, int) and is_list(holder) and step <= len(holder):
        return [holder[step]] if step < len(holder) else None
    return _NOTHING


def _set(holder: Any, step: str | int, value: object) -> None:
    if isinstance(step, int):
        cast("list[object]", holder).append(value)
    else:
        holder[step] = value


def _steps(path: str) -> _Steps:
    """The keys and indexes of a path; [] if it is invalid."""
    at, steps = 1 if path[:1] == "$" else 0, _Steps()
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return []
        name, index, quoted = match["name"], match["index"], match["quoted"]
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if name is not None else _ESCAPED.sub(r"\1", quoted))
        at = match.end()
    return steps


def _value(part: dict[str, Any]) -> object:
    for camel, snake in _VALUES:
        if (value := twin(part, camel, snake)) is not None:
            return value
    if twin(part, "nullValue", "null_value") is not None or part.get("nullValue", _NOTHING) is None:
        return None
    return _NOTHING
