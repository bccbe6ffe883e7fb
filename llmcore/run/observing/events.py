"""What observers are told of that is no record of the result: the run itself, and that a tool is tried again."""

from __future__ import annotations

from dataclasses import dataclass, field

from llmcore.adapters.base import Endpoint
from llmcore.models import ModelConfig
from llmcore.run.results.result import ToolFailure
from llmcore.types import Request

__all__ = ["ObservedRun", "ToolRetry"]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ObservedRun:
    """One run, the same object at each point. `id` is that of its result; `name` the orchestrator's; `parent_id` the id of the
    run in whose tool this one was begun, "" for none. `model` is the alias of the model it begins with. `request` is what was
    asked, the history included; it is not for changing. `config` is that model's entry in the registry, `endpoint` where it is
    asked."""

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
    """Try `n` (from 1) of a call failed with `error` after `duration` seconds, and the tool is tried again in `wait` seconds.
    `tool_use_id` and `turn` are those of its `ToolStarted`."""

    tool_use_id: str
    name: str
    turn: int
    n: int
    error: ToolFailure
    duration: float
    wait: float
