"""Copies that share no mutable data, and `Value`, the base class of all public types, whose `model_copy` makes such copies.

Dicts, lists, sets and tuples are copied at every depth, and so are models that contain one. Everything else (text, numbers,
functions, objects of other classes) stays the same object. The time is linear in the number of values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from copy import copy, deepcopy
from functools import partial
from operator import is_not
from traceback import clear_frames
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
"""The frozen and the other subclasses of `Value`. `isinstance` of a pydantic model takes ten times as long as this look-up."""
_IMMUTABLE_FIELDS: Final[set[type[Any]]] = set()
"""The types whose fields never change after construction, so that models may share the set of given names."""
_FLAT: Final[set[type[Any]]] = {str, int, float, bool, type(None), bytes}
"""The immutable types, and the frozen types that contain only such."""
_PARTS: Final[dict[type[Any], tuple[str, ...]]] = {}
"""By type: the fields that may contain mutable values."""
_TEXT_FIELDS: Final[dict[Any, tuple[str, ...]]] = {}
"""By type: the fields that may contain text, or a number of any size."""


def _register_type(
    kind: type[BaseModel], *, has_fixed_fields: bool, is_frozen: bool, parts: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """Register a subclass of `Value`. `is_frozen`: its models never change, except values within the fields `parts`."""
    (_FROZEN if is_frozen else _LIVE).add(kind)
    if has_fixed_fields:
        _IMMUTABLE_FIELDS.add(kind)
    _PARTS[kind], _TEXT_FIELDS[kind] = parts, words
    if is_frozen and not parts:
        _FLAT.add(kind)


def text_fields(kind: object) -> tuple[str, ...] | None:
    """The fields of a type that may contain text, or a number of any size; None for a type that is no subclass of `Value`."""
    return _TEXT_FIELDS.get(kind)


def copied(value: T) -> T:
    """A copy of the value that shares no mutable data.

    A circular value, or one nested too deep for recursion, is copied by `copy.deepcopy`. If that raises, returns the same object.
    """
    try:
        result: T = _copied(value)
    except RecursionError:
        try:
            return deepcopy(value)
        except Exception:  # from an object's `__deepcopy__`
            return value
    return result


def updated(model: Model, changes: Mapping[str, Any]) -> Model:
    """A model with these fields changed, which shares all other values with `model`. Nothing is validated.

    pydantic's `model_copy` does the same in seven times the time.
    """
    return _rebuilt(model, {**model.__dict__, **changes}, changes.keys())


def copied_with(model: Model, changes: Mapping[str, Any]) -> Model:
    """A copy of the model with these fields changed. It shares no dict or list with `model`."""
    fields = {**model.__dict__, **changes}
    for name in _PARTS[kind_of(model)]:
        value = fields.get(name)
        if kind_of(value) not in _FLAT and name not in changes:
            fields[name] = _copied(value)
    return _rebuilt(model, fields, changes.keys())


def assign_field(model: BaseModel, **fields: Any) -> None:
    """Set fields of a mutable model. Nothing is validated. Assignments do the same in ten times the time."""
    vars(model).update(fields)
    model.__pydantic_fields_set__.update(fields)


_new: Final = object.__new__
_set_fields: Final = BaseModel.__dict__["__dict__"].__set__
_set_given: Final = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra: Final = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private: Final = BaseModel.__dict__["__pydantic_private__"].__set__


def new_model(kind: type[Model], fields: dict[str, Any], given: set[str], private: dict[str, Any] | None = None) -> Model:
    """A new model with these fields, which are all of its fields. Nothing is validated, and the model keeps the given dict.

    Setting its slots takes half as long as `object.__setattr__`.
    """
    new = _new(kind)
    _set_fields(new, fields)
    _set_given(new, given)
    _set_extra(new, None)
    _set_private(new, private)
    return new


class _Shape:
    """The defaults of a type's new models."""

    __slots__ = ("constants", "factories", "given", "private")

    def __init__(self, kind: type[BaseModel]) -> None:
        fields = kind.__pydantic_fields__
        self.constants: dict[str, Any] = {
            name: None if field.default is PydanticUndefined else field.default for name, field in fields.items()
        }
        """All fields in order, with the immutable defaults."""
        self.factories: list[tuple[str, Callable[[], Any]]] = [
            (name, partial(copied, field.default) if field.default_factory is None else _factory(field.default_factory))
            for name, field in fields.items()
            if field.default_factory is not None or type(cast("object", field.default)) in (list, dict, set)
        ]
        """The fields whose defaults are created for each model."""
        private = {name: attribute.get_default() for name, attribute in kind.__private_attributes__.items()}
        self.private: dict[str, Any] | None = private or None
        """The private attributes; None if there are none."""
        self.given: dict[tuple[str, ...], set[str]] | None = {} if kind in _IMMUTABLE_FIELDS else None
        """By names of given fields: the one set that models with these names share, which would be half of their memory.

        None if fields may be set later.
        """


def made(kind: type[Model], /, **fields: Any) -> Model:
    """A new model with these valid fields and defaults for the others. Nothing is validated. The model keeps given containers.

    pydantic's `model_construct` takes several times as long.
    """
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
    new = _new(kind)  # `new_model` inlined
    _set_fields(new, values)
    _set_given(new, given)
    _set_extra(new, None)
    _set_private(new, None if private is None else _copied(private))
    return new


_SHAPES: Final[dict[type[Any], _Shape]] = {}
"""By type, each created on first use."""


def _factory(factory: Any) -> Callable[[], Any]:
    """`list` for `list[Message]`, whose call takes ten times as long."""
    return cast("Callable[[], Any]", get_origin(factory) or factory)


