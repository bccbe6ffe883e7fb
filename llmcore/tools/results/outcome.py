"""`Outcome`: the result of one tool call, and the outcomes of failed and unfinished calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH, MAX_WORDS, clipped_words
from llmcore.support.values.copies import copied, made
from llmcore.tools.results.rendering import escaped, shortened_text
from llmcore.types import Repair, ResultBlock, TerminateLoop, TextBlock, ToolCall, ToolError, ToolResult, ToolResultBlock

__all__ = ["Outcome", "failed", "failed_with", "is_readable_error", "synthetic", "unfinished", "without_secrets"]


@dataclass(slots=True)
class Outcome:
    """The outcome of one tool call.

    `content`: the blocks for the model. `value`: what the tool returned.
    `error`: set if the call failed. `ended`: set if the tool asked the run to end.
    `duration`: seconds over all tries. `retries`: how many tries followed the first.
    `ran`: the tool was started, so it may have had effects.
    `summary`: the call described to users; empty if the tool has no summary.
    `suspended`: there is no outcome yet, because the call waits for the caller.
    `repairs`: the keys of the arguments that their types ignored.
    """

    call: ToolCall
    content: list[ResultBlock]
    value: Any = None
    error: ToolError | None = None
    duration: float = 0.0
    retries: int = 0
    ended: TerminateLoop | None = None
    ran: bool = False
    summary: str = ""
    raised: BaseException | None = None
    """The exception that the tool raised; None if it raised none, or one that controls the run (`TerminateLoop`)."""
    suspended: bool = False
    repairs: Sequence[Repair] = ()

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    def block(self) -> ToolResultBlock:
        """The outcome as a block of the history."""
        call = self.call
        content, is_error = [*self.content], self.error is not None
        return made(ToolResultBlock, tool_use_id=call.id, name=call.name, content=content, is_error=is_error)

    def event(self, turn: int = 1) -> ToolResult:
        call, error = self.call, escaped(str(self.error)) if self.error else None
        return ToolResult(
            call.id,
            call.name,
            self.text,
            error,
            self.duration,
            self.retries,
            copied(self.value),
            copied(call.arguments),
            turn,
            self.ran,
            self.summary,
        )


def failed(call: ToolCall, error: ToolError, max_chars: int) -> Outcome:
    """The outcome of a call whose tool raised a `ToolError`.

    If the error does not name the call, a copy does: a tool may raise one error for several calls.
    """
    if not error.tool_name or not error.tool_id:
        error = error.for_call(call.name, call.id)
    if len(error.message) > MAX_WORDS:
        return failed_with(call, error.message, error.type, error, max_chars, error.details)
    return Outcome(call, [TextBlock(text=shortened_text(escaped(error.message), max_chars))], None, error)


def without_secrets(text: str) -> str:
    """The text with known secrets removed. The error of a tool's HTTP client, for one, quotes URLs and headers with API keys."""
    return process_scrubber().text(text[:MAX_LOOKED_THROUGH])


def failed_with(call: ToolCall, text: str, kind: Any, cause: BaseException, max_chars: int, details: Any = None) -> Outcome:
    """The outcome of a call whose tool raised `cause`. The result has the text up to `max_chars`, the error a shorter part."""
    error = ToolError(clipped_words(text), tool_name=call.name, tool_id=call.id, type=kind, details=details)
    error.__cause__ = cause
    return Outcome(call, [TextBlock(text=shortened_text(escaped(text), max_chars))], None, error)


def synthetic(call: ToolCall, reason: str) -> Outcome:
    """The outcome of a call that did not finish. The history needs a result for each call."""
    error = ToolError(reason, tool_name=call.name, tool_id=call.id, type="execution")
    return Outcome(call, [TextBlock(text=escaped(reason))], None, error)


def unfinished(call: ToolCall, *, ran: bool = False, remains: str = "") -> Outcome:
    """The outcome of a call that had not finished when the run ended.

    `ran`: the tool was started. `remains`: what still runs, as the end of a sentence.
    """
    if not ran:
        return synthetic(call, f"{call.name} was not begun: the run ended before.")
    state = f"had not finished when the run ended{remains}" if remains else "was stopped before it finished"
    return replace(synthetic(call, f"{call.name} {state}."), ran=True)


def is_readable_error(error: ToolError) -> bool:
    """Whether the error's fields are readable texts. A tool's own subclass may raise there, or have no such fields."""
    try:
        fields = (error.message, error.type, error.tool_name, error.tool_id)
        return all(isinstance(field, str) for field in fields)  # pyright: ignore[reportUnnecessaryIsInstance]  # of any subclass
    except BaseException:
        return False
