"""How a request's tool choice is said to an endpoint, and the capability that it rests on: the first suspect where the server
refuses the request, for a server may take tools and leave every choice to the model."""

from __future__ import annotations

from typing import Any

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.output import OutputPlan, output_plan, output_tools
from llmcore.support.values.narrowing import is_object

__all__ = ["calls_for_one", "choice_capability", "choice_sent", "requires_call"]


def choice_sent(call: ModelCall, can: Capabilities, plan: OutputPlan) -> Any:
    """The choice, `"required"` in place of a name that the endpoint does not take; None where none is sent, which is auto."""
    provider, choice = provider_of(call.endpoint), call.request.tool_choice
    if "tool_choice" in provider.dropped or "tool_choice" in can.unsupported_parameters:
        return None
    if plan == "tool" and choice in ("auto", "none"):
        choice = "required"  # the final output is a call, too
    if choice == "none":
        return choice
    if choice == "auto" or (call.request.thinking and not provider.forces_while_thinking):
        return None  # Claude refuses a forced call together with a thinking budget
    if is_object(choice) and can.tool_choice_named is not False:
        return choice
    return None if can.tool_choice_required is False else "required"


def choice_capability(call: ModelCall, can: Capabilities) -> str | None:
    """What the request takes an endpoint for by the choice that it holds; None where it holds none."""
    plan = output_plan(call, can)
    if call.mode != "native_tools" or not output_tools(call, plan):
        return None
    choice = choice_sent(call, can, plan)
    if is_object(choice):
        return "tool_choice_named"
    return {"required": "tool_choice_required", "none": "tool_choice"}.get(choice or "")


def calls_for_one(call: ModelCall, can: Capabilities) -> bool:
    """Is any answer to be a call, whether or not the request can say so?"""
    return bool(call.tools) and (call.request.tool_choice not in ("auto", "none") or output_plan(call, can) == "tool")


def requires_call(call: ModelCall, can: Capabilities) -> bool:
    """Does the request say that any answer is to be the call of a tool: by the caller's choice, or since the output tool is how
    to answer?"""
    return choice_capability(call, can) in ("tool_choice_required", "tool_choice_named")
