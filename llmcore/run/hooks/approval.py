"""Whether a call needs the caller's approval: its tool decides, by the arguments that would run."""

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
    """The call as it waits for approval; None if it may run at once.

    If a predicate raises, approval is required, and its error is the reason. Raises `Timeout` if the deadline passes
    meanwhile.
    """
    asked = tool.options.requires_approval
    if asked is False:
        return None
    reason = ""
    if asked is not True:
        try:
            predicate = CallersFunction(f"requires_approval of {tool.name!r}", asked, 1)
            answer = await predicate(seconds, context, copied(call.arguments or {}))
            if not answer:
                return None
            reason = clipped_words(answer, MAX_WORDS) if isinstance(answer, str) else ""
        except Timeout:
            raise
        except Exception as error:
            reason = f"its predicate failed: {clipped_words(error_text_of(error), MAX_WORDS)}"
    return OpenCall.of(call, "approval", summary=tool.summary_of(call.arguments), reason=escaped(process_scrubber().text(reason)))
