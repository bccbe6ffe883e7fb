"""Whether a value in a text is the whole answer, or a part of something around it.

An inner value can only look like the whole if a member's schema accepts it too (a tree node, a list item). The text beside it
shows that it is inner: a key and colon before it, closing brackets after it that it did not open, or members after a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.validator.coercion.coercer import Strictness, coerce, spelling
from llmcore.validator.coercion.views import View, json_kinds, view_of
from llmcore.validator.output.candidates import Candidate
from llmcore.validator.schema.compiled import CompiledSchema

__all__ = ["Surroundings", "TypeShape"]

_LOOKED_AT = 100
_KEY_BEFORE = re.compile(r"""(?:(["'“])([^"'“”\n]{1,64})["'”]|([\w$-]{1,64}))\s{0,8}[:=]\s{0,8}\Z""")
_GUESSED_STRINGS = frozenset({"inner_quotes", "cut_string", "missing_quote"})
_KEY_IN_TEXT = re.compile(r"""(?<![\w$-])([\w$-]{1,64})["']\s{0,8}:""")
_VALUE_IN_KEY = re.compile(r""":\s{0,8}["'\[{]""")
_MEMBER_BEFORE = re.compile(r"""[\]}"]\s{0,8},\s{0,8}\Z""")
_CLOSERS = re.compile(r"[\s\]}]*")
_MORE_KEYS = re.compile(r"""[\s\]}]*,\s*(?:"[^"\n]{1,64}"|'[^'\n]{1,64}')\s*:""")
_MORE_ITEMS = re.compile(r"""[\s\]}]*,\s*(?:\{|(?:"[^"\n]*"|-?[\d.]+)\s*[,\]])""")


class TypeShape:
    """Facts about a type that do not depend on the text, each computed once."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema

    @cached_property
    def array(self) -> View | None:
        """The type as an array of any length, if it is one, alone or beside alternatives that are no objects."""
        root = view_of(self.schema, self.schema.schema)
        views = [root, *(view_of(self.schema, branch) for branch in root.branches)]
        arrays = [view for view in views if view.types == ("array",) and not view.prefix]
        return arrays[0] if len(arrays) == 1 and "object" not in json_kinds(self.schema, root) else None

    @cached_property
    def item_keys(self) -> tuple[set[str], bool]:
        """The normalized spellings of the items' keys, and whether items are objects."""
        views = list(self.with_alternatives(self.array.items)) if self.array is not None else []
        return {spelling(name) for view in views for name in view.properties}, any("object" in view.types for view in views)

    @cached_property
    def members(self) -> dict[str, list[Any]]:
        """The schemas of all properties in the document, by name."""
        found: dict[str, list[Any]] = {}
        waiting: list[Any] = [self.schema.schema]
        while waiting:
            part = waiting.pop()
            if is_list(part):
                waiting += part
            elif is_object(part):
                properties = part.get("properties")
                for name, subschema in properties.items() if is_object(properties) else ():
                    found.setdefault(name, []).append(subschema)
                waiting += part.values()
        return found

    @cached_property
    def is_open(self) -> bool:
        """Whether the type, or an item of it, is an object with arbitrary keys."""
        views = self.with_alternatives(self._value)
        return not self.members and any(not view.types or "object" in view.types for view in views)

    @cached_property
    def is_recursive(self) -> bool:
        """Whether a value of the type, or an item of it, can stand inside another."""
        if self.is_open:
            return True
        roots = [self.schema.resolve(part) for part in view_of(self.schema, self._value).branches or [self._value]]
        waiting = [inner for part in roots if is_object(part) for inner in _subschemas(part)]
        seen: set[int] = set()
        while waiting:
            part = self.schema.resolve(waiting.pop())
            if is_object(part) and id(part) not in seen:
                seen.add(id(part))
                waiting += _subschemas(part)
        return any(id(part) in seen for part in roots)

    @property
    def _value(self) -> Any:
        return self.schema.schema if self.array is None else self.array.items

    def with_alternatives(self, subschema: Any) -> Iterator[View]:
        """The views of a schema and of its alternatives."""
        view = view_of(self.schema, subschema)
        yield view
        for branch in view.branches:
            yield view_of(self.schema, branch)


class Surroundings:
    """What surrounds the values of one text, for one type."""

    def __init__(self, text: str, shape: TypeShape, strictness: Strictness) -> None:
        self.text, self.shape, self.schema = text, shape, shape.schema
        self.strictness: Strictness = strictness
        self.array = shape.array

    def is_nested(self, candidate: Candidate) -> bool:
        """Whether the value is a member of something around it."""
        before = self.text[max(0, candidate.start - _LOOKED_AT) : candidate.start]
        if (key := _KEY_BEFORE.search(before)) and self._is_member(key[2] or key[3], key[2] is not None, candidate.value):
            return True
        if _MEMBER_BEFORE.search(before) and self.array is None and self.shape.is_recursive:
            return True
        closers = "".join(_CLOSERS.match(self.text, candidate.end)[0].split())  # type: ignore[index]  # always matches
        if not closers or (len(closers) == 1 and closers == ("]" if is_list(candidate.value) or self.array else "}")):
            return False
        return self.shape.is_recursive

    def continues_after_end(self, candidate: Candidate) -> bool:
        """Whether further members follow the value's last bracket, which was closed too early."""
        if _MORE_KEYS.match(self.text, candidate.end):
            return True
        if _MORE_ITEMS.match(self.text, candidate.end) is None:
            return False
        return is_list(candidate.value) or self.shape.is_recursive

    def string_holds_members(self, candidate: Candidate) -> bool:
        """Whether a string whose end was guessed contains members of the type, because a quote is missing."""
        if not any(repair.kind in _GUESSED_STRINGS for repair in candidate.repairs):
            return False
        keys, texts = set(self.shape.members), list[str]()
        waiting = [candidate.value]
        while waiting:
            value = waiting.pop()
            if is_object(value):
                keys |= value.keys()
                waiting += value.values()
            elif is_list(value):
                waiting += value
            elif isinstance(value, str):
                texts.append(value)
        if any(_VALUE_IN_KEY.search(key) for key in keys):
            return True
        return any(found[1] in keys for text in texts for found in _KEY_IN_TEXT.finditer(text))

    def is_intended_item(self, value: Any) -> bool:
        """Whether the value, which may not fit, was meant as an item: it shares a key with the items."""
        if self.array is None or not is_object(value):
            return False
        names, are_objects = self.shape.item_keys
        return are_objects if not names else any(spelling(key) in names for key in value)

    def lists_items(self, candidate: Candidate) -> bool:
        """Whether the value itself is a list of intended items."""
        return is_list(candidate.value) and any(self.is_intended_item(item) for item in candidate.value)

    def is_intended(self, value: Any, data: Any) -> bool:
        """Whether a value that does not fit was meant as one of the type.

        It must be of the same kind as `data`, which fits, and share a key with the type if the type lists keys.
        """
        if is_list(data) and is_list(value):
            of_objects = self.shape.item_keys[1]
            return bool(value) and (not data or not of_objects or any(self.is_intended_item(item) for item in value))
        return is_object(data) and is_object(value) and bool(value) and self.has_known_key(value)

    def has_known_key(self, value: dict[str, Any]) -> bool:
        """Whether an object has a key of the type. If an alternative lists no keys, any key counts."""
        objects = [view for view in self.shape.with_alternatives(self.schema.schema) if view.properties or "object" in view.types]
        names = {spelling(name) for view in objects for name in view.properties}
        return not all(view.properties for view in objects) or any(spelling(key) in names for key in value)

    def fits_item(self, value: Any, *, strict: bool = False) -> bool:
        """Whether the value fits as an item. If items are no lists, a list does not: one of its items would count as all.

        If `strict`, it must fit unchanged.
        """
        item = self.array.items if self.array is not None else False
        if is_list(value) and not isinstance(item, bool) and "array" not in json_kinds(self.schema, view_of(self.schema, item)):
            return False
        if strict:
            return self.schema.is_valid(value, at=item)
        return self._takes(item, value)

    # --- members ------------------------------------------------------------------------------------------------------

    def _takes(self, subschema: Any, value: Any) -> bool:
        return not coerce(value, self.schema, strictness=self.strictness, at=subschema).problems

    def _is_member(self, key: str, quoted: bool, value: Any) -> bool:
        """Whether a property of that name, anywhere in the type, accepts the value.

        Words before a colon are often no key. So an unquoted key counts only if the type contains itself.
        """
        if self.shape.is_open:
            return quoted
        if not quoted and not self.shape.is_recursive:
            return False
        return any(self._takes(subschema, value) for subschema in self.shape.members.get(key, []))


_DEFINITIONS = frozenset({"$defs", "definitions", "enum", "const", "default", "examples"})


def _subschemas(schema: dict[str, Any]) -> Iterator[Any]:
    """The schemas inside a schema, by any keyword."""
    for keyword, part in schema.items():
        if keyword not in _DEFINITIONS:
            yield from part.values() if keyword == "properties" and is_object(part) else part if is_list(part) else [part]
