"""Two keys of the data that are one key of the type: an entry is lost, and pydantic says nothing.

`{"1": 1, "01": 2}` becomes `{1: 2}` as a `dict[int, int]`, and of two names of one field with different values the first wins.
The data and the typed value are walked side by side: where a mapping has fewer entries than the object it was made of, keys
have met.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple, cast

from pydantic import AliasChoices, BaseModel, RootModel
from pydantic.fields import FieldInfo

from llmcore.types.narrowing import is_list, is_object

__all__ = ["KeyCheck", "Merged", "is_foreign", "parts_of"]

_NOT_READ = frozenset({"metadata", "serialization"})
_KNOWN_CODE = frozenset({"builtins", "ipaddress", "pydantic", "pydantic_core"})
"""Modules of functions that pydantic itself puts into its schemas, or that take no time."""
_FIELDS = frozenset({"model-field", "dataclass-field"})


class Merged(NamedTuple):
    """Keys that have met: where they stand, the keys of the data, and those that are left."""

    path: tuple[str | int, ...]
    keys: Sequence[str]
    left: Sequence[object]


class KeyCheck:
    """Which keys a type lost of the data that it was given. Made of pydantic's schema of the type."""

    def __init__(self, core_schema: object) -> None:
        self._core_schema = core_schema

    def lost(self, data: Any, value: Any, most: int) -> list[Merged]:
        """Where `value`, made of `data`, lacks a key, `most` places at most."""
        return list(islice(_merged_keys(data, value, self._typed_dicts), most)) if self._may_merge else []

    @cached_property
    def _may_merge(self) -> bool:
        """Does the type hold mappings, or fields of several names, and no code of the caller's that may take entries out?"""
        parts = [*parts_of(self._core_schema)]
        return any(_is_mapping(part) or _has_names(part) for part in parts) and not any(map(_changes_mappings, parts))

    @cached_property
    def _typed_dicts(self) -> list[frozenset[str]]:
        """The fields of each TypedDict in the type, which drops other keys by design."""
        return [frozenset(part["fields"]) for part in parts_of(self._core_schema) if part.get("type") == "typed-dict"]


def parts_of(core_schema: object) -> Iterator[dict[str, Any]]:
    """Every object in pydantic's schema of a type, but for what only concerns the writing of values."""
    waiting, seen = [core_schema], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_object(part):
            yield part
            waiting += (each for key, each in part.items() if key not in _NOT_READ)
        elif is_list(part) or isinstance(part, tuple):
            waiting += part


def is_foreign(function: object) -> bool:
    """Is it neither pydantic's nor Python's own?"""
    while isinstance(function, partial):
        function = function.func
    owner = getattr(function, "__objclass__", function)  # a method of a built-in class tells no module
    return str(getattr(owner, "__module__", "")).partition(".")[0] not in _KNOWN_CODE


def _is_mapping(part: dict[str, Any]) -> bool:
    return part.get("type") == "dict"


def _has_names(part: dict[str, Any]) -> bool:
    """May it be a field that is read by several names?"""
    return part.get("type") in _FIELDS and "validation_alias" in part


def _changes_mappings(part: dict[str, Any]) -> bool:
    """Does this part of a type's schema hand values with a mapping in them to a function of the caller's?"""
    function = part.get("function")
    called = function.get("function") if is_object(function) else function
    runs = part.get("post_init") or part.get("custom_init") or (callable(called) and is_foreign(called))
    return bool(runs) and any(map(_is_mapping, parts_of(part.get("schema"))))


def _merged_keys(data: Any, value: Any, typed_dicts: Iterable[Set[str]]) -> Iterator[Merged]:
    waiting: list[tuple[tuple[str | int, ...], Any, Any]] = [((), data, value)]
    while waiting:
        path, given, made = waiting.pop()
        if is_object(given) and is_object(made):
            if len(made) < len(given) and not any(made.keys() <= each for each in typed_dicts):
                yield Merged(path, list(given), list(made))
        elif is_object(given):
            yield from (Merged(path, keys, keys[:1]) for keys in _names_of_one_field(given, made))
        waiting += [((*path, key), item, part) for key, item, part in _members(given, made)]


def _names_of_one_field(given: dict[str, Any], made: Any) -> Iterator[list[str]]:
    """The names of a field that the data gives several values."""
    if not isinstance(made, BaseModel) or made.model_extra is not None:
        return  # a model that keeps what it does not know loses nothing
    for names in _fields(type(made)).values():
        present = [name for name in names if name in given]
        if any(given[name] != given[present[0]] for name in present[1:]):
            yield present


def _members(given: Any, made: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """The containers in the data, each with what was made of it."""
    root: Any = made.root if issubclass(type(made), RootModel) else made
    pairs: Iterable[tuple[str | int, Any, Any]] = ()
    if is_list(given):
        same = issubclass(type(root), (list, tuple)) and len(root) == len(given)
        pairs = zip(range(len(given)), given, root, strict=True) if same else ()
    elif is_object(given):
        pairs = _entries(given, root)
    yield from (pair for pair in pairs if isinstance(pair[1], (dict, list)))


def _entries(given: dict[str, Any], made: Any) -> Iterator[tuple[str, Any, Any]]:
    if not is_object(made):
        names = _attributes(made)
        yield from ((key, item, getattr(made, names[key], None)) for key, item in given.items() if key in names)
    elif len(made) == len(given) and not made.keys() <= given.keys():  # keys of another type, in the same order
        yield from zip(given, given.values(), made.values(), strict=True)
    else:
        yield from ((key, item, made[key]) for key, item in given.items() if key in made)


def _attributes(made: Any) -> dict[str, str]:
    """The attributes of a model or a dataclass by the keys that may fill them."""
    if isinstance(made, BaseModel):
        fields = type(made).model_fields
        return {key: name for name, field in fields.items() for key in (name, *_aliases(field))}
    return {field.name: field.name for field in dataclasses.fields(made)} if dataclasses.is_dataclass(made) else {}


def _fields(model: type[BaseModel]) -> Mapping[str, list[str]]:
    """By what keys of an object a model reads each of its fields, in pydantic's order."""
    config = model.model_config
    by_name = bool(config.get("validate_by_name") or config.get("populate_by_name"))
    found = {name: _aliases(field) for name, field in model.model_fields.items()}
    return {name: [*keys, *([name] if by_name and name not in keys else [])] for name, keys in found.items() if keys}


def _aliases(field: FieldInfo) -> list[str]:
    alias: Any = field.validation_alias or field.alias
    choices = cast("Sequence[Any]", alias.choices if isinstance(alias, AliasChoices) else [alias])
    return [each for each in choices if isinstance(each, str)]
