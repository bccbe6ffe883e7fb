"""Decides to which member of a union a value belongs.

`read_named` handles a value whose member the model named. `Members` handles a value that is still arriving. Its member is
certain once all others are excluded: by a complete part that does not fit them (a discriminator, a list item), or by a key
that only some members know. Until then every member remains possible.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from llmcore.support.values.merged_keys import members_of
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.support.values.typed_data import TypedReading
from llmcore.types import Repair
from llmcore.validator.coercion.coercer import Strictness, coerce, spelling
from llmcore.validator.coercion.views import view_of
from llmcore.validator.schema.compiled import CompiledSchema
from llmcore.validator.schema.problems import join_path, type_name

__all__ = ["Member", "Members", "read_named"]

_CLASSES = frozenset({"model", "dataclass", "named-tuple", "enum"})
"""Kinds of pydantic core schemas whose values are instances of a class. A union accepts these instances unchanged."""
Path = tuple[str | int, ...]


def read_named(reading: TypedReading, value: Any, repairs: Sequence[Repair], by_name: bool | None = None) -> Any:
    """Return the typed value of data that the repairs made fit.

    If the data stood under the name of a union member, the value becomes that member. Without the name, the data may fit
    several members, and pydantic would choose one.
    """
    peeled = {one.path: spelling(next(iter(one.before))) for one in repairs if one.kind == "peeled_wrapper"}
    parts = [*members_of(reading.core_schema)] if peeled else []
    if not any(part.get("type") == "union" for part in parts):
        return reading.read_any(value, by_name)
    of_classes = [part for part in parts if part.get("type") in _CLASSES]
    titles = [object_in(part.get("config")).get("title") or part["cls"].__name__ for part in of_classes]
    classes = {spelling(title): part["cls"] for title, part in zip(titles, of_classes, strict=True)}

    def named(part: Any, path: Path) -> Any:
        if is_object(part):
            part = {key: named(item, (*path, key)) for key, item in part.items()}
        elif is_list(part):
            part = [named(item, (*path, index)) for index, item in enumerate(part)]
        kind = classes.get(peeled.get(join_path(path), ""))
        return part if kind is None else TypedReading.of(TypeAdapter(kind)).read_any(part, by_name)

    return reading.read_python(named(value, ()), by_name)


class Member(NamedTuple):
    """A subschema of a schema."""

    schema: CompiledSchema
    subschema: Any


class Members:
    """Finds the certain member of a union. Linear in the value and in the schemas: each pair of part and member is checked
    once.

    `cut` holds the paths of strings that the end cut off. `is_open` returns whether more may arrive at a path.
    """

    def __init__(self, strictness: Strictness, cut: Collection[str], is_open: Callable[[str], bool]) -> None:
        self._strictness: Strictness = strictness
        self._cut, self._is_open = cut, is_open
        self._known: dict[tuple[str, int], bool] = {}

    def certain(self, value: Any, members: Sequence[Member], path: str) -> int | None:
        """The index of the only possible member, None if several or none are possible."""
        left = [index for index, member in enumerate(members) if _is_of_kind(value, member)]
        if len(left) > 1:
            left = [index for index in left if not self._is_ruled_out(value, members[index], path)]
        if len(left) > 1 and is_object(value):
            known = {index: _known_keys(value, members[index]) for index in left}
            left = [index for index in left if not any(known[index] < other for other in known.values())]
        return left[0] if len(left) == 1 else None

    def _is_ruled_out(self, value: Any, member: Member, path: str) -> bool:
        key = path, id(member.subschema)
        found = self._known.get(key)
        if found is None:
            self._known[key] = False  # in case the schema contains itself
            found = self._known[key] = self._cannot_become(value, member, path)
        return found

    def _cannot_become(self, value: Any, member: Member, path: str) -> bool:
        schema, subschema = member
        if isinstance(value, str) and path in self._cut:
            return False
        if not (is_object(value) or is_list(value)) or not self._is_open(path):
            return bool(coerce(value, schema, strictness=self._strictness, at=subschema).problems)
        if not _is_of_kind(value, member):
            return True
        view = view_of(schema, subschema)
        for alternatives in view.alternatives:
            if all(self._is_ruled_out(value, Member(schema, branch), path) for branch in alternatives):
                return True
        if is_object(value):
            parts = ((item, view.value_schema(key), f"{path}.{key}" if path else key) for key, item in value.items())
            return any(part is not False and self._is_ruled_out(item, Member(schema, part), at) for item, part, at in parts)
        items = ((item, view.item_schema(index), f"{path}[{index}]") for index, item in enumerate(value))
        return any(self._is_ruled_out(item, Member(schema, part), at) for item, part, at in items)


def _is_of_kind(value: Any, member: Member) -> bool:
    view = view_of(*member)
    if view.types and type_name(value) not in view.types:
        return False
    return all(any(_is_of_kind(value, Member(member.schema, branch)) for branch in each) for each in view.alternatives)


def _known_keys(value: dict[str, Any], member: Member) -> set[str]:
    view = view_of(*member)
    known = {key for branch in view.branches for key in _known_keys(value, Member(member.schema, branch))}
    takes_all = view.patterns or is_object(view.extra) or not (view.properties or view.branches)
    return {*value} if takes_all else known | {key for key in value if key in view.properties}
