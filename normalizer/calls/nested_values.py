"""Nested elements as values of parameters with an object or array type.

An element with children is an object, in which a repeated child is a list. If the schema wants an array, it is an array. An
element without children is text, typed by the schema. lxml reads XML and is imported at first use. It resolves no entity,
accepts no DTD or declaration, and recovers nothing. Nesting is limited by `Limits.depth`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.calls.unions import are_children, container_of, empty_container
from llmcore.normalizer.notations.relaxed.state import Stop
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import CompiledTool

__all__ = ["NestedElement", "element_value", "inner_names", "item_of", "parameter_value", "read_xml", "schema_value"]

_TEXT_KEY: Final = "$text"
_INDEXED: Final = "index."
"""A prefix for an index tag, because a number is no name in XML."""
_INDEX: Final = re.compile(r"[0-9]{1,9}")
_INDEX_TAG: Final = lazy_regex(r"<(/?)([0-9]{1,9}\s{0,4}/?)>")
_BARE_AMPERSAND: Final = lazy_regex(r"&(?!#?\w{1,32};)")
_BARE_BRACKET: Final = lazy_regex(r"<(?![/A-Za-z_!?])")


class NestedElement:
    """A tag with its own texts and its child elements, in order."""

    __slots__ = ("children", "tag", "texts")

    def __init__(self, tag: str, texts: list[str] | None = None, children: list[NestedElement] | None = None) -> None:
        self.tag = tag
        self.texts: list[str] = [] if texts is None else texts
        self.children: list[NestedElement] = [] if children is None else children

    @property
    def text(self) -> str:
        """All of its own text. If it has children, without layout."""
        return "".join(text.strip() for text in self.texts) if self.children else "".join(self.texts)


def parameter_value(
    text: str, tool: CompiledTool | None, key: str, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[Any, list[Repair]]:
    """As `typed_value`. If the schema allows an object or array, XML becomes its elements, and empty text an empty one."""
    types = tool.types(key) if tool is not None else ()
    if tool is None or types == ("string",):
        return text, []
    return _value(text, types, tool, tool.properties.get(key), key, limits)


def schema_value(
    text: str, tool: CompiledTool | None, schema: Any, path: str, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[Any, list[Repair]]:
    """As `parameter_value`, for any part of the tool's schema."""
    if tool is None or schema is None:
        return text, []
    return _value(text, tool.types_of(schema), tool, schema, path, limits)


def item_of(schema: Any, tool: CompiledTool | None) -> Any:
    """The schema of the items, None if `schema` has none."""
    return _part(schema, tool, "items")


def inner_names(schema: Any, tool: CompiledTool | None) -> Collection[str]:
    """The names of an object's properties by the schema."""
    known = _part(schema, tool, "properties")
    return known.keys() if is_object(known) else ()


def _value(
    text: str, types: tuple[str, ...], tool: CompiledTool, schema: Any, path: str, limits: Limits
) -> tuple[Any, list[Repair]]:
    bare = text.strip()
    if not bare and (empty := empty_container(types)) is not None:
        return empty, []
    if ("object" in types or "array" in types) and bare.startswith("<") and bare.endswith(">"):
        root = read_xml(bare, path, limits=limits)
        if root is not None and root.children and _are_children(root, types, schema, tool):
            try:
                return element_value(root, schema, tool, path, limits=limits)
            except Stop:
                return text, []
    return typed_by(text, types, path=path, limits=limits)


def element_value(
    element: NestedElement,
    schema: Any,
    tool: CompiledTool | None,
    path: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    depth: int = 1,
) -> tuple[Any, list[Repair]]:
    """The value of an element under `schema`, a part of `tool`'s parameters (None if unknown), and the repairs.

    Raises the internal `Stop` if it is nested deeper than allowed.
    """
    if depth > limits.depth:
        raise Stop("depth_limit")
    types = tool.types_of(schema) if tool is not None and schema is not None else ()
    if not element.children:
        text = element.text
        if (not text or text.isspace()) and (empty := empty_container(types)) is not None:
            return empty, []
        return typed_by(text, types, path=path, limits=limits)
    if container_of(types, [child.tag for child in element.children], _names(schema, tool)) == "array":
        return _array(element, schema, tool, path, limits, depth)
    return _object(element, schema, tool, path, limits, depth)


def _are_children(root: NestedElement, types: tuple[str, ...], schema: Any, tool: CompiledTool) -> bool:
    """Whether the elements of a value are its children, and not markup in a string."""
    tags = [child.tag for child in root.children]
    return bool(tags) and are_children(types, root.tag, tags, _names(schema, tool))


def _names(schema: Any, tool: CompiledTool | None) -> Collection[str]:
    """The names of an object's properties by the schema."""
    known = _part(schema, tool, "properties")
    return known if is_object(known) else ()


