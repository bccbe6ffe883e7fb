"""The last resort: `json_repair` on the arguments of one call that would otherwise be asked for again.

`json_repair` guesses, and it loses and invents keys silently. So it only runs on one object of at most 4 KB, without markup,
of a reply that was not cut. Every key of the result must be a parameter, and no key of the text may be lost. The result is a
`guess`.
"""

from __future__ import annotations

import re
from typing import Any, cast

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import CompiledTool, Repair

__all__ = ["MAX_REPAIRED", "repaired_arguments"]

MAX_REPAIRED = 4096
"""In characters. `json_repair` is quadratic on hostile text: 4 KB take at most about 0.2 s."""

_KEY = re.compile(r"""["']([^"'\\\n]{1,64})["']\s*:""")
_BRACE = re.compile(r"[{}]")
_MARKUP = re.compile(r"<[|｜]|[|｜]>|</?escape>")
"""Tokens of model notations. `json_repair` does not know them and would make them text."""


def repaired_arguments(raw: str, tool: CompiledTool) -> tuple[dict[str, Any], Repair] | None:
    """Return the likely arguments in `raw` and the repair. None if no guess meets the conditions."""
    text = raw.strip()
    if not text.startswith("{") or len(text) > MAX_REPAIRED or _MARKUP.search(text) is not None or _holds_several(text):
        return None
    found = _loads(text)
    if not is_object(found) or not found:
        return None
    arguments = found
    keys = set(_keys_within(arguments))
    if not set(arguments) <= set(tool.properties) or not {match[1] for match in _KEY.finditer(text)} <= keys:
        return None
    return arguments, Repair(kind="json_repair", before=raw, after=arguments, safety="guess")


def _holds_several(text: str) -> bool:
    """Whether another object follows the first, as the braces show. `json_repair` would keep only one."""
    depth = 0
    for brace in _BRACE.finditer(text):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return "{" in text[brace.end() :]
    return False


def _loads(text: str) -> object:
    import json_repair  # rarely needed, and slow to import

    try:
        return cast("object", json_repair.loads(text))
    except Exception:  # it raises AssertionError, RecursionError and more
        return None


def _keys_within(value: Any) -> list[str]:
    waiting, keys = [value], list[str]()
    while waiting:
        item = waiting.pop()
        if is_object(item):
            keys += item
            waiting += item.values()
        elif is_list(item):
            waiting += item
    return keys
