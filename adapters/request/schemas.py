"""Converts JSON Schemas to each provider's dialect: one walker, and a small set of rules for each dialect.

A schema is rewritten before LiteLLM sees it, since LiteLLM's own rewriting loses constraints silently. Each rule that loses a
constraint writes it into the description, where the model can read it, and records a `Loss`. Replies are validated against
the *original* schema, and `restore` undoes in a reply what a rule changed in its shape. Inputs are never modified. O(size of
the schema); recursion is unrolled `UNROLLED` times.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.types import JsonSchema

__all__ = ["DIALECTS", "Loss", "RuleSet", "Transformed", "restore", "transform"]

UNROLLED = 2
"""How often a recursive definition is repeated if references must be inlined."""
MAX_NODES = 4000
"""Mutually recursive definitions unroll exponentially. Beyond this many nodes, a description replaces a reference."""

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = (
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "contentSchema",
)

Node = dict[str, Any]


class Loss(NamedTuple):
    """A constraint that the provider's dialect cannot express. `path` is its place in the schema, `""` for the root."""

    path: str
    keyword: str
    value: Any


class Transformed(NamedTuple):
    """A schema in a dialect, and the constraints that it lost."""

    schema: JsonSchema
    losses: list[Loss]

    @property
    def lossless(self) -> bool:
        return not self.losses


@dataclass
class _Walk:
    """One transformation."""

    rules: RuleSet
    root: Node
    losses: list[Loss] = field(default_factory=list[Loss])
    nodes: int = 0

    def lose(self, node: Node, path: str, keyword: str, note: str | None = None) -> None:
        """Remove a constraint from `node`, put it into the description, and record it."""
        value = node.pop(keyword, None)
        self.losses.append(Loss(path, keyword, value))
        text = note or f"{keyword}: {json.dumps(value, ensure_ascii=False)}"
        described = node.get("description")
        node["description"] = f"{described} ({text})" if described else text

    def node(self, given: Any, path: str = "", seen: tuple[str, ...] = ()) -> Any:
        """Transform one schema and everything inside it."""
        if given is True and not self.rules.booleans:
            given = {}
        if not is_object(given):
            return given
        node = dict(given)
        self.nodes += 1
        if self.rules.inline and (target := _local(node.get("$ref"))) is not None:
            if seen.count(target) >= UNROLLED or self.nodes > MAX_NODES:
                stub = self._stub_of(_resolved(self.root, target))
                self.lose(stub, path, "$ref", f"recursive: the same shape as {target.rsplit('/', 1)[-1]}")
                for rewrite in self.rules.rewrites:
                    rewrite(self, stub, path)
                return stub
            node = _resolved(self.root, target) | {key: value for key, value in node.items() if key != "$ref"}
            seen = (*seen, target)
        for rewrite in self.rules.rewrites:
            rewrite(self, node, path)
        self._drop(node, path)
        for step, container, key in _children(node):
            container[key] = self.node(container[key], f"{path}/{step}", seen)
        return node

    def _stub_of(self, target: Node) -> Node:
        """A definition that is not repeated again: only its type, if it has one."""
        kind: object = target.get("type")
        if isinstance(kind, str):
            return {"type": kind}
        return {} if self.rules.booleans else {"type": "object"}

    def _drop(self, node: Node, path: str) -> None:
        for key in list(node):
            if key in self.rules.removed:
                del node[key]
            elif key in self.rules.described or (key == "format" and not self._takes_format(node)):
                self.lose(node, path, key)

    def _takes_format(self, node: Node) -> bool:
        return self.rules.formats is None or node["format"] in self.rules.formats


Rewrite = Callable[[_Walk, Node, str], None]


@dataclass(frozen=True)
class RuleSet:
    """A dialect. `removed` keywords are dropped, since a model does not need them. `described` keywords move into the
    description."""

    name: str
    rewrites: tuple[Rewrite, ...] = ()
    removed: frozenset[str] = frozenset()
    described: frozenset[str] = frozenset()
    formats: frozenset[str] | None = None
    """String formats that the dialect accepts. None accepts any."""
    inline: bool = False
    """Whether every local `$ref` is replaced by its target."""
    booleans: bool = True
    """Whether `true` is accepted as a schema."""