def _rebuilt(model: Model, fields: dict[str, Any], given: Set[str]) -> Model:
    """A model of the same type with these fields, which are all of its fields."""
    kind, private, names = type(model), model.__pydantic_private__, model.__pydantic_fields_set__
    new = _new(kind)
    _set_fields(new, fields)
    _set_given(new, names if kind in _IMMUTABLE_FIELDS and given <= names else names | given)
    _set_extra(new, model.__pydantic_extra__)
    _set_private(new, None if private is None else private.copy())
    return new


def _frozen_copy(model: Model) -> Model:
    """The model with copies of its mutable values; the same model if it has none."""
    kind, fields = type(model), model.__dict__
    changed: dict[str, Any] | None = None
    for name in _PARTS[kind]:
        value = fields.get(name)
        if kind_of(value) not in _FLAT and (part := _copied(value)) is not value:
            changed = fields.copy() if changed is None else changed
            changed[name] = part
    if changed is None:
        return model
    new = _new(kind)  # `_rebuilt` inlined: frozen models have no private attributes
    _set_fields(new, changed)
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
    """A copy of a set, a bytearray or a subclass of dict from the standard library; any other object itself."""
    if kind_of(value).__module__ not in ("builtins", "collections"):
        return value
    if isinstance(value, set | bytearray):
        return copy(cast("Any", value))
    if not is_object(value):
        return value
    new = copy(value)  # keeps a default factory
    for key, item in value.items():
        new[key] = _copied(item)
    return new


def _without_keys(text: str) -> str:
    from llmcore.support.values.credentials import without_keys  # compiles expressions, so it is imported on demand

    return without_keys(text)


class Value(BaseModel):
    """The base class of the public types. Their validators are built on first use, because a process needs only few of them.

    The constructor raises `ConfigError` for an unknown field or a wrong value, with pydantic's error as its cause.
    `model_validate` and `model_validate_json` raise pydantic's error.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", hide_input_in_errors=True)

    raises: ClassVar[type[Exception]] = ValueError
    """The class of that error. `types.errors` sets it, because errors contain values and this module cannot import them."""
    instead: ClassVar[Mapping[str, str]] = {}
    """Hints for well-known names that are no fields."""

    if not TYPE_CHECKING:  # checkers infer the signature from the fields

        def __init__(self, /, *args: Any, **fields: Any) -> None:
            try:
                if args:
                    raise self.raises(f"{_name(self)} takes its fields by name: write {_name(self)}({_first_fields(type(self))})")
                self.__pydantic_validator__.validate_python(fields, self_instance=self)
            except ValidationError as error:
                raise self.raises(mistake_in(error, _name(self), type(self).__pydantic_fields__, self.instead)) from error
            except self.raises as error:  # the one above, or that of a field's own check
                clear_frames(error.__traceback__)
                raise
            finally:
                del args, fields  # they may hold a key, and pytest prints the arguments of this frame

        __init__.__pydantic_base_init__ = True  # so that `model_validate_json` does not call it

    def __repr__(self) -> str:
        """pydantic's `repr`, with anything that looks like a key masked, because it ends up in logs."""
        return _without_keys(super().__repr__())

    def __str__(self) -> str:
        return _without_keys(super().__str__())

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        has_fixed_fields, fields = bool(cls.model_config.get("frozen")), cls.__pydantic_fields__
        if has_fixed_fields:
            type.__setattr__(cls, "__setattr__", _set_or_explain)  # checkers see the base's
            type.__setattr__(cls, "__delattr__", _delete_or_explain)
        _register_type(
            cls,
            has_fixed_fields=has_fixed_fields,
            is_frozen=has_fixed_fields and not cls.__private_attributes__,
            parts=tuple(name for name, field in fields.items() if not _is_flat(field.annotation)),
            words=tuple(name for name, field in fields.items() if not _is_choice(field.annotation)),
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with the fields of `update` changed, which are not validated. It shares no dict or list with this one.

        `deep` also copies objects of other classes, by `copy.deepcopy`. Raises `ConfigError` if `update` has an unknown field.
        """
        given = update or {}
        for name in given:
            if name not in self.__pydantic_fields__:
                update = given = {}  # pytest prints the variables of this frame
                raise self.raises(unknown(_name(self), "field", name, type(self).__pydantic_fields__, self.instead))
        return updated(deepcopy(self), given) if deep else copied_with(self, given)


def _set_or_explain(self: Value, name: str, value: Any) -> None:
    try:
        BaseModel.__setattr__(self, name, value)
    except (ValidationError, ValueError):  # a field, or an unknown name
        value = None  # pytest prints the arguments of this frame
        raise _immutable_error(self, name) from None  # pydantic's frames hold the value, too


def _delete_or_explain(self: Value, name: str) -> None:
    try:
        BaseModel.__delattr__(self, name)
    except ValidationError as error:
        raise _immutable_error(self, name) from error


def _immutable_error(value: Value, name: str) -> Exception:
    kind, fields = _name(value), type(value).__pydantic_fields__
    if name not in fields:
        return value.raises(unknown(kind, "field", name, fields, value.instead))
    fix = f"value.model_copy(update={{{name!r}: ...}}) creates a changed copy"
    return value.raises(f"{kind}.{name} can only be set when the {kind} is created: {fix}")


def _is_choice(annotation: object) -> bool:
    """Whether the annotation admits only literals, bools and None."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return all(map(_is_choice, get_args(annotation)))
    return origin is Literal or annotation is bool or annotation is type(None)


def _is_flat(annotation: object) -> bool:
    """Whether the annotation admits only immutable values."""
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
