"""JSON call objects: which of the many spellings of "name and arguments" a value is.

One object has its name under `name` (or `tool_name`, `tool`, `function`, ...) and its arguments under `arguments` (or
`parameters`, `args`, `params`, `input`, ...) or beside it; both may be nested under `function`. Whole-message shapes
(`tool_calls`, `toolCalls`, `tool_uses`, one key that is a tool, pasted wire JSON) unfold into such objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer.calls.answers import (
    answer_beside,
    answer_for_call,
    answer_of_call,
    is_about_the_message,
    lists_nothing,
    said_in,
)
from llmcore.normalizer.calls.named_only import is_named_only
from llmcore.normalizer.core.names import is_known, peel
from llmcore.normalizer.core.words import ARGUMENT_KEYS, ID_KEYS
from llmcore.normalizer.notations.json import read_json
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.narrowing import is_list, is_object, objects_in
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = [
    "BESIDE_CALLS",
    "CALL_KEYS",
    "LIST_KEYS",
    "NAME_KEYS",
    "PARALLEL",
    "CallObject",
    "Message",
    "arguments_of",
    "call_object",
    "calls_of",
    "is_definition",
    "is_no_call",
    "no_arguments",
    "without_last",
]

NAME_KEYS = (
    *("name", "tool_name", "function", "tool", "tool_call", "recipient_name", "function_name", "action", "$type"),
    *("toolName", "functionName", "func", "method", "command"),
)
_LIST_KEYS = {
    "tool_calls": "tool_calls_key",
    "tool_uses": "multi_tool_use",
    "function_calls": "tool_calls_key",
    "calls": "tool_calls_key",
}
LIST_KEYS = ("toolCalls", *_LIST_KEYS)
"""Keys that say that what they hold are calls."""
_ACTION_LISTS = ("action", "actions")
"""Lists of calls as browser agents and plans write them; only the tools' names tell them from data."""
_INNER_KEYS = {
    "function": "bare_json",
    "tool_call": "tool_call_key",
    "functionCall": "pasted_wire",
    "function_call": "pasted_wire",
    "tool_use": "pasted_wire",
    "toolUse": "pasted_wire",
    "tool": "bare_json",
    "action": "bare_json",
    "command": "bare_json",
}
_CLEAR_KEYS = ("payload", "argument", "parameter", "arg", "param", "tool_params", "toolArguments", "toolArgs", "toolParams")
_UNUSUAL_KEYS = (*_CLEAR_KEYS, "data", "body", "options", "values", "fields", "props")
"""Under which data stands as well, the clear ones apart: arguments only where they are all the tool's."""
_BESIDE_A_NAME = frozenset((*ID_KEYS, "type"))
_ENCODINGS = 2  # of a string in a string
_PASTED_LISTS = ("content", "parts")  # of a message as Anthropic, Bedrock or Gemini write it
_ENVELOPE_KEYS = ("toolCalls", "needsMoreWork", "needs_more_work")
PARALLEL = "multi_tool_use.parallel"
"""What the GPT families call to call several tools."""
_NO_CALL_NAMES = frozenset({"no_function", "no_tool", "directly_answer", "directly-answer", "none", "None"})

BESIDE_CALLS = (
    *("type", "index", "role", "choices", "response", "content", "parts", "jsonrpc", "kind"),
    *("actions", "current_state", "evaluation_previous_goal", "memory", "next_goal"),
    *("thought", "thoughts", "thinking", "reasoning", "rationale", "explanation", "analysis", "plan"),
)
"""Keys that stand in a call object before what makes it one."""
CALL_KEYS = frozenset(
    (
        *(*NAME_KEYS, *ARGUMENT_KEYS, *ID_KEYS, *_LIST_KEYS, *_INNER_KEYS, *_ENVELOPE_KEYS),
        *BESIDE_CALLS,
    )
)
"""Keys one of which a call object begins with."""


@dataclass(slots=True)
class CallObject:
    """One call as read from an object. `given`: an arguments key was there. `arguments` None: they hold no object."""

    name: str
    arguments: dict[str, Any] | None
    given: bool
    id: str = ""
    repairs: list[Repair] = field(default_factory=list[Repair])
    raw: str | None = None


