"""Values whose JSON keeps every digit of their numbers.

JSON holds numbers as other readers have them: rounded, `1.10` as `1.1`. So where a number would change, JSON has `exact` beside
the fields: the text of each that holds such a number, as it was written. Reading puts them back where they stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from pydantic import SerializationInfo, SerializerFunctionWrapHandler, model_serializer, model_validator

from llmcore.types.copies import Value
from llmcore.types.json_data import encodable
from llmcore.types.narrowing import is_object, object_in
from llmcore.types.numbers import exact_json, holds_exact_floats, with_literals

__all__ = ["ExactValue"]

_EXACT = "exact"


class ExactValue(Value):
    """A value with `data_fields`, the names of those that hold JSON data. `texts`: the names of fields that hold the text which a
    data field was read from; where `exact` is not told, its digits are those of that text, if it is JSON."""

    data_fields: ClassVar[tuple[str, ...]] = ("arguments",)
    texts: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @model_serializer(mode="wrap")
    def _write_digits(self, write: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if info.mode != "json":
            return written
        texts = {name: text for name in self.data_fields if name in written and (text := _text(getattr(self, name)))}
        return {**written, _EXACT: texts} if texts else written

    @model_validator(mode="before")
    @classmethod
    def _read_digits(cls, given: Any) -> Any:
        if not is_object(given) or not (cls.texts or _EXACT in given):
            return given
        told = {name: value for name, value in given.items() if name != _EXACT}
        exact = object_in(given.get(_EXACT))
        for name in cls.data_fields:
            texts = (exact.get(name), *(given.get(key) for key in cls.texts.get(name, ())))
            text = next((one for one in texts if isinstance(one, str) and one), "")
            if name in told and text:
                told[name] = with_literals(told[name], text)
        return told


def _text(value: object) -> str:
    """JSON of data that holds such a number; "" of any other, and of what is no JSON data."""
    if not isinstance(value, float | list | Mapping):
        return ""
    try:
        return encodable(exact_json(value)) if holds_exact_floats(cast("Any", value)) else ""
    except Exception:  # of a tool's value, whose own methods may fail
        return ""
