"""Views: a subschema with its `$ref`, `allOf` and sibling keywords combined, for the coercer.

A view holds only what guides a repair: types, allowed values, properties, items, alternatives. Only the validator decides
whether a value fits. `drafts` bounds the size of a schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema
from llmcore.validator.schema.compiled import CompiledSchema
from llmcore.validator.schema.problems import type_name
from llmcore.validator.schema.quick import NAMES, TITLE

__all__ = ["View", "json_kinds", "view_of"]


@dataclass(slots=True)
class View:
    """`types` are the allowed types in the schema's order; `()` allows any. `allowed` are enum or const values, None if
    unbounded.

    `extra` is the schema of additional keys, True if the schema does not mention them. `alternatives` holds each `anyOf` and
    `oneOf`.
    """

    types: tuple[str, ...] = ()
    allowed: list[Any] | None = None
    properties: dict[str, Any] = field(default_factory=dict[str, Any])
    required: list[str] = field(default_factory=list[str])
    extra: Any = True
    patterns: bool = False
    items: Any = True
    prefix: list[Any] = field(default_factory=list[Any])
    alternatives: list[list[Any]] = field(default_factory=list[list[Any]])
    unique: bool = False
    """Whether an array is a set."""
    names: list[str] = field(default_factory=list[str])
    """The names of the allowed values, or of an array's items, if the type has them."""
    bounded_text: bool = False
    """Whether a string must match a pattern or a format."""
    format: str = ""
    title: str = ""
    """The type's name, if the schema gives it."""

    def value_schema(self, key: str) -> Any:
        """The schema for the value of `key`."""
        return self.properties.get(key, self.extra)

    def item_schema(self, index: int) -> Any:
        return self.prefix[index] if index < len(self.prefix) else self.items

    @property
    def branches(self) -> list[Any]:
        """The members of all `alternatives`."""
        return [branch for each in self.alternatives for branch in each]

    @property
    def item_names(self) -> list[str]:
        """The names of a named tuple's items."""
        return self.names if "array" in self.types else []

    @property
    def closed(self) -> bool:
        """Whether keys beyond `properties` are refused."""
        return self.extra is False and not self.patterns


def view_of(schema: CompiledSchema, subschema: Any) -> View:
    """Return the view of a subschema. It is built once; do not change it."""
    found = schema.views.get(id(subschema))
    if found is None:
        found = schema.views[id(subschema)] = _new_view(schema, subschema)
    return found


def _new_view(schema: CompiledSchema, subschema: Any) -> View:
    view = View()
    waiting = [subschema]
    while waiting:
        part = waiting.pop(0)
        if is_object(part):
            _add(view, part)
            waiting += [schema.target(part["$ref"])] if "$ref" in part else []
            waiting += part.get("allOf", [])
    view.types = view.types or _implied_types(view)
    return view


def json_kinds(schema: CompiledSchema, view: View) -> set[str]:
    """Return the types that a view or one of its alternatives allows. Empty if the schema does not say."""
    return {*view.types, *(name for branch in view.branches for name in view_of(schema, branch).types)}


def _add(view: View, part: JsonSchema) -> None:
    if "type" in part:
        declared = cast("list[str]", part["type"] if is_list(part["type"]) else [part["type"]])
        view.types = tuple(name for name in declared if not view.types or name in view.types)
    if "const" in part or "enum" in part:
        values = [part["const"]] if "const" in part else part["enum"]
        view.allowed = values if view.allowed is None else [value for value in values if value in view.allowed]
    for key, subschema in part.get("properties", {}).items():
        view.properties.setdefault(key, subschema)
    view.required += [name for name in part.get("required", []) if name not in view.required]
    view.extra = part.get("additionalProperties", view.extra)
    view.bounded_text = view.bounded_text or "pattern" in part or "format" in part
    view.format = part.get("format", view.format)
    view.title = view.title or str(part.get("title") or part.get(TITLE, ""))
    view.patterns = view.patterns or "patternProperties" in part
    view.items = part.get("items", view.items)
    view.unique = view.unique or (part.get("uniqueItems") is True and "prefixItems" not in part)
    view.prefix = part.get("prefixItems", view.prefix)
    view.names = part.get(NAMES, view.names)
    view.alternatives += [part[keyword] for keyword in ("anyOf", "oneOf") if keyword in part]


def _implied_types(view: View) -> tuple[str, ...]:
    """The types that the other keywords imply if the schema has no `type`."""
    if view.allowed is not None:
        return tuple(dict.fromkeys(type_name(value) for value in view.allowed))
    implied = ["object"] if view.properties or view.required else []
    return (*implied, *(["array"] if view.prefix or view.items is not True else []))
