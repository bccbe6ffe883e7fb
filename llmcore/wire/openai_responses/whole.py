"""Rewrites whole replies of OpenAI's Responses API.

Everything that need not change stays: ids, usage, reasoning items, the provider's own calls, native calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.support.values.narrowing import is_list, object_in, objects_in
from llmcore.types import ToolCall
from llmcore.wire.openai_responses.encoding import encoded_responses_call
from llmcore.wire.openai_responses.item_writer import reasoning_item
from llmcore.wire.rewriting import (
    ReplyReport,
    RewriteSettings,
    Rewritten,
    arguments_text,
    free_text_of,
    hand_out,
    judged,
    line_ends,
    new_texts,
    reasoning_in_text,
)

__all__ = ["CALL_TYPES", "are_sound", "native_items", "rewrite_responses", "text_in"]

Json = dict[str, Any]
CALL_TYPES = frozenset({"function_call", "custom_tool_call"})


def rewrite_responses(body: Json, settings: RewriteSettings) -> Rewritten:
    """Rewrite a whole response. A body of another API, and an error, stay as they are. Never raises on a reply."""
    output = body.get("output")
    if not is_list(output):
        return Rewritten(body, [])
    parts = [part for item in output if _is_message(item) for part in _parts_of(item)]
    texts = [*map(text_in, parts)]
    ends = _item_ends(output, texts)
    ended = iter([{**part, "text": text + end} if end else part for part, text, end in zip(parts, texts, ends, strict=True)])
    items = [{**item, "content": [next(ended) for _ in _parts_of(item)]} if _is_message(item) else item for item in output]
    envelope, result = judged(settings, {**body, "output": items} if any(ends) else body)
    given = [item for item in objects_in(output) if item.get("type") in CALL_TYPES]
    handed = hand_out(envelope, result, settings, lambda native: are_sound(given, native))
    written: list[Any] = output
    if (new := new_texts(envelope, result, texts, ends)) is not None:
        written = _with_new_texts(output, iter(new), reasoning_in_text(envelope))
    if handed.changes_calls:
        native = given if handed.keeps_native else native_items(handed.native, given)
        others = [item for item in written if object_in(item).get("type") not in CALL_TYPES]
        written = [*others, *native, *(encoded_responses_call(call, settings.free_text) for call in handed.in_text)]
    report = ReplyReport(handed.calls, result.withheld)
    return Rewritten(body if written is output else {**body, "output": written}, [report])


def _parts_of(item: Json) -> list[Json]:
    return objects_in(item.get("content"))


def text_in(part: Any) -> str:
    text = object_in(part).get("text") if object_in(part).get("type") in ("output_text", "text") else ""
    return text if isinstance(text, str) else ""


def _item_ends(output: list[Any], texts: list[str]) -> list[str]:
    """What ends the line of each part that is the last text of its item."""
    ends = [""] * len(texts)
    at = 0
    lasts: list[int] = []
    for item in filter(_is_message, output):
        stop = at + len(_parts_of(item))
        lasts += [max((n for n in range(at, stop) if texts[n]), default=-1)]
        at = stop
    lasts = [n for n in lasts if n >= 0]
    for n, end in zip(lasts, line_ends([texts[n] for n in lasts]), strict=True):
        ends[n] = end
    return ends


def _with_new_texts(output: list[Any], new: Iterator[str], thoughts: str) -> list[Any]:
    """The items with their new texts. `thoughts`: reasoning in the texts, which becomes an item before the first text."""
    written: list[Any] = []
    for item in output:
        if not _is_message(item):
            written.append(item)
            continue
        pairs = [(part, next(new)) for part in _parts_of(item)]
        if thoughts and any(text_in(part) for part, _ in pairs):
            written.append(reasoning_item(thoughts))
            thoughts = ""
        kept = [part if text == text_in(part) else {**part, "text": text} for part, text in pairs if text or not text_in(part)]
        if kept or not pairs:
            written.append(item if all(text == text_in(part) for part, text in pairs) else {**item, "content": kept})
    return written


def native_items(calls: list[ToolCall], given: list[Json]) -> list[Json]:
    """The native calls as items. One in which nothing changes is the server's item. The others keep the ids of the server's."""
    by_id = {str(item.get("call_id")): item for item in given}
    servers = given if len(given) == len(calls) else [by_id.get(call.id, {}) for call in calls]
    return [
        item
        if item and _is_sound(item, call)
        else {**encoded_responses_call(call), **({"id": item["id"]} if item.get("id") else {})}
        for call, item in zip(calls, servers, strict=True)
    ]


def _is_message(item: object) -> bool:
    return object_in(item).get("type") == "message"


def are_sound(given: list[Json], calls: list[ToolCall]) -> bool:
    """Whether the native calls are as a client would read them, so that they can stay."""
    if len(given) != len(calls) or len({str(item.get("call_id")) for item in given}) < len(given):
        return False
    return all(_is_sound(item, call) for item, call in zip(given, calls, strict=True))


def _is_sound(item: Json, call: ToolCall) -> bool:
    is_text = item.get("type") == "custom_tool_call"
    same = item.get("input") == free_text_of(call) if is_text else _same_arguments(item.get("arguments"), call)
    return same and bool(call.id) and item.get("call_id") == call.id and item.get("name") == call.name


def _same_arguments(text: object, call: ToolCall) -> bool:
    return isinstance(text, str) and bool(text.strip()) and text == arguments_text(call)
