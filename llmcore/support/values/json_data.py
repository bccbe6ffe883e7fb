"""Converting any Python value to valid JSON data: text that UTF-8 can encode, and numbers that JSON has.

Replies, results and errors may contain any Python value, from models, servers, tools and hooks. In Python the values stay
unchanged. Fields for them have the types `JsonText`, `JsonData` and `JsonObject`, which convert them when a model is dumped as
JSON. So dumping never fails, and the JSON can be read back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any, cast

from pydantic import BaseModel, PlainSerializer
from pydantic_core import PydanticSerializationError, to_jsonable_python

from llmcore.support.values.narrowing import is_list, is_object, text_of

__all__ = [
    "LARGEST_INT",
    "SMALLEST_INT",
    "JsonData",
    "JsonObject",
    "JsonText",
    "as_json",
    "encodable",
    "fields_data",
    "json_data",
    "model_data",
    "read_object",
]

LARGEST_INT = 10**4300 - 1
SMALLEST_INT = -LARGEST_INT
"""Python and pydantic read no longer integers (`sys.get_int_max_str_digits`)."""


def read_object(text: str | bytes) -> dict[str, Any] | None:
    """The object that a JSON text is; None if the text is anything else."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


_encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` creates an encoder per call if a setting is given


def as_json(value: Any, *, ascii_only: bool = False) -> str:
    """JSON data as text. `ascii_only` escapes other characters. Raises `TypeError` for what is no JSON data."""
    return json.dumps(value) if ascii_only else _encode(value)


def encodable(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, and each surrogate pair by its character."""
    text = text_of(text)  # no methods of a subclass
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def json_data(value: Any) -> Any:
    """A value as JSON data.

    Values without a JSON form become text: numbers that are not finite or have more than 4300 digits, and objects of unknown
    types. If the value is circular or its methods raise, even `SystemExit`, the whole becomes text. Of a model or a dataclass
    whose methods raise, each field is converted separately.

    Raises only `KeyboardInterrupt`, which may come from the user.
    """
    try:
        return _as_json_data(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a cycle, or a value whose methods raise
        return encodable(_text(value))


def _as_json_data(value: Any) -> Any:
    kind = value.__class__
    if kind is str:
        return encodable(value)
    if kind is int:
        return value if SMALLEST_INT <= value <= LARGEST_INT else str(Decimal(value))  # `str(value)` refuses so many digits
    if kind is float:
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if kind is bool or value is None:
        return value
    if is_object(value):
        return {_key(key): _as_json_data(item) for key, item in _DICT.items(value)}
    if is_list(value):
        return [_as_json_data(item) for item in _LIST.__iter__(value)]
    plain = _other_as_data(value)
    return _as_json_data(plain) if plain.__class__ in _KINDS else plain  # a number of a subclass stays unchanged


def _other_as_data(value: Any) -> Any:
    """The data of any other value. Bytes become UTF-8 text, which is how they are read back, or else base64."""
    try:
        return _to_jsonable(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        if isinstance(value, tuple | set | frozenset):
            return [_as_json_data(item) for item in cast("Iterable[Any]", value)]
        if not isinstance(value, BaseModel) and not hasattr(value.__class__, "__dataclass_fields__"):
            raise
        return fields_data(value, by_alias=True)


def _to_jsonable(value: Any) -> Any:
    try:
        return to_jsonable_python(value, fallback=_text, bytes_mode="utf8")
    except (PydanticSerializationError, UnicodeDecodeError):
        return to_jsonable_python(value, fallback=_text, bytes_mode="base64")


def model_data(value: BaseModel, *, by_alias: bool | None = None) -> dict[str, Any]:
    """The dump of a model; if that raises, `fields_data`."""
    try:
        return value.model_dump(mode="json", by_alias=by_alias, warnings=False)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return fields_data(value, by_alias=by_alias)


def fields_data(value: Any, *, by_alias: bool | None = None) -> dict[str, Any]:
    """The fields of a model or a dataclass, each converted separately.

    A computed field or a serializer of an incomplete model may raise, because it needs missing fields. Such fields are omitted.
    """
    made: dict[str, Any] = {}
    kind = value.__class__
    if not isinstance(value, BaseModel):
        return {name: json_data(getattr(value, name)) for name in kind.__dataclass_fields__ if hasattr(value, name)}
    for name, field in kind.model_fields.items():
        if name in vars(value) and not field.exclude:
            alone = _field_alone(value, name, by_alias)
            key = field.serialization_alias if by_alias and field.serialization_alias else name
            made |= {key: _nested(vars(value)[name], by_alias)} if alone is None else alone
    for name in kind.model_computed_fields:
        made |= _field_alone(value, name, by_alias) or {}
    return made | {name: _nested(item, by_alias) for name, item in (value.model_extra or {}).items()}


def _field_alone(value: BaseModel, name: str, by_alias: bool | None) -> dict[str, Any] | None:
    try:
        return value.model_dump(mode="json", include={name}, by_alias=by_alias, warnings=False)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def _nested(value: Any, by_alias: bool | None) -> Any:
    if isinstance(value, BaseModel):
        return model_data(value, by_alias=by_alias)
    if is_list(value):
        return [_nested(item, by_alias) for item in value]
    return {_key(key): _nested(item, by_alias) for key, item in value.items()} if is_object(value) else json_data(value)


_KINDS = frozenset({str, int, float, dict, list})
_DICT, _LIST = dict[Any, Any], list[Any]
"""Iteration by the base class, as pydantic iterates, whatever a subclass defines."""


def _key(key: Any) -> str:
    return encodable(key if isinstance(key, str) else next(iter(to_jsonable_python({key: None}, fallback=_text))))


def _text(value: Any) -> str:
    try:
        return str(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"<{type(value).__name__}>"


def _json_object(value: dict[str, Any]) -> dict[str, Any]:
    data = json_data(value)
    return data if is_object(data) else {"unreadable": data}


JsonText = Annotated[str, PlainSerializer(encodable, return_type=str, when_used="json")]
JsonData = Annotated[Any, PlainSerializer(json_data, return_type=Any, when_used="json")]
JsonObject = Annotated[dict[str, Any], PlainSerializer(_json_object, return_type=dict[str, Any], when_used="json")]