@dataclass(slots=True)
class Message:
    """What a value says: calls in order, perhaps an answer beside them. `form` is the registry's name of its shape.

    `certain`: the shape names its purpose (`tool_calls`, the envelope, ...), so it is a call whatever the name.
    """

    calls: list[CallObject]
    form: str = "bare_json"
    content: str | None = None
    needs_more_work: bool | None = None
    certain: bool = False
    unread: int = 0
    """Of what it lists as calls, how many could not be read as one."""
    repairs: list[Repair] = field(default_factory=list[Repair])
    """Of what it says beside its calls."""


def is_definition(arguments: Any, has_properties: bool) -> bool:
    """A JSON Schema where arguments should be: the echo of a tool's definition."""
    if has_properties or not is_object(arguments):
        return False
    schema = arguments
    return schema.get("type") == "object" and is_object(schema.get("properties"))


def no_arguments(name: str, tools: ToolSet | None) -> dict[str, Any] | None:
    """What a call without arguments has: `{}` when the tool requires none, else nothing that could be invented."""
    tool = tools.get(peel(name, tools) or name) if tools is not None else None
    return {} if tool is not None and not tool.required else None


def arguments_of(value: Any, *, limits: Limits = DEFAULT_LIMITS) -> tuple[dict[str, Any] | None, bool, list[Repair]]:
    """(arguments, given, repairs) of what stands under an arguments key: an object, one in a list of its own, a list of pairs of
    name and value, or a string that holds one of them, encoded once or twice."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None, False, []
    repairs: list[Repair] = []
    for _ in range(_ENCODINGS):
        if not isinstance(value, str):
            break
        reading = read_json(value, limits=limits)
        if len(reading.values) != 1 or value[reading.end :].strip():
            return None, True, []
        repairs += [Repair(kind="double_encoded", before=value, after=reading.values[0]), *reading.repairs]
        value = reading.values[0]
    if is_object(value):
        return value, True, repairs
    if (found := _listed_arguments(value)) is None:
        return None, True, []
    return found, True, [*repairs, Repair(kind="list_for_object", before=value, after=found, safety="coerced")]


def _listed_arguments(value: Any) -> dict[str, Any] | None:
    """The arguments that a list holds: `[{...}]`, or `[{"name": ..., "value": ...}, ...]`."""
    if not is_list(value):
        return None
    items = objects_in(value)
    if not items or len(items) < len(value):
        return None
    if all(item.keys() == {"name", "value"} and isinstance(item["name"], str) for item in items):
        return {item["name"]: item["value"] for item in items}
    return items[0] if len(items) == 1 else None


def _named(holder: dict[str, Any], tools: ToolSet | None) -> str | None:
    """The key under which the name stands: where several may hold one, that of a tool, before the arguments."""
    keys = [key for key in NAME_KEYS if isinstance(holder.get(key), str) and holder[key].strip()]
    if len(keys) > 1 and tools is not None and not is_known(holder[keys[0]], tools):
        written = list(holder)
        first = min((written.index(key) for key in ARGUMENT_KEYS if key in holder), default=len(written))
        return next((key for key in keys if written.index(key) < first and is_known(holder[key], tools)), keys[0])
    return keys[0] if keys else None


def _defines(key: str, written: Any, tool: CompiledTool | None) -> bool:
    """Is what stands under this key the schema of a tool's arguments?"""
    return key == "parameters" and is_definition(written, tool is not None and "properties" in tool.properties)


def _arguments_key(holder: dict[str, Any], tool: CompiledTool | None) -> str:
    """The key under which the arguments stand: where several are there, the first that holds an object which is no definition,
    since a listener was told of that, else the plainest. "" when there is none."""
    keys = [key for key in holder if key in ARGUMENT_KEYS]
    objects = (key for key in keys if is_object(holder[key]) and not _defines(key, holder[key], tool))
    return next(objects, None) or min(keys, key=ARGUMENT_KEYS.index, default="")


