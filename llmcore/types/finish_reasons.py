"""The finish reasons of all providers, mapped to `FinishReason`.

No two providers use one word for different reasons, so one table serves all. The numbers are those of Gemini's enum, which some
SDKs dump, as far as Google's two APIs agree on them. An unknown word is no finish reason: then only the end mark of the stream
shows whether the reply has ended. Some words say that it has not.
"""

from __future__ import annotations

from llmcore.types.envelope import FinishReason

__all__ = ["INCOMPLETE", "is_no_end", "may_continue", "reason_of"]

_WORDS: dict[FinishReason, str] = {
    "stop": (
        "stop end_turn stop_sequence complete completed succeeded finish finished done normal pause_turn eos eos_token endoftext"
        " end_of_text 1"
    ),
    "tool_calls": "tool_calls function_call tool_use tool_call unexpected_tool_call",
    "length": (
        "length max_tokens max_output_tokens max_length max_new_tokens token_limit model_length model_context_window_exceeded"
        " incomplete 2"
    ),
    "content_filter": (
        "content_filter content_filtered content_filter_error refusal guardrail_intervened sensitive safety recitation blocklist"
        " prohibited_content spii language image_safety image_prohibited_content image_recitation error_toxic 3 4 6 7 8"
    ),
    "error": (
        "error failed failure abort aborted cancelled canceled user_cancel interrupted preempted evicted killed timeout"
        " time_limit deadline_exceeded network_error insufficient_system_resource server_error internal_error overloaded"
        " error_limit other image_other malformed_function_call malformed_response malformed_model_output malformed_tool_use"
        " too_many_tool_calls missing_thought_signature tool_use_failed json_validate_failed 5 10"
    ),
}
_NO_WORD = frozenset(["null", "none", "unknown", "unspecified", "finish_reason_unspecified", "block_reason_unspecified"])
"""The words of servers for "no finish reason"."""
_GOING_ON = frozenset(
    (
        *("not_finished", "unfinished", "queued", "pending", "in_progress", "in-progress", "running", "processing"),
        *("generating", "streaming", "continue", "continuing", "ongoing"),
    )
)
"""The words of servers for "the reply has not ended"."""

INCOMPLETE = "incomplete"
"""A finish word that does not say which part of the reply is incomplete."""

_REASONS: dict[str, FinishReason] = {word: reason for reason, words in _WORDS.items() for word in words.split()}


def reason_of(word: str | None) -> FinishReason | None:
    """The `FinishReason` of a server's word in any case; None for no word and an unknown one."""
    return _REASONS.get(word.lower()) if word else None


def may_continue(word: object) -> bool:
    """Whether the word says that the reply has not ended."""
    return isinstance(word, str) and word.lower() in _GOING_ON


def is_no_end(word: str) -> bool:
    """Whether the word is no finish reason."""
    return not word or word.lower() in _NO_WORD or may_continue(word)
