"""Find a restarted call: the model began a call, and began it again before it was complete.

A model that loses its place opens the next call in the middle of a value. A reader then reads one call that swallowed the
other. So wherever a call of any dialect ends, its opener is sought once more within it. If what follows that opener reads as a
call, the first call is cut there and is incomplete. In an open value, only an opener at the beginning of a line restarts the
call. Elsewhere in the value, the opener is a part of the value, and what it opens is no call.

The opener may also belong to another row, whose closer then ends the value. `swallowed_closers` detects such a value.

In a notation with escapes (JSON, Python, Gemma's strings), an opener in a sound value is text. Between tags there are no
escapes, and there an opener with a call behind it is a restart. The work is linear: each trial reads the call twice more, and
the number of trials in a reply is limited.
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

__all__ = ["HOLDS_CALL", "TRIALS", "Restart", "begins_line", "find_restart", "openers_before", "swallowed_closers"]

TRIALS = (8, 4, 0)
"""The number of trials in a reply, in the body of a wrapper within it, and in deeper wrappers."""
HOLDS_CALL = "holds_call"
"""The repair kind of a value that holds a complete call, followed by the value's own closer.

Either the value quotes that call, or it was meant to end before it. The repair keeps both possible.
"""
_PLACES = 4  # openers that are tried in one call
_HEAD = lazy_regex(
    r"""<[|｜][^\s<>=]{1,62}[|｜][> ]\w{1,32}(?= )|<<?[^\s<>=]{1,64}+[=>]?+|"""
    r"""\[[A-Z_]{4,24}+\]|✿[A-Z]{4,24}+✿|`{3,}+\w{1,24}+|[^\s<>{}()\[\]"'=]{1,64}+[\[({\n:]|[\[{(][\s\[{]{0,16}+["']?+\w{1,64}+"""
)
"""An opener. If a special token also begins arguments (`<|open|>call `), the opener includes the word behind it."""
_BEFORE = lazy_regex(
    r"""(?:<[|｜][^<>"\n]{1,63}>[^<>{}"\n]{0,80}\s{0,16}"""
    r"""|<[\w:|.-]{0,24}(?:tool|call|function|invoke|request)[\w:|.-]{0,24}>\s{0,16}"""
    r"""|`{3,24}\w{0,24}\n\s{0,16})+\Z"""
)
"""Openers that stand before a call's own: of a section, a message, a separator or a fence. Gemma's quotation mark is none."""
_MARKS = ("<", "[", "]", "`")
"""Characters that begin a marker. A call without a marker is not restarted behind the marker of another form."""
_BEFORE_VALUE = (":", ": ", "[", "{", "(", ",", ", ")
_BEFORE_ARGUMENT = {"(": tuple("(,=[{:*"), "{": ("{", ":", "[")}
"""By the bracket of a call that begins with its name: behind one of these, a call is a value, even on its own line."""
_ADDED = lazy_regex(r"""["')\]]\s*+\+\s*+\Z""")
"""The end of text to which a call is added by `+`. Such a call is a value, too."""
_NEXT = "\ue000"
"""Stands for the text that comes next: a character that no notation uses."""
_REACH = 256
_TELLING = 24  # characters of an opener and its call that identify it
_GOES_ON = lazy_regex(r"(?:[^\w<]++|<[^<>\n]{1,64}+>)*+\w(?:[^<]++|<(?![^<>\s]))*+<[^<>\s]")
"""Words, and markup behind them."""
_ESCAPING = lazy_regex(r"""\s*+(?:[\[{("']|[^\W\d]\w{0,127}+\s*+=(?![=>]))""")
"""How arguments begin in a notation with escapes: a bracket or, in a call of Python, a string or a keyword."""
_OPEN_TAG = lazy_regex(r"<[^<>\n]*+\Z")
"""A tag that has not ended: what follows belongs to its name or to an attribute."""
_MAY_OPEN = lazy_regex(r"[<\[{(]")
_LINES = lazy_regex(r"""\s*+["']?[\w.-]{1,128}+["']?:[ \t\r\n]""")
"""Arguments in YAML. There, a line that begins with an opener is in a block or has ended the call.

The same holds if the next line is indented as deep.
"""
_TRIPLE = ('"""', "'''")
_AS_WRITTEN = frozenset({"assigned", "bare_word", "expression", "joined_strings", "names_disagree", "positional"})
"""Repair kinds that guess what a value means, but not where it ends."""
_LINE_BEHIND = lazy_regex(r"[^\n]*+\n(?:[ \t]*+\n)*+([ \t]*+)\S")


