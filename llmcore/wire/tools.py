"""`decode_tools`: the tools of a request, on any wire.

A request may have three kinds of tools. A function has a JSON Schema. A free-text tool (`{"type": "custom"}` of OpenAI's wires)
takes one text. A built-in tool (`{"type": "web_search_20250305", ...}`) has neither: its provider runs it, or its model was
trained on it. Only functions can become `ToolDefinition`s as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from llmcore.compiling import compile_tools
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import CallerError, ToolDefinition, ToolSet, definition_of

__all__ = ["FREE_TEXT_PARAMETER", "DecodedTools", "decode_tools"]

FREE_TEXT_PARAMETER = "input"
"""The only parameter of a function that stands for a free-text tool."""
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_FREE_TEXT_SCHEMA = {
    "type": "object",
    "properties": {FREE_TEXT_PARAMETER: {"type": "string"}},
    "required": [FREE_TEXT_PARAMETER],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class DecodedTools:
    """The tools of a request.

    `tools`: the functions, and the free-text tools that became functions. `free_text`: the names of the latter.
    `passed`: the tools that a request to the same API repeats as they are. `dropped`: the tools that are in neither.
    """

    tools: ToolSet
    passed: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    dropped: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    free_text: frozenset[str] = frozenset()


def decode_tools(
    given: object,
    *,
    built_in: Literal["pass", "drop"] = "pass",
    free_text: Literal["pass", "drop", "function"] = "pass",
) -> DecodedTools:
    """Read the `tools` of a request to OpenAI's chat or Responses API, or to Anthropic's messages. None means no tools.

    `built_in`: whether tools that a provider runs go to `passed` or to `dropped`.
    `free_text`: likewise for tools that take one text; `"function"` makes each a function with the parameter `input`.

    Raises `CallerError` for anything but a list of objects, and `ToolDefinitionError` for a function that is none.
    """
    if not is_list(given) and given is not None:
        raise CallerError(f"`tools` must be a list of tools, not {type(given).__name__}")
    definitions: list[ToolDefinition] = []
    result = DecodedTools(ToolSet())
    texts = set[str]()
    for tool in cast("Iterable[object]", given or ()):
        if not is_object(tool):
            raise CallerError(f"`tools` holds a {type(tool).__name__}; each tool is an object")
        kind = _kind_of(tool)
        if kind == "function":
            definitions.append(definition_of(tool))
        elif kind == "free_text" and free_text == "function":
            definitions.append(_as_function(tool))
            texts.add(definitions[-1].name)
        else:
            choice = built_in if kind == "built_in" else free_text
            (result.passed if choice == "pass" else result.dropped).append(tool)
    return DecodedTools(compile_tools(definitions), result.passed, result.dropped, frozenset(texts))


def _kind_of(tool: Mapping[str, Any]) -> Literal["function", "free_text", "built_in"]:
    kind = tool.get("type")
    inner = next((tool[key] for key in ("function", "custom") if is_object(tool.get(key))), tool)
    if any(is_object(inner.get(key)) for key in _SCHEMA_KEYS) or kind == "function":
        return "function"
    return "free_text" if kind == "custom" else "built_in"


def _as_function(tool: Mapping[str, Any]) -> ToolDefinition:
    inner = tool["custom"] if is_object(tool.get("custom")) else tool
    name, description = inner.get("name"), inner.get("description")
    if not isinstance(name, str) or not name:
        raise CallerError("`tools` holds a custom tool without a name")
    return ToolDefinition(
        name=name, description=description if isinstance(description, str) else "", parameters=_FREE_TEXT_SCHEMA
    )
