"""`Row`: one reply of the corpus and what it means. `Verdict` says how sure that is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmcore import ToolSet

__all__ = ["Calls", "Row", "Verdict", "tools_as_data"]

Verdict = Literal["y", "n", "i"]
"""`y`: a parser must read the calls. `n`: it must read none. `i`: either will do; no other calls."""

Calls = Sequence[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Row:
    """One line of a file. `content` and `reasoning` are None if nothing is asserted of them."""

    id: str
    text: str
    tools: ToolSet | None
    calls: Calls
    verdict: Verdict
    content: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None

    @property
    def line(self) -> str:
        """The row as JSON. `finish_reason` stands there only if there is one."""
        data: dict[str, Any] = {
            "id": self.id,
            "verdict": self.verdict,
            "text": self.text,
            "tools": tools_as_data(self.tools),
            "calls": [{"name": name, "arguments": arguments} for name, arguments in self.calls],
            "content": self.content,
            "reasoning": self.reasoning,
        }
        if self.finish_reason is not None:
            data["finish_reason"] = self.finish_reason
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def tools_as_data(tools: ToolSet | None) -> list[dict[str, Any]] | None:
    """Names and parameters, as a row has them. None: which tools there are is not known."""
    return None if tools is None else [{"name": tool.name, "parameters": dict(tool.parameters)} for tool in tools]
