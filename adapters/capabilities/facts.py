"""What can be learned of an endpoint: the names of facts, one fact, and the interface by which processes share facts.

A fact is True or False for one capability or request parameter. It holds the time at which it was learned, and whether it was
seen more than once. Nothing else is shared: no prompt, no reply, no key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple, Protocol, cast, runtime_checkable

from llmcore.adapters.base import Capabilities
from llmcore.support.values.bounds import is_amount
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import Kind

__all__ = [
    "BACKEND_KINDS",
    "DAY",
    "LEARNABLE",
    "MAX_CLOCK_SKEW",
    "PARAMETERS",
    "TRIAL",
    "Fact",
    "SharedFacts",
    "check_name",
    "doubt_fact",
    "doubted_capability",
    "fact_of",
    "is_learnable",
    "tool_limit_fact",
    "tool_limit_of",
]

BACKEND_KINDS = {
    "name": Kind(lambda value: isinstance(value, str) and bool(value.strip()), "a text, the key of the hash"),
    "timeout": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "maxsize": Kind(lambda value: isinstance(value, int) and is_amount(value) and value > 0, "a whole number of at least 1"),
    "ttl": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "clock": Kind(callable, "a function that gives wall-clock seconds"),
}
"""The valid settings of `FileFacts` and `RedisFacts`."""
DAY = 86_400.0
TRIAL = 300.0
"""Seconds for which a single refusal is believed. Then it is tried again; a second refusal proves it."""
MAX_CLOCK_SKEW = 300.0
"""Seconds by which another process's clock may be ahead. A fact from a later time has a wrong clock or another writer, so it
is ignored, and any other fact replaces it."""
LEARNABLE = frozenset(name for name, field in Capabilities.model_fields.items() if field.annotation == (bool | None))
"""The capabilities that are True or False."""
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
"""The request parameters that an endpoint may refuse alone; a refused one is in `Capabilities.unsupported_parameters`.

`tool_choice` is any tool choice, including `none` (forced ones are the capabilities `tool_choice_required` and
`tool_choice_named`). `system_place` is a system message after the start. `usage` asks OpenRouter for the cost. Names joined
by `+` are parts that are refused together, although each alone is accepted.
"""


class Fact(NamedTuple):
    """One thing learned of an endpoint.

    `learnt_at` is wall-clock time in seconds, so that processes can compare it. A `proven` fact is believed until it is
    forgotten. An unproven one was seen once, and is believed for a short time only.
    """

    value: bool
    learnt_at: float
    proven: bool = True


@runtime_checkable
class SharedFacts(Protocol):
    """A backend through which processes share facts: endpoint key -> capability or parameter -> fact.

    Both methods may raise any exception and take any time. The store bounds the wait, warns once, and continues with what it
    knows.
    """

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        """Return all shared facts."""
        ...

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        """Add these to the shared facts. Of two facts about the same thing, the later one stays."""
        ...


def is_learnable(name: str) -> bool:
    """Return whether a fact may have this name: a capability, a parameter, a set of these, a tool limit, or a dialect."""
    if tool_limit_of(name) is not None or dialect_of_fact(name) is not None:
        return True
    return all(part in LEARNABLE or part in PARAMETERS for part in name.split("+"))


_WRITES = "writes="


def dialect_fact(dialect: str) -> str:
    """Return the name of the fact that an endpoint writes its calls in this dialect."""
    return f"{_WRITES}{dialect}"


def dialect_of_fact(name: str) -> str | None:
    """Return the dialect in such a name, None for any other name."""
    return name.removeprefix(_WRITES) if name.startswith(_WRITES) else None


_MOST_TOOLS = "max_tools="


def tool_limit_fact(number: int) -> str:
    """Return the name of the fact that more tools than this are refused."""
    return f"{_MOST_TOOLS}{number}"


def tool_limit_of(name: str) -> int | None:
    """Return the number of tools in such a name, None for any other name."""
    number = name.removeprefix(_MOST_TOOLS)
    return int(number) if number != name and number.isdecimal() and len(number) <= _DIGITS else None


_DOUBT = "?"
_DIGITS = 12


def doubt_fact(capability: str) -> str:
    """Return the name of the fact that a capability, or a set of parts, was refused once in unclear words."""
    return f"{capability}{_DOUBT}"


def doubted_capability(name: str) -> str | None:
    """Return what such a name is about, None for any other name."""
    capability = name.removesuffix(_DOUBT)
    return capability if capability != name and is_learnable(capability) else None


def check_name(name: str) -> None:
    """Raises `ConfigError`, with the nearest name, for a name that is neither a capability nor a parameter."""
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
    """Return the fact in another process's entry (a boolean, a number and perhaps another boolean), None if it is invalid."""
    parts = cast("Sequence[object]", entry) if isinstance(entry, tuple | list) else ()
    if len(parts) not in (2, 3):
        return None
    value, learnt_at, proven = *parts[:2], parts[2] if len(parts) == 3 else True
    if not (isinstance(value, bool) and isinstance(proven, bool)):
        return None
    if isinstance(learnt_at, bool) or not isinstance(learnt_at, int | float):
        return None
    return Fact(value, float(learnt_at), proven) if math.isfinite(learnt_at) else None
