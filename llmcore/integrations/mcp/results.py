"""Results of calls: what a server returned becomes a value for llmcore, of bounded size, or a `ToolError`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llmcore.support.values.narrowing import is_object
from llmcore.tools.results.rendering import shortened_text
from llmcore.types import ImageBlock, TextBlock, ToolError

__all__ = ["value_of_result"]

_MIN_TEXT = 200
"""The characters that remain for text beside structured content."""


def value_of_result(result: Any, max_chars: int, max_image_chars: int) -> Any:
    """The value of a `CallToolResult`: structured content, text, or a tuple of these with images.

    Text that only repeats the structured content is left out. A text over `max_chars`, or images over `max_image_chars` of
    base64 together, are replaced by a shorter text that states the full size.

    Raises `ToolError` if the server says that the call failed.
    """
    parts = _parts(result.content, max_image_chars)
    texts = [part.text for part in parts if isinstance(part, TextBlock)]
    images = [part for part in parts if isinstance(part, ImageBlock)]
    structured = result.structured_content
    if result.is_error:
        said = "\n".join(texts) or "the tool failed, and the server does not say why"
        raise ToolError(shortened_text(said, max_chars), details=_bounded(structured, max_chars))
    values: list[Any] = [] if structured is None else [_bounded(structured, max_chars)]
    if structured is None or not _repeats(texts, structured):
        left = max_chars - (len(_json(structured)) if structured is not None else 0)
        values.extend([shortened_text("\n".join(texts), max(left, _MIN_TEXT))] if texts else [])
    values.extend(images)
    return values[0] if len(values) == 1 else tuple(values) if values else ""


def _bounded(value: Any, max_chars: int) -> Any:
    """The value, or the shortened text of its JSON if that is too long."""
    text = _json(value)
    return value if len(text) <= max_chars else shortened_text(text, max_chars)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parts(content: Sequence[Any], max_image_chars: int) -> list[TextBlock | ImageBlock]:
    """The content as text and images. What is neither is described in a text."""
    parts: list[TextBlock | ImageBlock] = []
    left = max_image_chars
    for block in content:
        part = _part(block)
        size = len(part.data or "") if isinstance(part, ImageBlock) else 0
        if size > left:
            part = _note(f"an image of {size} characters in base64", f"the results of a call may have {max_image_chars}")
        else:
            left -= size
        parts.append(part)
    return parts


def _part(block: Any) -> TextBlock | ImageBlock:
    if block.type == "text":
        return TextBlock(text=block.text)
    if block.type == "image":
        return ImageBlock(data=block.data, media_type=block.mime_type)
    if block.type == "resource_link":
        return TextBlock(text=" ".join(part for part in (block.uri, block.name, block.description) if part))
    if block.type == "resource":
        return _resource_part(block.resource)
    return _note(f"{block.type} of type {block.mime_type}", "models get text and images")


def _resource_part(resource: Any) -> TextBlock | ImageBlock:
    """An embedded resource: its text, its image, or a note."""
    if (text := getattr(resource, "text", None)) is not None:
        return TextBlock(text=f"{resource.uri}\n{text}")
    if (resource.mime_type or "").startswith("image/"):
        return ImageBlock(data=resource.blob, media_type=resource.mime_type)
    return _note(f"{resource.uri} of type {resource.mime_type}", "models get text and images")


def _note(what: str, why: str) -> TextBlock:
    return TextBlock(text=f"[{what} was left out: {why}]")


def _repeats(texts: Sequence[str], structured: Any) -> bool:
    """Whether the texts are the structured content, or its sole field `result`, in which servers wrap what is no object."""
    read = [_read(text) for text in texts]
    values = [structured]
    if is_object(structured) and structured.keys() == {"result"}:
        values.append(structured["result"])
    return any(value == read or [value] == read or value == [*texts] or [value] == [*texts] for value in values) or not texts


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
