"""The parts of a request that an endpoint may refuse: which ones a request has, which ones it can do without, and refused
combinations.

The names are those of `Capabilities` and of its `unsupported_parameters`. Names joined by `+` are a refused combination: the
endpoint accepts each part, but not all of them in one request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.conversation.prompting import instructions
from llmcore.adapters.request.conversation.unsendable import blocks_of, cache_marks
from llmcore.adapters.request.output import OutputPlan, output_plan, output_tools
from llmcore.support.values.copies import updated
from llmcore.types import MediaBlock

__all__ = [
    "CHOICES",
    "LAST_RESORTS",
    "MODES",
    "OPTIONAL",
    "REASONING_AND_TOOLS",
    "UBIQUITOUS",
    "all_parts",
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
_DROPPABLE = ("cache_control", "top_p", "temperature", "stop", *_BESIDE_TOOLS, "reasoning", "web_search")
OPTIONAL = frozenset(_DROPPABLE)
"""Parts that are omitted if a refusal names nothing. The request still has the same meaning."""
LAST_RESORTS = frozenset({"stream_options", "usage", "system_message", "streaming"})
"""Parts that are also omitted in the last mode. The system prompt then begins the first user message."""
_DROP_ORDER = ("stream_options", "usage", *_DROPPABLE, "max_completion_tokens", "max_tokens", "system_message", "streaming")
"""Of two parts that are refused together, the first one in this order is omitted."""
REASONING_AND_TOOLS = frozenset({"native_tools", "reasoning"})
UBIQUITOUS = frozenset({"stream_options", "system_message", "streaming", "usage", "max_tokens", "extra_body"})
"""Parts that hardly any refusal concerns in combination. An answered request with such a part shows that the part is
accepted."""
MODES = frozenset({"native_tools", "tool_results", "json_schema", "json_object"})
"""Parts that only another output mode omits."""
_CAPABILITIES = frozenset(Capabilities.model_fields)
_PARAMETERS = {"parallel_tools": "parallel_tool_calls", "reasoning": "thinking", "web_search": "web_search_options"}
"""The parameter that requests a capability."""
_SYSTEM_MESSAGE_WIRES = ("openai-chat", "ollama")
"""Wire formats in which the system prompt is a message. In the others it is a field."""


def parts_of(call: ModelCall, can: Capabilities) -> frozenset[str]:
    """Return all parts of a request to an endpoint with these capabilities."""
    plan = output_plan(call, can)
    found = {*_mode_parts(call, can, plan), *_setting_parts(call, can), *_stream_parts(call)}
    provider = provider_of(call.endpoint)
    if provider.takes_system_messages and _has_system(call, can, plan):
        found.add("system_message")
    found.update(block.kind.part for block in blocks_of(call) if isinstance(block, MediaBlock))
    if any(mark is not None for mark in cache_marks(call)):
        found.add("cache_control")
    return frozenset(found - can.unsupported_parameters)


def _mode_parts(call: ModelCall, can: Capabilities, plan: OutputPlan) -> Iterable[str]:
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


def _setting_parts(call: ModelCall, can: Capabilities) -> Iterable[str]:
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
    if provider_of(call.endpoint).reports_cost and "usage" not in request.extra_body:  # the caller's own value stays
        yield "usage"
    if request.extra_body:
        yield "extra_body"


def _stream_parts(call: ModelCall) -> Iterable[str]:
    if call.streamed:
        yield "streaming"
        provider = provider_of(call.endpoint)
        if provider.wire == "openai-chat" and "stream_options" not in provider.dropped:
            yield "stream_options"


def _has_system(call: ModelCall, can: Capabilities, plan: OutputPlan) -> bool:
    """Whether the request has a system prompt: the caller's, or instructions of the mode."""
    if call.request.system or any(message.role == "system" for message in call.request.messages):
        return True
    return bool(instructions(call, output_tools(call, plan), plan))


def all_parts(call: ModelCall) -> frozenset[str]:
    """Return the parts of a request. If the call has no capabilities, return all parts that it may have."""
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
    """Return the parts that a request can do without. With `last` (the last mode) these are more.

    A system prompt that is a field always stays: only the `system` role may be missing in a chat template.
    """
    found = parts_of(call, can) & (OPTIONAL | LAST_RESORTS if last else OPTIONAL)
    return found if provider_of(call.endpoint).wire in _SYSTEM_MESSAGE_WIRES else found - {"system_message"}


def without_parts(can: Capabilities, names: Collection[str]) -> Capabilities:
    """Return the capabilities for a request without these parts. If a tool choice is omitted, no other choice replaces it."""
    left = frozenset(names).union(CHOICES if CHOICES.intersection(names) else ())
    refused = (
        can.unsupported_parameters | left.difference(_CAPABILITIES) | {_PARAMETERS[name] for name in left & _PARAMETERS.keys()}
    )
    return updated(can, {**dict.fromkeys(left & _CAPABILITIES, False), "unsupported_parameters": refused})


# Sets of parts


def joined_parts(parts: Iterable[str]) -> str:
    """Return the name of a combination of parts."""
    return "+".join(sorted(parts))


def is_refused_set(name: str) -> bool:
    return "+" in name


def refused_sets(can: Capabilities) -> list[frozenset[str]]:
    """Return the combinations of parts that the endpoint is believed to refuse."""
    return [frozenset(name.split("+")) for name in sorted(can.unsupported_parameters) if "+" in name]


def compatible_parts(call: ModelCall, can: Capabilities) -> Capabilities:
    """Return capabilities for a request without refused combinations.

    Of a pair, one part is omitted; of a larger combination, all parts that can be. If no part can be omitted, the choice of
    the mode (`usable_modes`) handles it. If chat completions refuse reasoning with tools, OpenAI's Responses endpoint is
    used.
    """
    for parts in refused_sets(can):
        if parts == REASONING_AND_TOOLS and provider_of(call.endpoint).has_responses:
            continue
        if parts <= parts_of(call, can):
            droppable = [name for name in _DROP_ORDER if name in parts]
            can = without_parts(can, droppable[:1] if len(parts) == 2 else droppable)
    return can
