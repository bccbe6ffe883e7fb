"""Reading JSON data as values of a type, for the arguments of calls and for typed answers.

A model sends JSON, so pydantic validates it as JSON. Its rules for Python objects differ: in them a strict type accepts a date
only as a `date`, an enum only as a member, a set only as a set.
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
_TRANSPARENT = frozenset({"nullable", "default", "list", "definitions", "definition-ref", "model-fields", "model-field"})
"""The types of pydantic's schemas that read JSON and Python objects alike, if their inner schemas do."""
_LAZY_ITERATOR = "ValidatorIterator"
"""The class of pydantic's value for an `Iterable`, which pydantic does not export."""
_KEYS = frozenset({"str", "any"})
_LITERALS = (str, int, type(None))
_ATOMS = frozenset({str, int, float, bool, type(None)})


class TypedReading:
    """Reads JSON data as values of one type. `core_schema` is pydantic's schema, and the two functions are its validator's."""

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
        """The typed value of JSON data. Raises pydantic's `ValidationError`, and whatever validators of the type raise.

        If the type reads JSON and Python objects alike, pydantic receives Python objects. It also receives them if the data
        cannot be JSON text: lone surrogates, or data that is nested too deep for the parser.

        Values that pydantic would read lazily (an `Iterable` field) are read now, as lists.
        """
        return self.fully_validated(self._read(value, by_name))

    def _read(self, value: Any, by_name: bool | None) -> Any:
        if not self._mode_matters:
            return self._validate_python(value, by_name=by_name)
        try:
            return self._validate_json(json.dumps(value), by_name=by_name)
        except (RecursionError, ValidationError) as error:
            if isinstance(error, ValidationError) and not _is_json_syntax_error(error):
                raise
        return self._validate_python(value, by_name=by_name)

    def read_any(self, value: Any, by_name: bool | None = None) -> Any:
        """As `read`, for data that may contain Python objects, which stay unchanged."""
        if not self._mode_matters or is_json(value):
            return self.read(value, by_name)
        return self.read_python(value, by_name)

    def read_python(self, value: Any, by_name: bool | None = None) -> Any:
        """The typed value of Python objects, which stay unchanged."""
        return self.fully_validated(self._validate_python(value, by_name=by_name))

    def fully_validated(self, value: Any) -> Any:
        """The value, in which all lazy parts have been read."""
        return with_lists(value) if self._validates_lazily else value

    @cached_property
    def _validates_lazily(self) -> bool:
        return "generator" in self._kinds

    @cached_property
    def _kinds(self) -> frozenset[object]:
        return frozenset(part.get("type") for part in members_of(self.core_schema))

    @cached_property
    def _mode_matters(self) -> bool:
        """Whether a part of the type reads JSON differently from Python objects. If not, writing JSON text is unnecessary."""
        return not all(map(_reads_both_alike, members_of(self.core_schema)))


def with_lists(value: Any, path: tuple[int | str, ...] = ()) -> Any:
    """The value, with a list for each lazy iterator in it. Raises what the validation of the items raises."""
    kind: Any = value.__class__
    if kind.__name__ == _LAZY_ITERATOR and kind.__module__.startswith("pydantic_core"):
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


def _items(iterator: Iterable[Any], path: tuple[int | str, ...]) -> list[Any]:
    """The items of a lazy iterator. In an error, `path` is added to the item's place, because pydantic omits it."""
    try:
        return list(iterator)
    except ValidationError as error:
        placed = [
            InitErrorDetails(
                type=PydanticCustomError(each["type"], each["msg"]),
                loc=(*path, *each["loc"]),
                input=each["input"],
            )
            for each in cast("list[Any]", error.errors(include_url=False, include_context=False))
        ]
        raise ValidationError.from_exception_data(error.title, placed) from None


def _reads_both_alike(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    if kind == "model":
        config = part.get("config")
        return not part.get("strict") and not (is_object(config) and config.get("strict"))
    if kind == "dict":
        keys = part.get("keys_schema")
        return keys is None or (is_object(keys) and keys.get("type") in _KEYS)
    if kind == "literal":
        return all(type(each) in _LITERALS for each in part["expected"])
    return kind in _ATOMIC or kind in _TRANSPARENT


def _is_json_syntax_error(error: ValidationError) -> bool:
    """Whether the error is about the JSON syntax, not about the value."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return first["type"] == "json_invalid" and not first["loc"]


def is_json(value: Any) -> bool:
    """Whether it is JSON data, as a parser returns it."""
    pending: list[Any] = [value]
    seen = set[int]()
    for item in pending:  # grows while it is read
        kind = item.__class__
        if kind in _ATOMS or id(item) in seen:
            continue
        if kind is not list and (kind is not dict or any(key.__class__ is not str for key in item)):
            return False
        seen.add(id(item))
        pending += item if kind is list else item.values()
    return True
