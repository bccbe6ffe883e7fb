"""Does a request hold what a server says it refuses? Of what was not sent nothing was refused, whatever the words, so it is never
learnt: not a tool choice beside tools that were offered without one, nor a parameter that is left out since it was refused.

The names are those of `Capabilities` and of its `unsupported_parameters`. Of a call whose endpoint nothing is known of
(`ModelCall.capabilities` is None: it was not made by a run) it is not known what was sent, but only what it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.refused_parameters import is_held
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.additions import NATIVE_SEARCH, has_system
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.types import Block, ImageBlock, Message, ToolResultBlock

__all__ = ["holds", "searches_natively"]

_NOTHING_KNOWN = Capabilities()
_OWN_FORMAT = "response_format"
_PARAMETER_OF = {"parallel_tools": "parallel_tool_calls", "web_search": NATIVE_SEARCH, "reasoning": "thinking"}
"""The parameter that a capability is asked for by, where it is left out by that."""


def holds(capability: str, call: ModelCall) -> bool:
    """Of what is not looked into here a request may hold it."""
    can = call.capabilities
    if can is None:
        looks = _ASKS_FOR.get(capability)
        return looks is None or looks(call, _NOTHING_KNOWN)
    if _PARAMETER_OF.get(capability, capability) in can.unsupported_parameters and capability not in _SENT_ALL_THE_SAME:
        return False
    looks = _LOOKS.get(capability)
    return looks is None or looks(call, can)


def searches_natively(call: ModelCall | None) -> bool:
    """Does the request ask the provider to search the web?"""
    if call is None or not call.request.allow_web_search or call.capabilities is None:
        return False
    return call.capabilities.web_search is True and NATIVE_SEARCH not in call.capabilities.unsupported_parameters


def _tools(call: ModelCall, can: Capabilities) -> bool:
    return call.mode == "native_tools" and bool(tools_of(call, output_plan(call, can)))


def _format_wanted(mode: str) -> Callable[[ModelCall, Capabilities], bool]:
    def looks(call: ModelCall, can: Capabilities) -> bool:
        if call.mode in ("json_schema", "json_object"):
            return call.mode == mode
        return call.output_schema is not None or _own_format(call)

    return looks


def _format_wanted_beside(call: ModelCall, can: Capabilities) -> bool:
    return _tools(call, can) and bool(call.tools) and (call.output_schema is not None or _own_format(call))


def _parallel(call: ModelCall, can: Capabilities) -> bool:
    provider = provider_of(call.endpoint)
    is_given = call.request.parallel_tool_calls is not None and "parallel_tool_calls" not in provider.dropped
    return is_given and can.parallel_tools is not False and _tools(call, can)


def _choice(capability: str) -> Callable[[ModelCall, Capabilities], bool]:
    return lambda call, can: choice_capability(call, can) == capability


def _own_format(call: ModelCall) -> bool:
    return _OWN_FORMAT in call.request.extra_body


def _format_beside(call: ModelCall, can: Capabilities) -> bool:
    return _tools(call, can) and bool(call.tools) and (output_plan(call, can) == "format" or _own_format(call))


def _format(mode: str) -> Callable[[ModelCall, Capabilities], bool]:
    def looks(call: ModelCall, can: Capabilities) -> bool:
        if call.mode in ("json_schema", "json_object"):
            return call.mode == mode
        return output_plan(call, can) == "format" or _own_format(call)

    return looks


def _system(call: ModelCall, can: Capabilities) -> bool:
    return provider_of(call.endpoint).takes_system_messages and has_system(call, can)


def _images(call: ModelCall, can: Capabilities) -> bool:
    return any(isinstance(part, ImageBlock) for message in call.request.messages for part in _blocks(message))


def _blocks(message: Message) -> Iterator[Block]:
    for block in message.content:
        yield block
        if isinstance(block, ToolResultBlock):
            yield from block.content


def _search(call: ModelCall, can: Capabilities) -> bool:
    return call.request.allow_web_search and can.web_search is not False


def _streamed(call: ModelCall, can: Capabilities) -> bool:
    return call.streamed


def _thinking(call: ModelCall, can: Capabilities) -> bool:
    return is_held("thinking", call) or any(name in call.request.extra_body for name in ("reasoning", "reasoning_effort"))


def _parameter(name: str) -> Callable[[ModelCall, Capabilities], bool]:
    return lambda call, can: is_held(name, call)


_SENT_ALL_THE_SAME = frozenset({"max_tokens", "max_completion_tokens"})
"""Where the wire requires the one, or knows both names, being refused does not leave it out."""
_LOOKS: dict[str, Callable[[ModelCall, Capabilities], bool]] = {
    "native_tools": _tools,
    "parallel_tools": _parallel,
    **{name: _choice(name) for name in ("tool_choice", "tool_choice_required", "tool_choice_named")},
    "schema_with_tools": _format_beside,
    **{name: _format(name) for name in ("json_schema", "json_object")},
    "system_message": _system,
    "images": _images,
    "web_search": _search,
    **dict.fromkeys(("streaming", "stream_options"), _streamed),
    **dict.fromkeys(("reasoning", "thinking"), _thinking),
    **{name: _parameter(name) for name in ("temperature", "top_p", "stop", "cache_control", "strict", "usage")},
}
"""By what a request is known to hold it."""
_ASKS_FOR = {
    **{name: looks for name, looks in _LOOKS.items() if name not in ("system_message", "reasoning", "thinking")},
    **dict.fromkeys(("parallel_tools", "tool_choice", "tool_choice_required", "tool_choice_named"), _tools),
    **{name: _format_wanted(name) for name in ("json_schema", "json_object")},
    "schema_with_tools": _format_wanted_beside,
}
"""By what a request asks for it."""
