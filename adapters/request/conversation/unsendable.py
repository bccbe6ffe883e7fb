"""What of a request's messages its wire has no place for, told before it is sent: it stands in `Attempt.dropped`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.support.values.narrowing import is_list
from llmcore.types import Block, CallerError, ImageBlock, Message, ProviderBlock, ToolResultBlock
from llmcore.types.input.message_input import REPLY_FIELDS

__all__ = ["MESSAGE_FIELDS", "blocks_of", "check_has_content", "check_images", "no_image_by", "unsendable"]

MESSAGE_FIELDS = frozenset({"reasoning_details", "refusal", "audio", "name"})
"""Fields of an OpenAI chat message, beside what every wire has, that the same wire takes back."""
_OF_REPLIES = frozenset(
    {
        *(REPLY_FIELDS - {"refusal"}),
        *("groundingMetadata", "urlContextMetadata", "citationMetadata"),
    }
)
"""What replies of that wire carry beside their words: no one asked for it to be sent elsewhere."""
_NEEDS_A_TURN = frozenset({"anthropic", "gemini", "bedrock-converse"})
"""Wires on which system messages are no messages: something else must be said."""


_BASE64 = re.compile(r"[A-Za-z0-9+/\s]++={0,2}\s*+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_READ_FILES = frozenset({"vllm", "sglang", "openai_compatible"})
"""Servers of the user's own that may be told to take files of their disk."""


def blocks_of(call: ModelCall) -> Iterator[Block]:
    """Every block of the request, those inside of tool results included."""
    system = call.request.system
    yield from system if is_list(system) else ()
    for message in call.request.messages:
        for block in message.content:
            yield block
            if isinstance(block, ToolResultBlock):
                yield from block.content


def unsendable(call: ModelCall, provider: Provider) -> list[str]:
    """What is left out, each kind once: marks, places and fields that this provider's wire does not have."""
    return list(dict.fromkeys(_unsendable(call, provider)))


def _unsendable(call: ModelCall, provider: Provider) -> Iterator[str]:
    is_openais = provider.wire == "openai-chat"
    for block in blocks_of(call):
        if block.cache_control is not None and not provider.prompt_cache:
            yield "cache_control"
        if isinstance(block, ImageBlock) and block.detail is not None and not is_openais:
            yield "image detail"
        if isinstance(block, ProviderBlock) and block.provider == "openai-chat" and "type" not in block.data:
            taken = _OF_REPLIES | (MESSAGE_FIELDS if is_openais and call.mode == "native_tools" else {"refusal"})
            yield from (f"message field {name[:64]!r}" for name in block.data if name not in taken)
    if provider.one_system_message and _has_system_after_start(call.request.messages):
        yield "place of a system message"


def _has_system_after_start(messages: list[Message]) -> bool:
    roles = [message.role for message in messages]
    spoken = next((at for at, role in enumerate(roles) if role != "system"), len(roles))
    return "system" in roles[spoken:]


def check_has_content(messages: list[dict[str, Any]], provider: Provider) -> None:
    """Raises `CallerError` for a request that would hold no message."""
    system_counts = provider.wire not in _NEEDS_A_TURN
    if not any(system_counts or message["role"] != "system" for message in messages):
        raise CallerError("the request says nothing: no message of it holds text, an image or a result; give a prompt that does")


def check_images(call: ModelCall, provider: Provider) -> None:
    """Raises `CallerError` for an image that is none, and for one by URL where the wire takes only its data: nothing is fetched
    on the way to a model."""
    for block in blocks_of(call):
        if not isinstance(block, ImageBlock):
            continue
        if wrong := _wrong_with(block, provider):
            raise CallerError(f"an image {wrong}: give a `url` (https://...), or `data` (base64) with its `media_type`")
        taken = provider.images_by_url or block.url is None or block.url.startswith(("data:", *provider.own_image_urls))
        if not taken:
            raise no_image_by(provider.name, block.url or "")


def _wrong_with(image: ImageBlock, provider: Provider) -> str:
    """Why nobody can see the image, in words that follow the noun; "" where somebody may."""
    if image.url is None:
        return "" if _BASE64.fullmatch(image.data or "") else "has `data` that is no base64"
    scheme, _, rest = image.url.partition(":")
    if scheme == "data":
        media, _, data = rest.partition(",")
        is_image = media.startswith("image/") and media.endswith(";base64") and _BASE64.fullmatch(data) is not None
        return "" if is_image else "by a `data:` URL needs data:image/...;base64,..."
    if not rest or not _SCHEME.fullmatch(scheme):
        return f"is not reached by {image.url[:200]!r}, which is no URL"
    if scheme == "file" and provider.name not in _READ_FILES:
        return f"is not read from {image.url[:200]!r} by {provider.name}"
    return ""


def no_image_by(name: str, url: str) -> CallerError:
    return CallerError(
        f"{name} takes no image by this URL ({url[:200]}): fetch it, and give `data` (base64) with its `media_type`"
    )
