"""A history that every provider takes: the one mechanism that mends one, where it enters a run and where it is sent.

Rules, each of which some provider answers with a 400, and several of which make every later request fail:
- a call stands in a message of the assistant and has an id of its own, which can be sent;
- every call has exactly one result, directly after it, in the order of the calls; a missing one is made up;
- a result without a call, or a second one that says something else, becomes text, for nothing may vanish;
- empty messages go, and a system message that is said twice is said once; before the assistant somebody else speaks.
- arguments are a JSON object; a call that could not be read carries `{"INVALID_JSON": raw}`, but for those of an open turn.
Where it is sent, also: empty text goes.

Input messages are never modified; what is sound comes back as it is. Each repair can be noted. O(length).
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
"""Characters of a call's id. A longer one would be sent with the call and with its result in every later request."""
_MAX_ID_SHOWN = 64
_MAX_TEXT_SHOWN = 200
NO_RESULT = "No result: what became of this call is not told. It may have taken effect, or not have been run at all."
_BEGUN_BEFORE = "(The conversation began before this.)"

B = TypeVar("B", bound=Block)
_Position = tuple[int, int]
_Note = Callable[[Repair], object]


def sound_history(messages: Sequence[Message]) -> list[Message]:
    """`messages` as they may be sent, with every rule above kept; tool results stand in messages of role `tool` of their own."""
    sound: list[Message] = []
    for message in _Mended(messages, lambda repair: None).messages():
        results = message.tool_results
        blocks = [_readable(block) for block in _full(message.content) if not isinstance(block, ToolResultBlock)]
        if results:
            sound.append(Message(role="tool", content=list(results)))
        if blocks:
            sound.append(Message(role="user" if message.role == "tool" else message.role, content=blocks))
    return sound


def repaired_history(
    messages: Sequence[Message], *, open_end: bool = False, systems: Iterable[str] = ()
) -> tuple[list[Message], list[Repair]]:
    """`messages` as a run may go on from them, and what had to be repaired. With `open_end` calls of the last turn that have no
    result stay so. `systems`: what the system says beside them."""
    repairs: list[Repair] = []
    made = _Mended(messages, repairs.append, open_end=open_end, enters=True, systems=systems).messages()
    return made, repairs


def is_sendable_id(call_id: str) -> bool:
    """Is it an id that can be printed, and not too long?"""
    return 0 < len(call_id) <= _MAX_ID and call_id.isprintable() and not call_id.isspace()


