"""The caller's own schema laid over the one of the signature: `@tool(params=..., required=...)`.

`params` = parameters, each with a JSON Schema fragment; the others stay as the signature has them, unless a preprocess function
stands between, which may make them: then the model sees those of `params` alone. A fragment that says which type it is
replaces the signature's schema, any other is laid over it. Any keyword's value may be callable; it is asked anew for
each request, with the instance for methods: `{"enum": lambda self: self.tables()}`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.tools.schema.signature import SignatureSchema
from llmcore.types import JsonSchema, ToolDefinitionError
from llmcore.types.input.argument_errors import is_async, takes_positional

__all__ = ["check_callables", "fillable", "is_dynamic", "merge_fragments", "resolve_references"]

_STATES_A_TYPE = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "const", "properties", "items"})
_HAS_SUBSCHEMAS = frozenset({"$defs", "definitions"})


def merge_fragments(
    signature: SignatureSchema,
    fragments: Mapping[str, Mapping[str, Any]],
    required: Collection[str] | None,
    *,
    has_preprocess: bool,
) -> JsonSchema:
    """The tool's schema with `fragments` laid over its properties; `required` None = as the signature says. With a preprocess
    function they are all its properties.

    Raises `ToolDefinitionError` when fragments, `required` and signature do not fit together. A preprocess function
    may take and give other arguments than the model does, so with one the signature is not held against the
    fragments.
    """
    inferred = signature.schema.get("properties", {})
    kept = [] if has_preprocess else [name for name in inferred if name not in fragments]
    _check(signature, fragments, required, kept, has_preprocess=has_preprocess)
    merged: JsonSchema = {key: value for key, value in signature.schema.items() if key in _HAS_SUBSCHEMAS}
    merged["type"] = "object"
    laid = {name: _laid_over(inferred.get(name, {}), copied(dict(part))) for name, part in fragments.items()}
    merged["properties"] = laid | {name: inferred[name] for name in kept}
    told = signature.required if required is None else required
    needed = [name for name in fragments if name in told]
    needed += [name for name in kept if name in signature.required or name in told]
    if needed:
        merged["required"] = needed
    merged["additionalProperties"] = signature.schema.get("additionalProperties", False)
    return merged


def _laid_over(inferred: Mapping[str, Any], fragment: Mapping[str, Any]) -> JsonSchema:
    if _STATES_A_TYPE & fragment.keys():
        kept = {key: inferred[key] for key in ("description",) if key in inferred}
        return {**kept, **fragment}
    return {**inferred, **fragment}


def _check(
    signature: SignatureSchema,
    fragments: Mapping[str, Any],
    required: Collection[str] | None,
    kept: Collection[str],
    *,
    has_preprocess: bool,
) -> None:
    tool = signature.name
    if unknown := [name for name in required or () if name not in fragments and name not in kept]:
        raise ToolDefinitionError(f"tool {tool!r}: required names {unknown}, which the tool does not have")
    if has_preprocess:
        return
    if not signature.takes_any_keyword and (unknown := [name for name in fragments if name not in signature.names]):
        raise ToolDefinitionError(f"tool {tool!r}: `params` declares {unknown}, which the function does not take")


def is_dynamic(schema: object) -> bool:
    """Does a callable stand anywhere in the schema?"""
    if isinstance(schema, Mapping):
        return any(is_dynamic(value) for value in cast("Mapping[str, Any]", schema).values())
    if isinstance(schema, list):
        return any(is_dynamic(value) for value in cast("list[object]", schema))
    return callable(schema)


def check_callables(schema: object, count: int, where: str) -> None:
    """Raises `ToolDefinitionError` for a callable that cannot be asked with so many arguments, one (the object) or none."""
    if isinstance(schema, Mapping):
        for key, value in cast("Mapping[str, Any]", schema).items():
            check_callables(value, count, f"{where}.{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(cast("list[object]", schema)):
            check_callables(value, count, f"{where}[{index}]")
    elif callable(schema):
        if is_async(schema):
            raise ToolDefinitionError(f"{where}: {_name(schema)} is async, and a schema is made without waiting; let it be sync")
        if not takes_positional(schema, count):
            asked = "with the object" if count else "with nothing, for the tool is no method"
            raise ToolDefinitionError(f"{where} is asked {asked}, and cannot be {describe_value(schema)}")


def fillable(parameters: JsonSchema) -> JsonSchema | None:
    """The parameters without those for which there is no value to choose now (an `enum` of nothing, which providers refuse);
    None where one of them is required: then no call could be made."""
    properties = object_in(parameters.get("properties"))
    empty = [name for name, part in properties.items() if _chooses_from_nothing(part)]
    if not empty:
        return parameters
    if any(name in empty for name in parameters.get("required", ())):
        return None
    return {**parameters, "properties": {name: part for name, part in properties.items() if name not in empty}}


def _chooses_from_nothing(schema: object) -> bool:
    if is_object(schema):
        return schema.get("enum") == [] or any(map(_chooses_from_nothing, schema.values()))
    return is_list(schema) and any(map(_chooses_from_nothing, schema))


def resolve_references(schema: object, ask: Callable[[Callable[..., Any]], Any], where: str) -> Any:
    """The schema with each callable replaced by a copy of what `ask` got from it: a list that changes later must not
    change the requests that were already made.

    Raises `ToolDefinitionError` naming the place (`where` and on) of one that fails, or gives what is no JSON.
    """
    if isinstance(schema, Mapping):
        return {key: resolve_references(value, ask, f"{where}.{key}") for key, value in cast("Mapping[str, Any]", schema).items()}
    if isinstance(schema, list):
        return [resolve_references(value, ask, f"{where}[{index}]") for index, value in enumerate(cast("list[object]", schema))]
    return copied(_asked(schema, ask, where)) if callable(schema) else schema


def _asked(keyword: Callable[..., Any], ask: Callable[[Callable[..., Any]], Any], where: str) -> Any:
    try:
        value = ask(keyword)
    except Exception as error:
        raise ToolDefinitionError(f"{where}: {_name(keyword)} failed with {type(error).__name__}: {error}") from error
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # or Python says that it was never awaited
        raise ToolDefinitionError(f"{where}: {_name(keyword)} gave an awaitable, and a schema is made without waiting")
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        fix = "; return a list, in an order of its own" if isinstance(value, set | frozenset) else ""
        raise ToolDefinitionError(
            f"{where}: {_name(keyword)} gave {describe_value(cast('object', value))}, which is no JSON{fix}"
        ) from None
    return value


def _name(keyword: Callable[..., Any]) -> str:
    return f"{getattr(keyword, '__name__', type(keyword).__name__)}()"
