"""Does a call need the caller's approval? What its tool says, asked of the call as it would run."""

from __future__ import annotations

from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.caller_functions import CallersFunction
from llmcore.run.results.open_calls import OpenCall
from llmcore.support.code.quoted_words import MAX_WORDS, clipped_words
from llmcore.support.values.copies import copied
from llmcore.tools import RunContext, Tool
from llmcore.tools.results.rendering import error_text_of, escaped
from llmcore.types import Timeout, ToolCall

__all__ = ["approval_due"]


async def approval_due(tool: Tool, call: ToolCall, context: RunContext[Any], seconds: float | None) -> OpenCall | None:
    """The call as it waits to be approved; None where it may run at once. A predicate that fails requires approval, and its error
    is the reason. Raises `Timeout` when the deadline passes meanwhile."""
    asked = tool.options.requires_approval
    if asked is False:
        return None
    reason = ""
    if asked is not True:
        try:
            predicate = CallersFunction(f"requires_approval of {tool.name!r}", asked, 1)
            said = await predicate(seconds, context, copied(call.arguments or {}))
            if not said:
                return None
            reason = clipped_words(said, MAX_WORDS) if isinstance(said, str) else ""
        except Timeout:
            raise
        except Exception as error:
            reason = f"its predicate failed: {clipped_words(error_text_of(error), MAX_WORDS)}"
    return OpenCall.of(call, "approval", summary=tool.summary_of(call.arguments), reason=escaped(process_scrubber().text(reason)))
