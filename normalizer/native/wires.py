"""The table of native wires, and how a body's wire is recognised.

A wire is a module and a row here. Rows are tried in order: first for whole bodies and stream events, then for parts (a
message, a choice, a list of blocks), so that a part never hides a body. A failed generation is read on any wire. The cost per
body is constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmcore.normalizer.native import (
    anthropic,
    bedrock_converse,
    cohere_v2,
    gemini,
    google_interactions,
    ollama_chat,
    openai_chat,
    openai_responses,
    tool_use_failed,
)
from llmcore.normalizer.native.shape import as_dict, text_or_empty
from llmcore.normalizer.native.wire_pieces import Reader

__all__ = ["FAILED_GENERATION", "WIRES", "Wire", "bodies_of_list", "wire_named", "wire_of"]

_Tells = Callable[[dict[str, Any]], bool]


def _never(body: dict[str, Any]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire: its name, its reader, and the checks that recognise its whole bodies, stream events and parts."""

    name: str
    reader: Callable[[], Reader]
    is_body: _Tells
    is_event: _Tells = _never
    is_part: _Tells = _never


WIRES: tuple[Wire, ...] = (
    Wire("groq-tool-use-failed", tool_use_failed.ToolUseFailedReader, tool_use_failed.is_tool_use_failed_body),
    Wire("openai-chat", openai_chat.OpenAIChatReader, openai_chat.is_openai_chat_body),
    Wire(
        "openai-responses",
        openai_responses.OpenAIResponsesReader,
        openai_responses.is_openai_responses_body,
        openai_responses.is_openai_responses_event,
    ),
    Wire(
        "google-interactions",
        google_interactions.GoogleInteractionsReader,
        google_interactions.is_google_interactions_body,
    ),
    Wire("gemini", gemini.GeminiReader, gemini.is_gemini_body, is_part=gemini.is_gemini_part),
    Wire(
        "bedrock-converse",
        bedrock_converse.BedrockConverseReader,
        bedrock_converse.is_bedrock_converse_body,
        bedrock_converse.is_bedrock_converse_event,
        bedrock_converse.is_bedrock_converse_part,
    ),
    Wire(
        "anthropic",
        anthropic.AnthropicReader,
        anthropic.is_anthropic_body,
        anthropic.is_anthropic_event,
        anthropic.is_anthropic_part,
    ),
    Wire("ollama-chat", ollama_chat.OllamaReader, ollama_chat.is_ollama_chat_body),
    Wire("cohere-v2", cohere_v2.CohereReader, cohere_v2.is_cohere_v2_body, cohere_v2.is_cohere_v2_event),
    # Tried last: any other message, from any sender.
    Wire("openai-chat", openai_chat.OpenAIChatReader, _never, is_part=openai_chat.is_openai_chat_part),
)

_BY_NAME = {wire.name: wire for wire in reversed(WIRES)}
FAILED_GENERATION = WIRES[0]


def wire_named(name: str | None) -> Wire | None:
    """The wire of that name. None for no name or an unknown one."""
    return _BY_NAME.get(name) if name else None


def wire_of(body: dict[str, Any]) -> Wire | None:
    """The wire of a body, a part or a stream event. None if it fits none."""
    for wire in WIRES:
        if wire.is_body(body) or wire.is_event(body):
            return wire
    for wire in WIRES:
        if wire.is_part(body):
            return wire
    return None


def bodies_of_list(items: list[Any]) -> list[dict[str, Any]]:
    """The bodies or stream events in a list, or one body with the list's blocks. [] if it has neither."""
    found = [as_dict(item) for item in items]
    if not found or not all(found):
        return []
    if any("candidates" in item for item in found):
        return found
    if any(openai_responses.is_item(item) for item in found):
        return [{"output": found}]
    if any(gemini.is_gemini_part(item) for item in found):
        return [{"parts": found}]
    blocks = {"content": found}
    if anthropic.is_anthropic_part(blocks) or bedrock_converse.is_bedrock_converse_part(blocks):
        return [blocks]
    if any(wire.is_body(item) or wire.is_event(item) for item in found for wire in WIRES):
        return found
    if any(text_or_empty(item.get("type")) == "text" and isinstance(item.get("text"), str) for item in found):
        return [blocks]
    return []
