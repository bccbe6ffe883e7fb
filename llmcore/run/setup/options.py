"""The options of a run. `OPTIONS` has a row for each; the TypedDicts have their types for editors and type checkers.

To add an option, add its row and its type here, and read it where it is used. The orchestrator's settings, the agent's
options, the checks, the shown signatures and the table in docs/running.md come from the rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from typing_extensions import TypedDict  # before Python 3.12, pydantic accepts only this TypedDict

from llmcore.run.results.result import RunResult
from llmcore.run.resume.answers import Answers
from llmcore.run.resume.claims import RunStore
from llmcore.run.setup.interjections import Interjections
from llmcore.support.code.function_types import OfContext, OfValue
from llmcore.support.code.suggestions import hint
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.narrowing import is_list
from llmcore.tools import RunContext, ToolConfig, ToolErrors
from llmcore.types import Budget, ConfigError, Message, Request, TextBlock
from llmcore.types.input.argument_errors import Kind, check_kinds
from llmcore.types.requests import TEXT_CALLS, RequestOptions, TextCalls
from llmcore.types.shared.budgets import SharedBudget

__all__ = [
    "OPTIONS",
    "PER_RUN",
    "REQUEST_OPTIONS",
    "SHARED",
    "TOOL_OPTIONS",
    "Given",
    "Option",
    "OptionsOfRuns",
    "RunOptions",
    "SharedOptions",
    "Strictness",
    "check_options",
    "other_names",
]

# RunResult without [Any], which means the same: with it, pydantic would build another model at each start
Given = str | Message | Sequence[Message | Mapping[str, Any]] | Request | RunResult
"""What `run`, `execute` and `stream` accept: text, a message, a list of messages, a `Request`, or a result to continue."""
Strictness = Literal["off", "safe", "lenient"]


class SharedOptions(TypedDict, total=False):
    """Options that an orchestrator sets for all its runs, and each run may override."""

    budget: Budget | None
    deps: Any
    strictness: Strictness
    text_calls: TextCalls
    max_tool_turns: int
    max_parallel_tools: int
    tool_timeout: float | None
    tool_errors: ToolErrors
    tool_config: ToolConfig | None
    output_validators: Iterable[OfValue] | OfValue | None
    max_context_tokens: int | None
    checkpoint: Callable[[RunResult[Any]], Any] | None
    run_store: RunStore | None
    shared_budget: SharedBudget | None
    signing_key: str | bytes | None


class OptionsOfRuns(SharedOptions, total=False):
    """The options of a run that are not fields of its request."""

    message_history: Sequence[Message | Mapping[str, Any]] | RunResult | None
    interjections: Interjections | OfContext | None
    parent: RunContext[Any] | None
    answers: Answers | None
    nested_events: bool


class RunOptions(RequestOptions, OptionsOfRuns, total=False):
    """One run's options: fields of `Request`, which they override, and options that only runs have."""


def _is_count(least: int) -> Kind:
    return Kind(
        lambda value: isinstance(value, int) and is_amount(value) and value >= least, f"a whole number of at least {least}"
    )


def _one_of(*words: str) -> Kind:
    *others, last = map(repr, words)
    return Kind(lambda value: isinstance(value, str) and value in words, f"{', '.join(others)} or {last}")


def _is_history(value: object) -> bool:
    if isinstance(value, RunResult):
        return True
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Message | Request)


def _is_system(value: object) -> bool:
    return isinstance(value, str) or (is_list(value) and all(map(_is_text_block, value)))


def _is_text_block(value: object) -> bool:
    return isinstance(value, TextBlock) or (isinstance(value, Mapping) and "role" not in value)


def _instance(kind: type[Any], words: str) -> Kind:
    return Kind(lambda value: isinstance(value, kind), words)


_ONE_CALL = object()
"""The default of an option that an orchestrator does not have."""


@dataclass(frozen=True, slots=True)
class Option:
    """A row of `OPTIONS`.

    `about`: its line in docs/running.md. `default`: the orchestrator's default; without one, only runs have the option.
    `kind`: the allowed values; None if the code that uses the option checks it. `nullable`: whether None is allowed.
    `tool_setting`: the field of `ToolConfig` that the option sets.
    """

    about: str
    default: Any = _ONE_CALL
    kind: Kind | None = None
    nullable: bool = False
    tool_setting: str = ""

    @property
    def is_shared(self) -> bool:
        """Whether an orchestrator has it too."""
        return self.default is not _ONE_CALL


