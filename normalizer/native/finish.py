"""What a finish word means for the reply that it ends. The words themselves are `llmcore.types.finish_reasons`."""

from __future__ import annotations

from llmcore.types.envelope import FinishReason
from llmcore.types.finish_reasons import reason_of

__all__ = ["finish_reason_of", "reason_of"]

_OURS: FinishReason = "cancelled"
"""What a run that breaks a reply off says of it itself; from a server the same word is a failure."""


def finish_reason_of(word: str | None, has_calls: bool) -> FinishReason | None:
    """Ours for the word that a caller gives; `stop` with calls is `tool_calls`."""
    reason = _OURS if word == _OURS else reason_of(word)
    return "tool_calls" if reason == "stop" and has_calls else reason
