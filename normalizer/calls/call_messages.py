"""The calls in a JSON value, and the answer beside them.

Whole messages (`tool_calls`, `toolCalls`, `tool_uses`, one key that is a tool, pasted wire JSON, this library's envelope) are
unfolded into call objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer.calls.answers import (
    answer_beside,
    answer_for_call,
    answer_of_call,
    content_text,
    is_about_the_message,
    lists_nothing,
    unread_beside,
)
from llmcore.normalizer.calls.call_objects import (
    BESIDE_CALLS,
    CALL_KEYS,
    ENVELOPE_KEYS,
    FORM_OF_LIST,
    INNER_KEYS,
    NAME_KEYS,
    CallObject,
    arguments_of,
    call_object,
    default_arguments,
    echoes_tool,
    names_disagree,
    other_name,
)
from llmcore.normalizer.calls.named_only import is_named_only
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.names import holds_calls, is_known, peel
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, objects_in
from llmcore.types.envelope import Repair
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["CallMessage", "calls_listed", "calls_of", "is_no_call", "nested_calls", "without_last"]

_ACTION_LISTS = ("action", "actions")
"""Lists of calls of browser agents and plans. Only the tools' names tell them from data."""
_PASTED_LISTS = ("content", "parts")  # of a message of Anthropic, Bedrock or Gemini
_UNSAID_KINDS = frozenset({"thinking", "redacted_thinking", "reasoning", "tool_result"})
_UNSAID_KEYS = frozenset({"thoughtSignature", "reasoningContent", "toolResult", "functionResponse"})
"""Blocks of such a message that are not its content: reasoning, signatures and results."""
_NO_CALL_NAMES = frozenset({"no_function", "no_tool", "directly_answer", "directly-answer", "none", "None"})


@dataclass(slots=True)
class CallMessage:
    """The calls of a value, in order, perhaps with an answer. `form` is the registry's name of its shape.

    `certain`: the shape names its purpose (`tool_calls`, the envelope, ...), so it is a call, whatever its name.
    """

    calls: list[CallObject]
    form: str = "bare_json"
    content: str | None = None
    needs_more_work: bool | None = None
    certain: bool = False
    unread: int = 0
    """The number of listed items that could not be read as a call."""
    data: int = 0
    """The number of those items that `content` includes."""
    repairs: list[Repair] = field(default_factory=list[Repair])
    """The repairs of what stands beside its calls."""


def _called_with_nothing(calls: list[CallObject], entries: Any, tools: ToolSet | None) -> None:
    """Give empty arguments to calls that an envelope lists by name only, if the tool requires none."""
    if not is_list(entries) or len(entries) != len(calls):
        return
    for call, entry in zip(calls, entries, strict=True):
        if (
            not call.given
            and (given := default_arguments(call.name, tools)) is not None
            and is_named_only(entry, NAME_KEYS, INNER_KEYS)
        ):
            call.arguments, call.given = given, True


def _all(values: list[Any], read: Callable[[Any], CallObject | None]) -> list[CallObject] | None:
    calls = [read(value) for value in values]
    found = [call for call in calls if call is not None]
    return found if len(found) == len(calls) else None


def _joined(text: str | None, data: list[Any]) -> str:
    """The message's text beside its calls, and the data in its list of calls."""
    return "\n\n".join([*filter(None, [text]), *map(as_json, data)])


def _doubt_names(holder: dict[str, Any], calls: list[CallObject], tools: ToolSet | None) -> None:
    """Make each call a guess if the object that lists the calls names another tool."""
    for call in calls:
        if (other := other_name(holder, call.name, (), tools)) != "":
            call.repairs = [*call.repairs, names_disagree(other, call.name)]


def _without_data(read: list[CallObject | None], items: list[Any], tools: ToolSet | None) -> list[CallObject | None]:
    """The calls, without those that name no tool and have other keys than arguments, if another call is certain."""
    if tools is None or not any(call is not None and call.given and is_known(call.name, tools) for call in read):
        return read
    return [
        call if call is None or call.given or is_known(call.name, tools) or is_named_only(item, NAME_KEYS, INNER_KEYS) else None
        for call, item in zip(read, items, strict=True)
    ]


