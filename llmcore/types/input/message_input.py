"""Reading the messages that a caller gives: `Message`s, dicts of them, and messages of OpenAI, LiteLLM, Ollama and Anthropic.

Of the others it reads dicts, the SDKs' objects, and their `model_dump()`. Each becomes a `Message`, and nothing is lost. An extra
field of an assistant's message becomes a `ProviderBlock`. A null or empty field is dropped. Any other unknown field raises
`CallerError`, as does what is no message; the error names the place and the fix. The given objects are not changed. O(length).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel

from llmcore.support.code.suggestions import misspelled
from llmcore.support.values.copies import made, updated
from llmcore.support.values.json_data import read_object
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.types.errors import CallerError
from llmcore.types.input.given_fields import PART_FIELDS, Dict, check_names, has_value, near_name, shown_repr
from llmcore.types.input.media_input import bare_image, media_block, media_form
from llmcore.types.messages import (
    AudioBlock,
    CacheControl,
    FileBlock,
    ImageBlock,
    MediaBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["REPLY_FIELDS", "given_messages"]


_ROLES_OF_OTHERS = {**dict.fromkeys(("human", "client"), "user"), **dict.fromkeys(("ai", "model", "bot", "agent"), "assistant")}
"""The roles of other APIs."""
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
_OWN_BLOCKS: dict[str, type[BaseModel]] = {
    "text": TextBlock,
    "image": ImageBlock,
    "file": FileBlock,
    "audio": AudioBlock,
    "tool_use": ToolUseBlock,
    "tool_result": ToolResultBlock,
    "thinking": ThinkingBlock,
    "redacted_thinking": RedactedThinkingBlock,
    "provider": ProviderBlock,
}
_BLOCKS = tuple(_OWN_BLOCKS.values())
_TEXTS = {"text": "anthropic", "input_text": "openai-responses", "output_text": "openai-responses"}
"""The types of a text part, and the API for a `ProviderBlock` with its extra fields."""
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
"""Anthropic's parts for tools that run on its servers. The types of their results end in `_tool_result`."""
REPLY_FIELDS = frozenset(
    {
        *("annotations", "audio", "citations", "images", "logprobs", "parsed", "provider_specific_fields", "refusal"),
        *("reasoning_details", "reasoning_items", "search_results", "extra_content", "executed_tools", "channel", "prefix"),
        *("context", "context_management", "id", "index", "model", "phase", "status", "container", "usage"),
        *("stop_details", "stop_reason", "stop_sequence"),
    }
)
"""The fields of providers' replies beside text, reasoning and calls. They stay in the history as a `ProviderBlock`."""
_REPLY_PARTS = frozenset({"annotations", "caller", "citations", "logprobs"})
"""Such fields of one part of a reply."""
_CALL_FIELDS = ("extra_content", "provider_specific_fields")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "tool_plan")
_FIELDS_OF_ALL = frozenset({"role", "content", "images", "name", "cache_control"})
_RESULT_FIELDS = _FIELDS_OF_ALL | {"tool_call_id", "tool_name"}
_USER_FIELDS = _FIELDS_OF_ALL | {"type"}
_ASSISTANT_FIELDS = _USER_FIELDS | {"tool_calls", "function_call", "thinking_blocks", *_THOUGHTS} | REPLY_FIELDS
_BY_ROLE = {"tool": _RESULT_FIELDS, "assistant": _ASSISTANT_FIELDS}
"""The fields of a message, by its role. All other roles have `_USER_FIELDS`."""
_CALL_READ = frozenset({"id", "type", "index", "function", "cache_control", *_CALL_FIELDS})
_FUNCTION_READ = frozenset({"name", "arguments", "index", "description", *_CALL_FIELDS})


def given_messages(given: object) -> list[Message | Dict]:
    """`given` as messages, or as dicts of `Message`, which pydantic validates later. Raises `CallerError`."""
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
    """The fix for a request of the wrong type."""
    if is_object(given) and "role" in given:
        return "put the message in a list: [message]"
    if is_object(given) and "version" in given and "messages" in given:
        return "a saved result is read by RunResult.model_validate(data)"
    return _GIVE


