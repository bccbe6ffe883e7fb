"""What a docstring says of a function and of its parameters, in Google, NumPy or Sphinx style, also mixed.

The descriptions of parameters are taken out of the text. All else stays in it as it stands: sections such as `Returns:` or
`Warning:`, and what is said of names that are no parameters.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.tools.within import bound_in

__all__ = ["Documentation", "documentation"]

_TITLE = re.compile(r"\s*(?:(?:other|keyword)\s)?(?:parameters|params|arguments|args)\s*(?P<colon>:?)\s*", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:-{3,}|={3,})\s*")
_NAMES = r"[`*]{0,2}(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)[`*]{0,3}"
_REST = r"\s*(?:\(.*?\)|\[.*?\])?\s*(?::(?!:)|(?<=\s)--?\s|[\u2013\u2014])\s*(?P<said>.*)"
_ITEM = re.compile(rf"\s*(?:[-*+\u2022]\s+)?{_NAMES}{_REST}")
_BULLET = re.compile(rf"\s*[-*+\u2022]\s+{_NAMES}{_REST}")
_NUMPY_ITEM = re.compile(rf"\s*{_NAMES}\s*(?::\s*(?P<said>.*))?")
_FIELD = re.compile(
    r"\s*:(?P<kind>param|parameter|arg|argument|key|keyword|type)\s+(?:[^:\n]*\s)?(?P<names>\*{0,2}\w+)\s*:(?P<said>.*)"
)
_WORDS_OF_A_TYPE = 3
"""More words than these beside a NumPy name, with none below it, are a description: `path : The file to read.`"""


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a docstring says: the text without what it says of parameters, and each parameter's description."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def documentation(function: object) -> Documentation:
    """Read the function's own docstring; an empty `Documentation` when it has none."""
    described = function.func if isinstance(function, functools.partial) else function
    text = inspect.cleandoc(described.__doc__ or "")
    if "\n" not in text:
        return Documentation(text)
    reading = _Reading(text.split("\n"), _described_names(cast("Callable[..., Any]", function)))
    reading.read()
    return Documentation(re.sub(r"\n{3,}", "\n\n", "\n".join(reading.left)).strip(), reading.parameters)


def _described_names(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that a text may describe: also those that the model is not told of, which are bound or injected."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return bound_in(function) | {one.name for one in parameters if one.kind is not one.VAR_KEYWORD}


class _Reading:
    """The lines of one docstring. `left` are those that describe no parameter; the others are empty there."""

    def __init__(self, lines: list[str], names: frozenset[str]) -> None:
        self.left = [*lines]
        self.parameters: dict[str, str] = {}
        self._lines = lines
        self._names = names

    def read(self) -> None:
        at = 0
        while at < len(self._lines):
            title = _TITLE.fullmatch(self._lines[at])
            if title is not None and _RULE.fullmatch(self._line(at + 1)):
                at = self._section(at, at + 2, _NUMPY_ITEM)
            elif title is not None and title["colon"]:
                at = self._section(at, at + 1, _ITEM)
            elif (found := _FIELD.fullmatch(self._lines[at])) is not None:
                end = self._end_of(at, lambda line: not line.lstrip().startswith(":"))
                self._take(found, at, end, is_told=found["kind"] != "type")
                at = end
            else:
                at += 1

    def _line(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""

    def _section(self, title: int, start: int, item: re.Pattern[str]) -> int:
        """The items below a title, up to what is none. Where all of them are read, the title goes, too."""
        at = body = self._after_blank(start)
        level = _indent(self._line(body))
        if item is _ITEM and level <= _indent(self._lines[title]):
            item = _BULLET
        taken = left = 0
        while _indent(self._line(at)) == level and (found := item.fullmatch(self._line(at))) is not None:
            if item is _NUMPY_ITEM and _RULE.fullmatch(self._line(at + 1)):
                break  # it is the next title
            end = self._end_of(at, lambda line: item is _ITEM and _ITEM.fullmatch(line) is None)
            is_taken = self._take(found, at, end, is_told=True)
            if not is_taken and item is not _ITEM and not self._line(at - 1).strip():
                break  # a paragraph
            taken, left, at = taken + is_taken, left + (not is_taken), end
        if taken and not left:
            self.left[title:body] = [""] * (body - title)
        return max(at, start)

    def _end_of(self, start: int, goes_on: Callable[[str], bool]) -> int:
        """Where what begins on this line ends: deeper lines belong to it, and those right below it that go on."""
        level, end, is_beside = _indent(self._lines[start]), start + 1, True
        for at in range(start + 1, len(self._lines)):
            line = self._lines[at]
            if not line.strip():
                is_beside = False
            elif _indent(line) > level or (is_beside and _indent(line) == level and goes_on(line)):
                end = at + 1
            else:
                break
        return self._after_blank(end)

    def _after_blank(self, at: int) -> int:
        while at < len(self._lines) and not self._lines[at].strip():
            at += 1
        return at

    def _take(self, found: re.Match[str], start: int, end: int, *, is_told: bool) -> bool:
        """Take the lines out of the text, where they describe parameters."""
        names = [name.strip().lstrip("*") for name in found["names"].split(",")]
        if self._names.isdisjoint(names):
            return False
        said, more = (found["said"] or "").split(), " ".join(self._lines[start + 1 : end]).split()
        if found.re is _NUMPY_ITEM and (more or len(said) <= _WORDS_OF_A_TYPE):
            said = []  # its type
        for name in names if is_told and (said or more) else ():
            self.parameters.setdefault(name, " ".join([*said, *more]))
        self.left[start:end] = [""] * (end - start)
        return True


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
