"""JSON call objects: the many spellings of "name and arguments".

An object has its name under `name` (or `tool_name`, `tool`, `function`, ...). Its arguments stand under `arguments` (or
`parameters`, `args`, `params`, `input`, ...) or beside the name. Both may be nested under `function`. `call_messages` has the
shapes of whole messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer.core.names import is_known, peel
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, ID_KEYS
from llmcore.support.values.narrowing import is_list, is_object, objects_in
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = [
    "BESIDE_CALLS",
    "CALL_KEYS",
    "ENVELOPE_KEYS",
    "FORM_OF_LIST",
    "INNER_KEYS",
    "LIST_KEYS",
    "NAME_KEYS",
    "CallObject",
    "arguments_of",
    "call_object",
    "declares",
    "default_arguments",
    "echoes_tool",
    "is_definition",
    "names_disagree",
    "other_name",
]

NAME_KEYS = (
    *("name", "tool_name", "function", "tool", "tool_call", "recipient_name", "function_name", "action", "$type"),
    *("toolName", "functionName", "func", "method", "command"),
)
FORM_OF_LIST = {
    "tool_calls": "tool_calls_key",
    "tool_uses": "multi_tool_use",
    "function_calls": "tool_calls_key",
    "calls": "tool_calls_key",
}
LIST_KEYS = ("toolCalls", *FORM_OF_LIST)
"""Keys whose value lists calls."""
INNER_KEYS = {
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
"""Keys that data has, too, except `_CLEAR_KEYS`. They hold arguments only if all keys in them are the tool's."""
_BESIDE_A_NAME = frozenset((*ID_KEYS, "type"))
_ENCODINGS = 2  # levels of a string in a string
ENVELOPE_KEYS = ("toolCalls", "needsMoreWork", "needs_more_work")

BESIDE_CALLS = (
    *("type", "index", "role", "choices", "response", "content", "parts", "jsonrpc", "kind"),
    *("actions", "current_state", "evaluation_previous_goal", "memory", "next_goal"),
    *("thought", "thoughts", "thinking", "reasoning", "rationale", "explanation", "analysis", "plan"),
)
"""Keys that may stand in a call object before its name and arguments."""
CALL_KEYS = frozenset(
    (
        *(*NAME_KEYS, *ARGUMENT_KEYS, *ID_KEYS, *FORM_OF_LIST, *INNER_KEYS, *ENVELOPE_KEYS),
        *BESIDE_CALLS,
    )
)
"""Keys with which a call object begins."""


@dataclass(slots=True)
class CallObject:
    """One call of an object. `given`: it has an arguments key. `arguments` is None if they are no object.

    `beside`: the content that stands beside it.
    """

    name: str
    arguments: dict[str, Any] | None
    given: bool
    id: str = ""
    repairs: list[Repair] = field(default_factory=list[Repair])
    raw: str | None = None
    beside: str = ""


def is_definition(arguments: Any, has_properties: bool) -> bool:
    """Whether the arguments are a JSON Schema: an echo of a tool's definition."""
    if has_properties or not is_object(arguments):
        return False
    schema = arguments
    return schema.get("type") == "object" and is_object(schema.get("properties"))