class _NestedReading(Protocol):
    drafts: list[Draft]
    cut: bool


class _EndedReading(Protocol):
    """The reading in which a call ends."""

    src: Source
    names: frozenset[str] | None

    def may_try_restart(self, characters: int = 0) -> bool: ...

    def nest(self, text: str, *, on_trial: bool = False) -> _NestedReading: ...

    def failed(self, characters: int = 0) -> None: ...


class Restart(NamedTuple):
    """Where the next call begins, and the calls in the text before it. `at` is -1 if no more trials were allowed.

    `goes_on`: words and a closer of the first call follow. Either a value of the first call quotes the next one, or the call
    was restarted. `within`: the call stands in an open value, and nothing was restarted.
    """

    at: int
    drafts: list[Draft]
    goes_on: bool = False
    within: bool = False


def begins_line(text: str, start: int, at: int) -> bool:
    """Whether an opener at `at`, or the openers right before it, begin a line of the text behind the opener at `start`."""
    at = openers_before(text, start + 1, at)
    line = text.rfind("\n", max(start, at - _REACH), at)
    return line >= 0 and not text[line:at].strip()


def openers_before(text: str, start: int, at: int) -> int:
    """Where the openers right before the one at `at` begin, not before `start`; `at` if there are none."""
    found = _BEFORE.search(text, max(start, at - _REACH), at)
    return at if found is None else found.start()


@lru_cache(maxsize=256)
def _openers(head: str, names: frozenset[str] | None) -> tuple[str, tuple[str, ...]]:
    """The beginning that all openers share, and the openers that restart a call with the opener `head`.

    If `head` holds a tool's name, there is one opener for each tool.
    """
    tool_name = max((name for name in names or () if name in head), key=len, default="")
    if not tool_name:
        return head, (head,)
    before, _, after = head.partition(tool_name)
    return before, tuple(f"{before}{name}{after}" for name in names or ())


def _opener_positions(text: str, start: int, end: int, head: str, names: frozenset[str] | None) -> Iterator[int]:
    """The positions of a call's openers."""
    common, openers = _openers(head, names)
    if text.find(common, start, end) < 0:  # most calls
        return
    following = {opener: text.find(opener, start, end) for opener in openers}
    while places := [at for at in following.values() if at >= 0]:
        first = min(places)
        yield first
        following = {opener: text.find(opener, first + 1, end) if at == first else at for opener, at in following.items()}


def _is_trusted(arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]) -> bool:
    """Whether the call's notation shows where each of its values ends."""
    if not complete or arguments is None:
        return False
    if _ESCAPING.match(raw) is None and all(repair.kind != "positional" for repair in repairs):
        return False
    return not repairs or all(repair.safety in ("lossless", "coerced") or repair.kind in _AS_WRITTEN for repair in repairs)


def _open_text(arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]) -> str | None:
    """The beginning of the value that is open; "" if no value is open, None if the notation does not show it."""
    if complete or not arguments:
        return None
    if any(repair.kind == HOLDS_CALL for repair in repairs):  # a closed value holds it
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


def _places(reading: _EndedReading, start: int, end: int, raw: str, opened: str | None, closed_to: int) -> Iterator[int]:
    """Positions where the call may restart. If `opened` is not None, only openers in that open text count."""
    text, in_lines = reading.src.text, _LINES.match(raw) is not None
    head = _HEAD.match(text, start, end)
    if head is None:
        return
    begin, closed = max(head.end(), closed_to), 0
    if opened is not None:
        closed = sum(1 for _ in _opener_positions(text, begin, end, head[0], reading.names))
        closed = max(0, closed - sum(1 for _ in _opener_positions(opened, 0, len(opened), head[0], reading.names)))
    for at in islice(_opener_positions(text, begin, end, head[0], reading.names), closed, closed + _PLACES):
        if not (in_lines and _in_block(text, max(start, text.rfind("\n", start, at)), at)):
            yield at


def _in_block(text: str, line: int, at: int) -> bool:
    """Whether `at` belongs to a block of text in YAML. `line` is the line break before its line."""
    before, behind = text[line:at], _LINE_BEHIND.match(text, at)
    depth = len(before) - len(before.lstrip()) - 1
    return before.isspace() or (depth > 0 and behind is not None and len(behind[1]) >= depth)


def _in_own_lines(text: str, raw: str) -> bool:
    """Whether the text ends in a string in triple quotes, which may hold lines."""
    return _ESCAPING.match(raw) is not None and any(text.count(quotes) % 2 for quotes in _TRIPLE)


