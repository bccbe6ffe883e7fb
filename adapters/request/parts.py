"""The parts of a request that an endpoint may refuse: which of them a request holds, which it can do without, and which sets of
them an endpoint was seen to refuse.

The names are those of `Capabilities` and of its `unsupported_parameters`. A set of parts is written as its names joined by `+`:
the endpoint takes each of these parts, and refuses a request that holds all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.conversation.prompting import instructions
from llmcore.adapters.request.conversation.unsendable import blocks_of
from llmcore.adapters.request.output import OutputPlan, output_plan, output_tools
from llmcore.support.values.copies import updated
from llmcore.types import ImageBlock

__all__ = [
    "CHOICES",
    "LAST_RESORTS",
    "MODES",
    "OPTIONAL",
    "REASONING_AND_TOOLS",
    "UBIQUITOUS",
    "asks_for",
    "compatible_parts",
    "is_refused_set",
    "joined_parts",
    "optional_parts",
    "parts_of",
    "refused_sets",
    "without_parts",
]

CHOICES = frozenset({"tool_choice", "tool_choice_named", "tool_choice_required"})
_BESIDE_TOOLS = ("strict", "parallel_tools", "tool_choice", "tool_choice_named", "tool_choice_required", "schema_with_tools")
_GIVE_WAY = ("cache_control", "top_p", "temperature", "stop", *_BESIDE_TOOLS, "reasoning", "web_search")
OPTIONAL = frozenset(_GIVE_WAY)
"""What llmcore leaves out when a refusal names nothing: the request still asks for the same."""
LAST_RESORTS = frozenset({"stream_options", "usage", "system_message", "streaming"})
"""What llmcore leaves out of a request in the last mode as well. The system prompt opens the user's first message then."""
_ORDER = ("stream_options", "usage", *_GIVE_WAY, "max_completion_tokens", "max_tokens", "system_message", "streaming")
"""Of two parts that are refused together, the first one of these gives way."""
REASONING_AND_TOOLS = frozenset({"native_tools", "reasoning"})
UBIQUITOUS = frozenset({"stream_options", "system_message", "streaming", "usage", "max_tokens", "extra_body"})
"""Parts that hardly any refusal is about in connection with others: an answer to a request that holds them acquits them."""
MODES = frozenset({"native_tools", "tool_results", "json_schema", "json_object"})
"""Parts that only another output mode does without."""
_CAPABILITIES = frozenset(Capabilities.model_fields)
_PARAMETERS = {"parallel_tools": "parallel_tool_calls", "reasoning": "thinking", "web_search": "web_search_options"}
"""The parameter by which a capability is asked for."""
_ROLES = ("openai-chat", "ollama")
"""The wires on which a system prompt is a message. On the others it is a field."""


def parts_of(call: ModelCall, can: Capabilities) -> frozenset[str]:
    """All parts that a request to an endpoint with these capabilities holds."""
    plan = output_plan(call, can)
    found = {*_of_mode(call, can, plan), *_of_settings(call, can), *_of_streams(call)}
    provider = provider_of(call.endpoint)
    if provider.takes_system_messages and _has_system(call, can, plan):
        found.add("system_message")
    if any(isinstance(block, ImageBlock) for block in blocks_of(call)):
        found.add("images")
    if any(block.cache_control is not None for block in blocks_of(call)):
        found.add("cache_control")
    return frozenset(found - can.unsupported_parameters)


def _of_mode(call: ModelCall, can: Capabilities, plan: OutputPlan) -> Iterable[str]:
    provider = provider_of(call.endpoint)
    is_native = call.mode == "native_tools"
    offers = is_native and bool(output_tools(call, plan))
    if not is_native and call.mode != "text":
        yield call.mode
    elif plan == "format":
        yield "schema_with_tools" if offers else "json_schema"
    if call.mode == "json_schema" and provider.output_dialect == "openai_strict":
        yield "strict"
    if not offers:
        return
    yield "native_tools"
    if any(message.tool_results for message in call.request.messages):
        yield "tool_results"
    if (choice := choice_capability(call, can)) is not None:
        yield choice
    names_parallel = call.request.parallel_tool_calls is not None and "parallel_tool_calls" not in provider.dropped
    if names_parallel and can.parallel_tools is not False:
        yield "parallel_tools"
    if provider.strict_tools and any(tool.strict for tool in call.tools):
        yield "strict"