def _mixed(read: list[CallObject | None], items: list[Any], tools: ToolSet | None) -> tuple[list[CallObject] | None, list[Any]]:
    """(the calls of a list, its other items). (None, []) if some items are no calls and no call is certain."""
    read = _without_data(read, items, tools)
    calls = [call for call in read if call is not None]
    if len(calls) == len(items):
        return calls, []
    if not any(call.given and is_known(call.name, tools) for call in calls):
        return None, []
    return calls, [item for item, call in zip(items, read, strict=True) if call is None]


def _flat(value: Any, tools: ToolSet | None) -> CallObject | None:
    """An envelope's call, which may have flat arguments and its name under `type`."""
    call = call_object(value, tools)
    if call is not None and (call.given or tools is None or is_known(call.name, tools)):
        return call
    if is_object(value):
        fields = dict(value)
        name, identity = fields.pop("type", None), fields.pop("id", "")
        if isinstance(name, str) and name != "function":
            return CallObject(name, fields, True, identity if isinstance(identity, str) else "")
    return call


def _envelope(value: dict[str, Any], tools: ToolSet | None) -> CallMessage | None:
    """The message of this library's envelope: `toolCalls` beside `content` or `needsMoreWork`, also in snake_case.

    If only one of these keys is there, `toolCalls` must hold a call of a known tool.
    """
    needs = value.get("needsMoreWork", value.get("needs_more_work"))
    content = value.get("content")
    written = value.get("toolCalls", value.get("tool_calls"))
    named = "toolCalls" in value or "needsMoreWork" in value or "needs_more_work" in value
    companions = "content" in value or needs is not None or "needsMoreWork" in value
    if not named or "role" in value:
        return None
    if written is None and (content is None or any(isinstance(value.get(key), str) for key in NAME_KEYS)):
        return None
    calls, unread = _enveloped(written, tools)
    if is_about_the_message(value, "toolCalls", (*ENVELOPE_KEYS, "tool_calls", *BESIDE_CALLS)):
        _called_with_nothing(calls, written, tools)
    if (unread and not calls and not _may_call(written)) or not (companions or any(is_known(call.name, tools) for call in calls)):
        return None
    text, repairs = content_text(content)
    more, data = needs if isinstance(needs, bool) else None, unread if calls else []
    if data:
        text = _joined(text, data)
    _doubt_names(value, calls, tools)
    repairs = [*repairs, *unread_beside(value, CALL_KEYS)]
    return CallMessage(
        calls, "llmcore_envelope", text, more, certain=companions, unread=len(unread), data=len(data), repairs=repairs
    )


def _may_call(written: Any) -> bool:
    """Whether unreadable calls may be meant as calls. A number or a flag is the user's data."""
    return (
        isinstance(written, str) or is_object(written) or (is_list(written) and any(not isinstance(one, int) for one in written))
    )


def _enveloped(written: Any, tools: ToolSet | None) -> tuple[list[CallObject], list[Any]]:
    """(calls, other entries) of the value under `toolCalls`.

    The value is a list, one call, calls by their names or by numbers, or one of these as JSON text.
    """
    if isinstance(written, str) and written.strip():
        parsed = read_json(written)
        written = parsed.values[0] if len(parsed.values) == 1 and not written[parsed.end :].strip() else written
    if is_object(written) and call_object(written, tools) is None:
        values = list(written.values())
        numbered = bool(values) and all(call_object(value, tools) is not None for value in values)
        written = values if numbered else [{name: given} for name, given in written.items()]
    if written is None or (isinstance(written, str) and (not written.strip() or written.strip() in _NO_CALL_NAMES)):
        return [], []
    entries: list[Any] = written if is_list(written) else [written]
    read = _without_data([_entry(entry, tools) for entry in entries], entries, tools)
    data = [entry for entry, call in zip(entries, read, strict=True) if call is None]
    return [call for call in read if call is not None], data


