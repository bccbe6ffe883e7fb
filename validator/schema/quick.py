"""Quick checks: accept a value of a plain schema ten times as fast as jsonschema's keywords.

Most schemas are plain: types, properties, required keys, items, string enums, a model or null. A check is a chain of
closures, made once per subschema. It returns True only if the keywords would find nothing, and False if it does not know;
then the keywords decide. Each node of a value is checked once, so the time is linear and needs no budget.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["NAMES", "TITLE", "Check", "Checks"]

NAMES = "x-llmcore-names"
"""A keyword beside `enum`: the name of each value, in order. Beside `prefixItems`: the name of each item. Pydantic's schema
has neither."""

TITLE = "x-llmcore-title"
"""A keyword with the name of a named tuple, which pydantic's schema does not have."""

Check = Callable[[Any], bool]

_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$defs",
        "definitions",
        NAMES,
        TITLE,
    }
)
_MAX_NESTED = 40
"""How deep subschemas may nest, references included. The keywords handle deeper ones."""
_LEAF = frozenset({"type", "enum", "const"}) | _ANNOTATIONS
_INNER_KEYWORDS = ({"$ref"}, {"anyOf"}, {"properties", "additionalProperties", "items"})


class Checks:
    """The checks of one schema document. `target` returns the subschema to which a reference leads."""

    def __init__(self, target: Callable[[str], Any]) -> None:
        self._target = target
        self._checks: dict[int, Check | None] = {}
        self._open: set[int] = set()  # those being made
        self._branching: set[int] = set()  # those with several alternatives that check inside a value
        self._branches = 0
        self._inside = False  # of such alternatives
        self._makers: dict[str, Callable[[Any, dict[str, Any]], Check | None]] = {
            "type": _of_type,
            "enum": _of_enum,
            "const": lambda value, _: _of_enum([value], {}),
            "$ref": lambda reference, _: self.of(self._target(reference)),
            "required": _required,
            "properties": self._properties,
            "additionalProperties": self._additional_properties,
            "items": self._items,
            "anyOf": self._any_of,
        }

    def of(self, schema: Any) -> Check | None:
        """Return the check of a subschema of the document, None if it is not plain."""
        key = id(schema)
        if key not in self._checks and len(self._open) > _MAX_NESTED:
            return None
        if self._inside and (key in self._open or key in self._branching):
            return None  # nested alternatives would check each node many times
        if key not in self._checks:
            before = self._branches
            self._checks[key] = lambda value: (
                (made := self._checks[key]) is not None and made(value)
            )  # in case the schema contains itself
            self._open.add(key)
            made = None
            try:
                made = self._make(schema)
            finally:
                self._checks[key] = made
                self._open.discard(key)
            if self._branches > before:
                self._branching.add(key)
        self._branches += key in self._branching
        return self._checks[key]

    def _make(self, schema: Any) -> Check | None:
        if schema is True:
            return lambda value: True
        if not is_object(schema) or not set(schema) <= self._makers.keys() | _ANNOTATIONS:
            return None
        if sum(not group.isdisjoint(schema) for group in _INNER_KEYWORDS) > 1:
            return None  # each would check the same parts again, at every level
        checks: list[Check] = []
        for keyword in self._makers:
            if keyword in schema:
                check = self._makers[keyword](schema[keyword], schema)
                if check is None:
                    return None
                checks.append(check)
        return checks[0] if len(checks) == 1 else _all_of(checks)

    def _properties(self, properties: dict[str, Any], _: dict[str, Any]) -> Check | None:
        checks = {name: self.of(part) for name, part in properties.items()}
        known = {name: check for name, check in checks.items() if check is not None}
        if len(known) < len(checks):
            return None

        def fits(value: Any) -> bool:
            if is_object(value):
                for key, item in value.items():
                    if key in known and not known[key](item):
                        return False
            return True

        return fits

    def _additional_properties(self, allowed: Any, schema: dict[str, Any]) -> Check | None:
        named = frozenset(schema.get("properties", ()))
        if allowed is False:
            return lambda value: not is_object(value) or named.issuperset(value)
        check = self.of(allowed)
        if check is None:
            return None
        return lambda value: not is_object(value) or all(check(item) for key, item in value.items() if key not in named)

    def _items(self, items: Any, _: dict[str, Any]) -> Check | None:
        check = self.of(items)
        return None if check is None else lambda value: not is_list(value) or all(map(check, value))

    def _any_of(self, branches: list[Any], _: dict[str, Any]) -> Check | None:
        """The check of alternatives. Several may check inside a value, but none of these may contain such alternatives."""
        deep = [branch for branch in branches if not is_object(branch) or not set(branch) <= _LEAF]
        if len(deep) > 1:
            if self._inside:
                return None
            self._branches += 1
            self._inside = True
        try:
            checks = [check for branch in branches if (check := self.of(branch)) is not None]
        finally:
            self._inside = self._inside and len(deep) <= 1
        if len(checks) < len(branches):
            return None
        return lambda value: any(check(value) for check in checks)


def _of_type(names: str | list[str], _: dict[str, Any]) -> Check | None:
    known = [_CLASSES.get(name, ()) for name in ([names] if isinstance(names, str) else names)]
    classes = frozenset(kind for kinds in known for kind in kinds)
    return lambda value: value.__class__ in classes


def _of_enum(values: list[Any], _: dict[str, Any]) -> Check | None:
    if not all(isinstance(value, str) for value in values):
        return None
    texts = frozenset(values)
    return lambda value: value.__class__ is str and value in texts


def _required(names: list[str], _: dict[str, Any]) -> Check:
    required = frozenset(names)
    return lambda value: not is_object(value) or required <= value.keys()


def _all_of(checks: list[Check]) -> Check:
    def fits(value: Any) -> bool:
        for check in checks:  # noqa: SIM110  # `all` of a generator takes twice as long
            if not check(value):
                return False
        return True

    return fits
