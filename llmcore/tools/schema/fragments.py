"""Merging the author's schema fragments with the schema of the signature: `@tool(params=..., required=...)`.

`params` maps parameters to JSON Schema fragments. A fragment that states a type replaces the signature's schema of the parameter;
any other fragment is merged into it. Parameters without a fragment keep the signature's schema. If the tool has a preprocess
function, which may make the other parameters, the model sees only those of `params`.

The value of any keyword may be a callable. It is called for each request, of a method with the instance:
`{"enum": lambda self: self.tables()}`.
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

__all__ = ["check_callables", "is_dynamic", "merge_fragments", "resolve_callables", "without_empty_enums"]

_STATES_A_TYPE = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "const", "properties", "items"})
_HAS_SUBSCHEMAS = frozenset({"$defs", "definitions"})


def merge_fragments(
    signature: SignatureSchema,
    fragments: Mapping[str, Mapping[str, Any]],
    required: Collection[str] | None,
    *,
    has_preprocess: bool,
) -> JsonSchema:
    """The tool's schema: the signature's, with `fragments` merged into its properties.

    `required`: None means that the signature decides. With a preprocess function, `fragments` are all the properties, and their
    names are not compared with the signature's, for the function may change the arguments.

    Raises `ToolDefinitionError` if fragments, `required` and signature do not fit together.
    """
    inferred = signature.schema.get("properties", {})
    kept = [] if has_preprocess else [name for name in inferred if name not in fragments]
    _check(signature, fragments, required, kept, has_preprocess=has_preprocess)
    merged: JsonSchema = {key: value for key, value in signature.schema.items() if key in _HAS_SUBSCHEMAS}
    merged["type"] = "object"
    declared = {name: _merged(inferred.get(name, {}), copied(dict(part))) for name, part in fragments.items()}
    merged["properties"] = declared | {name: inferred[name] for name in kept}
    required_names = signature.required if required is None else required
    needed = [name for name in fragments if name in required_names]
    needed += [name for name in kept if name in signature.required or name in required_names]
    if needed:
        merged["required"] = needed
    merged["additionalProperties"] = signature.schema.get("additionalProperties", False)
    return merged


def _merged(inferred: Mapping[str, Any], fragment: Mapping[str, Any]) -> JsonSchema:
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
    """Whether the schema contains a callable."""
    if isinstance(schema, Mapping):
        return any(is_dynamic(value) for value in cast("Mapping[str, Any]", schema).values())
    if isinstance(schema, list):
        return any(is_dynamic(value) for value in cast("list[object]", schema))
    return callable(schema)


def check_callables(schema: object, count: int, where: str) -> None:
    """Raises `ToolDefinitionError` for a callable that cannot be called with `count` arguments: one (the instance) or none."""
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
            arguments = "with the object" if count else "without arguments, for the tool is no method"
            raise ToolDefinitionError(f"{where} is called {arguments}, and cannot be {describe_value(schema)}")


def without_empty_enums(parameters: JsonSchema) -> JsonSchema | None:
    """The parameters without optional ones that have an empty `enum`, which providers refuse.

    None if a required parameter has one: then no call is possible.
    """
    properties = object_in(parameters.get("properties"))
    empty = [name for name, part in properties.items() if _has_empty_enum(part)]
    if not empty:
        return parameters
    if any(name in empty for name in parameters.get("required", ())):
        return None
    return {**parameters, "properties": {name: part for name, part in properties.items() if name not in empty}}


def _has_empty_enum(schema: object) -> bool:
    if is_object(schema):
        return schema.get("enum") == [] or any(map(_has_empty_enum, schema.values()))
    return is_list(schema) and any(map(_has_empty_enum, schema))


def resolve_callables(schema: object, evaluate: Callable[[Callable[..., Any]], Any], where: str) -> Any:
    """The schema with each callable replaced by a copy of its value, which `evaluate(callable)` returns.

    Without the copy, a list that changes later would change requests that were already built.

    Raises `ToolDefinitionError` for a callable that fails or returns no JSON. `where` is the path of the schema in the message.
    """
    if isinstance(schema, Mapping):
        return {
            key: resolve_callables(value, evaluate, f"{where}.{key}") for key, value in cast("Mapping[str, Any]", schema).items()
        }
    if isinstance(schema, list):
        return [
            resolve_callables(value, evaluate, f"{where}[{index}]") for index, value in enumerate(cast("list[object]", schema))
        ]
    return copied(_evaluated(schema, evaluate, where)) if callable(schema) else schema


def _evaluated(keyword: Callable[..., Any], evaluate: Callable[[Callable[..., Any]], Any], where: str) -> Any:
    try:
        value = evaluate(keyword)
    except Exception as error:
        raise ToolDefinitionError(f"{where}: {_name(keyword)} failed with {type(error).__name__}: {error}") from error
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # else Python warns that it was never awaited
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
