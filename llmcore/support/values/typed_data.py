"""JSON data as values of a type: the one way in which arguments of calls and typed answers become what pydantic makes of them.

What a model sends is JSON, so pydantic reads it as such. Its rules for Python objects are others: a strict type takes a date only
as a `date` there, an enum only as a member, a set only as a set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from llmcore.support.values.merged_keys import members_of
from llmcore.support.values.narrowing import is_object

__all__ = ["TypedReading", "is_json", "with_lists"]

_ATOMIC = frozenset({"any", "str", "int", "float", "bool", "none"})
_AROUND = frozenset({"nullable", "default", "list", "definitions", "definition-ref", "model-fields", "model-field"})
"""Parts of pydantic's schemas by which JSON data become the same, whether they are read as JSON or as Python objects."""
_LATE = "ValidatorIterator"
"""What pydantic makes of an `Iterable`. It does not tell the class itself."""
_KEYS = frozenset({"str", "any"})
_LITERALS = (str, int, type(None))
_ATOMS = frozenset({str, int, float, bool, type(None)})


class TypedReading:
    """How JSON data become values of one type. `core_schema` is pydantic's of it, and the two functions are of its validator."""

    def __init__(
        self,
        validate_json: Callable[..., Any],
        validate_python: Callable[..., Any],
        core_schema: object,
    ) -> None:
        self._validate_json, self._validate_python, self.core_schema = validate_json, validate_python, core_schema

    @classmethod
    def of(cls, adapter: TypeAdapter[Any]) -> TypedReading:
        return cls(adapter.validate_json, adapter.validate_python, adapter.core_schema)

    def read(self, value: Any, by_name: bool | None = None) -> Any:
        """The typed value of JSON data. Raises pydantic's ValidationError, and whatever the type's own validators raise.

        If the type reads JSON and Python objects alike, the data are given as Python objects. So are data that no JSON text
        holds: half a surrogate pair, and what is nested too deep for a parser.

        What pydantic would read only when somebody asks for it (an `Iterable` field of a class) is read, too: as a list.
        """
        return self.fully_validated(self._read(value, by_name))

    def _read(self, value: Any, by_name: bool | None) -> Any:
        if not self._mode_matters:
            return self._validate_python(value, by_name=by_name)
        try:
            return self._validate_json(json.dumps(value), by_name=by_name)
        except (RecursionError, ValidationError) as error:
            if isinstance(error, ValidationError) and not _is_no_json(error):
                raise
        return self._validate_python(value, by_name=by_name)

    def read_any(self, value: Any, by_name: bool | None = None) -> Any:
        """As `read`, of data into which Python objects may have been put: those stay what they are."""
        if not self._mode_matters or is_json(value):
            return self.read(value, by_name)
        return self.read_python(value, by_name)

    def read_python(self, value: Any, by_name: bool | None = None) -> Any:
        """The typed value of Python objects, which stay what they are."""
        return self.fully_validated(self._validate_python(value, by_name=by_name))

    def fully_validated(self, value: Any) -> Any:
        """A value of the type, all of which was read."""
        return with_lists(value) if self._validates_lazily else value

    @cached_property
    def _validates_lazily(self) -> bool:
        return "generator" in self._kinds

    @cached_property
    def _kinds(self) -> frozenset[object]:
        return frozenset(part.get("type") for part in members_of(self.core_schema))

    @cached_property
    def _mode_matters(self) -> bool:
        """Is there a part of the type that reads JSON otherwise than Python objects? Such a text costs more than it."""
        return not all(map(_is_same, members_of(self.core_schema)))


def with_lists(value: Any, path: tuple[int | str, ...] = ()) -> Any:
    """The value, with a list for each iterator in it that validates its items when they are asked for. Raises what they raise."""
    kind: Any = value.__class__
    if kind.__name__ == _LATE and kind.__module__.startswith("pydantic_core"):
        return with_lists(_items(value, path), path)
    if issubclass(kind, list):
        value[:] = [with_lists(item, (*path, index)) for index, item in enumerate(value)]
    elif issubclass(kind, dict):
        value.update({key: with_lists(item, (*path, str(key))) for key, item in value.items()})
    elif issubclass(kind, tuple):
        make = cast("Callable[[list[Any]], Any]", getattr(value, "_make", value.__class__))  # of a named tuple
        return make([with_lists(item, (*path, index)) for index, item in enumerate(value)])
    elif issubclass(kind, BaseModel) or is_dataclass(kind):
        for name in dict.fromkeys([*getattr(value, "__dict__", ()), *getattr(kind, "__dataclass_fields__", ())]):
            object.__setattr__(value, name, with_lists(getattr(value, name), (*path, name)))
    return value


def _items(late: Iterable[Any], path: tuple[int | str, ...]) -> list[Any]:
    """What pydantic says of an item it says without where the iterator stands."""
    try:
        return list(late)
    except ValidationError as error:
        placed = [
            InitErrorDetails(
                type=PydanticCustomError(one["type"], one["msg"]),
                loc=(*path, *one["loc"]),
                input=one["input"],
            )
            for one in cast("list[Any]", error.errors(include_url=False, include_context=False))
        ]
        raise ValidationError.from_exception_data(error.title, placed) from None


def _is_same(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    if kind == "model":
        config = part.get("config")
        return not part.get("strict") and not (is_object(config) and config.get("strict"))
    if kind == "dict":
        keys = part.get("keys_schema")
        return keys is None or (is_object(keys) and keys.get("type") in _KEYS)
    if kind == "literal":
        return all(type(each) in _LITERALS for each in part["expected"])
    return kind in _ATOMIC or kind in _AROUND


def _is_no_json(error: ValidationError) -> bool:
    """Is it about the text as a whole, not about what it says?"""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return first["type"] == "json_invalid" and not first["loc"]


def is_json(value: Any) -> bool:
    """Is it JSON data, as a parser makes them?"""
    waiting: list[Any] = [value]
    seen = set[int]()
    for item in waiting:  # grows while it is read
        kind = item.__class__
        if kind in _ATOMS or id(item) in seen:
            continue
        if kind is not list and (kind is not dict or any(key.__class__ is not str for key in item)):
            return False
        seen.add(id(item))
        waiting += item if kind is list else item.values()
    return True
