"""Compiles output types: anything that `pydantic.TypeAdapter` accepts, or a JSON Schema dict.

A type is compiled once and cached. The result holds its JSON Schema, which the model receives and which guides repair, and
the conversion from JSON data to the typed value. Pydantic validates last, on data that already fits the schema. So it has
nothing left to convert silently.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from cachetools import LRUCache
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import to_json

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.values.annotations import type_key, undefined_in, unfillable, usable
from llmcore.support.values.credentials import without_keys
from llmcore.support.values.merged_keys import KeyCheck, MergedKeys, is_foreign, members_of
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.support.values.typed_data import TypedReading
from llmcore.types import CallerError, JsonSchema, Repair, ToolDefinitionError
from llmcore.types.schemas.generated_schema import error_text
from llmcore.validator.coercion.aliases import needs_field_names, schema_with_aliases, without_aliases
from llmcore.validator.coercion.views import View, view_of
from llmcore.validator.output.members import read_named
from llmcore.validator.output.surroundings import TypeShape
from llmcore.validator.schema.compiled import CompiledSchema, compile_schema
from llmcore.validator.schema.problems import MAX_PROBLEMS, Problem, cut, join_path, shown_value

__all__ = ["CompiledOutput", "compile_output"]

_CACHED_TYPES = 512
_MAX_ERROR_CHARS = 200
"""The most characters of an error's message."""
_MAX_KEYS = 5
_EXPECTS = "Input should be "
_ACCEPTED = "a value that the type's own validators take"

_cache: LRUCache[Hashable, CompiledOutput] = LRUCache(_CACHED_TYPES)
_lock = ForkSafeLock()
"""Guards the cache. Compiling runs the type's own code, perhaps in several threads."""


class CompiledOutput:
    """A compiled output type.

    `json_schema` is the schema that pydantic or the caller wrote; `schema` is its compiled form. `adapter` is None for a JSON
    Schema dict, whose values are plain JSON data. `by_name`: pydantic also reads fields by name, since the schema has no
    alias for some.
    """

    def __init__(
        self,
        output_type: Any,
        json_schema: JsonSchema,
        schema: CompiledSchema,
        adapter: TypeAdapter[Any] | None = None,
        by_name: bool | None = None,
    ) -> None:
        self.output_type, self.json_schema, self.schema, self.adapter = output_type, json_schema, schema, adapter
        self.by_name = by_name

    def finish(self, value: Any, repairs: Sequence[Repair] = ()) -> Finished:
        """Return the typed value of JSON data that fits the schema, or the problems that the type's own validators find.

        `repairs` are those that made the data fit. Validators are the caller's code: whatever they raise becomes a problem of
        the value. Only `KeyboardInterrupt` is raised to the caller.
        """
        if self.adapter is None:
            return Finished(value)
        try:
            made = read_named(self._reading, value, repairs, self.by_name)
            lost = self._keys.lost(value, made, MAX_PROBLEMS)
            return Finished(None, [_merged_keys_problem(each) for each in lost]) if lost else Finished(made)
        except KeyboardInterrupt:
            raise
        except ValidationError as error:
            return Finished(None, _problems_of(error), error)
        except BaseException as error:
            return Finished(None, [_exception_problem(error)], error)

    @cached_property
    def branches(self) -> list[View]:
        """The alternatives of the schema, or the schema itself if it has none."""
        alternatives = view_of(self.schema, self.schema.schema).alternatives
        return [view_of(self.schema, one) for one in [one for each in alternatives for one in each] or [self.schema.schema]]

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON types that the branches allow."""
        return frozenset(name for view in self.branches for name in view.types)

    @cached_property
    def shape(self) -> TypeShape:
        return TypeShape(self.schema)

    @cached_property
    def name(self) -> str | None:
        """The name of the class without its parameters, None if the type is no class. The schema's title may differ."""
        name = getattr(self.output_type, "__name__", None)
        return name.partition("[")[0] if isinstance(name, str) else None

    def ignored_keys(self, data: Any, value: Any) -> list[Repair]:
        """A record of each key of `data` that the type ignored. `before` is the key's value.

        The type's own rule ignores these keys, so no strictness refuses such a record.
        """
        if self.adapter is None:
            return []
        ignored = self._keys.ignored(data, value, by_name=bool(self.by_name))
        return [Repair(kind="dropped_key", path=join_path(path), before=item, safety="coerced") for path, item in ignored]

    @cached_property
    def _reading(self) -> TypedReading:
        assert self.adapter is not None
        return TypedReading.of(self.adapter)

    @cached_property
    def _keys(self) -> KeyCheck:
        return KeyCheck(None if self.adapter is None else self.adapter.core_schema)

    @cached_property
    def holds_unions(self) -> bool:
        """Whether the type contains a union. An incomplete value might fit the wrong member."""
        parts = () if self.adapter is None else members_of(self.adapter.core_schema)
        return any(part.get("type") in ("union", "tagged-union") for part in parts)

    @cached_property
    def runs_code(self) -> bool:
        """Whether the type runs the caller's code (validators, factories, `model_post_init`), which may take any time."""
        return self.adapter is not None and any(map(_runs_code, members_of(self.adapter.core_schema)))

    def strictly(self, value: Any) -> tuple[Any] | None:
        """Return a Python value as a value of the type, in a tuple, if no conversion but that of its JSON form is needed;
        else None.

        If the type's validators raise anything, the result is None; only `KeyboardInterrupt` is raised.
        """
        if self.adapter is None:
            return (value,) if self.schema.is_valid(value) else None
        for read, form in ((self.adapter.validate_python, _unchanged), (self.adapter.validate_json, to_json)):
            try:
                return (self._reading.fully_validated(read(form(value), strict=True)),)
            except KeyboardInterrupt:
                raise
            except BaseException:
                continue
        return None


