"""A call that was begun and, before it was whole, begun again.

A model that loses its place opens the next call in the middle of a value. What is read then is one call that swallowed the other.
It is looked for where calls end, whatever row they are of: where the opener of the call stands once more within it, and what
stands behind that reads as a call, the first one is cut there and was never whole. In a value that is open, only an opener at the
beginning of a line begins the call anew. Elsewhere in it the opener is a word of the value, and what it opens is no call.

The opener may also be another row's, whose closer then ends the value: that such a value was not whole says `swallowed_closers`.

A value in a notation with escapes (JSON, Python, Gemma's strings) that is sound holds an opener because it speaks of one; text
between tags has no escapes, and there an opener with a call behind it is one. Linear: what is looked at is read twice more, and
only so often in a reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Protocol

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.scanning.source import Source
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object, texts_in
from llmcore.types.envelope import Repair

__all__ = ["HOLDS_CALL", "TRIALS", "BegunAgain", "begins_line", "begun_again", "openers_before", "swallowed_closers"]

TRIALS = (8, 4, 0)
"""How often it is looked for in a reply, and in the body of a wrapper within it; deeper it is not."""
HOLDS_CALL = "holds_call"
"""The repair of a value in which a whole call stands, with the value's own closer behind: it speaks of that call, or was meant
to end before it. Neither is passed over."""
_PLACES = 4  # in one call
_HEAD = lazy_regex(
    r"""<[|｜][^\s<>=]{1,62}[|｜][> ]\w{1,32}(?= )|<<?[^\s<>=]{1,64}+[=>]?+|"""
    r"""\[[A-Z_]{4,24}+\]|✿[A-Z]{4,24}+✿|`{3,}+\w{1,24}+|[^\s<>{}()\[\]"'=]{1,64}+[\[({\n:]|[\[{(][\s\[{]{0,16}+["']?+\w{1,64}+"""
)
"""An opener. Where a special token begins arguments as well (`<|open|>call `), the word behind it belongs to it."""
_BEFORE = lazy_regex(
    r"""(?:<[|｜][^<>"\n]{1,63}>[^<>{}"\n]{0,80}\s{0,16}|<[\w:|.-]{0,24}(?:tool|call|function|invoke|request)[\w:|.-]{0,24}>\s{0,16}|`{3,24}\w{0,24}\n\s{0,16})+\Z"""
)
"""Openers that stand before the one of a call: of a section, of a message, of a separator, of a fence; no quotation mark of
Gemma's."""
_MARKS = ("<", "[", "]", "`")
"""With one of these a marker begins. A call without one is not begun anew behind the marker of another form."""
_BEFORE_VALUE = (":", ": ", "[", "{", "(", ",", ", ")
_BEFORE_ARGUMENT = {"(": tuple("(,=[{:*"), "{": ("{", ":", "[")}
"""By the bracket of a call that begins with its name: behind one of these a call is a value, also on a line of its own."""
_ADDED = lazy_regex(r"""["')\]]\s*+\+\s*+\Z""")
"""So it is where it is added to another one."""
_NEXT = "\ue000"
"""In the place of what comes next: a character that no notation knows."""
_REACH = 256
_TELLING = 24  # of an opener and what stands behind it
_GOES_ON = lazy_regex(r"(?:[^\w<]++|<[^<>\n]{1,64}+>)*+\w(?:[^<]++|<(?![^<>\s]))*+<[^<>\s]")
"""Words, and markup behind them."""
_ESCAPING = lazy_regex(r"""\s*+(?:[\[{("']|[^\W\d]\w{0,127}+\s*+=(?![=>]))""")
"""What arguments begin with in a notation with escapes: a bracket, or, in a call of Python, a string or a keyword."""
_OPEN_TAG = lazy_regex(r"<[^<>\n]*+\Z")
"""A tag that has not ended: what follows belongs to its name or to an attribute."""
_MAY_OPEN = lazy_regex(r"[<\[{(]")
_LINES = lazy_regex(r"""\s*+["']?[\w.-]{1,128}+["']?:[ \t\r\n]""")
"""YAML: a line that begins with an opener is in a block, or has ended the call; so is one before a line as deep as it is."""
_TRIPLE = ('"""', "'''")
_AS_WRITTEN = frozenset({"assigned", "bare_word", "expression", "joined_strings", "names_disagree", "positional"})
"""Guesses at what is meant, not at where a value ends."""
_LINE_BEHIND = lazy_regex(r"[^\n]*+\n(?:[ \t]*+\n)*+([ \t]*+)\S")


class _NestedReading(Protocol):
    drafts: list[Draft]
    cut: bool


