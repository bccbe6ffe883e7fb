"""Whether a value that the end of the text cut off could have become a value of the output type.

`parsing` asks this if another value of the text fits: the unfinished value might have been the answer, or the rest of a list.
Some brackets in prose begin no such value (`{curly`, `[see`, a set `{x | x > 2`). They do not count.
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.validator.coercion.aliases import with_schema_names
from llmcore.validator.coercion.coercer import coerce, spelling
from llmcore.validator.coercion.views import View, view_of
from llmcore.validator.output.candidates import LIKE_JSON, Candidate
from llmcore.validator.output.surroundings import Surroundings
from llmcore.validator.schema.compiled import CompiledSchema

__all__ = ["UnfinishedValues"]

_OPENER_ONLY = re.compile(r"[{\[]\s*\Z")
_FIRST_KEY = re.compile(r"""\{\s*(?P<quote>["'“]?)(?P<key>[^"'“”{}\[\]:,\n]{0,64})(?P<closed>["'”:]?)""")
_DEEPEST = 6
"""How many levels are checked. Any value below them counts as fitting."""


class UnfinishedValues:
    """Checks the unfinished values of one text against one type."""

    def __init__(self, text: str, around: Surroundings) -> None:
        self.text, self.around = text, around
        self.schema: CompiledSchema = around.schema

    def could_fit(self, begun: Candidate) -> bool:
        """Whether the unfinished value could have become a value of the type, or an item of it."""
        if begun.start >= len(self.text.rstrip()):  # a lead-in without a value
            return True
        if _OPENER_ONLY.match(self.text, begun.start) is None and LIKE_JSON.match(self.text, begun.start) is None:
            key = _FIRST_KEY.fullmatch(self.text.rstrip(), begun.start)
            if key is None or not key["key"]:
                return False
        return self._begins(begun, self.schema.schema) or self.could_be_item(begun)

    def could_be_item(self, begun: Candidate) -> bool:
        """Whether it could have become an item of the type, if the type is an array."""
        return self.around.array is not None and self._begins(begun, self.around.array.items)

    def _begins(self, begun: Candidate, subschema: Any) -> bool:
        value, _ = with_schema_names(begun.value, self.schema, subschema)
        if value == {}:
            return any(self._begins_key(begun.start, view) for view in self.around.shape.with_alternatives(subschema))
        bare = {repair.path for repair in begun.repairs if repair.kind == "bare_word"}
        cut = {repair.path for repair in begun.repairs if repair.kind == "cut_string"}
        return _PrefixFit(self.around, bare, cut).could_fit(value, subschema, "", 0)

    def _begins_key(self, start: int, view: View) -> bool:
        """Whether the part of the first key that is present begins a property's name."""
        if (view.types or view.alternatives) and "object" not in view.types:
            return False
        first_key = _FIRST_KEY.match(self.text, start)
        if first_key is None or not first_key["key"].strip():
            return True
        if not view.properties:
            return bool(first_key["quote"] or first_key["closed"])
        key, names = spelling(first_key["key"]), map(spelling, view.properties)
        return key in names if first_key["closed"] else any(name.startswith(key) for name in names)


class _PrefixFit:
    """Whether a value without its end fits so far.

    `bare` holds the paths of bare words, `cut` the path of a string that the end cut off.
    """

    def __init__(self, around: Surroundings, bare: set[str], cut: set[str]) -> None:
        self.around, self.schema, self.bare, self.cut = around, around.schema, bare, cut

    def could_fit(self, value: Any, subschema: Any, path: str, depth: int) -> bool:
        view = view_of(self.schema, subschema)
        if depth > _DEEPEST:
            return True
        if branches := view.branches:
            return any(self.could_fit(value, branch, path, depth + 1) for branch in branches)
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
            return bool(names and inner in self.bare) or self.could_fit(item, subschema, inner, depth + 1)
        return True

    def _array(self, value: list[Any], view: View, path: str, depth: int) -> bool:
        if view.types and "array" not in view.types:
            return False
        if any(self._fails(item, view.item_schema(index)) for index, item in enumerate(value[:-1])):
            return False
        last = len(value) - 1
        inner = f"{path}[{last}]"
        return (
            last < 0 or (last > 0 and inner in self.bare) or self.could_fit(value[last], view.item_schema(last), inner, depth + 1)
        )

    def _scalar(self, value: Any, view: View, subschema: Any, path: str) -> bool:
        """Whether the last leaf fits. A part of it may be missing."""
        if path in self.cut and (not view.types or "string" in view.types):
            return view.allowed is None or any(str(each).startswith(value) for each in view.allowed)
        if isinstance(value, (int, float)) and {"integer", "number"} & {*view.types}:
            return True
        return not self._fails(value, subschema)

    def _fails(self, value: Any, subschema: Any) -> bool:
        if self.schema.is_valid(value, at=subschema):  # faster than coercion
            return False
        return bool(coerce(value, self.schema, strictness=self.around.strictness, at=subschema).problems)
