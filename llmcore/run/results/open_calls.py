"""Calls that have no result yet, as results describe them, so that another process can answer them."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from llmcore.support.values.copies import Value, copied
from llmcore.support.values.json_data import JsonObject, JsonText
from llmcore.tools.definition.summaries import summary_of
from llmcore.types import ToolCall

__all__ = ["NOT_BEGUN", "UNKNOWN_OUTCOME", "OpenCall", "Stage", "id_within"]

Stage = Literal["approval", "elsewhere", "within", "ready", "started"]

UNKNOWN_OUTCOME = (
    "The outcome of this call is unknown: it was started, and the program stopped before its result was saved. It may have taken "
    "effect, and was not run again."
)
NOT_BEGUN = "No result yet: this call was not run."
_RESULT_TEXTS = {
    "approval": f"{NOT_BEGUN} It waits for somebody's approval.",
    "elsewhere": "No result yet: this call is carried out elsewhere.",
    "within": "No result yet: it was begun, and calls within it wait for somebody.",
    "ready": NOT_BEGUN,
    "started": UNKNOWN_OUTCOME,
}


class OpenCall(Value):
    """A call of the last turn that has no result.

    `stage` is one of:

    - `approval`: it waits for approval.
    - `elsewhere`: its tool has no function here, so the caller carries it out.
    - `within`: it was started. Calls of the run within it wait, or that run was saved while it was running. Calls that wait are
      listed behind it, by both ids (`call_1/call_0`).
    - `ready`: it was approved, and has not started.
    - `started`: it was started, and its outcome is unknown.

    A call that has not started and waits for nobody is not listed. `summary` describes the call (`tool(summary=...)`, else its
    name and arguments). `reason` says why approval is required: what the predicate returned or raised. `approved`: a caller
    approved it.
    """

    model_config = ConfigDict(frozen=True)

    id: JsonText
    name: JsonText
    arguments: JsonObject | None = None
    stage: Stage
    summary: JsonText = ""
    reason: JsonText = ""
    approved: bool = False

    @property
    def waits(self) -> bool:
        """Whether the call waits for the caller."""
        return self.stage in ("approval", "elsewhere", "within")

    @property
    def result_text(self) -> str:
        """The text that stands in for its result in a history."""
        return _RESULT_TEXTS[self.stage]

    @classmethod
    def of(
        cls,
        call: ToolCall,
        stage: Stage,
        *,
        summary: str = "",
        reason: str = "",
        approved: bool = False,
    ) -> OpenCall:
        arguments = copied(call.arguments)
        return cls(
            id=call.id,
            name=call.name,
            arguments=arguments,
            stage=stage,
            summary=summary or summary_of(call.name, None, arguments),
            reason=reason,
            approved=approved,
        )


def id_within(call_id: str, inner_id: str) -> str:
    """The id by which the caller of the parent run answers a call of a child run."""
    return f"{call_id}/{inner_id}"
