"""Call expressions as models write them: `[f(a=1), g.h(b='x')]`, one per line, joined by `;`, or as strings in a list.

A list may hold data beside its calls: `[f(a=1), {"total": 3}]`.

This is a tokenizer; it never uses `eval`. It reads literals and computes only arithmetic on numbers. A bad call does not
affect the others: its arguments are None, with an `error`, and reading continues behind its parenthesis. The work is linear,
and no text makes it raise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.normalizer.notations.expressions import read_expressions
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.refusals import ARGUMENTS_LIMIT, CALLS_LIMIT, UNREADABLE, clipped
from llmcore.normalizer.notations.relaxed.lexemes import json_number
from llmcore.normalizer.notations.relaxed.plain import plain_arguments
from llmcore.normalizer.notations.relaxed.state import Ended, Flavour, Frame, State, Stop
from llmcore.normalizer.notations.relaxed.strings import read_quoted
from llmcore.normalizer.notations.relaxed.structure import read_container, read_root
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits

__all__ = ["PythonCall", "PythonReading", "read_python_calls"]

_PYTHON = Flavour(
    frozenset(
        {
            "single_quotes",
            "triple_quotes",
            "string_prefix",
            "python_literal",
            "tuple",
            "set",
            "comment",
            "trailing_comma",
        }
    ),
    python=True,
)
_NAME = lazy_regex(r"[^\W\d][\w.:/\\-]*")
_NAMED_BY_LIST = lazy_regex(r"""\[\s{0,16}(["'])([^\W\d][\w.:/\\-]{0,255})\1\s{0,16}\]\s{0,16}(?=\()""")
_UNPACKING = lazy_regex(r"\(\s*\*\*\s*(?=\{)")
_SCALAR = lazy_regex(r"(?:-?(?:0|[1-9]\d{0,14}+)(?:\.\d{1,15}+)?|[tT]rue|[fF]alse|null|None)(?=\s*+[,\]])")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_SPACE = re.compile(r"\s*+")
_SEPARATOR = lazy_regex(r"[ \t]*+(?:[;,#\r\n]|$|(?=[^\W\d][\w.]{0,255}+\())")
_LAYOUT = lazy_regex(r"[\s;,]*+")
_QUOTES = "\"'"
_ITEM_QUOTES = "\"'`"
_CODE_BY_REPAIR = {
    "inner_quotes": lazy_regex(r"""["']\s*\+\s*["']|["'] if .* else ["']"""),
    "bare_word": lazy_regex(
        r"^(?:lambda|new|await|function|async)\b| if .* else | for .* in |^[A-Za-z_]\w*+\.[A-Za-z_][\w.]*+\Z"
    ),
}
"""Expressions that the reader of literals reads as a string, by the repair that it records."""
_AS_WRITTEN = frozenset({"bare_word", "inner_quotes"})
"""Repairs that make a string of an expression's text."""
_CALLS_TIMES_LIMIT = 8  # the caller counts the reply's calls and records those beyond `Limits.calls`


@dataclass(slots=True)
class PythonCall:
    """One call expression.

    - `arguments`: the keyword arguments. None if they cannot be read; `error` is then `nested_call`, `unreadable` or a limit.
    - `positional`: the arguments without a name, for the caller to map to the schema's order. A single dict becomes `arguments`.
    - `raw`: the text between the parentheses. `span`: that of the whole expression.
    - `complete`: False if the text ended inside.
    - `beside`: the items of its list that are literals, not calls. The last call of the list has them.
    """

    name: str
    arguments: dict[str, Any] | None
    positional: list[Any] = field(default_factory=list[Any])
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    repairs: list[Repair] = field(default_factory=list[Repair])
    error: str | None = None
    complete: bool = True
    beside: list[Any] = field(default_factory=list[Any])


@dataclass(slots=True)
class PythonReading:
    """The calls that stand one after the other.

    - `end`: just past the last call, including its list's bracket or its `;`.
    - `complete`: False if the text ended inside the last call or its list. Each call then has its own `complete`.
    - `repairs`: those of the list.
    - `error`: why there are no calls, or why a list ends before its bracket. The text at that place is dropped, as a guess.
    """

    calls: list[PythonCall] = field(default_factory=list[PythonCall])
    end: int = 0
    complete: bool = True
    error: str | None = None
    repairs: list[Repair] = field(default_factory=list[Repair])


def read_python_calls(
    text: str,
    start: int = 0,
    end: int | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    cut: bool = False,
    expressions: bool = False,
) -> PythonReading:
    """Read the calls at `start`, in a list or one after the other, up to text that is no call.

    `cut`: the reply ended inside the slice, so missing text is "truncated" and not "lossless". `expressions`: a value that is
    no literal becomes its source text, as a guess; otherwise the call's arguments are None.
    """
    if end is not None and end < len(text):
        text = text[:end]
    reader = _Reader(text, start, limits, cut, expressions and not cut)
    at = reader.skip(start)
    if text.startswith(("[", "\\["), at):
        reader.read_list(at)
    else:
        reader.read_sequence(at)
    reading = reader.reading
    if reading.calls:
        reading.calls[-1].beside = reader.beside
    elif reading.complete and reading.error is None:
        reading.error = UNREADABLE
    return reading


class _Reader:
    """Reads the calls of one text."""

    def __init__(self, text: str, start: int, limits: Limits, cut: bool, expressions: bool = False) -> None:
        self.text, self.limits, self.cut, self.expressions = text, limits, cut, expressions
        self.reading = PythonReading(end=start)
        self.beside: list[Any] = []

    def state(self, at: int) -> State:
        return State(self.text, at, len(self.text), limits=self.limits, cut=self.cut, flavour=_PYTHON)

    def skip(self, at: int) -> int:
        """The position behind white space and comments."""
        while True:
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # matches always
            if not self.text.startswith("#", at):
                return at
            line_end = self.text.find("\n", at)
            at = line_end if line_end >= 0 else len(self.text)

    # --- several calls ------------------------------------------------------------------------------------------------

    def read_sequence(self, at: int) -> None:
        """Read calls on their own lines, after `;` or `,`, or after blanks only."""
        while (call := self.call(at)) is not None and self.add(call):
            at = call.span[1]
            if not call.complete or not (separator := _SEPARATOR.match(self.text, at)):
                break
            if separator[0].strip(" \t\r\n") == ";":
                self.reading.end = separator.end()
            at = self.skip(_LAYOUT.match(self.text, at).end())  # type: ignore[union-attr]  # matches always
        if not self.reading.calls and self.cut and self.is_cut_name(at):
            self.reading.complete = False

    def read_list(self, at: int) -> None:
        if named := _NAMED_BY_LIST.match(self.text, at):  # ['f'](a=1)
            self.add(self.arguments(named[2], at, named.end()))
            return
        if self.text[at] == "\\":
            self.repair("markdown_escape", "\\[", "[")
            at += 1
        at += 1
        expected = True  # no comma is expected
        while True:
            at = self.skip(at)
            if at >= len(self.text) or (self.cut and self.is_cut_name(at)):
                self.close_at_end()
                return
            if self.text.startswith(("]", "\\]"), at):
                self.reading.end = at + (2 if self.text[at] == "\\" else 1)
                return
            if self.text[at] in ",;":
                at, expected = at + 1, True
                continue
            call = self.quoted(at) if self.text[at] in _ITEM_QUOTES else self.call(at)
            end = self.data(at) if call is None else call.span[1]
            if end < 0:
                self.reading.error = UNREADABLE
                if not self.cut:
                    self.repair("text_dropped", clipped(self.text[at:].rstrip().removesuffix("]").rstrip()), "", "guess")
                return
            if not expected:
                self.repair("missing_comma", "", ",", "guess")
            if call is not None and not self.add(call):
                return
            at, expected = end, False

    def data(self, at: int) -> int:
        """Read an item that is a literal, and needs no repair but of its notation. Returns where it ends; -1 if it is none.

        A string is none: it may be prose or code about the calls.
        """
        if len(self.beside) >= _CALLS_TIMES_LIMIT * self.limits.calls:
            return -1
        if (scalar := _SCALAR.match(self.text, at)) is not None:
            word = scalar[0].lower()
            self.beside.append(_WORDS[word] if word in _WORDS else json_number(word, self.limits.digits))
            return scalar.end()
        if self.text[at] not in "{[(":
            return -1
        end = Extent(at, quotes=_QUOTES, triple=True, comments=True).scan(self.text, True)
        if end < 0 or end - at > self.limits.arguments:
            return -1
        state = State(self.text, at, end, limits=self.limits, cut=False, flavour=_PYTHON)
        try:
            value = read_root(state)
        except (Stop, Ended):
            return -1
        if state.pos < end or not state.complete or any(repair.safety != "lossless" for repair in state.repairs):
            return -1
        self.beside.append(value)
        return end

    def close_at_end(self) -> None:
        """End a list whose bracket is missing."""
        reading = self.reading
        reading.end = len(self.text)
        reading.complete = not self.cut and all(call.complete for call in reading.calls)
        if reading.calls:
            self.repair("missing_closer", "", "]", "lossless" if reading.complete else "truncated")

    def add(self, call: PythonCall) -> bool:
        """Add a call. Returns False if the limit is reached and reading stops."""
        reading = self.reading
        if len(reading.calls) >= _CALLS_TIMES_LIMIT * self.limits.calls:
            reading.error = CALLS_LIMIT
            return False
        reading.calls.append(call)
        reading.end = call.span[1]
        reading.complete = reading.complete and call.complete
        return True

    def repair(self, kind: str, before: str, after: str, safety: Any = "lossless") -> None:
        self.reading.repairs.append(Repair(kind=kind, before=before, after=after, safety=safety))

    def is_cut_name(self, at: int) -> bool:
        name = _NAME.match(self.text, at)
        return name is not None and not self.text[name.end() :].strip()

    # --- one call -----------------------------------------------------------------------------------------------------

    def call(self, at: int) -> PythonCall | None:
        """The call expression at `at`; None if there is none."""
        found = _NAME.match(self.text, at, at + self.limits.name + 1)
        if found is None or len(found[0]) > self.limits.name:
            return None
        opening = found.end()
        while self.text.startswith((" ", "\t"), opening) and opening - found.end() < self.limits.name:
            opening += 1
        name = found[0].replace("\\_", "_")
        if not self.text.startswith("(", opening) or "\\" in name or name.endswith((":", "/")):
            return None
        call = self.arguments(name, at, opening)
        if name != found[0]:
            call.repairs.insert(0, Repair(kind="markdown_escape", before=found[0], after=name))
        return call

    def arguments(self, name: str, start: int, opening: int) -> PythonCall:
        """The call whose parenthesis stands at `opening`."""
        if (plain := plain_arguments(self.text, opening, self.limits)) is not None:
            given, end = plain
            return PythonCall(name, given, [], self.text[opening + 1 : end - 1], (start, end))
        unpacking = _UNPACKING.match(self.text, opening)
        state = self.state(unpacking.end() if unpacking else opening + 1)
        frame = Frame("call", "(", ")")
        error = None
        try:
            read_container(state, frame)
            if unpacking and (frame.members or len(frame.positional) != 1):
                raise Stop
        except Ended:
            state.complete = False
        except Stop as stop:
            error = stop.reason
        if self.expressions and (error or self.is_expression(state)) and (read := self.by_expressions(name, start, opening)):
            return read
        end = self.end_of_bad_call(opening) if error else state.pos
        closed = state.closed if error is None else self.text.startswith(")", end - 1)
        raw = self.text[opening + 1 : end - 1 if closed else end]
        if len(raw) > self.limits.arguments:
            error = ARGUMENTS_LIMIT
        if error:
            complete = end < len(self.text) or closed or not self.cut
            return PythonCall(name, None, [], raw, (start, end), [], error, complete)
        arguments, positional = frame.members, frame.positional
        if not arguments and len(positional) == 1 and isinstance(positional[0], dict):
            arguments, positional = cast("dict[str, Any]", positional[0]), []
        return PythonCall(name, arguments, positional, raw, (start, end), state.repairs, None, state.complete)

    def is_expression(self, state: State) -> bool:
        """Whether an expression became a string: added literals with quotes inside, or code as a bare word."""
        return any(
            pattern.search(str(repair.before)) is not None
            for repair in state.repairs
            if (pattern := _CODE_BY_REPAIR.get(repair.kind)) is not None
        )

    def by_expressions(self, name: str, start: int, opening: int) -> PythonCall | None:
        """The call, with expressions as their source text."""
        found = read_expressions(self.text, opening, self.literal)
        if found is None or found.end - opening > self.limits.arguments:
            return None
        raw = self.text[opening + 1 : found.end - 1]
        return PythonCall(name, found.arguments, found.positional, raw, (start, found.end), found.repairs)

    def literal(self, written: str) -> tuple[bool, Any]:
        """(whether it is a literal, its value) of an expression's text."""
        call = _Reader(f"f(v={written})", 0, self.limits, False).arguments("f", 0, 1)
        sound = call.error is None and call.span[1] == len(written) + 5 and call.arguments is not None
        if not sound or call.positional or any(repair.kind in _AS_WRITTEN for repair in call.repairs):
            return False, None
        return True, (call.arguments or {}).get("v")

    def end_of_bad_call(self, opening: int) -> int:
        end = Extent(opening, quotes=_QUOTES, triple=True).scan(self.text, True)
        return end if end >= 0 else len(self.text)

    def quoted(self, at: int) -> PythonCall | None:
        """The call in a list item that is a string; None if it holds no call."""
        state = self.state(at)
        state.frames.append(Frame("array", "[", "]"))
        try:
            content = read_quoted(state, "value")
        except (Stop, Ended):
            return None
        inner = _Reader(content, 0, self.limits, self.cut and not state.complete)
        call = inner.call(inner.skip(0))
        if call is None or content[call.span[1] :].strip(" \t\r\n;,"):
            return None
        call.span = (at, state.pos)
        call.complete = call.complete and state.complete
        call.repairs = [*state.repairs, *call.repairs]
        return call