def _of_settings(call: ModelCall, can: Capabilities) -> Iterable[str]:
    request, refused = call.request, can.unsupported_parameters
    yield from (name for name in ("temperature", "top_p", "stop") if getattr(request, name) not in (None, []))
    if request.max_tokens is not None:
        yield "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    elif provider_of(call.endpoint).needs_max_tokens:
        yield "max_tokens"
    thinks = request.thinking or not request.extra_body.keys().isdisjoint(("reasoning", "reasoning_effort"))
    if thinks and can.reasoning is not False and "thinking" not in refused:
        yield "reasoning"
    if request.allow_web_search and can.web_search is True and "web_search_options" not in refused:
        yield "web_search"
    if provider_of(call.endpoint).reports_cost and "usage" not in request.extra_body:  # the caller's own stays
        yield "usage"
    if request.extra_body:
        yield "extra_body"


def _of_streams(call: ModelCall) -> Iterable[str]:
    if call.streamed:
        yield "streaming"
        provider = provider_of(call.endpoint)
        if provider.wire == "openai-chat" and "stream_options" not in provider.dropped:
            yield "stream_options"


def _has_system(call: ModelCall, can: Capabilities, plan: OutputPlan) -> bool:
    """Does the request hold a system prompt, the caller's or what teaches a mode?"""
    if call.request.system or any(message.role == "system" for message in call.request.messages):
        return True
    return bool(instructions(call, output_tools(call, plan), plan))


def asks_for(call: ModelCall) -> frozenset[str]:
    """The parts that a request holds. Of a call that no run made it is not known how they are sent: all that they may be."""
    if call.capabilities is not None:
        return parts_of(call, call.capabilities)
    found = parts_of(call, Capabilities(web_search=True))
    formats: set[str] = {"json_schema", "json_object"} if call.output_schema is not None else set[str]()
    if call.mode in formats:
        formats = {call.mode}
    elif formats and call.tools:
        formats.add("schema_with_tools")
    choices = {*CHOICES, "parallel_tools"} if "native_tools" in found else set[str]()
    return found | formats | choices | {"system_message", "reasoning"}


def optional_parts(call: ModelCall, can: Capabilities, *, last: bool) -> frozenset[str]:
    """The parts of a request that it can do without; in the `last` mode these are more. Where a system prompt is a field, and no
    message of a role that a template may lack, it stays."""
    found = parts_of(call, can) & (OPTIONAL | LAST_RESORTS if last else OPTIONAL)
    return found if provider_of(call.endpoint).wire in _ROLES else found - {"system_message"}


def without_parts(can: Capabilities, names: Collection[str]) -> Capabilities:
    """What the endpoint takes, as a request without these parts is made. A choice of tools is not replaced by another one."""
    left = frozenset(names).union(CHOICES if CHOICES.intersection(names) else ())
    refused = (
        can.unsupported_parameters | left.difference(_CAPABILITIES) | {_PARAMETERS[name] for name in left & _PARAMETERS.keys()}
    )
    return updated(can, {**dict.fromkeys(left & _CAPABILITIES, False), "unsupported_parameters": refused})


# Sets of parts


def joined_parts(parts: Iterable[str]) -> str:
    """The name of a set of parts."""
    return "+".join(sorted(parts))


def is_refused_set(name: str) -> bool:
    return "+" in name


def refused_sets(can: Capabilities) -> list[frozenset[str]]:
    """The sets of parts that an endpoint is believed to refuse."""
    return [frozenset(name.split("+")) for name in sorted(can.unsupported_parameters) if "+" in name]


def compatible_parts(call: ModelCall, can: Capabilities) -> Capabilities:
    """What the endpoint takes, so that the request holds no set of parts that is refused. Of two parts one gives way, of a larger
    set all that can. A set in which nothing can give way is left to the choice of the mode (`usable_modes`). Reasoning and tools
    that chat completions refuse together go to OpenAI's other endpoint."""
    for parts in refused_sets(can):
        if parts == REASONING_AND_TOOLS and provider_of(call.endpoint).has_responses:
            continue
        if parts <= parts_of(call, can):
            giving = [name for name in _ORDER if name in parts]
            can = without_parts(can, giving[:1] if len(parts) == 2 else giving)
    return can
