"""What a run gives back, whole or partial."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from llmcore.types import Attempt, Envelope, Message, ToolCall, Usage

__all__ = ["RunResult"]


class RunResult(BaseModel):
    """A run's end, or as far as it came (`error.partial`).

    `envelope` is the last reply; `messages` the whole history, ready for the next request; `usage` of all requests;
    `attempts` one entry a request. `degraded`: every strategy failed and the best text stands in for an answer.
    `pending`: calls of tools without a function, which the caller answers. `output` is the typed value when one was
    asked for, and None where the run ended without one (`has_output` tells a None that is the value from that); where
    none was asked for, it is the value with which a tool or hook ended the run.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    envelope: Envelope = Field(default_factory=Envelope)
    messages: list[Message] = Field(default_factory=list[Message])
    usage: Usage = Field(default_factory=Usage)
    attempts: list[Attempt] = Field(default_factory=list[Attempt])
    degraded: bool = False
    pending: list[ToolCall] = Field(default_factory=list[ToolCall])
    output: Any = None

    _given: int = PrivateAttr(default=0)
    _has_output: bool = PrivateAttr(default=False)

    @property
    def content(self) -> str:
        """The text for the user."""
        return self.envelope.content

    @property
    def new_messages(self) -> list[Message]:
        """What this run added to the history it was given."""
        return self.messages[self._given :]

    @property
    def has_output(self) -> bool:
        """Is `output` a value of the type that was asked for?"""
        return self._has_output

    def given(self, count: int, *, has_output: bool = False) -> RunResult:
        """Note how many of `messages` were given to the run, and whether `output` was; returns self."""
        self._given, self._has_output = count, has_output
        return self