def _children(node: Node) -> Iterator[tuple[str, Any, Any]]:
    """The schemas directly inside `node`: the path from it, and a new container with the key in it."""
    for key in _MAPS:
        if is_object(node.get(key)):
            inner = node[key] = dict(node[key])
            yield from ((f"{key}/{name}", inner, name) for name in list(inner))
    for key in _LISTS:
        if is_list(node.get(key)):
            items = node[key] = list(node[key])
            yield from ((f"{key}/{at}", items, at) for at in range(len(items)))
    yield from ((key, node, key) for key in _SINGLES if is_object(node.get(key)))


def _local(reference: Any) -> str | None:
    return reference if isinstance(reference, str) and reference.startswith("#") else None


def _resolved(root: Node, reference: str) -> Node:
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if is_object(found) else None
    return dict(found) if is_object(found) else {}


def _dereferenced(root: Node, schema: Node) -> Node:
    """The target of a local reference, or the schema itself."""
    target = _local(schema.get("$ref"))
    return schema if target is None else _resolved(root, target)


# Rewrites: each changes one node in place


def _const_to_enum(walk: _Walk, node: Node, path: str) -> None:
    if "const" in node:
        value = node.pop("const")
        node.setdefault("type", _json_type(value))
        node["enum"] = [value]


def _one_of_to_any_of(walk: _Walk, node: Node, path: str) -> None:
    if "oneOf" in node:
        node["anyOf"] = [*node.get("anyOf", []), *node.pop("oneOf")]


def _merge_all_of(walk: _Walk, node: Node, path: str) -> None:
    """Merge `allOf`: objects become one object with all properties; other schemas are laid over each other."""
    for part in node.pop("allOf", []):
        part = dict(_dereferenced(walk.root, part))
        _merge_all_of(walk, part, path)
        node["properties"] = {**part.pop("properties", {}), **node.get("properties", {})}
        node["required"] = list(dict.fromkeys([*node.get("required", []), *part.pop("required", [])]))
        node.update({key: value for key, value in part.items() if key not in node})
        for key in ("properties", "required"):
            if not node[key]:
                del node[key]


def _type_list_to_any_of(walk: _Walk, node: Node, path: str) -> None:
    kinds = node.get("type")
    if not is_list(kinds):
        return
    shared = {key: node.pop(key) for key in list(node) if key in {"description", "title", "default"}}
    about = {key: node.pop(key) for key in list(node)}
    parts: list[Node] = [{"type": "null"} if kind == "null" else {**about, "type": kind} for kind in kinds]
    node.update(shared | (parts[0] if len(parts) == 1 else {"anyOf": parts}))


def _tuple_to_list(walk: _Walk, node: Node, path: str) -> None:
    if "prefixItems" not in node:
        return
    parts = node.pop("prefixItems")
    walk.losses.append(Loss(path, "prefixItems", len(parts)))
    distinct = [part for at, part in enumerate(parts) if part not in parts[:at]]
    node.setdefault("type", "array")
    node.update(items=distinct[0] if len(distinct) == 1 else {"anyOf": distinct}, minItems=len(parts), maxItems=len(parts))


def _map_to_pairs(walk: _Walk, node: Node, path: str) -> None:
    """Replace an object with arbitrary keys, whose values such a dialect drops, by a list of pairs. `restore` undoes it."""
    if _is_map(node):
        value = node.pop("additionalProperties")
        pair = {
            "type": "object",
            "properties": {"key": {"type": "string"}, "value": value},
            "required": ["key", "value"],
        }
        node.update(type="array", items=pair)
        walk.losses.append(Loss(path, "additionalProperties", "as a list of {key, value}"))


def _keep_text_enums(walk: _Walk, node: Node, path: str) -> None:
    values = node.get("enum")
    if is_list(values) and not all(isinstance(value, str) for value in values):
        node.setdefault("type", _json_type(values[0]) if values else "string")
        walk.lose(node, path, "enum", "one of " + ", ".join(json.dumps(value) for value in values))