def _has_arguments(draft: Draft) -> bool:
    """Whether a call that a trial found has arguments, and not any text behind its opener."""
    return (draft.complete or bool(draft.raw)) and all(repair.kind != "only_parameter" for repair in draft.repairs)


def _holds_opener(value: Any, opener: str) -> bool:
    """Whether a text in `value` holds the beginning of `opener`, or ends within it."""
    if isinstance(value, str):
        head = _HEAD.match(opener)
        shortest = _TELLING if head is None else min(_TELLING, head.end())
        return opener[:_TELLING] in value or any(value.endswith(opener[:n]) for n in range(shortest, _TELLING))
    if is_object(value):
        return any(_holds_opener(item, opener) for item in value.values())
    return is_list(value) and any(_holds_opener(item, opener) for item in value)


def _ends_in_value(reading: _EndedReading, text: str) -> bool:
    """Whether the beginning of a call ends in a value, before one, or unclearly. Then the text that follows belongs to it."""
    if text.endswith(_BEFORE_VALUE) or _OPEN_TAG.search(text, max(0, len(text) - _REACH)) is not None:
        return True
    drafts = reading.nest(text + _NEXT, on_trial=True).drafts
    return not drafts or drafts[-1].arguments is None or any(_NEXT in value for value in texts_in(drafts[-1].arguments))


def _is_argument(text: str, start: int, place: int, closed: bool, before: list[Draft]) -> bool:
    """Whether the call at `place` is an argument of the one at `start`.

    `closed`: the first call's brackets are closed. `before`: the calls in the text before `place`.
    """
    head = _HEAD.match(text, place)
    signs = None if head is None else _BEFORE_ARGUMENT.get(head[0][-1])
    if signs is None or closed:
        return signs is not None
    if _ADDED.search(text, max(start, place - _REACH), place) is not None:
        return True
    in_text = bool(before) and any(repair.kind == "cut_string" for repair in before[-1].repairs)
    return not in_text and text[start:place].rstrip().endswith(signs)


def find_restart(
    reading: _EndedReading,
    draft: Draft,
    end: int,
    arguments: dict[str, Any] | None,
    raw: str,
    complete: bool,
    repairs: list[Repair],
    closed_to: int = -1,
) -> Restart | None:
    """Where the call that was read up to `end` was restarted. None if it was not.

    `closed_to`: values before this position show where they end.
    """
    if _is_trusted(arguments, raw, complete, repairs) or (complete and any(repair.kind == HOLDS_CALL for repair in repairs)):
        return None
    text, start, within = reading.src.text, draft.start, False
    if (opened := _open_text(arguments, raw, complete, repairs)) == "":
        return None
    closed = complete and all(repair.kind != "inner_quotes" for repair in repairs)
    for place in _places(reading, start, end, raw, opened, closed_to):
        if not reading.may_try_restart(end - start):
            return Restart(-1, [])
        at = openers_before(text, start + 1, place)
        second = reading.nest(text[at:end], on_trial=True).drafts
        if not second or openers_before(text, at, at + second[0].start) > at or not _has_arguments(second[0]):
            reading.failed(end - at)
            continue
        first = reading.nest(text[start:at], on_trial=True).drafts
        if first and first[-1].complete and not _holds_opener(arguments, text[place:end]):
            continue  # calls of one list, each with its own opener
        anew = begins_line(text, start, at) and (at == place or text[start] in _MARKS)
        anew = anew and not _in_own_lines(text[start:at], raw)
        if _is_argument(text, start, place, closed, first) or (not anew and _ends_in_value(reading, text[start:place])):
            within = True
            continue
        return Restart(at, first, _GOES_ON.match(text, at + second[-1].stop, end) is not None)
    return Restart(end, [], within=True) if within else None


def swallowed_closers(
    reading: _EndedReading, arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]
) -> bool:
    """Whether a value ended at the closer of another call that began within the value.

    Such a call stands in the value without its end, so a closer is missing behind it.
    """
    missing = [repair for repair in repairs if repair.kind == "closer_missing"]
    for text in texts_in(arguments) if missing and not _is_trusted(arguments, raw, complete, repairs) else ():
        if _MAY_OPEN.search(text) is None or not reading.may_try_restart(len(text)):
            continue
        inner = reading.nest(text, on_trial=True)
        if inner.cut or (inner.drafts and (missing[0].path or inner.drafts[-1].stop >= len(text.rstrip()))):
            return True
        reading.failed(len(text))
    return False
