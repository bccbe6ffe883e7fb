"""What observers get that is no record of the result: the run itself, and a retry of a tool."""

from __future__ import annotations

from dataclasses import dataclass, field

from llmcore.adapters.base import Endpoint
from llmcore.models import ModelConfig
from llmcore.run.results.result import ToolFailure
from llmcore.types import Request

__all__ = ["ObservedRun", "ToolRetry"]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ObservedRun:
    """One run; the same object at each point.

    - `id`: that of its result.
    - `model`: the alias of its first model.
    - `name`: that of the orchestrator.
    - `parent_id`: the id of the run whose tool started this one, "" for none.
    - `request`: the request with its history. Do not change it.
    - `config`: the first model's entry in the registry. `endpoint` is the model's endpoint.
    """

    id: str
    model: str
    name: str = ""
    parent_id: str = ""
    request: Request = field(default_factory=lambda: Request(messages=[]), repr=False)
    config: ModelConfig | None = field(default=None, repr=False)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(provider="", model=self.model) if self.config is None else self.config.endpoint


@dataclass(frozen=True, slots=True)
class ToolRetry:
    """Try `n` (from 1) of a call failed with `error` after `duration` seconds; the next try follows in `wait` seconds.
    `tool_use_id` and `turn` are those of its `ToolStarted`."""

    tool_use_id: str
    name: str
    turn: int
    n: int
    error: ToolFailure
    duration: float
    wait: float