def _beside(holder: dict[str, Any], named: str, tool: CompiledTool | None) -> dict[str, Any] | None:
    """The arguments that stand beside the name, where nothing else does: every key is one of the tool's."""
    if tool is None:
        return None
    found = {key: value for key, value in holder.items() if key != named and key not in _BESIDE_A_NAME}
    return found if found and found.keys() <= tool.properties.keys() else None


def _renamed(holder: dict[str, Any], tool: CompiledTool | None) -> Iterator[str]:
    """The unusual keys under which all arguments of the tool stand, and nothing else does."""
    if tool is None:
        return
    for key in _UNUSUAL_KEYS:
        held = holder.get(key)
        if is_object(held) and held and key not in tool.properties and tool.required <= held.keys() <= tool.properties.keys():
            yield key


def _other_name(holder: dict[str, Any], named: str, tool: CompiledTool | None, tools: ToolSet | None) -> str:
    """The name of another tool that stands under another key for names; "" when there is none."""
    for key in NAME_KEYS:
        other = holder.get(key)
        taken = key == named or (tool is not None and key in tool.properties)
        if isinstance(other, str) and not taken and is_known(other, tools) and peel(other, tools) != peel(holder[named], tools):
            return other
    return ""


def _more_arguments(holder: dict[str, Any], taken: tuple[str, ...], tool: CompiledTool | None) -> Iterator[tuple[str, Any]]:
    """(key, what it says) of what an object says of the arguments beside the key they stand under: a parameter of the tool, as an
    object of its own, or what stands under another key for arguments."""
    for key, written in holder.items():
        if key in taken or key in _BESIDE_A_NAME or written is None or written in ("", {}, []):
            continue
        if tool is not None and key in tool.properties:
            yield key, {key: written}
        elif key in ARGUMENT_KEYS and not _defines(key, written, tool):
            found, _, _ = arguments_of(written)
            yield key, written if found is None else found


def _taken(place: dict[str, Any], inner: dict[str, Any], named: str, key: str) -> tuple[str, ...]:
    """The keys of an object under which the name, the arguments and the object that holds them stand."""
    return (named, key, *(nest for nest, held in place.items() if held is inner))


def _merged(arguments: dict[str, Any], more: Iterable[tuple[str, Any]]) -> tuple[dict[str, Any], list[Repair]]:
    """The arguments with what stands beside them, where that is no other value of one of them. Which of both was meant nobody
    knows, so either is a guess."""
    repairs: list[Repair] = []
    for path, found in more:
        if not is_object(found) or any(key in arguments and arguments[key] != value for key, value in found.items()):
            repairs.append(Repair(kind="arguments_dropped", path=path, before=found, after=None, safety="guess"))
        elif found.keys() - arguments.keys():
            arguments = {**arguments, **found}
            repairs.append(Repair(kind="arguments_merged", path=path, after=found, safety="guess"))
        else:
            repairs.append(Repair(kind="arguments_repeated", path=path, before=found))
    return arguments, repairs


def call_object(value: Any, tools: ToolSet | None = None) -> CallObject | None:
    """Read one call object, or None when it has no name (or is a tool's definition)."""
    if not is_object(value):
        return None
    outer = value
    inner = outer
    for key in ("params",) if outer.get("method") == "tools/call" else _INNER_KEYS:  # MCP's JSON-RPC
        if is_object(nested := outer.get(key)):
            inner = nested
            break
    named = _named(inner, tools)
    if named is None:
        return None
    name: str = inner[named]
    if named == "recipient_name" and (bare := name.removeprefix("functions.")).strip():
        name = bare
    holder = inner if inner is outer or any(key in inner for key in ARGUMENT_KEYS) else outer
    tool = tools.get(peel(name, tools) or name) if tools is not None else None
    key = _arguments_key(holder, tool)
    written = holder.get(key)
    if _defines(key, written, tool):
        return None
    arguments, given, repairs = arguments_of(written)
    if not key and (beside := _beside(inner, named, tool)) is not None:
        arguments, given, repairs = beside, True, [Repair(kind="flat_arguments", after=beside, safety="coerced")]
    elif not key and (other := next(_renamed(inner if inner is outer else {**outer, **inner}, tool), "")):
        arguments, given = (inner if other in inner else outer)[other], True
        repairs = [
            Repair(
                kind="arguments_renamed",
                before=other,
                after=ARGUMENT_KEYS[0],
                safety="coerced" if other in _CLEAR_KEYS else "guess",
            )
        ]
    elif key and (arguments is not None or not given):
        places = (holder,) if holder is outer else (inner, outer)
        more = [found for place in places for found in _more_arguments(place, _taken(place, inner, named, key), tool)]
        if more:
            arguments, added = _merged(arguments or {}, more)
            given, repairs = True, [*repairs, *added]
    if (other := _other_name(inner, named, tool, tools)) != "":
        repairs = [*repairs, Repair(kind="names_disagree", before=other, after=name, safety="guess")]
    identity = next((outer[key] for key in ID_KEYS if isinstance(outer.get(key), str)), "")
    return CallObject(name, arguments, given, identity, repairs)


