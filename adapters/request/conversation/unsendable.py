"""Finds what a wire format cannot express in a request's messages, before it is sent. `Attempt.dropped` lists it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.support.values.narrowing import is_list
from llmcore.types import Block, CacheControl, CallerError, ImageBlock, Message, ProviderBlock, ToolResultBlock
from llmcore.types.input.message_input import REPLY_FIELDS

__all__ = ["MESSAGE_FIELDS", "blocks_of", "cache_marks", "check_has_content", "unsendable"]

MESSAGE_FIELDS = frozenset({"reasoning_details", "refusal", "audio", "name"})
"""Fields of an OpenAI chat message that only this wire format has, and that it accepts back."""
_REPLY_ONLY_FIELDS = frozenset(
    {
        *(REPLY_FIELDS - {"refusal"}),
        *("groundingMetadata", "urlContextMetadata", "citationMetadata"),
    }
)
"""Fields of replies in this format beside their words. Nobody expects them to be sent elsewhere."""
_WIRES_WITHOUT_SYSTEM_MESSAGES = frozenset({"anthropic", "gemini", "bedrock-converse"})
"""Wire formats in which system messages are no messages. A request there needs another message."""


def blocks_of(call: ModelCall) -> Iterator[Block]:
    """Return every block of the request, including those inside tool results."""
    system = call.request.system
    yield from system if is_list(system) else ()
    for message in call.request.messages:
        for block in message.content:
            yield block
            if isinstance(block, ToolResultBlock):
                yield from block.content


def cache_marks(call: ModelCall) -> Iterator[CacheControl | None]:
    """Return the cache mark of each block and of each tool; None for those without one."""
    yield from (block.cache_control for block in blocks_of(call))
    yield from (tool.cache_control for tool in call.tools)


def unsendable(call: ModelCall, provider: Provider) -> list[str]:
    """Return what is omitted, each kind once: marks, positions and fields that this provider's wire format does not have."""
    return list(dict.fromkeys(_unsendable(call, provider)))


def _unsendable(call: ModelCall, provider: Provider) -> Iterator[str]:
    is_openais = provider.wire == "openai-chat"
    if not provider.prompt_cache and any(mark is not None for mark in cache_marks(call)):
        yield "cache_control"
    for block in blocks_of(call):
        if isinstance(block, ImageBlock) and block.detail is not None and not is_openais:
            yield "image detail"
        if isinstance(block, ProviderBlock) and block.provider == "openai-chat" and "type" not in block.data:
            allowed = _REPLY_ONLY_FIELDS | (MESSAGE_FIELDS if is_openais and call.mode == "native_tools" else {"refusal"})
            yield from (f"message field {name[:64]!r}" for name in block.data if name not in allowed)
    if provider.one_system_message and _has_system_after_start(call.request.messages):
        yield "place of a system message"


def _has_system_after_start(messages: list[Message]) -> bool:
    roles = [message.role for message in messages]
    first_turn = next((at for at, role in enumerate(roles) if role != "system"), len(roles))
    return "system" in roles[first_turn:]


def check_has_content(messages: list[dict[str, Any]], provider: Provider) -> None:
    """Raises `CallerError` for a request without a message."""
    system_counts = provider.wire not in _WIRES_WITHOUT_SYSTEM_MESSAGES
    if not any(system_counts or message["role"] != "system" for message in messages):
        raise CallerError("the request is empty: no message has text, media or a result; give a prompt")
