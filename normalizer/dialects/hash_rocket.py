"""MiniMax's hash-rocket variant: `[TOOL_CALL]{tool => "NAME", args => {--key value ...}}[/TOOL_CALL]`."""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.bodies.argument_stream import ArgumentStream
from llmcore.normalizer.bodies.brace_bodies import arguments_read, conformed
from llmcore.normalizer.bodies.json_bodies import body_extent, closing
from llmcore.normalizer.bodies.tagged.entries import Entries
from llmcore.normalizer.calls.call_objects import default_arguments
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.damage.markup_remains import DAMAGED
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, as_json
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.json import read_json_value
from llmcore.normalizer.notations.relaxed.read import read_relaxed
from llmcore.normalizer.scanning.source import Steps, match_within, past, starts
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

__all__ = ["DIALECTS"]

_HEAD_LENGTH = 300
_HEAD = lazy_regex(r"""\s*\{\s*tool\s*=>\s*["']?([^\s"',{}()\[\]<>]{1,256})["']?\s*(?:,\s*\w{1,16}\s*=>\s*(?=\{)|(?=\}))""")
_KEY = r"--([^\s=<>{}()\[\]\"']{1,256})(?:\s*=\s*|[ \t]+)"
_OPTION = lazy_regex(rf"(?:(?<=[\s{{])|\A){_KEY}")
_NEXT_OPTION = lazy_regex(rf"[\s{{]++{_KEY}")
_CLOSERS = ("[/TOOL_CALL]",)
_LAYOUT = " \t\r\n,{}"
_CUT_SHORT = lazy_regex(r"""\n\s*--\w|\A[^"\n]+"|"[^"\n]*\Z(?<!")""")
"""A quotation mark is missing: the value runs over the next option, or has a single mark."""
_LINE_VALUE = lazy_regex(r"[^\n}]*")
_IN_STRING = lazy_regex(r'(?:[^"\\\n]++|\\(?:u[0-9a-fA-F]{4}|[^u]))*+')
_MAY_END_BODY = lazy_regex(r'[{}\[\]()<"]')  # in a value that is not JSON
_ANY_TYPE = ("null", "integer", "number", "boolean", "object", "array", "string")


def _rocket(reading: Reading, at: int, body: int) -> Steps[bool]:
    src = reading.src
    head = yield from match_within(src, _HEAD, body, _HEAD_LENGTH)
    if head is None:
        return False
    draft, tool = reading.begin(at, head[1], "hash_rocket"), reading.tool(head[1])
    preview = _OptionPreview(reading, draft, head.end(), tool) if reading.listening else None
    outer = yield from body_extent(reading, src.text.index("{", body), _CLOSERS, preview)
    end, missing = (outer.end, list[Repair]()) if outer.cut else (yield from closing(reading, outer.end, _CLOSERS))
    written = src.text[head.end() : outer.end]
    arguments, repairs = _options(reading, written, tool)
    if arguments is None:
        parsed = read_relaxed(src.text, head.end(), outer.end, limits=reading.limits, cut=outer.cut)
        arguments, repairs = arguments_read(reading, parsed, [], tool)
    if not written.startswith("{"):
        arguments = default_arguments(head[1], reading.tools)
    if not outer.closed and not outer.cut:
        missing = [Repair(kind="closer_missing")]
    if preview is not None:
        preview.advance()
        preview.finish(arguments)
    reading.end(draft, end, arguments, written, complete=not outer.cut, repairs=[*repairs, *missing])
    return True


def _options(reading: Reading, text: str, tool: CompiledTool | None) -> tuple[dict[str, Any] | None, list[Repair]]:
    """The arguments of `--key value` lines, and the repairs. (None, []) if there are none, or if JSON exceeds a limit."""
    entries = Entries(reading, tool)
    option, done = _OPTION.search(text), 0
    while option is not None:
        _drop(entries, text[done : option.start()])
        key = option[1]
        value, found, stop = _value(reading, text, key, option.end(), tool)
        if stop < 0:
            return None, []
        is_cut = any(repair.safety == "truncated" for repair in found)
        if isinstance(value, str) and not is_cut and _CUT_SHORT.search(text[option.end() : stop]) is not None:
            found = [*found, Repair(kind=DAMAGED, path=key, before=value, after=None, safety="guess")]
        entries.enter(key, value, found, value if isinstance(value, str) else None)
        done = max(stop, option.end())
        option = _OPTION.search(text, done)
    _drop(entries, text[done:])
    return (entries.arguments or None), entries.repairs


def _drop(entries: Entries, text: str) -> None:
    """Drop text between options, if it is more than layout."""
    if left := text.strip(_LAYOUT):
        entries.drop(left)


