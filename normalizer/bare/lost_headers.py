"""The rest of a header that lost its special tokens, before a JSON object.

It is Harmony's `to=functions.f`, GigaChat's `function call`, or the words for a call of several tools. (`text.opening` reads
the reasoning of such a reply.) The words alone are not enough: they must open the message or stand alone on a line, and the
name must be a tool's.
"""

from __future__ import annotations

from typing import NamedTuple

from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["HEADER_WORDS", "Header", "announced", "harmony_header"]

_REACH = 512
_WORDS = r"(?:assistant|commentary|analysis|final)"
_TOKENS = lazy_regex(r"<\|(?:start|channel|constrain)\|>")
_TO = lazy_regex(r"(?:^|\s)to=(?:functions\.)?([^\s{<]{1,128}?)(?:<|\s|json|code|\Z)[^{\n]*\Z")
_OPENING_TO = lazy_regex(rf"\s*+(?:{_WORDS}\s{{1,16}}+){{0,2}}to=(?:functions\.)?([^\s{{<]{{1,128}})(?=\s)")
_GLUED = lazy_regex(rf"(?:{_WORDS}\s*+)*+")
_BEHIND = lazy_regex(r"(?:assistant|commentary|analysis|json|code|\s|<\|constrain\|>)*+")
HEADER_WORDS = lazy_regex(r"assistant|commentary|analysis|json|code|<\|(?:start|channel|constrain)\|>")
"""Words of a header beside names. Anything else is junk."""
_LINE = lazy_regex(rf"\s*+(?:{_WORDS}\s{{0,16}}+){{0,3}}to=(?:functions\.)?([^\s{{<]{{1,128}}+)\s")
_ANNOUNCED = lazy_regex(
    r"function call\s{0,16}+(?:<\|role_sep\|>)?\s{0,16}"
    rf"|(?:{_WORDS}\s{{1,16}}+){{0,2}}(?:to=)?(?:functions\.)?(?:multi_tool_use\.)?parallel[\s(]*+(?:json|code|commentary|\s)*+"
)


class Header(NamedTuple):
    """`begin`: where it stands. `name`: the tool, up to `gap`. `in_prose`: words stand before it on its line."""

    begin: int
    name: str
    gap: int
    in_prose: bool = False


def harmony_header(reading: Reading, start: int, at: int, before: str) -> Header | None:
    """The header that the brace at `at` follows: on its line, as the line above, or at the message's opening.

    `before` is the text of its line, from `start` on.
    """
    if "to=" in before:
        return _on_the_line(reading, start, before)
    if before.strip():
        return None
    return _line_above(reading, start) or _opening(reading, at)


def _on_the_line(reading: Reading, start: int, before: str) -> Header | None:
    found = _TO.search(before)
    if found is None or not is_known(found[1], reading.tools):
        return None
    lead = _TOKENS.sub(" ", before[: found.start()]).strip()
    if _GLUED.fullmatch(lead) is not None:
        return Header(start, found[1], start + found.end(1))
    if _BEHIND.fullmatch(before, found.end(1)) is None:
        return None
    return Header(start + found.start(), found[1], start + found.end(1), in_prose=True)


def _line_above(reading: Reading, start: int) -> Header | None:
    """A header that is the line above."""
    text = reading.src.text
    begin = max(reading.done, text.rfind("\n", max(0, start - _REACH), max(0, start - 1)) + 1)
    if begin >= start:
        return None
    line = _TOKENS.sub(" ", text[begin:start])
    found = _LINE.match(line)
    if found is None or not is_known(found[1], reading.tools) or _BEHIND.fullmatch(line, found.end(1)) is None:
        return None
    return Header(begin, found[1], text.index(found[1], begin) + len(found[1]))


def _opening(reading: Reading, at: int) -> Header | None:
    """A header that opens the message. Its junk may run over the line's end."""
    text = reading.src.text
    if reading.has_content() or at - reading.done > _REACH:
        return None
    found = _OPENING_TO.match(text, reading.done)
    if found is None or found.end() > at or "{" in text[found.end() : at] or not is_known(found[1], reading.tools):
        return None
    return Header(reading.done, found[1], found.end(1))


def announced(reading: Reading, at: int) -> int:
    """Where words begin that open the message and announce that the object at `at` is a call; -1 if there are none."""
    text, done = reading.src.text, reading.done
    if not 0 < at - done <= _REACH or reading.has_content():
        return -1
    words = text[done:at]
    begin = done + len(words) - len(words.lstrip())
    return begin if begin < at and _ANNOUNCED.fullmatch(text, begin, at) is not None else -1
