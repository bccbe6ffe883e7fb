"""Tool names and call ids as a wire takes them, one to one for one request, and back.

Rules: a name or id that fits is left alone; one that does not gets a readable stand-in with a hash of the original, so
that two originals never meet in one stand-in and the same original always gets the same one. O(1) a name after the
first time.
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
    """The names of one request: `out[name]` is what the wire is sent, `back` gives the original of what it answered."""

    def __init__(self, names: Iterable[str], rule: NameRule | None) -> None:
        self.out: dict[str, str] = {}
        for name in names:
            if rule is not None and not rule.fits(name):
                self.out[name] = _stand_in(name, rule)
        self.originals = {sent: name for name, sent in self.out.items()}

    def __bool__(self) -> bool:
        return bool(self.out)

    def sent(self, name: str) -> str:
        return self.out.get(name, name)

    def back(self, name: str) -> str:
        return self.originals.get(name, name)


class IdMap:
    """The call ids of one history, as the wire takes them back."""

    def __init__(self, rule: IdRule | None) -> None:
        self._rule = rule

    def sent(self, call_id: str) -> str:
        rule = self._rule
        if rule is None or rule.fits(call_id):
            return call_id
        return _digest(call_id, rule.length) if rule.exact else f"call_{_digest(call_id, 24)}"
