"""Calls that an envelope gives by their names alone (`{"tool_calls": [{"name": "list_files"}]}`).

The envelope says that they are calls, so a tool that requires nothing is called with nothing. An entry that says anything else,
such as a description, is of a list of tools.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, ID_KEYS
from llmcore.support.values.narrowing import is_object

__all__ = ["is_named_only"]

_BESIDE = frozenset((*ARGUMENT_KEYS, *ID_KEYS, "type", "index"))


def is_named_only(entry: Any, name_keys: Collection[str], nests: Collection[str]) -> bool:
    """Does an entry say nothing but a name and ids, and that there are no arguments? `nests`: keys of an object that holds it."""
    if not is_object(entry):
        return False
    for key, held in entry.items():
        if is_object(held):
            if key not in nests or not is_named_only(held, name_keys, ()):
                return False
        elif key not in _BESIDE and key not in name_keys:
            return False
    return True
