"""Copies that share nothing that can change, and the base of all public types, whose `model_copy` makes them.

Rules: dicts, lists, sets and tuples are new at every depth, and so are models that hold one; what else stands in them
(text, numbers, functions, objects of other classes) stays the same object. Linear in the number of values; of text
nothing is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from llmcore.types.copying import assign, copied, copied_with, filled, is_flat_type, made, note_type, updated, wordy_fields
from llmcore.types.wordings import mistake_in, unknown

__all__ = ["Value", "assign", "copied", "filled", "made", "updated", "wordy_fields"]


def _without_keys(text: str) -> str:
    from llmcore.types.keys import without_keys  # its expressions are compiled where one is first asked for

    return without_keys(text)


class Value(BaseModel):
    """Base of the public types. What validates one is built when one is first validated: a process that reads one reply needs
    few of them.

    A field that does not exist or does not fit raises `ConfigError` where a value is made, with pydantic's own error as its
    cause; `model_validate` and `model_validate_json` are pydantic's.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    raises: ClassVar[type[Exception]] = ValueError
    """The class of that error, which `errors` says: errors hold values, so values cannot import them."""
    instead: ClassVar[Mapping[str, str]] = {}
    """What to say of well-known names that are no fields."""

    if not TYPE_CHECKING:  # a checker makes the signature of the fields

        def __init__(self, /, *args: Any, **fields: Any) -> None:
            if args:
                raise self.raises(f"{_name(self)} takes its fields by name: write {_name(self)}({_first_fields(type(self))})")
            try:
                self.__pydantic_validator__.validate_python(fields, self_instance=self)
            except ValidationError as error:
                raise self.raises(mistake_in(error, _name(self), type(self).__pydantic_fields__, self.instead)) from error

        __init__.__pydantic_base_init__ = True  # so that nothing calls it where JSON is read

    def __repr__(self) -> str:
        """As pydantic writes it, without what looks like a key: it ends up in logs."""
        return _without_keys(super().__repr__())

    def __str__(self) -> str:
        return _without_keys(super().__str__())

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        is_set_once, fields = bool(cls.model_config.get("frozen")), cls.__pydantic_fields__
        if is_set_once:
            type.__setattr__(cls, "__setattr__", _set_in_words)  # to a checker it is the base's, which refuses it
            type.__setattr__(cls, "__delattr__", _delete_in_words)
        note_type(
            cls,
            is_set_once=is_set_once,
            is_frozen=is_set_once and not cls.__private_attributes__,
            parts=tuple(name for name, field in fields.items() if not _is_flat(field.annotation)),
            words=tuple(name for name, field in fields.items() if not _is_choice(field.annotation)),
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy that shares no dict or list with this one, with the fields of `update`, which are not validated, in
        place of its own. `deep`: objects of other classes are copied too, by `copy.deepcopy`.

        Raises `ConfigError` when `update` names no field.
        """
        given = update or {}
        for name in given:
            if name not in self.__pydantic_fields__:
                raise self.raises(unknown(_name(self), "field", name, type(self).__pydantic_fields__, self.instead))
        return updated(deepcopy(self), given) if deep else copied_with(self, given)


def _set_in_words(self: Value, name: str, value: Any) -> None:
    """Of a type whose fields are set once."""
    try:
        BaseModel.__setattr__(self, name, value)
    except (ValidationError, ValueError) as error:  # a field, or a name that is none
        raise _set_once(self, name) from error


def _delete_in_words(self: Value, name: str) -> None:
    try:
        BaseModel.__delattr__(self, name)
    except ValidationError as error:
        raise _set_once(self, name) from error


def _set_once(value: Value, name: str) -> Exception:
    kind, fields = _name(value), type(value).__pydantic_fields__
    if name not in fields:
        return value.raises(unknown(kind, "field", name, fields, value.instead))
    fix = f"value.model_copy(update={{{name!r}: ...}}) makes another one"
    return value.raises(f"{kind}.{name} is settled when the {kind} is made: {fix}")


def _is_choice(annotation: object) -> bool:
    """Is everything that is annotated so one of a few values of ours: words of a list, a truth value, nothing?"""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return all(map(_is_choice, get_args(annotation)))
    return origin is Literal or annotation is bool or annotation is type(None)


def _is_flat(annotation: object) -> bool:
    """Can nothing that is annotated so ever change?"""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return True
    if origin in (Union, UnionType, tuple):
        return all(map(_is_flat, parts))
    if origin is Annotated:
        return _is_flat(parts[0])
    return isinstance(annotation, type) and is_flat_type(annotation)


def _first_fields(kind: type[Value]) -> str:
    """Those that one must give, or the first that says something of its own."""
    fields = kind.__pydantic_fields__
    needed = [name for name, field in fields.items() if field.is_required()]
    return ", ".join(f"{name}=..." for name in needed or [name for name in fields if name not in _SELDOM_GIVEN][:1])


_SELDOM_GIVEN = frozenset({"cache_control", "type", "version", "id"})


def _name(value: Value) -> str:
    return type(value).__name__
