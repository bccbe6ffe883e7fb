"""Compares a request with the recorded one, and names the first difference.

It compares what the caller decides: the output mode, the model, the system prompt, the user's messages, images and
files, and the names of the tools. In native mode, it also compares the calls in the history and the results of each
call: clients send results in any order. It does not compare what the library writes (the prompts that teach a mode,
re-asks, the words of a tool's error), so a recording stays valid after a release. It reads the recorded requests of
every wire, and skips what a wire does not send. A recording has no secrets, so if a request differs, it is compared
again without its secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, zip_longest
from typing import Any, TypeVar

from llmcore.adapters.base import ModelCall
from llmcore.adapters.request.call_scrubber import call_scrubber
from llmcore.adapters.request.conversation.media import LEFT_OUT, MEDIA_NOTES
from llmcore.adapters.request.conversation.special_tokens import JOINER
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.transcripts import Exchange
from llmcore.transcripts.formats.requests import function_tools
from llmcore.types import Block, MediaBlock, Request, TextBlock, ToolDefinition, ToolResultBlock

__all__ = ["difference", "users_in"]

T = TypeVar("T")
_Pair = tuple[str | None, str | None]
_SHOWN = 80
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_RESULT_KINDS = ("tool_result", "toolResult", "functionResponse", "function_response")
_CALL_KINDS = ("tool_use", "toolUse", "functionCall", "function_call")
_PAYLOADS = frozenset({"url", "image_url", "file_url", "data", "bytes", "file_data", "file_id", "fileUri", "file_uri", "uri"})
"""The keys under which a part that is not text holds its data or their address."""
_DATA_URL = re.compile(r"data:[^,]{0,200};base64,")
_DIGEST_LENGTH = 12


@dataclass(slots=True)
class _Words:
    """The content of a request. Each item of `results` and `attachments` (digests of images and files) has a number: in
    results, that of the answered call; elsewhere, the count of calls before it. A result of None is not plain text."""

    system: list[str] = field(default_factory=list[str])
    users: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    results: list[tuple[int, str | None]] = field(default_factory=list[tuple[int, str | None]])
    attachments: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    open_calls: list[tuple[int, object, str]] = field(default_factory=list[tuple[int, object, str]])
    """The calls without a result so far: number, id, name."""
    has_left_out: bool = False
    """Whether a result has a note in place of media."""

    def add_call(self, name: str, call_id: object) -> None:
        self.open_calls.append((len(self.calls), call_id, name))
        self.calls.append(name)

    def add_result(self, text: str | None, call_id: object, name: object = None) -> int:
        """Add the result of the latest open call with this id, else of the first with this name, else of the first.
        Returns the call's number."""
        by_id = (one for one in reversed(self.open_calls) if call_id and one[1] == call_id)
        by_name = (one for one in self.open_calls if one[2] == name)
        answered = next(by_id, None) or next(by_name, None) or next(iter(self.open_calls), (len(self.calls), None, ""))
        self.open_calls = [one for one in self.open_calls if one is not answered]
        self.results.append((answered[0], text))
        return answered[0]

    def add_attachments(self, payloads: Iterable[str], number: int | None = None) -> None:
        self.attachments += [(len(self.calls) if number is None else number, _digest(payload)) for payload in payloads]


def users_in(request: Request) -> int:
    """How many user messages a request has."""
    return len(_asked_words(request, None).users)


def difference(call: ModelCall, exchange: Exchange, *, users: int | None, same_model: bool) -> str | None:
    """The first difference between a request and the recorded one; None if there is none or no request was recorded.

    `users`: how many user messages there were when the run began; the library wrote those after them.
    None: this request begins the run.
    `same_model`: do not compare the models' names, since one model replays all recorded models.
    """
    note = exchange.attempt
    if note.mode and note.mode != call.mode:
        return _differs("the output mode", note.mode, call.mode)
    if note.model and not same_model and note.model != call.endpoint.model:
        return _differs("the model", note.model, call.endpoint.model)
    request = object_in(exchange.request)
    body = next((request[key] for key in ("body", "json", "parsed_body") if is_object(request.get(key))), request)
    items = next((body[key] for key in ("messages", "contents", "input", "prompt") if body.get(key) is not None), None)
    if items is None:
        return None
    mode = note.mode or call.mode
    if _difference_in_words(body, items, call, mode, users, None) is None:
        return None
    scrubber = call_scrubber(call)
    return _difference_in_words(scrubber.value(body), scrubber.value(items), call, mode, users, scrubber)


def _difference_in_words(
    body: dict[str, Any], items: object, call: ModelCall, mode: str, users: int | None, scrubber: Scrubber | None
) -> str | None:
    recorded, asked = (_without_joiners(words) for words in (_recorded_words(body, items), _asked_words(call.request, scrubber)))
    native = mode == "native_tools"
    if native and not asked.system and (call.strict_json_instructions or call.output_schema is not None):
        recorded.system.clear()  # the library wrote it
    found = (_native if native else _prompted)(recorded, asked, users)
    return found or _attachments(recorded, asked) or (_tools(body, call) if native else None)


