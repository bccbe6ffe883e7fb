"""Converts schemas to one form: Draft 2020-12 with local references only, and with checked keywords.

`convert` accepts Draft 4, 6, 7, 2019-09 and 2020-12, OpenAPI 3.0's `nullable`, and type names of other languages
(`llmcore.types.schemas.type_names`). It recognizes them by `$schema` and by shape. Afterwards every `$ref` is a JSON pointer
into the same document, and no `$schema`, `$id` or anchor is left. So nothing can be fetched, and no schema can select another
validator class.

It refuses what cannot be validated, and names the place and the fix: unknown types, invalid patterns, references that lead
nowhere or outside, loops, and schemas that are too large. Linear in the size of the schema, whose depth and size are checked
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema, ToolDefinitionError
from llmcore.types.schemas.type_names import COUNTS, count_of, standard_type
from llmcore.validator.schema.problems import shown_value
from llmcore.validator.schema.references import IN_PLACE_LISTS, Path, check_in_place, pointer_to, resolve_pointer
from llmcore.validator.schema.schema_checks import LISTS, MAPS, SINGLE, check_keywords, check_root, schema_error

__all__ = ["MAX_SCHEMA_CHARACTERS", "convert"]

MAX_SCHEMA_CHARACTERS = 500_000

_OLD_DRAFTS = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")


def convert(schema: JsonSchema) -> JsonSchema:
    """Convert `schema` in place (pass a copy) and return it. Raises `ToolDefinitionError`, whose message begins with the
    place."""
    return _Conversion(schema).run()


class _Conversion:
    """One conversion: a worklist of subschemas. Each is modernized and checked, and its children are added."""

    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        dialect = root.get("$schema")
        self.old = isinstance(dialect, str) and any(draft in dialect for draft in _OLD_DRAFTS)
        self.waiting: list[tuple[Any, Path]] = [(root, ())]
        self.schemas: list[JsonSchema] = []
        self.seen: set[int] = set()
        self.names: dict[str, Path] = {}
        self.references: list[tuple[JsonSchema, Path]] = []

    def run(self) -> JsonSchema:
        check_root(self.root)
        self._drain()
        done = 0
        while done < len(self.references):  # a reference may lead to a subschema under no known keyword
            self._link(*self.references[done])
            self._drain()
            done += 1
        keywords = {keyword for schema in self.schemas for keyword in schema}
        if {"unevaluatedProperties", "patternProperties"} <= keywords:
            raise ToolDefinitionError("unevaluatedProperties together with patternProperties cannot be checked safely; drop one")
        check_in_place(self.root, self.schemas)
        return self.root

    def _drain(self) -> None:
        while self.waiting:
            schema, path = self.waiting.pop()
            if isinstance(schema, bool):
                continue
            if not is_object(schema):
                raise schema_error(path, f"a schema must be an object or true/false, got {shown_value(schema)}")
            if id(schema) not in self.seen:
                self.seen.add(id(schema))
                self._convert_one(schema, path)

    def _convert_one(self, schema: JsonSchema, path: Path) -> None:
        _modernize(schema, self.old)
        self._record_names(schema, path)
        check_keywords(schema, path)
        if "$ref" in schema:
            self.references.append((schema, path))
        self.schemas.append(schema)
        self.waiting.extend(_children(schema, path))

    def _record_names(self, schema: JsonSchema, path: Path) -> None:
        """Record the names by which references may call this schema, and remove them."""
        schema.pop("$schema", None)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.pop(keyword, None), str):
                self.names[f"#{anchor}"] = path
        for keyword in ("$id", "id") if self.old else ("$id",):
            if isinstance(schema.get(keyword), str):
                self.names[str(schema.pop(keyword)).removesuffix("#")] = path

    def _link(self, schema: JsonSchema, path: Path) -> None:
        reference = schema["$ref"]
        base, _, fragment = reference.partition("#")
        prefix: Path | None = self.names.get(base) if base else ()
        if fragment and not fragment.startswith("/"):
            prefix, fragment = self.names.get(f"#{fragment}"), ""
        if prefix is None:
            raise schema_error(
                path, f"$ref {reference!r} leads out of the schema and is never fetched; put its target under $defs"
            )
        pointer = pointer_to(prefix) + fragment
        try:
            target = resolve_pointer(self.root, pointer)
        except (KeyError, ValueError):
            raise schema_error(path, f"$ref {reference!r} leads nowhere") from None
        schema["$ref"] = pointer
        self.waiting.append((target, path))


def _children(schema: JsonSchema, path: Path) -> Iterator[tuple[Any, Path]]:
    for keyword in SINGLE:
        if keyword in schema:
            yield schema[keyword], (*path, keyword)
    for keyword in LISTS:
        for index, child in enumerate(schema.get(keyword, ())):
            yield child, (*path, keyword, index)
    for keyword in MAPS:
        for key, child in schema.get(keyword, {}).items():
            yield child, (*path, keyword, key)


# --- older drafts -----------------------------------------------------------------------------------------------------


def _modernize(schema: JsonSchema, old: bool) -> None:
    if old and "$ref" in schema:  # up to draft 7, keywords beside $ref have no effect
        for key in [key for key in schema if key not in ("$ref", "description", "title", "default", "definitions", "$schema")]:
            del schema[key]
    _modernize_type(schema)
    _modernize_items(schema)
    _modernize_dependencies(schema)
    for keyword, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(flag := schema.get(keyword), bool):  # draft 4
            del schema[keyword]
            if flag and plain in schema:
                schema[keyword] = schema.pop(plain)
    for keyword in ("$recursiveRef", "$dynamicRef"):
        if isinstance(target := schema.pop(keyword, None), str):
            schema.setdefault("$ref", target)
    schema.pop("$recursiveAnchor", None)
    for keyword in COUNTS:
        if keyword in schema:
            schema[keyword] = count_of(schema[keyword])
    if isinstance(schema.get("required"), bool):  # draft 3
        del schema["required"]
    if schema.pop("nullable", False) is True:
        _admit_null(schema)


def _modernize_type(schema: JsonSchema) -> None:
    declared = schema.get("type")
    named = standard_type(declared)
    if declared is not None and named is None:
        del schema["type"]
    elif named != declared:
        schema["type"] = named


def _modernize_items(schema: JsonSchema) -> None:
    rest = schema.pop("additionalItems", None)
    if is_list(schema.get("items")):
        schema["prefixItems"] = schema.pop("items")
        if rest is not None:
            schema["items"] = rest


def _modernize_dependencies(schema: JsonSchema) -> None:
    dependencies = schema.pop("dependencies", None)
    for key, needed in dependencies.items() if is_object(dependencies) else ():
        names = [needed] if isinstance(needed, str) else needed
        keyword = "dependentRequired" if is_list(names) else "dependentSchemas"
        found = schema.setdefault(keyword, {})
        if is_object(found):
            found[key] = names


def _admit_null(schema: JsonSchema) -> None:
    declared = schema.get("type")
    if isinstance(declared, str):
        schema["type"] = [declared, "null"]
    elif is_list(declared):
        schema["type"] = [*declared, *([] if "null" in declared else ["null"])]
    elif any(key in schema for key in ("$ref", *IN_PLACE_LISTS)):
        shared: JsonSchema = {key: schema.pop(key) for key in ("$defs", "definitions") if key in schema}  # references lead there
        inner = dict(schema)
        schema.clear()
        schema.update({**shared, "anyOf": [inner, {"type": "null"}]})
        return
    if is_list(schema.get("enum")) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
