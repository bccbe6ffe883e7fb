"""Keys of the data that are lost in the typed value, where pydantic says nothing.

Keys are *merged* if two keys of the data are one key of the type: `{"1": 1, "01": 2}` becomes `{1: 2}` as a `dict[int, int]`.
A key is *ignored* if no field reads it and the type keeps no extra keys. The data and the typed value are walked side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import from_json

from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in

__all__ = ["KeyCheck", "MergedKeys", "is_foreign", "members_of"]

_ARE_SCHEMAS = frozenset(
    {
        "schema",
        "items_schema",
        "keys_schema",
        "values_schema",
        "extras_schema",
        "extras_keys_schema",
        "lax_schema",
        "strict_schema",
    }
    | {
        "json_schema",
        "python_schema",
        "arguments_schema",
        "var_args_schema",
        "var_kwargs_schema",
        "steps",
        "definitions",
        "function",
    }
)
"""Keys under which pydantic's schemas have what values are made by, one schema or several. All else is names and data."""
_BY_NAME = frozenset({"fields", "choices"})
"""Keys under which they stand by the names of fields, or by tags, any of which may be called `type`; or in a list."""
_KNOWN_CODE = frozenset({"builtins", "collections", "ipaddress", "pydantic", "pydantic_core"})
"""Modules of functions that pydantic itself puts into its schemas, or that take no time."""
_BEFORE = frozenset({"function-before", "function-wrap"})
_WITH_FIELDS = frozenset({"model", "dataclass"})
_FIELDS = frozenset({"model-fields", "dataclass-args", "typed-dict"})
_ABSENT = object()
Path = tuple[str | int, ...]


class MergedKeys(NamedTuple):
    """Keys that have met: where they stand, the keys of the data, and those that are left."""

    path: Path
    keys: Sequence[str]
    left: Sequence[object]


class KeyCheck:
    """Which keys a type lost of the data that it was given. Made of pydantic's schema of the type."""

    def __init__(self, core_schema: object) -> None:
        self._core_schema = core_schema

    def lost(self, data: Any, value: Any, most: int) -> list[MergedKeys]:
        """Where `value`, made of `data`, lacks a key, `most` places at most."""
        return list(islice(self._merged(data, value), most)) if self._may_merge else []

    def ignored(self, data: Any, value: Any, *, by_name: bool = False) -> Iterator[tuple[Path, Any]]:
        """Each key of `data` that nothing in `value` was made of: its path and what stood there.

        A class whose validators see the data before its fields do may use any key: none of its keys is ignored. `by_name`: fields
        are read by their own names too.
        """
        for path, given, made in self._objects(data, value):
            known = self._known_keys(made)
            if known is not None:
                own = {*self._read_from(made)} if by_name else set[str]()
                yield from (((*path, key), item) for key, item in given.items() if key not in known and key not in own)

    def _known_keys(self, made: object) -> Set[str] | None:
        """The keys that a value of a class or a TypedDict is read from; None where it keeps or may use any key."""
        if is_object(made):
            fitting = [keys for fields, keys in self._typed_dicts.items() if made.keys() <= fields]
            return frozenset[str]().union(*fitting) if fitting else None
        if type(made) not in self._fields or type(made) in self._classes_read_by_code:
            return None
        if getattr(made, "model_extra", None) is not None:
            return None
        keys = {*_first_keys(self._read_from(made))}
        return keys if issubclass(type(made), BaseModel) else keys | getattr(made, "__dict__", {}).keys()

    @cached_property
    def _may_merge(self) -> bool:
        """Does the type hold mappings, or fields of several names, and no code of the caller's that may take entries out?"""
        parts = [*members_of(self._core_schema)]
        several = any(len(paths) > 1 for fields in self._fields.values() for paths in fields.values())
        return (several or any(map(_is_mapping, parts))) and not any(map(_changes_mappings, parts))

    @cached_property
    def _typed_dicts(self) -> dict[frozenset[str], frozenset[str]]:
        """The fields of each TypedDict in the type, which drops other keys by design, and the keys that they are read from."""
        parts = [part for part in members_of(self._core_schema) if part.get("type") == "typed-dict"]
        return {frozenset(part["fields"]): frozenset(_first_keys(_fields_of(part))) for part in parts}

    @cached_property
    def _classes_read_by_code(self) -> frozenset[object]:
        """The classes whose data a function of the caller's sees before the fields do."""
        parts = [*members_of(self._core_schema)]
        around = [one for part in parts if _reads_before(part) for one in members_of(part)]
        within = [part for part in parts if any(map(_reads_before, _down_to_fields(part)))]
        return frozenset(one["cls"] for one in (*around, *within) if one.get("type") in _WITH_FIELDS)

    @cached_property
    def _fields(self) -> dict[object, dict[str, list[Path]]]:
        """By class: from where in an object each field is read, in pydantic's order."""
        return {part["cls"]: _fields_of(part) for part in members_of(self._core_schema) if part.get("type") in _WITH_FIELDS}

    def _read_from(self, made: object) -> Mapping[str, list[Path]]:
        return self._fields.get(type(made), {})

    def _merged(self, data: Any, value: Any) -> Iterator[MergedKeys]:
        for path, given, made in self._objects(data, value):
            if is_object(made):
                if len(made) < len(given) and not any(made.keys() <= each for each in self._typed_dicts):
                    yield MergedKeys(path, list(given), list(made))
            elif getattr(made, "model_extra", None) is None:  # what keeps the rest loses nothing
                yield from (MergedKeys(path, keys, keys[:1]) for keys in _of_one_field(given, self._read_from(made)))

    def _objects(self, data: Any, value: Any) -> Iterator[tuple[Path, dict[str, Any], Any]]:
        """Each object in the data, with what was made of it."""
        waiting: list[tuple[Path, Any, Any]] = [((), data, value)]
        while waiting:
            path, given, made = waiting.pop()
            if getattr(made.__class__, "__pydantic_root_model__", False):  # to import `RootModel` builds a model
                made = made.root
            if is_object(given):
                yield path, given, made
            waiting += [((*path, key), item, part) for key, item, part in self._members(given, made)][::-1]

    def _members(self, given: Any, made: Any) -> Iterator[tuple[str | int, Any, Any]]:
        """The containers in the data, each with what was made of it."""
        pairs: Iterable[tuple[str | int, Any, Any]] = ()
        if is_list(given):
            same = issubclass(type(made), (list, tuple)) and len(made) == len(given)
            pairs = zip(range(len(given)), given, made, strict=True) if same else ()
        elif is_object(given):
            pairs = _entries(given, made, self._read_from(made))
        for key, item, part in pairs:
            data = _unquoted(item, part)
            if isinstance(data, (dict, list)):
                yield key, data, part


