"""A turn that is being corrected, over all the attempts it takes: a re-ask whose request failed, or that was answered by nothing,
is made again by the next attempt with the same model. Another model begins the turn anew, for the bad reply was not its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llmcore.support.values.copies import copied, updated
from llmcore.types import Message, Request
from llmcore.validator import Correction, CorrectionLoop

__all__ = ["Correcting"]


@dataclass(slots=True)
class Correcting:
    """`model`: whose reply is corrected (its alias). `request`: what it was asked, which each re-ask is added to. `unanswered`:
    the re-ask that no reply has answered yet."""

    model: str
    request: Request
    loop: CorrectionLoop
    unanswered: Correction | None = None

    def goes_on_with(self, model: str) -> bool:
        return self.unanswered is not None and self.model == model

    def next(self) -> Correction | None:
        """The re-ask to make now, None when there is none."""
        if self.unanswered is None:
            self.unanswered = self.loop.next()
        return self.unanswered

    def add(self, messages: Sequence[Message]) -> None:
        """Let these messages, which the history has meanwhile, stand before each further re-ask."""
        if messages:
            self.request = updated(self.request, {"messages": [*self.request.messages, *copied(list(messages))]})

    def corrected(self, correction: Correction) -> Request:
        """The request of its own that takes the place of the bad turn's."""
        changes: dict[str, Any] = {
            "messages": [*self.request.messages, *correction.messages],
            "tool_choice": correction.tool_choice,
        }
        if correction.max_tokens is not None:
            changes["max_tokens"] = correction.max_tokens
        return updated(self.request, changes)
