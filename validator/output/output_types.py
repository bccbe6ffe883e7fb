"""Output types made ready: anything `pydantic.TypeAdapter` takes, or a JSON Schema dict.

A type is compiled once and cached: its JSON Schema (what a model is told and what guides repair) and the step from
fitting JSON data to the value. Pydantic judges last, on data that already fits the schema, so its own silent
conversions between JSON types have nothing left to convert.
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
from llmcore.validator.coercion.aliases import names_left_out, schema_with_aliases, without_aliases
from llmcore.validator.output.members import read_named
from llmcore.validator.schema.compiled import CompiledSchema, compile_schema
from llmcore.validator.schema.problems import MAX_PROBLEMS, Problem, cut, join_path, shown_value

__all__ = ["CompiledOutput", "compile_output"]

_CACHED_TYPES = 512
_MAX_SAID = 200
"""Characters of an error's message."""
_MAX_KEYS = 5
_EXPECTS = "Input should be "
_TAKEN = "a value that the type's own validators take"

_cache: LRUCache[Hashable, CompiledOutput] = LRUCache(_CACHED_TYPES)
_lock = ForkSafeLock()
"""For the cache, which threads that run a type's code ask, too."""


class CompiledOutput:
    """An output type made ready. `json_schema` is as pydantic or the caller wrote it; `schema` is its compiled form;
    `adapter` is None for a JSON Schema dict, whose value is plain JSON data. `by_name`: fields are read by their own names
    too, for the schema knows some by nothing else."""

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
        """The typed value of JSON data that fits the schema, or what the type's own validators find wrong with it.
        `repairs`: what made the data fit.

        They are the caller's code: whatever they raise is a problem of the value. Only `KeyboardInterrupt` passes, for it is
        the user's.
        """
        if self.adapter is None:
            return Finished(value)
        try:
            made = read_named(self._reading, value, repairs, self.by_name)
            lost = self._keys.lost(value, made, MAX_PROBLEMS)
            return Finished(None, [_merged(each) for each in lost]) if lost else Finished(made)
        except KeyboardInterrupt:
            raise
        except ValidationError as error:
            return Finished(None, _problems_of(error), error)
        except BaseException as error:
            return Finished(None, [_raised(error)], error)

    @cached_property
    def name(self) -> str | None:
        """The name of the class, without its parameters; None for what is no class. Its schema may have another title."""
        name = getattr(self.output_type, "__name__", None)
        return name.partition("[")[0] if isinstance(name, str) else None

    def ignored_keys(self, data: Any, value: Any) -> list[Repair]:
        """A record of each key of `data` that the type ignored when `value` was made of it: `before` is what stood there.

        The type's own rule ignores such keys, so a record refuses nothing at any strictness.
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
        """Is one of several types to be chosen anywhere? A value that lacks parts may fit the wrong one."""
        parts = () if self.adapter is None else members_of(self.adapter.core_schema)
        return any(part.get("type") in ("union", "tagged-union") for part in parts)

    @cached_property
    def runs_code(self) -> bool:
        """Does the type run code of the caller's (validators, factories, `model_post_init`), which may take any time?"""
        return self.adapter is not None and any(map(_runs_code, members_of(self.adapter.core_schema)))

    def strictly(self, value: Any) -> tuple[Any] | None:
        """A Python value as one of the type, if it is one without any conversion but that of its JSON form; else None.

        Whatever the type's own validators raise says that it is none, as in `finish`.
        """
        if self.adapter is None:
            return (value,) if self.schema.is_valid(value) else None
        for read, form in ((self.adapter.validate_python, _as_it_is), (self.adapter.validate_json, to_json)):
            try:
                return (self._reading.fully_validated(read(form(value), strict=True)),)
            except KeyboardInterrupt:
                raise
            except BaseException:
                continue
        return None


class Finished(NamedTuple):
    """A typed value; or what is wrong with it, and the error that told so."""

    value: Any
    problems: Sequence[Problem] = ()
    cause: BaseException | None = None


