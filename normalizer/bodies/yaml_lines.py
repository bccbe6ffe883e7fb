"""YAML lines as the body of a call: where they end between two tags, and the arguments under their key.

A block value may hold anything that is indented deeper than its key, even the closer of its own call. So the lines are read
one by one, each once. A line is read when it is complete. A tag at its start is read as soon as the tag is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from llmcore.normalizer.calls.call_objects import CallObject, arguments_of, default_arguments
from llmcore.normalizer.calls.yaml_values import read_lines, typed_pairs
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.yaml_nodes import YamlNode
from llmcore.normalizer.scanning.sought import Sought
from llmcore.normalizer.scanning.source import Steps
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = [
    "LinesEnd",
    "begins_lines_below",
    "end_of_lines",
    "is_closer",
    "with_arguments",
    "without_foreign_closers",
    "yaml_begins_lines",
]

_HEAD = 512  # characters of the comments before the first key, and that key
_TAG = 300
_COMMENTS = r"(?:(?:\#[^\n]{0,200}|---[ \t]{0,8})\n\s{0,64}){0,4}"
_PLAIN = r"""[^\s\-?:,\[\]{}#&*!|>'"%@`<][^\n:<>]{0,128}"""
_QUOTED = r"""["'][^"'\n]{0,128}"""
_FIRST = lazy_regex(rf"""{_COMMENTS}(?:(?:{_PLAIN}|{_QUOTED}["'][ \t]{{0,16}}):|-[ \t])""")
_FIRST_BEGUN = lazy_regex(rf"""{_COMMENTS}(?:\#[^\n]{{0,200}}|-{{1,3}}[ \t]{{0,8}}|{_QUOTED}["']?[ \t]{{0,16}}|{_PLAIN})?\Z""")
_SPACE = re.compile(r"[ \t]*")
_BLOCK = lazy_regex(r"(?:.*:|\s*-)[ \t]+[|>][-+0-9]{0,2}[ \t]*(?:#.*)?\r?\Z")
_OPEN_QUOTE = lazy_regex(r"""[^\n"']*(?::|-)[ \t]+(["'])(?!.*\1[ \t]*\r?\Z)""")
"""A line whose value begins with a quotation mark that does not close on it."""
_NEXT = lazy_regex(r"""["']?[^\s:"'<>][^\n:"'<>]{0,127}+["']?+[ \t]*+:|</|#""")
_LONE_CLOSER = lazy_regex(r"</(?P<tag>[\w:.-]{1,64})\s{0,4}>[ \t\r]*\Z")
_OPENED = lazy_regex(r"<([\w:.-]{1,64})")
_OPENER = lazy_regex(r"<(?P<tag>[^\s<>/]{1,256})(?:>|(?=[\s/]))")


@dataclass(slots=True)
class LinesEnd:
    """The lines end at `stop`, their closer at `end`.

    `closed`: there was a closer. `cut`: the text ended. `quoted`: it ended behind a quotation mark that is still open.
    """

    stop: int
    end: int
    closed: bool = True
    cut: bool = False
    quoted: bool = False


def yaml_begins_lines(text: str, at: int, final: bool) -> bool | None:
    """Whether a key with its colon, or an item of a list, stands at `at`. Comments may precede it. None if more text is
    needed."""
    if _FIRST.match(text, at, at + _HEAD) is not None:
        return True
    return None if not final and len(text) - at < _HEAD and _FIRST_BEGUN.match(text, at) is not None else False


def begins_lines_below(text: str, at: int, final: bool) -> bool | None:
    """As `yaml_begins_lines`, at the beginning of a line only. On the line of a common word, prose may follow."""
    begin = at
    while begin and text[begin - 1] in " \t\r":
        begin -= 1
    return yaml_begins_lines(text, at, final) if text[begin - 1 : begin] == "\n" else False


def end_of_lines(reading: Reading, body: int, closer: Sought, at_start: Sought, opens: Callable[[str], bool]) -> Steps[LinesEnd]:
    """Where the lines from `body` on end.

    They end at a line that begins with `at_start`, at a tag that `opens` another call, or at a `closer` in a line. A closer in
    a block counts only if nothing else closes the lines.
    """
    src, lines = reading.src, _Lines(closer, at_start, opens)
    line = sought = body
    while True:
        newline = src.text.find("\n", sought)
        stop = newline if newline >= 0 else len(src.text)
        found = lines.ends_in_line(src.text, line, stop, whole=newline >= 0 or src.final)
        if found is not None:
            return found
        if newline >= 0:
            line = sought = newline + 1
        elif src.final:
            return (
                LinesEnd(*lines.skipped)
                if lines.skipped
                else LinesEnd(stop, stop, closed=False, cut=True, quoted=bool(lines.quoted))
            )
        else:
            sought = stop
            yield None


class _Lines:
    """The state of the lines that were read. `skipped` is the first closer in a block. `quoted`: the open quotation mark."""

    __slots__ = ("_at_start", "_block", "_closer", "_opens", "quoted", "skipped")

    def __init__(self, closer: Sought, at_start: Sought, opens: Callable[[str], bool]) -> None:
        self._closer, self._at_start, self._opens = closer, at_start, opens
        self._block = -1  # the indentation of the open block's key, -1 if none is open
        self.skipped: tuple[int, int] | None = None
        self.quoted = ""

    def ends_in_line(self, text: str, line: int, stop: int, *, whole: bool) -> LinesEnd | None:
        """The end, if the lines end in the line `line:stop`. If that line is incomplete, only a tag at its start counts."""
        space = _SPACE.match(text, line, stop)
        start = space.end() if space is not None else line
        if start >= stop or (text[start] != "<" and not whole):
            return None
        if 0 <= self._block < start - line:
            if whole and self.skipped is None and (found := self._closer.search(text, start, stop)) is not None:
                self.skipped = found.span()
            return None
        found = self._at_start.match(text, start, min(stop, start + _TAG))
        if found is not None and (whole or len(found[0]) > 1):  # the text behind a lone `>` counts
            return LinesEnd(start, found.end())
        if self.skipped is not None and whole and _NEXT.match(text, start, stop) is None:
            return LinesEnd(*self.skipped)
        opener = _OPENER.match(text, start, min(stop, start + _TAG))
        if opener is not None and not self.quoted and self._opens(opener["tag"]):
            return LinesEnd(start, start, closed=False) if self.skipped is None else LinesEnd(*self.skipped)
        return self._inside(text, line, start, stop) if whole else None

    def _inside(self, text: str, line: int, start: int, stop: int) -> LinesEnd | None:
        """The end, if a closer stands in this complete line outside of quotation marks."""
        found = self._closer.search(text, start, stop)
        while found is not None:
            if not (text.count('"', start, found.start()) % 2 and '"' in text[found.end() : stop]):
                return LinesEnd(*found.span())
            found = self._closer.search(text, found.end(), stop)
        if self.quoted:
            self.quoted = self.quoted if text.count(self.quoted, start, stop) % 2 == 0 else ""
        elif (quoted := _OPEN_QUOTE.match(text, line, stop)) is not None:
            self.quoted = quoted[1] if text.count(quoted[1], start, stop) % 2 else ""
        self._block = start - line if _BLOCK.match(text, line, stop) is not None else -1
        return None


def is_closer(line: str) -> bool:
    """Whether a line is only a closing tag."""
    return _LONE_CLOSER.match(line.lstrip()) is not None


def without_foreign_closers(text: str) -> str:
    """The lines without those that are only a closer of a tag that no line opens.

    Only closers that are indented no deeper than the first line are removed.
    """
    if "</" not in text:
        return text
    lines = text.split("\n")
    first = next((line for line in lines[1:] if line.strip()), "")
    margin = len(first) - len(first.lstrip())
    opened = {found[1] for found in _OPENED.finditer(text)}
    kept: list[str] = []
    for line in lines:
        bare = line.lstrip()
        lone = _LONE_CLOSER.match(bare) if len(line) - len(bare) <= margin else None
        if lone is None or lone["tag"] in opened:
            kept.append(line)
        elif line is lines[-1]:
            kept.append("")  # the line before it is complete
    return "\n".join(kept)


def with_arguments(reading: Reading, call: CallObject, node: YamlNode) -> CallObject | None:
    """The call with the arguments of a node: a mapping, JSON text, or none. None if the node has no arguments."""
    tool = reading.tool(call.name)
    if node.pairs is not None:
        call.arguments, call.repairs = typed_pairs(node.pairs, tool, limits=reading.limits)
        return call
    if node.items is not None:
        return None
    if not node.text.strip() or node.text == "null":
        call.arguments = default_arguments(call.name, reading.tools)
        return call
    call.arguments, _, call.repairs = arguments_of(node.text, limits=reading.limits)
    if call.arguments is None:
        properties = tool.properties if tool is not None else {}
        inner = read_lines(node.text, lambda key: not properties or key in properties, limits=reading.limits)
        if inner is None:
            return None
        call.arguments, call.repairs = typed_pairs(inner.pairs, tool, limits=reading.limits)
        call.repairs[:0] = inner.repairs
    return call
