"""Finish words: every provider's word for why it stopped, in ours.

The words of the wires do not clash, so one table serves all. Numbers are those of Gemini's enum, as some SDKs dump it, where
Google's two APIs mean the same by them. A word that is not here (`queued`, `in_progress`, ...) says nothing about the end of
the reply."""

from __future__ import annotations

from llmcore.types.envelope import FinishReason

__all__ = ["finish_reason_of", "reason_of"]

_WORDS: dict[FinishReason, str] = {
    "stop": "stop end_turn stop_sequence complete completed pause_turn eos eos_token 1",
    "tool_calls": "tool_calls function_call tool_use tool_call unexpected_tool_call",
    "length": "length max_tokens max_output_tokens max_length model_length model_context_window_exceeded incomplete 2",
    "content_filter": (
        "content_filter content_filtered content_filter_error refusal guardrail_intervened sensitive safety recitation blocklist"
        " prohibited_content spii language image_safety image_prohibited_content image_recitation error_toxic 3 4 6 7 8"
    ),
    "error": (
        "error failed failure abort aborted cancelled canceled timeout network_error insufficient_system_resource server_error"
        " other image_other malformed_function_call malformed_response malformed_model_output malformed_tool_use"
        " too_many_tool_calls missing_thought_signature tool_use_failed json_validate_failed 5 10"
    ),
}

_REASONS: dict[str, FinishReason] = {word: reason for reason, words in _WORDS.items() for word in words.split()}
_OURS: FinishReason = "cancelled"
"""What a run that breaks a reply off says of it itself; from a server the same word is a failure."""


def reason_of(word: str | None) -> FinishReason | None:
    """Ours for a server's word, however it is capitalised; None for no word and an unknown one."""
    return _REASONS.get(word.lower()) if word else None


def finish_reason_of(word: str | None, has_calls: bool) -> FinishReason | None:
    """Ours for the word that a caller gives; `stop` with calls is `tool_calls`."""
    reason = _OURS if word == _OURS else reason_of(word)
    return "tool_calls" if reason == "stop" and has_calls else reason
