"""Annotations as pydantic takes them: `Final` and its like, iterables, `typing.TypedDict` on a Python below 3.12, and
`**options: Unpack[SomeTypedDict]`; and what each is known by where it is kept."""

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
"""They say something of a field or a variable, and nothing of its values."""
_LISTS = (abc.Iterator, abc.Iterable, abc.Generator, abc.Collection, abc.Container, abc.Reversible)
"""Of JSON data they are lists. Pydantic knows some of them not, and others it reads only when somebody asks for an item."""
_LATER = (abc.AsyncIterable, abc.AsyncIterator, abc.AsyncGenerator, abc.Awaitable, abc.Coroutine)
_NO_VALUES: tuple[Any, ...] = (typing.ClassVar, typing.Final, _SELF, type, *_LATER)
_UNIONS = (typing.Union, types.UnionType)
_PLAIN = (str, int, float, bool, bytes, type(None))
_ABSENT = object()
_DESCRIBE = ("annotated_types", "pydantic")
"""Modules of the objects in an `Annotated` that are no more than what they say."""


def usable(hint: Any) -> Any:
    """The annotation as pydantic takes it and reads it at once: without what qualifies a field (`Final`, `Required`), with a list
    for any iterable that would be read later, with the text in an `Annotated` as its description, and on an old Python each
    `typing.TypedDict` as the same of typing_extensions (the former lacks what inheritance needs). A TypedDict that holds itself
    stays as it is, and so does one inside of a class."""
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
        inner, said = _usable(args[0], inside), hint.__metadata__
        if (described := description_in(said)) is not None:
            said = (*said, Field(description=described))
        return hint if inner is args[0] and described is None else Annotated[(inner, *said)]
    if origin in _QUALIFIERS:
        return _usable(args[0], inside)
    made = tuple(_usable(arg, inside) for arg in args)
    if origin in _LISTS:
        return types.GenericAlias(list, made[:1]) if made else list
    if all(one is other for one, other in zip(made, args, strict=True)):
        return hint
    if origin in _UNIONS:
        return typing.Union[made]  # noqa: UP007  (of a tuple, which `|` does not take)
    return origin[made]


def description_in(said: Iterable[object]) -> str | None:
    """The text of an `Annotated[int, "text"]` or `Annotated[int, Doc("text")]`, by what stands beside the type. None where there
    is none, or a `Field` that has a description."""
    found: str | None = None
    for one in said:
        if isinstance(one, FieldInfo) and one.description is not None:
            return None
        text: object = one if isinstance(one, str) else getattr(one, "documentation", None) if _is_doc(one) else None
        if found is None and isinstance(text, str) and text:
            found = text
    return found


def unqualified(hint: Any) -> Any:
    """What stands in `Required[...]`, `ReadOnly[...]` and their like."""
    while get_origin(hint) in _QUALIFIERS:
        hint = get_args(hint)[0]
    return hint


def _is_doc(given: object) -> bool:
    """There are several classes of this name: of typing_extensions, of annotated_doc."""
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
    """As the key itself says: where annotations are texts, a TypedDict of typing does not know it."""
    origin = get_origin(hint)
    return name in kind.__required_keys__ if origin not in _WRAPPERS else origin in _REQUIRED


def _unwrapped(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in _WRAPPERS else hint


def fields_of_unpacked(hint: Any) -> dict[str, tuple[Any, bool]] | None:
    """Of `Unpack[SomeTypedDict]` each key's annotation, and whether it is required; None of any other annotation."""
    if get_origin(hint) not in (typing.Unpack, typing_extensions.Unpack):
        return None
    kind = get_args(hint)[0]
    if not typing_extensions.is_typeddict(kind):
        return None
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: (_unwrapped(one), _is_required(kind, name, one)) for name, one in hints.items()}


def unfillable(hint: Any) -> Any:
    """The part of an annotation that JSON has no value for, though pydantic takes it (`ClassVar`, `Self`, `type`), or
    that no text can be while it is read (`AsyncIterator`); else None."""
    origin = get_origin(hint)
    if any(each is hint or each is origin for each in _NO_VALUES):
        return hint
    parts = get_args(hint)[:1] if origin is Annotated else () if origin is typing.Literal else get_args(hint)
    found = {index: lacking for index, part in enumerate(parts) if (lacking := unfillable(part)) is not None}
    if origin in _UNIONS and any(index not in found and part is not type(None) for index, part in enumerate(parts)):
        return next((lacking for lacking in found.values() if lacking is _SELF), None)  # another one of them can be given
    return next(iter(found.values()), None)


def undefined_in(hint: Any) -> str | None:
    """The name that a pydantic model in an annotation refers to and nobody has defined; None where there is none."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        try:
            hint.model_rebuild(_types_namespace={})
        except PydanticUndefinedAnnotation as error:
            return error.name
        return None
    return next((name for part in get_args(hint) if (name := undefined_in(part)) is not None), None)


def type_key(hint: Any) -> Hashable:
    """What an annotation is known by: equal only for those that mean the same, of the same classes in the same order.

    Neither `repr` nor `==` tells that. Two classes may have one name; `int | str` equals `str | int`, of which pydantic makes
    different values; and what stands in an `Annotated` compares as it likes.
    """
    if is_list(hint) or isinstance(hint, tuple):  # the arguments of a Callable
        return (list, *map(type_key, cast("Sequence[Any]", hint)))
    origin, args = get_origin(hint), get_args(hint)
    if origin is None or not args:
        return Same(hint)
    if origin is typing.Literal:
        return (origin, *map(_identity_key, args))
    if origin is Annotated:
        return (origin, type_key(args[0]), *map(_described, args[1:]))
    return (Same(typing.Union if origin is types.UnionType else origin), *map(type_key, args))


def _described(given: Any) -> Hashable:
    """Of what stands in an `Annotated`: `Field(gt=0)` by what it says, for one in a call is made anew each time."""
    if str(type(given).__module__).partition(".")[0] not in _DESCRIBE:
        return _identity_key(given)
    if isinstance(given, FieldInfo):
        field = {name: getattr(given, name) for name in FieldInfo.__slots__ if not name.startswith("_")}
        return (FieldInfo, *map(_described, field.pop("metadata")), *map(_identity_key, field.values()))
    attributes: Mapping[str, Any] = getattr(given, "__dict__", None) or getattr(given, "__dataclass_fields__", {})
    parts = ((name, _identity_key(getattr(given, name, _ABSENT))) for name in sorted(attributes))
    return (Same(given.__class__), *parts) if attributes else Same(given)


def _identity_key(value: Any) -> Hashable:
    """Of a plain value its type and what it is (`0.0` equals `-0.0`, and `1` equals `True`), of all else which object it is."""
    return (value.__class__, repr(value)) if type(value) in _PLAIN else Same(value)
