"""Turning a tool's result into the text and media blocks for the model.

The text is valid Unicode of bounded length; of a long one the start and the end remain, around a note. Serializing runs code of
the value (`__str__`, serializers), so callers do it within the tool's time limit.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from llmcore.support.values.copies import made
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.tools.results.inspection import CONTENTS, Inspection, UnwritableResult, inspect_value, is_scalar
from llmcore.types import MediaBlock, ResultBlock, TextBlock

__all__ = ["UnwritableResult", "error_text_of", "escaped", "message_of", "rendered", "result_text", "shortened_text", "to_text"]

_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)
_MAX_KEY_CHARS = 80
"""The length of a key in an error message."""
_MAX_GROUP_MEMBERS = 20
"""How many errors of an exception group an error message names."""
_ELLIPSIS = "..."
_MIN_KEPT_CHARS = 20
"""If fewer characters remain beside the note of the size, there is no note."""


_SCALARS = frozenset({str, int, float, bool, type(None)})
_NO_BLOCKS: list[ResultBlock] = []


def rendered(value: Any, max_chars: int) -> list[ResultBlock]:
    """The value as result blocks: at most one text block of at most `max_chars`, then the blocks that the value contains.

    Text stays as it is. Bytes become text, in base64 if they are no UTF-8. Anything else becomes JSON.

    A tool returns media as blocks, alone or in a list or tuple beside its text: `return "a map", ImageBlock(...)`. A nested
    block (in a dict, a model) follows the text, which has `[image N]` or `[file N]` in its place: the Nth one of the result.

    Raises `UnwritableResult`.
    """
    if type(value) in _SCALARS:
        plain, blocks = [value], _NO_BLOCKS
    else:
        plain, given = _separated(value)
        blocks = [*given]  # `to_text` appends nested media
    text = "\n".join(to_text(part, blocks) for part in plain)
    return [
        *([made(TextBlock, text=shortened_text(text, max_chars))] if text or not blocks else []),
        *map(_encodable_block, blocks),
    ]


def _encodable_block(block: ResultBlock) -> ResultBlock:
    texts = {name: text for name in ("text", "url", "data", "media_type") if isinstance(text := getattr(block, name, None), str)}
    changed = {name: escaped(text) for name, text in texts.items() if escaped(text) != text}
    return block.model_copy(update=changed) if changed else block


def _separated(value: Any) -> tuple[list[Any], list[ResultBlock]]:
    if isinstance(value, TextBlock | MediaBlock):
        return [], [value]
    if isinstance(value, list | tuple):
        parts = list(CONTENTS[list if isinstance(value, list) else tuple](value))
        blocks = [part for part in parts if isinstance(part, TextBlock | MediaBlock)]
        if blocks:
            return [part for part in parts if not isinstance(part, TextBlock | MediaBlock)], blocks
    return [value], []


def result_text(value: Any) -> str:
    """The text of a value, as of `to_text`. Never raises: the text of a value that cannot be serialized says why."""
    try:
        return to_text(value)
    except UnwritableResult as error:
        return f"({error})"


def to_text(value: Any, blocks: list[ResultBlock] | None = None) -> str:
    """The text of a value: a str as it is, bytes as UTF-8 or in base64, anything else as JSON, with `str()` of unknown objects.

    Media in the value are appended to `blocks`. Raises `UnwritableResult` for a cycle, an iterator or a failing `__str__`.
    """
    try:
        if issubclass(type(value), str):
            return escaped(str.__str__(value))
        if isinstance(value, bytes | bytearray):
            return _bytes_as_text(value)
        plain: object = value if is_scalar(value) else _as_data(value, blocks)
        try:
            return to_json(plain, inf_nan_mode="strings").decode()
        except PydanticSerializationError:  # invalid Unicode, which `json` accepts
            return escaped(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))
    except UnwritableResult:
        raise
    except BaseException as error:
        raise UnwritableResult(f"raises {error_text_of(error)}") from error


def _bytes_as_text(value: bytes | bytearray) -> str:
    """UTF-8 as text, anything else in base64, as pydantic serializes bytes within other data."""
    inspect_value(value)  # raises if it is too large
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.urlsafe_b64encode(value).decode()


def _as_data(value: Any, blocks: list[ResultBlock] | None) -> Any:
    inspection = inspect_value(value)
    serialized = inspection if inspection.is_plain else _inspect_serialized(value) or inspection
    for each in serialized.other_keys:
        _check_keys(each)
    data = to_jsonable_python(value, fallback=inspection.fallback_text, bytes_mode="base64")
    return data if blocks is None or not inspection.blocks else _with_block_numbers(data, inspection.blocks, blocks)


def _with_block_numbers(data: Any, inspected: Sequence[ResultBlock], blocks: list[ResultBlock]) -> Any:
    """The data, in which each block of `inspected` is replaced by its text or `[image N]`. Media are appended to `blocks`."""
    if is_list(data):
        return [_with_block_numbers(item, inspected, blocks) for item in data]
    if not is_object(data):
        return data
    found = next((block for block in inspected if data.get("type") == block.type and _is_serialized_as(block, data)), None)
    if found is None:
        return {key: _with_block_numbers(item, inspected, blocks) for key, item in data.items()}
    if isinstance(found, TextBlock):
        return found.text
    blocks.append(found)
    return f"[{found.type} {sum(block.type == found.type for block in blocks)}]"


def _is_serialized_as(block: ResultBlock, data: dict[Any, Any]) -> bool:
    names: tuple[str, ...] = ("text",) if isinstance(block, TextBlock) else ("url", "data", "media_type")
    return all(data.get(name) == getattr(block, name) for name in names)


def _inspect_serialized(value: Any) -> Inspection | None:
    """The inspection of the value as Python data. A model's serializers may return iterators, which that leaves unread."""
    try:
        dumped = _ANYTHING.dump_python(value, warnings=False)
    except Exception:  # serializing to JSON fails too, or does not need this (a set of models)
        return None
    return inspect_value(dumped)


