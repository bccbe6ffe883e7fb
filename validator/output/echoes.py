"""Finds values that fit the type but are no answers: an echoed form, or an object about something else.

A placeholder (`...`, `<your name>`) only describes a value. If all fields have defaults, an object fits without any key of
the type (`{"error": "not found"}`, or the schema itself). It also fits with a misspelt key, whose value would be lost. Each
of these is recorded as a `guess`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.core.damage.placeholders import is_placeholder_value
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Repair
from llmcore.validator.coercion.coercer import spelling
from llmcore.validator.coercion.views import view_of
from llmcore.validator.schema.compiled import CompiledSchema

__all__ = ["echoes_in"]


def echoes_in(value: Any, schema: CompiledSchema) -> list[Repair]:
    """Return a `guess` for each echo in an object or array. A string is never an echo."""
    if not (is_object(value) or is_list(value)):
        return []
    echoes = _Echoes(schema)
    echoes.visit(value, schema.schema, "")
    return [Repair(kind=kind, path=path, before=found, after=found, safety="guess") for kind, path, found in echoes.found]


class _Echoes:
    """`found` holds each echo as its kind, path and value."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema
        self.found: list[tuple[str, str, Any]] = []

    def visit(self, value: Any, subschema: Any, path: str) -> None:
        """Collect the echoes in an object or array."""
        if is_object(value):
            for kind, key in self._key_guesses(value, subschema):
                self.found.append((kind, f"{path}.{key}".strip("."), value[key] if key else value))
            view = view_of(self.schema, self._only_branch(subschema, "object"))
            for key, item in value.items():
                if isinstance(item, (dict, list)):
                    self.visit(item, view.value_schema(key), f"{path}.{key}" if path else key)
                elif isinstance(item, str) and is_placeholder_value(item) and not self._allows(item, view.value_schema(key)):
                    self.found.append(("placeholder", f"{path}.{key}" if path else key, item))
        else:
            view = view_of(self.schema, self._only_branch(subschema, "array"))
            for index, item in enumerate(value):
                if isinstance(item, (dict, list)):
                    self.visit(item, view.item_schema(index), f"{path}[{index}]")
                elif isinstance(item, str) and is_placeholder_value(item) and not self._allows(item, view.item_schema(index)):
                    self.found.append(("placeholder", f"{path}[{index}]", item))

    def _key_guesses(self, value: dict[str, Any], subschema: Any) -> Iterator[tuple[str, str]]:
        """The object's keys that make it doubtful: all are unknown, or one is a misspelt key of the type.

        If the type lists no keys or allows other keys, every key is known.
        """
        names: set[str] = set()
        for branch in view_of(self.schema, subschema).branches or [subschema]:
            view = view_of(self.schema, branch)
            if view.types and "object" not in view.types:
                continue
            if not view.properties or view.patterns or self._allows_other_keys(branch):
                return
            names |= view.properties.keys()
        unknown = value.keys() - names
        if not unknown or not names:
            return
        if len(unknown) == len(value):
            yield "no_known_key", ""
            return
        absent = {spelling(name) for name in names - value.keys()}
        yield from (("misspelt_key", key) for key in unknown if spelling(key) in absent)

    def _allows_other_keys(self, subschema: Any) -> bool:
        found = self.schema.resolve(subschema)
        return is_object(found) and found.get("additionalProperties", False) is not False

    def _allows(self, value: str, subschema: Any) -> bool:
        """Whether the schema itself lists this value."""
        return any(
            value in (view_of(self.schema, branch).allowed or ())
            for branch in view_of(self.schema, subschema).branches or [subschema]
        )

    def _only_branch(self, subschema: Any, kind: str) -> Any:
        """The only alternative that takes a value of this kind. If there are several, the schema of any value."""
        branches = view_of(self.schema, subschema).branches or [subschema]
        found = [branch for branch in branches if kind in view_of(self.schema, branch).types]
        return found[0] if len(found) == 1 else True
