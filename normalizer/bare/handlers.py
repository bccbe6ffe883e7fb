"""Handlers of bare forms, by the character that triggers them.

`{` begins JSON objects and `name{...}`, `[` arrays and lists of Python calls, `(` Python calls (`json_forms`, `python_forms`).
Code and ReAct have their own modules (`fences`, `react`). A handler gets the position of its trigger and returns where the
walk goes on. It classifies the text that it reads. The text behind a bare form decides whether it is a call, so a stream waits
until `verdicts` can decide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from llmcore.normalizer.bare import fences, react
from llmcore.normalizer.bare.json_forms import (
    behind_data,
    calling_tool,
    json_form,
    json_mid_line,
    mid_line_brace,
    named_brace,
    opens_object,
)
from llmcore.normalizer.bare.labelled_lines import LABELS, labelled
from llmcore.normalizer.bare.lost_headers import announced, harmony_header
from llmcore.normalizer.bare.made_up import wrapper_before
from llmcore.normalizer.bare.named_above import announced_tool, arguments_below, name_above
from llmcore.normalizer.bare.python_forms import is_callable, mid_line_call, python_list, python_run
from llmcore.normalizer.bare.python_lines import (
    begins_tuple,
    in_a_block,
    python_begins_lines,
    python_lines,
    python_tuple,
    unread_lines,
)
from llmcore.normalizer.bare.verdicts import leads_in, may_stand, rest_is_blank
from llmcore.normalizer.calls.call_objects import FORM_OF_LIST
from llmcore.normalizer.core.names import PARALLEL, holds_calls, id_start, is_known, name_start, peel, unprefixed
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.source import Steps, match_within, skip_space, starts, wait_until_known
from llmcore.normalizer.scanning.words import BEFORE_BARE, OWN_SIGNS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["HANDLERS", "decided_length", "without_sign"]

_REACH = 512
_SIGNS = 8  # characters at the text's end that may begin a marker
_MAY_BEGIN = ("]", *OWN_SIGNS)
_PYTHON_HEAD = lazy_regex(r"[A-Za-z_][\w.\\-]{0,255}+\s{0,64}+\(")
_PYTHON_MAYBE = lazy_regex(r"[A-Za-z_][\w.\\-]{0,255}+\s{0,64}+\Z")
_DATA_SIGNS = '"[-0123456789tfn'
"""First characters of data that may stand in a list before a call."""
_NOTHING = lazy_regex(r"(?:(?:None|null)\s{0,16}+)?\]")
_NOTHING_LENGTH = 21
_GAP = r"\s{0,64}+"
_CALLING = lazy_regex(rf"Calling tool:{_GAP}([^\s(]{{1,256}}+){_GAP}\({_GAP}(?=\{{)")
_CALLING_MAYBE = lazy_regex(rf"Calling(?: (?:t(?:o(?:o(?:l(?::{_GAP}(?:[^\s(]{{1,256}}+{_GAP}(?:\({_GAP})?)?)?)?)?)?)?)?\Z")
"""With `_CALLING`: what may stand behind the bracket that opens a list, with its white space."""
_LISTS_CALLS = starts(*FORM_OF_LIST, *(f'"{key}"' for key in FORM_OF_LIST), *(f"'{key}'" for key in FORM_OF_LIST))
_NAMEISH = lazy_regex(r"(?:>>>)?(?:assistant\s)?[\w.:/=\\-]{0,256}\s{0,8}\Z")


def decided_length(reading: Reading, length: int) -> int:
    """How much of the first `length` characters can be emitted while no candidate stands in them.

    A line that may begin a bare form is not emitted yet.
    """
    text, end = reading.src.text, without_sign(reading, length)
    start = max(reading.line_start(length), reading.done)
    if reading.is_prose(start) or not reading.takes_calls:
        return end
    line = text[start:length].lstrip() if length - start < _REACH else None
    if line == "":
        return end
    if line is None or not _NAMEISH.match(line):
        reading.mark_prose(start)
        return end
    opens = start == reading.done and not reading.has_content()
    return start if _may_begin(line.strip(), reading.names, opens) else end


def without_sign(reading: Reading, length: int) -> int:
    """`length`, without a character at the text's end that may begin a marker."""
    text = reading.src.text
    if text[length - 1 : length] not in _MAY_BEGIN:
        return length
    tail = text[max(reading.done, length - _SIGNS) : length]
    return length - len(tail) + len(tail.rstrip("".join(_MAY_BEGIN)))