def _close_objects(walk: _Walk, node: Node, path: str) -> None:
    """Make objects refuse additional properties. Arbitrary keys cannot be expressed."""
    if _is(node, "object") or "properties" in node:
        extra = node.get("additionalProperties")
        if extra not in (None, False):
            walk.lose(node, path, "additionalProperties")
        node.setdefault("properties", {})
        node["additionalProperties"] = False


def _require_all(walk: _Walk, node: Node, path: str) -> None:
    """Make every property required. An optional one may be null instead."""
    properties = node.get("properties")
    if not is_object(properties):
        return
    optional = [name for name in properties if name not in node.get("required", [])]
    for name in optional:
        walk.losses.append(Loss(f"{path}/properties/{name}", "optional", "as null"))
        properties = properties | {name: _nullable(properties[name])}
    node["properties"], node["required"] = properties, list(properties)


def _isolate_reference(walk: _Walk, node: Node, path: str) -> None:
    if "$ref" in node and len(node) > 1:
        node["anyOf"] = [{"$ref": node.pop("$ref")}]


def _type_items(walk: _Walk, node: Node, path: str) -> None:
    if _is(node, "array") and not node.get("items"):
        node["items"] = {"type": "string"}
        walk.losses.append(Loss(path, "items", "any"))


def _type_untyped(walk: _Walk, node: Node, path: str) -> None:
    """Make a schema without a type a string, since such a dialect would make it an empty object."""
    if not node.keys() & {"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const", "properties"}:
        node["type"] = "string"
        walk.losses.append(Loss(path, "type", "any"))


def _limit_min_items(walk: _Walk, node: Node, path: str) -> None:
    if node.get("minItems", 0) > 1:
        walk.lose(node, path, "minItems")


def _nullable(schema: Any) -> Any:
    if not is_object(schema) or _allows_null(schema):
        return schema
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _allows_null(schema: Node) -> bool:
    kind = schema.get("type")
    kinds = kind if is_list(kind) else [kind]
    parts = [part for key in ("anyOf", "oneOf") for part in schema.get(key, [])]
    return "null" in kinds or None in schema.get("enum", ()) or any(is_object(part) and _allows_null(part) for part in parts)


def _is(node: Node, kind: str) -> bool:
    declared = node.get("type")
    return kind in declared if is_list(declared) else declared == kind


def _is_map(schema: Mapping[str, Any]) -> bool:
    return is_object(schema.get("additionalProperties")) and not schema.get("properties")


def _json_type(value: Any) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
    )
    return "null" if value is None else next((name for kind, name in kinds if isinstance(value, kind)), "object")


# Dialects

