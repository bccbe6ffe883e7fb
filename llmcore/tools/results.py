"""What a tool returned, as the text and blocks a model is shown. A long text keeps its first and last part and says
so. Whatever it was, the text can be encoded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from llmcore.types import ImageBlock, TextBlock

__all__ = ["UnwritableResult", "as_text", "described", "encodable", "rendered", "shortened"]

ResultBlock = TextBlock | ImageBlock


class UnwritableResult(ValueError):
    """What a tool returned cannot be written as text. The message says why."""


def rendered(value: Any, max_chars: int) -> list[ResultBlock]:
    """The value as result blocks: at most one text block of at most about `max_chars`, then the blocks the tool gave
    itself.

    Text stays as it is; anything else becomes JSON. A tool returns extra content (images) by returning blocks, alone
    or in a list or tuple beside its text: `return "a map", ImageBlock(...)`.
    """
    plain, blocks = _separated(value)
    text = "\n".join(_written(part) for part in plain)
    return [*([TextBlock(text=shortened(text, max_chars))] if text or not blocks else []), *map(_encodable_block, blocks)]


def _encodable_block(block: ResultBlock) -> ResultBlock:
    texts = {name: text for name in ("text", "url", "data", "media_type") if isinstance(text := getattr(block, name, None), str)}
    changed = {name: encodable(text) for name, text in texts.items() if encodable(text) != text}
    return block.model_copy(update=changed) if changed else block


def _separated(value: Any) -> tuple[list[Any], list[ResultBlock]]:
    if isinstance(value, TextBlock | ImageBlock):
        return [], [value]
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        blocks = [part for part in parts if isinstance(part, TextBlock | ImageBlock)]
        if blocks:
            return [part for part in parts if not isinstance(part, TextBlock | ImageBlock)], blocks
    return [value], []


def as_text(value: Any) -> str:
    """A str as it is, anything else as JSON; what JSON does not know, as its `str()`. Never raises: a value that
    cannot be written (a cycle, a failing `__str__`) is described."""
    try:
        return _written(value)
    except UnwritableResult as error:
        return f"({error})"


def _written(value: Any) -> str:
    try:
        if isinstance(value, str):
            return encodable(str.__str__(value))
        plain: object = to_jsonable_python(value, fallback=str, bytes_mode="base64")  # asks foreign code only once
        try:
            return to_json(plain, inf_nan_mode="constants").decode()
        except PydanticSerializationError:  # text that is no valid Unicode, which `json` lets through
            return encodable(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))
    except BaseException as error:
        raise UnwritableResult(f"the result cannot be written as text: {described(error)}") from error


def described(error: BaseException) -> str:
    """The class and message of an error, with those of a group's members; also when its `__str__` fails."""
    try:
        said = str(error)
    except BaseException:
        said = "(its message cannot be shown)"
    members: Sequence[BaseException] = getattr(error, "exceptions", ()) if issubclass(type(error), BaseExceptionGroup) else ()
    if members:
        said = f"{said}: {'; '.join(map(described, members))}"
    return encodable(f"{type(error).__name__}: {said}")


def encodable(text: str) -> str:
    """The text as UTF-8 can hold it: halves of surrogate pairs become escapes (`\\udc80`), all else stays."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shortened(text: str, max_chars: int) -> str:
    """The text, or its first and last part around a note that states its full size in characters."""
    if len(text) <= max_chars:
        return text
    head = max_chars * 2 // 3
    tail = max_chars - head
    left_out = len(text) - head - tail
    note = f"\n[... {left_out} characters left out here; the whole result has {len(text)} characters ...]\n"
    return text[:head] + note + text[-tail:]