class _Reader:
    """Reads one history.

    It keeps the ids of the calls so far. Older histories answer a call by the function's name. Ollama's calls have no ids, so
    each gets one, and their results follow in the order of the calls, or name the functions.
    """

    def __init__(self) -> None:
        self._call_ids: dict[str, str] = {}
        self._without_id = _CallsWithoutId()
        self._where = ""
        self._parts_read = PART_FIELDS

    def message(self, index: int, item: object) -> Message | Dict:
        self._where = f"message {index} of the request"
        if isinstance(item, Message):
            return item
        fields = _fields(item)
        if fields is None:
            kind = type(item).__name__
            raise CallerError(f"{self._where} is of type {kind}; give a Message, or a dict of one: {_A_MESSAGE}")
        role = self._role(fields)
        content = fields.get("content")
        if fields.keys() <= {"role", "content"} and role == fields["role"] and _is_ours(role, content):
            return fields
        self._parts_read = PART_FIELDS | _REPLY_PARTS if role == "assistant" else PART_FIELDS
        check_names(fields, _BY_ROLE.get(role, _USER_FIELDS), self._where, _near)
        self._check_content(role, [] if content is None and fields.get("images") else content)
        if role == "tool":
            return Message(role="tool", content=[self._result(fields, content)])
        blocks = [*self._thoughts(fields), *self._content_of(role, fields), *self._calls(index, fields)]
        if kept := {key: value for key, value in fields.items() if _is_kept(role, key, value)}:
            is_claudes = fields.get("type") == "message" and "stop_reason" in fields
            blocks.append(ProviderBlock(provider="anthropic" if is_claudes else "openai-chat", data=kept))
        return Message.model_validate({"role": role, "content": blocks})

    def _role(self, fields: Dict) -> str:
        role = fields.get("role")
        known = ", ".join(sorted(set(_ROLES.values())))
        if role is None:
            raise CallerError(f"{self._where} has no `role`; it is one of {known}")
        if not isinstance(role, str) or role not in _ROLES:
            meant = _ROLES_OF_OTHERS.get(role.lower()) if isinstance(role, str) else None
            fix = f"here it is {meant!r}" if meant else f"it is one of {known}"
            raise CallerError(f"{self._where} has the role {shown_repr(role)}; {fix}")
        return _ROLES[role]

    def _check_content(self, role: str, content: object) -> None:
        if content is None and role in ("system", "user"):
            raise CallerError(f"{self._where} has no `content`; give text or a list of parts")
        if content is not None and not isinstance(content, str) and not is_list(content):
            raise CallerError(f"{self._where} has a `content` of type {type(content).__name__}; give text or a list of parts")

    # Content

    def _content_of(self, role: str, fields: Dict) -> list[Any]:
        """The content, and the images beside it. A `cache_control` of the message goes to its last part."""
        given = fields.get("images") or ()
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise CallerError(f"{self._where} has `images` of type {type(given).__name__}; give a list")
        of_reply = role == "assistant" and any(map(is_object, cast("Iterable[object]", given)))
        images = () if of_reply else cast("Iterable[object]", given)
        parts = [*self._parts(fields.get("content")), *(bare_image(image, self._where) for image in images)]
        if role == "system" and (media := next(filter(None, map(_media_class, parts)), None)) is not None:
            raise CallerError(
                f"{self._where} has the role {fields['role']!r} and holds {media.kind.noun}; put it into a message of the user's"
            )
        if parts and (mark := fields.get("cache_control")):
            last = parts[-1] if isinstance(parts[-1], BaseModel) else {**parts[-1], "cache_control": mark}
            parts[-1] = (
                updated(last, {"cache_control": CacheControl.model_validate(mark)}) if isinstance(last, BaseModel) else last
            )
        return parts

    def _parts(self, content: object) -> list[Any]:
        if not is_list(content):
            return [TextBlock(text=str(content))] if content else []
        return [block for part in content for block in self._part(part)]

    def _part(self, part: object) -> list[Any]:
        """The block of a part, and a `ProviderBlock` of its extra fields."""
        if isinstance(part, str):
            return [TextBlock(text=part)]
        if isinstance(part, _BLOCKS):
            return [part]
        fields = _fields(part)
        kind = fields.get("type") if fields is not None else None
        if fields is None:
            raise CallerError(f"{self._where} holds a part of type {type(part).__name__}; give dicts with a `type`, or text")
        if not isinstance(kind, str):
            kind = ""
        where = f"a part of {self._where} (type {kind!r})"
        cached = {"cache_control": fields["cache_control"]} if fields.get("cache_control") else {}
        if kind in _TEXTS and isinstance(fields.get("text"), str):
            check_names(fields, {"text", *self._parts_read}, where)
            return [TextBlock.model_validate({"text": fields["text"], **cached}), *_provider_fields(fields, _TEXTS[kind])]
        if (form := media_form(kind, fields)) is not None:
            return [media_block(form, fields, self._where)]
        if kind == "refusal":
            check_names(fields, {"refusal", *PART_FIELDS}, where)
            return [ProviderBlock(provider="openai-chat", data={"refusal": str(fields.get("refusal"))})]
        if kind in _SERVER_CALLS or kind.endswith("_tool_result"):
            return [ProviderBlock(provider="anthropic", data={key: value for key, value in fields.items() if value is not None})]
        if kind in _OWN_BLOCKS:
            return self._own_block(kind, fields, where)
        found = shown_repr(fields.get("type"))
        raise CallerError(f"{self._where} holds a part of the type {found}; messages hold text, images, files and audio")

    def _own_block(self, kind: str, fields: Dict, where: str) -> list[Any]:
        """A block of llmcore's types, most of which Anthropic's API has too."""
        known = _OWN_BLOCKS[kind].model_fields
        check_names(fields, {*known, *self._parts_read}, where)
        block = {key: value for key, value in fields.items() if key in known}
        if kind == "tool_result" and is_list(content := fields.get("content")):
            block["content"] = self._parts(content)
        return [block, *_provider_fields(fields, "anthropic")]

    def _thoughts(self, fields: Dict) -> list[Any]:
        blocks = objects_in(fields.get("thinking_blocks"))
        if blocks:
            return [
                RedactedThinkingBlock(data=str(block.get("data", "")))
                if block.get("type") == "redacted_thinking"
                else ThinkingBlock(thinking=str(block.get("thinking") or ""), signature=block.get("signature"))
                for block in blocks
            ]
        text = next((fields[key] for key in _THOUGHTS if fields.get(key)), None)
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
            function = _fields(made.get("function"))
            block = self._call(made.get("id") or f"call_{index}_{number}", function)
            check_names(made, _CALL_READ, f"a call of {self._where}")
            if mark := made.get("cache_control"):
                block = updated(block, {"cache_control": CacheControl.model_validate(mark)})
            blocks.append(block)
            if not made.get("id"):
                self._without_id.add(index, block)
            found = [*(function or {}).items(), *made.items()]
            if opaque := {key: value for key, value in found if key in _CALL_FIELDS and value}:
                blocks.append(ProviderBlock(provider="openai-chat", data=opaque))
        if (legacy := _fields(fields.get("function_call"))) is not None:
            blocks.append(self._call(f"function_{index}", legacy))
        return blocks

    def _call(self, call_id: object, function: Dict | None) -> ToolUseBlock:
        name = function.get("name") if function is not None else None
        if not isinstance(call_id, str) or not isinstance(name, str) or not name or function is None:
            form = '{"id": ..., "function": {"name": ..., "arguments": ...}}'
            raise CallerError(f"{self._where} holds a call that is not {form}")
        check_names(function, _FUNCTION_READ, f"the function of a call of {self._where}")
        self._call_ids[name] = call_id
        arguments = function.get("arguments")
        if arguments is None or arguments == "":  # how some write a call without arguments
            return ToolUseBlock(id=call_id, name=name, input={})
        if isinstance(arguments, str):
            value = read_object(arguments)
            return ToolUseBlock(id=call_id, name=name, input=value, raw_input="" if value is not None else arguments)
        if not is_object(arguments):
            raise CallerError(f"{self._where} has a call whose arguments are of type {type(arguments).__name__}; give JSON text")
        return ToolUseBlock(id=call_id, name=name, input=arguments)

    def _result(self, fields: Dict, content: object) -> ToolResultBlock:
        name = _text_of(fields, "name") or _text_of(fields, "tool_name")  # OpenAI's, Ollama's
        call_id = fields.get("tool_call_id")
        if not call_id:
            call_id = self._call_ids.get(name or "") if fields["role"] == "function" else self._without_id.answered_by(name)
        if not isinstance(call_id, str):
            raise CallerError(f"{self._where} answers a call and has no `tool_call_id` that says which")
        parts = self._content_of("tool", fields)
        if not all(isinstance(part, TextBlock | MediaBlock) for part in parts):
            raise CallerError(f"{self._where} answers a call; its content is text, or a list of text, images, files and audio")
        return ToolResultBlock(tool_use_id=call_id, content=parts, name=name)