def _entry(value: Any, tools: ToolSet | None) -> CallObject | None:
    """One call of an envelope. An object under one key is the arguments of the tool that the key names."""
    if (call := _single_key(value, tools) or _flat(value, tools)) is not None:
        return call
    if is_object(value) and len(value) == 1 and all(is_object(given) for given in value.values()):
        return _keyed(value, tools)
    return None


def _single_key(value: Any, tools: ToolSet | None) -> CallObject | None:
    if tools is not None and is_object(value) and len(value) == 1:
        ((name, arguments),) = value.items()
        if is_known(name, tools) and is_object(arguments) and not echoes_tool(arguments, _tool(name, tools)):
            return CallObject(name, arguments, True)
    return None


def _tool(name: str, tools: ToolSet | None) -> CompiledTool | None:
    return tools.get(peel(name, tools) or name) if tools is not None else None


def _keyed(value: Any, tools: ToolSet | None) -> CallObject | None:
    """The call of an object with one key, which is the name (Apertus)."""
    if is_object(value) and len(value) == 1:
        ((name, written),) = value.items()
        if not name.strip() or echoes_tool(written, _tool(name, tools)):
            return None
        arguments, given, repairs = arguments_of(written)
        return CallObject(name, arguments, given, "", repairs)
    return None


def _object(value: dict[str, Any], tools: ToolSet | None) -> CallMessage | None:
    if (message := _envelope(value, tools)) is not None:
        return message
    if len(value) == 1 and is_object(only := next(iter(value.values()))) and "toolCalls" in only:
        return _envelope(only, tools)
    if value.keys() == {"content"} and (call := call_object(value["content"], tools)) is not None and call.given:
        return CallMessage([call], "llmcore_envelope") if is_known(call.name, tools) else None
    if is_list(choices := value.get("choices")) and choices and is_object(choices[0]):
        inner = choices[0].get("message")
        if is_object(inner):
            value = inner
    for key, form in FORM_OF_LIST.items():
        listed: Any = list[Any]() if lists_nothing(value, key) else value.get(key)
        if is_object(listed) and key != "calls":  # one call in the place of the list, or calls by their names
            one = call_object(listed, tools)
            listed = [listed] if one is not None else [{name: given} for name, given in listed.items()]
        if is_list(listed):
            calls, data = _mixed([call_object(item, tools) or _single_key(item, tools) for item in listed], listed, tools)
            answer = answer_beside(value, key, alone=not calls)
            if calls is None or answer is None:
                return None
            _doubt_names(value, calls, tools)
            repairs = [*answer[1], *unread_beside(value, CALL_KEYS)]
            if data:
                beside = _joined(answer[0], data)
                return CallMessage(calls, form, beside, certain=True, unread=len(data), data=len(data), repairs=repairs)
            if is_about_the_message(value, key, BESIDE_CALLS):
                _called_with_nothing(calls, listed, tools)
            form, calls = "pasted_wire" if "role" in value else form, [*calls, *_listed_beside(value, key, calls, tools)]
            return CallMessage(calls, form, answer[0], certain=True, repairs=repairs)
    for key in _ACTION_LISTS:
        if is_list(listed := value.get(key)) and listed:
            calls, data = _mixed([_single_key(item, tools) or call_object(item, tools) for item in listed], listed, tools)
            if calls is not None and any(is_known(call.name, tools) for call in calls):
                repairs = unread_beside(value, CALL_KEYS)
                text = _joined(None, data) or None
                return CallMessage(calls, "tool_calls_key", text, unread=len(data), data=len(data), repairs=repairs)
    if tools and (text := answer_for_call(value, NAME_KEYS, ARGUMENT_KEYS)) is not None and _calls_nothing(value, tools):
        return CallMessage([], content=text)
    for key in _PASTED_LISTS:
        if is_list(blocks := value.get(key)) and (message := _pasted(blocks, tools)) is not None:
            return message
    return _one(value, tools)


