"""A call whose markup is torn apart by a long run of white space reads the same however it is cut.

Readers wait for a head of bounded length: what they then match must lie within that length, or a text that came at once would be
read farther than one that came in pieces.
"""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS

from .helpers import TOOLS, assert_same

_PLACE = re.compile(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)|(?<=[\n>{[])(?=\W)|\A|\Z")
_RUNS = (" " * 26, " " * 330, "\n" * 450)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_torn_call_reads_the_same_however_it_is_cut(name: str) -> None:
    text = DIALECTS[name].write([("get_weather", {"city": "Oslo", "days": 3})])
    for place in (found.start() for found in _PLACE.finditer(text)):
        for run in _RUNS:
            end = place + len(run) - 2
            torn = text[:place] + run + text[place:]
            normalizer = Normalizer(TOOLS)
            for chunk in (torn[:end], torn[end:]):
                normalizer.feed(chunk)
            normalizer.finish()
            assert_same(normalizer.envelope, normalize(torn, TOOLS), [torn[:end], torn[end:]])