def _check_keys(value: dict[Any, Any]) -> None:
    """Raises `UnwritableResult` if two keys have the same text in JSON (`1` and `"1"`): one value would be lost."""
    keys: list[Any] = list(dict[Any, Any].keys(value))
    if len(_keys_in_json(keys)) == len(keys):
        return
    texts = Counter(text for key in keys for text in _keys_in_json([key]))
    [(most, _)] = texts.most_common(1)
    raise UnwritableResult(f"holds several keys that are {shortened_text(most, _MAX_KEY_CHARS)!r} in JSON; use keys of one type")


def _keys_in_json(keys: Sequence[Any]) -> dict[str, None]:
    found: dict[str, None] = to_jsonable_python(dict.fromkeys(keys), bytes_mode="base64")
    return found


def error_text_of(error: BaseException) -> str:
    """The class and message of an error, and those of an exception group's members. Never raises."""
    lines: list[str] = []
    pending: list[BaseException] = [error]
    while pending and len(lines) < _MAX_GROUP_MEMBERS:
        each = pending.pop(0)
        lines.append(f"{type(each).__name__}: {message_of(each)}")
        members: Sequence[BaseException] = getattr(each, "exceptions", ()) if issubclass(type(each), BaseExceptionGroup) else ()
        pending[:0] = members
    return escaped(": ".join([lines[0], "; ".join(lines[1:])] if lines[1:] else lines))


def message_of(error: BaseException) -> str:
    """`str(error)`. Never raises."""
    try:
        return str(error)
    except BaseException:
        return "(its message cannot be shown)"


def escaped(text: str) -> str:
    """The text with lone surrogates escaped (`\\udc80`), so that UTF-8 can encode it."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shortened_text(text: str, max_chars: int) -> str:
    """The text, cut to `max_chars` characters: its start, a note of its full size, and its end.

    If `max_chars` is too small for the note, the start and three dots.
    """
    if len(text) <= max_chars:
        return text
    kept = max_chars - len(_note(len(text), len(text)))
    if kept < _MIN_KEPT_CHARS:
        return text[: max(max_chars - len(_ELLIPSIS), 0)] + _ELLIPSIS[:max_chars]
    head = kept * 2 // 3
    tail = kept - head
    return text[:head] + _note(len(text) - kept, len(text)) + text[-tail:]


def _note(left_out: int, whole: int) -> str:
    return f"\n[... {left_out} characters left out here; the whole result has {whole} characters ...]\n"