class _Asked(Protocol):
    """The reading in which a call ends."""

    src: Source
    names: frozenset[str] | None

    def try_again(self, characters: int = 0) -> bool: ...

    def nest(self, text: str, *, on_trial: bool = False) -> _NestedReading: ...

    def failed(self, characters: int = 0) -> None: ...


class BegunAgain(NamedTuple):
    """Where the next call begins, and what the text before it says; -1 when it was not looked for any more. `goes_on`: words and
    a closer of the first call follow, which speaks of the next one in a value or was begun again; that cannot be told.
    `within`: a call stands in a value that is open, and none begins anew."""

    at: int
    drafts: list[Draft]
    goes_on: bool = False
    within: bool = False


def begins_line(text: str, start: int, at: int) -> bool:
    """Does an opener at `at`, or those right before it, begin a line of the text behind the opener at `start`?"""
    at = openers_before(text, start + 1, at)
    line = text.rfind("\n", max(start, at - _REACH), at)
    return line >= 0 and not text[line:at].strip()


def openers_before(text: str, start: int, at: int) -> int:
    """Where the openers begin, not before `start`, that stand right before the one at `at`."""
    found = _BEFORE.search(text, max(start, at - _REACH), at)
    return at if found is None else found.start()


@lru_cache(maxsize=256)
def _openers(head: str, names: frozenset[str] | None) -> tuple[str, tuple[str, ...]]:
    """The opener of a call as it is written; where it holds the name of a tool, with the name of any. What they all begin with
    comes first."""
    held = max((name for name in names or () if name in head), key=len, default="")
    if not held:
        return head, (head,)
    before, _, after = head.partition(held)
    return before, tuple(f"{before}{name}{after}" for name in names or ())


def _found(text: str, start: int, end: int, head: str, names: frozenset[str] | None) -> Iterator[int]:
    """Where an opener of a call stands."""
    common, openers = _openers(head, names)
    if text.find(common, start, end) < 0:  # most calls
        return
    following = {opener: text.find(opener, start, end) for opener in openers}
    while places := [at for at in following.values() if at >= 0]:
        first = min(places)
        yield first
        following = {opener: text.find(opener, first + 1, end) if at == first else at for opener, at in following.items()}


def _is_trusted(arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]) -> bool:
    """Does the call show by its notation where each of its values ends?"""
    if not complete or arguments is None:
        return False
    if _ESCAPING.match(raw) is None and all(repair.kind != "positional" for repair in repairs):
        return False
    return not repairs or all(repair.safety in ("lossless", "coerced") or repair.kind in _AS_WRITTEN for repair in repairs)


def _open_text(arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]) -> str | None:
    """What has come of the text that is open, "" where none is; None where the notation does not tell that."""
    if complete or not arguments:
        return None
    if any(repair.kind == HOLDS_CALL for repair in repairs):  # in a value that is closed
        last = next(reversed(arguments))
        is_open = any(repair.kind == "closer_missing" and repair.path == last for repair in repairs)
        return str(arguments[last]) if is_open else ""
    if _ESCAPING.match(raw) is None or any(repair.safety == "guess" for repair in repairs):
        return None
    if all(repair.kind != "cut_string" for repair in repairs):
        return ""
    value: Any = arguments
    while value and (is_object(value) or is_list(value)):
        value = [*value.values()][-1] if is_object(value) else value[-1]
    return value if isinstance(value, str) else None


def _places(reading: _Asked, start: int, end: int, raw: str, opened: str | None, closed_to: int) -> Iterator[int]:
    """Where the call may begin anew. `opened`: the only text in which it may, if that is told."""
    text, in_lines = reading.src.text, _LINES.match(raw) is not None
    head = _HEAD.match(text, start, end)
    if head is None:
        return
    begin, closed = max(head.end(), closed_to), 0
    if opened is not None:
        closed = sum(1 for _ in _found(text, begin, end, head[0], reading.names))
        closed = max(0, closed - sum(1 for _ in _found(opened, 0, len(opened), head[0], reading.names)))
    for at in islice(_found(text, begin, end, head[0], reading.names), closed, closed + _PLACES):
        if not (in_lines and _in_block(text, max(start, text.rfind("\n", start, at)), at)):
            yield at


def _in_block(text: str, line: int, at: int) -> bool:
    """Does what stands at `at`, in the line of YAML behind the line break at `line`, belong to a block of text?"""
    before, behind = text[line:at], _LINE_BEHIND.match(text, at)
    depth = len(before) - len(before.lstrip()) - 1
    return before.isspace() or (depth > 0 and behind is not None and len(behind[1]) >= depth)