def members_of(core_schema: object) -> Iterator[dict[str, Any]]:
    """Every schema in pydantic's schema of a type, and every field; not what only concerns the writing of values."""
    waiting, seen = [core_schema], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_object(part):
            yield part
            waiting += (each for key, each in part.items() if key in _ARE_SCHEMAS)
            for key in _BY_NAME & part.keys():
                waiting += part[key].values() if is_object(part[key]) else part[key]
        elif is_list(part) or isinstance(part, tuple):
            waiting += part


def is_foreign(function: object) -> bool:
    """Is it neither pydantic's nor Python's own?"""
    while isinstance(function, partial):
        function = function.func
    owner = getattr(function, "__objclass__", function)  # a method of a built-in class tells no module
    return str(getattr(owner, "__module__", "")).partition(".")[0] not in _KNOWN_CODE


def _is_mapping(part: dict[str, Any]) -> bool:
    return part.get("type") == "dict" or "keys_schema" in part  # a Counter, an OrderedDict


def _changes_mappings(part: dict[str, Any]) -> bool:
    """Does this part of a type's schema hand values with a mapping in them to a function of the caller's?"""
    function = part.get("function")
    called = function.get("function") if is_object(function) else function
    runs = part.get("post_init") or part.get("custom_init") or (callable(called) and is_foreign(called))
    return bool(runs) and any(map(_is_mapping, members_of(part.get("schema"))))


def _reads_before(part: dict[str, Any]) -> bool:
    """Does this part of a type's schema hand raw data to a function of the caller's?"""
    function = part.get("function")
    called = function.get("function") if is_object(function) else function
    before = part.get("type") in _BEFORE and callable(called) and is_foreign(called)
    return bool(before or part.get("custom_init"))


def _down_to_fields(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part of a schema and the parts that it wraps, down to the one that has fields."""
    while part and part.get("type") not in _FIELDS:
        yield part
        part = object_in(part.get("schema"))


def _first_keys(fields: Mapping[str, list[Path]]) -> Iterator[str]:
    return (str(path[0]) for paths in fields.values() for path in paths)


def _fields_of(part: dict[str, Any]) -> dict[str, list[Path]]:
    """Of the part of a schema that makes a model or a dataclass."""
    config = object_in(part.get("config"))
    by_name = bool(config.get("validate_by_name") or config.get("populate_by_name"))
    nothing: dict[str, Any] = {}
    inner = next((one for one in members_of(part.get("schema", part)) if one.get("type") in _FIELDS), nothing)
    fields = object_in(inner.get("fields")) or {one["name"]: one for one in objects_in(inner.get("fields"))}
    return {name: _paths(name, field.get("validation_alias"), by_name=by_name) for name, field in fields.items()}


def _paths(name: str, alias: Any, *, by_name: bool) -> list[Path]:
    if alias is None:
        return [(name,)]
    several: list[Any] = alias if is_list(alias) and is_list(alias[0]) else [alias]
    paths: list[Path] = [tuple(one) if is_list(one) else (one,) for one in several]
    return [*paths, (name,)] if by_name and (name,) not in paths else paths


def _of_one_field(given: dict[str, Any], fields: Mapping[str, list[Path]]) -> Iterator[list[str]]:
    """The places of a field that the data gives several values."""
    for paths in fields.values():
        found = [(path, _at(given, path)) for path in paths] if len(paths) > 1 else []
        told = [(path, value) for path, value in found if value is not _ABSENT]
        if any(value != told[0][1] for _, value in told[1:]):
            yield [".".join(map(str, path)) for path, _ in told]


def _unquoted(given: Any, made: Any) -> Any:
    """The data that a text holds which became a container or an object, as pydantic's `Json` makes one of it."""
    if not isinstance(given, str) or isinstance(made, str) or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return from_json(given)
    except ValueError:
        return given


def _at(given: Any, path: Path) -> Any:
    for step in path:
        try:
            given = _ABSENT if isinstance(given, str) else given[step]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return given


def _entries(given: dict[str, Any], made: Any, fields: Mapping[str, list[Path]]) -> Iterator[tuple[str, Any, Any]]:
    if not is_object(made):
        names = {path[0]: name for name, paths in fields.items() for path in paths if len(path) == 1}
        yield from ((key, item, getattr(made, names[key], None)) for key, item in given.items() if key in names)
    elif len(made) == len(given) and not made.keys() <= given.keys():  # keys of another type, in the same order
        yield from zip(given, given.values(), made.values(), strict=True)
    else:
        yield from ((key, item, made[key]) for key, item in given.items() if key in made)
