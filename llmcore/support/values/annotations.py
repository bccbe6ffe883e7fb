"""Converting annotations to ones that pydantic accepts, and a hashable key for an annotation.

It converts `Final` and other qualifiers, iterables, `typing.TypedDict` before Python 3.12, and `**options: Unpack[...]`.
"""

from __future__ import annotations

import sys
import types
import typing
from collections import abc
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import InitVar
from typing import Annotated, Any, cast, get_args, get_origin

import typing_extensions
from pydantic import BaseModel, Field
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo

from llmcore.support.values.identity import Same
from llmcore.support.values.narrowing import is_list

__all__ = ["description_in", "fields_of_unpacked", "type_key", "undefined_in", "unfillable", "unqualified", "usable"]

_OLD_PYTHON = sys.version_info < (3, 12)
_REQUIRED = (typing.Required, typing_extensions.Required)
_WRAPPERS = (*_REQUIRED, typing.NotRequired, typing_extensions.NotRequired)
_SELF: Any = vars(typing)["Self"]  # to checkers it is no value
_QUALIFIERS = (*_WRAPPERS, typing.Final, typing_extensions.ReadOnly)
"""Qualifiers of a field or a variable, which do not restrict its values."""
_LISTS = (abc.Iterator, abc.Iterable, abc.Generator, abc.Collection, abc.Container, abc.Reversible)
"""Types that are read from JSON as lists. pydantic does not know some of them, and reads others lazily."""
_ASYNC_TYPES = (abc.AsyncIterable, abc.AsyncIterator, abc.AsyncGenerator, abc.Awaitable, abc.Coroutine)
_NO_VALUES: tuple[Any, ...] = (typing.ClassVar, typing.Final, _SELF, type, *_ASYNC_TYPES)
_UNIONS = (typing.Union, types.UnionType)
_PLAIN = (str, int, float, bool, bytes, type(None))
_MISSING = object()
_COMPARED_BY_VALUE = ("annotated_types", "pydantic")
"""The packages whose metadata in an `Annotated` is compared by value."""


def usable(hint: Any) -> Any:
    """The annotation in a form that pydantic accepts and reads eagerly.

    Qualifiers (`Final`, `Required`) are removed. An iterable that would be read lazily becomes a list. A text in an `Annotated`
    becomes the description. Before Python 3.12 a `typing.TypedDict` becomes one of typing_extensions, because the former does not
    record what inheritance needs. A recursive TypedDict, and one within a class, stays unchanged.
    """
    return _usable(hint, ())


def _usable(hint: Any, inside: tuple[Any, ...]) -> Any:
    if _OLD_PYTHON and typing.is_typeddict(hint):
        return _as_extension(hint, inside) if type(hint).__module__ == "typing" and hint not in inside else hint
    origin, args = get_origin(hint), get_args(hint)
    if origin is None or origin is typing.Literal:
        return (
            _usable(cast("Any", hint).type, inside) if isinstance(hint, InitVar) else _PLAIN_NAMES.get(_if_hashable(hint), hint)
        )
    if origin is Annotated:
        inner, metadata = _usable(args[0], inside), hint.__metadata__
        if (text := description_in(metadata)) is not None:
            metadata = (*metadata, Field(description=text))
        return hint if inner is args[0] and text is None else Annotated[(inner, *metadata)]
    if origin in _QUALIFIERS:
        return _usable(args[0], inside)
    made = tuple(_usable(arg, inside) for arg in args)
    if origin in _LISTS:
        return types.GenericAlias(list, made[:1]) if made else list
    if all(new is old for new, old in zip(made, args, strict=True)):
        return hint
    if origin in _UNIONS:
        return typing.Union[made]  # noqa: UP007  (of a tuple, which `|` does not take)
    return origin[made]


def description_in(metadata: Iterable[object]) -> str | None:
    """The text in the metadata of an `Annotated[int, "text"]` or `Annotated[int, Doc("text")]`.

    None if there is none, or if a `Field` has a description.
    """
    found: str | None = None
    for item in metadata:
        if isinstance(item, FieldInfo) and item.description is not None:
            return None
        text: object = item if isinstance(item, str) else getattr(item, "documentation", None) if _is_doc(item) else None
        if found is None and isinstance(text, str) and text:
            found = text
    return found


def unqualified(hint: Any) -> Any:
    """The annotation without `Required[...]`, `ReadOnly[...]` and other qualifiers."""
    while get_origin(hint) in _QUALIFIERS:
        hint = get_args(hint)[0]
    return hint


def _is_doc(given: object) -> bool:
    """Whether it is a `Doc`. Several packages have that class: typing_extensions, annotated_doc."""
    return type(given).__name__ == "Doc"


