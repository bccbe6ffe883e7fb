"""Maps tool names and call ids to names that a wire format accepts, one to one for each request, and back.

A valid name or id stays. An invalid one gets a readable stand-in with a hash of the original. So two originals never share a
stand-in, and the same original always gets the same one. O(1) a name after the first time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from llmcore.adapters.providers import IdRule, NameRule

__all__ = ["IdMap", "NameMap"]

_HASH = 8


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _stand_in(name: str, rule: NameRule) -> str:
    readable = re.sub(f"[^{rule.characters}]", "_", name)
    if rule.first and not re.match(f"[{rule.first}]", readable):
        readable = f"t_{readable}"
    return f"{readable[: rule.length - _HASH - 1]}_{_digest(name, _HASH)}"


class NameMap:
    """The names of one request. `sent` returns the name to send, and `original` returns the tool's name for a name in the
    reply."""

    def __init__(self, names: Iterable[str], rule: NameRule | None) -> None:
        self.stand_ins: dict[str, str] = {}
        for name in names:
            if rule is not None and not rule.fits(name):
                self.stand_ins[name] = _stand_in(name, rule)
        self.originals = {sent: name for name, sent in self.stand_ins.items()}

    def __bool__(self) -> bool:
        return bool(self.stand_ins)

    def sent(self, name: str) -> str:
        return self.stand_ins.get(name, name)

    def original(self, name: str) -> str:
        return self.originals.get(name, name)


class IdMap:
    """The call ids of one history, as the wire format accepts them."""

    def __init__(self, rule: IdRule | None) -> None:
        self._rule = rule

    def sent(self, call_id: str) -> str:
        rule = self._rule
        if rule is None or rule.fits(call_id):
            return call_id
        return _digest(call_id, rule.length) if rule.exact else f"call_{_digest(call_id, 24)}"
