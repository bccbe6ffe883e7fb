"""The correction of one turn, over all the attempts that it takes.

If the request of a re-ask fails, or its reply is empty, the next attempt with the same model sends it again. Another model
begins the turn again, because the bad reply was not its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llmcore.support.values.copies import copied, updated
from llmcore.types import Message, Request
from llmcore.validator import Correction, CorrectionLoop

__all__ = ["PendingCorrection"]


@dataclass(slots=True)
class PendingCorrection:
    """The correction of one model's reply.

    - `model`: the alias of the model.
    - `request`: the request of the reply, to which each re-ask is added.
    - `unanswered`: the re-ask that has no reply yet.
    """

    model: str
    request: Request
    loop: CorrectionLoop
    unanswered: Correction | None = None

    def continues_with(self, model: str) -> bool:
        """Whether an attempt with this model continues the correction."""
        return self.unanswered is not None and self.model == model

    def next_correction(self) -> Correction | None:
        """The re-ask to send now; None if there is none."""
        if self.unanswered is None:
            self.unanswered = self.loop.next()
        return self.unanswered

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Put these messages, which entered the history meanwhile, before each further re-ask."""
        if messages:
            self.request = updated(self.request, {"messages": [*self.request.messages, *copied(list(messages))]})

    def corrected_request(self, correction: Correction) -> Request:
        """The request that replaces the one of the bad reply."""
        changes: dict[str, Any] = {
            "messages": [*self.request.messages, *correction.messages],
            "tool_choice": correction.tool_choice,
        }
        if correction.max_tokens is not None:
            changes["max_tokens"] = correction.max_tokens
        return updated(self.request, changes)