def _value(reading: Reading, text: str, key: str, start: int, tool: CompiledTool | None) -> tuple[Any, list[Repair], int]:
    """(value, repairs, end) of the option whose value stands at `start`: JSON, or the rest of the line.

    The end is -1 if the value cannot be read.
    """
    if text[start : start + 1] in ("{", "[", '"'):
        parsed = read_json_value(text, start, limits=reading.limits)
        if not parsed.values:
            return None, [], -1
        value, repairs, stop = parsed.values[0], parsed.repairs, parsed.end
    else:
        stop = past(_LINE_VALUE, text, start)
        value, repairs = typed_by(text[start:stop].strip(), _ANY_TYPE, path=key, limits=reading.limits)
    value, more = conformed(value, text[start:stop], tool, key, reading.limits)
    return value, [*repairs, *more], stop


class _OptionPreview:
    """Emits options as they arrive: strings in pieces, other values whole. Values that need repairs wait for the end."""

    def __init__(self, reading: Reading, draft: Draft, start: int, tool: CompiledTool | None) -> None:
        self._reading, self._draft, self._tool = reading, draft, tool
        self._stream = ArgumentStream(reading, draft)
        self._emitted: dict[str, Any] = {}
        self._at = start
        self._key = ""
        self._start = self._upto = -1  # where its value begins; how far it was emitted, if it is a string
        self._streams = False
        self._extent: Extent | None = None
        self._over = False

    def sleeps(self) -> bool:
        return self._streams

    def skim(self, more: str) -> bool:
        """Emit more of a string. Returns False at its end, so that the body is read again."""
        length = len(self._reading.src.text)
        if self._upto + len(more) != length or '"' in more or "\\" in more or "\n" in more:
            return False
        self._stream.piece(more)
        self._upto = length
        return True

    def advance(self) -> None:
        """Emit the text that has arrived."""
        while not self._over and (self._start >= 0 or self._next_option()) and (end := self._value_end()) >= 0:
            self._finish_value(end)

    def finish(self, arguments: dict[str, Any] | None) -> None:
        """The call is read: emit the rest, if the emitted arguments are its beginning."""
        if (
            self._streams
            or not self._emitted
            or list((arguments or {}).items())[: len(self._emitted)] != list(self._emitted.items())
        ):
            return
        for key, value in list((arguments or {}).items())[len(self._emitted) :]:
            self._stream.whole(key, value)
        self._stream.close()

    def _next_option(self) -> bool:
        text = self._reading.src.text
        option = _NEXT_OPTION.match(text, self._at)
        if option is None or option.end() == len(text):
            self._over = option is None and len(text) - self._at > _HEAD_LENGTH
            return False
        self._key, self._start = option[1], option.end()
        self._over = option[1] in self._emitted
        if text[self._start] == '"':
            self._upto = self._start + 1
            self._streams = not self._over and (self._tool is None or self._tool.types(self._key) in ((), ("string",)))
            if self._streams:
                self._stream.open_string(self._key)
        elif text[self._start] in "{[":
            self._extent = Extent(self._start)
        return not self._over

    def _value_end(self) -> int:
        """Where the value ends, -1 if its end has not arrived."""
        text = self._reading.src.text
        if self._extent is not None:
            return self._extent.scan(text)
        if text[self._start] != '"':
            end = past(_LINE_VALUE, text, self._start)
            return end if end < len(text) else -1
        end = past(_IN_STRING, text, self._upto)
        if self._streams:
            self._reading.delta(self._draft, text[self._upto : end])
        self._upto = end
        return end + 1 if text.startswith('"', end) else -1

    def _finish_value(self, end: int) -> None:
        value, repairs, stop = _value(self._reading, self._reading.src.text, self._key, self._start, self._tool)
        written = self._reading.src.text[self._start : end]
        if repairs or stop != end or (written[:1] not in ("{", "[", '"') and _MAY_END_BODY.search(written)):
            self._over = True
            return
        if self._streams:
            self._stream.close_string("")
        else:
            self._stream.whole(self._key, value)
        self._emitted[self._key] = value
        self._at, self._start, self._streams, self._extent = end, -1, False, None


def _write_rocket(calls: Calls) -> str:
    return "\n".join(
        f'[TOOL_CALL]\n{{tool => "{name}", args => {{\n'
        + "".join(f"--{key} {as_json(value)}\n" for key, value in given.items())
        + "}}\n[/TOOL_CALL]"
        for name, given in calls
    )


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "hash_rocket",
        "MiniMax drift",
        _write_rocket,
        (
            Marker(
                _rocket,
                ("[TOOL_CALL]",),
                follows=starts("{tool", "{ tool", "{\ntool"),
                calls=True,
                dialect="hash_rocket",
            ),
        ),
    ),
)