class _Mended:
    """One pass over one history. `enters`: it comes from outside and goes on from here."""

    def __init__(
        self,
        messages: Sequence[Message],
        note: _Note,
        *,
        open_end: bool = False,
        enters: bool = False,
        systems: Iterable[str] = (),
    ) -> None:
        self._given = messages
        self._note = note
        self._enters = enters
        open_turn = last_open_turn(messages) if open_end else None
        self._open_from = len(messages) if open_turn is None else open_turn
        self._results, self._paired = _pair(messages)
        last_first = sorted(self._paired, reverse=True) if enters else ()
        self._first = {self._result(place).tool_use_id: self._result(place) for place in last_first}
        self._ids = self._unique_ids() if enters else {}
        self._kept: set[int] = set()
        """The messages of results that stay as they are."""
        self._systems = set(systems)
        self._made: list[Message] = []

    def messages(self) -> list[Message]:
        for at, message in enumerate(self._given):
            self._add(at, message)
        return self._made

    def _add(self, at: int, message: Message) -> None:
        if self._is_idle(at, message):
            return
        if message.tool_uses:
            self._add_turn(at, message)
        elif message.tool_results:
            self._add_others(at, message)
        else:
            self._put(at, message)

    def _put(self, at: int, message: Message) -> None:
        if self._enters and message.role == "assistant" and all(one.role == "system" for one in self._made):
            self._say("user_turn_added", at, after=_BEGUN_BEFORE)
            self._made.append(Message(role="user", content=[TextBlock(text=_BEGUN_BEFORE)]))
        self._made.append(message)

    def _put_new(self, at: int, said: Message) -> None:
        """What a message says beside calls or results, unless that was said before."""
        if not self._is_idle(at, said):
            self._put(at, said)

    def _is_idle(self, at: int, message: Message) -> bool:
        """Does it say nothing, or nothing new?"""
        if not _full(message.content):
            is_last = self._enters and at == len(self._given) - 1  # an empty prompt is the caller's own
            if not is_last:
                self._say("empty_message", at, message.role)
            return not is_last
        is_text = all(isinstance(block, TextBlock) for block in message.content)
        if message.role != "system" or not self._enters or not is_text:
            return False
        if message.text in self._systems:
            self._say("system_twice", at, message.text[:_MAX_TEXT_SHOWN])
            return True
        self._systems.add(message.text)
        return False

    def _add_turn(self, at: int, message: Message) -> None:
        """A message with calls, and behind it their results, wherever these stood."""
        uses = [(number, block) for number, block in enumerate(message.content) if isinstance(block, ToolUseBlock)]
        renamed = {number: updated(use, {"id": self._ids[at, number]}) for number, use in uses if (at, number) in self._ids}
        mended = {**renamed, **self._readable(at, [(number, renamed.get(number, use)) for number, use in uses])}
        said = [
            mended.get(number, block) for number, block in enumerate(message.content) if not isinstance(block, ToolResultBlock)
        ]
        if message.role != "assistant":
            self._say("call_of_no_assistant", at, message.role, "assistant")
            if others := _full([block for block in said if not isinstance(block, ToolUseBlock)]):
                self._put_new(at, Message(role="user" if message.role == "tool" else message.role, content=others))
            said = [block for block in said if isinstance(block, ToolUseBlock)]
        same = message.role == "assistant" and not mended and len(said) == len(message.content)
        self._put(at, message if same else Message(role="assistant", content=said))
        due = [self._results.get((at, number)) for number, _ in uses]
        if not renamed and self._is_kept_behind(at, due):
            self._made.append(self._given[at + 1])
        else:
            answers = [self._answer(at, renamed.get(number, use), place) for (number, use), place in zip(uses, due, strict=True)]
            if given := [one for one in answers if one is not None]:
                self._note_moved(at, due)
                self._made.append(Message(role="tool", content=given))
        if strays := self._strays(at, message):
            self._made.append(Message(role="user", content=strays))

    def _readable(self, at: int, uses: Sequence[tuple[int, ToolUseBlock]]) -> dict[int, ToolUseBlock]:
        """Those whose arguments could not be read, as they are sent from here on."""
        if not self._enters or at >= self._open_from:
            return {}
        broken = {number: use for number, use in uses if use.input is None}
        for use in broken.values():
            self._say("unreadable_arguments", at, use.raw_input[:_MAX_TEXT_SHOWN], {"id": use.id[:_MAX_ID_SHOWN]})
        return {number: updated(_readable(use), {"raw_input": ""}) for number, use in broken.items()}

    def _is_kept_behind(self, at: int, due: Sequence[_Position | None]) -> bool:
        """Does the next message begin with the calls' results as they are due? It is kept then, with all that it holds, but where
        calls stand in it, which are no place for them."""
        if not self._enters or at + 1 >= len(self._given) or self._given[at + 1].role not in ("tool", "user"):
            return False
        if self._given[at + 1].tool_uses:
            return False
        wanted = [place for place in due if place is not None]
        found = [number for number, block in enumerate(self._given[at + 1].content) if isinstance(block, ToolResultBlock)]
        whole = len(wanted) == len(due) or at >= self._open_from
        if not (found and whole and wanted == [(at + 1, number) for number in found] and found == list(range(len(found)))):
            return False
        self._kept.add(at + 1)
        return True

    def _answer(self, at: int, call: ToolUseBlock, place: _Position | None) -> ToolResultBlock | None:
        """The call's one result; None where it may stay open."""
        if place is None:
            if at >= self._open_from:
                return None
            self._say("result_made_up", at, {"id": call.id[:_MAX_ID_SHOWN], "name": call.name}, NO_RESULT)
            return ToolResultBlock(tool_use_id=call.id, name=call.name, content=[TextBlock(text=NO_RESULT)], is_error=True)
        result = self._result(place)
        changes = {} if result.name else {"name": call.name}
        if result.tool_use_id != call.id:
            changes["tool_use_id"] = call.id
        return updated(result, changes) if changes else result

    def _note_moved(self, at: int, due: Sequence[_Position | None]) -> None:
        """Results that did not stand directly behind the calls, in one message or one each, or not in their order."""
        last, end = (-1, -1), self._end_of_results(at)
        for place in due:
            if place is not None and (not at < place[0] <= end or place < last):
                self._say("result_moved", place[0], {"tool_use_id": self._result(place).tool_use_id[:_MAX_ID_SHOWN]})
            last = place or last

    def _end_of_results(self, at: int) -> int:
        """The last of the messages directly behind this one that hold its results: one, or one for each."""
        end = at + 1
        while end + 1 < len(self._given) and _holds_results_alone(self._given[end]):
            end += 1
        return end

    def _add_others(self, at: int, message: Message) -> None:
        """A message with results: those that answer a call stand behind it already."""
        if at in self._kept:
            return
        is_users = message.role in ("tool", "user")
        if own := [] if is_users else _full([block for block in message.content if not isinstance(block, ToolResultBlock)]):
            self._put_new(at, Message(role=message.role, content=own))
        if blocks := _full(self._strays(at, message, others=is_users)):
            self._made.append(Message(role="user", content=blocks))

    def _strays(self, at: int, message: Message, *, others: bool = False) -> list[Block]:
        """What the results in a message say that answer no call, and perhaps what else stands there."""
        blocks: list[Block] = []
        for number, block in enumerate(message.content):
            if not isinstance(block, ToolResultBlock):
                blocks += [block] if others else []
            elif (at, number) not in self._paired:
                blocks += self._stray(at, block)
        return blocks

    def _stray(self, at: int, block: ToolResultBlock) -> list[Block]:
        """What a result says that answers no open call: as text; nothing where its call's own result says the same."""
        told = {"tool_use_id": block.tool_use_id[:_MAX_ID_SHOWN]}
        first = self._first.get(block.tool_use_id)
        if self._enters and first is not None and (first.content, first.is_error) == (block.content, block.is_error):
            self._say("result_twice", at, told)
            return []
        made = _as_text(block)
        self._say("result_without_call", at, told, made.text[:_MAX_TEXT_SHOWN])
        return [made, *(part for part in block.content if not isinstance(part, TextBlock))]

    def _result(self, place: _Position) -> ToolResultBlock:
        return cast("ToolResultBlock", self._given[place[0]].content[place[1]])

    def _unique_ids(self) -> dict[_Position, str]:
        """A new id for each call that has the id of one before it, or one that cannot be sent."""
        taken = {use.id for message in self._given for use in message.tool_uses}
        seen: set[str] = set()
        fresh: dict[_Position, str] = {}
        numbers = Counter[str]()
        for at, message in enumerate(self._given):
            for number, block in enumerate(message.content):
                if not isinstance(block, ToolUseBlock):
                    continue
                is_odd = at < self._open_from and not is_sendable_id(block.id)
                if is_odd or block.id in seen:
                    free = _free("call" if is_odd else block.id, taken, numbers)
                    fresh[at, number] = free
                    taken.add(free)
                    self._say("call_id", at, block.id[:_MAX_ID_SHOWN], free)
                else:
                    seen.add(block.id)
        return fresh

    def _say(self, kind: str, at: int, before: Any = None, after: Any = None) -> None:
        safety: Safety = "guess" if kind == "result_made_up" else "lossless"
        self._note(Repair(kind=kind, path=f"messages[{at}]", before=before, after=after, safety=safety))


