"""Which member of a union a value is: the one that was named (`read_named`), or the one that it will be when it has come.

The latter is certain once all others are ruled out: by a part that came whole and does not fit them (a discriminator, an item of
a list), or by a key that they do not know where another does. Until then any of them may come of it.
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
"""Parts of pydantic's schemas whose values are of a class of their own, which a union of several takes as what they are."""
Path = tuple[str | int, ...]


def read_named(reading: TypedReading, value: Any, repairs: Sequence[Repair], by_name: bool | None = None) -> Any:
    """The typed value of data that were made to fit by these repairs. What stood under the name of a member of a union becomes
    that member. Without the name the data may fit others, too, and pydantic would choose among them."""
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
    """`cut`: the paths of texts that the end broke off; `is_open`: may more come at this path?

    Of each part and each member is asked once, so this is linear in the value and in the schemas.
    """

    def __init__(self, strictness: Strictness, cut: Collection[str], is_open: Callable[[str], bool]) -> None:
        self._strictness: Strictness = strictness
        self._cut, self._is_open = cut, is_open
        self._known: dict[tuple[str, int], bool] = {}

    def certain(self, value: Any, members: Sequence[Member], path: str) -> int | None:
        """The index of the one that the value is certain to be; None where it may be several, or none."""
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
            self._known[key] = False  # where it holds itself
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
    """The keys of the value that a member has a word for."""
    view = view_of(*member)
    branches = [branch for alternatives in view.alternatives for branch in alternatives]
    known = {key for branch in branches for key in _known_keys(value, Member(member.schema, branch))}
    takes_all = view.patterns or is_object(view.extra) or not (view.properties or branches)
    return {*value} if takes_all else known | {key for key in value if key in view.properties}