def _listed_beside(value: dict[str, Any], taken: str, calls: list[CallObject], tools: ToolSet | None) -> list[CallObject]:
    """Calls under a second key for calls, except those that are in `calls`."""
    found: list[CallObject] = []
    for key in (*FORM_OF_LIST, "function_call", "tool_call"):
        held = value.get(key)
        if key == taken or not (is_list(held) or is_object(held)):
            continue
        more = [call_object(entry, tools) for entry in (held if is_list(held) else [held])]
        if more and all(call is not None and call.given for call in more):
            found += [call for call in more if call is not None and not any(_is_equal(call, one) for one in calls)]
    return found


def _is_equal(call: CallObject, other: CallObject) -> bool:
    return call.name == other.name and call.arguments == other.arguments


def _calls_nothing(value: dict[str, Any], tools: ToolSet) -> bool:
    """Whether no key for names has a tool's name."""
    return not any(is_known(name, tools) for key in NAME_KEYS if isinstance(name := value.get(key), str))


def _pasted(blocks: list[Any], tools: ToolSet | None) -> CallMessage | None:
    """The message of a list of blocks, some of which are calls. Data among them is content."""
    called = [block for block in objects_in(blocks) if _is_called(block)]
    calls = _all(called, lambda block: call_object(block, tools))
    if not calls:
        return None
    text = "".join(block["text"] for block in objects_in(blocks) if isinstance(block.get("text"), str))
    data = [block for block in blocks if not is_object(block) or _is_data(block)]
    return CallMessage(calls, "pasted_wire", _joined(text, data), certain=True, unread=len(data), data=len(data))


