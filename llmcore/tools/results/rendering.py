"""What a tool returned, as the text and blocks a model is shown. A long text keeps its first and last part and says
so. Whatever it was, the text can be encoded, and writing it takes bounded memory. It asks the value's own code (`__str__`,
serializers), so it belongs where the tool's time limit holds.
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
from llmcore.types import ImageBlock, TextBlock

__all__ = ["UnwritableResult", "error_text_of", "escaped", "message_of", "rendered", "result_text", "shortened_text", "written"]

ResultBlock = TextBlock | ImageBlock

_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)
_MOST_SHOWN = 80
"""Characters of a key that is told of."""
_MOST_TOLD = 20
"""Members of an exception group that are told of."""
_DOTS = "..."
_LEAST_KEPT = 20
"""Characters of a long text that are kept beside the note of its size, or there is no note."""


_SCALARS = frozenset({str, int, float, bool, type(None)})
_NO_BLOCKS: list[ResultBlock] = []


def rendered(value: Any, max_chars: int) -> list[ResultBlock]:
    """The value as result blocks: at most one text block of at most `max_chars`, then the blocks the tool gave
    itself.

    Text stays as it is, bytes become text (those that are no UTF-8 in base64), anything else JSON.
    A tool returns extra content (images) by returning blocks, alone or in a list or tuple beside its text:
    `return "a map", ImageBlock(...)`. An image that stands deeper (in a dict, a model) comes behind the text. The text has
    `[image 1]` in its place, which counts the images of the result.
    """
    if type(value) in _SCALARS:
        plain, blocks = [value], _NO_BLOCKS
    else:
        plain, own = _separated(value)
        blocks = [*own]  # and more while the rest is written
    text = "\n".join(written(one, blocks) for one in plain)
    return [
        *([made(TextBlock, text=shortened_text(text, max_chars))] if text or not blocks else []),
        *map(_encodable_block, blocks),
    ]


def _encodable_block(block: ResultBlock) -> ResultBlock:
    texts = {name: text for name in ("text", "url", "data", "media_type") if isinstance(text := getattr(block, name, None), str)}
    changed = {name: escaped(text) for name, text in texts.items() if escaped(text) != text}
    return block.model_copy(update=changed) if changed else block


def _separated(value: Any) -> tuple[list[Any], list[ResultBlock]]:
    if isinstance(value, TextBlock | ImageBlock):
        return [], [value]
    if isinstance(value, list | tuple):
        parts = list(CONTENTS[list if isinstance(value, list) else tuple](value))
        blocks = [part for part in parts if isinstance(part, TextBlock | ImageBlock)]
        if blocks:
            return [part for part in parts if not isinstance(part, TextBlock | ImageBlock)], blocks
    return [value], []


def result_text(value: Any) -> str:
    """A str as it is, bytes as their text or in base64, anything else as JSON;
    what JSON does not know, as its `str()`. Never raises: a value that
    cannot be written (a cycle, an iterator, a failing `__str__`) is described."""
    try:
        return written(value)
    except UnwritableResult as error:
        return f"({error})"


def written(value: Any, blocks: list[ResultBlock] | None = None) -> str:
    """As `result_text`. Raises `UnwritableResult`. `blocks`: where images go that stand in the value."""
    try:
        if issubclass(type(value), str):
            return escaped(str.__str__(value))
        if isinstance(value, bytes | bytearray):
            return _bytes_as_text(value)
        plain: object = value if is_scalar(value) else _as_data(value, blocks)
        try:
            return to_json(plain, inf_nan_mode="strings").decode()
        except PydanticSerializationError:  # text that is no valid Unicode, which `json` lets through
            return escaped(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))
    except UnwritableResult:
        raise
    except BaseException as error:
        raise UnwritableResult(f"raises {error_text_of(error)}") from error


def _bytes_as_text(value: bytes | bytearray) -> str:
    """What is UTF-8 as its text, anything else in base64, as pydantic writes it within other data."""
    inspect_value(value)  # bounded
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.urlsafe_b64encode(value).decode()


def _as_data(value: Any, blocks: list[ResultBlock] | None) -> Any:
    look = inspect_value(value)
    written = look if look.is_plain else _inspect_serialized(value) or look
    for one in written.other_keys:
        _check_keys(one)
    data = to_jsonable_python(value, fallback=look.text_of, bytes_mode="base64")
    return data if blocks is None or not look.blocks else _with_block_numbers(data, look.blocks, blocks)


def _with_block_numbers(data: Any, held: Sequence[ResultBlock], blocks: list[ResultBlock]) -> Any:
    """The data with texts in place of the blocks `held`: of an image its number among the result's, whose `blocks` it joins."""
    if is_list(data):
        return [_with_block_numbers(item, held, blocks) for item in data]
    if not is_object(data):
        return data
    found = next((one for one in held if data.get("type") == one.type and _is_written_as(one, data)), None)
    if found is None:
        return {key: _with_block_numbers(item, held, blocks) for key, item in data.items()}
    if isinstance(found, TextBlock):
        return found.text
    blocks.append(found)
    return f"[image {sum(isinstance(block, ImageBlock) for block in blocks)}]"


