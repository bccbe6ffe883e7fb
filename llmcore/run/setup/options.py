"""The options of `run`, `execute` and `stream`, and of the orchestrator for all of them: their types, for editors and type
checkers, and what each may be, for those who have none. Here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from typing_extensions import TypedDict  # a type checker's Unpack takes either; pydantic reads only this one before 3.12

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

__all__ = [
    "INSTEAD",
    "KINDS",
    "PER_RUN",
    "REQUEST_OPTIONS",
    "Given",
    "OptionsOfRuns",
    "RunOptions",
    "Strictness",
    "check_options",
]

# RunResult without its [Any], which it means: with it, pydantic would make another model, at each start
Given = str | Message | Sequence[Message | Mapping[str, Any]] | Request | RunResult
"""What `run`, `execute` and `stream` take: text, a message, a list of messages, a whole `Request`, or a result to go on from."""
Strictness = Literal["off", "safe", "lenient"]


class OptionsOfRuns(TypedDict, total=False):
    message_history: Sequence[Message | Mapping[str, Any]] | RunResult | None
    """What was said before: messages, or an earlier result."""
    budget: Budget | None
    deps: Any
    """What the tools find in `RunContext.deps`."""
    strictness: Strictness
    text_calls: TextCalls
    """Which calls in text count: docs/trust.md."""
    max_tool_turns: int
    max_parallel_tools: int
    tool_timeout: float | None
    """Seconds for each try of a tool. The whole run's time is `deadline`."""
    tool_errors: ToolErrors
    tool_config: ToolConfig | None
    """The same settings of tools, and the others there are."""
    output_validators: Iterable[OfValue] | OfValue | None
    """Asked after the orchestrator's."""
    interjections: Interjections | OfContext | None
    """Where messages come from that enter while the run goes on."""
    max_context_tokens: int | None
    parent: RunContext[Any] | None
    """The context of a tool that makes this run: it then spends from that run's budget besides its own, counts in its usage, and
    its result stands among that one's `runs`."""
    answers: Answers | None
    """What is said of the calls that wait, by their ids: the run goes on where the given result ended."""
    run_store: RunStore | None
    """Where the run saves its checkpoints, and where a saved run that is resumed is claimed: see `docs/approval.md`."""
    signing_key: str | bytes | None
    """Signs what is saved of the calls that wait, and is asked for when the run is resumed. At least 16 bytes."""
    nested_events: bool
    """Tell the events of runs within this one, such as those of sub-agents, among this one's: each in a `NestedEvent`."""
    checkpoint: Callable[[RunResult[Any]], Any] | None
    """A function of a `RunResult`, sync or async, that saves the run as far as it has come: see `docs/approval.md`."""


class RunOptions(RequestOptions, OptionsOfRuns, total=False):
    """One run's options: any field of `Request`, which they override, and what only runs have."""


REQUEST_OPTIONS = frozenset(Request.model_fields) - {"messages"}
PER_RUN = REQUEST_OPTIONS | RunOptions.__annotations__.keys()
_OPTIONS = sorted(PER_RUN)


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


