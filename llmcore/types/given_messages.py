"""Messages as people have them: this library's own, dicts of them, and those of OpenAI's chat API (dicts, or its package's
objects).

What is taken becomes `Message`s with nothing lost but what a warning names; what is no message is a `CallerError` that says where
and what to give. Nothing given is changed. O(length).
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel

from llmcore.types.copies import made
from llmcore.types.errors import CallerError
from llmcore.types.messages import (
    ImageBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from llmcore.types.narrowing import is_list, is_object, object_in, objects_in
from llmcore.types.numbers import exact_float
from llmcore.types.wordings import slip_of

__all__ = ["given_messages"]


_MEANT = {**dict.fromkeys(("human", "client"), "user"), **dict.fromkeys(("ai", "model", "bot", "agent"), "assistant")}
"""Roles as other APIs call them."""
_A_MESSAGE = "{'role': 'user', 'content': '...'}"
_GIVE = "give text, a list of messages or a Request"
_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_OWN_BLOCKS = frozenset({"text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking", "provider"})
_TEXTS = frozenset({"text", "input_text", "output_text"})
_KEPT = ("reasoning_details", "refusal", "audio", "annotations", "provider_specific_fields")
"""Fields that only OpenAI's wire understands: they stay in the history and return there."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking_blocks")
_READ = frozenset({"role", "content", "tool_calls", "tool_call_id", "function_call", *_THOUGHTS, *_KEPT})
_MAX_SHOWN = 60

Dict = Mapping[str, Any]


