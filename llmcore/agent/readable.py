"""An agent's options as readable attributes, each with its value for the next chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmcore.agent.as_tool import tool_description
from llmcore.agent.core import Core
from llmcore.agent.options import OPTIONS

__all__ = ["ReadableOptions"]

_OPTIONS = frozenset(OPTIONS)


class ReadableOptions:
    """Options that were set on the object or the class are attributes already. This provides the others. A test compares the
    names with `OPTIONS`."""

    __slots__ = ()

    adapter: Any
    allow_web_search: Any
    budget: Any
    capabilities: Any
    checkpoint: Any
    client: Any
    cooldowns: Any
    deadline: Any
    deps: Any
    description: Any
    enforce_limits: Any
    extra_body: Any
    extra_headers: Any
    hooks: Any
    interjections: Any
    log: Any
    max_context_tokens: Any
    max_parallel_tools: Any
    max_tokens: Any
    max_tool_turns: Any
    model: Any
    nested_events: Any
    observers: Any
    output_type: Any
    output_validators: Any
    parallel_tool_calls: Any
    run_store: Any
    shared_budget: Any
    signing_key: Any
    socket_emit: Any
    stop: Any
    strategies: Any
    strictness: Any
    system: Any
    temperature: Any
    text_calls: Any
    thinking: Any
    token_counter: Any
    tool_choice: Any
    tool_config: Any
    tool_errors: Any
    tool_timeout: Any
    tools: Any
    top_p: Any
    web_search: Any
    if not TYPE_CHECKING:  # lets type checkers report unknown names

        def __getattr__(self, name):
            core: Core | None = self.__dict__.get("_core")
            if core is None or name not in _OPTIONS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            return tool_description(self, core.settings) if name == "description" else core.option(name)