def _called_with_nothing(calls: list[CallObject], entries: Any, tools: ToolSet | None) -> None:
    """What an envelope gives by its name alone is called without arguments, if the tool requires none."""
    if not is_list(entries) or len(entries) != len(calls):
        return
    for call, entry in zip(calls, entries, strict=True):
        if (
            not call.given
            and (given := no_arguments(call.name, tools)) is not None
            and is_named_only(entry, NAME_KEYS, _INNER_KEYS)
        ):
            call.arguments, call.given = given, True


def _all(values: list[Any], read: Callable[[Any], CallObject | None]) -> list[CallObject] | None:
    calls = [read(value) for value in values]
    found = [call for call in calls if call is not None]
    return found if len(found) == len(calls) else None


def _flat(value: Any, tools: ToolSet | None) -> CallObject | None:
    """An envelope's call, also with flat arguments and the name under `type`."""
    call = call_object(value, tools)
    if call is not None and (call.given or tools is None or is_known(call.name, tools)):
        return call
    if is_object(value):
        fields = dict(value)
        name, identity = fields.pop("type", None), fields.pop("id", "")
        if isinstance(name, str) and name != "function":
            return CallObject(name, fields, True, identity if isinstance(identity, str) else "")
    return call


def _envelope(value: dict[str, Any], tools: ToolSet | None) -> Message | None:
    """The project's own envelope: `toolCalls` beside `content` or `needsMoreWork`, camelCase or snake_case.

    Where only one of them is there, `toolCalls` must hold a call of a known tool.
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
    if is_about_the_message(value, "toolCalls", (*_ENVELOPE_KEYS, "tool_calls", *BESIDE_CALLS)):
        _called_with_nothing(calls, written, tools)
    if (unread and not calls and not _may_call(written)) or not (companions or any(is_known(call.name, tools) for call in calls)):
        return None
    said, repairs = said_in(content)
    more = needs if isinstance(needs, bool) else None
    return Message(calls, "llmcore_envelope", said, more, certain=companions, unread=unread, repairs=repairs)


def _may_call(written: Any) -> bool:
    """May what cannot be read as calls be meant as such? A number or a flag is data of somebody's own."""
    return (
        isinstance(written, str) or is_object(written) or (is_list(written) and any(not isinstance(one, int) for one in written))
    )


def _enveloped(written: Any, tools: ToolSet | None) -> tuple[list[CallObject], int]:
    """(calls, how many entries are none) of what stands under `toolCalls`: a list, one call in place of the list, calls by their
    names or by numbers, or one of them as JSON text."""
    if isinstance(written, str) and written.strip():
        parsed = read_json(written)
        written = parsed.values[0] if len(parsed.values) == 1 and not written[parsed.end :].strip() else written
    if is_object(written) and call_object(written, tools) is None:
        values = list(written.values())
        numbered = bool(values) and all(call_object(value, tools) is not None for value in values)
        written = values if numbered else [{name: given} for name, given in written.items()]
    if written is None or (isinstance(written, str) and (not written.strip() or written.strip() in _NO_CALL_NAMES)):
        return [], 0
    entries: list[Any] = written if is_list(written) else [written]
    calls = [call for entry in entries if (call := _entry(entry, tools)) is not None]
    return calls, len(entries) - len(calls)


