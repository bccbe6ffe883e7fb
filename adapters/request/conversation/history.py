"""Repairs a history so that every provider accepts it, when it enters a run and before it is sent.

Some provider refuses each violation of these rules with a 400, and several make every later request fail:
- A call stands in an assistant's message and has its own id, which can be sent.
- Every call has exactly one result, directly after it, in the order of the calls. A missing result is made up.
- If a result has no call, or differs from the call's first result, it becomes text, so that nothing is lost.
- Empty messages are removed, and so are repeated system messages. The first turn is not an assistant's.
- Arguments are a JSON object. An unreadable call gets `{"INVALID_JSON": raw}`, unless its turn is open.
- Before sending, empty text is removed too.

Input messages are never modified; valid ones are returned unchanged. The caller may record each repair. O(length).
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from llmcore.support.values.copies import updated
from llmcore.types import Block, Message, Repair, Safety, TextBlock, ToolResultBlock, ToolUseBlock

__all__ = ["NO_RESULT", "as_one_text", "is_sendable_id", "last_open_turn", "repaired_history", "sound_history"]

_MAX_ID = 256
"""The most characters of a call's id. A longer id would be sent twice in every later request."""
_MAX_ID_SHOWN = 64
_MAX_TEXT_SHOWN = 200
NO_RESULT = "No result: what became of this call is not told. It may have taken effect, or not have been run at all."
_EARLIER_START = "(The conversation began before this.)"

B = TypeVar("B", bound=Block)
_Position = tuple[int, int]
"""The index of a message, and that of a block in it."""
_Note = Callable[[Repair], object]


def sound_history(messages: Sequence[Message]) -> list[Message]:
    """Return `messages` in a form that can be sent, by every rule above. Tool results stand in separate messages of role
    `tool`."""
    sound: list[Message] = []
    for message in _HistoryRepair(messages, lambda repair: None).messages():
        results = message.tool_results
        blocks = [_readable(block) for block in _non_empty(message.content) if not isinstance(block, ToolResultBlock)]
        if results:
            sound.append(Message(role="tool", content=list(results)))
        if blocks:
            sound.append(Message(role="user" if message.role == "tool" else message.role, content=blocks))
    return sound


def repaired_history(
    messages: Sequence[Message], *, open_end: bool = False, systems: Iterable[str] = ()
) -> tuple[list[Message], list[Repair]]:
    """Return the messages from which a run may continue, and the repairs.

    With `open_end`, calls of the last turn may stay without results. `systems` are further system texts of the request.
    """
    repairs: list[Repair] = []
    made = _HistoryRepair(messages, repairs.append, open_end=open_end, enters=True, systems=systems).messages()
    return made, repairs


def is_sendable_id(call_id: str) -> bool:
    """Return whether the id is printable and not too long."""
    return 0 < len(call_id) <= _MAX_ID and call_id.isprintable() and not call_id.isspace()


