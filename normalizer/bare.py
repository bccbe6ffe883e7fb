"""Bare forms: calls with no marker of their own, found by their bracket.

`{` JSON objects and `name{...}`; `[` arrays and lists of Python calls; `(` Python calls (`bare_json`, `bare_python`); back-ticks
and ReAct have modules of their own (`fences`, `react`). Every handler is given the position of its trigger and returns where the
walk goes on; what it takes it has classified. Bare forms are suffix-decided: their text is held until `verdicts` can tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from llmcore.normalizer import fences, react
from llmcore.normalizer.bare_json import calling_tool, json_form, mid_line, named_brace
from llmcore.normalizer.bare_python import is_callable, mid_line_call, python_list, python_run
from llmcore.normalizer.candidates import BEFORE_BARE
from llmcore.normalizer.made_up import wrapper_before
from llmcore.normalizer.names import is_known, name_start, peel
from llmcore.normalizer.source import Steps, match_within, skip_space
from llmcore.normalizer.verdicts import leads_in, rest_is_blank

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["HANDLERS", "settled_text", "without_sign"]

_ALLOWANCE = 8
_REACH = 512
_SIGNS = 8  # of the end of the text, in which a sign may begin a marker
_TO = re.compile(r"(?:^|\s)to=(?:functions\.)?([^\s{<]{1,128}?)(?:<|\s|json|code|\Z)[^{\n]*\Z")
_OPENING_TO = re.compile(r"\s*+(?:(?:commentary|analysis) \s*+)?to=(?:functions\.)?([^\s{<]{1,128})(?=\s)")
_PYTHON_HEAD = re.compile(r"[A-Za-z_][\w.\\-]{0,255}+\s{0,64}+\(")
_PYTHON_MAYBE = re.compile(r"[A-Za-z_][\w.\\-]{0,255}+\s{0,64}+\Z")
_NOTHING = re.compile(r"(?:(?:None|null)\s{0,16}+)?\]")
_NOTHING_LENGTH = 21
_GAP = r"\s{0,64}+"
_CALLING = re.compile(rf"Calling tool:{_GAP}([^\s(]{{1,256}}+){_GAP}\({_GAP}(?=\{{)")
_CALLING_MAYBE = re.compile(rf"Calling(?: (?:t(?:o(?:o(?:l(?::{_GAP}(?:[^\s(]{{1,256}}+{_GAP}(?:\({_GAP})?)?)?)?)?)?)?)?\Z")
"""What may stand behind the bracket that opens a list, and its white space."""
_NAMEISH = re.compile(r"(?:>>>)?(?:assistant\s)?[\w.:/=\\-]{0,256}\s{0,8}\Z")


def settled_text(engine: TextEngine, length: int) -> int:
    """How much of the first `length` characters a listener may hear while no candidate stands in them: a line that may begin a
    bare form is held."""
    text, end = engine.src.text, without_sign(engine, length)
    start = max(engine.line_start(length), engine.done)
    if start == engine.prose_line or not engine.takes_calls:
        return end
    line = text[start:length].lstrip() if length - start < _REACH else None
    if line == "":
        return end
    if line is None or not _NAMEISH.match(line):
        engine.prose_line = start
        return end
    opens = start == engine.done and not engine.says_anything()
    return start if _may_begin(line.strip(), engine.names, opens) else end


def without_sign(engine: TextEngine, length: int) -> int:
    """`length`, less a sign at the text's end that may begin a marker."""
    text = engine.src.text
    if text[length - 1 : length] not in ("]", "◁"):
        return length
    tail = text[max(engine.done, length - _SIGNS) : length]
    return length - len(tail) + len(tail.rstrip("]◁"))


@lru_cache(maxsize=4096)
def _may_begin(word: str, names: frozenset[str] | None, opens: bool) -> bool:
    """May a bare form begin with this word, alone in its line so far? `opens`: it opens the message. Remembered, since lines of
    prose begin with few words, and a stream asks at every character of them."""
    word = word.removeprefix(">>>")
    if "to=".startswith(word) or word.removeprefix("assistant").lstrip().startswith("to="):
        return True
    if "Action:".startswith(word) or "functools".startswith(word) or (opens and "commentary".startswith(word)):
        return True
    if word.startswith(("call:", "functions.", "default_api.")):
        return True
    return opens if names is None else any(name.startswith(word) or word.endswith(name) for name in names)


def _begins(engine: TextEngine, at: int) -> tuple[int, str]:
    """(start of the line or of what is not classified yet, the text from there to `at`), at most `_REACH` back."""
    start = max(engine.line_start(at), engine.done, at - _REACH)
    return start, engine.src.text[start:at]


def _brace(engine: TextEngine, at: int) -> Steps[int]:
    if engine.allowance > _ALLOWANCE:
        return at + 1
    start, before = _begins(engine, at)
    begin = name_start(engine.src.text, start, at)
    if begin < at:
        written = engine.src.text[begin:at]
        if written == "functools":
            return (yield from _marked(engine, at, begin))
        name = _call_name(engine, written)
        if name is not None and leads_in(before[: begin - start].removeprefix(">>>")):
            return (yield from named_brace(engine, begin, at, name, "gemma4" if "call:" in written else "name_brace"))
    elif before.endswith(" ") and (spaced := _spaced_name(engine, start, before)) is not None:
        return (yield from named_brace(engine, spaced[0], at, spaced[1], "name_brace"))
    if "to=" in before and (header := _TO.search(before)) is not None and is_known(header[1], engine.tools):
        begin = (
            start
            if before[: header.start()].strip() in ("", "commentary", "analysis", "assistant", "final")
            else start + header.start()
        )
        return (yield from named_brace(engine, begin, at, header[1], "harmony", gap=start + header.end(1)))
    if not before.strip() and (drifted := _drifted_header(engine, at)) is not None:
        return (yield from named_brace(engine, drifted[0], at, drifted[1], "harmony", gap=drifted[2]))
    if not before.strip() and (line := _name_line(engine, start)) is not None:
        return (yield from named_brace(engine, line[0], at, line[1], "functionary_v32"))
    if leads_in(before) or wrapper_before(engine, at) is not None:
        return (yield from json_form(engine, at))
    return (yield from mid_line(engine, at)) if before[-1] in BEFORE_BARE else at + 1


