"""The names of OpenTelemetry's two conventions for generative AI, and the choice between them.

`GEN_AI` is version 0.1.0 of these conventions. `EARLIER` has the names of the general conventions, from before generative
AI had its own. Each is a table with the names of the roles. A role that is not in the table is not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["EARLIER", "GEN_AI", "VARIABLE", "Convention", "Event", "Metric", "Role", "asked_for"]

VARIABLE = "OTEL_SEMCONV_STABILITY_OPT_IN"

Role = Literal[
    "inference.seconds",
    "inference.first_chunk",
    "inference.chunk",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "agent.seconds",
    "agent.requests",
    "agent.tools",
    "tool.seconds",
]
"""What is measured."""
Event = Literal["inference.details", "inference.exception", "tool.exception"]

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""The bounds of the histograms."""


@dataclass(frozen=True, slots=True)
class Metric:
    """An instrument. `bounds`: those of a histogram; a counter has none. `attributes` distinguish the roles that share it."""

    name: str
    unit: str
    description: str
    bounds: Sequence[float] = ()
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Convention:
    """The names of metrics and events. `logs`: events are log records too (older conventions have only span events)."""

    metrics: Mapping[Role, Sequence[Metric]]
    events: Mapping[Event, str]
    logs: bool = False


def _tokens(of: str, what: str, *, distribution: bool = False) -> Sequence[Metric]:
    """The counter of a kind of tokens, and the histogram of their number in each request."""
    counter = Metric(f"gen_ai.client.inference.usage.{of}", "{token}", f"Number of {what} used.")
    histogram = Metric(f"gen_ai.client.inference.operation.{of}", "{token}", f"Number of {what} of a request.", _TOKENS)
    return (counter, histogram) if distribution else (counter,)


_INFERENCE = "gen_ai.client.inference"
_PER_CHUNK = "Time from a chunk of a streamed reply to the next one."
_FIRST_CHUNK = "Time to receive the first chunk of a streamed reply."
GEN_AI = Convention(
    metrics={
        "inference.seconds": (Metric(f"{_INFERENCE}.duration", "s", "Duration of a request to a model.", _SECONDS),),
        "inference.first_chunk": (Metric(f"{_INFERENCE}.time_to_first_chunk", "s", _FIRST_CHUNK, _SECONDS),),
        "inference.chunk": (Metric(f"{_INFERENCE}.time_per_output_chunk", "s", _PER_CHUNK, _SECONDS),),
        "input_tokens": _tokens("input_tokens", "input tokens, cached ones included,", distribution=True),
        "output_tokens": _tokens("output_tokens", "output tokens", distribution=True),
        "cache_read_tokens": _tokens("cache_read.input_tokens", "input tokens read from a cache"),
        "cache_write_tokens": _tokens("cache_write.input_tokens", "input tokens written to a cache"),
        "reasoning_tokens": _tokens("reasoning.output_tokens", "output tokens of reasoning"),
        "agent.seconds": (Metric("gen_ai.invoke_agent.duration", "s", "Duration of a run.", _SECONDS),),
        "agent.requests": (Metric("gen_ai.invoke_agent.inference_calls", "{call}", "Requests to models in a run.", _COUNTS),),
        "agent.tools": (Metric("gen_ai.invoke_agent.tool_calls", "{call}", "Calls of tools in a run.", _COUNTS),),
        "tool.seconds": (Metric("gen_ai.execute_tool.duration", "s", "Duration of a call of a tool.", _SECONDS),),
    },
    events={
        "inference.details": f"{_INFERENCE}.operation.details",
        "inference.exception": f"{_INFERENCE}.exception",
        "tool.exception": "gen_ai.execute_tool.exception",
    },
    logs=True,
)

_DURATION = (Metric("gen_ai.client.operation.duration", "s", "GenAI operation duration.", _SECONDS),)


def _usage(kind: str) -> Sequence[Metric]:
    description = "Number of input and output tokens used."
    return (Metric("gen_ai.client.token.usage", "{token}", description, _TOKENS, {"gen_ai.token.type": kind}),)


EARLIER = Convention(
    metrics={
        "inference.seconds": _DURATION,
        "inference.first_chunk": (Metric("gen_ai.client.operation.time_to_first_chunk", "s", _FIRST_CHUNK, _SECONDS),),
        "input_tokens": _usage("input"),
        "output_tokens": _usage("output"),
        "agent.seconds": _DURATION,
        "tool.seconds": _DURATION,
    },
    events={"tool.exception": "exception"},
)

_ASKED: Mapping[str, Sequence[Convention]] = {
    "gen_ai/old": (EARLIER,),
    "gen_ai/dup": (GEN_AI, EARLIER),
}


def asked_for(environ: Mapping[str, str]) -> Sequence[Convention]:
    """The conventions that the variable chooses. It is a list of values separated by commas.

    `gen_ai/dup` chooses both. Without it, `gen_ai/old` chooses the earlier names. Otherwise `GEN_AI` applies.
    """
    values = {value.strip().lower() for value in environ.get(VARIABLE, "").split(",")}
    return next((_ASKED[value] for value in ("gen_ai/dup", "gen_ai/old") if value in values), (GEN_AI,))