@lru_cache(maxsize=4096)
def _may_begin(word: str, names: frozenset[str] | None, opens: bool) -> bool:
    """Whether a bare form may begin with this word, alone in its line so far. `opens`: it opens the message.

    It is cached, because lines of prose begin with few words, and a stream asks at each of their characters.
    """
    word = word.removeprefix(">>>")
    if "to=".startswith(word) or word.removeprefix("assistant").lstrip().startswith("to="):
        return True
    if "Action:".startswith(word) or "functools".startswith(word) or (opens and "commentary".startswith(word)):
        return True
    if names is not None and any(label.startswith(word.lower()) for label in LABELS):
        return True
    if word.startswith(("call:", "declaration:", "functions.", "default_api.")):
        return True
    return opens if names is None else any(name.startswith(word) or word.endswith(name) for name in (*names, *PARALLEL))


def _begins(reading: Reading, at: int) -> tuple[int, str]:
    """(start, text up to `at`) of the line, or of its unclassified part, at most `_REACH` characters."""
    start = max(reading.line_start(at), reading.done, at - _REACH)
    return start, reading.src.text[start:at]


def _brace(reading: Reading, at: int) -> Steps[int]:
    if reading.backtrack_budget.too_many_left_open:
        return at + 1
    start, before = _begins(reading, at)
    begin = id_start(reading.src.text, name_start(reading.src.text, start, at), at)
    if begin < at:
        written = reading.src.text[begin:at]
        if written == "functools":
            return (yield from _marked(reading, at, begin))
        name = yield from _call_name(reading, written, at)
        if name is not None and leads_in(before[: begin - start].removeprefix(">>>")):
            return (
                yield from named_brace(
                    reading, begin, at, name, "gemma4" if "call:" in written or "declaration:" in written else "name_brace"
                )
            )
        if name is not None and (yield from wait_until_known(reading.src, opens_object, at)):
            return (yield from mid_line_brace(reading, begin, at, name))
    elif before.endswith(" ") and (spaced := (yield from _spaced_name(reading, start, at, before))) is not None:
        if not (yield from wait_until_known(reading.src, opens_object, at)):
            return at + 1
        return (yield from named_brace(reading, spaced[0], at, spaced[1], "name_brace"))
    if (header := harmony_header(reading, start, at, before)) is not None:
        strict = header.in_prose
        return (yield from named_brace(reading, header.begin, at, header.name, "harmony", gap=header.gap, strict=strict))
    if (opener := announced(reading, at)) >= 0:
        return (yield from _announced(reading, opener, at))
    if not before.strip():
        if (line := name_above(reading, start)) is not None:
            if not (yield from wait_until_known(reading.src, opens_object, at)):
                return at + 1
            return (yield from named_brace(reading, line[0], at, line[1], "functionary_v32"))
        if (name := announced_tool(reading, at)) and (yield from wait_until_known(reading.src, opens_object, at)):
            end = yield from arguments_below(reading, at, name)
            if end >= 0:
                return end
    if may_stand(reading, before, at) or wrapper_before(reading, at) is not None:
        return (yield from json_form(reading, at))
    return (yield from json_mid_line(reading, at)) if before[-1] in BEFORE_BARE else at + 1


def _announced(reading: Reading, opener: int, at: int) -> Steps[int]:
    """Read an object behind words that announce a call. If it is a call, the words are markup."""
    reading.set_lead(opener, at)
    end = yield from json_form(reading, at)
    reading.drop_lead()
    if reading.done > at and "(" in reading.src.text[opener:at] and reading.src.text.startswith(")", reading.done):
        reading.markup(reading.done + 1)
        return reading.done
    return end


def _call_name(reading: Reading, written: str, at: int) -> Steps[str | None]:
    """The tool that a name before the bracket at `at` means, or None.

    `call:f` and `functions.f:0` are left of stripped Gemma and Kimi markers. Behind `call:`, a namespace may stand before the
    name. A name that calls several tools is returned as it is.
    """
    name = unprefixed(written)
    if (yield from _wraps_calls(reading, name, at)):
        return name
    known = peel(name, reading.tools)
    return peel(name.rpartition(":")[2], reading.tools) if known is None and written.startswith("call:") else known


def _wraps_calls(reading: Reading, name: str, at: int) -> Steps[bool]:
    """Whether a name calls several tools and the bracket at `at` lists calls. Programs have functions of that name, too."""
    if reading.tools is None or not holds_calls(name, reading.tools):
        return False
    return (yield from wait_until_known(reading.src, _LISTS_CALLS, at + 1))


def _spaced_name(reading: Reading, start: int, at: int, before: str) -> Steps[tuple[int, str] | None]:
    """(start, name) of a tool's name that is all of the text before a brace on its line, with blanks between. None if not."""
    written = before.strip(" ")
    name = (yield from _call_name(reading, written, at)) if written and " " not in written else None
    return None if name is None else (start + before.index(written), name)


