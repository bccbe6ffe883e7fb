"""Reads from a recorded request what judging its reply needs: the offered tools, a forced choice, the model.

Reads the bodies of every wire (OpenAI chat and Responses, Anthropic, Gemini, Bedrock, Cohere, Ollama) and llmcore's
own requests, bare or inside a recorded HTTP request (`body`, `json`). Rules: tools that the provider runs are omitted,
and so is what is not recognised. Nothing raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object, object_in

__all__ = ["RequestFacts", "facts_of", "function_tools"]

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """`tools` None = the request names no tools; its prompt may. `forced`: a call was required. `forced_tool`: the tool
    that had to be called."""

    tools: list[Any] | None = None
    forced: bool = False
    forced_tool: str | None = None
    model: str = ""
    stream: bool = False


def facts_of(request: Any) -> RequestFacts:
    """The facts of one recorded request. An unknown form gives no facts."""
    body = _body(request)
    tool_config = _object(body, "toolConfig", "tool_config")
    offered = _first(body, "tools", "functions") or _first(tool_config, "tools")
    choice = _first(body, "tool_choice", "toolChoice", "function_call") or _first(tool_config, "toolChoice")
    forced, name = _choice(choice) if choice else _gemini_choice(tool_config)
    model = _first(body, "model", "modelId")
    return RequestFacts(
        tools=list(function_tools(offered)) if is_list(offered) and offered else None,
        forced=forced,
        forced_tool=name,
        model=model if isinstance(model, str) else "",
        stream=body.get("stream") is True,
    )


def function_tools(offered: Iterable[Any]) -> Iterator[Any]:
    """The tools that the caller runs, as a flat list. Gemini nests them, Bedrock mixes in cache points, and others list
    server-side tools."""
    seen: set[str] = set()
    for tool in offered:
        if not is_object(tool):
            yield tool  # an unknown form: compiling the tools reports what is wrong
            continue
        nested = _first(tool, "functionDeclarations", "function_declarations")
        for one in nested if is_list(nested) else [tool]:
            name = _function_name(one)
            if name is not None and name not in seen:
                seen.add(name)
                yield {"name": name} if _takes_free_text(one) else one


def _takes_free_text(tool: Any) -> bool:
    """Is it one of OpenAI's custom tools? It has a name, and no schema of arguments."""
    return object_in(tool).get("type") == "custom" and "input_schema" not in tool


def _function_name(tool: Any) -> str | None:
    """The name of a tool that the request defines; None for a server-side one (`{"type": "web_search"}`,
    `{"googleSearch": {}}`)."""
    definition = object_in(tool)
    kind = definition.get("type")
    if isinstance(kind, str) and kind not in ("function", "custom"):
        return None
    inner = _object(definition, "function", "custom", "toolSpec") or definition
    name = inner.get("name")
    return name if isinstance(name, str) else None


def _body(request: Any) -> JsonObject:
    given = object_in(request)
    return _object(given, "body", "json", "parsed_body") or given


def _choice(choice: Any) -> tuple[bool, str | None]:
    """Whether `tool_choice` requires a call, and of which tool, in any wire's form."""
    if isinstance(choice, str):
        return choice.lower() in ("required", "any"), None
    given = object_in(choice)
    named = _object(given, "function", "tool", "custom") or given
    if isinstance(name := named.get("name"), str):
        return True, name
    return "any" in given or given.get("type") in ("any", "required") or given.get("mode") == "required", None


def _gemini_choice(tool_config: JsonObject) -> tuple[bool, str | None]:
    calling = _object(tool_config, "functionCallingConfig", "function_calling_config")
    if str(calling.get("mode")).upper() != "ANY":
        return False, None
    allowed = _first(calling, "allowedFunctionNames", "allowed_function_names")
    only = allowed[0] if is_list(allowed) and len(allowed) == 1 else None
    return True, only if isinstance(only, str) else None


def _first(mapping: JsonObject, *keys: str) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)


def _object(mapping: JsonObject, *keys: str) -> JsonObject:
    """The first object under one of the keys, else an empty one."""
    for key in keys:
        if is_object(found := mapping.get(key)):
            return found
    return {}
