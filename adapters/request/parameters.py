"""Builds the keyword arguments of `litellm.acompletion` from one resolved call.

This module decides what the output mode sends, what the provider accepts, and what the prompt must describe. LiteLLM is told
not to retry and not to drop parameters. Tools are built anew for each call, since LiteLLM changes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from llmcore.adapters.base import PART_OF_MAX_TOKENS, Capabilities, Endpoint, ModelCall
from llmcore.adapters.providers import Provider, ProviderLimits, is_host_of, provider_of
from llmcore.adapters.request.choices import sent_choice, wanted_choice
from llmcore.adapters.request.conversation.media import check_sendable, left_out_media
from llmcore.adapters.request.conversation.messages import render_messages
from llmcore.adapters.request.conversation.prompting import envelope_schema, instructions
from llmcore.adapters.request.conversation.unsendable import check_has_content, unsendable
from llmcore.adapters.request.names import NameMap
from llmcore.adapters.request.output import OutputPlan, object_schema, output_plan, output_tools
from llmcore.adapters.request.parts import REASONING_AND_TOOLS, joined_parts
from llmcore.adapters.request.schemas import Loss, transform
from llmcore.support.values.media_kinds import MEDIA_KINDS
from llmcore.support.values.narrowing import is_object
from llmcore.types import AuthenticationFailed, JsonSchema, LimitExceeded, ToolDefinition
from llmcore.types.input.headers import check_header_value
from llmcore.types.logs import logger

__all__ = ["DEFAULT_MAX_TOKENS", "Prepared", "base_url", "check_parameter_limits", "is_elsewhere", "is_own_host", "prepare"]

DEFAULT_MAX_TOKENS = 8192
"""Sent if the request has no `max_tokens` and the wire format requires it. LiteLLM would send its table's maximum for
Anthropic, 64000 and more."""
LEAST_MAX_TOKENS = 4096
"""Sent if the default was refused. Every model of a wire format that requires `max_tokens` accepts it."""
NO_KEY = "none"
"""The key for a server that needs none, so that no key from the environment reaches an unknown server."""

_CHARACTERS_PER_TOKEN = 4
_THINKING_TOKENS = 4096
_MIN_THINKING_TOKENS = 1024  # Anthropic's least budget

_NEW_MAX_TOKENS = "max_completion_tokens"
"""OpenAI's newer name of `max_tokens`."""
_WIRES_WITH_BOTH_NAMES = ("openai-chat", None)
"""Wire formats that may accept both names. None stands for a provider that is in no table."""

_log = logger("adapters")


@dataclass
class Prepared:
    """The arguments for LiteLLM, and what is needed to read the reply."""

    arguments: dict[str, Any] = field(repr=False)
    """They contain the key and headers, so they must not be shown."""
    provider: Provider
    names: NameMap
    tools: tuple[ToolDefinition, ...]
    plan: OutputPlan
    dropped: list[str] = field(default_factory=list[str])
    """Parameters of the request that were not sent, since the endpoint does not accept them."""
    losses: dict[str, list[Loss]] = field(default_factory=dict[str, list[Loss]])
    """Constraints that each tool's schema lost in the provider's dialect."""

    streamed: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of a streamed request."""
    own_body: dict[str, Any] = field(default_factory=dict[str, Any])
    """The request's `extra_body`, if the transport adds it unchanged. LiteLLM would read its keys as parameters."""
    known: Capabilities = field(default_factory=Capabilities)
    """The capabilities of the endpoint that were known at this time."""

    def drop(self, name: str) -> None:
        """Record and log that a parameter is not sent."""
        self.dropped.append(name)
        _log.warning("%s does not take %s: it is not sent", self.arguments["model"], name)

    @property
    def sent(self) -> dict[str, Any]:
        """The arguments, with what is added to the body below LiteLLM."""
        return {**self.arguments, "extra_body": self.own_body} if self.own_body else self.arguments

    def replace_with(self, other: Prepared) -> None:
        """Replace this preparation by another one of the same call."""
        vars(self).update(vars(other))

    @property
    def left_out(self) -> list[str]:
        """What of the request was not sent, in words: parameters, and constraints of tool schemas.

        The model reads these constraints in the descriptions, and replies are validated against them.
        """
        lost = (f"{tool}: {loss.keyword} at {loss.path or '/'}" for tool, losses in self.losses.items() for loss in losses)
        return [*self.dropped, *lost]


