"""Where the engine looks closely: at everything that may open something, and at next to nothing of other text."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from llmcore.normalizer.scanning.source import Source
from llmcore.normalizer.scanning.words import TURN_TOKENS
from llmcore.normalizer.text.candidates import Candidates, names_of, signs_of
from tests.normalizer.helpers import TOOLS, read_every_way

NAMES = TOOLS.names


def found(text: str, names: frozenset[str] | None = NAMES, dialects: list[str] | None = None) -> list[int]:
    """All candidates of a text that is whole."""
    src = Source()
    src.text = text
    candidates, position, places = Candidates(src, names, marker_table(dialects)), 0, list[int]()
    while (at := candidates.next(position)) >= 0:
        places.append(at)
        position = at + 1
    return places


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_every_opener_is_a_candidate_whatever_dialects_are_asked_for(name: str) -> None:
    """Also where only this row is known, and a family of spellings shares no opener with another row."""
    for marker in DIALECTS[name].markers:
        for opener in marker.openers:
            at = 2 + (len(opener) if opener.isalpha() else 0)  # a word opens at the bracket behind it
            assert at in found(f"x {opener}[", dialects=[name])
    written = DIALECTS[name].write([("get_weather", {"city": "Paris"})])
    envelope = read_every_way(written, dialects=[name], chunkings=1)
    assert [call.name for call in envelope.tool_calls] == ["get_weather"]
    if name != "labelled_lines":  # named, its lines need no fence to be certain
        assert envelope == normalize(written, TOOLS)


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, 3.5 of them (more or less); a b c: d.",
        "<p>One</p><br/><table><tr><td class='a'>2 < 3</td></tr></table> <- and ->",
        "x[0] and list[str], see [the page](https://example.org) [1]; - [ ] to do\n- [x] done",
        "Async is no Action, and stop = go.",
        "an empty list [] <b>in bold</b>, >[]<] and []<em>, [null] <sub>",
    ],
)
def test_other_text_holds_none(text: str) -> None:
    assert found(text) == []
    assert signs_of(NAMES, marker_table(None)).first(text, 0, names_of(NAMES)) == -1


@pytest.mark.parametrize(
    "text",
    ["a[i] and b[i - 1] of [a, b), note [3], f(x) = {x | x < b}, {curly}", "[ok] [12] [a, b, c] {word}, {x in y}"],
)
def test_brackets_of_prose_and_mathematics_are_no_candidates(text: str) -> None:
    assert [at for at in found(text, None) if text[at] in "[{"] == []


@pytest.mark.parametrize(
    "text",
    [
        "[f (x",
        "[a.b(",
        "[null]</s>",
        "functools[a, b]",
        "x [word",
        "{a :",
        "{x  = 1",
        "{x =",
        "{a\n: 1",
        "{a \n: 1",
        "{word",
        "{a ",
    ],
)
def test_brackets_that_may_be_a_call_are_candidates(text: str) -> None:
    text = f"is {text}"
    assert max(text.find("["), text.find("{")) in found(text)


@pytest.mark.parametrize("token", TURN_TOKENS)
def test_an_empty_list_before_a_last_token_is_one(token: str) -> None:
    for text in (f"[]{token}", f"\n[ None ] {token}\n"):
        envelope = read_every_way(text)
        assert not envelope.content.strip()
        assert not envelope.near_misses


def test_after_a_header_every_brace_is_one() -> None:
    assert found("x){ to=ping ){") == [13]
    assert found("x){ from ){") == []


def test_an_incomplete_opener_is_a_candidate() -> None:
    for text in ("a <", "a <tool", "a </", "a [", "a ]<"):
        assert found(text)


@pytest.mark.parametrize("words", ["", "It rained. ", "It rained, 3 of 4 days: a [1] <b>{so}</b> f(x). " * 40])
@pytest.mark.parametrize(
    "opener", ["<tool_call>{", "[TOOL_CALLS][", "```json\n", "~~~\n", '{"name": ', "get_weather(", "Action: x"]
)
def test_the_first_of_a_whole_text_is_found_as_in_one_that_grows(opener: str, words: str) -> None:
    text = f"{words}\n{opener}"
    names = names_of(NAMES)
    assert signs_of(NAMES, marker_table(None)).first(text, 0, names) == (found(text) or [-1])[0]
