"""Calls that are all there, and what the shape of a row is learnt from: what its writer wrote and the engine read there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Protocol

from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.pieces import Piece, settled
from llmcore.normalizer.core.placeholders import holds_placeholders
from llmcore.normalizer.core.remains import remains_in
from llmcore.normalizer.core.rows import Writer
from llmcore.normalizer.core.windows_paths import with_paths
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.scanning.source import past
from llmcore.normalizer.scanning.words import BLANKS
from llmcore.normalizer.trust.surroundings import Form
from llmcore.types.copies import made
from llmcore.types.envelope import ToolCall
from llmcore.types.late import late
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolDefinition, ToolSet

__all__ = [
    "ARGUMENTS",
    "A_KEY",
    "BEHIND",
    "GAP",
    "IN_A_LINE",
    "KEY",
    "NAME",
    "ON_A_LINE",
    "OTHER_KEY",
    "OTHER_VALUE",
    "PLACES",
    "SPACE",
    "START",
    "VALUE",
    "WRITTEN",
    "Dialects",
    "Read",
    "ReadText",
    "Sample",
    "Whole",
    "exactly",
    "expression",
    "flexible",
    "is_framed",
    "makes_a_guess",
    "tiled",
    "told",
]

NAME: Final = "shape_of_a_name"
KEY, OTHER_KEY = "shape_of_a_key", "shape_of_another_key"
VALUE, OTHER_VALUE = "shape of a value", "shape of another value"
_PARAMETERS: Final = {"type": "object", "properties": {KEY: {"type": "string"}, OTHER_KEY: {"type": "string"}}}
ARGUMENTS: Final[dict[str, Any]] = {KEY: VALUE, OTHER_KEY: OTHER_VALUE}
WRITTEN: Final = json.dumps(ARGUMENTS)
_RECIPIENTS: Final = frozenset({"all", "assistant", "commentary", "developer", "self", "system", "user"})
"""Whom a frame of Harmony's may address, in place of a tool: what calls a tool of such a name is the readers'. No other word
means something else in what a row writes; a test tries all words that the source holds."""
SPACE: Final = " \t\r\n"  # JSON's; at more the engine must look
START: Final = 4  # characters by which a reply finds the shapes it may have
GAP: Final = 16  # characters of white space in a gap: what readers wait for within a head is bounded
_OPENER_END: Final = late(r"(?<=.)[\s{[(]")
_GAP_BEHIND: Final = re.compile(rf"[{BLANKS}]{{0,64}}")
_TAKEN_ALONG: Final = frozenset("}])<>[`\"'|,;")
"""What may stand behind a call and belong to it."""
ON_A_LINE, IN_A_LINE = "Some words.\n", "Some words "
PLACES: Final = (ON_A_LINE, IN_A_LINE)
BEHIND: Final = "\nMore words."
_A_NAME: Final = r"(?P<name>[A-Za-z_][\w-]{0,127})"
A_KEY: Final = r"(?P<key>[A-Za-z_][\w.-]{0,127}+)"
_FLEXIBLE: Final = late(r'\s+|(?<=[{\[:,])(?=["{\[])')
_WORDS_APART: Final = late(r"\w\s+\w")


Dialects = frozenset[str] | None


class ReadText(Protocol):
    """What the engine has read of a text, as far as a shape is learnt from it."""

    @property
    def calls(self) -> list[ToolCall]: ...
    @property
    def pieces(self) -> list[Piece]: ...
    @property
    def content(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def needs_more_work(self) -> bool | None: ...
    @property
    def reasoning_is_over(self) -> bool: ...


Read = Callable[[str, ToolSet, Dialects], ReadText]
"""The engine, without shapes."""


class Whole:
    """A call that is all there: `start:stop` is the call's span, its markup reaches from `at` to `end`. `ends_reasoning`: a
    closer of reasoning behind it closes nothing."""

    __slots__ = ("arguments", "at", "dialect", "end", "ends_reasoning", "form", "id", "name", "raw", "start", "stop")

    def __init__(
        self,
        name: str,
        id: str,
        dialect: str,
        start: int,
        stop: int,
        end: int,
        arguments: dict[str, Any],
        raw: str,
        at: int,
        ends_reasoning: bool,
        form: Form,
    ) -> None:
        self.name = name
        self.id = id
        self.dialect = dialect
        self.start = start
        self.stop = stop
        self.end = end
        self.arguments = arguments
        self.raw = raw
        self.at = at
        self.ends_reasoning = ends_reasoning
        self.form: Form = form

    def call(self, number: int) -> ToolCall:
        """As the call of this number in a reply."""
        return ToolCall.trusted(
            {
                "id": self.id or f"call_{number}",
                "name": self.name,
                "arguments": self.arguments,
                "raw_arguments": self.raw,
                "dialect": self.dialect,
                "span": (self.start, self.stop),
                "complete": True,
                "known": True,
                "repairs": [],
            }
        )


def is_framed(whole: Whole, text: str) -> bool:
    """Does it stand in a frame of its own, of a framing that says of all of the reply what it is?"""
    return whole.dialect in _framing() and text.startswith("<|", whole.at)


@cache
def _framing() -> frozenset[str]:
    return frozenset(name for name, row in DIALECTS.items() if row.frames)


def tiled(text: str, wholes: Sequence[Whole], before: Sequence[Piece] = ()) -> list[Piece]:
    """The pieces of a text of words and whole calls. Calls of one list share their span, and it is one piece. `before`: those
    that are known already."""
    pieces = [*before]
    done = pieces[-1][1] if pieces else 0
    for whole in wholes:
        if whole.at > done:
            pieces.append((done, whole.at, "content"))
        if whole.start > whole.at:
            between = bool(pieces) and pieces[-1][2] == "markup"
            pieces.append((pieces.pop()[0] if between else whole.at, whole.start, "markup"))
        if whole.stop > done:
            pieces.append((whole.start, whole.stop, "call"))
        if whole.end > whole.stop:
            pieces.append((whole.stop, whole.end, "markup"))
        done = whole.end
    if done < len(text):
        pieces.append((done, len(text), "content"))
    return settled(pieces, text, ()) if len(pieces) > 1 else pieces


@lru_cache(maxsize=64)
def told(*names: str) -> ToolSet:
    """The tools of these names, or of `NAME`."""
    return ToolSet([made(ToolDefinition, name=name, parameters=_PARAMETERS) for name in names or (NAME,)])


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What a writer of the row wrote (one call of `NAME` with `ARGUMENTS`) and what the engine read there."""

    row: Dialect
    write: Writer
    dialects: Dialects
    text: str
    call: ToolCall
    span: tuple[int, int]
    elements: frozenset[str]
    """Those that the row writes; of a tool with such a property they may be arguments."""
    read: Read
    places: frozenset[str]
    """Those of `PLACES` where the row is read as it is at the start of a text."""
    followed: bool
    """Is it read so where words stand behind it, and no marker closes it?"""
    ends_reasoning: bool
    form: Form

    def head(self, end: int, literal: Callable[[str], str], **places: int) -> re.Pattern[str]:
        """An expression for the text up to `end`, with a group `name` and, at each of the places, an empty group."""
        return expression(self.text, 0, end, literal, places)

    def tool(self, head: re.Match[str], tools: ToolSet, limits: Limits) -> CompiledTool | None:
        """The tool that is called, if its name and its properties mean nothing else in what the row writes."""
        name = head["name"]
        tool = tools.get(name)
        if tool is None or len(name) > limits.name or name in _RECIPIENTS or not self.elements.isdisjoint(tool.properties):
            return None
        return tool

    def whole(self, head: re.Match[str], end: int, tool: CompiledTool, arguments: dict[str, Any], raw: str) -> Whole | None:
        """The call of this shape that ends at `end`, its markup included; None when a value makes a guess of it."""
        if makes_a_guess(arguments, raw, tool):
            return None
        name, start, stop = head["name"], head.start("call"), end - (len(self.text) - self.span[1])
        return Whole(
            name,
            self.call.id.replace(NAME, name),
            self.call.dialect,
            start,
            stop,
            end,
            arguments,
            raw,
            head.start(),
            self.ends_reasoning,
            self.form,
        )

    def is_over(self, text: str, end: int, *, final: bool) -> bool:
        """Is what stands behind `end` nothing that its reader would take along, a closer written twice or a bracket too many?"""
        if end == len(text) or (ahead := past(_GAP_BEHIND, text, end)) == len(text):
            return final
        return text[ahead] not in _TAKEN_ALONG or text.startswith(self.opener, ahead)

    @property
    def opener(self) -> str:
        """What stands before the name and before the call's first bracket or blank."""
        return _opener(self.text)


