"""llmcore passes every fixture of `canitoolcall`, but for the differences that are listed with their policies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT

from .__main__ import table
from .differences import DIFFERENCES, SOFT_PASSES
from .page import PAGE, figures, page
from .replay import CUTS, DIALECTS_OF, INSTALLED, MISSING, Case, fixtures, prompt_opened_reasoning, replay

needs_the_suite = pytest.mark.skipif(not INSTALLED, reason=MISSING)


@needs_the_suite
@pytest.mark.parametrize("id", list(fixtures()) or ["none"])
def test_a_fixture_has_the_result_that_is_listed(id: str) -> None:
    case = replay(fixtures()[id])
    listed = "fail" if id in DIFFERENCES else "soft_pass" if id in SOFT_PASSES else "pass"
    assert case.status == listed, "\n".join(case.faults) or f"{id} passes: remove it from tests/conformance/differences.py"


@needs_the_suite
@pytest.mark.sweep
@pytest.mark.parametrize("id", list(fixtures()) or ["none"])
def test_the_dialects_of_the_family_change_nothing(id: str) -> None:
    assert replay(fixtures()[id], dialects_given=True).status == replay(fixtures()[id]).status


@needs_the_suite
def test_the_lists_name_fixtures_that_exist() -> None:
    assert (DIFFERENCES.keys() | SOFT_PASSES) <= fixtures().keys()
    assert not DIFFERENCES.keys() & SOFT_PASSES
    assert {fixture.family for fixture in fixtures().values()} == DIALECTS_OF.keys()


@needs_the_suite
def test_the_page_is_what_the_run_gives() -> None:
    text = PAGE.read_text("utf-8")
    date = re.search(r"^Measured on (\d{4}-\d\d-\d\d) ", text, re.MULTILINE)
    assert date is not None
    assert page(date[1]) == text, "run: python -m tests.conformance --write"
    assert sum(found.total() for found in figures().values()) == len(fixtures())
    passes = sum(found["pass"] + found["soft"] for found in figures().values())
    assert f"passes {passes} of the {len(fixtures())} fixtures" in (ROOT / "README.md").read_text("utf-8")


@needs_the_suite
def test_the_prompts_that_open_the_reasoning_are_seen() -> None:
    opened = {fixture.family for fixture in fixtures().values() if prompt_opened_reasoning(fixture)}
    assert {"deepseek", "glm", "kimi", "qwen3-xml"} <= opened
    assert "gpt-oss" not in opened


def test_a_difference_names_a_heading_of_a_page() -> None:
    assert len(DIFFERENCES) <= 8
    for id, difference in DIFFERENCES.items():
        if difference.page:
            name, _, anchor = difference.page.partition("#")
            headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / name).read_text("utf-8"), re.MULTILINE)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings], id


def test_each_stream_is_cut_in_another_way() -> None:
    assert len(CUTS) == len(set(CUTS)) == 7


def test_the_table_counts_each_family() -> None:
    lines = table([Case("a/1", "a", "pass", ()), Case("a/2", "a", "fail", ("x",)), Case("b/1", "b", "pass", ())])
    assert [line.split() for line in lines[1:]] == [
        ["a", "1", "0", "1", "0"],
        ["b", "1", "0", "0", "0"],
        ["all", "2", "0", "1", "0"],
    ]


def test_no_fixture_is_copied() -> None:
    assert {path.suffix for path in Path(__file__).parent.iterdir() if path.is_file()} == {".py"}