_LENGTHS = {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_APPLICATORS = {
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
}
_NOTES = {
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "title",
    "examples",
    "example",
    "discriminator",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
}
_OPENAI_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

_DEFINITIONS = frozenset({"$defs", "definitions", "discriminator"})
"""Keywords for definitions, which are useless once references are inlined."""

DIALECTS: dict[str, RuleSet] = {
    rules.name: rules
    for rules in (
        RuleSet("json_schema"),
        RuleSet("inline_defs", inline=True, removed=_DEFINITIONS),
        RuleSet(
            "openai_strict",
            rewrites=(
                _one_of_to_any_of,
                _merge_all_of,
                _isolate_reference,
                _tuple_to_list,
                _type_untyped,
                _type_items,
                _close_objects,
                _require_all,
            ),
            removed=frozenset({"$schema", "$id", "$comment", "examples", "discriminator"}),
            described=frozenset(
                _APPLICATORS | {"default", "minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems"}
            ),
            formats=frozenset(_OPENAI_FORMATS),
            booleans=False,
        ),
        RuleSet(
            "gemini",  # the OpenAPI subset of function declarations
            rewrites=(
                _const_to_enum,
                _one_of_to_any_of,
                _merge_all_of,
                _tuple_to_list,
                _type_list_to_any_of,
                _map_to_pairs,
                _keep_text_enums,
                _type_untyped,
                _type_items,
            ),
            removed=frozenset(_NOTES | {"$defs", "definitions", "default", "additionalProperties"}),
            described=frozenset(_APPLICATORS | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
            formats=frozenset({"date-time", "enum", "int32", "int64", "float", "double"}),
            inline=True,
            booleans=False,
        ),
        RuleSet(
            "gemini_json",  # response_json_schema
            rewrites=(_const_to_enum,),
            removed=frozenset(_NOTES),
            described=frozenset({"exclusiveMinimum", "exclusiveMaximum"}),
            formats=frozenset({"date-time", "date", "time"}),
        ),
        RuleSet("openai"),
        RuleSet("anthropic"),
        RuleSet("anthropic_inline", inline=True, removed=_DEFINITIONS),  # Claude on Bedrock
        RuleSet(
            "anthropic_strict",  # output_format
            rewrites=(_one_of_to_any_of, _merge_all_of, _tuple_to_list, _type_untyped, _close_objects, _limit_min_items),
            removed=_DEFINITIONS | {"$schema", "$id", "$comment", "examples"},
            inline=True,  # Structured outputs take no recursion, and LiteLLM would send references without what they name
            described=frozenset(_APPLICATORS | _BOUNDS | (_LENGTHS - {"minItems"})),
            formats=frozenset(_OPENAI_FORMATS | {"uri"}),
            booleans=False,
        ),
    )
}
_PLAIN_ROOT = frozenset({"openai", "openai_strict", "anthropic", "anthropic_inline", "anthropic_strict", "gemini"})
"""Dialects whose root must be one object, without anyOf, oneOf and allOf."""


def transform(schema: JsonSchema, dialect: str) -> Transformed:
    """Return a copy of `schema` in a provider's dialect, whose root is no reference. Raises `KeyError` for an unknown
    dialect."""
    rules = DIALECTS[dialect]
    root = copy.deepcopy(schema)
    if (target := _local(root.get("$ref"))) is not None:
        root = {**_resolved(root, target), **{key: value for key, value in root.items() if key != "$ref"}}
    walk = _Walk(rules, root)
    if dialect in _PLAIN_ROOT:
        _merge_all_of(walk, root, "")
        _merge_branches(walk, root)
    found = walk.node(root)
    return Transformed(found if is_object(found) else {}, walk.losses)


def _merge_branches(walk: _Walk, root: Node) -> None:
    """Merge a root that is one of several objects into one object with all properties. Only what every branch requires stays
    required."""
    for key in ("anyOf", "oneOf"):
        branches = [_dereferenced(walk.root, part) for part in objects_in(root.get(key))]
        if not branches:
            continue
        del root[key]
        walk.losses.append(Loss("", key, len(branches)))
        needed: list[set[str]] = [set(branch.get("required", [])) for branch in branches]
        common = set[str].intersection(*needed)
        properties = [object_in(part.get("properties")) for part in (*branches, root)]
        root["type"] = "object"
        root["properties"] = {name: part for each in properties for name, part in each.items()}
        own: list[str] = root.get("required", [])
        root["required"] = list(dict.fromkeys([*own, *sorted(common)]))


def restore(schema: JsonSchema, value: Any, root: JsonSchema | None = None) -> Any:
    """Return a reply's value in the original schema's shape: lists of pairs become objects, and nulls for optional properties
    are removed.

    `schema` is the original one. A value that already fits is returned unchanged.
    """
    root = schema if root is None else root
    if (target := _local(schema.get("$ref"))) is not None:
        schema = _resolved(root, target)
    if _is_map(schema) and is_list(value):
        value = _unpaired(value)
    if is_object(value):
        return _restored_object(schema, value, root)
    if is_list(value) and is_object(schema.get("items")):
        return [restore(schema["items"], item, root) for item in value]
    return value


def _unpaired(pairs: list[Any]) -> Any:
    if all(is_object(pair) and set(pair) == {"key", "value"} for pair in pairs):
        return {str(pair["key"]): pair["value"] for pair in pairs}
    return pairs


def _restored_object(schema: Node, value: Node, root: Node) -> Node:
    properties, required = object_in(schema.get("properties")), schema.get("required") or ()
    extra: Any = schema.get("additionalProperties")
    found: Node = {}
    for key, item in value.items():
        inner: Any = properties.get(key, extra)
        if not is_object(inner):
            found[key] = item
        elif item is not None or key in required or _allows_null(inner):
            found[key] = restore(inner, item, root)
    return found