class _CallsWithoutId:
    """The calls without an id that have no result yet: those of the last turn, which may be several messages."""

    def __init__(self) -> None:
        self._last = -1
        self._waiting: defaultdict[str | None, deque[str]] = defaultdict(deque)  # by name; None: all of them
        self._answered: set[str] = set()

    def add(self, index: int, call: ToolUseBlock) -> None:
        if index > self._last + 1:  # another message lies between
            self._waiting.clear()
        self._last = index
        for key in (call.name, None):
            self._waiting[key].append(call.id)

    def answered_by(self, name: str | None) -> str | None:
        """The id of the call that a result answers: the first open call of that name, or of any name if it is None."""
        waiting = self._waiting[name]
        while waiting:
            call_id = waiting.popleft()
            if call_id not in self._answered:
                self._answered.add(call_id)
                return call_id
        return None


def _near(name: str, known: Collection[str]) -> str:
    """The field that was probably meant, or the known fields without those of replies."""
    if "role" in known and name in _RESULT_FIELDS | _ASSISTANT_FIELDS:
        return f"a message of the role {'tool' if name in _RESULT_FIELDS else 'assistant'!r} has it"
    if "role" not in known:
        return near_name(name, known)
    near = misspelled(name, sorted(_RESULT_FIELDS | _ASSISTANT_FIELDS))
    return f"did you mean {near!r}?" if near else near_name(name, set(known) - (REPLY_FIELDS - _FIELDS_OF_ALL))


