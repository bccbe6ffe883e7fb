"""Finish words: every provider's word for why it stopped, in ours. Source: dialects.md section 4.

The words of the wires do not clash, so one table serves all. Numbers are those of Gemini's enum, as some SDKs dump
it. A word that is not here (`queued`, `in_progress`, ...) says nothing about the end of the reply."""

from __future__ import annotations

from llmcore.types.envelope import FinishReason

__all__ = ["FINISH_WORDS", "finish_reason_of"]

_WORDS: dict[FinishReason, str] = {
    "stop": "stop end_turn stop_sequence STOP COMPLETE STOP_SEQUENCE completed pause_turn 1",
    "tool_calls": "tool_calls function_call tool_use TOOL_CALL UNEXPECTED_TOOL_CALL",
    "length": "length max_tokens MAX_TOKENS max_output_tokens model_context_window_exceeded 2",
    "content_filter": (
        "content_filter content_filtered refusal guardrail_intervened SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII 3"
    ),
    "error": "error failed ERROR ERROR_TOXIC MALFORMED_FUNCTION_CALL tool_use_failed json_validate_failed",
    "cancelled": "cancelled",
}

FINISH_WORDS: dict[str, FinishReason] = {word: reason for reason, words in _WORDS.items() for word in words.split()}


def finish_reason_of(word: str | None, has_calls: bool) -> FinishReason | None:
    """Ours for a provider's word; `stop` with calls is `tool_calls`."""
    reason = FINISH_WORDS.get(word) if word else None
    return "tool_calls" if reason == "stop" and has_calls else reason
