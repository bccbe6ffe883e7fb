"""Calls that have no result yet: what a result tells of them, so that another process can settle them."""

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
_TOLD = {
    "approval": f"{NOT_BEGUN} It waits for somebody's approval.",
    "elsewhere": "No result yet: this call is carried out elsewhere.",
    "within": "No result yet: it was begun, and calls within it wait for somebody.",
    "ready": NOT_BEGUN,
    "started": UNKNOWN_OUTCOME,
}


class OpenCall(Value):
    """A call of the last turn that has no result.

    `stage`: it waits for `approval`; it is to be carried out `elsewhere`, for its tool has no function; it was begun, and calls
    of a run `within` it wait, which are listed behind it, by ids of both (`call_1/call_0`), or that run was saved in its midst;
    it is `ready`: approved, and not begun; or it was `started`, and what became of it is not known. A call that is not begun
    and waits for nobody is not listed. `summary` is the call in words (`tool(summary=...)`, else its name and arguments);
    `reason` says why approval is required: what the predicate said or raised. `approved`: a caller approved it.
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
        """Does it wait for the caller?"""
        return self.stage in ("approval", "elsewhere", "within")

    @property
    def told(self) -> str:
        """What a history says in the place of its result."""
        return _TOLD[self.stage]

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
    """The id by which the outer run's caller answers a call that waits within another one."""
    return f"{call_id}/{inner_id}"
