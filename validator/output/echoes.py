"""What fits the type and is yet no answer: the form of it, echoed, or an object that speaks of something else.

A string that is a placeholder (`...`, `<your name>`) says what should stand there. Where fields have defaults, an object fits
without one key of its type (`{"error": "not found"}`, the schema itself), or with a misspelt one, whose value is lost. All
are recorded as a `guess`.
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
    """A guess for each of them in an object or array. A text alone is what it says."""
    if not (is_object(value) or is_list(value)):
        return []
    echoes = _Echoes(schema)
    echoes.look(value, schema.schema, "")
    return [Repair(kind=kind, path=path, before=found, after=found, safety="guess") for kind, path, found in echoes.found]


class _Echoes:
    """`found`: each as its kind, its path and what it says."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema
        self.found: list[tuple[str, str, Any]] = []

    def look(self, value: Any, subschema: Any, path: str) -> None:
        """Of an object or array."""
        if is_object(value):
            for kind, key in self._lost(value, subschema):
                self.found.append((kind, f"{path}.{key}".strip("."), value[key] if key else value))
            view = view_of(self.schema, self._only_branch(subschema, "object"))
            for key, item in value.items():
                if isinstance(item, (dict, list)):
                    self.look(item, view.value_schema(key), f"{path}.{key}" if path else key)
                elif isinstance(item, str) and is_placeholder_value(item) and not self._names(item, view.value_schema(key)):
                    self.found.append(("placeholder", f"{path}.{key}" if path else key, item))
        else:
            view = view_of(self.schema, self._only_branch(subschema, "array"))
            for index, item in enumerate(value):
                if isinstance(item, (dict, list)):
                    self.look(item, view.item_schema(index), f"{path}[{index}]")
                elif isinstance(item, str) and is_placeholder_value(item) and not self._names(item, view.item_schema(index)):
                    self.found.append(("placeholder", f"{path}[{index}]", item))

    def _lost(self, value: dict[str, Any], subschema: Any) -> Iterator[tuple[str, str]]:
        """Is no key of it the type's, or is one the type's but for its spelling? Where the type lists no keys, or says that it
        takes others, any key is its own."""
        names: set[str] = set()
        for branch in self._branches(subschema):
            view = view_of(self.schema, branch)
            if view.types and "object" not in view.types:
                continue
            if not view.properties or view.patterns or self._takes_others(branch):
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

    def _takes_others(self, subschema: Any) -> bool:
        found = self.schema.resolve(subschema)
        return is_object(found) and found.get("additionalProperties", False) is not False

    def _names(self, value: str, subschema: Any) -> bool:
        """Does the schema itself give this value?"""
        return any(value in (view_of(self.schema, branch).allowed or ()) for branch in self._branches(subschema))

    def _only_branch(self, subschema: Any, kind: str) -> Any:
        """The alternative that takes such a value, where there is one; where there are several, what is inside is any value."""
        found = [branch for branch in self._branches(subschema) if kind in view_of(self.schema, branch).types]
        return found[0] if len(found) == 1 else True

    def _branches(self, subschema: Any) -> list[Any]:
        """The alternatives of a schema; itself where it has none."""
        alternatives = view_of(self.schema, subschema).alternatives
        return [branch for each in alternatives for branch in each] or [subschema]
