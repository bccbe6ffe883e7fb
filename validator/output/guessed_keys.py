"""Removes keys that the reader guessed and the schema does not list.

In JSON without quotes, a remark (`Note to self: ...`) reads like a key of several words. If the schema lists properties and
does not mention others, such a key is dropped and recorded. Any other unknown key stays, as JSON Schema demands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Repair
from llmcore.validator.coercion.coercer import spelling
from llmcore.validator.coercion.views import view_of
from llmcore.validator.schema.compiled import CompiledSchema

__all__ = ["without_guessed_keys"]

_KIND = "key_of_words"


def without_guessed_keys(value: Any, repairs: Iterable[Repair], schema: CompiledSchema) -> tuple[Any, list[Repair]]:
    """Return the value without guessed keys that the schema does not list, and a `guess` for each dropped key."""
    guessed = {(repair.path, repair.after) for repair in repairs if repair.kind == _KIND}
    dropped: list[Repair] = []
    return (_without(value, schema, schema.schema, "", guessed, dropped), dropped) if guessed else (value, dropped)


def _without(
    value: Any, schema: CompiledSchema, subschema: Any, path: str, guessed: set[tuple[str, Any]], dropped: list[Repair]
) -> Any:
    view = view_of(schema, subschema)
    if is_list(value):
        return [
            _without(item, schema, view.item_schema(index), f"{path}[{index}]", guessed, dropped)
            for index, item in enumerate(value)
        ]
    if not is_object(value):
        return value
    open_by_silence = bool(view.properties) and view.extra is True and not view.patterns and not view.alternatives
    known = {spelling(name) for name in view.properties}
    remaining: dict[str, Any] = {}
    for key, item in value.items():
        inner = f"{path}.{key}" if path else key
        if open_by_silence and (path, key) in guessed and spelling(key) not in known:
            dropped.append(Repair(kind="dropped_key", path=inner, before=item, safety="guess"))
        else:
            remaining[key] = _without(item, schema, view.value_schema(key), inner, guessed, dropped)
    return remaining