def given_messages(given: object) -> list[Message | Dict]:
    """`given` as messages, or as dicts of ours, which are checked where they are made into messages. Raises `CallerError`."""
    if given.__class__ is str:
        return [made(Message, role="user", content=[made(TextBlock, text=given)])]
    if isinstance(given, str):
        return [Message(role="user", content=[TextBlock(text=given)])]
    if isinstance(given, Message):
        return [given]
    kind = type(given).__name__
    if isinstance(given, bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        raise CallerError(f"the request is of type {kind}; {_fix(cast('Any', given))}")
    reader = _Reader()
    return [reader.message(index, item) for index, item in enumerate(cast("Iterable[object]", given))]


def _fix(given: object) -> str:
    """What to give in place of what is no request."""
    if is_object(given) and "role" in given:
        return "put the message in a list: [message]"
    if is_object(given) and "version" in given and "messages" in given:
        return "a saved result is read by RunResult.model_validate(data)"
    return _GIVE


class _Reader:
    """Reads one history; knows the calls so far, for older histories answer by a function's name alone, and Ollama's have calls
    without ids: those get one each, and the results behind them stand in their order, or name their functions."""

    def __init__(self) -> None:
        self._called: dict[str, str] = {}
        self._without_id = _WithoutId()
        self._where = ""

    def message(self, index: int, item: object) -> Message | Dict:
        self._where = f"message {index} of the request"
        if isinstance(item, Message):
            return item
        fields = _fields(item)
        if fields is None:
            kind = type(item).__name__
            raise CallerError(f"{self._where} is of type {kind}; give a Message, or a dict of one: {_A_MESSAGE}")
        role = self._role(fields)
        self._check_names(fields)
        content = fields.get("content")
        if fields.keys() <= {"role", "content"} and role == fields["role"] and _is_ours(role, content):
            return fields
        self._check_content(role, content)
        if role == "tool":
            return Message(role="tool", content=[self._result(fields, content)])
        blocks = [*self._thoughts(fields), *self._parts(content), *self._calls(index, fields)]
        if kept := {key: value for key, value in fields.items() if _is_kept(key, value)}:
            blocks.append(ProviderBlock(provider="openai-chat", data=kept))
        return Message.model_validate({"role": role, "content": blocks})

    def _role(self, fields: Dict) -> str:
        role = fields.get("role")
        known = ", ".join(sorted(set(_ROLES.values())))
        if role is None:
            raise CallerError(f"{self._where} has no `role`; it is one of {known}")
        if not isinstance(role, str) or role not in _ROLES:
            meant = _MEANT.get(role.lower()) if isinstance(role, str) else None
            fix = f"here it is {meant!r}" if meant else f"it is one of {known}"
            raise CallerError(f"{self._where} has the role {_shown(role)}; {fix}")
        return _ROLES[role]

    def _check_names(self, fields: Dict) -> None:
        """What a message has beside the known stays in it, for a wire that may know it; not what was meant as one of those."""
        for key in fields.keys() - _READ:
            if (near := slip_of(str(key), _READ)) is not None:
                raise CallerError(f"{self._where} has no field {_shown(key)}; did you mean {near!r}?")

    def _check_content(self, role: str, content: object) -> None:
        if content is None and role in ("system", "user"):
            raise CallerError(f"{self._where} has no `content`; give text or a list of parts")
        if content is not None and not isinstance(content, str) and not is_list(content):
            raise CallerError(f"{self._where} has a `content` of type {type(content).__name__}; give text or a list of parts")

    # Content

    def _parts(self, content: object) -> list[Any]:
        if not is_list(content):
            return [TextBlock(text=str(content))] if content else []
        return [self._part(part) for part in content]

    def _part(self, part: object) -> Any:
        if isinstance(part, str):
            return TextBlock(text=part)
        fields = _fields(part)
        kind = fields.get("type") if fields is not None else None
        if fields is None:
            raise CallerError(f"{self._where} holds a part of type {type(part).__name__}; give dicts with a `type`, or text")
        cached = {"cache_control": fields["cache_control"]} if fields.get("cache_control") else {}
        if kind in _TEXTS and isinstance(fields.get("text"), str):
            return TextBlock.model_validate({"text": fields["text"], **cached})
        if kind in ("image_url", "input_image"):
            given = fields.get("image_url")
            detail = object_in(given).get("detail") or fields.get("detail")
            return self._image(given, {**cached, **({"detail": detail} if isinstance(detail, str) else {})})
        if kind == "image" and is_object(source := fields.get("source")):
            return self._sourced(source, cached)
        if kind == "refusal":
            return ProviderBlock(provider="openai-chat", data={"refusal": str(fields.get("refusal"))})
        if kind in _OWN_BLOCKS:
            return part
        raise CallerError(f"{self._where} holds a part of the type {_shown(kind)}; llmcore takes text and images in messages")

    def _image(self, given: object, cached: Dict) -> ImageBlock:
        url = given.get("url") if is_object(given) else given
        if not isinstance(url, str) or not url:
            raise CallerError(f"{self._where} holds an image without a `url`")
        if not url.startswith("data:"):
            return ImageBlock.model_validate({"url": url, **cached})
        head, comma, data = url.removeprefix("data:").partition(",")
        media, _, packing = head.partition(";")
        if not comma or not data or packing != "base64" or not media:
            raise CallerError(f"{self._where} holds an image whose data URL is not of the form data:image/png;base64,...")
        return ImageBlock.model_validate({"data": data, "media_type": media, **cached})

    def _sourced(self, source: Dict, cached: Dict) -> ImageBlock:
        """An image as Anthropic's API has it."""
        if source.get("type") == "url":
            return self._image(source.get("url"), cached)
        if not source.get("data") or not source.get("media_type"):
            raise CallerError(f"{self._where} holds an image whose `source` has no `data` with a `media_type`, and no `url`")
        return ImageBlock.model_validate({"data": source["data"], "media_type": source["media_type"], **cached})

    def _thoughts(self, fields: Dict) -> list[Any]:
        blocks = objects_in(fields.get("thinking_blocks"))
        if blocks:
            return [
                RedactedThinkingBlock(data=str(block.get("data", "")))
                if block.get("type") == "redacted_thinking"
                else ThinkingBlock(thinking=str(block.get("thinking") or ""), signature=block.get("signature"))
                for block in blocks
            ]
        text = fields.get("reasoning_content") or fields.get("reasoning")
        return [ThinkingBlock(thinking=text)] if isinstance(text, str) and text else []

    # Calls and results

    def _calls(self, index: int, fields: Dict) -> list[Any]:
        given: object = fields.get("tool_calls") or ()
        if given == ():
            given = list[object]()
        if not is_list(given):
            raise CallerError(f"{self._where} has `tool_calls` of type {type(given).__name__}; give a list")
        blocks: list[Any] = []
        for number, call in enumerate(given):
            made = _fields(call) or {}
            block = self._call(made.get("id") or f"call_{index}_{number}", _fields(made.get("function")))
            blocks.append(block)
            if not made.get("id"):
                self._without_id.add(index, block)
            opaque = {key: made[key] for key in ("extra_content", "provider_specific_fields") if made.get(key)}
            if opaque:
                blocks.append(ProviderBlock(provider="openai-chat", data=opaque))
        if (legacy := _fields(fields.get("function_call"))) is not None:
            blocks.append(self._call(f"function_{index}", legacy))
        return blocks

    def _call(self, call_id: object, function: Dict | None) -> ToolUseBlock:
        name = function.get("name") if function is not None else None
        if not isinstance(call_id, str) or not isinstance(name, str) or not name or function is None:
            form = '{"id": ..., "function": {"name": ..., "arguments": ...}}'
            raise CallerError(f"{self._where} holds a call that is not {form}")
        self._called[name] = call_id
        arguments = function.get("arguments")
        if arguments is None or arguments == "":  # how some write a call without arguments
            return ToolUseBlock(id=call_id, name=name, input={})
        if isinstance(arguments, str):
            value = _object_of(arguments)
            return ToolUseBlock(id=call_id, name=name, input=value, raw_input="" if value is not None else arguments)
        if not is_object(arguments):
            raise CallerError(f"{self._where} has a call whose arguments are of type {type(arguments).__name__}; give JSON text")
        return ToolUseBlock(id=call_id, name=name, input=arguments)

    def _result(self, fields: Dict, content: object) -> ToolResultBlock:
        name = _text_of(fields, "name") or _text_of(fields, "tool_name")  # OpenAI's, Ollama's
        call_id = fields.get("tool_call_id")
        if not call_id:
            call_id = self._called.get(name or "") if fields["role"] == "function" else self._without_id.answered_by(name)
        if not isinstance(call_id, str):
            raise CallerError(f"{self._where} answers a call and has no `tool_call_id` that says which")
        parts = self._parts(content)
        if not all(isinstance(part, TextBlock | ImageBlock) for part in parts):
            raise CallerError(f"{self._where} answers a call; its content is text, or a list of text and images")
        return ToolResultBlock(tool_use_id=call_id, content=parts, name=name)


class _WithoutId:
    """The calls without an id, which wait for their results: those of the last turn, which may be several messages."""

    def __init__(self) -> None:
        self._last = -1
        self._waiting: defaultdict[str | None, deque[str]] = defaultdict(deque)  # by name; None: all of them
        self._answered: set[str] = set()

    def add(self, index: int, call: ToolUseBlock) -> None:
        if index > self._last + 1:  # something was said in between
            self._waiting.clear()
        self._last = index
        for key in (call.name, None):
            self._waiting[key].append(call.id)

    def answered_by(self, name: str | None) -> str | None:
        """The id that was made for the call which a result answers: the first of that name, or of any where it tells none."""
        waiting = self._waiting[name]
        while waiting:
            call_id = waiting.popleft()
            if call_id not in self._answered:
                self._answered.add(call_id)
                return call_id
        return None


def _is_kept(key: str, value: object) -> bool:
    """A field that only OpenAI's wire may have a place for: what an adapter cannot send it tells."""
    return key in _KEPT if value and key in _READ else key not in _READ and value not in (None, [], {}, "")


def _fields(item: object) -> Dict | None:
    """A dict, or an object that can be dumped as one (the messages of the openai package)."""
    if isinstance(item, Mapping):
        return cast("Dict", item)
    dump = getattr(item, "model_dump", None)
    dumped = dump(exclude_none=True) if callable(dump) else None
    return dumped if is_object(dumped) else None


def _is_ours(role: str, content: object) -> bool:
    """Is it the content of a `Message`, to be checked there?"""
    if isinstance(content, str):
        return role != "tool"
    return is_list(content) and all(map(_is_own_block, content))


def _is_own_block(part: object) -> bool:
    if isinstance(part, Mapping):
        fields = cast("Dict", part)
        return fields.get("type") in _OWN_BLOCKS and "source" not in fields
    return isinstance(part, BaseModel)


def _text_of(fields: Dict, key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def _object_of(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, parse_float=exact_float)
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
