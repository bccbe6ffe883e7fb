"""Calls that an envelope lists by name only (`{"tool_calls": [{"name": "list_files"}]}`).

The envelope shows that they are calls, so a tool that requires no arguments is called without any. If an entry has anything
else, such as a description, the list is a list of tools.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, ID_KEYS
from llmcore.support.values.narrowing import is_object

__all__ = ["is_named_only"]

_BESIDE = frozenset((*ARGUMENT_KEYS, *ID_KEYS, "type", "index"))


def is_named_only(entry: Any, name_keys: Collection[str], nests: Collection[str]) -> bool:
    """Whether an entry has only a name, ids and empty arguments. `nests` are keys of an object that holds these."""
    if not is_object(entry):
        return False
    for key, held in entry.items():
        if is_object(held):
            if key not in nests or not is_named_only(held, name_keys, ()):
                return False
        elif key not in _BESIDE and key not in name_keys:
            return False
    return True
