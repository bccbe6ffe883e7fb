"""Values that several rows of the provider table share."""

from __future__ import annotations

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.provider import ProviderLimits

__all__ = [
    "CLAUDE",
    "CLAUDE_LIMITS",
    "CLAUDE_SAMPLING",
    "FULL",
    "GEMINI_CAPABILITIES",
    "LOW_OR_HIGH",
    "NO_SAMPLING",
    "OPENAI_LIMITS",
    "RECORDED",
    "TRIED",
]

FULL = Capabilities(
    native_tools=True,
    json_schema=True,
    json_object=True,
    schema_with_tools=True,
    parallel_tools=True,
    tool_choice_required=True,
    tool_choice_named=True,
    streaming=True,
)
CLAUDE = FULL.model_copy(
    update={
        "json_object": False,  # nothing is sent: `TRIED`
        "images": True,
        "files": True,
        "web_search": True,
        "context_window": 200_000,
    }
)
"""Claude's documentation: Tool use, Structured outputs, Web search tool, PDF support, Context windows."""
GEMINI_CAPABILITIES = FULL.model_copy(
    update={
        "schema_with_tools": False,  # before Gemini 3 a response schema and tools exclude each other
        "images": True,
        "files": True,
        "audio": True,
        "web_search": True,
    }
)
"""Gemini API documentation: Function calling, Structured output, Grounding with Google Search, Document understanding, Audio
understanding."""
LOW_OR_HIGH = ((8192, "low"),)
"""The efforts of models without `medium` (xAI documentation: Reasoning; Gemini API documentation: Gemini thinking)."""
NO_SAMPLING = frozenset({"temperature", "top_p"})

CLAUDE_SAMPLING = (("temperature", 1.0, 1.0), ("top_p", 0.95, 1.0))
"""Claude's documentation: Extended thinking (no temperature beside it; top_p from 0.95 to 1)."""

RECORDED = "recorded transcripts, and sources of client libraries"
TRIED = "what LiteLLM 1.105.3 sends, tried on loopback servers"
OPENAI_LIMITS = ProviderLimits(max_tools=64, source="llmcore's own limit")
CLAUDE_LIMITS = ProviderLimits(max_tools=20, max_tools_bytes=50_000, source="llmcore's own limit")
