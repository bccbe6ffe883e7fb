"""What of a request is our own addition, not what was asked for, and can be said otherwise, or done without the provider: the
first suspects where a server refuses a request in words that nobody knows."""

from __future__ import annotations

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.adapters.request.prompting import instructions

__all__ = ["NATIVE_SEARCH", "STREAMING", "additions", "has_system"]

NATIVE_SEARCH = "web_search_options"
"""The provider's own search of the web, by whatever parameter it is asked for."""
STREAMING = "streaming"
_ROLES = ("openai-chat", "ollama")
"""The wires on which a system prompt is a message, of a role that a template may not have; on the others it is a field."""


def additions(call: ModelCall, can: Capabilities) -> tuple[str, ...]:
    """What such a request holds of them, by the names of `Capabilities.unsupported_parameters`, in the order in which they are
    best left out: `stream_options` costs the count of tokens; without `system_message` its text opens the first message of the
    user's; an answer need not be streamed; the web is searched by our own tool, if there is one."""
    provider = provider_of(call.endpoint)
    found = (
        ("stream_options", call.streamed and provider.wire == "openai-chat" and "stream_options" not in provider.dropped),
        ("system_message", provider.wire in _ROLES and provider.takes_system_messages and has_system(call, can)),
        (STREAMING, call.streamed),
        (NATIVE_SEARCH, call.request.allow_web_search and can.web_search is True),
    )
    return tuple(name for name, is_sent in found if is_sent and name not in can.unsupported_parameters)


def has_system(call: ModelCall, can: Capabilities) -> bool:
    """Does the request hold a system prompt, the caller's or what teaches a mode?"""
    if call.request.system or any(message.role == "system" for message in call.request.messages):
        return True
    plan = output_plan(call, can)
    return bool(instructions(call, tools_of(call, plan), plan))