def last_open_turn(messages: Sequence[Message]) -> int | None:
    """Where the last message with calls stands, if the assistant said nothing behind it."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].tool_uses:
            return at
        if messages[at].role == "assistant":
            break
    return None


class _Calls:
    """The calls of one id that have no result yet, message by message."""

    def __init__(self) -> None:
        self._turns: list[tuple[int, deque[_Position]]] = []

    def add(self, place: _Position) -> None:
        if not self._turns or self._turns[-1][0] != place[0]:
            self._turns.append((place[0], deque()))
        self._turns[-1][1].append(place)

    def take_last(self, count: int) -> list[_Position]:
        """Those that results so many may be of, which stand together: the last message's, and with more results than it has
        calls those of the messages directly before it. In order."""
        begin, found = len(self._turns), 0
        while begin and found < count and (begin == len(self._turns) or self._turns[begin - 1][0] == self._turns[begin][0] - 1):
            begin -= 1
            found += len(self._turns[begin][1])
        return self._take(begin, count)

    def take_first(self) -> list[_Position]:
        return self._take(0, 1)

    def _take(self, begin: int, count: int) -> list[_Position]:
        taken: list[_Position] = []
        end = begin
        while end < len(self._turns) and len(taken) < count:
            places = self._turns[end][1]
            while places and len(taken) < count:
                taken.append(places.popleft())
            end += not places
        del self._turns[begin:end]
        return taken


def _pair(messages: Sequence[Message]) -> tuple[dict[_Position, _Position], set[_Position]]:
    """Where the result of each call stands, by the call's position, and the positions of those results. Of calls of one id the
    nearest ones before a result are its, in order: servers count ids anew, and a program may have died before an earlier call had
    its result. One that finds none so is the result of any call of its id that has no other."""
    calls: defaultdict[str, _Calls] = defaultdict(_Calls)
    results: dict[_Position, _Position] = {}
    together: defaultdict[str, list[_Position]] = defaultdict(list)  # results between which nothing else stands
    left: list[tuple[str, _Position]] = []

    def settle() -> None:
        for call_id, places in together.items():
            taken = calls[call_id].take_last(len(places))
            results.update(zip(taken, places, strict=False))
            left.extend((call_id, place) for place in places[len(taken) :])
        together.clear()

    for at, message in enumerate(messages):
        for number, block in enumerate(message.content):
            if isinstance(block, ToolUseBlock):
                settle()
                calls[block.id].add((at, number))
            elif isinstance(block, ToolResultBlock):
                together[block.tool_use_id].append((at, number))
        if not message.tool_results:
            settle()
    settle()
    for call_id, place in sorted(left, key=operator.itemgetter(1)):
        results.update((call, place) for call in calls[call_id].take_first())
    return results, set(results.values())


def _holds_results_alone(message: Message) -> bool:
    return message.role in ("tool", "user") and all(isinstance(block, ToolResultBlock) for block in message.content)


def _full(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that say something."""
    return [block for block in blocks if not (isinstance(block, TextBlock) and not block.text)]


def _free(wanted: str, taken: set[str], numbers: Counter[str]) -> str:
    """An id that no call has. `numbers`: how far was counted for each."""
    numbers[wanted] = max(numbers[wanted], 1) + 1
    while f"{wanted}_{numbers[wanted]}" in taken:
        numbers[wanted] += 1
    return f"{wanted}_{numbers[wanted]}"


def _readable(block: B) -> B:
    if isinstance(block, ToolUseBlock) and block.input is None:
        return updated(block, {"input": {"INVALID_JSON": block.raw_input}})
    return block


def as_one_text(texts: Iterable[str]) -> str:
    """Parts of a message as one text: on lines of their own, where no white space keeps them apart already."""
    whole: list[str] = []
    for text in filter(None, texts):
        if whole and not (whole[-1][-1].isspace() or text[0].isspace()):
            whole.append("\n")
        whole.append(text)
    return "".join(whole)


def _as_text(block: ToolResultBlock) -> TextBlock:
    text = as_one_text(part.text for part in block.content if isinstance(part, TextBlock))
    return TextBlock(text=f"Result of the tool call {block.tool_use_id[:_MAX_ID_SHOWN]!r}: {text}")
