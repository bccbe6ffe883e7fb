"""A key that stands twice in the arguments of a call. If the schema wants an array, its values are the items."""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.notations.refusals import SHOWN, clipped
from llmcore.support.values.narrowing import is_list
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

__all__ = ["all_in_arrays"]

_KIND = "duplicate_key"


def all_in_arrays(arguments: dict[str, Any], repairs: list[Repair], tool: CompiledTool) -> list[Repair]:
    """Enter all values of such keys into `arguments`, if their repairs have them unclipped. Returns the other repairs."""
    found: dict[str, list[Repair]] = {}
    for repair in repairs:
        key = repair.path.rpartition(".")[2]
        if repair.kind == _KIND and key in arguments and "array" in tool.types(key):
            found.setdefault(key, []).append(repair)
    for key, given in found.items():
        values = [given[0].before, *(repair.after for repair in given)]
        if clipped(arguments[key]) != values[-1] or any(_is_clipped(value) for value in values[:-1]):
            continue
        values[-1] = arguments[key]
        arguments[key] = [item for value in values for item in (value if is_list(value) else [value])]
        repairs = [repair for repair in repairs if repair not in given]
        repairs.append(Repair(kind="parameter_repeated", path=key, before=given[0].before, after=arguments[key]))
    return repairs


def _is_clipped(value: Any) -> bool:
    return isinstance(value, str) and len(value) > SHOWN
