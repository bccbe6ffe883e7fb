"""`ToolConfig`: how a run offers tools to the model and runs them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from llmcore.support.values.bounds import Count, PositiveAmount, PositiveCount, Switch, whole_number
from llmcore.support.values.copies import Value, made
from llmcore.types import RetryConfig, ToolChoice

__all__ = ["ToolConfig", "ToolErrors"]

ToolErrors = Literal["continue", "abort", "retry"]
"""What the run does after a tool failed.

`continue` returns the error to the model. `abort` ends the run with the `ToolError`. `retry` runs the tool again after a
back-off, and returns the error to the model when the retry budget is spent.
"""


def _names(given: object) -> object:
    if isinstance(given, str):
        raise PydanticCustomError("names", "must be a set of tools' names, as in {'add'}, not a text")
    return given


class ToolConfig(Value):
    """The settings of a run's tools. `Orchestrator` and its runs take one as `tool_config=`.

    A setting of the run overrides one of the model's `tools:` in the registry, which overrides one of the orchestrator.

    `allowed`: the names of the tools that may be offered; None allows all.
    `tool_choice`: None uses the request's.
    `max_turns`: in how many turns tools may run before the final answer.
    `max_parallel`: how many calls of one turn run at the same time.
    `timeout`: seconds for each try; None sets no limit. A tool's own `timeout` and `retries` override it and `retry`.
    `max_result_chars`: at least 200. A longer result is cut to that length: its start, a note of its full size, and its end.

    Raises `ConfigError` for an unknown setting or a wrong value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    instead: ClassVar[Mapping[str, str]] = {
        "allowed_tools": "it is `allowed`",
        "force_tools": "it is `tool_choice='required'`",
        "execution_timeout": "it is `timeout`, in seconds for each try",
        "error_handling": "it is `errors`: 'continue', 'abort' or 'retry'",
        "max_retries": "it is `retry=RetryConfig(max_retries=...)`; a tool's own are `tool(retries=...)`",
    }

    enabled: Switch = True
    allowed: Annotated[AbstractSet[str], BeforeValidator(_names), AfterValidator(frozenset)] | None = None
    tool_choice: ToolChoice | None = None
    max_turns: Count = 10
    max_parallel: PositiveCount = 8
    timeout: PositiveAmount | None = 60.0
    errors: ToolErrors = "continue"
    retry: RetryConfig = made(RetryConfig)
    max_result_chars: Annotated[int, whole_number(200)] = 100_000

    def overlaid(self, other: ToolConfig | None) -> ToolConfig:
        """These settings, with those that `other` sets explicitly in place of them."""
        if other is None or not other.model_fields_set:
            return self
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})