class Finished(NamedTuple):
    """A typed value, or its problems and the error that caused them."""

    value: Any
    problems: Sequence[Problem] = ()
    cause: BaseException | None = None


def _runs_code(part: dict[str, Any]) -> bool:
    """Whether this part of a core schema calls a function that belongs neither to pydantic nor to Python."""
    if part.get("custom_init"):
        return True
    post_init, of = part.get("post_init"), part.get("cls")
    if post_init and is_foreign(getattr(of, post_init if isinstance(post_init, str) else "__post_init__", None)):
        return True
    functions = [part.get(key) for key in ("function", "default_factory", "discriminator", "missing")]
    return any(callable(each) and is_foreign(each) for each in functions)


def _unchanged(value: Any) -> Any:
    return value


def compile_output(output_type: Any) -> CompiledOutput:
    """Return the compiled form of an output type. Raises `CallerError`, which names the type and the fix, for an unusable
    one."""
    if is_object(output_type):
        given = output_type
        return CompiledOutput(given, given, _compiled(given, "output_type"))
    key = type_key(output_type)
    with _lock:
        found = _cache.get(key)
    if found is None:
        _check_is_type(output_type)
        made = _of_type(output_type)
        with _lock:
            found = _cache.setdefault(key, made)
    return found


_VALUES = (BaseModel, str, int, list, tuple, set, bytes)


def _check_is_type(given: object) -> None:
    """Raises `CallerError` for values that are no types but that pydantic would accept or refuse with an unclear message."""
    kind = type(given)
    if given is None:
        raise CallerError("the output_type is None, which is not a type; for JSON's null give type(None)")
    if inspect.isroutine(given) or kind is partial:
        name = getattr(given, "__name__", "partial")
        raise CallerError(f"the output_type is the function {name!r}; give the type of the value")
    if (part := unfillable(usable(given))) is not None:
        fix = "give the type of the value, list[...] for several"
        raise CallerError(f"the output_type {given!r} cannot be used: JSON has no value for {part!r}; {fix}")
    if issubclass(kind, _VALUES):
        fix = "give the class itself" if issubclass(kind, BaseModel) else "give a type, for example City or list[City]"
        if is_list(given) or isinstance(given, tuple):
            fix = "one of several types is a union, for example City | str; several values are a list, list[City]"
        raise CallerError(f"the output_type must be a type, not a value of the type {kind.__name__}; {fix}")


def _of_type(output_type: Any) -> CompiledOutput:
    name = getattr(output_type, "__name__", None) or repr(output_type)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(usable(output_type))
        schema = schema_with_aliases(adapter)
    except Exception as error:  # from pydantic, or from the type's own code
        reason = str(error).split("\n", 1)[0] if isinstance(error, PydanticUserError) else f"it raises {error_text(error)}."
        if (undefined := undefined_in(output_type)) is not None:
            reason = f"it refers to {undefined!r}, which is not defined; define it, then call `model_rebuild()`."
        raise CallerError(
            f"output_type {name} cannot be used: {reason} Give a pydantic model, a dataclass, a TypedDict, "
            "a plain type or a union of them, or a JSON Schema dict."
        ) from error
    compiled = _compiled(schema, f"output_type {name}")
    shown_schema = without_aliases(schema)
    if not compiled.has_aliases:
        return CompiledOutput(output_type, shown_schema, compiled, adapter)
    return CompiledOutput(output_type, shown_schema, compiled, adapter, needs_field_names(schema) or None)


def _compiled(schema: JsonSchema, what: str) -> CompiledSchema:
    try:
        return compile_schema(schema)
    except ToolDefinitionError as error:
        raise CallerError(f"{what}: {error}") from error


def _problems_of(error: ValidationError) -> list[Problem]:
    try:
        return [_problem(dict(detail)) for detail in error.errors(include_url=False)[:MAX_PROBLEMS]]
    except Exception as broken:  # the caller's error or value has no usable text
        return [_exception_problem(broken)]


def _problem(detail: dict[str, Any]) -> Problem:
    path, words, got = join_path(detail["loc"]), without_keys(clipped_words(str(detail["msg"]))), shown_value(detail.get("input"))
    message = f"`{path}`: {words}" if path else words
    if not words.startswith(_EXPECTS):  # a validator's own message
        own = words.removeprefix("Value error, ").removeprefix("Assertion failed, ")
        return Problem(kind="value", path=path, expected=_ACCEPTED, got=f"{got}: {own}", message=message)
    return Problem(kind="value", path=path, expected=words.removeprefix(_EXPECTS), got=got, message=message)


def _merged_keys_problem(merged: MergedKeys) -> Problem:
    path, number = join_path(merged.path), len(merged.keys)
    named = ", ".join(map(shown_value, merged.keys[:_MAX_KEYS])) + (", ..." if number > _MAX_KEYS else "")
    got = f"{number} keys of which the type makes {len(merged.left)}: {named}"
    message = f"`{path}` has {got}" if path else f"it has {got}"
    return Problem(kind="value", path=path, expected="keys that the type tells apart", got=got, message=message)


def _exception_problem(error: BaseException) -> Problem:
    try:
        words = cut(without_keys(clipped_words(f"{type(error).__name__}: {error}")), _MAX_ERROR_CHARS)
    except Exception:
        words = type(error).__name__
    got = f"a value on which they raise {words}"
    return Problem(kind="value", expected=_ACCEPTED, got=got, message=f"it is {got}")
