"""What became of a call: its outcome, and those that errors and the end of a run make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH, MAX_WORDS, clipped_words
from llmcore.support.values.copies import copied, made
from llmcore.tools.results.rendering import escaped, shortened_text
from llmcore.types import ImageBlock, Repair, TerminateLoop, TextBlock, ToolCall, ToolError, ToolResult, ToolResultBlock

__all__ = ["Outcome", "failed", "failed_with", "is_sound", "synthetic", "unfinished", "without_secrets"]


@dataclass(slots=True)
class Outcome:
    """What became of one call. `value` is what the tool returned; `error` is set when it failed; `ended` when it
    asked the run to end. `held`: there is no outcome yet, for the call waits for the caller. `summary`: the call in words,
    where its author says how. `duration` is in seconds over all tries; `retries` counts those after the first. `ran`: the
    tool was begun, so it may have done something, whatever became of it then. `repairs`: keys of its arguments that their types
    ignored."""

    call: ToolCall
    content: list[TextBlock | ImageBlock]
    value: Any = None
    error: ToolError | None = None
    duration: float = 0.0
    retries: int = 0
    ended: TerminateLoop | None = None
    ran: bool = False
    summary: str = ""
    raised: BaseException | None = None
    """The exception that the tool raised; None where it did not, or where it told by it what to do (`TerminateLoop`)."""
    held: bool = False
    repairs: Sequence[Repair] = ()

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    def block(self) -> ToolResultBlock:
        """The outcome as it stands in the history."""
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
    """The outcome that a tool's own error makes. What it leaves open of the call is filled in, in a copy: a tool may raise one
    error for several calls."""
    if not error.tool_name or not error.tool_id:
        error = error.of_call(call.name, call.id)
    if len(error.message) > MAX_WORDS:
        return failed_with(call, error.message, error.type, error, max_chars, error.details)
    return Outcome(call, [TextBlock(text=shortened_text(escaped(error.message), max_chars))], None, error)


def without_secrets(said: str) -> str:
    """Whoever wrote these words for a model may quote another's: a client's error has URLs and headers with the keys in them."""
    return process_scrubber().text(said[:MAX_LOOKED_THROUGH])


def failed_with(call: ToolCall, said: str, kind: Any, cause: BaseException, max_chars: int, details: Any = None) -> Outcome:
    """The outcome of what a tool raised: its words are the result, which has a bound of its own; the error has the first of
    them."""
    error = ToolError(clipped_words(said), tool_name=call.name, tool_id=call.id, type=kind, details=details)
    error.__cause__ = cause
    return Outcome(call, [TextBlock(text=shortened_text(escaped(said), max_chars))], None, error)


def synthetic(call: ToolCall, reason: str) -> Outcome:
    """The outcome of a call that did not run to its end, so that the history stays valid."""
    error = ToolError(reason, tool_name=call.name, tool_id=call.id, type="execution")
    return Outcome(call, [TextBlock(text=escaped(reason))], None, error)


def unfinished(call: ToolCall, *, ran: bool = False, remains: str = "") -> Outcome:
    """The outcome of a call that the end of the run cut short. `ran`: it was begun; `remains`: what still runs of it."""
    if not ran:
        return synthetic(call, f"{call.name} was not begun: the run ended before.")
    became = f"had not finished when the run ended{remains}" if remains else "was stopped before it finished"
    return replace(synthetic(call, f"{call.name} {became}."), ran=True)


def is_sound(error: ToolError) -> bool:
    """Can it be shown? A tool's own subclass may fail there, or lack the fields."""
    try:
        fields = (error.message, error.type, error.tool_name, error.tool_id)
        return all(isinstance(field, str) for field in fields)  # pyright: ignore[reportUnnecessaryIsInstance]  # subclasses do as they like
    except BaseException:
        return False
