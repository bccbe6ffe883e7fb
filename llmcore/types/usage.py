"""Tokens, cost, output modes and the one budget that every repeated request draws on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import ConfigDict

from llmcore.support.values.bounds import Count, PositiveAmount, PositiveCount
from llmcore.support.values.copies import Value, made

__all__ = ["NO_USAGE", "AttemptReason", "Budget", "OutputMode", "Usage"]

OutputMode = Literal["native_tools", "json_schema", "json_object", "text"]
"""How calls and typed output are asked for."""

AttemptReason = Literal["first", "reask", "mode", "model", "retry", "turn"]
"""Why a request was made: the first one, a self-correction, another output mode, another model, the same request again
after a provider's fault or limit, or the next turn of the tool loop."""


class Usage(Value):
    """Tokens and cost of one or several requests. `a + b` adds up.

    `input_tokens` includes the cached ones (`cache_read_tokens`, `cache_write_tokens`); `output_tokens` includes
    `reasoning_tokens`. `cost` is in US dollars, None when the price is unknown; `estimated` is True when a provider did not
    report tokens and they were guessed.
    """

    model_config = ConfigDict(frozen=True)

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    estimated: bool = False

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        if self is NO_USAGE or self == NO_USAGE:
            return other
        if other is NO_USAGE or other == NO_USAGE:
            return self
        known = self.cost is not None and other.cost is not None
        return made(
            Usage,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=(self.cost or 0.0) + (other.cost or 0.0) if known else None,
            estimated=self.estimated or other.estimated,
        )


NO_USAGE = made(Usage)
"""Nothing was used."""


class Budget(Value):
    """What one run may spend. Passed down through every layer; whoever makes a request draws on it.

    `attempts` and `reasks` count per model and per turn, so that one model's failures take nothing from the next one:
    `attempts` are the first request to a model and its repetitions (another output mode, the same again), also those
    that failed before they went out; `reasks` are the self-corrections beside them. The default's four attempts are
    one for each output mode; where faults took some, the last one is made in the last mode. So a turn makes at most

        models x (attempts + reasks)

    requests (and one more for each further deployment of a model, and for each parameter of the request that a server
    refuses by its name), where models are the first one and those it may escalate to, and a run as many as that for each
    of its `max_tool_turns + 1` turns. `requests` bounds the whole run, whatever makes them: 3 models and the defaults are at
    most 18 a turn, 198 in 11 turns, and 20 with `Budget(requests=20)`.

    `tokens` and `cost` (US dollars) bound the whole run as well; where a reply tells no believable usage, it is
    estimated. These three are looked at before each request: one too many is a `LimitExceeded`. `tool_calls` bounds how
    many calls are carried out, a call that is tried again counted once: of a turn's calls as many run as are left; each
    other one is answered as not run, and then the run ends with a `LimitExceeded`. `deadline` is the whole run's time in
    seconds. None = unbounded.

    Raises `ConfigError` for an unknown field and for anything but a finite number in range.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    instead: ClassVar[Mapping[str, str]] = {
        "timeout": "the run's time is `deadline`, in seconds",
        "max_retries": "requests to a model are `attempts`, self-corrections `reasks`",
        "retries": "requests to a model are `attempts`, self-corrections `reasks`",
        "max_tokens": "what a run may spend is `tokens`; the length of a reply is the run's `max_tokens`",
        "max_turns": "how many times tools may run is the run's `max_tool_turns`",
    }

    attempts: PositiveCount = 4
    reasks: Count = 2
    requests: PositiveCount | None = None
    tool_calls: Count | None = None
    tokens: PositiveCount | None = None
    cost: PositiveAmount | None = None
    deadline: PositiveAmount | None = None
