"""Schemas as tools are written, converted to one form: Draft 2020-12, local references only, known keywords checked.

`convert` takes Draft 4, 6, 7, 2019-09 and 2020-12, OpenAPI 3.0's `nullable` and Gemini's upper-case or numbered
types, told apart by `$schema` and by shape. Afterwards every `$ref` is a JSON pointer into the same document and no
`$schema`, `$id` or anchor is left, so nothing can be fetched and no other validator class can be switched to. It
refuses, naming place and fix, what could not be validated: unknown types, bad patterns, references that lead nowhere
or out, loops, too much of anything. Linear in the size of the schema; its own depth and size are capped before
anything recurses.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, cast

from llmcore.types import JsonSchema, ToolDefinitionError
from llmcore.types.narrowing import is_list, is_object
from llmcore.validator.patterns import PatternError, compile_pattern
from llmcore.validator.problems import join_path, shown

__all__ = ["MAX_IN_PLACE", "MAX_SCHEMA_CHARACTERS", "MAX_SCHEMA_DEPTH", "convert", "resolve_pointer"]

MAX_SCHEMA_CHARACTERS = 500_000
MAX_SCHEMA_DEPTH = 128
"""Levels of JSON; a property costs two. Also the number of in-place steps (`$ref`, `anyOf`, ...) in a row."""
MAX_IN_PLACE = 4096
"""Subschemas that may apply to one and the same value, references followed: doubling through `$ref` ends here."""

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

_SINGLE = (
    "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items", "contains", "propertyNames", "not",
    "if", "then", "else",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")

_GEMINI_TYPES = (None, "string", "number", "integer", "boolean", "array", "object", "null")  # by the enum's number
_COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")
_COMMON_TYPE_MISTAKES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "bool": "boolean", "dict": "object", "map": "object", "struct": "object", "list": "array", "tuple": "array",
    "none": "null",
}  # fmt: skip

Path = tuple[str | int, ...]


def convert(schema: JsonSchema) -> JsonSchema:
    """Convert `schema` in place (give a copy) and return it. Raises `ToolDefinitionError`; messages begin with the
    place."""
    return _Conversion(schema).run()


def resolve_pointer(root: Any, reference: str) -> Any:
    """The target of a local `#/json/pointer`; raises KeyError when it leads nowhere."""
    target = root
    for step in reference[1:].split("/")[1:]:
        target = _step(target, _unescaped(step))
    return target


def _unescaped(step: str) -> str:
    if "%" in step:
        from urllib.parse import unquote  # needed for few schemas, and it pulls in more than it gives

        step = unquote(step)
    return step.replace("~1", "/").replace("~0", "~")


def _step(target: Any, step: str) -> Any:
    if is_object(target) and step in target:
        return target[step]
    if is_list(target) and step.isascii() and step.isdigit() and int(step[:6]) < len(target):
        return target[int(step[:6])]
    raise KeyError(step)


def _pointer(path: Path) -> str:
    return "#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _fail(path: Path, message: str) -> ToolDefinitionError:
    return ToolDefinitionError(f"{join_path(path) or 'the schema'}: {message}")


class _Conversion:
    """One run: a worklist of subschemas, each repaired, checked, and its children added."""

    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        dialect = root.get("$schema")
        self.old = isinstance(dialect, str) and any(draft in dialect for draft in _OLD_DRAFTS)
        self.waiting: list[tuple[Any, Path]] = [(root, ())]
        self.seen: dict[int, Path] = {}
        self.named: dict[str, Path] = {}
        self.references: list[tuple[JsonSchema, Path]] = []

    def run(self) -> JsonSchema:
        self._drain()
        done = 0
        while done < len(self.references):  # a reference may lead to a place no keyword leads to: walk there too
            self._link(*self.references[done])
            self._drain()
            done += 1
        keywords = {key for path in (s for s, _ in self._all()) for key in path}
        if {"unevaluatedProperties", "patternProperties"} <= keywords:
            raise ToolDefinitionError("unevaluatedProperties together with patternProperties cannot be checked safely; drop one")
        _InPlace(self.root).check([schema for schema, _ in self._all()])
        return self.root

    def _all(self) -> Iterator[tuple[JsonSchema, Path]]:
        return iter(self.schemas)

    def _drain(self) -> None:
        while self.waiting:
            schema, path = self.waiting.pop()
            if isinstance(schema, bool):
                continue
            if not is_object(schema):
                raise _fail(path, f"a schema must be an object or true/false, got {shown(schema)}")
            if id(schema) not in self.seen:
                self.seen[id(schema)] = path
                self._take(schema, path)

    def _take(self, schema: JsonSchema, path: Path) -> None:
        _modernise(schema, self.old)
        self._name(schema, path)
        _check_keywords(schema, path)
        if "$ref" in schema:
            self.references.append((schema, path))
        self.schemas.append((schema, path))
        self.waiting.extend(_children(schema, path))

    @property
    def schemas(self) -> list[tuple[JsonSchema, Path]]:
        found: list[tuple[JsonSchema, Path]] = self.__dict__.setdefault("_schemas", [])
        return found

    def _name(self, schema: JsonSchema, path: Path) -> None:
        """Remember what a reference may call this schema, then forget the names themselves."""
        schema.pop("$schema", None)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.pop(keyword, None), str):
                self.named[f"#{anchor}"] = path
        for keyword in ("$id", "id") if self.old else ("$id",):
            if isinstance(schema.get(keyword), str):
                self.named[str(schema.pop(keyword)).removesuffix("#")] = path

    def _link(self, schema: JsonSchema, path: Path) -> None:
        reference = schema["$ref"]
        base, _, fragment = reference.partition("#")
        prefix: Path | None = self.named.get(base) if base else ()
        if fragment and not fragment.startswith("/"):
            prefix, fragment = self.named.get(f"#{fragment}"), ""
        if prefix is None:
            raise _fail(path, f"$ref {reference!r} leads out of the schema and is never fetched; put its target under $defs")
        pointer = _pointer(prefix) + fragment
        try:
            target = resolve_pointer(self.root, pointer)
        except (KeyError, ValueError):
            raise _fail(path, f"$ref {reference!r} leads nowhere") from None
        schema["$ref"] = pointer
        self.waiting.append((target, path))


def _children(schema: JsonSchema, path: Path) -> Iterator[tuple[Any, Path]]:
    for keyword in _SINGLE:
        if keyword in schema:
            yield schema[keyword], (*path, keyword)
    for keyword in _LISTS:
        for index, child in enumerate(schema.get(keyword, ())):
            yield child, (*path, keyword, index)
    for keyword in _MAPS:
        for key, child in schema.get(keyword, {}).items():
            yield child, (*path, keyword, key)


# --- older ways of saying it ------------------------------------------------------------------------------------------


def _modernise(schema: JsonSchema, old: bool) -> None:
    if old and "$ref" in schema:  # up to draft 7 nothing beside $ref counts
        for key in [key for key in schema if key not in ("$ref", "description", "title", "default", "definitions", "$schema")]:
            del schema[key]
    _modernise_type(schema)
    _modernise_items(schema)
    _modernise_dependencies(schema)
    for keyword, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(flag := schema.get(keyword), bool):  # draft 4
            del schema[keyword]
            if flag and plain in schema:
                schema[keyword] = schema.pop(plain)
    for keyword in ("$recursiveRef", "$dynamicRef"):
        if isinstance(target := schema.pop(keyword, None), str):
            schema.setdefault("$ref", target)
    schema.pop("$recursiveAnchor", None)
    for keyword in _COUNTS:  # Gemini writes int64 as text
        if isinstance(count := schema.get(keyword), str) and count.isascii() and count.isdigit() and len(count) < 10:
            schema[keyword] = int(count)
    if isinstance(schema.get("required"), bool):  # draft 3
        del schema["required"]
    if schema.pop("nullable", False) is True:
        _admit_null(schema)


def _modernise_type(schema: JsonSchema) -> None:
    declared = schema.get("type")
    if isinstance(declared, int) and not isinstance(declared, bool) and 0 < declared < len(_GEMINI_TYPES):
        schema["type"] = _GEMINI_TYPES[declared]
    elif isinstance(declared, str) and declared == declared.upper():
        schema["type"] = declared.lower()
    if schema.get("type") in ("any", "type_unspecified"):
        del schema["type"]


def _modernise_items(schema: JsonSchema) -> None:
    rest = schema.pop("additionalItems", None)
    if is_list(schema.get("items")):
        schema["prefixItems"] = schema.pop("items")
        if rest is not None:
            schema["items"] = rest


def _modernise_dependencies(schema: JsonSchema) -> None:
    dependencies = schema.pop("dependencies", None)
    if not is_object(dependencies):
        return
    for key, needed in dependencies.items():
        if isinstance(needed, (str, list)):
            schema.setdefault("dependentRequired", {})[key] = [needed] if isinstance(needed, str) else needed
        else:
            schema.setdefault("dependentSchemas", {})[key] = needed


def _admit_null(schema: JsonSchema) -> None:
    declared = schema.get("type")
    if isinstance(declared, str):
        schema["type"] = [declared, "null"]
    elif is_list(declared):
        schema["type"] = [*declared, *([] if "null" in declared else ["null"])]
    elif any(key in schema for key in ("$ref", *_IN_PLACE_LISTS)):
        shared: JsonSchema = {key: schema.pop(key) for key in ("$defs", "definitions") if key in schema}  # references lead there
        inner = dict(schema)
        schema.clear()
        schema.update({**shared, "anyOf": [inner, {"type": "null"}]})
        return
    if is_list(schema.get("enum")) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]


# --- the keywords, checked --------------------------------------------------------------------------------------------


def _check_keywords(schema: JsonSchema, path: Path) -> None:
    _check_type(schema, path)
    for keyword in ("$ref", "pattern", "format"):
        if keyword in schema and not isinstance(schema[keyword], str):
            raise _fail((*path, keyword), f"must be a string, got {shown(schema[keyword])}")
    for keyword in _COUNTS:
        if keyword in schema and not _is_count(schema[keyword]):
            raise _fail((*path, keyword), f"must be a whole number of at least 0, got {shown(schema[keyword])}")
    for keyword in (*_BOUNDS, "multipleOf"):
        if keyword in schema and not _is_number(schema[keyword]):
            raise _fail((*path, keyword), f"must be a number, got {shown(schema[keyword])}")
    if "multipleOf" in schema and schema["multipleOf"] <= 0:
        raise _fail((*path, "multipleOf"), "must be greater than 0")
    _check_containers(schema, path)
    _check_patterns(schema, path)


def _is_count(value: Any) -> bool:
    return (
        not isinstance(value, bool)
        and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
        and value >= 0
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_type(schema: JsonSchema, path: Path) -> None:
    if "type" not in schema:
        return
    declared = schema["type"]
    for name in declared if is_list(declared) else [declared]:
        if name not in TYPES:
            raise _fail((*path, "type"), f"unknown type {shown(name)}{_meant(name)}; the types are {', '.join(TYPES)}")
    if is_list(declared) and not declared:
        raise _fail((*path, "type"), "an empty list of types admits nothing")


def _meant(name: Any) -> str:
    if not isinstance(name, str):
        return ""
    lowered = name.lower()
    guess = _COMMON_TYPE_MISTAKES.get(lowered) or next(iter(difflib.get_close_matches(lowered[:40], TYPES, 1)), None)
    return f", did you mean {guess!r}?" if guess else ""


def _check_containers(schema: JsonSchema, path: Path) -> None:
    for keyword in _LISTS:
        if keyword in schema and not (is_list(schema[keyword]) and schema[keyword]):
            raise _fail((*path, keyword), f"must be a non-empty list of schemas, got {shown(schema[keyword])}")
    for keyword in (*_MAPS, "dependentRequired"):
        if keyword in schema and not is_object(schema[keyword]):
            raise _fail((*path, keyword), f"must be an object, got {shown(schema[keyword])}")
    if "enum" in schema and not is_list(schema["enum"]):
        raise _fail((*path, "enum"), f"must be a list of values, got {shown(schema['enum'])}")
    if "uniqueItems" in schema and not isinstance(schema["uniqueItems"], bool):
        raise _fail((*path, "uniqueItems"), f"must be true or false, got {shown(schema['uniqueItems'])}")
    if "required" in schema:
        _check_names(schema["required"], (*path, "required"))
    for key, names in schema.get("dependentRequired", {}).items():
        _check_names(names, (*path, "dependentRequired", key))


def _check_names(names: Any, path: Path) -> None:
    if not is_list(names) or not all(isinstance(name, str) for name in names):
        raise _fail(path, f"must be a list of property names, got {shown(names)}")


def _check_patterns(schema: JsonSchema, path: Path) -> None:
    patterns = [((*path, "pattern"), schema["pattern"])] if "pattern" in schema else []
    patterns += [((*path, "patternProperties"), pattern) for pattern in schema.get("patternProperties", {})]
    for where, pattern in patterns:
        try:
            compile_pattern(pattern)
        except (PatternError, RecursionError, OverflowError, ValueError) as error:
            raise _fail(where, f"not a regular expression: {shown(pattern)} ({error})") from None


class _InPlace:
    """How many subschemas apply to one value, references followed: memoised, so linear although it counts what
    doubles."""

    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        self.weights: dict[int, int] = {}
        self.open: set[int] = set()

    def check(self, schemas: list[JsonSchema]) -> None:
        for schema in schemas:
            self.weigh(schema, 0)

    def weigh(self, schema: Any, depth: int) -> int:
        if not is_object(schema):
            return 1
        key = id(cast("object", schema))
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
        for keyword in _IN_PLACE_LISTS:
            yield from schema.get(keyword, ())
        yield from schema.get("dependentSchemas", {}).values()
