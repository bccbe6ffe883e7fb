"""Bodies in braces whose strings stand bare: `{title:standup at 9:30, 10:15 retro,tags:[red,blue]}`.

Only the tool's schema tells such a text from the next member. At the top level, a member begins at a key that the schema
declares, and all other text belongs to the value before it. Within a value, a comma or a bracket ends a text, and a colon ends
a key. The work is linear.
"""

from __future__ import annotations

import json
import re
from typing import Any

from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool

__all__ = ["bare_arguments"]

_SPACE = lazy_regex(r"\s*+")
_KEY = lazy_regex(r"""\s*+(?:"([^"\n]{1,128}+)"|'([^'\n]{1,128}+)'|([^\s"'{}\[\],:][^\n"'{}\[\],:]{0,127}+)):""")
_TEXT = {"}": lazy_regex(r"[^{}\[\],]*+"), "]": lazy_regex(r"[^{}\[\],]*+"), ":": lazy_regex(r"[^{}\[\],:]*+")}
"""A bare text within a value, by what it stands before: the end of an object, the end of a list, or a colon."""
_PLAIN = (("string",), ("null", "string"))
_OPENS_VALUE = ":,{[("
_STRING = json.JSONDecoder()


def bare_arguments(
    text: str, start: int, end: int, delimiter: str, tool: CompiledTool, limits: Limits
) -> tuple[dict[str, Any], list[Repair]] | None:
    """The arguments of the body `start:end`, brackets included, and their repairs. None if the schema cannot tell its members.

    `delimiter` stands around strings that are not bare.
    """
    starts = _members(text, start, end, delimiter, tool)
    if not starts:
        return None
    arguments: dict[str, Any] = {}
    repairs: list[Repair] = []
    for (key, begin, _), (_, _, stop) in zip(starts, [*starts[1:], ("", end, end - 1)], strict=True):
        written = text[begin:stop].strip()
        types = tool.types(key)
        if written.startswith(delimiter) and written.find(delimiter, 1) == len(written) - len(delimiter):
            arguments[key] = written[len(delimiter) : -len(delimiter)]
            continue
        if delimiter in written and types in _PLAIN:
            return None
        if types in _PLAIN and not written.startswith(('"', "'")):
            arguments[key] = None if written == "null" and "null" in types else written
            repairs.append(Repair(kind="bare_text", path=key, before=written, after=arguments[key], safety="coerced"))
            continue
        try:
            value, over = _Values(text, stop, delimiter, limits.depth).read(begin, "}", 0)
        except ValueError:
            return None
        if text[over:stop].strip():
            return None
        if isinstance(value, str) and types and "string" not in types:
            value, found = typed_by(value, types, path=key, limits=limits)
            repairs += found
        arguments[key] = value
        repairs.append(Repair(kind="bare_text", path=key, before=written, after=arguments[key], safety="coerced"))
    return arguments, repairs


def _members(text: str, start: int, end: int, delimiter: str, tool: CompiledTool) -> list[tuple[str, int, int]]:
    """(key, where its value begins, where the member begins) of each declared key at the top level. Empty if the body does not
    begin with one, or if one comes twice."""
    found: list[tuple[str, int, int]] = []
    for at in _separators(text, start, end, delimiter):
        key = _KEY.match(text, at + 1, end)
        name = "" if key is None else key[1] or key[2] or key[3].strip()
        if key is not None and name in tool.properties:
            found.append((name, key.end(), at))
    names = [name for name, _, _ in found]
    return found if found and found[0][2] == start and len(set(names)) == len(names) else []


def _separators(text: str, start: int, end: int, delimiter: str) -> list[int]:
    """Where the body's own bracket and its commas at the top level stand, outside of strings."""
    token = re.compile(rf"{re.escape(delimiter)}|[{{}}\[\](),:\"]")
    found, depth, before, at = [start], 0, "", start
    while (sign := token.search(text, at, end)) is not None:
        mark, opens = sign[0], before in _OPENS_VALUE if not text[at : sign.start()].strip() else False
        at, before = sign.end(), mark
        if mark in (delimiter, '"'):
            close = text.find(mark, at, end) if opens or mark == delimiter else -1
            at, before = (close + len(mark), '"') if close >= 0 else (at, "x")
        elif mark in "{[(":
            depth += 1
        elif mark in "}])":
            depth -= 1
        elif mark == "," and depth == 1:
            found.append(sign.start())
    return found


class _Values:
    """Reads values within a body. `read` raises `ValueError` for what is no value."""

    __slots__ = ("_delimiter", "_depth", "_end", "_text")

    def __init__(self, text: str, end: int, delimiter: str, depth: int) -> None:
        self._text, self._end, self._delimiter, self._depth = text, end, delimiter, depth

    def read(self, at: int, closer: str, depth: int) -> tuple[Any, int]:
        """The value at `at`, and where it ends. `closer` ends what it stands in."""
        if depth > self._depth:
            raise ValueError("too deep")
        at = self._past_space(at)
        sign = self._text[at : min(at + 1, self._end)]
        if sign == "{":
            return self._object(at + 1, depth)
        if sign == "[":
            return self._list(at + 1, depth)
        if sign == '"':
            return _STRING.raw_decode(self._text, at)  # its end is checked with the member's
        if self._text.startswith(self._delimiter, at):
            begin = at + len(self._delimiter)
            close = self._text.index(self._delimiter, begin, self._end)
            return self._text[begin:close], close + len(self._delimiter)
        return self._bare(at, closer)

    def _bare(self, at: int, closer: str) -> tuple[Any, int]:
        found = _TEXT[closer].match(self._text, at, self._end)
        written = found[0].strip() if found is not None else ""
        try:
            value: Any = json.loads(written)
        except ValueError:
            value = written
        return value if not isinstance(value, str) else written, found.end() if found is not None else at

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        if self._stands("]", at):
            return items, self._past_space(at) + 1
        while True:
            value, at = self.read(at, "]", depth + 1)
            items.append(value)
            if self._stands("]", at):
                return items, self._past_space(at) + 1
            at = self._past(",", at)

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        if self._stands("}", at):
            return members, self._past_space(at) + 1
        while True:
            key, at = self.read(at, ":", depth + 1)
            at = self._past(":", at)
            value, at = self.read(at, "}", depth + 1)
            if not isinstance(key, str | int | float) or key == "" or str(key) in members:
                raise ValueError("no key")
            members[str(key)] = value
            if self._stands("}", at):
                return members, self._past_space(at) + 1
            at = self._past(",", at)

    def _past_space(self, at: int) -> int:
        found = _SPACE.match(self._text, at, self._end)
        return at if found is None else found.end()

    def _stands(self, sign: str, at: int) -> bool:
        return self._text.startswith(sign, self._past_space(at))

    def _past(self, sign: str, at: int) -> int:
        if not self._stands(sign, at):
            raise ValueError(f"no {sign}")
        return self._past_space(at) + 1