def _entry(value: Any, tools: ToolSet | None) -> CallObject | None:
    """One call of an envelope. Its place says that it is one: an object under one key is the arguments of what the key names."""
    if (call := _single_key(value, tools) or _flat(value, tools)) is not None:
        return call
    if is_object(value) and len(value) == 1 and all(is_object(given) for given in value.values()):
        return _keyed(value)
    return None


def _single_key(value: Any, tools: ToolSet | None) -> CallObject | None:
    if tools is not None and is_object(value) and len(value) == 1:
        ((name, arguments),) = value.items()
        tool = tools.get(peel(name, tools) or name)
        defines = is_definition(arguments, tool is not None and "properties" in tool.properties)
        if is_known(name, tools) and is_object(arguments) and not defines:
            return CallObject(name, arguments, True)
    return None


def _keyed(value: Any) -> CallObject | None:
    """One key a call, the key is the name (Apertus)."""
    if is_object(value) and len(value) == 1:
        ((name, written),) = value.items()
        if not name.strip():
            return None
        arguments, given, repairs = arguments_of(written)
        return CallObject(name, arguments, given, "", repairs)
    return None


def _object(value: dict[str, Any], tools: ToolSet | None) -> Message | None:
    if (message := _envelope(value, tools)) is not None:
        return message
    if len(value) == 1 and is_object(only := next(iter(value.values()))) and "toolCalls" in only:
        return _envelope(only, tools)
    if value.keys() == {"content"} and (call := call_object(value["content"], tools)) is not None and call.given:
        return Message([call], "llmcore_envelope") if is_known(call.name, tools) else None
    if is_list(choices := value.get("choices")) and choices and is_object(choices[0]):
        inner = choices[0].get("message")
        if is_object(inner):
            value = inner
    for key, form in _LIST_KEYS.items():
        listed: Any = list[Any]() if lists_nothing(value, key) else value.get(key)
        if is_object(listed) and key != "calls":  # one call in place of the list, or calls by their names
            one = call_object(listed, tools)
            listed = [listed] if one is not None else [{name: given} for name, given in listed.items()]
        if is_list(listed):
            calls = _all(listed, lambda item: call_object(item, tools) or _single_key(item, tools))
            answer = answer_beside(value, key, alone=not calls)
            if calls is None or answer is None:
                return None
            if is_about_the_message(value, key, BESIDE_CALLS):
                _called_with_nothing(calls, listed, tools)
            form, calls = "pasted_wire" if "role" in value else form, [*calls, *_listed_beside(value, key, calls, tools)]
            return Message(calls, form, answer[0], certain=True, repairs=answer[1])
    for key in _ACTION_LISTS:
        if is_list(listed := value.get(key)) and listed:
            calls = _all(listed, lambda item: _single_key(item, tools) or call_object(item, tools))
            if calls is not None and any(is_known(call.name, tools) for call in calls):
                return Message(calls, "tool_calls_key")
    if tools and (said := answer_for_call(value, NAME_KEYS, ARGUMENT_KEYS)) is not None and _calls_nothing(value, tools):
        return Message([], content=said)
    for key in _PASTED_LISTS:
        if is_list(blocks := value.get(key)) and (message := _pasted(objects_in(blocks), tools)) is not None:
            return message
    return _one(value, tools)


def _listed_beside(value: dict[str, Any], taken: str, calls: list[CallObject], tools: ToolSet | None) -> list[CallObject]:
    """Calls that stand under a second key for them, those apart that the first one has as well."""
    found: list[CallObject] = []
    for key in (*_LIST_KEYS, "function_call", "tool_call"):
        held = value.get(key)
        if key == taken or not (is_list(held) or is_object(held)):
            continue
        more = [call_object(entry, tools) for entry in (held if is_list(held) else [held])]
        if more and all(call is not None and call.given for call in more):
            found += [call for call in more if call is not None and not any(_says_the_same(call, one) for one in calls)]
    return found


def _says_the_same(call: CallObject, other: CallObject) -> bool:
    return call.name == other.name and call.arguments == other.arguments


def _calls_nothing(value: dict[str, Any], tools: ToolSet) -> bool:
    """Is no name in it that of a tool?"""
    return not any(is_known(name, tools) for key in NAME_KEYS if isinstance(name := value.get(key), str))


