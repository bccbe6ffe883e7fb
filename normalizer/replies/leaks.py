"""A text dialect that leaked into the fields of a native call, because the server's own parser failed.

It was seen in the GLM family: a whole call as the *name* of a native one, and arguments that begin as JSON and go on as
`</arg_value><arg_key>`. The text engine reads both. This module only restores the markers that the server had removed.
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.normalizer.native.arguments import Arguments
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.text.engine import TextEngine
from llmcore.support.values.copies import updated
from llmcore.types.envelope import Repair, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["calls_in_name", "switched_arguments"]

_OPENER, _CLOSER = "<tool_call>", "</tool_call>"
_SWITCH, _NEXT_KEY = "</arg_value>", "<arg_key>"


def calls_in_name(name: str, tools: ToolSet | None, limits: Limits) -> list[ToolCall]:
    """The calls in a name that is the text of a call. [] for a real name."""
    if "<" not in name:
        return []
    text = name if name.lstrip().startswith("<") else _OPENER + name
    return _calls_in(text, tools, limits)


def switched_arguments(name: str, text: str, tools: ToolSet | None, limits: Limits) -> Arguments | None:
    """Arguments that switch from JSON to key and value tags: both parts, as a guess. None if they do not switch."""
    at = text.find(_SWITCH)
    if at < 0 or _NEXT_KEY not in text[at:]:
        return None
    head = read_json(text[:at], limits=limits, cut=True)
    calls = _calls_in(_OPENER + name + text[at + len(_SWITCH) :], tools, limits)
    if len(head.values) != 1 or not isinstance(head.values[0], dict) or len(calls) != 1 or calls[0].arguments is None:
        return None
    value = {**cast("dict[str, Any]", head.values[0]), **calls[0].arguments}
    repair = Repair(kind="format_switch", before=text, after=value, safety="guess")
    return Arguments(value, text, calls[0].complete, [repair])


def _calls_in(text: str, tools: ToolSet | None, limits: Limits) -> list[ToolCall]:
    """The calls, without spans, because this text is no part of the reply's text."""
    whole = text if text.rstrip().endswith(_CLOSER) else text + _CLOSER
    engine = TextEngine(tools, limits=limits, listening=False).read(whole)
    return [updated(call, {"span": None}) for call in engine.calls]
