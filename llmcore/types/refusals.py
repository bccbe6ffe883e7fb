"""`RefusalFacts`: the contents of a server's error response, which the raised exception carries."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from llmcore.support.values.narrowing import object_in

__all__ = ["NO_FACTS", "RefusalFacts", "RefusalKind"]

RefusalKind = Literal["", "explained", "unexplained", "particular", "passing", "forbidden", "lasting", "unsent"]
"""Why a server refused a request.

`explained`: its words name what it refuses. `unexplained`: they do not. `particular`: it refuses one tool, schema or value, so
another request may succeed. `passing`: the same request may succeed later. `forbidden`: access is denied, and the words do not
name the key. `lasting`: the same request would fail again. `unsent`: llmcore did not send the request, because the server refused
the same request before.
"""


@dataclass(frozen=True, slots=True)
class RefusalFacts:
    """What a server's error response says. Only `adapters.litellm.errors` reads the response."""

    status: int | None = None
    """The HTTP status; None if there was none."""
    code: str = ""
    """The server's name of the error: its `code`, `type` or `status`."""
    param: str = ""
    """The parameter of the request that the body names."""
    parts: frozenset[str] = frozenset()
    """The parts of the request that the words name and the request had, by their names in `Capabilities`."""
    kind: RefusalKind = ""
    retry_after: float | None = None
    """The seconds after which the server accepts another request; None if it did not say."""
    words: str = ""
    """The server's words, without secrets."""

    def as_data(self) -> dict[str, Any]:
        """The facts as JSON data, without the defaults."""
        found = {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default}
        return found | {"parts": sorted(self.parts)} if self.parts else found

    @classmethod
    def from_data(cls, data: object) -> RefusalFacts:
        """The facts that `as_data` returned. Unknown fields, of a later release, are ignored."""
        given: dict[str, Any] = object_in(data)
        found: dict[str, Any] = {each.name: given[each.name] for each in fields(cls) if each.name in given}
        found["parts"] = frozenset(map(str, given.get("parts", ())))
        return cls(**found)


NO_FACTS = RefusalFacts()
"""The facts of an error that no server sent."""