def _array(
    element: NestedElement, schema: Any, tool: CompiledTool | None, path: str, limits: Limits, depth: int
) -> tuple[list[Any], list[Repair]]:
    items = _part(schema, tool, "items")
    names = inner_names(items, tool)
    if names and all(child.tag in names for child in element.children):  # one item that has no element around it
        item, found = _object(element, items, tool, f"{path}[0]", limits, depth)
        return [item], [*found, Repair(kind="item_unwrapped", path=path, safety="coerced")]
    values: list[Any] = []
    children, repairs = _in_order(element.children, path)
    for n, child in enumerate(children):
        value, found = element_value(child, items, tool, f"{path}[{n}]", limits=limits, depth=depth + 1)
        values.append(value)
        repairs += found
    if text := element.text:
        repairs.append(Repair(kind="text_dropped", path=path, before=text, after=None))
    return values, repairs


def _in_order(children: list[NestedElement], path: str) -> tuple[list[NestedElement], list[Repair]]:
    """The children as items: index tags by their number, others as they stand.

    A gap between numbers, or tags of several names, make it a guess.
    """
    numbers = [int(child.tag) for child in children if _INDEX.fullmatch(child.tag)]
    if len(numbers) != len(children):
        mixed = len({child.tag for child in children}) > 1
        return children, [Repair(kind="items_of_several_names", path=path, safety="guess")] if mixed else []
    ordered = [child for _, child in sorted(zip(numbers, children, strict=True), key=lambda pair: pair[0])]
    first = min(numbers)
    sound = first in (0, 1) and sorted(numbers) == list(range(first, first + len(numbers)))
    return ordered, [] if sound else [Repair(kind="index_gap", path=path, safety="guess")]


def _object(
    element: NestedElement, schema: Any, tool: CompiledTool | None, path: str, limits: Limits, depth: int
) -> tuple[dict[str, Any], list[Repair]]:
    properties = _part(schema, tool, "properties")
    known: dict[str, Any] = properties if is_object(properties) else {}
    grouped: dict[str, list[NestedElement]] = {}
    for child in element.children:
        grouped.setdefault(child.tag, []).append(child)
    found: dict[str, Any] = {}
    repairs: list[Repair] = []
    for tag, children in grouped.items():
        inner = known.get(tag)
        below = f"{path}.{tag}" if path else tag
        if len(children) == 1:
            found[tag], more = element_value(children[0], inner, tool, below, limits=limits, depth=depth + 1)
            repairs += more
            continue
        item_schema = _part(inner, tool, "items")
        values: list[Any] = []
        for child in children:
            value, more = element_value(child, item_schema, tool, below, limits=limits, depth=depth + 1)
            values.append(value)
            repairs += more
        found[tag] = values
    if text := element.text:
        found[_TEXT_KEY] = text
        repairs.append(Repair(kind="mixed_content", path=path, before=text, after=None))
    return found, repairs


def _part(schema: Any, tool: CompiledTool | None, key: str) -> Any:
    """`schema[key]` of the schema, or of its first branch that has the key."""
    if tool is None or schema is None:
        return None
    for branch in tool.branches(schema):
        if key in branch:
            return branch[key]
    return None


def read_xml(fragment: str, tag: str, *, limits: Limits = DEFAULT_LIMITS) -> NestedElement | None:
    """The elements in `fragment` under a root called `tag`. None if it is no sound XML. Never raises.

    Pass only markup: it cannot tell markup from code with `<`.
    """
    low = fragment.lower()
    if len(fragment) > limits.arguments or "<!doctype" in low or "<!entity" in low or "<?xml" in low or "<!--" in low:
        return None
    root = _parsed(fragment)
    if root is None and "<![cdata[" not in low:
        root = _parsed(_sound(fragment))
    return None if root is None else _element(root, tag, limits.depth)


def _parsed(fragment: str) -> Any:
    from lxml import etree  # 14 ms: only replies with XML import it

    parser = etree.XMLParser(
        recover=False, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, encoding="utf-8"
    )
    try:
        return etree.fromstring(f"<root>{fragment}</root>".encode(), parser)
    except (ValueError, etree.XMLSyntaxError):
        return None


def _sound(fragment: str) -> str:
    """The fragment with valid index tags, `&` and `<`. If any `&` begins no entity, none does."""
    if _BARE_AMPERSAND.search(fragment) is not None:
        fragment = fragment.replace("&", "&amp;")
    return _BARE_BRACKET.sub("&lt;", _INDEX_TAG.sub(rf"<\1{_INDEXED}\2>", fragment))


def _element(node: Any, tag: str, depth: int) -> NestedElement | None:
    if depth < 0:
        return None
    texts = [node.text or ""]
    children: list[NestedElement] = []
    for child in node:
        if not isinstance(child.tag, str):  # a processing instruction or an unresolved entity
            return None
        inner = _element(child, child.tag.removeprefix(_INDEXED), depth - 1)
        if inner is None:
            return None
        children.append(inner)
        texts.append(child.tail or "")
    return NestedElement(tag, texts, children)
