"""What can be learnt of an endpoint: the names, one fact, and the interface through which processes share facts.

A fact is a yes or a no about one capability or one request parameter, with the time at which it was learnt, and whether it was
seen more than once. Nothing else is shared: no prompt, no reply, no key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple, Protocol, cast, runtime_checkable

from llmcore.adapters.base import Capabilities
from llmcore.types import ConfigError

__all__ = [
    "AHEAD",
    "DAY",
    "LEARNABLE",
    "PARAMETERS",
    "TRIAL",
    "Fact",
    "SharedFacts",
    "check_name",
    "doubt_of",
    "doubted_in",
    "fact_of",
    "is_learnable",
    "most_tools",
    "tool_limit_of",
]

DAY = 86_400.0
TRIAL = 300.0
"""Seconds for which what one refusal taught is believed; then it is tried again, and what is refused again is proven."""
AHEAD = 300.0
"""Seconds by which the clock of another process may be ahead. What is from later times was written by a broken clock, or not by
us: it is not believed, and gives way to any fact."""
LEARNABLE = frozenset(name for name, field in Capabilities.model_fields.items() if field.annotation == (bool | None))
"""The yes/no capabilities."""
PARAMETERS = frozenset(
    {
        "cache_control",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "n",
        "presence_penalty",
        "reasoning_effort",
        "seed",
        "stop",
        "stream_options",
        "strict",
        "system_message",
        "system_place",
        "temperature",
        "thinking",
        "tool_choice",
        "top_k",
        "top_p",
        "usage",
        "user",
    }
)
"""The request parameters that an endpoint may refuse by themselves; such a one is in `Capabilities.unsupported_parameters`.
`tool_choice`: any at all, `none` among them (forced ones are the capabilities `tool_choice_required` and `tool_choice_named`).
`system_place`: a system message elsewhere than at the start. `usage`: by it OpenRouter is asked for the cost.
Names that are joined by `+` are parts of a request that are refused together: each alone is taken."""


class Fact(NamedTuple):
    """One thing learnt of an endpoint. `learnt_at` is wall-clock time in seconds, so that processes can compare. `proven`: it is
    believed until it is forgotten; else it was seen once, and is believed for a short time only."""

    value: bool
    learnt_at: float
    proven: bool = True


@runtime_checkable
class SharedFacts(Protocol):
    """A backend that several processes learn through: endpoint key -> capability or parameter -> fact.

    Both methods may raise anything and take any time: the store bounds the wait, warns once and goes on with what it knows.
    """

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        """Everything that is shared."""
        ...

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        """Add these to what is shared; of two facts about the same the later one stands."""
        ...


def is_learnable(name: str) -> bool:
    """May a fact be about it: a capability, a parameter, a set of these, a number of tools that are too many, or a dialect?"""
    if tool_limit_of(name) is not None or dialect_written(name) is not None:
        return True
    return all(part in LEARNABLE or part in PARAMETERS for part in name.split("+"))


_WRITES = "writes="


def writes(dialect: str) -> str:
    """The name of the fact that an endpoint was seen to write its calls in this dialect."""
    return f"{_WRITES}{dialect}"


def dialect_written(name: str) -> str | None:
    """The dialect in the name of such a fact; None for any other name."""
    return name.removeprefix(_WRITES) if name.startswith(_WRITES) else None


_MOST_TOOLS = "max_tools="


def most_tools(number: int) -> str:
    """The name of the fact that more tools than this are refused: facts are a yes or a no."""
    return f"{_MOST_TOOLS}{number}"


def tool_limit_of(name: str) -> int | None:
    """The number of tools in the name of such a fact; None for any other name."""
    number = name.removeprefix(_MOST_TOOLS)
    return int(number) if number != name and number.isdecimal() and len(number) <= _DIGITS else None


_DOUBT = "?"
_DIGITS = 12


def doubt_of(capability: str) -> str:
    """The name of the fact that a capability, or a set of parts, was refused once, in words that do not say so."""
    return f"{capability}{_DOUBT}"


def doubted_in(name: str) -> str | None:
    """What the name of such a fact is about; None for any other name."""
    capability = name.removesuffix(_DOUBT)
    return capability if capability != name and is_learnable(capability) else None


def check_name(name: str) -> None:
    """Raises `ConfigError`, naming the nearest one, for what is neither a capability nor a parameter."""
    if is_learnable(name):
        return
    near = get_close_matches(name, [*sorted(LEARNABLE), *sorted(PARAMETERS)], n=1)
    hint = (
        f"did you mean {near[0]!r}?"
        if near
        else f"there are the capabilities {', '.join(sorted(LEARNABLE))} and the parameters {', '.join(sorted(PARAMETERS))}"
    )
    raise ConfigError(f"no such capability or request parameter: {name!r}; {hint}")


def fact_of(entry: object) -> Fact | None:
    """A fact from what another process wrote, a boolean, a number and perhaps another boolean; None for what is none."""
    parts = cast("Sequence[object]", entry) if isinstance(entry, tuple | list) else ()
    if len(parts) not in (2, 3):
        return None
    value, learnt_at, proven = *parts[:2], parts[2] if len(parts) == 3 else True
    if not (isinstance(value, bool) and isinstance(proven, bool)):
        return None
    if isinstance(learnt_at, bool) or not isinstance(learnt_at, int | float):
        return None
    return Fact(value, float(learnt_at), proven) if math.isfinite(learnt_at) else None