def _marked(reading: Reading, at: int, opener: int) -> Steps[int]:
    """Read a marker that is a word before the bracket."""
    took = yield from reading.marker(opener)
    return reading.done if took else at + 1


def _bracket(reading: Reading, at: int) -> Steps[int]:
    if reading.backtrack_budget.too_many_left_open:
        return at + 1
    src = reading.src
    _, before = _begins(reading, at)
    if before.endswith("functools"):
        return (yield from _marked(reading, at, at - len("functools")))
    escaped = before.endswith("\\")
    if not may_stand(reading, before.removesuffix("\\"), at) and wrapper_before(reading, at) is None:
        return (yield from json_mid_line(reading, at)) if before[-1] in BEFORE_BARE else at + 1
    ahead = yield from skip_space(src, at + 1)
    char = src.text[ahead : ahead + 1]
    if char == "{":
        return (yield from json_form(reading, at, (yield from behind_data(reading, ahead))))
    if char and char in "]nN" and (yield from _is_empty_list(reading, at, ahead)):
        return reading.done
    if char and char in _DATA_SIGNS and (first := (yield from behind_data(reading, ahead))) >= 0:
        return (yield from json_form(reading, at, first))
    while not src.final and (_PYTHON_MAYBE.match(src.text, ahead) or _CALLING_MAYBE.match(src.text, ahead)):
        yield None
    if (calling := _CALLING.match(src.text, ahead)) is not None:
        name, body = calling[1], calling.end()
        calling = None  # a match keeps its text alive
        return (yield from calling_tool(reading, at, name, body))
    if (char and char in "'\"`[") or _PYTHON_HEAD.match(src.text, ahead):
        return (yield from python_list(reading, at - 1 if escaped else at, at))
    if at == reading.done:  # elsewhere, only lists are candidates
        reading.backtrack_budget.glanced()
    return at + 1


def _is_empty_list(reading: Reading, at: int, ahead: int) -> Steps[bool]:
    """Read `[]` or `[None]`, which explicitly calls nothing, if it is all of the message. Returns whether it did."""
    if not reading.opens_message(at):
        return False
    match = yield from match_within(reading.src, _NOTHING, ahead, _NOTHING_LENGTH)
    if match is None:
        return False
    end = match.end()
    match = None  # a match keeps its text alive
    if not (yield from rest_is_blank(reading, end)):
        return False
    reading.text(at)
    reading.markup(end)
    return True


def _paren(reading: Reading, at: int) -> Steps[int]:
    if reading.backtrack_budget.too_many_left_open:
        return at + 1
    start, before = _begins(reading, at)
    begin = name_start(reading.src.text, start, at)
    if begin == at:
        return at + 1
    lead, word = before[: begin - start], reading.src.text[begin:at]
    if holds_calls(word, reading.tools):
        brace = yield from skip_space(reading.src, at + 1)
        if reading.src.text.startswith("{", brace) and announced(reading, brace) == begin:
            return (yield from _announced(reading, begin, brace))
    lead = "" if lead.strip() == "tool_code" else lead
    printed = lead.rstrip().endswith("print") or lead.endswith("print(")
    if not may_stand(reading, lead, begin) and not printed and wrapper_before(reading, begin) is None:
        if (end := (yield from _code(reading, start, lead, word, at))) >= 0:
            return end
        return (yield from mid_line_call(reading, begin, at)) if is_known(word, reading.tools) else at + 1
    if not is_callable(reading, word) and not (yield from _wraps_calls(reading, word, at)):
        return at + 1
    if in_a_block(reading, start, lead):
        return (yield from mid_line_call(reading, begin, at))
    if (end := (yield from unread_lines(reading, begin, at))) >= 0:
        return end
    return (yield from python_run(reading, begin, at))


def _code(reading: Reading, start: int, lead: str, word: str, at: int) -> Steps[int]:
    """Read code that is only calls, if it begins here. -1 if not."""
    if not is_known(word, reading.tools):
        return -1
    if python_begins_lines(reading, start, lead):
        return (yield from python_lines(reading, start))
    if begins_tuple(reading, start, lead):
        return (yield from python_tuple(reading, start + lead.index("(")))
    return -1


HANDLERS: dict[str, Callable[[Reading, int], Steps[int] | int]] = {
    "{": _brace,
    "[": _bracket,
    "(": _paren,
    "`": fences.back_ticks,
    "~": fences.tildes,
    "A": react.action,
    ":": labelled,
}
