"""References inside a schema: resolves JSON pointers, and bounds how many subschemas apply to one value.

`$ref`, `anyOf`, `allOf`, `oneOf`, `not` and `if` apply to the same value. A loop of them never ends, and nesting them can
double the work at each level. `check_in_place` refuses both. It is memoized, so it is linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema, ToolDefinitionError
from llmcore.types.schemas.schema_shape import MAX_SCHEMA_DEPTH

__all__ = ["IN_PLACE_LISTS", "MAX_IN_PLACE", "Path", "check_in_place", "pointer_to", "resolve_pointer"]

MAX_IN_PLACE = 4096
"""The most subschemas that may apply to one value, including those behind references."""

IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")

Path = tuple[str | int, ...]


def resolve_pointer(root: Any, reference: str) -> Any:
    """Return the target of a local `#/json/pointer`. Raises KeyError if there is none."""
    target = root
    for step in reference[1:].split("/")[1:]:
        target = _step(target, unquote(step).replace("~1", "/").replace("~0", "~"))
    return target


def _step(target: Any, step: str) -> Any:
    if is_object(target) and step in target:
        return target[step]
    if is_list(target) and step.isascii() and step.isdigit() and int(step[:6]) < len(target):
        return target[int(step[:6])]
    raise KeyError(step)


def pointer_to(path: Path) -> str:
    return "#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def check_in_place(root: JsonSchema, schemas: list[JsonSchema]) -> None:
    """Raises `ToolDefinitionError` if a reference leads back to itself on the same value, or too many subschemas apply to one
    value."""
    weights = _InPlace(root)
    for schema in schemas:
        weights.weigh(schema, 0)


class _InPlace:
    """Counts how many subschemas apply to one value, including those behind references."""

    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        self.weights: dict[int, int] = {}
        self.open: set[int] = set()

    def weigh(self, schema: Any, depth: int) -> int:
        if not is_object(schema):
            return 1
        key = id(schema)
        if key in self.weights:
            return self.weights[key]
        if key in self.open:
            raise ToolDefinitionError(
                "a $ref leads back to itself without going into a property or an item: it can never be checked"
            )
        if depth > MAX_SCHEMA_DEPTH:
            raise ToolDefinitionError(
                f"more than {MAX_SCHEMA_DEPTH} $ref, anyOf, allOf or oneOf lie one in the other; flatten the schema"
            )
        self.open.add(key)
        weight = 1 + sum(self.weigh(child, depth + 1) for child in self._applied(schema))
        self.open.discard(key)
        if weight > MAX_IN_PLACE:
            raise ToolDefinitionError(
                f"more than {MAX_IN_PLACE} alternatives apply to one value, references followed; simplify the schema"
            )
        self.weights[key] = weight
        return weight

    def _applied(self, schema: JsonSchema) -> Iterator[Any]:
        if "$ref" in schema:
            yield resolve_pointer(self.root, schema["$ref"])
        for keyword in _IN_PLACE_SINGLE:
            if keyword in schema:
                yield schema[keyword]
        for keyword in IN_PLACE_LISTS:
            yield from schema.get(keyword, ())
        yield from schema.get("dependentSchemas", {}).values()
