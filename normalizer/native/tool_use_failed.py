"""Groq's error 400 `tool_use_failed`: `failed_generation` has the model's raw text.

It is a whole body, or the last event of a stream of any wire.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.shape import as_dict, text_or_empty
from llmcore.normalizer.native.wire_pieces import FailedGeneration, FinishWord, Piece

__all__ = ["ToolUseFailedReader", "is_tool_use_failed_body"]

_CODES = frozenset({"tool_use_failed", "json_validate_failed", "MALFORMED_FUNCTION_CALL"})
"""Groq's codes, and Gemini's finish reason, which the adapter reports in this form at the end of a stream."""


def is_tool_use_failed_body(body: dict[str, Any]) -> bool:
    """Whether it is an error with the model's text, or with a code that says that the text was withheld."""
    error = as_dict(body.get("error"))
    return isinstance(error.get("failed_generation"), str) or text_or_empty(error.get("code")) in _CODES


class ToolUseFailedReader:
    """Reads bodies of that error."""

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        error = as_dict(body.get("error"))
        yield FailedGeneration(text_or_empty(error.get("failed_generation")))
        code = text_or_empty(error.get("code"))
        yield FinishWord(code if code in _CODES else "tool_use_failed", "error")

    def finish(self) -> Iterator[Piece]:
        return iter(())
