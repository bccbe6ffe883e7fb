"""What a request holds that its endpoint may not take, by the names of `Capabilities` and of its `unsupported_parameters`; and
what the endpoint would be without some of it."""

from __future__ import annotations

from collections.abc import Collection

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.suspects import parameters_sent
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.additions import NATIVE_SEARCH, additions
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.adapters.request.unsendable import blocks_of
from llmcore.types import ImageBlock
from llmcore.types.copies import updated

__all__ = ["BESIDE_TOOLS", "IMAGES", "LEARNT_AS", "asked_for", "left_out_of_any", "parts_of", "rests_on", "without_parts"]

IMAGES = "images"
_OWN_FIELDS = "extra_body"
_STRICT = "strict"
LEARNT_AS = {NATIVE_SEARCH: "web_search", "parallel_tool_calls": "parallel_tools", "thinking": "reasoning"}
"""The capability that a part is, where it is no parameter that is left out by itself."""
_CHOICES = frozenset({"tool_choice_named", "tool_choice_required"})
BESIDE_TOOLS = frozenset({"schema_with_tools", "parallel_tools", "tool_choice", _STRICT}) | _CHOICES
"""What a request with native tools holds beside them, and can go without."""
_CAPABILITIES = BESIDE_TOOLS - {"tool_choice", _STRICT}
_KEPT = frozenset({"max_tokens", "max_completion_tokens"})
"""A bound of the caller's is not left out unless the server names it."""


def rests_on(call: ModelCall, can: Capabilities) -> list[str]:
    """The capabilities that a request rests on, the most particular first: the choice that it holds of its tools, the caller's or
    ours (that of the output tool), before the tools themselves; nothing for plain text."""
    plan = output_plan(call, can)
    if call.mode in ("json_schema", "json_object"):
        return [call.mode]
    if call.mode != "native_tools" or not tools_of(call, plan):
        return ["json_schema"] if plan == "format" else []
    named = call.request.parallel_tool_calls is not None and can.parallel_tools is not False
    found = ["schema_with_tools", "json_schema"] if plan == "format" else []
    found += ["parallel_tools"] if named else []
    found += [choice] if (choice := choice_capability(call, can)) else []
    found += ["tool_results"] if any(message.tool_results for message in call.request.messages) else []
    return [*found, "native_tools"]


def asked_for(call: ModelCall, can: Capabilities) -> list[str]:
    """What a request with tools or a format is that another output mode does without, the most particular first. A format beside
    tools is `schema_with_tools`: whether it is taken alone the mode of its own shows."""
    found = rests_on(call, can)
    beside = [name for name in found if not (name == "json_schema" and "schema_with_tools" in found)]
    return [_STRICT, *beside] if call.mode == "native_tools" and _is_strict(call, can) else beside


def left_out_of_any(call: ModelCall, can: Capabilities) -> list[str]:
    """What a request holds in any mode and can go without: the caller's parameters, and what asks for a strict format."""
    found = [name for name in parameters_sent(call, can) if name not in _KEPT and name != "parallel_tool_calls"]
    return [*found, _STRICT] if call.mode != "native_tools" and _is_strict(call, can) else found


def parts_of(call: ModelCall, can: Capabilities) -> list[str]:
    """All that a request holds, the most particular first."""
    fixed = [IMAGES] if any(isinstance(block, ImageBlock) for block in blocks_of(call)) else []
    own = [_OWN_FIELDS] if call.request.extra_body else []
    every = (*asked_for(call, can), *rests_on(call, can), *additions(call, can), *left_out_of_any(call, can))
    return list(dict.fromkeys((*every, *parameters_sent(call, can), *fixed, *own)))


def _is_strict(call: ModelCall, can: Capabilities) -> bool:
    if _STRICT in can.unsupported_parameters:
        return False
    provider = provider_of(call.endpoint)
    if call.mode == "native_tools":
        return provider.strict_tools and any(tool.strict for tool in call.tools)
    return call.mode == "json_schema" and provider.output_dialect == "openai_strict"


def without_parts(can: Capabilities, names: Collection[str]) -> Capabilities:
    """What the endpoint can do, as a request without these parts is made. Without a choice none is made in its place."""
    left = frozenset(names).union(_CHOICES if _CHOICES.intersection(names) else ())
    refused = can.unsupported_parameters | left.union(["parallel_tool_calls"] if "parallel_tools" in left else ())
    return updated(can, {**dict.fromkeys(left & _CAPABILITIES, False), "unsupported_parameters": refused})
