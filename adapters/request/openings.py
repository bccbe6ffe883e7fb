"""What the request itself opens in the reply: the reasoning, and the tool of bare arguments.

The reasoning is open if the prompt ends inside it. Either the user says that the model's chat template opens it
(`reasoning_open: true` in the registry), or the last message is an assistant's with an unclosed `<think>`. A model's name
never decides this: most servers remove the same model's reasoning from the text, and then an answer would be read as
reasoning.

A tool is forced if the request names it, or requires a call and offers only one tool. The output tool never counts as forced:
its bare arguments are the typed answer.
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
    """Return whether the reply starts inside the reasoning."""
    if call.reasoning_open:
        return True
    messages = call.request.messages
    if not messages or messages[-1].role != "assistant":
        return False
    marks = _MARKS.findall(messages[-1].text)
    return bool(marks) and marks[-1][0] == "<"


def forced_tool(call: ModelCall, offered: Sequence[ToolDefinition]) -> str | None:
    """Return the tool to which bare arguments belong. `offered` are the call's tools, including the output tool."""
    choice = call.request.tool_choice
    if is_object(choice):
        return str(choice["name"])
    return offered[0].name if choice == "required" and len(offered) == 1 and offered[0].name != FINAL_RESULT else None