def _attachments(recorded: _Words, asked: _Words) -> str | None:
    if _by_call(recorded.attachments) == _by_call(asked.attachments):
        return None
    if recorded.has_left_out and {digest for _, digest in recorded.attachments} <= {digest for _, digest in asked.attachments}:
        return None  # the others were not sent
    pairs = _paired([digest for _, digest in recorded.attachments], [digest for _, digest in asked.attachments])
    for number, (was, now) in enumerate(pairs, 1):
        if was != now:
            return _differs(f"image or file {number}", was, now)
    return None


def _native(recorded: _Words, asked: _Words, users: int | None) -> str | None:
    pairs = [(f"message {n} of the user", *pair) for n, pair in enumerate(_paired(recorded.users, asked.users, users), 1)]
    pairs.insert(0, ("the system prompt", _joined(recorded.system), _joined(asked.system)))
    pairs += [(f"call {n} of the history", *pair) for n, pair in enumerate(_paired(recorded.calls, asked.calls), 1)]
    for what, was, now in pairs:
        if was != now and not (what == "the system prompt" and was and now and was.startswith(now)):
            return _differs(what, was, now)
    for number, (was, now) in enumerate(_paired(_by_call(recorded.results), _by_call(asked.results)), 1):
        comparable = was is not None and now is not None and not (_is_error(was) or _is_error(now))
        if comparable and was != now:
            return _differs(f"result {number} of the tools", was, now)
    return None


def _prompted(recorded: _Words, asked: _Words, users: int | None) -> str | None:
    """Prompted modes join texts with others, so each text must occur somewhere in the joined text."""
    users_text, system = _joined(recorded.users), _joined(recorded.system)
    if asked.system and _joined(asked.system) not in system:
        return _differs("the system prompt", system, _joined(asked.system))
    position = 0
    for number, text in enumerate(asked.users[:users], 1):
        position = users_text.find(text, position)
        if position < 0:
            return _differs(f"message {number} of the user", users_text, text)
    return None


def _by_call(numbered: Sequence[tuple[int, T]]) -> list[T]:
    return [each for _, each in sorted(numbered, key=lambda one: one[0])]


def _paired(was: Sequence[str | None], now: Sequence[str | None], first: int | None = None) -> Iterator[_Pair]:
    """Pairs of the two lists, only the `first` ones (None: all). A missing item is `""`."""
    pairs = zip_longest(was, now, fillvalue="")
    return pairs if first is None else islice(pairs, first)


def _tools(body: dict[str, Any], call: ModelCall) -> str | None:
    holders = (body, object_in(body.get("toolConfig")))  # Bedrock puts tools there
    keys = ("tools", "functions")
    offered = next((found for holder in holders for key in keys if is_list(found := holder.get(key))), list[Any]())
    was = {_name(tool) for tool in function_tools(offered)} - {FINAL_RESULT, ""}
    now = {_plain_name(tool.name) for tool in call.tools} - {FINAL_RESULT}
    if call.request.tool_choice == "none" and not was:
        return None
    return _differs("the tools", ", ".join(sorted(was)), ", ".join(sorted(now))) if was != now else None


def _name(tool: object) -> str:
    if isinstance(tool, ToolDefinition):
        return _plain_name(tool.name)
    known = object_in(tool)
    inner = next((known[key] for key in ("function", "custom", "toolSpec") if is_object(known.get(key))), known)
    return _plain_name(str(inner.get("name") or ""))


def _plain_name(name: str) -> str:
    """The name with `_` for every character that some wires do not accept."""
    return _NOT_IN_NAMES.sub("_", name)


def _differs(what: str, was: object, now: object) -> str:
    return f"{what}: recorded {_short(was)}, asked {_short(now)}"


def _short(value: object) -> str:
    text = str(value or "")
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...") if text else "none"


def _joined(texts: Sequence[str]) -> str:
    return _spaced(" ".join(texts))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _is_error(text: str) -> bool:
    return text.lower().startswith("error")


# --- the content of a request of ours ---------------------------------------------------------------------------------


def _asked_words(request: Request, scrubber: Scrubber | None) -> _Words:
    def clean(text: str) -> str:
        return text if scrubber is None else scrubber.text(text)

    words = _Words()
    system = request.system
    words.system += [clean(text) for text in ([system] if isinstance(system, str) else [block.text for block in system or []])]
    for message in request.messages:
        text = clean("".join(block.text for block in message.content if isinstance(block, TextBlock)))
        if message.role == "system":
            words.system.append(text)
        elif message.role == "user":
            _add_user(words, text)
        for use in message.tool_uses:
            words.add_call(_plain_name(clean(use.name)), use.id)
        for block in message.content:
            number = None
            if isinstance(block, ToolResultBlock):
                result = f"Error: {block.text}" if block.is_error else block.text
                number = words.add_result(_spaced(clean(result)), block.tool_use_id)
            if message.role != "assistant":
                words.add_attachments(map(clean, _media_urls([block])), number)
    return words


