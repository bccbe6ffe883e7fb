"""What a reading asks of the engine that drives it: markers, and texts within the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.scanning.source import Steps
from llmcore.types.envelope import NearMiss

__all__ = ["Driver", "Nested"]


@dataclass(slots=True)
class Nested:
    """What a body within the text says, read by itself."""

    drafts: list[Draft]
    near_misses: list[NearMiss]
    content: str
    says_anything: bool
    """Is there any content but white space beside the calls?"""
    needs_more_work: bool | None
    cut: bool


class Driver(Protocol):
    """What a reading asks of the engine that drives it."""

    def stands(self, at: int) -> bool | None:
        """Does a marker that counts for this reply stand at `at`? None = more text must tell."""
        ...

    def marker(self, at: int) -> Steps[bool]:
        """Try the rows whose opener stands at `at`; True when one of them consumed text."""
        ...

    def is_unshared(self, opener: str) -> bool:
        """Is this the opener of one row only?"""
        ...

    def is_bare(self, dialect: str) -> bool:
        """Is it a form without a marker of its own?"""
        ...

    def nest(self, text: str, *, on_trial: bool = False) -> tuple[Nested, int]:
        """What a text within the text says, and what looks in it that came to nothing cost. `on_trial`: it is read to see whether
        a call was begun again; in it that is not looked for."""
        ...

    def calls_in(self, arguments: dict[str, Any]) -> tuple[list[Draft], str]:
        """The calls that the arguments of a call of several tools list, and what they say beside them; no calls where one of its
        lists cannot be read."""
        ...
