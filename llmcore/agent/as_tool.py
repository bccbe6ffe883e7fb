"""An agent as a tool of another one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Protocol

from pydantic import Field

from llmcore.run import RunResult
from llmcore.tools import RunContext, Tool
from llmcore.tools.options import OptionsByName, ToolOptions
from llmcore.types import ConfigError

__all__ = ["agent_tool"]

_SECONDS = 600.0
"""For one question. A run's own timeout of tools is meant for functions."""


class Asked(Protocol):
    """What an agent is to the tool that asks it."""

    name: str

    @property
    def run(self) -> Callable[..., Awaitable[RunResult[Any]]]: ...


def agent_tool(agent: Asked, settings: Mapping[str, Any], *, keep_history: bool, options: OptionsByName) -> Tool:
    """The tool by which the agent, of these settings, is asked. Raises `ToolDefinitionError` for options that do not fit."""
    one_at_a_time = asyncio.Lock()

    async def ask(
        message: Annotated[str, Field(description="What is asked, with all that must be known: nothing else is told.")],
        context: RunContext[Any],
    ) -> Any:
        deps: dict[str, Any] = {} if settings.get("deps") is not None else {"deps": context.deps}
        if not keep_history:
            return _answer(agent, await agent.run(message, parent=context, message_history=(), **deps))
        async with one_at_a_time:
            return _answer(agent, await agent.run(message, parent=context, **deps))

    told = {"name": _tool_name(agent.name), "description": _described(agent, settings), "timeout": _SECONDS}
    return Tool(ask, ToolOptions.of({**told, **options}))


def _answer(agent: Asked, result: RunResult[Any]) -> Any:
    if result.pending:
        names = ", ".join(call.name for call in result.pending)
        raise ConfigError(
            f"the agent {agent.name} has no answer: calls of {names} are left to its caller, which a tool cannot answer"
        )
    return result.value


def _described(agent: Asked, settings: Mapping[str, Any]) -> str:
    """By the option, else by the docstring of the first class that has one of its own."""
    given = settings.get("description")
    if given is not None:
        return str(given)
    kinds = [kind for kind in type(agent).__mro__ if kind.__module__ != "llmcore.agent.agent" and kind is not object]
    said = next((kind.__doc__ for kind in kinds if kind.__doc__), None)
    return " ".join(said.split("\n\n")[0].split()) if said else f"Ask the agent {agent.name}."


def _tool_name(name: str) -> str:
    """`GeoAgent` as `geo_agent`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+", "_", apart).strip("_").lower() or "agent"
