"""The files of `fixtures/dialects` are what `python -m tests.corpus` writes, llmcore reads every row, and the runner sees faults."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, get_args

import pytest

from llmcore import Envelope, Normalizer, normalize
from llmcore.normalizer import DIALECTS
from scripts.score_corpus import outcome, same
from tests.normalizer.helpers import sample_files
from tests.packaging.tree import ROOT

from .files import FOLDER, contents, rows
from .page import PAGE, figures_of_llmcore, with_numbers
from .row import Row, Verdict

FAULTS = {
    "written/labelled_block/a_fence_in_a_text",
    "written/yaml_in_tool_call/a_call_in_a_text",
}
"""Rows that llmcore reads wrongly.

A fence with as many back-ticks as the one around it ends that one. A call in a quoted text of YAML makes the call around it one
that may have been cut.
"""

ALL = [row for of_file in rows().values() for row in of_file]


def _faults(row: Row, envelope: Envelope) -> Iterable[str]:
    calls = [(call.name, call.arguments) for call in envelope.tool_calls if call.complete and call.arguments is not None]
    if not same(calls, list(row.calls)) and not (row.verdict == "i" and not calls):
        yield f"{row.id}: calls {calls}"
    if row.verdict == "y" and any(repair.safety == "guess" for call in envelope.tool_calls for repair in call.repairs):
        yield f"{row.id}: a guess"
    if row.verdict == "i" and not calls:
        return  # then the text of the calls is content
    if row.content is not None and envelope.content.strip() != row.content.strip():
        yield f"{row.id}: content {envelope.content!r}"
    if row.reasoning is not None and envelope.reasoning.strip() != row.reasoning.strip():
        yield f"{row.id}: reasoning {envelope.reasoning!r}"


@pytest.mark.parametrize("file", [*sample_files(), "written", "shown", "cut", "damaged"])
def test_llmcore_reads_every_row(file: str) -> None:
    found: dict[str, list[str]] = {}
    for row in rows()[file]:
        if faults := list(_faults(row, normalize(row.text, row.tools, finish_reason=row.finish_reason))):
            found[row.id] = faults
    listed = {id for id in FAULTS if id.startswith(f"{file}/")}
    assert found.keys() == listed, [fault for id, faults in found.items() if id not in listed for fault in faults]


@pytest.mark.sweep
@pytest.mark.parametrize("file", [*sample_files(), "written", "shown", "cut", "damaged"])
def test_llmcore_reads_every_row_one_character_at_a_time(file: str) -> None:
    for row in rows()[file]:
        normalizer = Normalizer(row.tools)
        for character in row.text:
            normalizer.feed(character)
        normalizer.finish(row.finish_reason)
        assert row.id in FAULTS or not list(_faults(row, normalizer.envelope))


def test_the_files_are_what_the_generator_writes() -> None:
    written = {path.name: path.read_bytes().decode("utf-8") for path in FOLDER.glob("*.jsonl")}
    stale = [name for name in sorted(written.keys() | contents().keys()) if written.get(name) != contents().get(name)]
    assert not stale, "run: python -m tests.corpus"


def test_the_corpus_is_large_enough_and_small_enough() -> None:
    assert len(ALL) >= 2_000
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3_000_000
    assert len({row.id for row in ALL}) == len(ALL)
    for name in DIALECTS:
        assert {f"written/{name}/alone", f"shown/{name}/no_tools", f"cut/{name}/in_a_text"} <= {row.id for row in ALL}


def test_a_row_without_calls_must_not_be_read_and_the_others_have_calls() -> None:
    assert {row.verdict for row in ALL} == set(get_args(Verdict))
    assert all((row.verdict == "n") == (not row.calls) for row in ALL)


def _row(verdict: str, *calls: tuple[str, dict[str, Any]], text: str = "") -> dict[str, Any]:
    named = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {"text": text, "tools": [], "calls": named, "verdict": verdict}


_OUTCOMES: list[tuple[dict[str, Any], list[Any], str]] = [
    (_row("y", ("f", {"a": 1})), [("f", {"a": 1.0})], "right"),
    (_row("y", ("f", {"a": 1})), [("f", {"a": True})], "wrong"),
    (_row("y", ("f", {"a": 1})), [("f", {"a": "1"})], "wrong"),
    (_row("y", ("f", {})), [["f", {}]], "right"),
    (_row("y", ("f", {})), [("f", {}), ("f", {})], "wrong"),
    (_row("y", ("f", {})), [], "missed"),
    (_row("n"), [], "right"),
    (_row("n"), [("f", {})], "wrong"),
    (_row("i", ("f", {})), [], "right"),
    (_row("i", ("f", {})), [("f", {})], "right"),
    (_row("i", ("f", {})), [("g", {})], "wrong"),
]


@pytest.mark.parametrize(("row", "found", "expected"), _OUTCOMES)
def test_the_runner_judges_calls(row: dict[str, Any], found: list[Any], expected: str) -> None:
    def parse(text: str, tools: object) -> list[tuple[str, Any]]:
        return found

    assert outcome(parse, row) == expected


def test_the_runner_counts_a_parser_that_raises() -> None:
    def raising(text: str, tools: object) -> list[tuple[str, Any]]:
        raise ValueError(text)

    assert outcome(raising, _row("n")) == "raised"


def test_the_page_has_the_numbers_of_the_files_and_the_runners_figures_of_llmcore() -> None:
    text = PAGE.read_text("utf-8")
    assert with_numbers(text) == text, "run: python -m tests.corpus"
    assert set(re.findall(r"^\| `(\w+)\.jsonl` \|", text, re.MULTILINE)) == rows().keys()


def test_the_runner_finds_the_faults_of_llmcore_and_no_others() -> None:
    found = figures_of_llmcore()
    assert found.total() == len(ALL)
    assert sum(number for key, number in found.items() if not key.endswith("right")) == len(FAULTS)


def test_the_runner_is_a_program_of_at_most_60_lines(tmp_path: Any) -> None:
    script = ROOT / "scripts" / "score_corpus.py"
    assert len(script.read_text("utf-8").splitlines()) <= 60
    (tmp_path / "nothing.py").write_text("def parse(text, tools):\n    return []\n", "utf-8")
    command = [sys.executable, str(script), "nothing:parse", str(FOLDER / "traps.jsonl")]
    done = subprocess.run(command, env={}, cwd=tmp_path, capture_output=True, text=True, check=True)
    traps = len(rows()["traps"])
    assert re.search(rf"^traps .* {traps} of +{traps} ", done.stdout, re.MULTILINE)


def test_the_page_shows_a_row_as_it_stands_in_a_file() -> None:
    text = PAGE.read_text("utf-8")
    (shown,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    row = json.loads(shown)
    assert row in [json.loads(line) for line in (FOLDER / f"{row['id'].partition('/')[0]}.jsonl").read_text("utf-8").splitlines()]
    keys = {key for row in ALL for key in json.loads(row.line)}
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == keys
