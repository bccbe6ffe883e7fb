"""What crosses the border of a run: copied, and fit to be encoded.

Rules
- Dicts and lists are copied at every depth. What cannot change (text, numbers, frozen models of such) is shared.
- Text that UTF-8 cannot encode (a lone surrogate), numbers that JSON has not (NaN, infinity) or that no reader takes
  (whole ones of more than 4300 digits), what nests deeper than
  `MAX_DEPTH` and what is no JSON at all: `mended` replaces it and tells where, `refusing` raises.
- Two surrogates that make a pair become the character they stand for; one alone becomes U+FFFD.

Linear in the size of the value; of text that is ASCII nothing is read.
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

__all__ = ["MAX_DEPTH", "Damage", "is_fit", "mended", "recorded", "refusing"]

MAX_DEPTH: Final = 128
_MAX_RECORDED = 20
_MAX_SHOWN = 80

T = TypeVar("T")


class Damage(NamedTuple):
    """What could not stay as it was. `path` is where (`""` the whole), `what` in words, `before` as ASCII."""

    path: str
    what: str
    before: str


def is_fit(value: Any) -> bool:
    """Can it be encoded as it stands? Where that takes more than a look: no."""
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
                    if part is not None and not (kind_of(part) is str and part.isascii()):  # else it is, as most fields
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


def mended(value: T) -> tuple[T, list[Damage]]:
    """A copy that can be encoded, and what had to be replaced in it."""
    found: list[Damage] = []
    return _Copy(found.append).of(value), found


def refusing(value: T, error: Callable[[str], Exception]) -> T:
    """A copy. Raises `error(words)` where the value cannot be encoded; the words tell the place and the fix, and not
    the value, which may be secret."""

    def refuse(damage: Damage) -> None:
        where = f"`{damage.path}`: " if damage.path else ""
        raise error(f"{where}{damage.what} cannot be sent; give plain JSON data and text that UTF-8 can encode")

    return copied(value) if is_fit(value) else _Copy(refuse).of(value)


def recorded(found: list[Damage]) -> list[Repair]:
    """Damage as repairs: one each for the first few places, one for all the others."""
    repairs = [
        Repair(kind="not_encodable", path=damage.path, before=damage.before, after=damage.what, safety="coerced")
        for damage in found[:_MAX_RECORDED]
    ]
    more = len(found) - _MAX_RECORDED
    return [*repairs, Repair(kind="not_encodable", after=f"{more} more places", safety="coerced")] if more > 0 else repairs


_PLAIN: Final[frozenset[type[Any]]] = frozenset({bool, type(None)})
_Place = tuple[Any, str | int] | None
"""Where in the value: the place of what holds it, and the key or index in that. None = the whole."""


class _Copy:
    """One pass over one value. Places are written out only where something is damaged."""

    __slots__ = ("_found",)

    def __init__(self, found: Callable[[Damage], None]) -> None:
        self._found = found

    def of(self, value: Any, at: _Place = None, depth: int = 0) -> Any:
        kind = value.__class__
        if kind is str:
            return value if value.isascii() else self._text(value, at)
        if kind is int:
            return (
                value if SMALLEST_INT <= value <= LARGEST_INT else self._lost("a number of too many digits", hex(value), None, at)
            )
        if kind in _PLAIN:
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else self._lost("a number that JSON has not", value, None, at)
        if depth > MAX_DEPTH:
            return self._lost(f"what is nested deeper than {MAX_DEPTH} levels", "", None, at)
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
            copied = self.of(value, (at, name), depth)
            if copied is not value:
                changes[name] = copied
        return updated(model, changes) if changes else model

    def _object(self, given: dict[Any, Any], at: _Place, depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        number = len(given)
        for key, value in given.items():
            name = stem = key if key.__class__ is str and key.isascii() else self._key(key, at)
            while name in copied:  # two keys that differed in what was replaced; the number never goes back
                number += 1
                name = f"{stem}_{number}"
            copied[name] = value if value.__class__ in _PLAIN else self.of(value, (at, name), depth)
        return copied

    def _key(self, key: Any, at: _Place) -> str:
        return self._text(key, at) if isinstance(key, str) else self._lost("a key that is no text", str(key), str(key), at)

    def _text(self, text: str, at: _Place) -> str:
        made = encodable(text)
        return made if made is text else self._lost("a lone surrogate", text, made, at)

    def _other(self, value: Any, at: _Place, depth: int) -> Any:
        if isinstance(value, str):  # an enum, perhaps
            return self._text(value, at)
        if isinstance(value, int | float):
            return value
        if isinstance(value, tuple):
            items: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType]  # any tuple
            copied = tuple(self.of(item, (at, index), depth) for index, item in enumerate(items))
            return items if all(map(operator.is_, copied, items)) else copied
        kind = type(value).__name__
        return self._lost(f"a value of type {kind}", kind, str(value), at)

    def _lost(self, what: str, value: object, instead: Any, at: _Place) -> Any:
        shown = ascii(value[:_MAX_SHOWN] if isinstance(value, str) else value)
        self._found(Damage(cut(join_path(_steps(at)), 5 * _MAX_SHOWN), what, shown))
        return instead


def _steps(at: _Place) -> list[str | int]:
    """The way to a place, from the outside in."""
    steps: list[str | int] = []
    while at is not None:
        at, step = at
        steps.append(step)
    return steps[::-1]
