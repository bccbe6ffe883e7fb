"""A closer of a parameter that closes nothing is recorded, in every form whose arguments are tags."""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer import DIALECTS
from tests.normalizer.helpers import read_every_way

_ARGUMENTS = {"city": "Oslo", "days": 3}
_CLOSER = re.compile(r"(?:\]<\]minimax\[>\[)?</[^<>]*(?:param|arg|city|days)[^<>]*>")
_ROUND_ALL = ("</parameters>", "</arguments>")


def _surplus() -> list[tuple[str, str]]:
    written = [(name, row.write([("get_weather", _ARGUMENTS)])) for name, row in sorted(DIALECTS.items())]
    return [
        (name, text[: closer.end()] + gap + closer[0] + text[closer.end() :])
        for name, text in written
        for closer in _CLOSER.finditer(text)
        if closer[0] not in _ROUND_ALL
        for gap in ("", "\n")
    ]


@pytest.mark.parametrize(("name", "text"), _surplus())
def test_a_closer_that_closes_nothing_is_recorded(name: str, text: str) -> None:
    (call,) = read_every_way(text, chunkings=1).tool_calls
    assert call.repairs, name


@pytest.mark.parametrize("name", sorted({name for name, _ in _surplus()}))
def test_what_is_closed_once_has_no_repair(name: str) -> None:
    (call,) = read_every_way(DIALECTS[name].write([("get_weather", _ARGUMENTS)]), chunkings=1).tool_calls
    assert (call.arguments, call.repairs) == (_ARGUMENTS, [])
