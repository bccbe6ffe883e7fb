"""Finds what a wire format cannot express in a request's messages, before it is sent. `Attempt.dropped` lists it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.adapters.providers.provider import MediaRule
from llmcore.support.values.media_kinds import FILE, split_data_url
from llmcore.support.values.narrowing import is_list
from llmcore.types import Block, CacheControl, CallerError, ImageBlock, MediaBlock, Message, ProviderBlock, ToolResultBlock
from llmcore.types.input.message_input import REPLY_FIELDS

__all__ = ["MESSAGE_FIELDS", "blocks_of", "cache_marks", "check_has_content", "check_sendable", "media_url_error", "unsendable"]

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


_BASE64 = re.compile(r"[A-Za-z0-9+/\s]++={0,2}\s*+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_FILE_READING_SERVERS = frozenset({"vllm", "sglang", "openai_compatible"})
"""The user's own servers, which may be configured to read files from their disk."""
_MAX_SHOWN = 200


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
        if isinstance(block, MediaBlock) and block.kind.type not in provider.media:
            yield block.kind.part
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


def check_sendable(call: ModelCall, provider: Provider) -> None:
    """Raises `CallerError` for media that cannot be sent: of a kind or type that the provider does not take, by a URL where the
    wire format accepts only data, or invalid. llmcore fetches nothing.

    In a tool's result, a kind that the provider does not take is no error: words are sent in its place.
    """
    for number, message in enumerate(call.request.messages):
        for place, block in enumerate(message.content):
            if isinstance(block, MediaBlock) and block.kind.type not in provider.media:
                raise CallerError(
                    f"part {place} of message {number} is {block.kind.noun}, which cannot be sent to {provider.name} "
                    f"({call.endpoint.model}): ask another model, or leave it out"
                )
    for block in blocks_of(call):
        if isinstance(block, MediaBlock) and (rule := provider.media.get(block.kind.type)) is not None:
            _check_one(block, rule, call, provider)


def _check_one(block: MediaBlock, rule: MediaRule, call: ModelCall, provider: Provider) -> None:
    noun = block.kind.noun
    if problem := _problem(block, provider):
        raise CallerError(f"{noun} {problem}: give a `url` (https://...), or `data` (base64) with its `media_type`")
    if block.url is not None and not rule.takes_url(block.url):
        raise media_url_error(block, provider.name)
    if rule.types and block.known_type is not None and block.known_type not in rule.types:
        found, model = block.known_type[:_MAX_SHOWN], call.endpoint.model
        raise CallerError(
            f"{noun} of type {found!r} cannot be sent to {provider.name} ({model}), which takes {', '.join(sorted(rule.types))}: "
            "convert it, or ask another model"
        )


def _problem(block: MediaBlock, provider: Provider) -> str:
    """Why the media cannot be used, in words that follow the noun. Empty if it can."""
    if block.url is None:
        return "" if _BASE64.fullmatch(block.data or "") else "has `data` that is no base64"
    scheme, _, rest = block.url.partition(":")
    if scheme == "data":
        main, data = split_data_url(block.url) or ("", "")
        fits = block.kind is FILE or main.startswith(f"{block.kind.type}/")
        example = next(iter(block.kind.signatures)).partition("/")[0]
        return "" if fits and _BASE64.fullmatch(data) else f"by a `data:` URL needs data:{example}/...;base64,..."
    if not rest or not _SCHEME.fullmatch(scheme):
        return f"is not reached by {block.url[:_MAX_SHOWN]!r}, which is no URL"
    if scheme == "file" and provider.name not in _FILE_READING_SERVERS:
        return f"is not read from {block.url[:_MAX_SHOWN]!r} by {provider.name}; {type(block).__name__}.from_path reads it"
    return ""


def media_url_error(block: MediaBlock, name: str) -> CallerError:
    url = (block.url or "")[:_MAX_SHOWN]
    return CallerError(
        f"{name} takes no {block.kind.type} by this URL ({url}): fetch it, and give `data` (base64) with its `media_type`"
    )