KINDS: Mapping[str, Kind] = {
    "system": Kind(_is_system, "text or a list of TextBlocks (a message of the role system is one of the request)"),
    "message_history": Kind(
        _is_history, "a list of messages, or a RunResult (a saved one is read by RunResult.model_validate_json)"
    ),
    "budget": Kind(lambda value: isinstance(value, Budget), "an llmcore.Budget"),
    "strictness": _one_of("off", "safe", "lenient"),
    "text_calls": _one_of(*TEXT_CALLS),
    "max_tool_turns": _is_count(0),
    "max_parallel_tools": _is_count(1),
    "tool_timeout": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0, or None"),
    "tool_errors": _one_of("continue", "abort", "retry"),
    "tool_config": Kind(lambda value: isinstance(value, ToolConfig), "an llmcore.ToolConfig"),
    "parent": Kind(lambda value: isinstance(value, RunContext), "the RunContext that a tool was given"),
    "answers": Kind(
        lambda value: isinstance(value, Mapping), "a dict of Approve(), Deny(...) or Answer(...) by the ids of calls"
    ),
    "checkpoint": Kind(callable, "a function of a RunResult"),
    "run_store": Kind(lambda value: isinstance(value, RunStore), "an llmcore.RunStore, such as llmcore.FileStore('runs')"),
    "nested_events": Kind(lambda value: isinstance(value, bool), "True or False"),
}
_MAY_BE_NONE = frozenset(
    {"system", "message_history", "budget", "tool_timeout", "tool_config", "parent", "answers", "checkpoint", "run_store"}
)
_ATTEMPTS = "give `budget=Budget(attempts=..., reasks=...)`; a tool's own are `tool(retries=...)`"
_OF_ALL_RUNS = (
    "hooks",
    "models",
    "capabilities",
    "strategies",
    "adapter",
    "web_search",
    "token_counter",
    "enforce_limits",
)
_SAMPLING = ("seed", "n", "logit_bias", "logprobs", "top_logprobs", "top_k", "frequency_penalty", "presence_penalty", "metadata")
INSTEAD: Mapping[str, str] = {
    **{name: f"it belongs to all runs: Orchestrator(..., {name}=...)" for name in _OF_ALL_RUNS},
    "images": "an image is an ImageBlock in a message's content, or a part `image_url` of OpenAI's form",
    "messages": "messages are the first argument",
    "history": "a history is `message_history`",
    "prompt": "the prompt is the first argument",
    "stream": "call `stream(...)` in place of `run(...)`",
    "response_format": "a typed answer is `output_type`, or `execute(request, output_type)`",
    "response_model": "a typed answer is `output_type`, or `execute(request, output_type)`",
    "result_type": "a typed answer is `output_type`, or `execute(request, output_type)`",
    "force_tools": "give `tool_choice='required'`",
    "allowed_tools": "it is `tool_config=ToolConfig(allowed={...})`",
    "reasoning_effort": "it is `thinking`: True, False or a budget in tokens",
    "user": "what a provider takes beside these goes in `extra_body={'user': ...}`",
    "user_prompt": "the prompt is the first argument",
    "max_attempts": _ATTEMPTS,
    "max_steps": "it is `max_tool_turns`",
    "max_retries": _ATTEMPTS,
    "retries": _ATTEMPTS,
    "attempts": _ATTEMPTS,
    "reasks": _ATTEMPTS,
    "max_turns": "it is `max_tool_turns`",
    "max_iterations": "it is `max_tool_turns`",
    "max_tool_calls": "it is `budget=Budget(tool_calls=...)`",
    "deps_type": "give `deps`; their type is that of the value",
    "model_settings": "its settings are options by themselves: temperature=..., max_tokens=...",
    "verbose": "what a run does is logged under `llmcore`, and told by `stream(...)` and by observers",
    "stream_options": "the count of a stream's tokens is asked for by itself",
    **dict.fromkeys(_SAMPLING, "what a provider takes beside these goes in `extra_body={...}`"),
    "timeout": "the whole run has its `deadline`, a model its `timeout` in the registry, a tool its `tool_timeout`",
    "context": "it is `deps`",
    "max_output_tokens": "it is `max_tokens`; what a whole run may spend is `budget=Budget(tokens=...)`",
    "max_completion_tokens": "it is `max_tokens`; what a whole run may spend is `budget=Budget(tokens=...)`",
    "usage": "a run within another one is given `parent=context`, the RunContext of the tool that makes it",
    "usage_limits": "it is `budget=Budget(requests=..., tokens=...)`",
    "functions": "they are `tools`",
    "deferred_tool_results": "give `answers={call_id: Approve() | Deny(...) | Answer(...)}`",
    "function_call": "it is `tool_choice`",
    "stop_sequences": "it is `stop`",
    "system_prompt": "it is `system`",
    "instructions": "it is `system`",
}
"""What other libraries call otherwise, options that belong elsewhere, and names that were merged into one."""


def check_options(thing: str, options: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for an option that does not exist or has a value of another kind, with what was probably meant."""
    if not options:
        return
    for name, value in options.items():
        if name not in PER_RUN:
            raise ConfigError(f"unknown option {name!r}; {hint(name, _OPTIONS, INSTEAD)}")
        if value is None and name in KINDS and name not in _MAY_BE_NONE:
            raise ConfigError(f"{thing}: `{name}` must be {KINDS[name].words}, not None")
    check_kinds(thing, options, KINDS)
