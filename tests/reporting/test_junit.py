"""JUnit XML: a case for each transcript, and valid XML whatever a transcript holds."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, parse

import pytest

from llmcore.reporting.junit import JunitReport
from llmcore.transcripts import Transcript, TranscriptError
from llmcore.types import CallerError
from tests.reporting.outcomes import HOSTILE, KEY, cut, good, replayed, wrong


def suite_of(path: Path, *runs: Transcript, skipped: list[TranscriptError] | None = None, unlisted: int = 0) -> Element:
    report = JunitReport(path)
    replayed(*runs, into=report)
    report.finish(skipped or [], unlisted=unlisted)
    suite = parse(path).getroot().find("testsuite")
    assert suite is not None
    return suite


def test_cases_failures_and_counts(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "r.xml", good(id="a"), wrong(id="b"), cut(id="c"))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {"tests": "3", "failures": "2", "errors": "0"}
    assert [(case.get("classname"), case.get("name")) for case in suite] == [("runs.jsonl", name) for name in "abc"]
    assert [case.find("failure") is not None for case in suite] == [False, True, True]
    failure = suite[1].find("failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("wrong", "not as expected: calls")
    assert (failure.text or "").startswith("runs.jsonl:2\n")


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "r.xml", skipped=[TranscriptError("bad.jsonl", 7, "not JSON")], unlisted=3)
    assert (suite.get("tests"), suite.get("errors")) == ("2", "2")
    errors = [case.find("error") for case in suite]
    assert [error.get("message") for error in errors if error is not None] == ["not JSON", "3 more entries cannot be read"]


def test_hostile_text_is_valid_xml_without_secrets(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "r.xml", wrong(id=HOSTILE + KEY))
    assert suite[0].get("name") == HOSTILE.replace("\x00", "\\x00").replace("\ud800", "\\ud800") + "[secret]"
    assert KEY not in (tmp_path / "r.xml").read_text("utf-8")


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text("")
    with pytest.raises(CallerError, match="is read by this replay"):
        JunitReport(tmp_path / "r.xml", [tmp_path / "r.xml"])