def _runs_code(part: dict[str, Any]) -> bool:
    """Does this part of a type's schema call a function that is neither pydantic's nor Python's own?"""
    if part.get("custom_init"):
        return True
    post_init, of = part.get("post_init"), part.get("cls")
    if post_init and is_foreign(getattr(of, post_init if isinstance(post_init, str) else "__post_init__", None)):
        return True
    functions = [part.get(key) for key in ("function", "default_factory", "discriminator", "missing")]
    return any(callable(each) and is_foreign(each) for each in functions)


def _as_it_is(value: Any) -> Any:
    return value


def compile_output(output_type: Any) -> CompiledOutput:
    """The compiled form of an output type. Raises `CallerError` naming the type and the fix."""
    _refuse_no_type(output_type)
    if is_object(output_type):
        given = output_type
        return CompiledOutput(given, given, _compiled(given, "output_type"))
    key = type_key(output_type)
    with _lock:
        found = _cache.get(key)
    if found is None:
        made = _of_type(output_type)
        with _lock:
            found = _cache.setdefault(key, made)
    return found


_VALUES = (BaseModel, str, int, list, tuple, set, bytes)


def _refuse_no_type(given: object) -> None:
    """Raises `CallerError` for what pydantic would take for a type, or refuse in words of its own."""
    kind = type(given)
    if given is None:
        raise CallerError("the output_type is None, which is none; for JSON's null give type(None)")
    if inspect.isroutine(given) or kind is partial:
        name = getattr(given, "__name__", "partial")
        raise CallerError(f"the output_type is the function {name!r}; give the type that the value is to have")
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
    except Exception as error:  # of pydantic, or of the type's own code
        reason = str(error).split("\n", 1)[0] if isinstance(error, PydanticUserError) else f"it raises {error_text(error)}."
        if (lacking := undefined_in(output_type)) is not None:
            reason = f"it refers to {lacking!r}, which is not defined; define it, then call `model_rebuild()`."
        raise CallerError(
            f"output_type {name} cannot be used: {reason} Give a pydantic model, a dataclass, a TypedDict, "
            "a plain type or a union of them, or a JSON Schema dict."
        ) from error
    compiled = _compiled(schema, f"output_type {name}")
    told = without_aliases(schema)
    if not compiled.has_aliases:
        return CompiledOutput(output_type, told, compiled, adapter)
    return CompiledOutput(output_type, told, compiled, adapter, names_left_out(schema) or None)


def _compiled(schema: JsonSchema, what: str) -> CompiledSchema:
    try:
        return compile_schema(schema)
    except ToolDefinitionError as error:
        raise CallerError(f"{what}: {error}") from error


def _problems_of(error: ValidationError) -> list[Problem]:
    try:
        return [_problem(dict(detail)) for detail in error.errors(include_url=False)[:MAX_PROBLEMS]]
    except Exception as broken:  # an error or a value of the caller's that cannot be shown
        return [_raised(broken)]


def _problem(detail: dict[str, Any]) -> Problem:
    path, said, got = join_path(detail["loc"]), without_keys(clipped_words(str(detail["msg"]))), shown_value(detail.get("input"))
    message = f"`{path}`: {said}" if path else said
    if not said.startswith(_EXPECTS):  # the words of a validator, which say what they like
        own = said.removeprefix("Value error, ").removeprefix("Assertion failed, ")
        return Problem(kind="value", path=path, expected=_TAKEN, got=f"{got}: {own}", message=message)
    return Problem(kind="value", path=path, expected=said.removeprefix(_EXPECTS), got=got, message=message)


def _merged(merged: MergedKeys) -> Problem:
    path, number = join_path(merged.path), len(merged.keys)
    named = ", ".join(map(shown_value, merged.keys[:_MAX_KEYS])) + (", ..." if number > _MAX_KEYS else "")
    got = f"{number} keys of which the type makes {len(merged.left)}: {named}"
    message = f"`{path}` has {got}" if path else f"it has {got}"
    return Problem(kind="value", path=path, expected="keys that the type tells apart", got=got, message=message)


def _raised(error: BaseException) -> Problem:
    try:
        said = cut(without_keys(clipped_words(f"{type(error).__name__}: {error}")), _MAX_SAID)
    except Exception:
        said = type(error).__name__
    got = f"a value on which they raise {said}"
    return Problem(kind="value", expected=_TAKEN, got=got, message=f"it is {got}")
