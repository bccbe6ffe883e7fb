"""Finding the keys of the data that the typed value has lost without an error of pydantic.

Keys are *merged* if two keys of the data become one key: `{"1": 1, "01": 2}` as a `dict[int, int]` becomes `{1: 2}`. A key is
*ignored* if no field reads it and the type keeps no extra keys. The search walks the data and the typed value in parallel.
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

_SCHEMA_KEYS = frozenset(
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
"""The keys of pydantic's schemas whose values are schemas. The values of other keys are names and data."""
_NAMED_SCHEMA_KEYS = frozenset({"fields", "choices"})
"""The keys whose values map field names or tags, which may be called `type`, to schemas; or list schemas."""
_TRUSTED_MODULES = frozenset({"builtins", "collections", "ipaddress", "pydantic", "pydantic_core"})
"""The packages of functions that pydantic adds to its schemas, and of fast ones."""
_VALIDATORS_BEFORE = frozenset({"function-before", "function-wrap"})
_WITH_FIELDS = frozenset({"model", "dataclass"})
_FIELDS = frozenset({"model-fields", "dataclass-args", "typed-dict"})
_MISSING = object()
Path = tuple[str | int, ...]


class MergedKeys(NamedTuple):
    """Merged keys: the path of the object, its keys in the data, and the keys that remain."""

    path: Path
    keys: Sequence[str]
    left: Sequence[object]


class KeyCheck:
    """Finds the keys of the data that a type has lost, by pydantic's schema of the type."""

    def __init__(self, core_schema: object) -> None:
        self._core_schema = core_schema

    def lost(self, data: Any, value: Any, most: int) -> list[MergedKeys]:
        """The merged keys of `value`, which was read from `data`; at most `most`."""
        return list(islice(self._merged(data, value), most)) if self._may_merge else []

    def ignored(self, data: Any, value: Any, *, by_name: bool = False) -> Iterator[tuple[Path, Any]]:
        """The ignored keys of `data`: the path and the value of each.

        If a validator of a class sees the data before its fields do, it may use any key, so none of the keys counts as ignored.
        `by_name`: fields are read by their names as well as their aliases.
        """
        for path, given, made in self._objects(data, value):
            known = self._known_keys(made)
            if known is not None:
                names = {*self._paths_of(made)} if by_name else set[str]()
                yield from (((*path, key), item) for key, item in given.items() if key not in known and key not in names)

    def _known_keys(self, made: object) -> Set[str] | None:
        """The keys that a value of a class or a TypedDict is read from; None if it keeps or may use any key."""
        if is_object(made):
            fitting = [keys for fields, keys in self._typed_dicts.items() if made.keys() <= fields]
            return frozenset[str]().union(*fitting) if fitting else None
        if type(made) not in self._fields or type(made) in self._classes_read_by_code:
            return None
        if getattr(made, "model_extra", None) is not None:
            return None
        keys = {*_first_keys(self._paths_of(made))}
        return keys if issubclass(type(made), BaseModel) else keys | getattr(made, "__dict__", {}).keys()

    @cached_property
    def _may_merge(self) -> bool:
        """Whether the type has mappings or classes, and no code of the caller that may remove entries of mappings."""
        parts = [*members_of(self._core_schema)]
        several = any(len(paths) > 1 for fields in self._fields.values() for paths in fields.values())
        return (several or any(map(_is_mapping, parts))) and not any(map(_changes_mappings, parts))

    @cached_property
    def _typed_dicts(self) -> dict[frozenset[str], frozenset[str]]:
        """By the fields of each TypedDict in the type: the keys that they are read from. It drops other keys by design."""
        parts = [part for part in members_of(self._core_schema) if part.get("type") == "typed-dict"]
        return {frozenset(part["fields"]): frozenset(_first_keys(_fields_of(part))) for part in parts}

    @cached_property
    def _classes_read_by_code(self) -> frozenset[object]:
        """The classes whose data a function of the caller sees before the fields do."""
        parts = [*members_of(self._core_schema)]
        around = [member for part in parts if _reads_raw_data(part) for member in members_of(part)]
        within = [part for part in parts if any(map(_reads_raw_data, _down_to_fields(part)))]
        return frozenset(each["cls"] for each in (*around, *within) if each.get("type") in _WITH_FIELDS)

    @cached_property
    def _fields(self) -> dict[object, dict[str, list[Path]]]:
        """By class: the paths in an object that each field is read from, in pydantic's order."""
        return {part["cls"]: _fields_of(part) for part in members_of(self._core_schema) if part.get("type") in _WITH_FIELDS}

    def _paths_of(self, made: object) -> Mapping[str, list[Path]]:
        return self._fields.get(type(made), {})

    def _merged(self, data: Any, value: Any) -> Iterator[MergedKeys]:
        for path, given, made in self._objects(data, value):
            if is_object(made):
                if len(made) < len(given) and not any(made.keys() <= each for each in self._typed_dicts):
                    yield MergedKeys(path, list(given), list(made))
            elif getattr(made, "model_extra", None) is None:  # a class that keeps extra keys loses nothing
                yield from (MergedKeys(path, keys, keys[:1]) for keys in _competing_keys(given, self._paths_of(made)))

    def _objects(self, data: Any, value: Any) -> Iterator[tuple[Path, dict[str, Any], Any]]:
        """Each object in the data: its path, the object, and the value that was read from it."""
        pending: list[tuple[Path, Any, Any]] = [((), data, value)]
        while pending:
            path, given, made = pending.pop()
            if getattr(made.__class__, "__pydantic_root_model__", False):  # to import `RootModel` builds a model
                made = made.root
            if is_object(given):
                yield path, given, made
            pending += [((*path, key), item, part) for key, item, part in self._members(given, made)][::-1]

    def _members(self, given: Any, made: Any) -> Iterator[tuple[str | int, Any, Any]]:
        """The containers in an object or array: the key of each, the container, and the value that was read from it."""
        pairs: Iterable[tuple[str | int, Any, Any]] = ()
        if is_list(given):
            same = issubclass(type(made), (list, tuple)) and len(made) == len(given)
            pairs = zip(range(len(given)), given, made, strict=True) if same else ()
        elif is_object(given):
            pairs = _entries(given, made, self._paths_of(made))
        for key, item, part in pairs:
            data = _unquoted(item, part)
            if isinstance(data, (dict, list)):
                yield key, data, part