_PLAIN_NAMES: dict[Any, Any] = {
    **dict.fromkeys(_LISTS, list),
    **{getattr(typing, kind.__name__): list for kind in _LISTS},
    typing.LiteralString: str,
    typing_extensions.LiteralString: str,
}


def _if_hashable(hint: Any) -> Any:
    return hint if isinstance(hint, Hashable) else None


def _as_extension(kind: Any, inside: tuple[Any, ...]) -> Any:
    hints = typing.get_type_hints(kind, include_extras=True)
    fields: dict[str, Any] = {}
    for name, hint in hints.items():
        inner = _usable(_unwrapped(hint), (*inside, kind))
        wrapper: Any = typing_extensions.Required if _is_required(kind, name, hint) else typing_extensions.NotRequired
        fields[name] = wrapper[inner]
    make: Any = typing_extensions.TypedDict
    made = make(kind.__name__, fields)
    made.__module__, made.__doc__ = kind.__module__, kind.__doc__
    return made


def _is_required(kind: Any, name: str, hint: Any) -> bool:
    """Whether the key is required by its annotation. A `typing.TypedDict` does not know it if annotations are texts."""
    origin = get_origin(hint)
    return name in kind.__required_keys__ if origin not in _WRAPPERS else origin in _REQUIRED


def _unwrapped(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in _WRAPPERS else hint


def fields_of_unpacked(hint: Any) -> dict[str, tuple[Any, bool]] | None:
    """For `Unpack[SomeTypedDict]`: each key's annotation, and whether it is required. None for any other annotation."""
    if get_origin(hint) not in (typing.Unpack, typing_extensions.Unpack):
        return None
    kind = get_args(hint)[0]
    if not typing_extensions.is_typeddict(kind):
        return None
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: (_unwrapped(field), _is_required(kind, name, field)) for name, field in hints.items()}


def unfillable(hint: Any) -> Any:
    """The part of an annotation that no JSON value fits although pydantic accepts it (`ClassVar`, `Self`, `AsyncIterator`).

    None if there is no such part.
    """
    origin = get_origin(hint)
    if any(each is hint or each is origin for each in _NO_VALUES):
        return hint
    parts = get_args(hint)[:1] if origin is Annotated else () if origin is typing.Literal else get_args(hint)
    found = {index: unfillable_part for index, part in enumerate(parts) if (unfillable_part := unfillable(part)) is not None}
    if origin in _UNIONS and any(index not in found and part is not type(None) for index, part in enumerate(parts)):
        return next(
            (unfillable_part for unfillable_part in found.values() if unfillable_part is _SELF), None
        )  # another member of the union fits
    return next(iter(found.values()), None)


def undefined_in(hint: Any) -> str | None:
    """The undefined name that a pydantic model in the annotation refers to; None if there is none."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        try:
            hint.model_rebuild(_types_namespace={})
        except PydanticUndefinedAnnotation as error:
            return error.name
        return None
    return next((name for part in get_args(hint) if (name := undefined_in(part)) is not None), None)


def type_key(hint: Any) -> Hashable:
    """A key for an annotation. Two keys are equal only if the annotations have the same classes in the same order.

    `repr` and `==` do not fit. Two classes may have one name. `int | str` equals `str | int`, but pydantic reads them
    differently. And the metadata of an `Annotated` may define any `==`.
    """
    if is_list(hint) or isinstance(hint, tuple):  # the arguments of a Callable
        return (list, *map(type_key, cast("Sequence[Any]", hint)))
    origin, args = get_origin(hint), get_args(hint)
    if origin is None or not args:
        return Same(hint)
    if origin is typing.Literal:
        return (origin, *map(_identity_key, args))
    if origin is Annotated:
        return (origin, type_key(args[0]), *map(_metadata_key, args[1:]))
    return (Same(typing.Union if origin is types.UnionType else origin), *map(type_key, args))


def _metadata_key(given: Any) -> Hashable:
    """The key of an item of metadata. `Field(gt=0)` is compared by value, because each evaluation creates a new one."""
    if str(type(given).__module__).partition(".")[0] not in _COMPARED_BY_VALUE:
        return _identity_key(given)
    if isinstance(given, FieldInfo):
        field = {name: getattr(given, name) for name in FieldInfo.__slots__ if not name.startswith("_")}
        return (FieldInfo, *map(_metadata_key, field.pop("metadata")), *map(_identity_key, field.values()))
    attributes: Mapping[str, Any] = getattr(given, "__dict__", None) or getattr(given, "__dataclass_fields__", {})
    parts = ((name, _identity_key(getattr(given, name, _MISSING))) for name in sorted(attributes))
    return (Same(given.__class__), *parts) if attributes else Same(given)


def _identity_key(value: Any) -> Hashable:
    """The type and `repr` of a plain value (`0.0 == -0.0`, `1 == True`); the identity of any other object."""
    return (value.__class__, repr(value)) if type(value) in _PLAIN else Same(value)
