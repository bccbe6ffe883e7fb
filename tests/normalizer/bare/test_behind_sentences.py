"""A form without markers right behind a sentence on its line may be meant: it is asked about."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

_FORMS = ['get_weather(city="Oslo")', '[get_weather(city="Oslo")]', '{"name": "get_weather", "arguments": {"city": "Oslo"}}']


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("words", ["Done thinking. ", "I do it now! ", "好的。", "Sure… "])
def test_it_is_a_guess(words: str, form: str) -> None:
    found = read_every_way(words + form, chunkings=2)
    assert [[(one.kind, one.safety) for one in call.repairs] for call in found.tool_calls] == [[("behind_a_sentence", "guess")]]
    assert found.content == words.strip()


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("words", ["Use 1. {}", "Oslo {}", "Ok {} is it.", "Done. {} is what I ran.", "e.g. {}"])
def test_in_the_midst_of_a_line_it_is_content(words: str, form: str) -> None:
    found = read_every_way(words.format(form) if "{}" in words else words, chunkings=2)
    assert found.tool_calls == []
    assert found.near_misses
