"""Sentences of each kind in each language with a call behind them, and replies in those languages that mean their call."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from tests.normalizer.helpers import TOOLS, read_every_way
from tests.normalizer.trust.lead_in_grid import GRID, LANGUAGES
from tests.normalizer.trust.wanted import WANTED

JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
TAG = f"<tool_call>{JSON}</tool_call>"
FORMS = {
    "token": '<|tool_call_start|>[get_weather(city="Oslo")]<|tool_call_end|>',
    "tag": TAG,
    "bare": JSON,
    "python": 'get_weather(city="Oslo")',
}
SHOWN = {"token": "guess", "tag": "example", "bare": "example", "python": "example"}
VERDICTS = {
    "prohibition": SHOWN,
    "refusal": SHOWN,
    "label": SHOWN,
    "form": SHOWN,
    "example": {"token": "call", "tag": "guess", "bare": "guess", "python": "guess"},
    "announcement": dict.fromkeys(FORMS, "call"),
}
"""What each kind makes of each form."""
CELLS = [(kind, language) for kind in GRID for language in LANGUAGES]


def _found(text: str) -> str:
    envelope = normalize(text, TOOLS)
    if not envelope.tool_calls:
        return ",".join(miss.reason for miss in envelope.near_misses)
    return "guess" if any(repair.safety == "guess" for repair in envelope.tool_calls[0].repairs) else "call"


def _sentences(kind: str, language: str) -> list[str]:
    return GRID[kind][language].split(" | ")


def test_every_cell_has_its_sentences() -> None:
    assert set(GRID) == set(VERDICTS)
    assert {tuple(rows) for rows in GRID.values()} == {LANGUAGES} == {tuple(WANTED)}
    assert all(len(set(_sentences(*cell))) >= 3 for cell in CELLS)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "language"), CELLS)
def test_what_a_lead_in_makes_of_a_call(kind: str, language: str, form: str) -> None:
    found = {sentence: _found(f"{sentence}\n{FORMS[form]}") for sentence in _sentences(kind, language)}
    assert found == dict.fromkeys(found, VERDICTS[kind][form])


@pytest.mark.parametrize(("kind", "language"), CELLS)
def test_the_result_does_not_depend_on_the_cut(kind: str, language: str) -> None:
    read_every_way(f"{_sentences(kind, language)[0]}\n\n{TAG}\n\nThat is all.", chunkings=2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_calls_that_are_meant(language: str, form: str) -> None:
    found = {text: _found(text.replace("{}", FORMS[form])) for text in WANTED[language]}
    assert found == dict.fromkeys(found, "call")
