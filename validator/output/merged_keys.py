"""Two keys of the data that are one key of the type: an entry is lost, and pydantic says nothing.

`{"1": 1, "01": 2}` becomes `{1: 2}` as a `dict[int, int]`. The data and the typed value are walked side by side: where a mapping
has fewer entries than the object it was made of, keys have met.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple

from pydantic import BaseModel, RootModel

from llmcore.types.narrowing import is_list, is_object

__all__ = ["Merged", "merged_keys"]


class Merged(NamedTuple):
    """A mapping that lost entries: where it stands, the keys of the data, and those that are left."""

    path: tuple[str | int, ...]
    keys: Sequence[str]
    left: Sequence[object]


def merged_keys(data: Any, value: Any, typed_dicts: Iterable[Set[str]]) -> Iterator[Merged]:
    """Every mapping in `value` whose entries are fewer than those it was made of. `typed_dicts`: the fields of each TypedDict in
    the type, which drops other keys by design."""
    waiting: list[tuple[tuple[str | int, ...], Any, Any]] = [((), data, value)]
    while waiting:
        path, given, made = waiting.pop()
        if (
            is_object(given)
            and is_object(made)
            and len(made) < len(given)
            and not any(made.keys() <= each for each in typed_dicts)
        ):
            yield Merged(path, list(given), list(made))
        waiting += [((*path, key), item, part) for key, item, part in _members(given, made)]


def _members(given: Any, made: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """The containers in the data, each with what was made of it."""
    root: Any = made.root if issubclass(type(made), RootModel) else made
    pairs: Iterable[tuple[str | int, Any, Any]] = ()
    if is_list(given):
        same = issubclass(type(root), (list, tuple)) and len(root) == len(given)
        pairs = zip(range(len(given)), given, root, strict=True) if same else ()
    elif is_object(given):
        pairs = _entries(given, root)
    yield from (pair for pair in pairs if isinstance(pair[1], (dict, list)))


def _entries(given: dict[str, Any], made: Any) -> Iterator[tuple[str, Any, Any]]:
    if not is_object(made):
        names = _names(made)
        yield from ((key, item, getattr(made, names[key], None)) for key, item in given.items() if key in names)
    elif len(made) == len(given) and not made.keys() <= given.keys():  # keys of another type, in the same order
        yield from zip(given, given.values(), made.values(), strict=True)
    else:
        yield from ((key, item, made[key]) for key, item in given.items() if key in made)


def _names(made: Any) -> dict[str, str]:
    """The attributes of a model or a dataclass by the keys that fill them."""
    if isinstance(made, BaseModel):
        fields = type(made).model_fields.items()
        keys = [(key, name) for name, field in fields for key in (field.validation_alias, field.alias) if isinstance(key, str)]
        return {**{name: name for name, _ in fields}, **dict(keys)}
    return {field.name: field.name for field in dataclasses.fields(made)} if dataclasses.is_dataclass(made) else {}
