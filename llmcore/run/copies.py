"""What crosses the border of a run: copied, and fit to be encoded.

Rules
- Dicts and lists are copied at every depth. What cannot change (text, numbers, frozen models of such) is shared.
- Text that UTF-8 cannot encode (a lone surrogate), numbers that JSON has not (NaN, infinity), what nests deeper than
  `MAX_DEPTH` and what is no JSON at all: `mended` replaces it and tells where, `refusing` raises.
- Two surrogates that make a pair become the character they stand for; one alone becomes U+FFFD.

Linear in the size of the value; of text that is ASCII nothing is read.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from llmcore.types import Repair
from llmcore.types.narrowing import is_list, is_object
from llmcore.validator.problems import cut, join_path

__all__ = ["MAX_DEPTH", "Damage", "encodable", "mended", "own", "recorded", "refusing"]

MAX_DEPTH = 128
_MAX_RECORDED = 20
_MAX_SHOWN = 80

T = TypeVar("T")


class Damage(NamedTuple):
    """What could not stay as it was. `path` is where (`""` the whole), `what` in words, `before` as ASCII."""

    path: str
    what: str
    before: str


def encodable(text: str) -> str:
    """The text, or a copy in which each lone surrogate is U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def own(value: T) -> T:
    """A copy that shares nothing that can change."""
    copied: T = _Copy(_unsaid).of(value)
    return copied


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

    copied: T = _Copy(refuse).of(value)
    return copied


def recorded(found: list[Damage]) -> list[Repair]:
    """Damage as repairs: one each for the first few places, one for all the others."""
    repairs = [
        Repair(kind="not_encodable", path=damage.path, before=damage.before, after=damage.what, safety="coerced")
        for damage in found[:_MAX_RECORDED]
    ]
    more = len(found) - _MAX_RECORDED
    return [*repairs, Repair(kind="not_encodable", after=f"{more} more places", safety="coerced")] if more > 0 else repairs


def _unsaid(damage: Damage) -> None:
    """For what was mended when it came in."""


def _changed(model: BaseModel, changes: dict[str, Any]) -> BaseModel:
    """As `model_copy(update=changes)`, which takes seven times as long."""
    kind, put = model.__class__, object.__setattr__
    private = model.__pydantic_private__
    made = kind.__new__(kind)
    put(made, "__dict__", {**model.__dict__, **changes})
    put(made, "__pydantic_fields_set__", model.__pydantic_fields_set__ | changes.keys())
    put(made, "__pydantic_extra__", model.__pydantic_extra__)
    put(made, "__pydantic_private__", None if private is None else private.copy())
    return made


_PLAIN = frozenset({bool, int, type(None)})


class _Copy:
    """One pass over one value."""

    __slots__ = ("_at", "_found")

    def __init__(self, found: Callable[[Damage], None]) -> None:
        self._found = found
        self._at: list[str | int] = []

    def of(self, value: Any) -> Any:
        kind = value.__class__
        if kind is str:
            return value if value.isascii() else self._text(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, float):  # also one that keeps how it was written
            return value if math.isfinite(value) else self._lost("a number that JSON has not", value, None)
        if len(self._at) > MAX_DEPTH:
            return self._lost(f"what is nested deeper than {MAX_DEPTH} levels", "", None)
        if getattr(kind, "__pydantic_fields__", None) is not None:  # isinstance(value, BaseModel) takes ten times as long
            return self._model(value)
        if is_object(value):
            return self._object(value)
        if is_list(value):
            return [self._inside(index, item) for index, item in enumerate(value)]
        return self._other(value)

    def _inside(self, key: str | int, value: Any) -> Any:
        self._at.append(key)
        copied = self.of(value)
        self._at.pop()
        return copied

    def _model(self, model: BaseModel) -> BaseModel:
        changes: dict[str, Any] = {}
        for name, value in model.__dict__.items():
            if value is None or (value.__class__ is str and value.isascii()):
                continue
            copied = self._inside(name, value)
            if copied is not value:
                changes[name] = copied
        return _changed(model, changes) if changes else model

    def _object(self, given: dict[Any, Any]) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        number = len(given)
        for key, value in given.items():
            name = self._text(key) if isinstance(key, str) else self._lost("a key that is no text", str(key), str(key))
            stem = name
            while name in copied:  # two keys that differed in what was replaced; the number never goes back
                number += 1
                name = f"{stem}_{number}"
            copied[name] = self._inside(name, value)
        return copied

    def _text(self, text: str) -> str:
        made = encodable(text)
        return made if made is text else self._lost("a lone surrogate", text, made)

    def _other(self, value: Any) -> Any:
        if isinstance(value, str):  # an enum, perhaps
            return self._text(value)
        if isinstance(value, int | float):
            return value
        if isinstance(value, tuple):
            items: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType]  # any tuple
            copied = tuple(self._inside(index, item) for index, item in enumerate(items))
            return items if all(map(operator.is_, copied, items)) else copied
        kind = type(value).__name__
        return self._lost(f"a value of type {kind}", kind, str(value))

    def _lost(self, what: str, value: object, instead: Any) -> Any:
        shown = ascii(value[:_MAX_SHOWN] if isinstance(value, str) else value)
        self._found(Damage(cut(join_path(self._at), 5 * _MAX_SHOWN), what, shown))
        return instead
