"""Copies that share nothing that can change, and models that are made without a check: what each step of a run is made of.

It stands apart from `copies`, whose `Value` it knows by the tables below, because it is compiled (docs/compiled.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from copy import copy, deepcopy
from functools import partial
from operator import is_not
from typing import Any, Final, TypeVar, cast, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from llmcore.types.narrowing import is_object, kind_of

__all__ = ["assign", "copied", "copied_with", "filled", "is_flat_type", "made", "note_type", "updated", "wordy_fields"]

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

_DEEPEST: Final = 900
"""Levels that a copy follows; Python allows about as many calls within one another, and compiled code has no limit of its own."""

_FROZEN: Final[set[type[Any]]] = set()
_LIVE: Final[set[type[Any]]] = set()
"""The types derived from `Value`: to ask `isinstance` of a pydantic model takes ten times as long as looking here."""
_SET_ONCE: Final[set[type[Any]]] = set()
"""Those whose fields are set when one is made and never again, so that the names of those that were given may be shared."""
_FLAT: Final[set[type[Any]]] = {str, int, float, bool, type(None), bytes}
"""What cannot change, with the frozen types that hold nothing else."""
_PARTS: Final[dict[type[Any], tuple[str, ...]]] = {}
"""The fields of each type that may hold something that can."""
_WORDS: Final[dict[Any, tuple[str, ...]]] = {}
"""The fields of each type that may hold text, or a number of any size."""


def note_type(
    kind: type[BaseModel], *, is_set_once: bool, is_frozen: bool, parts: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """A type was derived from `Value`. `is_frozen`: nothing of one ever changes, but within its `parts`."""
    (_FROZEN if is_frozen else _LIVE).add(kind)
    if is_set_once:
        _SET_ONCE.add(kind)
    _PARTS[kind], _WORDS[kind] = parts, words
    if is_frozen and not parts:
        _FLAT.add(kind)


def is_flat_type(kind: type[Any]) -> bool:
    """Can nothing of this type ever change?"""
    return kind in _FLAT


def wordy_fields(kind: object) -> tuple[str, ...] | None:
    """The fields of a type that may hold text, or a number of any size; None for a type that is not derived from `Value`. To ask
    pydantic takes several times as long."""
    return _WORDS.get(kind)


def copied(value: T) -> T:
    """The value, sharing nothing that can change. What holds itself, or nests deeper than Python can follow, is copied
    by `copy.deepcopy`; where that fails as well, it stays the same object."""
    try:
        own: T = _copied(value)
    except RecursionError:
        try:
            return deepcopy(value)
        except Exception:  # objects say for themselves whether they can be copied
            return value
    return own


def updated(model: Model, changes: Mapping[str, Any]) -> Model:
    """The model with these fields in place of its own, and the others shared: for a model that nobody else changes.
    Nothing is checked. As pydantic's own `model_copy`, which takes seven times as long."""
    return _built(model, {**model.__dict__, **changes}, changes.keys())


def copied_with(model: Model, changes: Mapping[str, Any]) -> Model:
    """A copy of the model that shares no dict or list with it, with these fields in place of its own."""
    own = {**model.__dict__, **changes}
    for name in _PARTS[kind_of(model)]:
        value = own.get(name)
        if kind_of(value) not in _FLAT and name not in changes:
            own[name] = _copied(value)
    return _built(model, own, changes.keys())


def assign(model: BaseModel, **fields: Any) -> None:
    """Set fields of a model of our own that changes in place: nothing is checked or converted. As one assignment each, which take
    ten times as long."""
    vars(model).update(fields)
    model.__pydantic_fields_set__.update(fields)


_new: Final = object.__new__
_set_fields: Final = BaseModel.__dict__["__dict__"].__set__
_set_given: Final = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra: Final = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private: Final = BaseModel.__dict__["__pydantic_private__"].__set__


def filled(kind: type[Model], fields: dict[str, Any], given: set[str], private: dict[str, Any] | None = None) -> Model:
    """A new model of all these fields, its own from now on: nothing is checked or converted. Its slots are set as they are, which
    takes half as long as by `object.__setattr__`."""
    new = _new(kind)
    _set_fields(new, fields)
    _set_given(new, given)
    _set_extra(new, None)
    _set_private(new, private)
    return new


