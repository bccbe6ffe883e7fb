"""`warm_up`: loads everything that a first run needs.

This module itself loads next to nothing, because a program asks for `warm_up` on its event loop.
"""

from __future__ import annotations

import asyncio
from functools import cache
from importlib import import_module

from llmcore.support.code.collector_pause import paused_collector

__all__ = ["warm_up", "warm_up_sync"]

_LAZY_MODULES = (
    *(
        "griffe",
        "yaml",
        "jsonschema",
        "llmcore.agent",
        "llmcore.models.reading",
        "llmcore.validator",
        "llmcore.run.streaming.steps",
    ),
    *("llmcore.api", "llmcore.run.asking.probing", "llmcore.yaml_data"),
)
"""The modules that a first tool, registry, agent, typed answer and probe import."""
_ANY_PROVIDER = "openai_compatible"


async def warm_up() -> None:
    """Load now what a first run would load: LiteLLM, llmcore's layers, and what both build with their first request.

    This takes some seconds of CPU, once in a process. It runs in a thread, so the event loop goes on. No server is asked. Call
    it when your program starts. You may call it often, from any event loop and at the same time: it does its work once. Raises
    `ConfigError` if LiteLLM cannot be imported.
    """
    await asyncio.to_thread(_load_all)


def warm_up_sync() -> None:
    """`warm_up` for code without an event loop. Raises `CallerError` if an event loop runs in this thread."""
    from llmcore.background import run_in_background

    run_in_background("warm_up", warm_up)


def _load_all() -> None:
    with paused_collector():
        from llmcore.adapters.litellm.adapter import LiteLLMAdapter
        from llmcore.adapters.litellm.engine import make_ready
        from llmcore.orchestrator import Orchestrator
        from llmcore.run.asking.warming import load_layers

        for name in _LAZY_MODULES:
            import_module(name)
        _rehearse_reading()
        load_layers(Orchestrator)
        make_ready(LiteLLMAdapter(), _ANY_PROVIDER)
        _rehearse_making()  # last: later expressions would evict these from the cache of `re`


@cache
def _rehearse_reading() -> None:
    """Read a call of each dialect in text, which compiles the expressions and phrases."""
    from llmcore.normalizer import DIALECTS, normalize
    from llmcore.types import ToolDefinition, ToolSet

    tools = ToolSet([ToolDefinition(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})])
    for row in DIALECTS.values():
        normalize(f"Let me look:\n{row.write([('look', {'at': 'it'})])}", tools)


@cache
def _rehearse_making() -> None:
    """Read a registry and make an agent with a tool, which builds expressions and validators."""
    from llmcore.agent import Agent
    from llmcore.models import ModelRegistry
    from llmcore.types.limits import REGISTRY_LIMITS
    from llmcore.yaml_data import load_yaml

    def look(at: str, count: int = 1) -> None:
        """Look.

        Args:
            at: Where.
            count: How often.
        """

    data = load_yaml(
        f"models: {{m: {{provider: {_ANY_PROVIDER}, model: m, base_url: 'http://localhost/${{V:-v1}}'}}}}", REGISTRY_LIMITS
    )
    Agent(ModelRegistry.from_dict(data, environ={}), tools=[look], system="Look.").list_tools()