def prepare(call: ModelCall, capabilities: Capabilities) -> Prepared:
    """Return the arguments for one call.

    Raises `AuthenticationFailed` if a required key is missing, and `LimitExceeded` if the tools exceed a limit.
    """
    provider = provider_of(call.endpoint)
    if "system_place" in capabilities.unsupported_parameters:
        provider = replace(provider, one_system_message=True)
    if "system_message" in capabilities.unsupported_parameters:
        provider = replace(provider, one_system_message=True, takes_system_messages=False)
    if "cache_control" in capabilities.unsupported_parameters:
        provider = replace(provider, prompt_cache=False)
    if "strict" in capabilities.unsupported_parameters:
        provider = replace(provider, strict_tools=False)
    if refused := {name for name in provider.media if getattr(capabilities, MEDIA_KINDS[name].part) is False}:
        provider = replace(provider, media={name: rule for name, rule in provider.media.items() if name not in refused})
    plan = output_plan(call, capabilities)
    tools = output_tools(call, plan)
    native = call.mode == "native_tools"
    names = NameMap((tool.name for tool in tools), provider.names if native else None)
    prepared = Prepared({}, provider, names, tools, plan, known=capabilities)
    taught = instructions(call, tools, plan)
    prepared.arguments |= _connection(call, provider)
    check_sendable(call, provider)
    prepared.arguments["messages"] = messages = render_messages(call, provider, names, taught)
    check_has_content(messages, provider)
    for lost in (*unsendable(call, provider), *left_out_media(call, provider)):
        prepared.drop(lost)
    if call.request.system and not provider.takes_system_messages:
        prepared.drop("place of the system prompt")
    if native:
        for problem in check_parameter_limits(tools, provider, call.enforce_limits):
            _log.warning(problem)
        _add_tools(prepared, call, capabilities)
    _add_format(prepared, call, capabilities)
    _add_sampling(prepared, call, capabilities)
    _add_extras(prepared, call, capabilities)
    _move_to_body(prepared, call)
    prepared.streamed["stream"] = True
    if not _is_left_out(prepared, capabilities, "stream_options"):
        prepared.streamed["stream_options"] = {"include_usage": True}  # otherwise most servers do not count a stream's tokens
    return prepared


# Connection


def _connection(call: ModelCall, provider: Provider) -> dict[str, Any]:
    endpoint = call.endpoint
    url = base_url(endpoint, provider)
    return {
        "model": provider.routed(endpoint.model),
        "api_base": url,
        "api_key": _api_key(endpoint, provider),
        "timeout": max(call.timeout, call.first_token_timeout or 0),  # the adapter enforces the shorter one
        "num_retries": 0,  # `fallback` retries
        "max_retries": 0,
    }


def base_url(endpoint: Endpoint, provider: Provider) -> str | None:
    """Return the endpoint's base URL for LiteLLM: `http://host` gets the provider's usual path. A path that LiteLLM appends
    itself is removed. Any other path stays."""
    if not endpoint.base_url:
        return None
    url = endpoint.base_url.rstrip("/")
    if provider.appended_path:
        url = url.removesuffix(provider.appended_path)
    return url if urlsplit(url).path else url + provider.default_path


def _api_key(endpoint: Endpoint, provider: Provider) -> str | None:
    if endpoint.api_key is not None:
        return endpoint.api_key.get_secret_value()
    if is_elsewhere(endpoint, provider) and (provider.sends_token or os.environ.get(provider.token_variable)):
        what = provider.token_variable or "the token of this machine's sign-in"
        raise AuthenticationFailed(
            f"{endpoint.alias or endpoint.model}: {what} is only sent to {provider.name}'s own hosts, so nothing was sent to "
            f"{endpoint.shown_url}; give the `api_key` of that server"
        )
    if provider.needs_package:
        return None  # its package signs in
    if provider.name == "ollama" or is_elsewhere(endpoint, provider):
        return NO_KEY
    variable = provider.api_key_variable
    if variable is None:
        return None  # LiteLLM finds the key
    key = os.environ.get(variable)
    if not key:
        raise AuthenticationFailed(
            f"no API key for {endpoint.alias or endpoint.model}: set the variable {variable}, or give `api_key`"
        )
    check_header_value(f"the variable {variable}", key)
    return key


