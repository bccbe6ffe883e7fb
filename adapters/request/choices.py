"""The tool choice that is sent to an endpoint, and the capability that it needs.

If the server refuses the request, that capability is the first suspect: a server may accept tools but no tool choice.
"""

from __future__ import annotations

from typing import Any

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.output import OutputPlan, output_plan, output_tools
from llmcore.support.values.narrowing import is_object
from llmcore.types import ToolChoice

__all__ = ["choice_capability", "expects_call", "requires_call", "sent_choice", "wanted_choice"]


def sent_choice(call: ModelCall, can: Capabilities, plan: OutputPlan) -> Any:
    """Return the choice to send: `"required"` instead of a name that the endpoint does not accept. None for auto, which is
    not sent."""
    provider, choice = provider_of(call.endpoint), wanted_choice(call, plan)
    if "tool_choice" in provider.dropped or "tool_choice" in can.unsupported_parameters:
        return None
    if choice == "none":
        return choice
    if choice == "auto" or (call.request.thinking and not provider.forces_while_thinking):
        return None  # Claude refuses a forced call together with a thinking budget
    if is_object(choice) and can.tool_choice_named is not False:
        return choice
    return None if can.tool_choice_required is False else "required"


def wanted_choice(call: ModelCall, plan: OutputPlan) -> ToolChoice:
    """Return the caller's choice, but `"required"` if the model answers through the output tool: the final output is a call
    too."""
    choice = call.request.tool_choice
    return "required" if plan == "tool" and choice in ("auto", "none") else choice


def choice_capability(call: ModelCall, can: Capabilities) -> str | None:
    """Return the capability that the request's tool choice needs, None without a choice."""
    plan = output_plan(call, can)
    if call.mode != "native_tools" or not output_tools(call, plan):
        return None
    choice = sent_choice(call, can, plan)
    if is_object(choice):
        return "tool_choice_named"
    return {"required": "tool_choice_required", "none": "tool_choice"}.get(choice or "")


def expects_call(call: ModelCall, can: Capabilities) -> bool:
    """Return whether every answer should be a call, even if the request cannot demand it."""
    return bool(call.tools) and (call.request.tool_choice not in ("auto", "none") or output_plan(call, can) == "tool")


def requires_call(call: ModelCall, can: Capabilities) -> bool:
    """Return whether the request demands a call: by the caller's choice, or because the model answers through the output
    tool."""
    return choice_capability(call, can) in ("tool_choice_required", "tool_choice_named")
