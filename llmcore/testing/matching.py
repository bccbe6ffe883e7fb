"""Is a request the one that was recorded? The first difference, in words.

Compared is what the caller decides: the output mode, the model, the system prompt, what the user says, the images and
files that go along, the names of the tools, and in native mode which calls stand in the history and what the tools
answered, by call: clients send results in any order. Not compared is what the library itself writes (the prompts that
teach a mode, re-asks, the words of a tool's error), so that a recording outlives a release. Recorded requests of every
wire are read; what a wire does not tell is not compared. A recording has no secrets, so a request that differs is
compared once more without its own.
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
from llmcore.adapters.request.conversation.messages import IMAGE_NOTE
from llmcore.adapters.request.conversation.special_tokens import JOINER
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.transcripts import Exchange
from llmcore.transcripts.formats.requests import function_tools
from llmcore.types import Block, ImageBlock, Request, TextBlock, ToolDefinition, ToolResultBlock

__all__ = ["difference", "users_in"]

T = TypeVar("T")
_Pair = tuple[str | None, str | None]
_SHOWN = 80
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_RESULT_KINDS = ("tool_result", "toolResult", "functionResponse", "function_response")
_CALL_KINDS = ("tool_use", "toolUse", "functionCall", "function_call")
_PAYLOADS = frozenset({"url", "image_url", "file_url", "data", "bytes", "file_data", "file_id", "fileUri", "file_uri", "uri"})
"""Under what names a part that is no text holds its data, or says where they are."""
_DATA_URL = re.compile(r"data:[^,]{0,200};base64,")
_DIGEST_LENGTH = 12


@dataclass(slots=True)
class _Words:
    """What a request says. `results` and `attachments` (digests of the images and files) each have the number of the call before
    them: a result, and what stands in one, of the call that it answers. A result of None is no plain text."""

    system: list[str] = field(default_factory=list[str])
    users: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    results: list[tuple[int, str | None]] = field(default_factory=list[tuple[int, str | None]])
    attachments: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    open_calls: list[tuple[int, object, str]] = field(default_factory=list[tuple[int, object, str]])
    """Those without a result so far: number, id, name."""

    def add_call(self, name: str, call_id: object) -> None:
        self.open_calls.append((len(self.calls), call_id, name))
        self.calls.append(name)

    def add_result(self, text: str | None, call_id: object, name: object = None) -> int:
        """A result of the latest call with this id; where ids tell nothing, of the first open one of this name. Gives its
        number."""
        by_id = (one for one in reversed(self.open_calls) if call_id and one[1] == call_id)
        by_name = (one for one in self.open_calls if one[2] == name)
        answered = next(by_id, None) or next(by_name, None) or next(iter(self.open_calls), (len(self.calls), None, ""))
        self.open_calls = [one for one in self.open_calls if one is not answered]
        self.results.append((answered[0], text))
        return answered[0]

    def add_attachments(self, payloads: Iterable[str], number: int | None = None) -> None:
        self.attachments += [(len(self.calls) if number is None else number, _digest(payload)) for payload in payloads]


def users_in(request: Request) -> int:
    """How many messages of the user a request holds."""
    return len(_asked_words(request, None).users)


def difference(call: ModelCall, exchange: Exchange, *, users: int | None, same_model: bool) -> str | None:
    """The first difference between a request and the recorded one, None when they say the same or nothing was recorded.

    `users`: how many messages of the user were there when the run began; those behind them are the library's words.
    None: this request begins the run.
    `same_model`: the models' names are not compared, for one model stands for all that were recorded.
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
        recorded.system.clear()  # the library's words
    found = (_native if native else _prompted)(recorded, asked, users)
    return found or _attachments(recorded, asked) or (_tools(body, call) if native else None)


def _attachments(recorded: _Words, asked: _Words) -> str | None:
    if _by_call(recorded.attachments) == _by_call(asked.attachments):
        return None
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
        told = was is not None and now is not None and not (_is_error(was) or _is_error(now))
        if told and was != now:
            return _differs(f"result {number} of the tools", was, now)
    return None


