"""Tokens, cost, output modes and the one budget that every repeated request draws on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import ConfigDict

from llmcore.support.values.bounds import Count, PositiveAmount, PositiveCount
from llmcore.support.values.copies import Value, made

__all__ = ["NO_USAGE", "AttemptReason", "Budget", "OutputMode", "Usage"]

OutputMode = Literal["native_tools", "json_schema", "json_object", "text"]
"""How a request asks for calls and typed output."""

AttemptReason = Literal["first", "reask", "mode", "model", "retry", "turn"]
"""Why a request was made.

`first`: the first one. `reask`: a self-correction. `mode`: another output mode. `model`: another model. `retry`: the same request
after a provider's fault or limit. `turn`: the next turn of the tool loop.
"""


class Usage(Value):
    """Tokens and cost of one or several requests. `a + b` adds up.

    `input_tokens` includes the cached ones (`cache_read_tokens`, `cache_write_tokens`); `output_tokens` includes
    `reasoning_tokens`. `cost` is in US dollars; None if the price is unknown. `estimated`: the provider did not report tokens, so
    they were estimated.
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


class Budget(Value):
    """What one run may spend. None sets no limit. All requests and nested runs draw on the same budget.

    `attempts` and `reasks` count per model and per turn, so that the failures of one model take nothing from the next one.

    - `attempts`: the first request to a model and its repetitions (another output mode, or the same request again). An attempt
      that failed before it was sent counts too. The default is one for each of the four output modes; if faults used some up, the
      last attempt is made in the last mode.
    - `reasks`: the self-corrections, which come in addition.

    So a turn makes at most `models x (attempts + reasks)` requests, where the models are the first one and those it may escalate
    to. One more is possible for each further deployment of a model, and for each parameter that a server refuses by name. A run
    has up to `max_tool_turns + 1` turns.

    These limit the whole run:

    - `requests`: with three models and the defaults, a turn makes at most 18 requests and 11 turns make 198;
      `Budget(requests=20)` allows 20.
    - `tokens` and `cost` (US dollars): if a reply reports no plausible usage, it is estimated.
    - `tool_calls`: how many calls run; a call that is tried again counts once. If a reply has more calls than remain, the first
      ones run, each other one is answered as not run, and the run ends with `LimitExceeded`.
    - `deadline`: seconds.

    `requests`, `tokens` and `cost` are checked before each request, which raises `LimitExceeded` if one is spent.

    Raises `ConfigError` for an unknown field, and for anything but a finite number in range.
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
