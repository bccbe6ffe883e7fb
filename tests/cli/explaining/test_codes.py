"""The tables of `llmcore explain`: every code is explained, every example does what it shows, every switch works."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from llmcore.cli.explaining.codes import Explanation, all_explanations, explanations_of
from llmcore.types import errors
from llmcore.types.near_misses import NEAR_MISS_REASONS
from tests.cli.explaining.examples import outcome
from tests.cli.explaining.source_codes import repair_kinds

ALL = all_explanations()
IDS = [f"{one.kind}-{one.code}" for one in ALL]
SWITCHES: dict[str, dict[str, Any]] = {
    "`Limits(repairs=0)`": {"limits": {"repairs": 0}},
    '`text_calls="off"`': {"text_calls": "off"},
    '`strictness="off"`': {"strictness": "off"},
    'The default, `strictness="safe"`': {"strictness": "safe"},
}
"""By the beginning of `off`: the option that switches a code off."""


def codes(kind: str) -> set[str]:
    return {one.code for one in ALL if one.kind == kind}


def test_every_kind_of_repair_of_the_source_is_explained() -> None:
    assert len(repair_kinds()) > 100
    assert repair_kinds() - codes("repair") == set()


def test_every_near_miss_and_every_error_is_explained() -> None:
    classes = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)} - {"Attempt"}
    assert codes("near_miss") == set(NEAR_MISS_REASONS)
    assert codes("error") == classes


@pytest.mark.parametrize("one", ALL, ids=IDS)
def test_an_example_gives_its_code_and_what_is_shown(one: Explanation) -> None:
    after, found = outcome(one)
    assert one.code in found
    assert after == one.after


SWITCHED = [(one, option) for one in ALL for begin, option in SWITCHES.items() if one.off.startswith(begin)]


@pytest.mark.parametrize(
    ("one", "option"),
    [pytest.param(*each, id=f"{each[0].kind}-{each[0].code}") for each in SWITCHED if each[0].given != "program"],
)
def test_a_switch_ends_what_it_says(one: Explanation, option: dict[str, Any]) -> None:
    options = {**one.settings.get("options", {}), **option}
    try:
        _, found = outcome(replace(one, settings={**one.settings, "options": options}))
    except errors.OutputParseError:  # without the change, the answer does not fit
        return
    assert one.code not in found


def test_a_code_is_found_whatever_its_case_and_details() -> None:
    assert [one.kind for one in explanations_of("Placeholder")] == ["repair", "near_miss"]
    assert [one.code for one in explanations_of("failed_at_provider: 'its words'")] == ["failed_at_provider"] * 2
    assert explanations_of("no_such_code") == []