def is_elsewhere(endpoint: Endpoint, provider: Provider) -> bool:
    """Return whether the endpoint has a base URL that is not the provider's own."""
    return bool(endpoint.base_url) and not is_own_host(endpoint.base_url or "", provider)


def is_own_host(url: str, provider: Provider) -> bool:
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    return parts.scheme == "https" and any(is_host_of(host, domain) for domain in provider.hosts)


# Tools


def _add_tools(prepared: Prepared, call: ModelCall, capabilities: Capabilities) -> None:
    choice = call.request.tool_choice
    offered = prepared.tools
    if is_object(choice) and capabilities.tool_choice_named is False:
        offered = tuple(tool for tool in offered if tool.name == choice["name"]) or offered
    if choice == "none" and prepared.plan != "tool" and _is_left_out(prepared, capabilities, "tool_choice"):
        offered = ()  # the wire format has no other way to forbid calls
    if not offered:
        _declare_called_tools(prepared, call, capabilities)
        return
    prepared.arguments["tools"] = [_tool(prepared, tool) for tool in offered]
    wanted = _tool_choice(prepared, call, capabilities)
    if wanted is not None:
        prepared.arguments["tool_choice"] = wanted
    elif choice != "auto":
        prepared.drop("tool_choice")
    parallel = call.request.parallel_tool_calls
    if parallel is not None:
        _put(prepared, capabilities, "parallel_tool_calls", parallel)


def _declare_called_tools(prepared: Prepared, call: ModelCall, capabilities: Capabilities) -> None:
    """Declare the tools of the history's calls, if the wire format demands it, without allowing calls.

    Tools that are not offered are declared by name alone.
    """
    called = dict.fromkeys(block.name for message in call.request.messages for block in message.tool_uses)
    if not called or not prepared.provider.declares_called_tools:
        return
    known = {tool.name: tool for tool in prepared.tools}
    tools = [known.get(name) or ToolDefinition(name=name, parameters={"type": "object"}) for name in called]
    prepared.arguments["tools"] = [_tool(prepared, tool) for tool in tools]
    if not _is_left_out(prepared, capabilities, "tool_choice"):
        prepared.arguments["tool_choice"] = "none"


def _tool(prepared: Prepared, tool: ToolDefinition) -> dict[str, Any]:
    """A tool in the provider's schema dialect; in the strict one if `strict` is requested and accepted."""
    provider = prepared.provider
    schema = tool.parameters if "type" in tool.parameters else {"type": "object"} | tool.parameters
    strict = tool.strict is True and _takes_strict(prepared)
    parameters = transform(schema, _strict_dialect(provider) if strict else provider.schema_dialect)
    if parameters.losses:
        prepared.losses[tool.name] = parameters.losses
    function: dict[str, Any] = {
        "name": prepared.names.sent(tool.name),
        "description": tool.description,
        "parameters": parameters.schema,
    }
    if strict:
        function["strict"] = True
    elif tool.strict and "strict" not in prepared.dropped:
        prepared.drop("strict")
    marked = tool.cache_control is not None and provider.prompt_cache
    mark = {"cache_control": tool.cache_control.model_dump(exclude_none=True)} if marked and tool.cache_control else {}
    return {"type": "function", "function": function, **mark}


def _takes_strict(prepared: Prepared) -> bool:
    """Whether strict tools are accepted. If LiteLLM knows which models accept a schema, only those do."""
    provider = prepared.provider
    return provider.strict_tools and not (provider.schema_flag and prepared.known.json_schema is False)


def _strict_dialect(provider: Provider) -> str:
    return "anthropic_strict" if provider.schema_dialect.startswith("anthropic") else "openai_strict"