class _HistoryRepair:
    """One pass over one history. `enters`: the history comes from outside, and the run continues from it."""

    def __init__(
        self,
        messages: Sequence[Message],
        note: _Note,
        *,
        open_end: bool = False,
        enters: bool = False,
        systems: Iterable[str] = (),
    ) -> None:
        self._messages = messages
        self._note = note
        self._enters = enters
        open_turn = last_open_turn(messages) if open_end else None
        self._open_from = len(messages) if open_turn is None else open_turn
        self._results, self._paired = _pair(messages)
        last_first = sorted(self._paired, reverse=True) if enters else ()
        self._first = {self._result(place).tool_use_id: self._result(place) for place in last_first}
        self._ids = self._unique_ids() if enters else {}
        self._unchanged_results: set[int] = set()
        """Indexes of result messages that stay unchanged."""
        self._systems = set(systems)
        self._made: list[Message] = []

    def messages(self) -> list[Message]:
        for at, message in enumerate(self._messages):
            self._add(at, message)
        return self._made

    def _add(self, at: int, message: Message) -> None:
        if self._is_redundant(at, message):
            return
        if message.tool_uses:
            self._add_turn(at, message)
        elif message.tool_results:
            self._add_others(at, message)
        else:
            self._put(at, message)

    def _put(self, at: int, message: Message) -> None:
        if self._enters and message.role == "assistant" and all(one.role == "system" for one in self._made):
            self._note_repair("user_turn_added", at, after=_EARLIER_START)
            self._made.append(Message(role="user", content=[TextBlock(text=_EARLIER_START)]))
        self._made.append(message)

    def _put_if_new(self, at: int, rest: Message) -> None:
        """Add the other content of a message with calls or results, unless it is redundant."""
        if not self._is_redundant(at, rest):
            self._put(at, rest)

    def _is_redundant(self, at: int, message: Message) -> bool:
        """Whether the message is empty, or repeats a system message."""
        if not _non_empty(message.content):
            is_last = self._enters and at == len(self._messages) - 1  # the caller may send an empty prompt
            if not is_last:
                self._note_repair("empty_message", at, message.role)
            return not is_last
        is_text = all(isinstance(block, TextBlock) for block in message.content)
        if message.role != "system" or not self._enters or not is_text:
            return False
        if message.text in self._systems:
            self._note_repair("system_twice", at, message.text[:_MAX_TEXT_SHOWN])
            return True
        self._systems.add(message.text)
        return False

    def _add_turn(self, at: int, message: Message) -> None:
        """Add a message with calls, followed by their results, wherever these stood."""
        uses = [(number, block) for number, block in enumerate(message.content) if isinstance(block, ToolUseBlock)]
        renamed = {number: updated(use, {"id": self._ids[at, number]}) for number, use in uses if (at, number) in self._ids}
        changed = {**renamed, **self._readable(at, [(number, renamed.get(number, use)) for number, use in uses])}
        blocks = [
            changed.get(number, block) for number, block in enumerate(message.content) if not isinstance(block, ToolResultBlock)
        ]
        if message.role != "assistant":
            self._note_repair("call_of_no_assistant", at, message.role, "assistant")
            if others := _non_empty([block for block in blocks if not isinstance(block, ToolUseBlock)]):
                self._put_if_new(at, Message(role="user" if message.role == "tool" else message.role, content=others))
            blocks = [block for block in blocks if isinstance(block, ToolUseBlock)]
        same = message.role == "assistant" and not changed and len(blocks) == len(message.content)
        self._put(at, message if same else Message(role="assistant", content=blocks))
        due = [self._results.get((at, number)) for number, _ in uses]
        if not renamed and self._has_results_behind(at, due):
            self._made.append(self._messages[at + 1])
        else:
            answers = [self._answer(at, renamed.get(number, use), place) for (number, use), place in zip(uses, due, strict=True)]
            if given := [one for one in answers if one is not None]:
                self._note_moved(at, due)
                self._made.append(Message(role="tool", content=given))
        if strays := self._strays(at, message):
            self._made.append(Message(role="user", content=strays))

    def _readable(self, at: int, uses: Sequence[tuple[int, ToolUseBlock]]) -> dict[int, ToolUseBlock]:
        """The calls with unreadable arguments, in the form that is sent from now on."""
        if not self._enters or at >= self._open_from:
            return {}
        broken = {number: use for number, use in uses if use.input is None}
        for use in broken.values():
            self._note_repair("unreadable_arguments", at, use.raw_input[:_MAX_TEXT_SHOWN], {"id": use.id[:_MAX_ID_SHOWN]})
        return {number: updated(_readable(use), {"raw_input": ""}) for number, use in broken.items()}

    def _has_results_behind(self, at: int, due: Sequence[_Position | None]) -> bool:
        """Whether the next message begins with exactly the results due. It then stays unchanged, unless it contains calls."""
        if not self._enters or at + 1 >= len(self._messages) or self._messages[at + 1].role not in ("tool", "user"):
            return False
        if self._messages[at + 1].tool_uses:
            return False
        wanted = [place for place in due if place is not None]
        found = [number for number, block in enumerate(self._messages[at + 1].content) if isinstance(block, ToolResultBlock)]
        whole = len(wanted) == len(due) or at >= self._open_from
        if not (found and whole and wanted == [(at + 1, number) for number in found] and found == list(range(len(found)))):
            return False
        self._unchanged_results.add(at + 1)
        return True

    def _answer(self, at: int, call: ToolUseBlock, place: _Position | None) -> ToolResultBlock | None:
        """The call's one result. None if it may stay open."""
        if place is None:
            if at >= self._open_from:
                return None
            self._note_repair("result_made_up", at, {"id": call.id[:_MAX_ID_SHOWN], "name": call.name}, NO_RESULT)
            return ToolResultBlock(tool_use_id=call.id, name=call.name, content=[TextBlock(text=NO_RESULT)], is_error=True)
        result = self._result(place)
        changes = {} if result.name else {"name": call.name}
        if result.tool_use_id != call.id:
            changes["tool_use_id"] = call.id
        return updated(result, changes) if changes else result

    def _note_moved(self, at: int, due: Sequence[_Position | None]) -> None:
        """Record results that did not directly follow the calls, or stood in another order."""
        last, end = (-1, -1), self._end_of_results(at)
        for place in due:
            if place is not None and (not at < place[0] <= end or place < last):
                self._note_repair("result_moved", place[0], {"tool_use_id": self._result(place).tool_use_id[:_MAX_ID_SHOWN]})
            last = place or last

    def _end_of_results(self, at: int) -> int:
        """The last of the messages that directly follow this one and hold its results."""
        end = at + 1
        while end + 1 < len(self._messages) and _holds_results_alone(self._messages[end]):
            end += 1
        return end

    def _add_others(self, at: int, message: Message) -> None:
        """Add what a message with results holds beside the results of calls, which were added after their calls."""
        if at in self._unchanged_results:
            return
        is_users = message.role in ("tool", "user")
        if own := [] if is_users else _non_empty([block for block in message.content if not isinstance(block, ToolResultBlock)]):
            self._put_if_new(at, Message(role=message.role, content=own))
        if blocks := _non_empty(self._strays(at, message, others=is_users)):
            self._made.append(Message(role="user", content=blocks))

    def _strays(self, at: int, message: Message, *, others: bool = False) -> list[Block]:
        """The results in a message that answer no call, as text; with `others`, the other blocks too."""
        blocks: list[Block] = []
        for number, block in enumerate(message.content):
            if not isinstance(block, ToolResultBlock):
                blocks += [block] if others else []
            elif (at, number) not in self._paired:
                blocks += self._stray(at, block)
        return blocks

    def _stray(self, at: int, block: ToolResultBlock) -> list[Block]:
        """A result without an open call, as text. Empty if it repeats its call's result."""
        about = {"tool_use_id": block.tool_use_id[:_MAX_ID_SHOWN]}
        first = self._first.get(block.tool_use_id)
        if self._enters and first is not None and (first.content, first.is_error) == (block.content, block.is_error):
            self._note_repair("result_twice", at, about)
            return []
        made = _as_text(block)
        self._note_repair("result_without_call", at, about, made.text[:_MAX_TEXT_SHOWN])
        return [made, *(part for part in block.content if not isinstance(part, TextBlock))]

    def _result(self, place: _Position) -> ToolResultBlock:
        return cast("ToolResultBlock", self._messages[place[0]].content[place[1]])

    def _unique_ids(self) -> dict[_Position, str]:
        """A new id for each call whose id is repeated or cannot be sent."""
        used = {use.id for message in self._messages for use in message.tool_uses}
        seen: set[str] = set()
        fresh: dict[_Position, str] = {}
        numbers = Counter[str]()
        for at, message in enumerate(self._messages):
            for number, block in enumerate(message.content):
                if not isinstance(block, ToolUseBlock):
                    continue
                is_invalid = at < self._open_from and not is_sendable_id(block.id)
                if is_invalid or block.id in seen:
                    free = _unused_id("call" if is_invalid else block.id, used, numbers)
                    fresh[at, number] = free
                    used.add(free)
                    self._note_repair("call_id", at, block.id[:_MAX_ID_SHOWN], free)
                else:
                    seen.add(block.id)
        return fresh

    def _note_repair(self, kind: str, at: int, before: Any = None, after: Any = None) -> None:
        safety: Safety = "guess" if kind == "result_made_up" else "lossless"
        self._note(Repair(kind=kind, path=f"messages[{at}]", before=before, after=after, safety=safety))