def _media_class(part: object) -> type[MediaBlock] | None:
    """The class of a block of media, or of a dict of one."""
    kind = type(part) if isinstance(part, MediaBlock) else _OWN_BLOCKS.get(str(object_in(part).get("type")))
    return kind if kind is not None and issubclass(kind, MediaBlock) else None


def _is_kept(role: str, key: str, value: object) -> bool:
    """Whether the field goes to a `ProviderBlock`. An adapter that cannot send it reports it as dropped."""
    if key == "images" and not (role == "assistant" and is_list(value) and any(map(is_object, value))):
        return False
    return bool(value) and (key == "name" or key in REPLY_FIELDS)


def _provider_fields(fields: Dict, provider: str) -> list[ProviderBlock]:
    """A `ProviderBlock` of the extra fields that a provider's reply has in a part."""
    found = {key: value for key, value in fields.items() if key in _REPLY_PARTS and has_value(value)}
    return [ProviderBlock(provider=provider, data=found)] if found else []


def _fields(item: object) -> Dict | None:
    """The item as a dict, if it is one or has `model_dump()`, as the messages of the openai package have."""
    if isinstance(item, Mapping):
        return cast("Dict", item)
    dump = getattr(item, "model_dump", None)
    dumped = dump(exclude_none=True) if callable(dump) else None
    return dumped if is_object(dumped) else None


def _is_ours(role: str, content: object) -> bool:
    """Whether it is the content of a `Message`, which pydantic validates."""
    if isinstance(content, str):
        return role != "tool"
    return is_list(content) and all(map(_is_own_block, content))


def _is_own_block(part: object) -> bool:
    if isinstance(part, Mapping):
        fields = cast("Dict", part)
        kind = fields.get("type")
        is_plain = isinstance(kind, str) and kind in _OWN_BLOCKS and not is_list(fields.get("content"))
        return is_plain and fields.keys() <= _OWN_BLOCKS[str(kind)].model_fields.keys()
    return isinstance(part, _BLOCKS)


def _text_of(fields: Dict, key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None