def _tool_choice(prepared: Prepared, call: ModelCall, capabilities: Capabilities) -> Any:
    """The choice in the wire format; None for auto. The run enforces what the endpoint cannot express."""
    choice = sent_choice(call, capabilities, prepared.plan)
    if is_object(choice):
        return {"type": "function", "function": {"name": prepared.names.sent(choice["name"])}}
    return choice


# Format


def _add_format(prepared: Prepared, call: ModelCall, capabilities: Capabilities) -> None:
    if call.mode == "json_object":
        if capabilities.json_object is not False:
            prepared.arguments["response_format"] = {"type": "json_object"}
    elif prepared.plan == "format" and call.output_schema is not None:
        prepared.arguments["response_format"] = _json_schema(prepared, "final_output", object_schema(call.output_schema))
    elif call.mode == "json_schema":
        choice = wanted_choice(call, prepared.plan)
        offered = () if choice == "none" else prepared.tools
        single = call.request.parallel_tool_calls is False or capabilities.parallel_tools is False
        schema = envelope_schema(offered, choice, single=single)
        prepared.arguments["response_format"] = _json_schema(prepared, "envelope", schema)


def _json_schema(prepared: Prepared, name: str, schema: JsonSchema) -> dict[str, Any]:
    """A response format with a schema. It is strict if the provider's strict dialect loses nothing."""
    dialect = prepared.provider.output_dialect
    found = transform(schema, dialect)
    strict = found.lossless and dialect == "openai_strict" and "strict" not in prepared.known.unsupported_parameters
    if dialect == "openai_strict" and not strict:
        found = transform(schema, "json_schema")
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": found.schema, **({"strict": True} if strict else {})},
    }


# Sampling and the rest


def _is_left_out(prepared: Prepared, capabilities: Capabilities, name: str) -> bool:
    return name in prepared.provider.dropped or name in capabilities.unsupported_parameters


def _put(prepared: Prepared, capabilities: Capabilities, name: str, value: Any) -> None:
    """Send a parameter, unless the endpoint is known to refuse it. Then it is recorded and logged."""
    if _is_left_out(prepared, capabilities, name):
        prepared.drop(name)
    else:
        prepared.arguments[name] = value


def _add_sampling(prepared: Prepared, call: ModelCall, capabilities: Capabilities) -> None:
    request, refused_names = call.request, capabilities.unsupported_parameters
    refused = "thinking" in refused_names or capabilities.reasoning is False or not _may_think(prepared)
    budget = 0 if refused else _thinking_budget(call, prepared.provider)
    thinks = prepared.provider.thinking == "anthropic" and budget > 0
    ranges = {name: bounds for name, *bounds in prepared.provider.sampling_while_thinking} if thinks else {}
    for name in ("temperature", "top_p", "stop"):
        value = getattr(request, name)
        out_of_range = name in ranges and value is not None and not ranges[name][0] <= value <= ranges[name][1]
        if out_of_range:
            prepared.drop(name)
        elif value is not None and value != []:
            _put(prepared, capabilities, name, value)
    if budget and budget != request.thinking and request.thinking is not True:
        prepared.drop("thinking budget")  # below the minimum, or too large for the caller's `max_tokens`
    if not request.thinking and "thinking" in request.model_fields_set and _thinks_by_default(prepared.provider, capabilities):
        prepared.drop("thinking")
    if (most := _max_tokens(call, prepared.provider, capabilities, budget)) is not None:
        if most < (call.request.max_tokens or 0):
            prepared.drop(PART_OF_MAX_TOKENS)
        _put_max_tokens(prepared, capabilities, most)
    if call.request.thinking:
        _add_thinking(prepared, call, capabilities, budget)


def _put_max_tokens(prepared: Prepared, capabilities: Capabilities, most: int) -> None:
    """Send `max_tokens`; under OpenAI's newer name if the older one is refused and the wire format may accept both."""
    names = ("max_tokens", _NEW_MAX_TOKENS) if prepared.provider.wire in _WIRES_WITH_BOTH_NAMES else ("max_tokens",)
    left = [name for name in names if name not in capabilities.unsupported_parameters]
    if left or prepared.provider.needs_max_tokens:
        prepared.arguments[left[0] if left else "max_tokens"] = most
    else:
        prepared.drop("max_tokens")


