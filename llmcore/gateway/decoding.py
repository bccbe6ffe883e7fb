"""Requests of the three wires as what a run of an `Orchestrator` takes.

A field that no run has an equivalent for is reported in `dropped`, and never silently lost. Fields of the chat wire that only
servers know (`seed`, `top_k`) go to the server as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llmcore.gateway.wires import ANTHROPIC, CHAT, ClientWire, GatewayError
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import CallerError, Message
from llmcore.wire import anthropic, decode_tools, openai_chat, openai_responses

__all__ = ["ClientRequest", "read_client_request"]

Json = dict[str, Any]
_EFFORTS: Mapping[str, bool | int] = {
    "none": False,
    "minimal": False,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 32_768,
}
"""The budgets of the words of `reasoning_effort`. llmcore turns a budget into the same word where a server takes words."""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A request. `options`: of the run. `free_text`: the names of tools that take one text. `dropped`: what the run does not get.

    `wants_usage`: whether a stream ends with the usage.
    """

    messages: list[Message]
    options: Json
    free_text: frozenset[str]
    streams: bool
    wants_usage: bool
    dropped: list[str] = field(default_factory=list[str])

    @property
    def is_typed(self) -> bool:
        """Whether the reply must fit a schema."""
        return "output_type" in self.options


@dataclass(frozen=True, slots=True)
class _Form:
    """How one wire says it. `names`: the run's option for a field. `ignored`: fields that say nothing here to report.

    `schema`: finds the JSON Schema of the reply. `thinking`: finds the budget of thinking. `passes_on`: whether other fields go
    to the server.
    """

    messages: Callable[[Json], list[Message]]
    names: Mapping[str, str]
    ignored: frozenset[str]
    schema: Callable[[Json], object]
    thinking: Callable[[Json], object]
    passes_on: bool = False


def _effort(word: object) -> object:
    return _EFFORTS.get(word) if isinstance(word, str) else None


def _chat_schema(body: Json) -> object:
    given = object_in(body.get("response_format"))
    if given.get("type") == "json_object":
        return {"type": "object"}
    return object_in(given.get("json_schema")).get("schema")


def _responses_schema(body: Json) -> object:
    given = object_in(object_in(body.get("text")).get("format"))
    return {"type": "object"} if given.get("type") == "json_object" else given.get("schema")


def _anthropic_schema(body: Json) -> object:
    given = body.get("output_format") or object_in(body.get("output_config")).get("format")
    return object_in(given).get("schema")


def _anthropic_thinking(body: Json) -> object:
    given = object_in(body.get("thinking"))
    return given.get("budget_tokens") or given.get("type") in ("enabled", "adaptive")


_SHARED_NAMES = {"temperature": "temperature", "top_p": "top_p"}
_SHARED_FIELDS = frozenset({"model", "stream", "tools", "tool_choice", "parallel_tool_calls"})
_CHAT_FORM = _Form(
    openai_chat.decode_messages,
    {**_SHARED_NAMES, "max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "stop": "stop"},
    _SHARED_FIELDS | {"messages", "stream_options", "response_format", "reasoning_effort", "n"},
    _chat_schema,
    lambda body: _effort(body.get("reasoning_effort")),
    passes_on=True,
)
_RESPONSES_FORM = _Form(
    openai_responses.decode_messages,
    {**_SHARED_NAMES, "max_output_tokens": "max_tokens"},
    _SHARED_FIELDS | {"input", "instructions", "text", "reasoning", "store", "include", "background", "previous_response_id"},
    _responses_schema,
    lambda body: _effort(object_in(body.get("reasoning")).get("effort")),
)
_ANTHROPIC_FORM = _Form(
    anthropic.decode_messages,
    {**_SHARED_NAMES, "max_tokens": "max_tokens", "stop_sequences": "stop"},
    _SHARED_FIELDS | {"messages", "system", "thinking", "output_format", "output_config", "metadata"},
    _anthropic_schema,
    _anthropic_thinking,
)
_FORMS = {CHAT.name: _CHAT_FORM, ANTHROPIC.name: _ANTHROPIC_FORM}


def read_client_request(wire: ClientWire, body: Json) -> ClientRequest:
    """Read a request. Raises `GatewayError` (400) for what is malformed, and for what an orchestrated model cannot do."""
    form = _FORMS.get(wire.name, _RESPONSES_FORM)
    _check_possible(body)
    try:
        messages = form.messages(body)
        tools = decode_tools(body.get("tools"), built_in="drop", free_text="function")
    except CallerError as error:
        raise GatewayError(400, str(error), code="invalid_request") from None
    options: Json = {form.names[name]: value for name, value in body.items() if name in form.names and value is not None}
    offered = list(tools.tools)
    if offered:
        options |= {"tools": offered, **_choice(body)}
    if is_object(schema := form.schema(body)):
        options["output_type"] = schema
    if thinking := form.thinking(body):
        options["thinking"] = thinking
    others = {name: value for name, value in body.items() if name not in form.names and name not in form.ignored}
    if form.passes_on and others:
        options["extra_body"] = others
    dropped = [str(tool.get("type")) for tool in tools.dropped]
    dropped += [] if form.passes_on else [name for name, value in others.items() if value is not None]
    wants_usage = object_in(body.get("stream_options")).get("include_usage") is True or wire is not CHAT
    return ClientRequest(messages, options, tools.free_text, body.get("stream") is True, wants_usage, dropped)


def _check_possible(body: Json) -> None:
    if body.get("n") not in (None, 1):
        raise GatewayError(400, "`n` must be 1: an orchestrated model gives one choice", code="unsupported_value")
    for name in ("previous_response_id", "background", "conversation"):
        if body.get(name):
            raise GatewayError(
                400,
                f"`{name}` is not supported: the gateway stores no responses; send the whole `input`",
                code="unsupported_value",
            )


def _choice(body: Json) -> Json:
    """The options of the tool choice. Anthropic's choice also says whether calls may be parallel."""
    choice = body.get("tool_choice")
    found: Json = {}
    if isinstance(choice, str) or object_in(choice).get("type") in ("auto", "any", "none", "tool", "function", "custom"):
        found["tool_choice"] = choice
    parallel = body.get("parallel_tool_calls")
    if object_in(choice).get("disable_parallel_tool_use") is True:
        parallel = False
    if isinstance(parallel, bool):
        found["parallel_tool_calls"] = parallel
    return found