def last_open_turn(messages: Sequence[Message]) -> int | None:
    """Return the index of the last message with calls, if no assistant's message follows it."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].tool_uses:
            return at
        if messages[at].role == "assistant":
            break
    return None


class _OpenCalls:
    """The calls with one id that have no result yet, by message."""

    def __init__(self) -> None:
        self._turns: list[tuple[int, deque[_Position]]] = []

    def add(self, place: _Position) -> None:
        if not self._turns or self._turns[-1][0] != place[0]:
            self._turns.append((place[0], deque()))
        self._turns[-1][1].append(place)

    def take_last(self, count: int) -> list[_Position]:
        """Remove and return, in order, the calls that `count` consecutive results belong to.

        These are the last message's calls. If there are more results, those of the messages directly before it follow.
        """
        begin, found = len(self._turns), 0
        while begin and found < count and (begin == len(self._turns) or self._turns[begin - 1][0] == self._turns[begin][0] - 1):
            begin -= 1
            found += len(self._turns[begin][1])
        return self._take(begin, count)

    def take_first(self) -> list[_Position]:
        return self._take(0, 1)

    def _take(self, begin: int, count: int) -> list[_Position]:
        used: list[_Position] = []
        end = begin
        while end < len(self._turns) and len(used) < count:
            places = self._turns[end][1]
            while places and len(used) < count:
                used.append(places.popleft())
            end += not places
        del self._turns[begin:end]
        return used


def _pair(messages: Sequence[Message]) -> tuple[dict[_Position, _Position], set[_Position]]:
    """Match results to calls: return each call's result position, and the positions of these results.

    Of several calls with one id, the nearest before a result gets it, in order. Servers may count ids anew, and a program may
    have died before an earlier call had its result. A result that matches none so goes to any call with its id that has no
    result.
    """
    calls: defaultdict[str, _OpenCalls] = defaultdict(_OpenCalls)
    results: dict[_Position, _Position] = {}
    together: defaultdict[str, list[_Position]] = defaultdict(list)  # consecutive results
    left: list[tuple[str, _Position]] = []

    def assign() -> None:
        for call_id, places in together.items():
            used = calls[call_id].take_last(len(places))
            results.update(zip(used, places, strict=False))
            left.extend((call_id, place) for place in places[len(used) :])
        together.clear()

    for at, message in enumerate(messages):
        for number, block in enumerate(message.content):
            if isinstance(block, ToolUseBlock):
                assign()
                calls[block.id].add((at, number))
            elif isinstance(block, ToolResultBlock):
                together[block.tool_use_id].append((at, number))
        if not message.tool_results:
            assign()
    assign()
    for call_id, place in sorted(left, key=operator.itemgetter(1)):
        results.update((call, place) for call in calls[call_id].take_first())
    return results, set(results.values())


def _holds_results_alone(message: Message) -> bool:
    return message.role in ("tool", "user") and all(isinstance(block, ToolResultBlock) for block in message.content)


def _non_empty(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if not (isinstance(block, TextBlock) and not block.text)]


def _unused_id(wanted: str, used: set[str], numbers: Counter[str]) -> str:
    """An id that no call has. `numbers` holds the last number tried for each base."""
    numbers[wanted] = max(numbers[wanted], 1) + 1
    while f"{wanted}_{numbers[wanted]}" in used:
        numbers[wanted] += 1
    return f"{wanted}_{numbers[wanted]}"


def _readable(block: B) -> B:
    if isinstance(block, ToolUseBlock) and block.input is None:
        return updated(block, {"input": {"INVALID_JSON": block.raw_input}})
    return block


def as_one_text(texts: Iterable[str]) -> str:
    """Return parts of a message as one text. A line break separates parts that white space does not separate already."""
    whole: list[str] = []
    for text in filter(None, texts):
        if whole and not (whole[-1][-1].isspace() or text[0].isspace()):
            whole.append("\n")
        whole.append(text)
    return "".join(whole)


def _as_text(block: ToolResultBlock) -> TextBlock:
    text = as_one_text(part.text for part in block.content if isinstance(part, TextBlock))
    return TextBlock(text=f"Result of the tool call {block.tool_use_id[:_MAX_ID_SHOWN]!r}: {text}")
