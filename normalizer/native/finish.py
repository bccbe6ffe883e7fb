"""The finish reason of a reply, from the provider's word. `llmcore.types.finish_reasons` has the words."""

from __future__ import annotations

from llmcore.types.envelope import FinishReason
from llmcore.types.finish_reasons import reason_of

__all__ = ["finish_reason_of", "reason_of"]

_OURS: FinishReason = "cancelled"
"""The finish reason of a run that stops a reply itself. From a server, the same word is a failure."""


def finish_reason_of(word: str | None, has_calls: bool) -> FinishReason | None:
    """An envelope's finish reason for the caller's word. `stop` with calls is `tool_calls`."""
    reason = _OURS if word == _OURS else reason_of(word)
    return "tool_calls" if reason == "stop" and has_calls else reason
