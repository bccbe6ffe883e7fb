"""Which call a streamed delta belongs to, even if the wire's numbering is wrong.

The rules are those of the OpenAI stream, as servers really send it:
- A delta starts a new call if its index is new, or if its id differs from that of the open call at that index.
- An index that increases within a call has no id and no name. The delta continues the open call.
- If neither index nor id decides, the name does. A new call starts if the open one has another name or a complete JSON object.

The cost is constant per delta. The last rule costs O(length) per reply.
"""

from __future__ import annotations

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["CallIdentity"]

_STRUCTURE = lazy_regex(r'["\\{}\[\]]')


class _Balance:
    """Follows pieces of JSON text. It is `whole` once all opened brackets are closed. It parses pieces only when asked."""

    __slots__ = ("_depth", "_escaped", "_in_string", "_opened", "_unread")

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._depth = 0
        self._opened = self._in_string = self._escaped = False

    def add(self, piece: str) -> None:
        self._unread.append(piece)

    @property
    def whole(self) -> bool:
        text = "".join(self._unread)
        self._unread.clear()
        at = 1 if self._escaped and text else 0
        self._escaped = self._escaped and not text
        while match := _STRUCTURE.search(text, at):
            at = match.end()
            self._step(match[0])
            if match[0] == "\\" and self._in_string:
                self._escaped = at == len(text)
                at += 1
        return self._opened and self._depth <= 0 and not self._in_string

    def _step(self, character: str) -> None:
        if character == '"':
            self._in_string = not self._in_string
        elif not self._in_string and character in "{[":
            self._depth += 1
            self._opened = True
        elif not self._in_string and character in "}]":
            self._depth -= 1


class _Open:
    __slots__ = ("balance", "begun", "id", "key", "name")

    def __init__(self, key: int) -> None:
        self.key = key
        self.id = self.name = ""
        self.begun = False
        self.balance = _Balance()

    def is_other(self, id: str, name: str, has_arguments: bool) -> bool:
        """Whether a delta at this call's index starts another call."""
        if (id and self.id and id != self.id) or (name and self.name and name != self.name):
            return True
        says_its_name_again = bool(name and self.name) and not (id and id == self.id)
        return says_its_name_again and has_arguments and self.begun and self.balance.whole


class CallIdentity:
    """Returns the key of the call for each delta of a reply."""

    __slots__ = ("_by_id", "_by_place", "_calls", "_last", "cut")

    def __init__(self) -> None:
        self._by_place: dict[int | str, _Open] = {}
        self._by_id: dict[str, _Open] = {}
        self._calls = 0
        self._last: _Open | None = None
        self.cut: int | None = None

    def fresh(self) -> int:
        """The key of a call that arrives complete."""
        return self._new().key

    def key(self, index: object, id: str, name: str, arguments: object) -> int:
        """The key for a delta. `id`, `name` and `arguments` are "" or None if the delta has none.

        If the delta took the index of a call with incomplete arguments, `cut` is then that call's key, else None.
        """
        place = index if isinstance(index, (int, str)) else None
        has_arguments = arguments not in (None, "")
        call = before = self._open_at(place, id, name)
        self.cut = None
        if call is None or call.is_other(id, name, has_arguments):
            if place is not None and before is not None and not before.balance.whole:
                self.cut = before.key
            call = self._new()
        self._note(call, place, id, name)
        if has_arguments:
            call.begun = True
            call.balance.add(arguments if isinstance(arguments, str) else "{}")
        return call.key

    def _new(self) -> _Open:
        self._calls += 1
        return _Open(self._calls)

    def _open_at(self, place: int | str | None, id: str, name: str) -> _Open | None:
        if place is not None:
            bumped = not id and not name
            return self._by_place.get(place, self._last if bumped else None)
        return self._by_id.get(id, self._last) if id else self._last

    def _note(self, call: _Open, place: int | str | None, id: str, name: str) -> None:
        call.id = call.id or id
        call.name = call.name or name
        if place is not None:
            self._by_place[place] = call
        if id:
            self._by_id[id] = call
        self._last = call
