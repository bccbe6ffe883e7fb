"""pydantic's JSON Schema of a type, as JSON: what a type says that JSON has no form for is left out."""

from __future__ import annotations

import math
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from llmcore.types.narrowing import is_list, is_object
from llmcore.types.tools import JsonSchema

__all__ = ["GeneratedSchema"]

_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


class GeneratedSchema(GenerateJsonSchema):
    """`math.inf` is a good default and bound in Python. As a bound it bounds nothing; as a default it is told as little as any
    other object that JSON cannot hold."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  (pydantic declares it so)

    def encode_default(self, dft: Any) -> Any:
        if _is_unwritable(to_jsonable_python(dft, inf_nan_mode="constants")):  # within containers pydantic writes null
            raise PydanticSerializationError("JSON has no infinity")  # which pydantic takes for: leave it out
        return super().encode_default(dft)

    def generate_inner(self, schema: Any) -> JsonSchema:
        made: JsonSchema = super().generate_inner(schema)
        for key in _NUMBERS:
            if _is_unwritable(made.get(key)):
                del made[key]
        if is_list(examples := made.get("examples")) and any(map(_is_unwritable, examples)):
            made["examples"] = [example for example in examples if not _is_unwritable(example)]
        return made


def _is_unwritable(value: Any) -> bool:
    """Does JSON data hold a number that JSON has not?"""
    if is_object(value):
        return any(map(_is_unwritable, value.values()))
    if is_list(value):
        return any(map(_is_unwritable, value))
    return isinstance(value, float) and not math.isfinite(value)
