"""Whatever is lost of a call, or put into it: if its arguments lack or change what stands in the text, a repair tells.

A value that is left in the content needs a repair, too.

The sample of every row is damaged in a hundred ways and more: a sign, a word or a tag is taken out, words, closers, quotation marks
and a parameter without a name are put in. A call that may run then has the two values as they were written, each under a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Envelope, ToolCall
from llmcore.types.tools import ToolSet
from llmcore.validator.report import validate_calls

from .helpers import tool

_TOOLS = ToolSet([tool("save_note", ["title"], title="string", text="string"), tool("ping")])
_VALUES = {"title": "Amber hill", "text": "Birch lake"}
_TOKEN = re.compile(r"</?[^<>\s]+>|<\||\|>|\w+|\s+|[^\w\s]")
_PUT_IN = (" OOPS ", "</parameter>", "}", "\n</text>\n", '"Cedar"', '<parameter name="">Cedar</parameter>')
_NO_KEY = re.compile(r'[=>"\n]|</|\A\s*\Z')
_STEP = 5  # one damage in so many is tried, others in each row


def _damaged(text: str) -> Iterator[str]:
    values = [found.span() for value in _VALUES.values() for found in re.finditer(value, text)]
    for start, end in (found.span() for found in _TOKEN.finditer(text)):
        if any(start < stop and end > begin for begin, stop in values):
            continue
        yield text[:start] + text[end:]
        if end - start > 2:
            yield text[: end - 1] + text[end:]
            yield text[:start] + text[start + 1 :]
        if all(
            text[end:begin].strip() if end <= begin else text[stop:start].strip() for begin, stop in values
        ):  # not beside a value
            yield from (text[:start] + more + text[start:] for more in _PUT_IN)


def _texts(value: Any) -> Iterator[object]:
    """The values in it; a key that is none as well."""
    if is_object(value):
        for key, one in value.items():
            yield from [("key", key)] if _NO_KEY.search(key) else ()
            yield from _texts(one)
    elif is_list(value):
        for one in value:
            yield from _texts(one)
    else:
        yield value.strip() if isinstance(value, str) else value


def _is_told(call: ToolCall) -> bool:
    unsafe = any(
        repair.safety in ("guess", "truncated") or repair.kind in ("literal_joined", "holds_closer") for repair in call.repairs
    )
    return unsafe or not call.complete or call.arguments is None


def _lost(found: Envelope, text: str) -> list[object]:
    """What a call that may run lacks or has too much, and nothing tells."""
    if not found.tool_calls or all(map(_is_told, found.tool_calls)) or not validate_calls(found, _TOOLS).runnable:
        return []
    left = found.content if any(call.repairs for call in found.tool_calls) else ""
    said = [one for call in found.tool_calls if call.arguments is not None for one in _texts(call.arguments)]
    return [one for one in said if one not in _VALUES.values()] + [
        one for one in _VALUES.values() if one in text and one not in said and one not in left
    ]


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_missing_parts_of_a_call_are_recorded(name: str) -> None:
    damaged = list(_damaged(DIALECTS[name].write([("save_note", _VALUES)])))
    assert len(damaged) > 30
    for text in damaged[len(name) % _STEP :: _STEP]:
        found = normalize(text, _TOOLS)
        assert _lost(found, text) == [], f"{text!r} is read as {found.tool_calls}"