def _is_called(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_use" or "functionCall" in block or "toolUse" in block


def _is_data(block: dict[str, Any]) -> bool:
    """Whether the block is no block of a message."""
    kind = block.get("type")
    unsaid = (isinstance(kind, str) and kind in _UNSAID_KINDS) or not _UNSAID_KEYS.isdisjoint(block)
    return not (unsaid or _is_called(block) or isinstance(block.get("text"), str))


def _one(value: dict[str, Any], tools: ToolSet | None) -> CallMessage | None:
    """The message of an object that is one call, perhaps under a key for calls."""
    for key in ("functionCall", "function_call", "tool_call", "tool_use", "toolUse"):
        if is_object(value.get(key)):
            call = call_object(value, tools) or _single_key(value[key], tools)
            form = INNER_KEYS[key]
            if call is None:
                return None
            if is_about_the_message(value, key, BESIDE_CALLS):
                _called_with_nothing([call], [value[key]], tools)
            return CallMessage([call], form, certain=form == "pasted_wire", repairs=unread_beside(value, _read_of(call, tools)))
    call = call_object(value, tools)
    if call is not None and holds_calls(call.name, tools) and is_object(call.arguments):
        return _object(call.arguments, tools) if any(is_list(call.arguments.get(key)) for key in FORM_OF_LIST) else None
    if call is not None and value.get("type") == "tool_use" and is_object(value.get("input")):
        return CallMessage([call], "pasted_wire", certain=True)
    if call is not None and (call.given or is_known(call.name, tools) or is_no_call(call.name, tools)):
        tool = _tool(call.name, tools)
        text = answer_of_call(value, tool.properties) if call.given and tool is not None else None
        form = "tool_call_key" if "tool_call" in value else "bare_json"
        return CallMessage([call], form, text, repairs=unread_beside(value, _read_of(call, tools)))
    call = _single_key(value, tools)
    return None if call is None else CallMessage([call], "single_key")


def _read_of(call: CallObject, tools: ToolSet | None) -> frozenset[str]:
    """The keys of a call's object that are read, or may be."""
    tool = _tool(call.name, tools)
    renamed = [repair.before for repair in call.repairs if repair.kind == "arguments_renamed"]
    return CALL_KEYS.union(renamed, () if tool is None else tool.properties)


def _named(item: Any, tools: ToolSet | None) -> CallMessage | None:
    """An item of a list of calls, with the name as its only key."""
    call = _keyed(item, tools)
    return None if call is None or call.arguments is None else CallMessage([call])


def _keyed_items(items: list[Any], tools: ToolSet | None) -> list[CallObject | None]:
    """The calls of a list whose items have the name as their only key. Beside a certain call, a key over no object is data."""
    read = [_keyed(item, tools) or call_object(item, tools) for item in items]
    if not any(call is not None and call.arguments is not None and is_known(call.name, tools) for call in read):
        return read
    return [call if call is None or call.arguments is not None or is_known(call.name, tools) else None for call in read]


def _content_of(item: Any, message: CallMessage | None) -> str | None:
    """The content of a list's item: the text beside its calls or, if it is data, all of it."""
    return as_json(item) if message is None else message.content


def calls_of(value: Any, tools: ToolSet | None, *, keyed: bool = False) -> CallMessage | None:
    """The message of a JSON value, or None if it is data. `keyed`: each object has one key, the name."""
    if is_list(value):
        items = value
        if len(items) > 1 and all(is_list(item) and item for item in items):  # a list of lists of calls
            items = [entry for item in items for entry in item]
        if keyed:
            listed, unread = _mixed(_keyed_items(items, tools), items, tools)
            if listed is None:
                return None
            text = _joined(None, unread) or None
            return CallMessage(listed, "bare_array", text, unread=len(unread), data=len(unread))
        unfolded = [_object(item, tools) if is_object(item) else None for item in items]
        by_names = any(message is not None and message.form == "single_key" for message in unfolded)
        if by_names:  # calls of unknown tools are named by their key, too
            unfolded = [
                _named(item, tools) if message is None else message for item, message in zip(items, unfolded, strict=True)
            ]
        messages = [message for message in unfolded if message is not None]
        if len(items) == 1 and messages and messages[0].form == "llmcore_envelope":
            return messages[0]
        calls = [call for message in messages for call in message.calls]
        if len(messages) < len(items) and not any(call.given and is_known(call.name, tools) for call in calls):
            return None
        texts = [_content_of(item, message) for item, message in zip(items, unfolded, strict=True)]
        form, data = "single_key" if by_names else "bare_array", unfolded.count(None)
        repairs = [repair for message in messages for repair in message.repairs]
        return CallMessage(calls, form, "\n\n".join(filter(None, texts)) or None, unread=data, data=data, repairs=repairs)
    if is_object(value):
        if keyed and (call := _keyed(value, tools)) is not None:
            return CallMessage([call])
        return _object(value, tools)
    return None


def calls_listed(arguments: dict[str, Any], tools: ToolSet | None, limits: Limits) -> CallMessage | None:
    """The calls that the arguments of a call of several tools list, also as JSON text. None if they cannot be read."""
    listed: dict[str, Any] = {}
    for key, value in arguments.items():
        if key in FORM_OF_LIST and isinstance(value, str):
            parsed = read_json(value, limits=limits)
            sound = len(parsed.values) == 1 and parsed.complete and not parsed.repairs and not value[parsed.end :].strip()
            value = parsed.values[0] if sound else value
        listed[key] = value
    return _object(listed, tools) if any(is_list(listed.get(key)) for key in FORM_OF_LIST) else None


def nested_calls(arguments: dict[str, Any], tools: ToolSet | None, limits: Limits) -> tuple[list[Draft], str]:
    """The same calls as drafts, and the text beside them."""
    message, held = calls_listed(arguments, tools, limits), list[Draft]()
    for call in message.calls if message is not None else ():
        draft, found = Draft(-1, call.name, call.id, "", 0), call.arguments if call.given else default_arguments(call.name, tools)
        beside = message.repairs if message is not None and not held else []
        draft.finish(0, found, "" if found is None else as_json(found), True, [*beside, *call.repairs])
        held.append(draft)
    return held, (message.content or "") if message is not None else ""


def without_last(value: Any) -> Any:
    """A list of calls without its last item, which was cut off. None if the value is no such list."""
    if is_list(value):
        return value[:-1] or None
    if is_object(value):
        for key in (*FORM_OF_LIST, *_ACTION_LISTS, "toolCalls"):
            if is_list(listed := value.get(key)) and len(listed) > 1:
                return {**value, key: listed[:-1]}
    return None


def is_no_call(name: str, tools: ToolSet | None) -> bool:
    """Whether a model calls nothing by this name. False if a tool has the name."""
    return name in _NO_CALL_NAMES and not is_known(name, tools)