def makes_a_guess(arguments: dict[str, Any], raw: str, tool: CompiledTool) -> bool:
    """Does one of these arguments, none of which was repaired, make a guess of the call?"""
    if holds_placeholders(arguments) or with_paths(arguments, raw)[1]:
        return True
    return bool(remains_in(arguments, (), raw, tool.properties))


@lru_cache(maxsize=1024)
def _opener(text: str) -> str:
    return _OPENER_END.split(text.partition(NAME)[0], maxsplit=1)[0] or text[:START]


def expression(
    text: str, start: int, end: int, literal: Callable[[str], str], places: dict[str, int], name: str = NAME
) -> re.Pattern[str]:
    """An expression for what was written from `start` to `end`, with a group `name`, a group `key` for the second key, and, at
    each of the places, an empty group. What stands between two calls, from the place `stop` to `call`, is exactly that."""
    whole, stop, call = "", places.get("stop", end), places.get("call", start)
    for at, group in sorted([(end, ""), *((at, f"(?P<{place}>)") for place, at in places.items())]):
        said = exactly if stop <= start and at <= call else literal
        whole += name.join(map(said, text[start:at].split(name))) + group
        start = at
    for sample, any_one, again in ((name, _A_NAME, "(?P=name)"), (OTHER_KEY, A_KEY, "(?P=key)")):
        whole = whole.replace(sample, any_one, 1).replace(sample, again)
    return re.compile(whole)


def exactly(literal: str) -> str:
    """An expression for the literal."""
    return re.escape(literal)


def flexible(literal: str) -> str:
    """An expression for the literal: white space may be more or less where JSON or markup allows it, in the readers' reach."""
    if _WORDS_APART.search(literal):
        return re.escape(literal)
    parts = _FLEXIBLE.split(literal)
    gaps = [f"[{SPACE if gap != ' ' else gap}]{{0,{GAP}}}" for gap in _FLEXIBLE.findall(literal)]
    return "".join(re.escape(part) + gap for part, gap in zip(parts, [*gaps, ""], strict=True))
