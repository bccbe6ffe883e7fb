"""The hash-rocket drift of MiniMax (J4): `[TOOL_CALL]{tool => "NAME", args => {--key value ...}}[/TOOL_CALL]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from llmcore.normalizer.bodies import body_extent, swallow
from llmcore.normalizer.call_objects import no_arguments
from llmcore.normalizer.dialects.braces import arguments_read, conformed
from llmcore.normalizer.readers.json import read_value
from llmcore.normalizer.readers.relaxed import read_relaxed
from llmcore.normalizer.rows import Calls, Dialect, Marker, as_json
from llmcore.normalizer.source import Steps, starts
from llmcore.normalizer.values import typed_by
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["DIALECTS"]

_HEAD_LENGTH = 300
_HEAD = re.compile(r"""\s*\{\s*tool\s*=>\s*["']?([^\s"',{}]{1,256})["']?\s*(?:,\s*\w{1,16}\s*=>\s*(?=\{)|(?=\}))""")
_OPTION = re.compile(r"(?:(?<=[\s{])|\A)--([^\s={}]{1,256})(?:\s*=\s*|[ \t]+)")
_CLOSERS = ("[/TOOL_CALL]",)
_LINE_VALUE = re.compile(r"[^\n}]*")
_ANY_TYPE = ("null", "integer", "number", "boolean", "object", "array", "string")


def _rocket(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    src = engine.src
    head = _HEAD.match(src.text, body)
    while not src.final and head is None and len(src.text) - body < _HEAD_LENGTH:
        yield
        head = _HEAD.match(src.text, body)
    if head is None:
        return False
    draft = engine.begin(at, head[1], "hash_rocket")
    outer = yield from body_extent(engine, src.text.index("{", body), _CLOSERS)
    end, _ = (outer.end, False) if outer.cut else (yield from swallow(engine, outer.end, _CLOSERS))
    written = src.text[head.end() : outer.end]
    arguments, repairs = _options(engine, written, engine.tool(head[1]))
    if arguments is None:
        reading = read_relaxed(src.text, head.end(), outer.end, limits=engine.limits, cut=outer.cut)
        arguments, repairs = arguments_read(engine, reading, [], engine.tool(head[1]))
    if not written.startswith("{"):
        arguments = no_arguments(head[1], engine.tools)
    engine.end(draft, end, arguments, written, complete=not outer.cut, repairs=repairs)
    return True


def _options(engine: TextEngine, text: str, tool: CompiledTool | None) -> tuple[dict[str, Any] | None, list[Repair]]:
    """`--key value` lines; None when there are none."""
    arguments: dict[str, Any] = {}
    repairs: list[Repair] = []
    option = _OPTION.search(text)
    while option is not None:
        key, start = option[1], option.end()
        if text[start : start + 1] in ("{", "[", '"'):
            reading = read_value(text, start, limits=engine.limits)
            value = reading.values[0] if reading.values else None
            stop = reading.end
            found = reading.repairs
        else:
            line = _LINE_VALUE.match(text, start)
            stop = line.end() if line else start
            value, found = typed_by(text[start:stop].strip(), _ANY_TYPE, path=key, limits=engine.limits)
        value, more = conformed(value, text[start:stop], tool, key, engine.limits)
        arguments[key] = value
        repairs = [*repairs, *found, *more]
        option = _OPTION.search(text, max(stop, start))
    return (arguments or None), repairs


def _write_rocket(calls: Calls) -> str:
    return "\n".join(
        f'[TOOL_CALL]\n{{tool => "{name}", args => {{\n'
        + "".join(f"--{key} {as_json(value)}\n" for key, value in given.items())
        + "}}\n[/TOOL_CALL]"
        for name, given in calls
    )


DIALECTS = (
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