def _drifted_header(engine: TextEngine, at: int) -> tuple[int, str, int] | None:
    """(start, name, end of the name) of a stripped header that opens the message, its junk running over the line's end."""
    text = engine.src.text
    if engine.says_anything() or at - engine.done > _REACH:
        return None
    header = _OPENING_TO.match(text, engine.done)
    if header is None or header.end() > at or "{" in text[header.end() : at] or not is_known(header[1], engine.tools):
        return None
    return engine.done, header[1], header.end(1)


def _call_name(engine: TextEngine, written: str) -> str | None:
    """The tool a glued name means; `call:f` and `functions.f:0` are what stripped Gemma and Kimi markers leave."""
    return peel(written.removeprefix("call:").removeprefix(">>>"), engine.tools)


def _spaced_name(engine: TextEngine, start: int, before: str) -> tuple[int, str] | None:
    """(start, name) of a tool's name that is all that stands before a brace on its line, but for blanks between."""
    written = before.strip(" ")
    name = _call_name(engine, written) if written else None
    return None if name is None else (start + before.index(written), name)


def _name_line(engine: TextEngine, start: int) -> tuple[int, str] | None:
    """(start, name) of the line before, when it is exactly a tool's name (D6)."""
    text = engine.src.text
    if engine.tools is None or start <= engine.done or text[start - 1] != "\n":
        return None
    begin = max(text.rfind("\n", max(0, start - 300), start - 1) + 1, engine.done)
    name = text[begin : start - 1].strip().removeprefix(">>>")
    return (begin, name) if name in engine.tools else None


def _marked(engine: TextEngine, at: int, opener: int) -> Steps[int]:
    """A marker that is a word before the bracket."""
    took = yield from engine.walk.marker(opener, engine.walk.openers(opener))
    return engine.done if took else at + 1


def _bracket(engine: TextEngine, at: int) -> Steps[int]:
    if engine.allowance > _ALLOWANCE:
        return at + 1
    src = engine.src
    _, before = _begins(engine, at)
    if before.endswith("functools"):
        return (yield from _marked(engine, at, at - len("functools")))
    escaped = before.endswith("\\")
    if not leads_in(before.removesuffix("\\")) and wrapper_before(engine, at) is None:
        return (yield from mid_line(engine, at)) if before[-1] in BEFORE_BARE else at + 1
    ahead = yield from skip_space(src, at + 1)
    char = src.text[ahead : ahead + 1]
    if char == "{":
        return (yield from json_form(engine, at))
    if char and char in "]nN" and (yield from _is_empty_list(engine, at, ahead)):
        return engine.done
    while not src.final and (_PYTHON_MAYBE.match(src.text, ahead) or _CALLING_MAYBE.match(src.text, ahead)):
        yield
    if (calling := _CALLING.match(src.text, ahead)) is not None:
        name, body = calling[1], calling.end()
        calling = None  # a match keeps the text it was found in
        return (yield from calling_tool(engine, at, name, body))
    if (char and char in "'\"[") or _PYTHON_HEAD.match(src.text, ahead):
        return (yield from python_list(engine, at - 1 if escaped else at, at))
    if at == engine.done:  # elsewhere only lists are candidates
        engine.glance()
    return at + 1


def _is_empty_list(engine: TextEngine, at: int, ahead: int) -> Steps[bool]:
    """`[]`, `[None]`: an explicit way to call nothing, when it is all there is."""
    if not engine.opens_message(at):
        return False
    match = yield from match_within(engine.src, _NOTHING, ahead, _NOTHING_LENGTH)
    if match is None:
        return False
    end = match.end()
    match = None  # a match keeps the text it was found in
    if not (yield from rest_is_blank(engine, end)):
        return False
    engine.commit_to(at)
    engine.take("markup", end)
    return True


def _paren(engine: TextEngine, at: int) -> Steps[int]:
    if engine.allowance > _ALLOWANCE:
        return at + 1
    start, before = _begins(engine, at)
    begin = name_start(engine.src.text, start, at)
    if begin == at:
        return at + 1
    lead, word = before[: begin - start], engine.src.text[begin:at]
    printed = lead.rstrip().endswith("print") or lead.endswith("print(")
    if not leads_in(lead) and not printed and wrapper_before(engine, begin) is None:
        return (yield from mid_line_call(engine, begin, at)) if is_known(word, engine.tools) else at + 1
    if not is_callable(engine, word):
        return at + 1
    return (yield from python_run(engine, begin, at))


HANDLERS: dict[str, Callable[[TextEngine, int], Steps[int] | int]] = {
    "{": _brace,
    "[": _bracket,
    "(": _paren,
    "`": fences.back_ticks,
    "A": react.action,
}