class _Shape:
    """What every new model of a type begins with."""

    __slots__ = ("constants", "factories", "given", "private")

    def __init__(self, kind: type[BaseModel]) -> None:
        fields = kind.__pydantic_fields__
        self.constants: dict[str, Any] = {
            name: None if field.default is PydanticUndefined else field.default for name, field in fields.items()
        }
        """Its fields, in order, with the defaults that never change."""
        self.factories: list[tuple[str, Callable[[], Any]]] = [
            (name, partial(copied, field.default) if field.default_factory is None else _plain(field.default_factory))
            for name, field in fields.items()
            if field.default_factory is not None or type(cast("object", field.default)) in (list, dict, set)
        ]
        """The fields whose defaults are made anew."""
        private = {name: attribute.get_default() for name, attribute in kind.__private_attributes__.items()}
        self.private: dict[str, Any] | None = private or None
        """Its private attributes, None where it has none."""
        self.given: dict[tuple[str, ...], set[str]] | None = {} if kind in _SET_ONCE else None
        """The names of the fields that were given, one set for all models that were given the same: of what cannot change, a set
        would be half of its memory. None where fields are set later."""


def made(kind: type[Model], **fields: Any) -> Model:
    """A new model of these fields, which are values of our own that fit: nothing is checked or converted. As pydantic's
    `model_construct`, which takes several times as long. Lists and dicts among them are the model's from now on."""
    shape = _SHAPES.get(kind)
    if shape is None:
        shape = _SHAPES[kind] = _Shape(kind)
    values = shape.constants | fields
    for name, make in shape.factories:
        if name not in fields:
            values[name] = make()
    shared, private = shape.given, shape.private
    if shared is None:
        given = {*fields}
    else:
        names = tuple(fields)
        given = shared.get(names) or shared.setdefault(names, {*names})
    new = _new(kind)  # as `filled`, which would be a call more
    _set_fields(new, values)
    _set_given(new, given)
    _set_extra(new, None)
    _set_private(new, None if private is None else _copied(private))
    return new


_SHAPES: Final[dict[type[Any], _Shape]] = {}
"""By type, each found when it is first asked for."""


def _plain(factory: Any) -> Callable[[], Any]:
    """`list` for `list[Message]`, which would take ten times as long to make the same."""
    return cast("Callable[[], Any]", get_origin(factory) or factory)


def _built(model: Model, fields: dict[str, Any], given: Set[str]) -> Model:
    """Another one, of these fields, which are all that it has."""
    kind, private, names = type(model), model.__pydantic_private__, model.__pydantic_fields_set__
    new = _new(kind)
    _set_fields(new, fields)
    _set_given(new, names if kind in _SET_ONCE and given <= names else names | given)
    _set_extra(new, model.__pydantic_extra__)
    _set_private(new, None if private is None else private.copy())
    return new


def _frozen_copy(model: Model, depth: int) -> Model:
    """The model, with copies of what it holds that can change; itself where it holds no such thing."""
    kind, fields = type(model), model.__dict__
    own: dict[str, Any] | None = None
    for name in _PARTS[kind]:
        value = fields.get(name)
        if kind_of(value) not in _FLAT and (part := _copied(value, depth)) is not value:
            own = fields.copy() if own is None else own
            own[name] = part
    if own is None:
        return model
    new = _new(kind)  # as `_built` does, which would be a call more: what is frozen has no private attributes
    _set_fields(new, own)
    _set_given(new, model.__pydantic_fields_set__)
    _set_extra(new, model.__pydantic_extra__)
    _set_private(new, None)
    return new


def _copied(value: Any, depth: int = 0) -> Any:
    kind = kind_of(value)
    if kind in _FLAT:
        return value
    if depth > _DEEPEST:
        raise RecursionError
    depth += 1
    if kind in _FROZEN:
        return _frozen_copy(value, depth)
    if kind is dict or kind is list:
        new = value.copy()
        for place, item in value.items() if kind is dict else enumerate(value):
            if (inner := kind_of(item)) not in _FLAT:
                new[place] = _frozen_copy(item, depth) if inner in _FROZEN else _copied(item, depth)
        return new
    if kind is tuple:
        if not value:
            return value
        items = tuple([_copied(item, depth) for item in value])
        return items if any(map(is_not, items, value)) else value
    return value.model_copy() if kind in _LIVE else _copied_other(value, depth)


def _copied_other(value: Any, depth: int) -> Any:
    """Sets, and the kinds of dict that Python has beside its own."""
    if kind_of(value).__module__ not in ("builtins", "collections"):
        return value
    if isinstance(value, set | bytearray):
        return copy(cast("Any", value))
    if not is_object(value):
        return value
    new = copy(value)  # with its default factory or order
    for key, item in value.items():
        new[key] = _copied(item, depth)
    return new
