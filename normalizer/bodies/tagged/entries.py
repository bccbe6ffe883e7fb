"""The arguments of a call whose values arrive one by one, in any form.

`Entries` handles a parameter that is given twice, and text without a key. `is_whole_call` handles a body that never closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmcore.normalizer.bodies.tagged.entities import are_escaped, decoded
from llmcore.normalizer.calls.nested_values import inner_names, item_of, schema_value
from llmcore.normalizer.core.reading import Reading
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair, Safety
from llmcore.types.tools import CompiledTool

__all__ = ["Entries", "is_whole_call"]


def is_whole_call(
    reading: Reading, tool: CompiledTool | None, arguments: Mapping[str, Any], *, last_closed: bool, cut: bool = True
) -> bool:
    """Whether a call that never closed is complete.

    It is if its last value is closed, no length limit cut it, and it has all required arguments. `cut`: the text ended before
    anything else ended the call.
    """
    if not last_closed or not arguments or (cut and reading.ended_by_length):
        return False
    return tool is None or tool.required <= arguments.keys()


def _fits(value: Any, items: Any, tool: CompiledTool) -> bool:
    """Whether an object has any property of the items' schema. True for other values."""
    names = inner_names(items, tool)
    return not is_object(value) or not names or not value.keys().isdisjoint(names)


class Entries:
    """The arguments so far, and their repairs."""

    __slots__ = ("_limits", "_lists", "_texts", "_tool", "arguments", "lost", "repairs")

    def __init__(self, reading: Reading, tool: CompiledTool | None, given: Mapping[str, Any] | None = None) -> None:
        self.arguments: dict[str, Any] = dict(given or {})
        self.repairs: list[Repair] = []
        self.lost = False
        """Whether text without a key was dropped."""
        self._tool = tool
        self._limits = reading.limits
        self._texts: dict[str, str] = {}
        self._lists: set[str] = set()

    def enter(self, key: str, value: Any, repairs: list[Repair], text: str | None = None) -> bool:
        """Enter a value; `text` is its source text. Returns True if the value is stored as it is.

        If the key has a value already, and the schema wants an array, both are items of it. Otherwise the last value wins, as
        a guess.
        """
        if key not in self.arguments:
            self.arguments[key] = value
            self.repairs += repairs
            if text is not None:
                self._texts[key] = text
            return True
        if text is not None and self._tool is not None and "array" in self._tool.types(key):
            self._append(key, text)
            return False
        before = self.arguments[key]
        same = type(before) is type(value) and before == value
        safety: Safety = "lossless" if same else "guess"
        self.repairs.append(Repair(kind="parameter_repeated", path=key, before=before, after=value, safety=safety))
        self.arguments[key] = value
        self.repairs += repairs
        return True

    def decode(self) -> None:
        """Decode the entities of all texts once, if every `&` in them begins an entity and no text holds a `<`."""
        texts = {key: text for key, text in self.arguments.items() if isinstance(text, str)}
        joined = "".join(texts.values())
        if "<" in joined or not are_escaped(joined):
            return
        for key, text in texts.items():
            if "&" in text:
                self.arguments[key] = decoded(text)
                self.repairs.append(Repair(kind="entities_decoded", path=key, before=text, safety="coerced"))

    def drop(self, text: str, path: str = "") -> None:
        """Record a text without a key."""
        self.lost = True
        self.repairs.append(Repair(kind="text_dropped", path=path, before=text, after=None, safety="guess"))

    def read(self) -> dict[str, Any] | None:
        """The arguments. None if a text was dropped and a required argument is missing: the text may be its value."""
        is_incomplete = self.lost and self._tool is not None and not self._tool.required <= self.arguments.keys()
        return None if is_incomplete else self.arguments

    def _append(self, key: str, text: str) -> None:
        if key not in self._lists:
            self._lists.add(key)
            first = self.arguments[key]
            text_of_first = self._texts.get(key, first)
            kept = is_list(first) and not (isinstance(text_of_first, str) and text_of_first.lstrip().startswith("<"))
            self.arguments[key] = first if kept else self._items(key, text_of_first, 0)
            self.repairs.append(Repair(kind="parameter_repeated", path=key))
        values: list[Any] = self.arguments[key]
        values += self._items(key, text, len(values))

    def _items(self, key: str, text: Any, n: int) -> list[Any]:
        """The items that a text under an array's key adds: one, or those of a list."""
        if not isinstance(text, str):
            return [text]
        tool = self._tool
        items = item_of(tool.properties.get(key), tool) if tool is not None else None
        value, repairs = schema_value(text, tool, items, f"{key}[{n}]", limits=self._limits)
        if tool is not None and (isinstance(value, str) or not _fits(value, items, tool)):
            whole, found = schema_value(text, tool, tool.properties.get(key), key, limits=self._limits)
            if is_list(whole):
                self.repairs += found
                return [*whole]
        self.repairs += repairs
        return [value]
