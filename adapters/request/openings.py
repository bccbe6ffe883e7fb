"""What a request itself opens of the reply: the reasoning, and the tool that bare arguments belong to. One rule for every layer.

The reasoning is open where the prompt ends inside it: the user says that the model's chat template opens it
(`reasoning_open: true` in the registry), or the last message is an assistant's whose last `<think>` is not closed. It is never
concluded from a model's name: the same model's reasoning is taken out of the text by most servers, and an answer would then be
read as a thought.

A tool is forced where the request leaves no way around it: it was named, or it is the only one where a call is required. The
output tool is never forced in this sense: its bare arguments are the typed answer as they stand, and are shown as they grow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from llmcore.adapters.base import ModelCall
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.support.values.narrowing import is_object
from llmcore.types import ToolDefinition

__all__ = ["forced_tool", "reasoning_is_open"]

_MARKS = re.compile(r"(</?)(think|thinking|reasoning)>", re.IGNORECASE)


def reasoning_is_open(call: ModelCall) -> bool:
    """Does the reply start inside the reasoning?"""
    if call.reasoning_open:
        return True
    messages = call.request.messages
    if not messages or messages[-1].role != "assistant":
        return False
    marks = _MARKS.findall(messages[-1].text)
    return bool(marks) and marks[-1][0] == "<"


def forced_tool(call: ModelCall, offered: Sequence[ToolDefinition]) -> str | None:
    """The tool that bare arguments belong to. `offered`: the call's tools, the output tool among them."""
    choice = call.request.tool_choice
    if is_object(choice):
        return str(choice["name"])
    return offered[0].name if choice == "required" and len(offered) == 1 and offered[0].name != FINAL_RESULT else None
