"""Code that is only calls: lines of calls, some assigned to names (`a, b = f(), g()`), or a tuple of calls.

It counts if it is the whole message or the whole body of a fence, and every line calls a known tool. With any other statement,
it is code. An assigned call is a guess, because a program may be an example. The work is linear: code is read once, where a
message opens.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmcore.normalizer.bare.python_forms import is_printed, python_extent, python_objects
from llmcore.normalizer.bare.verdicts import rest_is_blank
from llmcore.normalizer.bodies.json_bodies import add_calls
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.python import read_python_calls
from llmcore.normalizer.scanning.source import Steps, past, wait_for_one
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["begins_tuple", "in_a_block", "python_begins_lines", "python_lines", "python_tuple", "unread_lines"]

_NAME = r"[A-Za-z_][\w.]{0,64}+"
_GAP = r"[ \t]{0,16}"
_TARGETS = rf"{_NAME}(?:{_GAP},{_GAP}{_NAME}){{0,16}}{_GAP}={_GAP}"
_ASSIGNS = lazy_regex(rf"\s{{0,64}}{_TARGETS}")
_HEAD = lazy_regex(rf"(?P<targets>{_TARGETS})?(?P<printed>print\()?(?P<name>[A-Za-z_][\w.\\-]{{0,255}}+){_GAP}(?=\()")
_HEAD_LENGTH = 600
_LAYOUT = lazy_regex(r"(?:[\s;,]|#[^\n]*+(?:\n|\Z)|//[^\n]*+(?:\n|\Z))*+")
_BEHIND = 64  # the most blanks behind a call
_ENDS = lazy_regex(rf"[ \t\r]{{0,{_BEHIND}}}+(?:[;,\n#]|//|\Z)")
_ENDS_WITHIN = _BEHIND + len("//")
_SEPARATORS = " \t\r\n;,"
_BLOCK = lazy_regex(
    r"\s*(?:(?:async\s+)?def\s|class\s|(?:el)?if\s|while\s|for\s.*\sin\s|with\s.*\(|(?:try|else|finally|except.*):)"
)
"""The first line of a block of Python."""


@dataclass(frozen=True, slots=True)
class _Line:
    begin: int
    name_at: int
    end: int
    targets: str


def python_begins_lines(reading: Reading, start: int, before: str) -> bool:
    """Whether lines of calls may begin at `start`. `before` is the text before the first call's name."""
    return _opens(reading, start) and _ASSIGNS.fullmatch(before) is not None


def begins_tuple(reading: Reading, start: int, before: str) -> bool:
    """As `python_begins_lines`, for a tuple."""
    return _opens(reading, start) and before.strip() == "("


def _opens(reading: Reading, start: int) -> bool:
    return reading.tools is not None and not reading.drafts and reading.opens_message(start)


def python_lines(reading: Reading, start: int) -> Steps[int]:
    """Enter the calls of the lines from `start` on. -1 if they are not all of the text, or not all calls."""
    lines: list[_Line] = []
    position = start
    while not (yield from rest_is_blank(reading, position := (yield from _past_layout(reading, position)))):
        line = yield from _line(reading, position)
        if line is None or len(lines) >= reading.limits.calls:
            reading.failed(position - start)
            return -1
        lines.append(line)
        position = line.end
    text, limits = reading.src.text, reading.limits
    read = [read_python_calls(text, line.name_at, line.end, limits=limits, expressions=True).calls for line in lines]
    if not read or any(len(calls) != 1 or is_printed(reading, start, calls) for calls in read):
        return -1
    objects = [python_objects(reading, calls)[0] for calls in read]
    if not all(is_known(call.name, reading.tools) for call in objects):
        return -1
    targets, before = "", start
    for line, call in zip(lines, objects, strict=True):
        between = text[before : line.begin]
        targets = line.targets or ("" if "\n" in between else targets)
        _take_between(reading, between, line.begin)
        assigned = [Repair(kind="assigned", before=targets, after=None, safety="guess")] if targets else []
        add_calls(reading, (line.begin, line.end), [call], "bare_call", repairs=assigned)
        before = line.end
    if text[before:position].strip():
        _take_between(reading, text[before:position], position)
    return reading.done


def _take_between(reading: Reading, between: str, to: int) -> None:
    """Classify the text between calls. Separators are markup. A comment is markup in a fence, elsewhere content."""
    is_markup = bool(reading.drafts) and not between.strip(_SEPARATORS)
    (reading.markup if is_markup or reading.nested else reading.text)(to)


def unread_lines(reading: Reading, begin: int, at: int) -> Steps[int]:
    """As `python_lines`, if the first call, whose parenthesis stands at `at`, has a value that is no literal."""
    if not _opens(reading, begin):
        return -1
    body = yield from python_extent(reading, at)
    if body.cut or not body.closed:
        return -1
    first = read_python_calls(reading.src.text, begin, body.end, limits=reading.limits).calls
    return (yield from python_lines(reading, begin)) if first and first[0].arguments is None else -1


def in_a_block(reading: Reading, start: int, before: str) -> bool:
    """Whether a line that begins at `start` with the blanks `before` stands in a block of code (`def f():`, `if x:`)."""
    if not before or before.strip() or start <= reading.done:
        return False
    text = reading.src.text
    above = text[max(reading.done, start - _HEAD_LENGTH) : start].rstrip()
    return above.endswith(":") and _BLOCK.match(above[above.rfind("\n") + 1 :]) is not None


def _past_layout(reading: Reading, at: int) -> Steps[int]:
    """Past white space, separators and comments."""
    src = reading.src
    while True:
        end = past(_LAYOUT, src.text, at)
        if src.final or end < len(src.text) - 1:
            return end
        at = max(at, src.text.rfind("\n", at, end) + 1)  # a comment may go on
        yield None


def _line(reading: Reading, at: int) -> Steps[_Line | None]:
    """The call that begins at `at`, perhaps assigned to names. None if anything else stands at `at` or behind the call."""
    src = reading.src
    yield from wait_for_one(src, at, _HEAD_LENGTH, "(", "\n")
    head = _HEAD.match(src.text, at, at + _HEAD_LENGTH)
    if head is None:
        return None
    targets, name_at, opening = (head["targets"] or "").rstrip(" \t="), head.start("name"), head.end()
    if head["printed"]:
        name_at = head.start("printed")
        opening = name_at + len("print")
    head = None  # a match keeps its text alive
    body = yield from python_extent(reading, opening)
    if body.cut or not body.closed:
        return None
    while not src.final and len(src.text) - body.end < _ENDS_WITHIN and src.text[body.end :].strip(" \t\r") in ("", "/"):
        yield None
    ends = _ENDS.match(src.text, body.end) is not None or src.text.startswith("<", body.end)
    return _Line(at, name_at, body.end, targets) if ends else None


def python_tuple(reading: Reading, at: int) -> Steps[int]:
    """Enter the calls of the tuple at `at`. -1 if it is no tuple of calls, or not all of the text."""
    body = yield from python_extent(reading, at)
    if body.cut or not body.closed or not (yield from rest_is_blank(reading, body.end)):
        reading.failed(body.end - at)
        return -1
    written = f"[{reading.src.text[at + 1 : body.end - 1]}]"
    parsed = read_python_calls(written, limits=reading.limits, expressions=True)
    objects = python_objects(reading, parsed.calls)
    if parsed.error or parsed.end != len(written) or not any(is_known(call.name, reading.tools) for call in objects):
        return -1
    reading.text(at)
    add_calls(reading, (at, body.end), objects, "pythonic")
    reading.take("call", body.end)
    return body.end