def _prompted(recorded: _Words, asked: _Words, users: int | None) -> str | None:
    """In the modes that are taught by the prompt, texts are joined with others: each must stand somewhere in them."""
    said, system = _joined(recorded.users), _joined(recorded.system)
    if asked.system and _joined(asked.system) not in system:
        return _differs("the system prompt", system, _joined(asked.system))
    position = 0
    for number, text in enumerate(asked.users[:users], 1):
        position = said.find(text, position)
        if position < 0:
            return _differs(f"message {number} of the user", said, text)
    return None


def _by_call(numbered: Sequence[tuple[int, T]]) -> list[T]:
    return [each for _, each in sorted(numbered, key=lambda one: one[0])]


def _paired(was: Sequence[str | None], now: Sequence[str | None], first: int | None = None) -> Iterator[_Pair]:
    """One beside the other, the `first` of them (None: all); what is missing on either side is `""`."""
    pairs = zip_longest(was, now, fillvalue="")
    return pairs if first is None else islice(pairs, first)


def _tools(body: dict[str, Any], call: ModelCall) -> str | None:
    holders = (body, object_in(body.get("toolConfig")))  # Bedrock's are there
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
    """Wires take fewer characters than we do."""
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


# --- what a request of ours says --------------------------------------------------------------------------------------


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
                said = f"Error: {block.text}" if block.is_error else block.text
                number = words.add_result(_spaced(clean(said)), block.tool_use_id)
            if message.role != "assistant":
                words.add_attachments(map(clean, _image_urls([block])), number)
    return words


def _without_joiners(words: _Words) -> _Words:
    """Joiners that break special tokens are the library's: a recording may be older, or of another provider."""
    for texts in (words.system, words.users):
        texts[:] = [text.replace(JOINER, "") for text in texts]
    words.results[:] = [(number, text and text.replace(JOINER, "")) for number, text in words.results]
    return words


def _image_urls(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            yield from _image_urls(block.content)
        elif isinstance(block, ImageBlock):
            yield block.url if block.url is not None else f"data:{block.media_type};base64,{block.data}"


def _digest(payload: str) -> str:
    """The same for the same data, as a `data:` URL or bare, and for nothing else."""
    data = _DATA_URL.sub("", payload, count=1) if payload.startswith("data:") else payload
    return f"sha256 {sha256(data.rstrip('=').encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_LENGTH]}"


# --- what a recorded request says -------------------------------------------------------------------------------------


def _recorded_words(body: dict[str, Any], items: object) -> _Words:
    words = _Words()
    for key in ("system", "systemInstruction", "system_instruction", "instructions"):
        if body.get(key) is not None:
            words.system.append(_text_of(object_in(body[key]).get("parts", body[key])))
    for item in items if is_list(items) else [{"role": "user", "content": items}]:
        if is_object(item):
            _add_item(words, item)
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
    for part in [*objects_in(content), {"data": item.get("images")}]:  # Ollama's stand beside the text
        place = _add_part(words, part) if number is None else number
        if role not in ("assistant", "model"):
            words.add_attachments(_payloads(part), place)


def _add_user(words: _Words, text: str) -> None:
    if text and not text.startswith(IMAGE_NOTE):  # the library's words, where a wire takes no images in results
        words.users.append(_spaced(text))


def _add_part(words: _Words, part: dict[str, Any]) -> int | None:
    """A call or a result among the parts of a message. Gives the number of the call that a result answers."""
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
    """The data of the images and files in a part, or where they are."""
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
    """The text of a result; None where it is none, or holds data (Bedrock's `json`, a document of fields)."""
    parts = objects_in(content)
    is_data = content is None or any("json" in part or not isinstance(_document(part) or "", str) for part in parts)
    return None if is_data else _spaced(_text_of(content))


def _document(part: dict[str, Any]) -> object:
    """What stands in a result of Cohere's own form, which is no file: a text, or an object of fields."""
    return object_in(part.get("document")).get("data")


def _text_of(content: object) -> str:
    """A text, or the texts among parts."""
    if isinstance(content, str):
        return content
    parts = (part.get("text", _document(part)) if is_object(part) else part for part in (content if is_list(content) else []))
    return "".join(text for text in parts if isinstance(text, str))