def _pasted(blocks: list[dict[str, Any]], tools: ToolSet | None) -> Message | None:
    """A message in blocks, some of which are calls."""
    called = [block for block in blocks if block.get("type") == "tool_use" or "functionCall" in block or "toolUse" in block]
    calls = _all(called, lambda block: call_object(block, tools))
    said = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    return Message(calls, "pasted_wire", said, certain=True) if calls else None


def _one(value: dict[str, Any], tools: ToolSet | None) -> Message | None:
    """An object that is one call, perhaps under a key that says so."""
    for key in ("functionCall", "function_call", "tool_call", "tool_use", "toolUse"):
        if is_object(value.get(key)):
            call = call_object(value, tools) or _single_key(value[key], tools)
            form = _INNER_KEYS[key]
            if call is not None and is_about_the_message(value, key, BESIDE_CALLS):
                _called_with_nothing([call], [value[key]], tools)
            return None if call is None else Message([call], form, certain=form == "pasted_wire")
    call = call_object(value, tools)
    if call is not None and call.name == PARALLEL and not is_known(PARALLEL, tools) and is_object(call.arguments):
        return _object(call.arguments, tools) if is_list(call.arguments.get("tool_uses")) else None
    if call is not None and value.get("type") == "tool_use" and is_object(value.get("input")):
        return Message([call], "pasted_wire", certain=True)
    if call is not None and (call.given or is_known(call.name, tools) or is_no_call(call.name, tools)):
        tool = tools.get(peel(call.name, tools) or call.name) if tools is not None else None
        said = answer_of_call(value, tool.properties) if call.given and tool is not None else None
        return Message([call], "tool_call_key" if "tool_call" in value else "bare_json", said)
    call = _single_key(value, tools)
    return None if call is None else Message([call], "single_key")


def _by_names(items: list[Any], unfolded: list[Message | None]) -> Message:
    """A list of objects, one of which has the name of a tool for its only key: so have the others, of tools that are not known.
    What cannot be read so is counted."""
    named = [
        Message([call]) if message is None and (call := _keyed(item)) is not None and call.arguments is not None else message
        for item, message in zip(items, unfolded, strict=True)
    ]
    calls = [call for message in named if message is not None for call in message.calls]
    return Message(calls, "single_key", unread=named.count(None))


def calls_of(value: Any, tools: ToolSet | None, *, keyed: bool = False) -> Message | None:
    """What a JSON value says as a message, or None when it is data. `keyed`: each object has one key, the name."""
    if is_list(value):
        items = value
        if len(items) > 1 and all(is_list(item) and item for item in items):  # lists of calls in a list
            items = [entry for item in items for entry in item]
        if keyed:
            calls = _all(items, _keyed)
        else:
            unfolded = [_object(item, tools) if is_object(item) else None for item in items]
            if any(message is not None and message.form == "single_key" for message in unfolded):
                return _by_names(items, unfolded)
            messages = [message for message in unfolded if message is not None]
            if len(items) == 1 and messages and messages[0].form == "llmcore_envelope":
                return messages[0]
            calls = None if len(messages) < len(items) else [call for message in messages for call in message.calls]
            said = [message.content for message in messages if message.content]
            return None if calls is None else Message(calls, "bare_array", "\n\n".join(said) or None)
        return None if calls is None else Message(calls, "bare_array")
    if is_object(value):
        if keyed and (call := _keyed(value)) is not None:
            return Message([call])
        return _object(value, tools)
    return None


def without_last(value: Any) -> Any:
    """A list of calls without its last item, which was cut off; None when the value is no such list."""
    if is_list(value):
        return value[:-1] or None
    if is_object(value):
        for key in (*_LIST_KEYS, *_ACTION_LISTS, "toolCalls"):
            if is_list(listed := value.get(key)) and len(listed) > 1:
                return {**value, key: listed[:-1]}
    return None


def is_no_call(name: str, tools: ToolSet | None) -> bool:
    """Is it a name by which a model says that it calls nothing (unless a tool is called so)?"""
    return name in _NO_CALL_NAMES and not is_known(name, tools)
