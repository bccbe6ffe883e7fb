"""An agent as a tool of another one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Protocol

from pydantic import Field

from llmcore.agent.talk import Talk
from llmcore.run import RunResult
from llmcore.run.setup.parent_run import LeftWithin, enclosing, going_on, left_within
from llmcore.tools import RunContext, Tool
from llmcore.tools.definition.options import OptionsByName, ToolOptions
from llmcore.tools.execution.call import CallSuspended
from llmcore.types import CallerError, ConfigError, RetryTool

__all__ = ["agent_tool", "tool_description"]

_SECONDS = 600.0
"""For one question. A run's own timeout of tools is meant for functions."""


class Asked(Protocol):
    """What an agent is to the tool that asks it."""

    name: str
    messages: Any

    @property
    def run(self) -> Callable[..., Awaitable[RunResult[Any]]]: ...


def agent_tool(agent: Asked, settings: Mapping[str, Any], *, talk: Talk | None, options: OptionsByName) -> Tool:
    """The tool by which the agent, of these settings, is asked. `talk`: its conversation, in which calls go on one after the
    other; None: each has one of its own. Raises `ToolDefinitionError` for options that do not fit."""

    @going_on
    async def ask(
        message: Annotated[str, Field(description="What is asked, with all that must be known: nothing else is told.")],
        context: RunContext[Any],
    ) -> Any:
        if not message.strip():
            raise RetryTool("the message is empty: ask something")
        options: dict[str, Any] = {} if settings.get("deps") is not None else {"deps": context.deps}
        left = left_within(context)
        if talk is None:
            history = () if left is None else left.state
            return _answer(agent, await _asked(agent, message, context, left, message_history=history, **options), context)
        async with talk.turns:
            if left is None and talk.waits_within(context.enclosing_run):
                raise RetryTool("what was asked before waits for somebody's answer: ask again when that has its result")
            talk.left_within = None
            try:
                return _answer(agent, await _asked_on(agent, talk, message, context, left, options), context)
            except CallSuspended:
                talk.left_within = context.enclosing_run
                raise

    told = {"name": _tool_name(agent.name), "description": tool_description(agent, settings), "timeout": _SECONDS}
    return Tool(ask, ToolOptions.of({**told, **options}))


async def _asked_on(
    agent: Asked, talk: Talk, message: str, context: RunContext[Any], left: LeftWithin | None, options: dict[str, Any]
) -> RunResult[Any]:
    """As `_asked`, in the agent's own conversation. What was left waiting goes on before what was said there since."""
    if left is None:
        return await _asked(agent, message, context, None, **options)
    since = talk.messages_since(left.state)
    if not since:
        agent.messages = left.state
        return await _asked(agent, message, context, left, **options)
    with talk.rejoined(agent.name, since) as rejoin:
        result = await _asked(agent, message, context, left, message_history=left.state, **options)
        rejoin(result)
        return result


async def _asked(agent: Asked, message: str, context: RunContext[Any], left: LeftWithin | None, **options: Any) -> RunResult[Any]:
    """The agent's run, where it was left waiting by what its caller said. Raises `CallHeld` for answers that do not fit."""
    parent = context.for_delegated_run()
    if left is None:
        return await agent.run(message, parent=parent, **options)
    try:
        return await agent.run(None, parent=parent, answers=left.answers, **options)
    except CallerError as error:
        partial: RunResult[Any] | None = error.partial
        done = partial.tool_results if partial is not None else ()
        if type(error) not in (CallerError, ConfigError) or any(record.ran for record in done):
            raise
        raise CallSuspended(error) from error  # whoever gave them is told


def _answer(agent: Asked, result: RunResult[Any], context: RunContext[Any]) -> Any:
    """What the agent answered. Raises `CallHeld` while calls of it wait."""
    if result.pending and enclosing(context) is not None:
        raise CallSuspended
    if result.pending:
        names = ", ".join(call.name for call in result.pending)
        raise ConfigError(
            f"the agent {agent.name} has no answer: calls of {names} are left to its caller, which a tool cannot answer"
        )
    return result.value


def tool_description(agent: Asked, settings: Mapping[str, Any]) -> str:
    """By the option, else by the docstring of the first class that has one of its own."""
    given = settings.get("description")
    if given is not None:
        return str(given)
    kinds = [kind for kind in type(agent).__mro__ if not kind.__module__.startswith("llmcore.agent.") and kind is not object]
    said = next((kind.__doc__ for kind in kinds if kind.__doc__), None)
    return " ".join(said.split("\n\n")[0].split()) if said else f"Ask the agent {agent.name}."


def _tool_name(name: str) -> str:
    """`GeoAgent` as `geo_agent`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+", "_", apart).strip("_").lower() or "agent"