def _in_own_lines(text: str, raw: str) -> bool:
    """Does the text end in a string in triple quotes, whose lines are its own?"""
    return _ESCAPING.match(raw) is not None and any(text.count(quotes) % 2 for quotes in _TRIPLE)


def _has_arguments(draft: Draft) -> bool:
    """Has it what a call of its row has behind the opener, and not any text?"""
    return (draft.complete or bool(draft.raw)) and all(repair.kind != "only_parameter" for repair in draft.repairs)


def _holds(value: Any, opener: str) -> bool:
    """Does a text in it hold an opener and what stands behind that, or end within what does?"""
    if isinstance(value, str):
        head = _HEAD.match(opener)
        shortest = _TELLING if head is None else min(_TELLING, head.end())
        return opener[:_TELLING] in value or any(value.endswith(opener[:n]) for n in range(shortest, _TELLING))
    if is_object(value):
        return any(_holds(item, opener) for item in value.values())
    return is_list(value) and any(_holds(item, opener) for item in value)


def _ends_in_value(reading: _Asked, text: str) -> bool:
    """Does the beginning of a call end in a value, before one, or in what cannot be told? What comes next belongs to it."""
    if text.endswith(_BEFORE_VALUE) or _OPEN_TAG.search(text, max(0, len(text) - _REACH)) is not None:
        return True
    drafts = reading.nest(text + _NEXT, on_trial=True).drafts
    return not drafts or drafts[-1].arguments is None or any(_NEXT in value for value in texts_in(drafts[-1].arguments))


def _is_argument(text: str, start: int, place: int, closed: bool, before: list[Draft]) -> bool:
    """Is the call at `place` an argument of the one at `start`, whose brackets are `closed`? `before`: what the text before it
    says."""
    head = _HEAD.match(text, place)
    signs = None if head is None else _BEFORE_ARGUMENT.get(head[0][-1])
    if signs is None or closed:
        return signs is not None
    if _ADDED.search(text, max(start, place - _REACH), place) is not None:
        return True
    in_text = bool(before) and any(repair.kind == "cut_string" for repair in before[-1].repairs)
    return not in_text and text[start:place].rstrip().endswith(signs)


def begun_again(
    reading: _Asked,
    draft: Draft,
    end: int,
    arguments: dict[str, Any] | None,
    raw: str,
    complete: bool,
    repairs: list[Repair],
    closed_to: int = -1,
) -> BegunAgain | None:
    """Where the call that was read up to `end` was begun again; None when it was not. `closed_to`: values that stand before it
    show where they end."""
    if _is_trusted(arguments, raw, complete, repairs) or (complete and any(repair.kind == HOLDS_CALL for repair in repairs)):
        return None
    text, start, within = reading.src.text, draft.start, False
    if (opened := _open_text(arguments, raw, complete, repairs)) == "":
        return None
    closed = complete and all(repair.kind != "inner_quotes" for repair in repairs)
    for place in _places(reading, start, end, raw, opened, closed_to):
        if not reading.try_again(end - start):
            return BegunAgain(-1, [])
        at = openers_before(text, start + 1, place)
        second = reading.nest(text[at:end], on_trial=True).drafts
        if not second or openers_before(text, at, at + second[0].start) > at or not _has_arguments(second[0]):
            reading.failed(end - at)
            continue
        first = reading.nest(text[start:at], on_trial=True).drafts
        if first and first[-1].complete and not _holds(arguments, text[place:end]):
            continue  # the calls of one list, each with an opener of its own
        anew = begins_line(text, start, at) and (at == place or text[start] in _MARKS)
        anew = anew and not _in_own_lines(text[start:at], raw)
        if _is_argument(text, start, place, closed, first) or (not anew and _ends_in_value(reading, text[start:place])):
            within = True
            continue
        return BegunAgain(at, first, _GOES_ON.match(text, at + second[-1].stop, end) is not None)
    return BegunAgain(end, [], within=True) if within else None


def swallowed_closers(reading: _Asked, arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]) -> bool:
    """Did a value end at the closer of another call, which was begun within the value? Then that call stands in it without its
    end, and a closer is missing behind it."""
    missing = [repair for repair in repairs if repair.kind == "closer_missing"]
    for text in texts_in(arguments) if missing and not _is_trusted(arguments, raw, complete, repairs) else ():
        if _MAY_OPEN.search(text) is None or not reading.try_again(len(text)):
            continue
        inner = reading.nest(text, on_trial=True)
        if inner.cut or (inner.drafts and (missing[0].path or inner.drafts[-1].stop >= len(text.rstrip()))):
            return True
        reading.failed(len(text))
    return False
