"""Each kind of lead-in in each language, with a call behind it; and replies in those languages that mean their call."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from tests.normalizer.helpers import TOOLS, read_every_way
from tests.normalizer.trust.lead_in_grid import GRID, LANGUAGES
from tests.normalizer.trust.wanted import WANTED

JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
TAG = f"<tool_call>{JSON}</tool_call>"
FORMS = {"tag": TAG, "bare": JSON, "python": 'get_weather(city="Oslo")', "token": f"<|tool_call|>{TAG}"}
VERDICTS = {
    "prohibition": "example",
    "refusal": "guess",
    "label": "example",
    "form": "example",
    "example": "guess",
    "report": "guess",
    "condition": "guess",
    "announcement": "call",
}
LEAST = 6  # phrases in a cell
CELLS = [(kind, language) for kind in GRID for language in LANGUAGES]


def _found(text: str) -> str:
    envelope = normalize(text, TOOLS)
    if not envelope.tool_calls:
        return ",".join(miss.reason for miss in envelope.near_misses)
    return "guess" if any(repair.safety == "guess" for repair in envelope.tool_calls[0].repairs) else "call"


def _phrases(kind: str, language: str) -> list[str]:
    return GRID[kind][language].split(" | ")


def test_every_cell_has_its_phrases() -> None:
    assert set(GRID) == set(VERDICTS)
    assert {tuple(rows) for rows in GRID.values()} == {LANGUAGES} == {tuple(WANTED)}
    assert all(len(set(_phrases(*cell))) >= LEAST for cell in CELLS)
    assert sum(map(len, WANTED.values())) >= 60


@pytest.mark.parametrize("form", ["tag", "bare"])
@pytest.mark.parametrize(("kind", "language"), CELLS)
def test_what_a_lead_in_makes_of_a_call(kind: str, language: str, form: str) -> None:
    found = {phrase: _found(f"{phrase}\n{FORMS[form]}") for phrase in _phrases(kind, language)}
    assert found == dict.fromkeys(found, VERDICTS[kind])


@pytest.mark.parametrize(("kind", "language"), CELLS)
def test_the_same_however_it_is_cut(kind: str, language: str) -> None:
    read_every_way(f"{_phrases(kind, language)[0]}\n\n{TAG}\n\nThat is all.", chunkings=2)


@pytest.mark.parametrize("form", ["tag", "bare", "python"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_replies_that_mean_their_call(language: str, form: str) -> None:
    found = {text: _found(text.replace("{}", FORMS[form])) for text in WANTED[language]}
    assert found == dict.fromkeys(found, "call")