def _max_tokens(call: ModelCall, provider: Provider, capabilities: Capabilities, budget: int) -> int | None:
    """The caller's or the required `max_tokens`, bounded by the model's maximum and by the rest of its window. None leaves it
    to the server."""
    ours = LEAST_MAX_TOKENS if "max_tokens" in capabilities.unsupported_parameters else DEFAULT_MAX_TOKENS
    wanted = call.request.max_tokens or (ours if provider.needs_max_tokens else None)
    if wanted is None:
        return None
    if _counts_thinking(provider) and wanted <= budget:
        wanted += budget  # the caller did not set it
    left = capabilities.context_window - _input_tokens(call) if capabilities.context_window else 0
    bounds = [bound for bound in (capabilities.max_output_tokens, left) if bound is not None and bound > 0]
    return min([wanted, *bounds])


def _input_tokens(call: ModelCall) -> int:
    """A rough number of input tokens: a fourth of the characters. Data of media does not count."""
    request = call.request
    texts = [len(block.model_dump_json(exclude={"data", "content"})) for message in request.messages for block in message.content]
    results = [len(block.text) for message in request.messages for block in message.tool_results]
    carried = [str(request.system or ""), str(call.output_schema or ""), *(tool.model_dump_json() for tool in call.tools)]
    return -(-(sum(texts) + sum(results) + sum(map(len, carried))) // _CHARACTERS_PER_TOKEN)


def _counts_thinking(provider: Provider) -> bool:
    """Whether thinking tokens count in `max_tokens`."""
    return provider.thinking == "anthropic" or provider.wire == "gemini"


def _thinking_budget(call: ModelCall, provider: Provider) -> int:
    """The thinking budget within the caller's `max_tokens`; 0 if it does not fit.

    If possible, as many tokens as the minimal budget stay for the answer.
    """
    thinking, most = call.request.thinking, call.request.max_tokens
    wanted = _THINKING_TOKENS if thinking is True else max(thinking, _MIN_THINKING_TOKENS) if thinking else 0
    if not wanted or most is None or not _counts_thinking(provider):
        return wanted
    most_thinking = max(most - _MIN_THINKING_TOKENS, min(most - 1, _MIN_THINKING_TOKENS))
    return min(wanted, most_thinking) if most_thinking >= _MIN_THINKING_TOKENS else 0


def _may_think(prepared: Prepared) -> bool:
    """Whether a thinking budget is accepted. Claude refuses one if the last calls lack the reasoning that led to them."""
    provider = prepared.provider
    messages: list[dict[str, Any]] = prepared.arguments["messages"]
    last = next((message for message in reversed(messages) if message["role"] != "tool"), dict[str, Any]())
    if provider.thinks_after_unsigned_calls or not last.get("tool_calls"):
        return True
    return any(block["type"] == "thinking" or provider.wire == "anthropic" for block in last.get("thinking_blocks", ()))


def _thinks_by_default(provider: Provider, capabilities: Capabilities) -> bool:
    """Whether the model may think although the request turned thinking off. No wire format can forbid it."""
    known, always = capabilities.reasoning, provider.thinks_by_default
    return known is not False and (always is True or (always is None and known is True))


def _add_thinking(prepared: Prepared, call: ModelCall, capabilities: Capabilities, budget: int) -> None:
    form = prepared.provider.thinking
    if form == "anthropic" and budget:
        prepared.arguments["thinking"] = {"type": "enabled", "budget_tokens": budget}
    elif budget and (
        (form == "effort" and capabilities.reasoning is not False) or (form == "effort if known" and capabilities.reasoning)
    ):
        effort = next((word for bound, word in prepared.provider.efforts if budget <= bound), "high")
        if call.request.thinking is not True and "thinking budget" not in prepared.dropped:
            prepared.drop("thinking budget")  # the wire format has words for it, not numbers
        _put(prepared, capabilities, "reasoning_effort", effort)
        is_refused = joined_parts(REASONING_AND_TOOLS) in capabilities.unsupported_parameters
        if is_refused and "tools" in prepared.arguments and prepared.provider.has_responses:
            _move_to_responses(prepared)
    else:
        prepared.drop("thinking")


def _add_extras(prepared: Prepared, call: ModelCall, capabilities: Capabilities) -> None:
    request, endpoint = call.request, call.endpoint
    if request.allow_web_search:
        _add_web_search(prepared, capabilities)
    if prepared.provider.reports_cost and not _is_left_out(prepared, capabilities, "usage"):
        prepared.arguments.setdefault("extra_body", {})["usage"] = {"include": True}  # LiteLLM would add it anyway
    headers = dict(prepared.provider.headers) | endpoint.extra_headers | request.extra_headers
    if headers:
        prepared.arguments["extra_headers"] = headers


def _move_to_responses(prepared: Prepared) -> None:
    """Send the request to OpenAI's Responses endpoint."""
    model: str = prepared.arguments["model"]
    if "/responses/" not in model:
        prepared.arguments["model"] = model.replace("/", "/responses/", 1)


def _add_web_search(prepared: Prepared, capabilities: Capabilities) -> None:
    provider, arguments = prepared.provider, prepared.arguments
    if (
        capabilities.web_search is not True
        or _is_left_out(prepared, capabilities, "web_search_options")
        or ("tools" in arguments and not provider.searches_beside_tools)
    ):
        prepared.drop("web search")
    elif provider.searches_by == "responses":
        _move_to_responses(prepared)
        arguments["tools"] = [*arguments.get("tools", ()), {"type": "web_search"}]
    elif provider.searches_by in ("plugin", "body"):
        body: dict[str, Any] = {"plugins": [{"id": "web"}]} if provider.searches_by == "plugin" else {"web_search_options": {}}
        arguments["extra_body"] = body
    else:
        arguments["web_search_options"] = {}


def _move_to_body(prepared: Prepared, call: ModelCall) -> None:
    """Move what must reach the provider unchanged, and the request's own `extra_body`, into `extra_body`."""
    raw = [*prepared.provider.raw_body, _NEW_MAX_TOKENS]  # for some providers, LiteLLM would restore the older name
    body = {name: prepared.arguments.pop(name) for name in raw if name in prepared.arguments}
    body |= prepared.arguments.pop("extra_body", {})
    if prepared.provider.extra_body == "transport":
        prepared.own_body = dict(call.request.extra_body)
    else:
        body |= call.request.extra_body
    if prepared.provider.extra_body == "arguments":
        prepared.arguments |= body
        # otherwise LiteLLM refuses OpenAI's own parameters, and tools for models that it does not list
        if allowed := [*body, *(name for name in ("tools", "tool_choice") if name in prepared.arguments)]:
            prepared.arguments["allowed_openai_params"] = allowed
    elif body:
        prepared.arguments["extra_body"] = body


# Limits


def check_parameter_limits(tools: Iterable[ToolDefinition], provider: Provider, enforce: bool = False) -> list[str]:
    """Return the provider's unverified limits that `tools` exceed, in words.

    Raises `LimitExceeded` for a verified limit and, if `enforce`, for any.
    """
    offered = list(tools)
    size = sum(len(tool.model_dump_json(include={"name", "description", "parameters"})) for tool in offered)
    warnings: list[str] = []
    for limits in provider.limits:
        for problem in _exceeded(limits, len(offered), size):
            if limits.verified or enforce:
                raise LimitExceeded(f"{provider.name}: {problem} ({limits.source}); offer fewer or smaller tools")
            warnings.append(f"{provider.name}: {problem} ({limits.source})")
    return warnings


def _exceeded(limits: ProviderLimits, count: int, size: int) -> Iterable[str]:
    if limits.max_tools is not None and count > limits.max_tools:
        yield f"{count} tools, the limit is {limits.max_tools}"
    if limits.max_tools_bytes is not None and size > limits.max_tools_bytes:
        yield f"{size} bytes of tool definitions, the limit is {limits.max_tools_bytes}"
