"""How tools are offered and run. Plain values, checked when they are made."""

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
"""What a failed tool does: `continue` tells the model, `abort` ends the run with the `ToolError`, `retry` runs it
again with back-off and then tells the model."""


def _names(given: object) -> object:
    if isinstance(given, str):
        raise PydanticCustomError("names", "must be a set of tools' names, as in {'add'}, not a text")
    return given


class ToolConfig(Value):
    """The settings of a run's tools: the orchestrator's, with those of the model's `tools:` in the registry laid over
    them, and over both the run's own. `Orchestrator` and its runs take one as `tool_config=`.

    `allowed` None = all. `tool_choice` None = the request's. `max_turns`: how many times tools may run before the
    final answer. `max_parallel`: how many run at once. `timeout`: seconds for each try, None = none; a tool's own
    `timeout` and `retries` win. `max_result_chars` (200 or more): a longer result keeps its first and last part around a
    note of its full size, which counts in it.
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
        """These, with what `other` sets explicitly laid over them."""
        if other is None or not other.model_fields_set:
            return self
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})
