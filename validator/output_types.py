"""Output types made ready: anything `pydantic.TypeAdapter` takes, or a JSON Schema dict.

A type is compiled once and cached: its JSON Schema (what a model is told and what guides repair) and the step from
fitting JSON data to the value. Pydantic judges last, on data that already fits the schema, so its own silent
conversions between JSON types have nothing left to convert.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

from cachetools import LRUCache
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from llmcore.types import CallerError, JsonSchema, ToolDefinitionError
from llmcore.types.narrowing import is_list, is_object
from llmcore.types.numbers import exact_json, holds_exact_floats
from llmcore.validator.problems import MAX_PROBLEMS, Problem, join_path, shown
from llmcore.validator.schema import CompiledSchema, compile_schema

__all__ = ["CompiledOutput", "compile_output", "typed"]

_CACHED_TYPES = 512

_cache: LRUCache[Hashable, CompiledOutput] = LRUCache(_CACHED_TYPES)


class CompiledOutput:
    """An output type made ready. `json_schema` is as pydantic or the caller wrote it; `schema` is its compiled form;
    `adapter` is None for a JSON Schema dict, whose value is plain JSON data."""

    __slots__ = ("adapter", "json_schema", "output_type", "schema")

    def __init__(
        self, output_type: Any, json_schema: JsonSchema, schema: CompiledSchema, adapter: TypeAdapter[Any] | None
    ) -> None:
        self.output_type, self.json_schema, self.schema, self.adapter = output_type, json_schema, schema, adapter

    def finish(self, value: Any) -> tuple[Any, list[Problem]]:
        """The typed value of JSON data that fits the schema, or what the type's own validators find wrong with it."""
        if self.adapter is None:
            return value, []
        try:
            return typed(self.adapter, value), []
        except ValidationError as error:
            return None, [_problem(dict(detail)) for detail in error.errors(include_url=False)[:MAX_PROBLEMS]]


def typed(adapter: TypeAdapter[Any], value: Any) -> Any:
    """The typed value of JSON data. Raises pydantic's ValidationError.

    Pydantic reads each number of a JSON text as a float. So where a type holds a Decimal and the data a number that a
    float would change, the data are given as Python objects, whose `str()` a Decimal is made of; a strict model refuses
    those, but takes the number as a JSON string.
    """
    if not holds_exact_floats(value) or not _holds_decimal(adapter.core_schema):
        return adapter.validate_json(json.dumps(value))
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return adapter.validate_json(exact_json(value, quoted=True))


def _holds_decimal(core_schema: object) -> bool:
    """Is a Decimal anywhere in pydantic's schema of a type?"""
    waiting, seen = [core_schema], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_object(part):
            if part.get("type") == "decimal":
                return True
            waiting += part.values()
        elif is_list(part) or isinstance(part, tuple):
            waiting += part
    return False


def compile_output(output_type: Any) -> CompiledOutput:
    """The compiled form of an output type. Raises `CallerError` naming the type and the fix."""
    if is_object(output_type):
        given = output_type
        return CompiledOutput(given, given, _compiled(given, "output_type"), None)
    key: Hashable = output_type if isinstance(output_type, type) else (repr(output_type), type(output_type).__name__)
    found = _cache.get(key)
    if found is None:
        found = _cache[key] = _of_type(output_type)
    return found


def _of_type(output_type: Any) -> CompiledOutput:
    name = getattr(output_type, "__name__", None) or repr(output_type)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        schema = adapter.json_schema()
    except PydanticUserError as error:
        reason = str(error).split("\n", 1)[0]
        raise CallerError(
            f"output_type {name} cannot be used: {reason} Give a pydantic model, a dataclass, a TypedDict, "
            "a plain type or a union of them, or a JSON Schema dict."
        ) from error
    return CompiledOutput(output_type, schema, _compiled(schema, f"output_type {name}"), adapter)


def _compiled(schema: JsonSchema, what: str) -> CompiledSchema:
    try:
        return compile_schema(schema)
    except ToolDefinitionError as error:
        raise CallerError(f"{what}: {error}") from error


def _problem(detail: dict[str, Any]) -> Problem:
    path = join_path(detail["loc"])
    expected = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return Problem(
        kind="value", path=path, expected=expected, got=shown(detail.get("input")), message=f"`{path}`: {detail['msg']}"
    )
