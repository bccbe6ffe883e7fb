"""Copies of what enters or leaves a run, made encodable.

- Dicts and lists are copied at every depth. Values that cannot change (text, numbers, frozen models of such) are shared.
- These cannot be encoded: text that UTF-8 cannot encode (a lone surrogate), NaN and infinity, integers of more than 4300 digits,
  values nested deeper than `MAX_DEPTH`, and values that are no JSON. `encodable_copy` replaces them and reports where;
  `checked_copy` raises.
- Two surrogates that form a pair become their character. A lone one becomes U+FFFD.

The cost is linear in the size of the value. ASCII text is not scanned.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel

from llmcore.support.values.copies import copied, text_fields, updated
from llmcore.support.values.json_data import LARGEST_INT, SMALLEST_INT, encodable
from llmcore.support.values.narrowing import is_list, is_object, kind_of
from llmcore.types import Repair
from llmcore.validator.schema.problems import cut, join_path

__all__ = ["MAX_DEPTH", "Damage", "checked_copy", "damage_repairs", "encodable_copy", "is_encodable"]

MAX_DEPTH: Final = 128
_MAX_RECORDED = 20
_MAX_SHOWN = 80

T = TypeVar("T")


class Damage(NamedTuple):
    """A part that could not be encoded. `path`: its place (`""` = the whole value); `what`: a description; `before`: the part as
    ASCII."""

    path: str
    what: str
    before: str


def is_encodable(value: Any) -> bool:
    """Whether the value can be encoded as it stands. False if only a full check could tell."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            kind = kind_of(item)
            if kind is str:
                if not (item.isascii() or encodable(item) is item):
                    return False
            elif kind in _PLAIN:
                continue
            elif (names := text_fields(kind)) is not None:
                fields: dict[str, Any] = item.__dict__
                for name in names:
                    part = fields.get(name)
                    if part is not None and not (kind_of(part) is str and part.isascii()):  # most fields are ASCII text
                        below.append(part)
            elif kind is list or kind is tuple:
                below += item
            elif kind is dict:
                for key in item:
                    if kind_of(key) is not str:
                        return False
                below += item
                below += item.values()
            elif kind is int:
                if not SMALLEST_INT <= item <= LARGEST_INT:
                    return False
            elif kind is float:
                if not math.isfinite(item):
                    return False
            elif getattr(kind, "__pydantic_fields__", None) is None:
                return False
            else:
                below += item.__dict__.values()
        if not below:
            return True
        level = below
    return False


def encodable_copy(value: T) -> tuple[T, list[Damage]]:
    """A copy that can be encoded, and the parts that were replaced in it."""
    found: list[Damage] = []
    return _Copy(found.append).of(value), found


def checked_copy(value: T, error: Callable[[str], Exception]) -> T:
    """A copy. If the value cannot be encoded, raises `error(words)`. The words name the place and the fix. They omit the value,
    which may be secret."""

    def refuse(damage: Damage) -> None:
        where = f"`{damage.path}`: " if damage.path else ""
        raise error(f"{where}{damage.what} cannot be sent; give plain JSON data and text that UTF-8 can encode")

    return copied(value) if is_encodable(value) else _Copy(refuse).of(value)


def damage_repairs(found: list[Damage]) -> list[Repair]:
    """The damage as repairs: one for each of the first places, and one for the number of the rest."""
    repairs = [
        Repair(kind="not_encodable", path=damage.path, before=damage.before, after=damage.what, safety="coerced")
        for damage in found[:_MAX_RECORDED]
    ]
    more = len(found) - _MAX_RECORDED
    return [*repairs, Repair(kind="not_encodable", after=f"{more} more places", safety="coerced")] if more > 0 else repairs


_PLAIN: Final[frozenset[type[Any]]] = frozenset({bool, type(None)})
_Place = tuple[Any, str | int] | None
"""A place in the value: the place of the container, and the key or index in it. None = the whole value."""


class _Copy:
    """One pass over one value. Paths are computed only for damaged parts."""

    __slots__ = ("_found",)

    def __init__(self, found: Callable[[Damage], None]) -> None:
        self._found = found

    def of(self, value: Any, at: _Place = None, depth: int = 0) -> Any:
        kind = value.__class__
        if kind is str:
            return value if value.isascii() else self._text(value, at)
        if kind is int:
            return (
                value
                if SMALLEST_INT <= value <= LARGEST_INT
                else self._replaced("a number of too many digits", hex(value), None, at)
            )
        if kind in _PLAIN:
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else self._replaced("a number that JSON has not", value, None, at)
        if depth > MAX_DEPTH:
            return self._replaced(f"what is nested deeper than {MAX_DEPTH} levels", "", None, at)
        if getattr(kind, "__pydantic_fields__", None) is not None:  # isinstance(value, BaseModel) takes ten times as long
            return self._model(value, at, depth + 1)
        if is_object(value):
            return self._object(value, at, depth + 1)
        if is_list(value):
            return [
                item if item.__class__ in _PLAIN else self.of(item, (at, index), depth + 1) for index, item in enumerate(value)
            ]
        return self._other(value, at, depth + 1)

    def _model(self, model: BaseModel, at: _Place, depth: int) -> BaseModel:
        changes: dict[str, Any] = {}
        for name, value in model.__dict__.items():
            kind = value.__class__
            if kind in _PLAIN or (kind is str and value.isascii()):
                continue
            copy_of = self.of(value, (at, name), depth)
            if copy_of is not value:
                changes[name] = copy_of
        return updated(model, changes) if changes else model

    def _object(self, given: dict[Any, Any], at: _Place, depth: int) -> dict[str, Any]:
        copy_of: dict[str, Any] = {}
        number = len(given)
        for key, value in given.items():
            name = stem = key if key.__class__ is str and key.isascii() else self._key(key, at)
            while name in copy_of:  # replacement made two keys equal; the number only grows
                number += 1
                name = f"{stem}_{number}"
            copy_of[name] = value if value.__class__ in _PLAIN else self.of(value, (at, name), depth)
        return copy_of

    def _key(self, key: Any, at: _Place) -> str:
        return self._text(key, at) if isinstance(key, str) else self._replaced("a key that is no text", str(key), str(key), at)

    def _text(self, text: str, at: _Place) -> str:
        made = encodable(text)
        return made if made is text else self._replaced("a lone surrogate", text, made, at)

    def _other(self, value: Any, at: _Place, depth: int) -> Any:
        if isinstance(value, str):  # an enum, perhaps
            return self._text(value, at)
        if isinstance(value, int | float):
            return value
        if isinstance(value, tuple):
            items: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType]  # any tuple
            copy_of = tuple(self.of(item, (at, index), depth) for index, item in enumerate(items))
            return items if all(map(operator.is_, copy_of, items)) else copy_of
        kind = type(value).__name__
        return self._replaced(f"a value of type {kind}", kind, str(value), at)

    def _replaced(self, what: str, value: object, instead: Any, at: _Place) -> Any:
        shown = ascii(value[:_MAX_SHOWN] if isinstance(value, str) else value)
        self._found(Damage(cut(join_path(_steps(at)), 5 * _MAX_SHOWN), what, shown))
        return instead


def _steps(at: _Place) -> list[str | int]:
    """The path to a place, from the outside in."""
    steps: list[str | int] = []
    while at is not None:
        at, step = at
        steps.append(step)
    return steps[::-1]
