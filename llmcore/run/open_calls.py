"""Calls that have no result yet: what a result tells of them, so that another process can settle them."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from llmcore.tools.summaries import summary_of
from llmcore.types import ToolCall
from llmcore.types.copies import Value, copied
from llmcore.types.json_data import JsonObject, JsonText

__all__ = ["OpenCall"]


class OpenCall(Value):
    """A call of the last turn that has no result.

    `stage`: it waits for `approval`; it is to be carried out `elsewhere`, for its tool has no function; it is `ready`: approved,
    and not begun; or it was `started`, and what became of it is not known. A call that is not begun and waits for nobody is not
    listed. `summary` is the call in words (`tool(summary=...)`, else its name and arguments); `reason` says why approval is
    required: what the predicate said or raised. `approved`: a caller approved it.
    """

    model_config = ConfigDict(frozen=True)

    id: JsonText
    name: JsonText
    arguments: JsonObject | None = None
    stage: Literal["approval", "elsewhere", "ready", "started"]
    summary: JsonText = ""
    reason: JsonText = ""
    approved: bool = False

    @property
    def waits(self) -> bool:
        """Does it wait for the caller?"""
        return self.stage in ("approval", "elsewhere")

    @classmethod
    def of(
        cls,
        call: ToolCall,
        stage: Literal["approval", "elsewhere", "ready", "started"],
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
