"""JSON that is no call but holds what looks like one: under another key than for calls, among other keys, in a list.

It is content and a near miss. Only texts are searched that are one value and hold a tool's name in quotation marks.
"""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.calls.call_objects import call_object
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.json import read_json
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.tools import ToolSet

__all__ = ["note_hidden_calls"]

_DEEPEST = 4
_MOST = 32  # members of an object or a list that are searched
_LONGEST = 16_384  # characters of a text that is searched
_NAMES = 256  # the most tools that are sought in it


def note_hidden_calls(reading: Reading, at: int, end: int) -> None:
    """Record a near miss for a call in the value at `at:end`, which is all of the message."""
    tools, text = reading.tools, reading.src.text[at:end]
    if tools is None or end - at > _LONGEST or len(tools.names) > _NAMES:
        return
    if not any(f'"{name}"' in text for name in tools.names):
        return
    parsed = read_json(text, limits=reading.limits)
    name = next((name for value in parsed.values if (name := _hidden(value, tools, 0))), "")
    if name:
        reading.note(at, end, name, "no_call_object")


def _hidden(value: Any, tools: ToolSet, depth: int) -> str:
    """The name of what looks like a call in the value; "" if nothing does."""
    if depth > _DEEPEST:
        return ""
    if is_object(value):
        call = call_object(value, tools)
        if call is not None and call.given and is_known(call.name, tools):
            return call.name
        named = next((key for key in value if is_known(key, tools) and (is_object(value[key]) or len(value) == 1)), "")
        inner = list(value.values())[:_MOST]
        return named or next((name for one in inner if (name := _hidden(one, tools, depth + 1))), "")
    if is_list(value):
        if len(value) > 1 and isinstance(value[0], str) and is_known(value[0], tools) and is_object(value[1]):
            return value[0]
        return next((name for one in value[:_MOST] if (name := _hidden(one, tools, depth + 1))), "")
    return ""