def _is_written_as(block: ResultBlock, data: dict[Any, Any]) -> bool:
    names: tuple[str, ...] = ("text",) if isinstance(block, TextBlock) else ("url", "data", "media_type")
    return all(data.get(name) == getattr(block, name) for name in names)


def _inspect_serialized(value: Any) -> Inspection | None:
    """Models may make iterators while they are written; written as Python data they leave them as they are."""
    try:
        dumped = _ANYTHING.dump_python(value, warnings=False)
    except Exception:  # what fails here fails as JSON too, or not at all (a set of models)
        return None
    return inspect_value(dumped)


def _check_keys(value: dict[Any, Any]) -> None:
    """Raises `UnwritableResult` where two keys are the same text (`1` and `"1"`): one value would be lost."""
    keys: list[Any] = list(dict[Any, Any].keys(value))
    if len(_keys_in_json(keys)) == len(keys):
        return
    texts = Counter(text for key in keys for text in _keys_in_json([key]))
    [(most, _)] = texts.most_common(1)
    raise UnwritableResult(f"holds several keys that are {shortened_text(most, _MOST_SHOWN)!r} in JSON; use keys of one type")


def _keys_in_json(keys: Sequence[Any]) -> dict[str, None]:
    found: dict[str, None] = to_jsonable_python(dict.fromkeys(keys), bytes_mode="base64")
    return found


def error_text_of(error: BaseException) -> str:
    """The class and message of an error, with those of a group's members; also when its `__str__` fails."""
    lines: list[str] = []
    waiting: list[BaseException] = [error]
    while waiting and len(lines) < _MOST_TOLD:
        one = waiting.pop(0)
        lines.append(f"{type(one).__name__}: {message_of(one)}")
        members: Sequence[BaseException] = getattr(one, "exceptions", ()) if issubclass(type(one), BaseExceptionGroup) else ()
        waiting[:0] = members
    return escaped(": ".join([lines[0], "; ".join(lines[1:])] if lines[1:] else lines))


def message_of(error: BaseException) -> str:
    """What the error says; never raises."""
    try:
        return str(error)
    except BaseException:
        return "(its message cannot be shown)"


def escaped(text: str) -> str:
    """The text as UTF-8 can hold it: halves of surrogate pairs become escapes (`\\udc80`), all else stays."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shortened_text(text: str, max_chars: int) -> str:
    """The text, or its first and last part around a note that states its full size in characters: no more than `max_chars`, the
    note among them. Where that has no room for the note, the first part and three dots."""
    if len(text) <= max_chars:
        return text
    room = max_chars - len(_note(len(text), len(text)))
    if room < _LEAST_KEPT:
        return text[: max(max_chars - len(_DOTS), 0)] + _DOTS[:max_chars]
    head = room * 2 // 3
    tail = room - head
    return text[:head] + _note(len(text) - room, len(text)) + text[-tail:]


def _note(left_out: int, whole: int) -> str:
    return f"\n[... {left_out} characters left out here; the whole result has {whole} characters ...]\n"