def members_of(core_schema: object) -> Iterator[dict[str, Any]]:
    """Every schema and field in pydantic's schema of a type, except those of serialization."""
    pending, seen = [core_schema], set[int]()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_object(part):
            yield part
            pending += (each for key, each in part.items() if key in _SCHEMA_KEYS)
            for key in _NAMED_SCHEMA_KEYS & part.keys():
                pending += part[key].values() if is_object(part[key]) else part[key]
        elif is_list(part) or isinstance(part, tuple):
            pending += part


def is_foreign(function: object) -> bool:
    """Whether the function is neither pydantic's nor Python's."""
    while isinstance(function, partial):
        function = function.func
    owner = getattr(function, "__objclass__", function)  # a method of a builtin class has no module
    return str(getattr(owner, "__module__", "")).partition(".")[0] not in _TRUSTED_MODULES


def _is_mapping(part: dict[str, Any]) -> bool:
    return part.get("type") == "dict" or "keys_schema" in part  # a Counter, an OrderedDict


def _changes_mappings(part: dict[str, Any]) -> bool:
    """Whether this part of a schema passes values that contain a mapping to a function of the caller."""
    function = part.get("function")
    called = function.get("function") if is_object(function) else function
    runs = part.get("post_init") or part.get("custom_init") or (callable(called) and is_foreign(called))
    return bool(runs) and any(map(_is_mapping, members_of(part.get("schema"))))


def _reads_raw_data(part: dict[str, Any]) -> bool:
    """Whether this part of a schema passes raw data to a function of the caller."""
    function = part.get("function")
    called = function.get("function") if is_object(function) else function
    before = part.get("type") in _VALIDATORS_BEFORE and callable(called) and is_foreign(called)
    return bool(before or part.get("custom_init"))


def _down_to_fields(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part of a schema and the parts that it wraps, up to the one that has fields."""
    while part and part.get("type") not in _FIELDS:
        yield part
        part = object_in(part.get("schema"))


def _first_keys(fields: Mapping[str, list[Path]]) -> Iterator[str]:
    return (str(path[0]) for paths in fields.values() for path in paths)


def _fields_of(part: dict[str, Any]) -> dict[str, list[Path]]:
    """By field of a model or dataclass: the paths that it is read from."""
    config = object_in(part.get("config"))
    by_name = bool(config.get("validate_by_name") or config.get("populate_by_name"))
    nothing: dict[str, Any] = {}
    inner = next((each for each in members_of(part.get("schema", part)) if each.get("type") in _FIELDS), nothing)
    fields = object_in(inner.get("fields")) or {field["name"]: field for field in objects_in(inner.get("fields"))}
    return {name: _paths(name, field.get("validation_alias"), by_name=by_name) for name, field in fields.items()}


def _paths(name: str, alias: Any, *, by_name: bool) -> list[Path]:
    if alias is None:
        return [(name,)]
    several: list[Any] = alias if is_list(alias) and is_list(alias[0]) else [alias]
    paths: list[Path] = [tuple(each) if is_list(each) else (each,) for each in several]
    return [*paths, (name,)] if by_name and (name,) not in paths else paths


def _competing_keys(given: dict[str, Any], fields: Mapping[str, list[Path]]) -> Iterator[list[str]]:
    """For each field that the data gives several values: the paths of these values."""
    for paths in fields.values():
        found = [(path, _at(given, path)) for path in paths] if len(paths) > 1 else []
        present = [(path, value) for path, value in found if value is not _MISSING]
        if any(value != present[0][1] for _, value in present[1:]):
            yield [".".join(map(str, path)) for path, _ in present]


def _unquoted(given: Any, made: Any) -> Any:
    """The data in a text of JSON that was read as a container or an object, as by pydantic's `Json`; else the given value."""
    if not isinstance(given, str) or isinstance(made, str) or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return from_json(given)
    except ValueError:
        return given


def _at(given: Any, path: Path) -> Any:
    for step in path:
        try:
            given = _MISSING if isinstance(given, str) else given[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return given


def _entries(given: dict[str, Any], made: Any, fields: Mapping[str, list[Path]]) -> Iterator[tuple[str, Any, Any]]:
    if not is_object(made):
        names = {path[0]: name for name, paths in fields.items() for path in paths if len(path) == 1}
        yield from ((key, item, getattr(made, names[key], None)) for key, item in given.items() if key in names)
    elif len(made) == len(given) and not made.keys() <= given.keys():  # keys of another type, in the same order
        yield from zip(given, given.values(), made.values(), strict=True)
    else:
        yield from ((key, item, made[key]) for key, item in given.items() if key in made)