def _without_joiners(words: _Words) -> _Words:
    """Remove the joiners that the library adds: older recordings and those of other providers have none."""
    for texts in (words.system, words.users):
        texts[:] = [text.replace(JOINER, "") for text in texts]
    words.results[:] = [(number, text and text.replace(JOINER, "")) for number, text in words.results]
    return words


def _media_urls(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            yield from _media_urls(block.content)
        elif isinstance(block, MediaBlock):
            yield block.data_url


def _digest(payload: str) -> str:
    """A digest of the data, the same for a `data:` URL and for bare data."""
    data = _DATA_URL.sub("", payload, count=1) if payload.startswith("data:") else payload
    return f"sha256 {sha256(data.rstrip('=').encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_LENGTH]}"


# --- the content of a recorded request --------------------------------------------------------------------------------


def _recorded_words(body: dict[str, Any], items: object) -> _Words:
    words = _Words()
    for key in ("system", "systemInstruction", "system_instruction", "instructions"):
        if body.get(key) is not None:
            words.system.append(_text_of(object_in(body[key]).get("parts", body[key])))
    for item in items if is_list(items) else [{"role": "user", "content": items}]:
        if is_object(item):
            _add_item(words, item)
    words.has_left_out = any(LEFT_OUT.search(text or "") for _, text in words.results)
    words.results[:] = [(number, text and _spaced(LEFT_OUT.sub("", text))) for number, text in words.results]
    return words


def _add_item(words: _Words, item: dict[str, Any]) -> None:
    role, kind = item.get("role"), item.get("type")
    content, number = item.get("content", item.get("parts", item.get("output"))), None
    if kind == "function_call":
        words.add_call(_plain_name(str(item.get("name"))), item.get("call_id"))
    elif kind == "function_call_output" or role == "tool":
        names = (_plain_name(str(item.get(key))) for key in ("tool_name", "name") if item.get(key))
        number = words.add_result(_result_text(content), _call_id(item), next(names, None))
    else:
        text = _text_of(content)
        if role in ("system", "developer"):
            words.system.append(text)
        elif role in ("user", None):
            _add_user(words, text)
        for call in objects_in(item.get("tool_calls")):
            words.add_call(_name(call), call.get("id"))
    for part in [*objects_in(content), {"data": item.get("images")}]:  # Ollama puts images beside the text
        place = _add_part(words, part) if number is None else number
        if role not in ("assistant", "model"):
            words.add_attachments(_payloads(part), place)


def _add_user(words: _Words, text: str) -> None:
    if text and not text.startswith((*MEDIA_NOTES.values(),)):  # the library's note, if a wire takes no media in results
        words.users.append(_spaced(text))


def _add_part(words: _Words, part: dict[str, Any]) -> int | None:
    """Add a call or a result among the parts of a message. Returns the number of the call that a result answers."""
    for kind in _CALL_KINDS:
        if part.get("type") == kind or is_object(part.get(kind)):
            call = object_in(part.get(kind, part))
            words.add_call(_plain_name(str(call.get("name"))), call.get("id", call.get("toolUseId")))
    for kind in _RESULT_KINDS:
        if part.get("type") == kind or is_object(part.get(kind)):
            result = object_in(part.get(kind, part))
            content, name = result.get("content"), _plain_name(str(result.get("name")))
            return words.add_result(_result_text(content), _call_id(result), name)
    return None


def _call_id(result: dict[str, Any]) -> object:
    return next((result[key] for key in ("tool_call_id", "tool_use_id", "toolUseId", "call_id", "id") if key in result), None)


def _payloads(part: dict[str, Any]) -> Iterator[str]:
    """The data or addresses of the images and files in a part."""
    if isinstance(part.get("text"), str) or any(part.get("type") == kind or kind in part for kind in _CALL_KINDS):
        return
    for kind in _RESULT_KINDS:
        if part.get("type") == kind or is_object(part.get(kind)):
            for inner in objects_in(object_in(part.get(kind, part)).get("content")):
                yield from _payloads(inner)
            return
    if _document(part) is not None:
        return
    for key, value in part.items():
        if is_object(value) and key != "json":
            yield from _payloads(value)
        elif key in _PAYLOADS:
            yield from (text for text in (value if is_list(value) else [value]) if isinstance(text, str))


def _result_text(content: object) -> str | None:
    """The text of a result; None if there is none, or if it has data (Bedrock's `json`, a document of fields)."""
    parts = objects_in(content)
    is_data = content is None or any("json" in part or not isinstance(_document(part) or "", str) for part in parts)
    return None if is_data else _spaced(_text_of(content))


def _document(part: dict[str, Any]) -> object:
    """The content of a result in Cohere's form, which is not a file: a text, or an object of fields."""
    return object_in(part.get("document")).get("data")


def _text_of(content: object) -> str:
    """A text, or the texts among parts."""
    if isinstance(content, str):
        return content
    parts = (part.get("text", _document(part)) if is_object(part) else part for part in (content if is_list(content) else []))
    return "".join(text for text in parts if isinstance(text, str))
