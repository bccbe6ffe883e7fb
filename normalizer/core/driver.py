"""`Driver`: what a reading needs from the engine that drives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.scanning.source import Steps
from llmcore.types.envelope import NearMiss

__all__ = ["Driver", "Nested"]


@dataclass(slots=True)
class Nested:
    """The result of reading a text within the text."""

    drafts: list[Draft]
    near_misses: list[NearMiss]
    content: str
    has_content: bool
    """Whether it has content, other than white space, beside the calls."""
    needs_more_work: bool | None
    cut: bool


class Driver(Protocol):
    """What a reading needs from the engine that drives it."""

    def has_marker(self, at: int) -> bool | None:
        """Whether a marker that counts for this reply stands at `at`. None if more text is needed."""
        ...

    def marker(self, at: int) -> Steps[bool]:
        """Try the rows whose opener stands at `at`. Returns True if one of them consumed text."""
        ...

    def is_unshared(self, opener: str) -> bool:
        """Whether only one row has this opener."""
        ...

    def is_bare(self, dialect: str) -> bool:
        """Whether `dialect` is a form without a marker."""
        ...

    def nest(self, text: str, *, on_trial: bool = False, by_length: bool = False) -> tuple[Nested, int]:
        """Read a text within the text. Returns its result and the cost of its failed look-aheads.

        `on_trial`: the text is read to find a restarted call; no further restarts are sought in it. `by_length`: a length limit
        cut it.
        """
        ...

    def calls_in(self, arguments: dict[str, Any]) -> tuple[list[Draft], str]:
        """The calls that the arguments of a call of several tools list, and the text beside them.

        If one of the lists cannot be read, no calls are returned.
        """
        ...
