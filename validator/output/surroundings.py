"""Is a value that stands in a text the whole of what was asked for, or a part of something around it?

Asked of the type: a value inside of another can be taken for the whole only where a member's schema takes it too (a node
of a tree, an item of a list). What tells is the text beside it: a key and a colon before it, brackets behind it that it
did not open, further members behind a comma.
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

__all__ = ["Surroundings", "Wanted"]

_LOOKED_AT = 100
_KEY_BEFORE = re.compile(r"""(?:(["'“])([^"'“”\n]{1,64})["'”]|([\w$-]{1,64}))\s{0,8}[:=]\s{0,8}\Z""")
_GUESSED_STRINGS = frozenset({"inner_quotes", "cut_string", "missing_quote"})
_KEY_IN_TEXT = re.compile(r"""(?<![\w$-])([\w$-]{1,64})["']\s{0,8}:""")
_VALUE_IN_KEY = re.compile(r""":\s{0,8}["'\[{]""")
_MEMBER_BEFORE = re.compile(r"""[\]}"]\s{0,8},\s{0,8}\Z""")
_CLOSERS = re.compile(r"[\s\]}]*")
_MORE_KEYS = re.compile(r"""[\s\]}]*,\s*(?:"[^"\n]{1,64}"|'[^'\n]{1,64}')\s*:""")
_MORE_ITEMS = re.compile(r"""[\s\]}]*,\s*(?:\{|(?:"[^"\n]*"|-?[\d.]+)\s*[,\]])""")


class Wanted:
    """What a type wants, whatever the text: worked out once."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema

    @cached_property
    def array(self) -> View | None:
        """The type as an array of any length, where it is one, alone or beside alternatives that are no objects."""
        root = view_of(self.schema, self.schema.schema)
        branches = [branch for alternatives in root.alternatives for branch in alternatives]
        views = [root, *(view_of(self.schema, branch) for branch in branches)]
        arrays = [view for view in views if view.types == ("array",) and not view.prefix]
        return arrays[0] if len(arrays) == 1 and "object" not in json_kinds(self.schema, root) else None

    @cached_property
    def items_names(self) -> tuple[set[str], bool]:
        """How the keys of items are spelt, and whether items are objects."""
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
        """Is the type, or an item of it, an object of any keys?"""
        views = self.with_alternatives(self._value)
        return not self.members and any(not view.types or "object" in view.types for view in views)

    @cached_property
    def is_recursive(self) -> bool:
        """Can a value of the type, or an item of it, stand inside of another?"""
        if self.is_open:
            return True
        wanted = [self.schema.resolve(part) for part in self._with_branches(self._value)]
        waiting = [inner for part in wanted if is_object(part) for inner in _inside(part)]
        seen: set[int] = set()
        while waiting:
            part = self.schema.resolve(waiting.pop())
            if is_object(part) and id(part) not in seen:
                seen.add(id(part))
                waiting += _inside(part)
        return any(id(part) in seen for part in wanted)

    @property
    def _value(self) -> Any:
        return self.schema.schema if self.array is None else self.array.items

    def with_alternatives(self, subschema: Any) -> Iterator[View]:
        """A schema and its alternatives."""
        for part in (subschema, *self._with_branches(subschema)):
            yield view_of(self.schema, part)

    def _with_branches(self, subschema: Any) -> list[Any]:
        """The alternatives of a schema; itself where it has none."""
        alternatives = view_of(self.schema, subschema).alternatives
        return [branch for each in alternatives for branch in each] or [subschema]


class Surroundings:
    """One text and one type."""

    def __init__(self, text: str, wanted: Wanted, strictness: Strictness) -> None:
        self.text, self.wanted, self.schema = text, wanted, wanted.schema
        self.strictness: Strictness = strictness
        self.array = wanted.array

    def is_inner(self, candidate: Candidate) -> bool:
        """Is the value a member of something around it?"""
        before = self.text[max(0, candidate.start - _LOOKED_AT) : candidate.start]
        if (key := _KEY_BEFORE.search(before)) and self._is_member(key[2] or key[3], key[2] is not None, candidate.value):
            return True
        if _MEMBER_BEFORE.search(before) and self.array is None and self.wanted.is_recursive:
            return True
        closers = "".join(_CLOSERS.match(self.text, candidate.end)[0].split())  # type: ignore[index]  # matches always
        if not closers or (len(closers) == 1 and closers == ("]" if is_list(candidate.value) or self.array else "}")):
            return False
        return self.wanted.is_recursive

    def goes_on(self, candidate: Candidate) -> bool:
        """Do further members stand behind the last bracket of the value, so that it was closed too early?"""
        if _MORE_KEYS.match(self.text, candidate.end):
            return True
        if _MORE_ITEMS.match(self.text, candidate.end) is None:
            return False
        return is_list(candidate.value) or self.wanted.is_recursive

    def swallows_members(self, candidate: Candidate) -> bool:
        """Does a string whose end was guessed hold members of the type, because a quote is missing before it?"""
        if not any(repair.kind in _GUESSED_STRINGS for repair in candidate.repairs):
            return False
        keys, texts = set(self.wanted.members), list[str]()
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

    def meant_as_item(self, value: Any) -> bool:
        """Is the value, which may not fit, meant as an item of the array: does it share a key with items?"""
        if self.array is None or not is_object(value):
            return False
        names, are_objects = self.wanted.items_names
        return are_objects if not names else any(spelling(key) in names for key in value)

    def lists_items(self, candidate: Candidate) -> bool:
        """Is the value itself a list of what is meant as items?"""
        return is_list(candidate.value) and any(self.meant_as_item(item) for item in candidate.value)

    def is_meant(self, value: Any, data: Any) -> bool:
        """Is a value that does not fit meant as one of the type all the same: is it of the kind of `data`, which fits, and of the
        type's keys, if that names any?"""
        if is_list(data) and is_list(value):
            of_objects = self.wanted.items_names[1]
            return bool(value) and (not data or not of_objects or any(self.meant_as_item(item) for item in value))
        return is_object(data) and is_object(value) and bool(value) and self.names_a_key(value)

    def names_a_key(self, value: dict[str, Any]) -> bool:
        """Has an object a key of the type? Any key is one where an alternative of it lists none."""
        objects = [
            view for view in self.wanted.with_alternatives(self.schema.schema) if view.properties or "object" in view.types
        ]
        names = {spelling(name) for view in objects for name in view.properties}
        return not all(view.properties for view in objects) or any(spelling(key) in names for key in value)

    def fits_item(self, value: Any, *, strict: bool = False) -> bool:
        """Is the value an item? A list is none, where items are no lists: one of its own items would stand for all.
        `strict`: as it is."""
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
        """Does a property of that name, anywhere in the type, take the value? Words before a colon are often no key, so
        without quotes only where the type holds itself."""
        if self.wanted.is_open:
            return quoted
        if not quoted and not self.wanted.is_recursive:
            return False
        return any(self._takes(subschema, value) for subschema in self.wanted.members.get(key, []))


_DEFINITIONS = frozenset({"$defs", "definitions", "enum", "const", "default", "examples"})


def _inside(schema: dict[str, Any]) -> Iterator[Any]:
    """The schemas inside of one, by whatever keyword."""
    for keyword, part in schema.items():
        if keyword not in _DEFINITIONS:
            yield from part.values() if keyword == "properties" and is_object(part) else part if is_list(part) else [part]
