"""Finds what a wire format cannot express in a request's messages, before it is sent. `Attempt.dropped` lists it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.support.values.narrowing import is_list
from llmcore.types import Block, CallerError, ImageBlock, Message, ProviderBlock, ToolResultBlock
from llmcore.types.input.message_input import REPLY_FIELDS

__all__ = ["MESSAGE_FIELDS", "blocks_of", "check_has_content", "check_images", "image_url_error", "unsendable"]

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


def blocks_of(call: ModelCall) -> Iterator[Block]:
    """Return every block of the request, including those inside tool results."""
    system = call.request.system
    yield from system if is_list(system) else ()
    for message in call.request.messages:
        for block in message.content:
            yield block
            if isinstance(block, ToolResultBlock):
                yield from block.content


def unsendable(call: ModelCall, provider: Provider) -> list[str]:
    """Return what is omitted, each kind once: marks, positions and fields that this provider's wire format does not have."""
    return list(dict.fromkeys(_unsendable(call, provider)))


def _unsendable(call: ModelCall, provider: Provider) -> Iterator[str]:
    is_openais = provider.wire == "openai-chat"
    for block in blocks_of(call):
        if block.cache_control is not None and not provider.prompt_cache:
            yield "cache_control"
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
        raise CallerError("the request is empty: no message has text, an image or a result; give a prompt")


def check_images(call: ModelCall, provider: Provider) -> None:
    """Raises `CallerError` for an invalid image, or for one by URL if the wire format accepts only data. llmcore fetches
    nothing."""
    for block in blocks_of(call):
        if not isinstance(block, ImageBlock):
            continue
        if problem := _image_problem(block, provider):
            raise CallerError(f"an image {problem}: give a `url` (https://...), or `data` (base64) with its `media_type`")
        allowed = provider.images_by_url or block.url is None or block.url.startswith(("data:", *provider.own_image_urls))
        if not allowed:
            raise image_url_error(provider.name, block.url or "")


def _image_problem(image: ImageBlock, provider: Provider) -> str:
    """Why the image cannot be used, in words that follow the noun. Empty if it can."""
    if image.url is None:
        return "" if _BASE64.fullmatch(image.data or "") else "has `data` that is no base64"
    scheme, _, rest = image.url.partition(":")
    if scheme == "data":
        media, _, data = rest.partition(",")
        is_image = media.startswith("image/") and media.endswith(";base64") and _BASE64.fullmatch(data) is not None
        return "" if is_image else "by a `data:` URL needs data:image/...;base64,..."
    if not rest or not _SCHEME.fullmatch(scheme):
        return f"is not reached by {image.url[:200]!r}, which is no URL"
    if scheme == "file" and provider.name not in _FILE_READING_SERVERS:
        return f"is not read from {image.url[:200]!r} by {provider.name}"
    return ""


def image_url_error(name: str, url: str) -> CallerError:
    return CallerError(
        f"{name} takes no image by this URL ({url[:200]}): fetch it, and give `data` (base64) with its `media_type`"
    )
