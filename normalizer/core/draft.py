"""`Draft`: a call while it is being read."""

from __future__ import annotations

from typing import Any

from llmcore.support.values.json_data import as_json
from llmcore.types.envelope import Repair

__all__ = ["Draft"]


class Draft:
    """A call while it is being read. The immutable `ToolCall` is built once, when the call is finished."""

    __slots__ = (
        "arguments",
        "complete",
        "dialect",
        "has_deltas",
        "id",
        "index",
        "is_open",
        "name",
        "raw",
        "repairs",
        "start",
        "stop",
    )

    def __init__(self, index: int, name: str, id: str, dialect: str, start: int) -> None:
        self.index = index
        self.name = name
        self.id = id
        self.dialect = dialect
        self.start = self.stop = start
        self.arguments: dict[str, Any] | None = None
        self.raw = ""
        self.complete = False
        self.repairs: list[Repair] = []
        self.has_deltas = False
        self.is_open = True
        """Whether it is still being read."""

    def finish(self, stop: int, arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]) -> None:
        self.stop, self.arguments, self.raw, self.complete, self.repairs = stop, arguments, raw, complete, repairs
        self.is_open = False

    def add_guess(self, doubt: Repair) -> None:
        self.repairs = [*self.repairs, doubt]

    @property
    def text(self) -> str:
        """The arguments as JSON text, or the raw text if they cannot be read."""
        return self.raw if self.arguments is None else as_json(self.arguments)