_SCHEMA_WORDS = frozenset(
    (
        "type",
        "properties",
        "required",
        "additionalProperties",
        "$schema",
        "title",
        "description",
        "$defs",
        "definitions",
        "strict",
    )
)
_SCHEMA_KEYS = ("input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
"""Keys under which a definition has its schema. No call has its arguments there."""


def _is_schema(value: Any, parameters: Collection[str]) -> bool:
    """Whether it is the schema of a tool's arguments, and no argument of a tool with these `parameters`."""
    if not is_object(value) or not value or not _SCHEMA_WORDS.issuperset(value) or not value.keys().isdisjoint(parameters):
        return False
    return value.get("type") == "object" or is_object(value.get("properties"))


def declares(holder: dict[str, Any], parameters: Collection[str]) -> bool:
    """Whether it is a tool's definition, as in a request: it has a `description` or a schema, and no arguments.

    `parameters` are those of the tool that it names. A key that is one of them is an argument.
    """
    schema = holder.get("parameters") if "parameters" not in parameters else None
    if any(holder.get(key) not in (None, "") for key in ARGUMENT_KEYS if key != "parameters"):
        return False
    described = isinstance(holder.get("description"), str) and "description" not in parameters
    described = described or any(key in holder and key not in parameters for key in _SCHEMA_KEYS)
    return _is_schema(schema, parameters) or (described and not schema)


def echoes_tool(written: Any, tool: CompiledTool | None) -> bool:
    """Whether the value under a tool's name is the tool's definition, as in a list of the offered tools.

    A key that is one of the tool's parameters is an argument. If the tool is unknown, a description alone may be one, too.
    """
    parameters = () if tool is None else tool.properties
    if not is_object(written) or not (written.keys() - {"type"}).isdisjoint(parameters):
        return False
    if is_definition(written, "properties" in parameters):
        return True
    has_schema = not written.keys().isdisjoint(("parameters", *_SCHEMA_KEYS))
    return "type" not in {*written} & {*parameters} and declares(written, parameters) and (tool is not None or has_schema)


def default_arguments(name: str, tools: ToolSet | None) -> dict[str, Any] | None:
    """The arguments of a call without arguments: `{}` if the tool requires none, else None."""
    tool = tools.get(peel(name, tools) or name) if tools is not None else None
    return {} if tool is not None and not tool.required else None


def arguments_of(value: Any, *, limits: Limits = DEFAULT_LIMITS) -> tuple[dict[str, Any] | None, bool, list[Repair]]:
    """(arguments, given, repairs) of the value under an arguments key.

    The value is an object, an object in a list, a list of name and value pairs, or a string of one of these, encoded once or
    twice.
    """
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
    """The arguments in a list: `[{...}]`, or `[{"name": ..., "value": ...}, ...]`."""
    if not is_list(value):
        return None
    items = objects_in(value)
    if not items or len(items) < len(value):
        return None
    if all(item.keys() == {"name", "value"} and isinstance(item["name"], str) for item in items):
        return {item["name"]: item["value"] for item in items}
    return items[0] if len(items) == 1 else None


def _named(holder: dict[str, Any], tools: ToolSet | None) -> str | None:
    """The key of the name. If several keys may have it, the one with a tool's name before the arguments."""
    keys = [key for key in NAME_KEYS if isinstance(holder.get(key), str) and holder[key].strip()]
    if len(keys) > 1 and tools is not None and not is_known(holder[keys[0]], tools):
        written = list(holder)
        first = min((written.index(key) for key in ARGUMENT_KEYS if key in holder), default=len(written))
        return next((key for key in keys if written.index(key) < first and is_known(holder[key], tools)), keys[0])
    return keys[0] if keys else None


def _named_unusually(holder: dict[str, Any], tools: ToolSet | None) -> str | None:
    """The key, none of `NAME_KEYS`, whose value is a tool's name beside an object of arguments. None if not exactly one is."""
    if tools is None or not any(is_object(holder.get(key)) for key in ARGUMENT_KEYS):
        return None
    keys = [key for key, name in holder.items() if isinstance(name, str) and is_known(name, tools)]
    return keys[0] if len(keys) == 1 and keys[0] not in _BESIDE_A_NAME else None


def _defines(key: str, written: Any, tool: CompiledTool | None) -> bool:
    """Whether the value under this key is the schema of a tool's arguments."""
    return key == "parameters" and is_definition(written, tool is not None and "properties" in tool.properties)


def _arguments_key(holder: dict[str, Any], tool: CompiledTool | None) -> str:
    """The key of the arguments, "" if there is none.

    Of several keys, it is the first one with an object that is no definition, because a preview has emitted that one. If there
    is no such object, it is the most common key.
    """
    keys = [key for key in holder if key in ARGUMENT_KEYS]
    objects = (key for key in keys if is_object(holder[key]) and not _defines(key, holder[key], tool))
    return next(objects, None) or min(keys, key=ARGUMENT_KEYS.index, default="")


def _beside(holder: dict[str, Any], named: str, tool: CompiledTool | None) -> dict[str, Any] | None:
    """The arguments that stand beside the name. None if there are none, or if any key is no parameter of the tool."""
    if tool is None:
        return None
    found = {key: value for key, value in holder.items() if key != named and key not in _BESIDE_A_NAME}
    return found if found and found.keys() <= tool.properties.keys() else None


def _renamed(holder: dict[str, Any], tool: CompiledTool | None) -> Iterator[str]:
    """The unusual keys whose value has only, and all, arguments of the tool."""
    if tool is None:
        return
    for key in _UNUSUAL_KEYS:
        held = holder.get(key)
        if is_object(held) and held and key not in tool.properties and tool.required <= held.keys() <= tool.properties.keys():
            yield key


def other_name(holder: dict[str, Any], name: str, parameters: Collection[str], tools: ToolSet | None) -> str:
    """The name of another tool than `name` under a key for names that is none of the `parameters`. "" if there is none."""
    for key in NAME_KEYS:
        other = holder.get(key)
        if not isinstance(other, str) or key in parameters:
            continue
        if is_known(other, tools) and peel(other, tools) != peel(name, tools):
            return other
    return ""


def names_disagree(before: str, after: str) -> Repair:
    """The repair of an object with two names. Neither is more likely than the other."""
    return Repair(kind="names_disagree", before=before, after=after, safety="guess")


def _more_arguments(holder: dict[str, Any], taken: tuple[str, ...], tool: CompiledTool | None) -> Iterator[tuple[str, Any]]:
    """(key, value) of further arguments in an object: a parameter of the tool as an object, or another arguments key."""
    for key, written in holder.items():
        if key in taken or key in _BESIDE_A_NAME or written is None or written in ("", {}, []):
            continue
        if tool is not None and key in tool.properties:
            yield key, {key: written}
        elif key in ARGUMENT_KEYS and not _defines(key, written, tool):
            found, _, _ = arguments_of(written)
            yield key, written if found is None else found


def _keys_of_call(place: dict[str, Any], inner: dict[str, Any], named: str, key: str) -> tuple[str, ...]:
    """The keys of an object that hold the name, the arguments, and the object with both."""
    return (named, key, *(nest for nest, held in place.items() if held is inner))


def _merged(arguments: dict[str, Any], more: Iterable[tuple[str, Any]]) -> tuple[dict[str, Any], list[Repair]]:
    """The arguments merged with the further ones, as guesses. Further ones with another value for a key are dropped."""
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
    """The call object of a value. None if it has no name, or if it is a tool's definition."""
    if not is_object(value):
        return None
    outer = value
    inner = outer
    for key in ("params",) if outer.get("method") == "tools/call" else INNER_KEYS:  # MCP's JSON-RPC
        if is_object(nested := outer.get(key)):
            inner = nested
            break
    named = _named(inner, tools) or _named_unusually(inner, tools)
    if named is None:
        return None
    name: str = inner[named]
    if named == "recipient_name" and (bare := name.removeprefix("functions.")).strip():
        name = bare
    holder = inner if inner is outer or any(key in inner for key in ARGUMENT_KEYS) else outer
    tool = tools.get(peel(name, tools) or name) if tools is not None else None
    key = _arguments_key(holder, tool)
    written = holder.get(key)
    properties = () if tool is None else tool.properties
    if _defines(key, written, tool) or declares(inner, properties) or (holder is not inner and declares(holder, properties)):
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
        more = [found for place in places for found in _more_arguments(place, _keys_of_call(place, inner, named, key), tool)]
        if more:
            arguments, added = _merged(arguments or {}, more)
            given, repairs = True, [*repairs, *added]
    own = set(properties) - {named}
    if (other := other_name(inner, name, own, tools) or other_name(outer, name, own, tools)) != "":
        repairs = [*repairs, names_disagree(other, name)]
    if named not in NAME_KEYS:
        repairs = [*repairs, Repair(kind="name_key", before=named, after="name", safety="guess")]
    identity = next((outer[key] for key in ID_KEYS if isinstance(outer.get(key), str)), "")
    return CallObject(name, arguments, given, identity, repairs)
