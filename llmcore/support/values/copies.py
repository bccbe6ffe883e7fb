"""Copies that share nothing that can change, and the base of all public types, whose `model_copy` makes them.

Rules: dicts, lists, sets and tuples are new at every depth, and so are models that hold one; what else stands in them
(text, numbers, functions, objects of other classes) stays the same object. Linear in the number of values; of text
nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from copy import copy, deepcopy
from functools import partial
from operator import is_not
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticUndefined

from llmcore.support.code.suggestions import mistake_in, unknown
from llmcore.support.values.narrowing import is_object, kind_of

__all__ = ["Value", "assign_field", "copied", "made", "new_model", "text_fields", "updated"]


T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

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


def _note_type(
    kind: type[BaseModel], *, is_set_once: bool, is_frozen: bool, parts: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """A type was derived from `Value`. `is_frozen`: nothing of one ever changes, but within its `parts`."""
    (_FROZEN if is_frozen else _LIVE).add(kind)
    if is_set_once:
        _SET_ONCE.add(kind)
    _PARTS[kind], _WORDS[kind] = parts, words
    if is_frozen and not parts:
        _FLAT.add(kind)


def text_fields(kind: object) -> tuple[str, ...] | None:
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


def assign_field(model: BaseModel, **fields: Any) -> None:
    """Set fields of a model of our own that changes in place: nothing is checked or converted. As one assignment each, which take
    ten times as long."""
    vars(model).update(fields)
    model.__pydantic_fields_set__.update(fields)


_new: Final = object.__new__
_set_fields: Final = BaseModel.__dict__["__dict__"].__set__
_set_given: Final = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra: Final = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private: Final = BaseModel.__dict__["__pydantic_private__"].__set__


def new_model(kind: type[Model], fields: dict[str, Any], given: set[str], private: dict[str, Any] | None = None) -> Model:
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
    new = _new(kind)  # as `new_model`, which would be a call more
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


def _frozen_copy(model: Model) -> Model:
    """The model, with copies of what it holds that can change; itself where it holds no such thing."""
    kind, fields = type(model), model.__dict__
    own: dict[str, Any] | None = None
    for name in _PARTS[kind]:
        value = fields.get(name)
        if kind_of(value) not in _FLAT and (part := _copied(value)) is not value:
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


def _copied(value: Any) -> Any:
    kind = kind_of(value)
    if kind in _FLAT:
        return value
    if kind in _FROZEN:
        return _frozen_copy(value)
    if kind is dict or kind is list:
        new = value.copy()
        for place, item in value.items() if kind is dict else enumerate(value):
            if (inner := kind_of(item)) not in _FLAT:
                new[place] = _frozen_copy(item) if inner in _FROZEN else _copied(item)
        return new
    if kind is tuple:
        if not value:
            return value
        items = tuple([_copied(item) for item in value])
        return items if any(map(is_not, items, value)) else value
    return value.model_copy() if kind in _LIVE else _copied_other(value)


def _copied_other(value: Any) -> Any:
    """Sets, and the kinds of dict that Python has beside its own."""
    if kind_of(value).__module__ not in ("builtins", "collections"):
        return value
    if isinstance(value, set | bytearray):
        return copy(cast("Any", value))
    if not is_object(value):
        return value
    new = copy(value)  # with its default factory or order
    for key, item in value.items():
        new[key] = _copied(item)
    return new


def _without_keys(text: str) -> str:
    from llmcore.support.values.credentials import without_keys  # its expressions are compiled where one is first asked for

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
        _note_type(
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
    return isinstance(annotation, type) and annotation in _FLAT


def _first_fields(kind: type[Value]) -> str:
    """Those that one must give, or the first that says something of its own."""
    fields = kind.__pydantic_fields__
    needed = [name for name, field in fields.items() if field.is_required()]
    return ", ".join(f"{name}=..." for name in needed or [name for name in fields if name not in _SELDOM_GIVEN][:1])


_SELDOM_GIVEN = frozenset({"cache_control", "type", "version", "id"})


def _name(value: Value) -> str:
    return type(value).__name__
