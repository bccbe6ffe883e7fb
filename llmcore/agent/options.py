"""The options of an agent: those of an orchestrator and of its runs, and its own. They are class attributes or constructor
arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from llmcore.hooks import Hooks
from llmcore.orchestrator import INSTEAD as OF_ORCHESTRATORS
from llmcore.orchestrator import OWN_KINDS, SETTINGS, OrchestratorSettings
from llmcore.run.results.result import RunResult
from llmcore.run.setup.options import PER_RUN, OptionsOfRuns, other_names
from llmcore.run.setup.settings import checked_options
from llmcore.support.code.suggestions import unknown
from llmcore.types import ConfigError, Message
from llmcore.types.input.argument_errors import Kind, check_kinds, is_async, takes_positional
from llmcore.types.requests import OptionsOfAnyModel

__all__ = [
    "OPTIONS",
    "ORCHESTRATOR_ONLY",
    "SUGGESTIONS",
    "AgentOptions",
    "Emit",
    "checked_agent_options",
    "orchestrator_options",
    "run_options",
]

Emit = Callable[[dict[str, Any]], Any]
"""A function that gets one JSON object for each event. It may be async."""


class _OwnOptions(TypedDict, total=False):
    messages: Sequence[Message | Mapping[str, Any]] | RunResult[Any] | None
    """The conversation so far."""
    name: str | None
    """For logs, and for the tool by which other agents ask it. Default: the class's name."""
    description: str | None
    """For the same tool. Default: from the class's docstring."""
    log: Callable[[str], object] | None
    """Gets a line for each request, tool and answer, in place of the logger `llmcore.agent`."""
    output_type: Any
    """The type of a chat's answer, if the call does not give one."""


class AgentOptions(OptionsOfAnyModel, OptionsOfRuns, OrchestratorSettings, _OwnOptions, total=False):
    """The options of an agent beside `client`, `model` and `socket_emit`."""


_OF_ORCHESTRATOR = SETTINGS - {"models", "tools", "hooks", "system"}
ORCHESTRATOR_ONLY = _OF_ORCHESTRATOR - PER_RUN - {"name"}
_PER_CHAT = {"message_history", "parent", "answers"}
OPTIONS = sorted(
    ({"client", "socket_emit", "hooks"} | PER_RUN | _OF_ORCHESTRATOR | _OwnOptions.__annotations__.keys()) - _PER_CHAT
)
SUGGESTIONS: Mapping[str, str] = {
    **{name: words for name, words in {**OF_ORCHESTRATORS, **other_names()["run"]}.items() if name not in OPTIONS},
    **other_names()["agent"],
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
    """The options, with those of runs in a run's form. Raises `ConfigError` for an unknown option, and for a value of a wrong
    kind."""
    for name in given:
        if name not in OPTIONS:
            raise ConfigError(unknown(thing, "option", name, OPTIONS, SUGGESTIONS))
    check_kinds(thing, given, _KINDS)
    return {**given, **checked_options(thing, {name: value for name, value in given.items() if name in _OF_RUNS})}


def orchestrator_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the agent's orchestrator."""
    return {name: value for name, value in given.items() if name in _OF_ORCHESTRATOR}


def run_options(given: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """The options of each run; `whole`: including those that an orchestrator could have."""
    left_out = {"tools", "system"} | (frozenset[str]() if whole else _OF_ORCHESTRATOR)
    return {name: value for name, value in given.items() if name in PER_RUN | {"output_type"} and name not in left_out}
