"""Images, files and audio of a request: what a provider does not take, and how the rest is given to LiteLLM."""

from __future__ import annotations

import re
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.adapters.providers.provider import MediaRule
from llmcore.adapters.request.conversation.unsendable import blocks_of
from llmcore.support.values.media_kinds import FILE, MEDIA_KINDS, split_data_url
from llmcore.types import AudioBlock, CallerError, FileBlock, ImageBlock, MediaBlock

__all__ = ["LEFT_OUT", "MEDIA_NOTES", "check_sendable", "left_out_media", "media_part", "media_url_error", "refused_media"]

Rendered = dict[str, Any]
MEDIA_NOTES = {kind: f"{kind.capitalize()} returned by the tool" for kind in MEDIA_KINDS}
"""How the text before a tool's media begins, by their first kind, if the wire format accepts such media only from the user."""
_AUDIO_FORMATS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav"}
"""The words for audio formats in OpenAI's API, by the subtype of their media type, if they differ."""
LEFT_OUT = re.compile(rf"\[(?:{'|'.join(kind.noun for kind in MEDIA_KINDS.values())}) was left out: \S+ takes no [^\]]+\]")
"""What a tool's result says in place of media that the provider does not take."""
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]++={0,2}\s*+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_FILE_READING_SERVERS = frozenset({"vllm", "sglang", "openai_compatible"})
"""The user's own servers, which may be configured to read files from their disk."""
_MAX_SHOWN = 200


def check_sendable(call: ModelCall, provider: Provider) -> None:
    """Raises `CallerError` for media that cannot be sent: of a kind or type that the provider does not take, by a URL where the
    wire format accepts only data, or invalid. llmcore fetches nothing.

    In a tool's result, a kind or type that the provider does not take is no error: a note is sent in its place.
    """
    for number, message in enumerate(call.request.messages):
        for place, block in enumerate(message.content):
            if isinstance(block, MediaBlock) and (refused := refused_media(block, provider)):
                rule = provider.media.get(block.kind.type)
                fix = f"convert it ({', '.join(sorted(rule.types))}), or ask another model" if rule else "ask another model"
                where, who = f"part {place} of message {number}", f"{provider.name} ({call.endpoint.model})"
                raise CallerError(f"{where} is {block.kind.noun}, and {who} takes no {refused}: {fix}, or leave it out")
    for block in blocks_of(call):
        if isinstance(block, MediaBlock) and (rule := provider.media.get(block.kind.type)) is not None:
            _check_one(block, rule, provider)


def _check_one(block: MediaBlock, rule: MediaRule, provider: Provider) -> None:
    noun = block.kind.noun
    if problem := _problem(block, provider):
        raise CallerError(f"{noun} {problem}: give a `url` (https://...), or `data` (base64) with its `media_type`")
    if block.url is not None and not rule.takes_url(block.url):
        raise media_url_error(block, provider.name)


def left_out_media(call: ModelCall, provider: Provider) -> list[str]:
    """The kinds of media in tools' results that the provider does not take, each once."""
    blocks = (block for block in blocks_of(call) if isinstance(block, MediaBlock))
    return list(dict.fromkeys(block.kind.part for block in blocks if refused_media(block, provider)))


def refused_media(block: MediaBlock, provider: Provider) -> str:
    """The kind or the media type of a block, if the provider does not take it. Empty if it takes both."""
    rule = provider.media.get(block.kind.type)
    if rule is None:
        return block.kind.part
    return (block.known_type or "")[:_MAX_SHOWN] if rule.types and block.known_type not in {None, *rule.types} else ""


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


def media_part(block: MediaBlock, provider: Provider) -> Rendered:
    """The part for LiteLLM. In a tool's result, a note stands in place of media that the provider does not take."""
    if refused := refused_media(block, provider):
        return {"type": "text", "text": f"[{block.kind.noun} was left out: {provider.name} takes no {refused}]"}
    if isinstance(block, ImageBlock):
        detail = {"detail": block.detail} if block.detail and provider.wire == "openai-chat" else {}
        return {"type": "image_url", "image_url": {"url": block.data_url, **detail}}
    if isinstance(block, FileBlock) or block.base64 is None:  # `input_audio` has no URLs
        return _file_part(block, provider)
    subtype = (block.known_type or "").partition("/")[2]
    return {"type": "input_audio", "input_audio": {"data": block.base64, "format": _AUDIO_FORMATS.get(subtype, subtype)}}


def _file_part(block: FileBlock | AudioBlock, provider: Provider) -> Rendered:
    """A file as LiteLLM takes it. Data is `file_data`. A URL is `file_id`, except on OpenAI's wire format, where LiteLLM would
    fetch it. On Anthropic's, LiteLLM takes a `file_id` with a media type for an uploaded file."""
    is_data = block.base64 is not None or provider.wire == "openai-chat"
    says_type = block.known_type and (is_data or provider.wire != "anthropic")
    beside = {"format": block.known_type} if says_type else {}
    if provider.wire == "openai-chat":
        from mimetypes import guess_extension  # only here: few requests have files

        name = block.name if isinstance(block, FileBlock) else None
        beside = {"filename": name or f"document{guess_extension(block.known_type or '') or '.pdf'}"}  # OpenAI's API requires one
    return {"type": "file", "file": {"file_data" if is_data else "file_id": block.data_url, **beside}}
