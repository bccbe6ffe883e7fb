"""An agent as a tool of another one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Protocol

from pydantic import Field

from llmcore.agent.conversation import Conversation
from llmcore.run import RunResult
from llmcore.run.setup.parent_run import WaitingRun, parent_run_of, resuming, take_waiting_run
from llmcore.tools import RunContext, Tool
from llmcore.tools.definition.options import OptionsByName, ToolOptions
from llmcore.tools.execution.call import CallSuspended
from llmcore.types import CallerError, ConfigError, RetryTool

__all__ = ["agent_tool", "tool_description"]

_SECONDS = 600.0
"""The timeout of one question. A run's `tool_timeout` is meant for functions."""


class AskedAgent(Protocol):
    """The part of an agent that its tool needs."""

    name: str
    messages: Any

    @property
    def run(self) -> Callable[..., Awaitable[RunResult[Any]]]: ...


def agent_tool(
    agent: AskedAgent, settings: Mapping[str, Any], *, conversation: Conversation | None, options: OptionsByName
) -> Tool:
    """The tool that asks the agent. `conversation`: its conversation, which calls continue one after another. None: each call has
    its own.

    Raises `ToolDefinitionError` for options that do not fit.
    """

    @resuming
    async def ask(
        message: Annotated[str, Field(description="What is asked, with all that must be known: nothing else is told.")],
        context: RunContext[Any],
    ) -> Any:
        if not message.strip():
            raise RetryTool("the message is empty: ask something")
        options: dict[str, Any] = {} if settings.get("deps") is not None else {"deps": context.deps}
        waiting_run = take_waiting_run(context)
        if conversation is None:
            history = () if waiting_run is None else waiting_run.state
            return _answer(
                agent, await _run_agent(agent, message, context, waiting_run, message_history=history, **options), context
            )
        async with conversation.lock:
            if waiting_run is None and conversation.is_waiting_within(context.enclosing_run):
                raise RetryTool("what was asked before waits for somebody's answer: ask again when that has its result")
            conversation.waiting_parent = None
            try:
                return _answer(
                    agent, await _run_in_conversation(agent, conversation, message, context, waiting_run, options), context
                )
            except CallSuspended:
                conversation.waiting_parent = context.enclosing_run
                raise

    defaults = {"name": _tool_name(agent.name), "description": tool_description(agent, settings), "timeout": _SECONDS}
    return Tool(ask, ToolOptions.of({**defaults, **options}))


async def _run_in_conversation(
    agent: AskedAgent,
    conversation: Conversation,
    message: str,
    context: RunContext[Any],
    waiting_run: WaitingRun | None,
    options: dict[str, Any],
) -> RunResult[Any]:
    """Like `_run_agent`, in the agent's own conversation. A run that was left waiting continues before the messages added
    since."""
    if waiting_run is None:
        return await _run_agent(agent, message, context, None, **options)
    since = conversation.messages_since(waiting_run.state)
    if not since:
        agent.messages = waiting_run.state
        return await _run_agent(agent, message, context, waiting_run, **options)
    with conversation.rejoined(agent.name, since) as rejoin:
        result = await _run_agent(agent, message, context, waiting_run, message_history=waiting_run.state, **options)
        rejoin(result)
        return result


async def _run_agent(
    agent: AskedAgent, message: str, context: RunContext[Any], waiting_run: WaitingRun | None, **options: Any
) -> RunResult[Any]:
    """The agent's run. If it was left waiting, it resumes with the caller's answers. Raises `CallSuspended` if they do not
    fit."""
    parent = context.for_delegated_run()
    if waiting_run is None:
        return await agent.run(message, parent=parent, **options)
    try:
        return await agent.run(None, parent=parent, answers=waiting_run.answers, **options)
    except CallerError as error:
        partial: RunResult[Any] | None = error.partial
        done = partial.tool_results if partial is not None else ()
        if type(error) not in (CallerError, ConfigError) or any(record.ran for record in done):
            raise
        raise CallSuspended(error) from error  # so that the caller gets the error


def _answer(agent: AskedAgent, result: RunResult[Any], context: RunContext[Any]) -> Any:
    """The agent's answer. Raises `CallSuspended` while its calls wait."""
    if result.pending and parent_run_of(context) is not None:
        raise CallSuspended
    if result.pending:
        names = ", ".join(call.name for call in result.pending)
        raise ConfigError(
            f"the agent {agent.name} has no answer: calls of {names} are left to its caller, which a tool cannot answer"
        )
    return result.value


def tool_description(agent: AskedAgent, settings: Mapping[str, Any]) -> str:
    """The option `description`, else the first paragraph of the docstring of the first class that has one."""
    given = settings.get("description")
    if given is not None:
        return str(given)
    kinds = [kind for kind in type(agent).__mro__ if not kind.__module__.startswith("llmcore.agent.") and kind is not object]
    doc = next((kind.__doc__ for kind in kinds if kind.__doc__), None)
    return " ".join(doc.split("\n\n")[0].split()) if doc else f"Ask the agent {agent.name}."


def _tool_name(name: str) -> str:
    """The agent's name in snake case: `geo_agent` for `GeoAgent`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+", "_", words).strip("_").lower() or "agent"