OPTIONS: Mapping[str, Option] = {
    "system": Option(
        "the system prompt: text or `TextBlock`s",
        default=None,
        kind=Kind(_is_system, "text or a list of TextBlocks (a message with the role system belongs to the request)"),
        nullable=True,
    ),
    "message_history": Option(
        "the earlier conversation: messages, or an earlier `RunResult`",
        kind=Kind(_is_history, "a list of messages, or a RunResult (a saved one is read by RunResult.model_validate_json)"),
        nullable=True,
    ),
    "budget": Option(
        "the `Budget` that the run may spend", default=None, kind=_instance(Budget, "an llmcore.Budget"), nullable=True
    ),
    "deps": Option("the object that tools, hooks and validators get in `RunContext.deps`", default=None),
    "strictness": Option(
        "which mistakes of a model are repaired: `off`, `safe`, `lenient`",
        default="safe",
        kind=_one_of("off", "safe", "lenient"),
    ),
    "text_calls": Option(
        "which calls in text count: `standard`, `alone`, `off` ([trust](trust.md#your-policy))",
        default="standard",
        kind=_one_of(*TEXT_CALLS),
    ),
    "max_tool_turns": Option("the most turns that may run tools", default=10, kind=_is_count(0), tool_setting="max_turns"),
    "max_parallel_tools": Option("the most tools that run at once", default=8, kind=_is_count(1), tool_setting="max_parallel"),
    "tool_timeout": Option(
        "the seconds of each try of a tool; None = no limit",
        default=60.0,
        kind=Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0, or None"),
        nullable=True,
        tool_setting="timeout",
    ),
    "tool_errors": Option(
        "what a tool's error does: `continue` reports it to the model, `abort` ends the run, `retry` tries again first",
        default="continue",
        kind=_one_of("continue", "abort", "retry"),
        tool_setting="errors",
    ),
    "tool_config": Option(
        "a `ToolConfig`: these tool settings, and further ones",
        default=None,
        kind=_instance(ToolConfig, "an llmcore.ToolConfig"),
        nullable=True,
    ),
    "output_validators": Option(
        "functions that judge the final answer, after the orchestrator's ([typed output](typed-output.md))", default=None
    ),
    "interjections": Option("the source of messages that enter during the run"),
    "max_context_tokens": Option("the most tokens that a request may have", default=None),
    "parent": Option(
        "the `RunContext` of the tool that makes this run: both share the outer run's budget, deadline and usage",
        kind=_instance(RunContext, "the RunContext that a tool was given"),
        nullable=True,
    ),
    "answers": Option(
        "answers to the waiting calls, by their ids ([approval](approval.md))",
        kind=_instance(Mapping, "a dict of Approve(), Deny(...) or Answer(...) by the ids of calls"),
        nullable=True,
    ),
    "run_store": Option(
        "where the run is saved, and where a saved run is claimed ([approval](approval.md#each-saved-run-goes-on-once))",
        default=None,
        kind=_instance(RunStore, "an llmcore.RunStore, such as llmcore.FileStore('runs')"),
        nullable=True,
    ),
    "shared_budget": Option(
        "the `SharedBudget` of several runs or processes, from which each request reserves its cost ([fleet](fleet.md))",
        default=None,
        kind=_instance(SharedBudget, "an object with reserve(amount) and settle(hold, amount), such as an llmcore.LocalBudget"),
        nullable=True,
    ),
    "signing_key": Option("signs the open calls of a saved run: at least 16 bytes ([approval](approval.md))", default=None),
    "nested_events": Option(
        "whether a stream also has the events of child runs, each in a `NestedEvent`",
        kind=_instance(bool, "True or False"),
    ),
    "checkpoint": Option(
        "a function of a `RunResult` that saves the run's progress ([approval](approval.md))",
        default=None,
        kind=Kind(callable, "a function of a RunResult"),
        nullable=True,
    ),
}
"""The options of runs, except the fields of `Request`, which define their own allowed values."""

REQUEST_OPTIONS = frozenset(Request.model_fields) - {"messages"}
PER_RUN = REQUEST_OPTIONS | OPTIONS.keys()
SHARED = {name: option for name, option in OPTIONS.items() if option.is_shared}
"""The options that an orchestrator has too."""
TOOL_OPTIONS = {name: option.tool_setting for name, option in OPTIONS.items() if option.tool_setting}
"""Options that set fields of a `ToolConfig`, with the names of those fields."""
_KINDS = {name: option.kind for name, option in OPTIONS.items() if option.kind is not None}
_NAMES = sorted(PER_RUN)


@cache
def other_names() -> Mapping[str, Mapping[str, str]]:
    """What to write instead of another library's option, for `run`, `orchestrator` and `agent`."""
    return tomllib.loads(files("llmcore.run.setup").joinpath("other_names.toml").read_text(encoding="utf-8"))


def check_options(thing: str, options: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for an unknown option, with the nearest name, or for a value of the wrong kind."""
    if not options:
        return
    for name, value in options.items():
        if name not in PER_RUN:
            raise ConfigError(f"unknown option {name!r}; {hint(name, _NAMES, other_names()['run'])}")
        if value is None and name in _KINDS and not OPTIONS[name].nullable:
            raise ConfigError(f"{thing}: `{name}` must be {_KINDS[name].words}, not None")
    check_kinds(thing, options, _KINDS)
