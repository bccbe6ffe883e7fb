"""Calls as a block of labels: `TOOL_NAME: f`, then for each argument `BEGIN_ARG: key`, its lines, and `END_ARG`.

The prompt of an editor asks for such blocks in a fence. Without the fence, they are a guess at the reply's end.
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.normalizer.bare.verdicts import only_shown, rest_is_blank
from llmcore.normalizer.bodies.json_bodies import add_calls
from llmcore.normalizer.calls.call_objects import CallObject, default_arguments
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.source import Steps, match_within, search, skip_space, wait_for, wait_for_one
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["FIRST_LABEL", "labelled_block"]

FIRST_LABEL = "TOOL_NAME"
_BEGINS = "BEGIN_ARG:"
_NAME = lazy_regex(r"[ \t]{0,8}(?P<name>[^\s:]{1,128})[ \t]{0,8}\r?(?:\n|\Z)")
_KEY = lazy_regex(r"BEGIN_ARG:[ \t]{0,8}(?P<key>[^\s:]{1,128})[ \t]{0,8}\r?\n")
_ENDS = lazy_regex(rf"(?:(?<=\n)|\r?\n)[ \t]{{0,8}}(?:(?P<own>END_ARG[ \t]{{0,8}}\r?(?=\n|\Z))|(?={_KEY.pattern}))")
"""The end of a value. If its own label is missing, the next argument ends it."""
_LINE = 160  # characters that hold a label and its word
_END_LENGTH = 320


def labelled_block(reading: Reading, begin: int, colon: int) -> Steps[int]:
    """Read the block whose first label begins at `begin`, before the colon at `colon`. Returns where to go on."""
    yield from wait_for_one(reading.src, colon + 1, _LINE, "\n")
    named = _NAME.match(reading.src.text, colon + 1, colon + 1 + _LINE)
    if named is None or not is_known(named["name"], reading.tools):
        return colon + 1
    name, start, named = named["name"], named.end(), None  # a match keeps its text alive
    call, end, whole = yield from _arguments(reading, name, start)
    if call.arguments is None:
        reading.miss(begin, end, name, "unreadable" if whole else "truncated")
        return end
    reason = None if (yield from rest_is_blank(reading, end)) else "mid_line"
    reason = reason or (yield from only_shown(reading, begin, end))
    if reason is not None:
        reading.miss(begin, end, name, reason)
        return end
    if not reading.nested:
        call.repairs.append(Repair(kind="fence_missing", before=FIRST_LABEL, safety="guess"))
    add_calls(reading, (begin, end), [call], "labelled_block", complete=whole and not reading.ended_by_length)
    return reading.done


def _arguments(reading: Reading, name: str, start: int) -> Steps[tuple[CallObject, int, bool]]:
    """(call, where it ends, whether its last argument is closed) of the arguments behind `start`."""
    src, tool = reading.src, reading.tool(name)
    arguments: dict[str, Any] = {}
    repairs: list[Repair] = []
    end, whole = start, True
    while whole:
        at = yield from skip_space(src, end)
        yield from wait_for(src, at, len(_BEGINS))
        key: re.Match[str] | None = None
        if src.text.startswith(_BEGINS, at):
            key = yield from match_within(src, _KEY, at, _LINE)
        if key is None:
            rest = src.text[at : at + _LINE]
            if src.final and rest and "\n" not in rest and rest.startswith(_BEGINS[: len(rest)]):  # the label's line was cut off
                end, whole = len(src.text), False
            break
        path, body, key = key["key"], key.end(), None  # a match keeps its text alive
        closer = yield from search(src, _ENDS, body, _END_LENGTH)
        while closer is not None and closer.end() == len(src.text) and not src.final:  # its line may go on
            closer = None  # a match keeps its text alive
            yield None
            closer = yield from search(src, _ENDS, body, _END_LENGTH)
        whole = closer is not None
        stop, end = closer.span() if closer is not None else (len(src.text), len(src.text))
        if closer is None or closer["own"] is None:
            repairs.append(Repair(kind="closer_missing", path=path, safety="truncated" if closer is None else "guess"))
        closer = None  # a match keeps its text alive
        types = tool.types(path) if tool is not None else ()
        value, found = typed_by(src.text[body:stop], types, path=path, limits=reading.limits)
        arguments[path] = value
        repairs += found
    given = arguments or default_arguments(name, reading.tools)
    return CallObject(name, given, True, raw=src.text[start:end].strip(), repairs=repairs), end, whole
