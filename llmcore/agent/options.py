"""The options of an agent: those of an orchestrator and of its runs, and its own. As class attributes or for the constructor."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from llmcore.adapters.base import Adapter
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.fallback import Strategy
from llmcore.hooks import Hooks, HooksGiven
from llmcore.orchestrator import INSTEAD as OF_ORCHESTRATORS
from llmcore.orchestrator import OWN_KINDS, Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.run.setup.options import INSTEAD as OF_RUNS
from llmcore.run.setup.options import PER_RUN, OptionsOfRuns
from llmcore.run.setup.settings import checked_options
from llmcore.support.code.suggestions import unknown
from llmcore.tools.definition.web_search import Searcher
from llmcore.types import ConfigError, Message, Request
from llmcore.types.input.argument_errors import Kind, check_kinds, is_async, takes_positional
from llmcore.types.requests import OptionsOfAnyModel

__all__ = [
    "INSTEAD",
    "ONLY_ORCHESTRATORS",
    "OPTIONS",
    "AgentOptions",
    "Emit",
    "checked_agent_options",
    "orchestrators",
    "per_run",
]

Emit = Callable[[dict[str, Any]], Any]
"""Told of what happens: one JSON object at a time. May be async."""


class _Own(TypedDict, total=False):
    messages: Sequence[Message | Mapping[str, Any]] | RunResult[Any] | None
    """What was said before."""
    name: str | None
    """For logs, and for the tool that another agent asks it by. Default: the class's."""
    description: str | None
    """For the same tool. Default: what the class's docstring says."""
    log: Callable[[str], object] | None
    """Takes a line for each request, tool and answer, in place of the logger `llmcore.agent`."""
    output_type: Any
    """Of what type a chat's answer is, where the call does not say."""
    hooks: HooksGiven | None
    capabilities: CapabilityStore | None
    strategies: Sequence[Strategy] | None
    enforce_limits: bool
    adapter: Adapter | Mapping[str, Adapter] | None
    web_search: Searcher | None
    token_counter: Callable[[Request], int | Awaitable[int]] | None


class AgentOptions(OptionsOfAnyModel, OptionsOfRuns, _Own, total=False):
    """The options of an agent beside its client, model and socket."""


_OF_ORCHESTRATOR = inspect.signature(Orchestrator).parameters.keys() - {"models", "tools", "hooks", "system"}
ONLY_ORCHESTRATORS = _OF_ORCHESTRATOR - PER_RUN - {"name"}
_PER_CHAT = {"message_history", "parent", "answers"}
OPTIONS = sorted(({"client", "socket_emit"} | PER_RUN | _OF_ORCHESTRATOR | _Own.__annotations__.keys()) - _PER_CHAT)
INSTEAD: Mapping[str, str] = {
    **{name: words for name, words in {**OF_ORCHESTRATORS, **OF_RUNS}.items() if name not in OPTIONS},
    "models": "it is `client`",
    "llm": "it is `client`",
    "system_message": "it is `system`",
    "message_history": "what was said before is `messages`; `message_history` is an option of each chat",
    "history": "what was said before is `messages`",
    "parent": "it is an option of each chat",
    "answers": "they are an option of each chat",
    "emit": "it is `socket_emit`",
    "on_event": "it is `socket_emit`",
    "logger": "it is `log`, a function of a line",
    "logf": "it is `log`",
    "thinking_tokens": "it is `thinking`: True, or the number of tokens",
    "reasoning_effort": "it is `thinking`: True, or the number of tokens",
    "max_context_size": "it is `max_context_tokens`",
    "max_tool_iterations": "it is `max_tool_turns`",
    "tool_provider": "a function that gives the tools of each turn is `tools=function`",
}
_KINDS = {
    **OWN_KINDS,
    "name": Kind(lambda value: isinstance(value, str) and value != "", "a text"),
    "description": Kind(lambda value: isinstance(value, str), "a text"),
    "socket_emit": Kind(lambda value: takes_positional(value, 1), "a function of one JSON object, sync or async"),
    "log": Kind(lambda value: takes_positional(value, 1) and not is_async(value), "a function of one line that is not async"),
    "hooks": Kind(lambda value: isinstance(value, Hooks | Iterable) or callable(value), "llmcore.Hooks, or several"),
    "model": Kind(lambda value: isinstance(value, str), "a model's name or alias"),
}


_OF_RUNS = PER_RUN - _KINDS.keys()


def checked_agent_options(thing: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options, those of runs as a run has them. Raises `ConfigError` for one that does not exist, and for a value that is
    none of its option's."""
    for name in given:
        if name not in OPTIONS:
            raise ConfigError(unknown(thing, "option", name, OPTIONS, INSTEAD))
    check_kinds(thing, given, _KINDS)
    return {**given, **checked_options(thing, {name: value for name, value in given.items() if name in _OF_RUNS})}


def orchestrators(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those that the orchestrator is made with."""
    return {name: value for name, value in given.items() if name in _OF_ORCHESTRATOR}


def per_run(given: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """Those that each run is given; `whole`: also those that an orchestrator could be made with."""
    left_out = {"tools", "system"} | (frozenset[str]() if whole else _OF_ORCHESTRATOR)
    return {name: value for name, value in given.items() if name in PER_RUN | {"output_type"} and name not in left_out}
