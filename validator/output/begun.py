"""A value that the end of the text broke off: is what there is of it the beginning of a value of the type?

Asked where another value of the text fits: what the model was about to say might have been a better one, or the rest of a
list. A bracket in prose that begins no such value (`{curly`, `[see`, a set `{x | x > 2`) says nothing.
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.validator.coercion.aliases import by_schema_names
from llmcore.validator.coercion.coercer import coerce, spelling
from llmcore.validator.coercion.views import View, view_of
from llmcore.validator.output.candidates import LIKE_JSON, Candidate
from llmcore.validator.output.surroundings import Surroundings
from llmcore.validator.schema.compiled import CompiledSchema

__all__ = ["Beginnings"]

_OPENER_ONLY = re.compile(r"[{\[]\s*\Z")
_FIRST_KEY = re.compile(r"""\{\s*(?P<quote>["'“]?)(?P<key>[^"'“”{}\[\]:,\n]{0,64})(?P<closed>["'”:]?)""")
_DEEPEST = 6
"""Levels that are looked into; below them any value may become one."""


class Beginnings:
    """One text and one type."""

    def __init__(self, text: str, around: Surroundings) -> None:
        self.text, self.around = text, around
        self.schema: CompiledSchema = around.schema

    def could_become(self, begun: Candidate) -> bool:
        """Could the value that the end broke off have become one of the type, or an item of it?"""
        if begun.start >= len(self.text.rstrip()):  # announced, and not even begun
            return True
        if _OPENER_ONLY.match(self.text, begun.start) is None and LIKE_JSON.match(self.text, begun.start) is None:
            key = _FIRST_KEY.fullmatch(self.text.rstrip(), begun.start)
            if key is None or not key["key"]:
                return False
        return self._begins(begun, self.schema.schema) or self.begins_item(begun)

    def begins_item(self, begun: Candidate) -> bool:
        """Could it have become an item of the array that the type is?"""
        return self.around.array is not None and self._begins(begun, self.around.array.items)

    def _begins(self, begun: Candidate, subschema: Any) -> bool:
        value, _ = by_schema_names(begun.value, self.schema, subschema)
        if value == {}:
            return any(self._begins_key(begun.start, view) for view in self.around.wanted.with_alternatives(subschema))
        bare = {repair.path for repair in begun.repairs if repair.kind == "bare_word"}
        cut = {repair.path for repair in begun.repairs if repair.kind == "cut_string"}
        return _Fitting(self.around, bare, cut).so_far(value, subschema, "", 0)

    def _begins_key(self, start: int, view: View) -> bool:
        """Is what there is of the first key the beginning of a property's name?"""
        if (view.types or view.alternatives) and "object" not in view.types:
            return False
        said = _FIRST_KEY.match(self.text, start)
        if said is None or not said["key"].strip():
            return True
        if not view.properties:
            return bool(said["quote"] or said["closed"])
        key, names = spelling(said["key"]), map(spelling, view.properties)
        return key in names if said["closed"] else any(name.startswith(key) for name in names)


class _Fitting:
    """Does a value whose end is missing fit so far? `bare`, `cut`: the paths of what is a bare word, and of a string that
    the end broke off."""

    def __init__(self, around: Surroundings, bare: set[str], cut: set[str]) -> None:
        self.around, self.schema, self.bare, self.cut = around, around.schema, bare, cut

    def so_far(self, value: Any, subschema: Any, path: str, depth: int) -> bool:
        view = view_of(self.schema, subschema)
        branches = [branch for alternatives in view.alternatives for branch in alternatives]
        if depth > _DEEPEST:
            return True
        if branches:
            return any(self.so_far(value, branch, path, depth + 1) for branch in branches)
        if is_object(value):
            return self._object(value, view, path, depth)
        if is_list(value):
            return self._array(value, view, path, depth)
        return path not in self.bare and self._scalar(value, view, subschema, path)

    def _object(self, value: dict[str, Any], view: View, path: str, depth: int) -> bool:
        names = {spelling(name): name for name in view.properties}
        if (view.types and "object" not in view.types) or (names and value and not names.keys() & {*map(spelling, value)}):
            return False
        members = [(key, item, view.value_schema(names.get(spelling(key), key))) for key, item in value.items()]
        if any(self._fails(item, subschema) for _, item, subschema in members[:-1]):
            return False
        for key, item, subschema in members[-1:]:
            inner = f"{path}.{key}" if path else key
            return bool(names and inner in self.bare) or self.so_far(item, subschema, inner, depth + 1)
        return True

    def _array(self, value: list[Any], view: View, path: str, depth: int) -> bool:
        if view.types and "array" not in view.types:
            return False
        if any(self._fails(item, view.item_schema(index)) for index, item in enumerate(value[:-1])):
            return False
        last = len(value) - 1
        inner = f"{path}[{last}]"
        return last < 0 or (last > 0 and inner in self.bare) or self.so_far(value[last], view.item_schema(last), inner, depth + 1)

    def _scalar(self, value: Any, view: View, subschema: Any, path: str) -> bool:
        """The last leaf, of which a part may be missing."""
        if path in self.cut and (not view.types or "string" in view.types):
            return view.allowed is None or any(str(each).startswith(value) for each in view.allowed)
        if isinstance(value, (int, float)) and {"integer", "number"} & {*view.types}:
            return True
        return not self._fails(value, subschema)

    def _fails(self, value: Any, subschema: Any) -> bool:
        if self.schema.is_valid(value, at=subschema):  # quicker than to settle it
            return False
        return bool(coerce(value, self.schema, strictness=self.around.strictness, at=subschema).problems)
