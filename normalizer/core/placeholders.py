"""Values that say what should stand there: `...`, `<your city>`. A call with one may be an example, and as a call is a guess."""

from __future__ import annotations

import re
from typing import Any

from llmcore.normalizer.core.words import HTML_NAMES
from llmcore.types.envelope import Repair
from llmcore.types.narrowing import is_list

__all__ = ["is_placeholder", "may_hold_placeholders", "placeholders_in"]

_PLACEHOLDER = re.compile(r"\s*(?:<[A-Za-z][A-Za-z _.,'-]{0,80}>|\.\.\.|…)\s*\Z")
_ELEMENT = re.compile(r"\s*<([A-Za-z]{1,10})>\s*\Z")


def may_hold_placeholders(written: str) -> bool:
    """May arguments that are written so hold one? A look that costs little: one of these signs stands in each, escaped or not."""
    return "..." in written or "<" in written or "&" in written or "\\u" in written or "…" in written


def is_placeholder(value: Any) -> bool:
    if is_list(value):
        return bool(value) and all(isinstance(item, str) and is_placeholder(item) for item in value)
    if not isinstance(value, str) or _PLACEHOLDER.match(value) is None:
        return False
    element = _ELEMENT.match(value)
    return element is None or element[1].lower() not in HTML_NAMES


def placeholders_in(arguments: dict[str, Any]) -> list[Repair]:
    """A guess for each argument that is one."""
    return [
        Repair(kind="placeholder", path=key, before=value, after=value, safety="guess")
        for key, value in arguments.items()
        if is_placeholder(value)
    ]
