"""What a server's error says, as the exception that stands for it carries it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from llmcore.support.values.narrowing import object_in

__all__ = ["NO_FACTS", "RefusalFacts", "RefusalKind"]

RefusalKind = Literal["", "explained", "unexplained", "particular", "passing", "forbidden", "lasting", "unsent"]
"""What an error is about. `explained`: its words say it. `unexplained`: nothing says what of the request is refused.
`particular`: one tool, one schema or one value is refused, so another request may be taken. `passing`: the same request may be
taken later. `forbidden`: access is denied, and the key is not named. `lasting`: the same request would fail again.
`unsent`: llmcore did not send the request, because the server refused the same request before."""


@dataclass(frozen=True, slots=True)
class RefusalFacts:
    """What a server's error says. It is read once, by `adapters.litellm.errors`."""

    status: int | None = None
    """The HTTP status; None if there was none."""
    code: str = ""
    """What the server calls the error: its `code`, `type` or `status`."""
    param: str = ""
    """The parameter of the request that the body names."""
    parts: frozenset[str] = frozenset()
    """The parts of the request that the words name and the request held, as `Capabilities` names them."""
    kind: RefusalKind = ""
    retry_after: float | None = None
    """Seconds after which the server asks to be asked again."""
    words: str = ""
    """The server's words, without secrets."""

    def as_data(self) -> dict[str, Any]:
        """The facts as JSON data, without the defaults."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        return found | {"parts": sorted(self.parts)} if self.parts else found

    @classmethod
    def from_data(cls, data: object) -> RefusalFacts:
        """The facts that `as_data` wrote. A field of a later release is left out."""
        told: dict[str, Any] = object_in(data)
        found: dict[str, Any] = {one.name: told[one.name] for one in fields(cls) if one.name in told}
        found["parts"] = frozenset(map(str, told.get("parts", ())))
        return cls(**found)


NO_FACTS = RefusalFacts()
"""Of an error that no server sent."""
