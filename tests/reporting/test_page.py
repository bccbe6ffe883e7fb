"""The HTML page: whole figures, at most 500 failed transcripts, safe text, and the rest beside it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from llmcore.reporting.page import MAX_FAILURES, HtmlReport
from llmcore.transcripts import Score, read_transcripts
from llmcore.types import CallerError
from tests.reporting.outcomes import HOSTILE, KEY, cut, good, replayed, wrong


def data_in(page: str, name: str) -> Any:
    """The JSON of one of the page's script elements, which ends as browsers end it: at the first `</script`."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_has_the_figures_and_the_failed_transcripts(tmp_path: Path) -> None:
    report = HtmlReport(tmp_path / "report.html")
    figures = replayed(good(id="a"), wrong(id="b"), cut(id="c"), into=report)
    report.finish(figures, skipped=4)
    page = report.path.read_text("utf-8")
    shown = data_in(page, "figures")
    assert (shown["runs"], shown["units"], shown["succeeded"], shown["skipped"]) == (3, 3, 1, 4)
    assert [row["model"] for row in shown["models"]] == ["llama-3.1-8b", "gpt-4o"]
    assert shown["errors"]["invalid_json"] == {"raw": 1, "repaired": 1}
    assert len(shown["slowest"]) == 3
    assert [failure["label"] for failure in data_in(page, "failures")] == ["b", "c"]
    assert not report.rest.exists()


def test_the_page_needs_no_network_and_forbids_it(tmp_path: Path) -> None:
    report = HtmlReport(tmp_path / "report.html")
    report.finish(replayed(wrong(), into=report))
    page = report.path.read_text("utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"""(?:src|href)=["'](?!#)|@import|url\(|https?://""", page)
    assert "$" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_no_text_of_a_transcript_ends_its_element_and_no_secret_is_shown(tmp_path: Path) -> None:
    report = HtmlReport(tmp_path / "report.html")
    hostile = wrong({"text": HOSTILE + KEY}, id=HOSTILE + KEY, model=HOSTILE, expect={"content": HOSTILE})
    report.finish(replayed(hostile, into=report))
    page = report.path.read_text("utf-8")
    (failure,) = data_in(page, "failures")
    assert failure["label"] == HOSTILE + "[secret]"
    assert data_in(page, "figures")["models"][0]["model"] == HOSTILE
    assert page.count("<script") == page.count("</script>") == 3
    assert KEY not in page


def test_the_rest_is_json_lines_that_replay_reads(tmp_path: Path) -> None:
    report = HtmlReport(tmp_path / "report.html")
    runs = [wrong(id=f"run {number}", note=KEY) for number in range(MAX_FAILURES + 2)]
    report.finish(replayed(*runs, into=report))
    page = report.path.read_text("utf-8")
    assert len(data_in(page, "failures")) == MAX_FAILURES
    assert data_in(page, "figures")["rest"] == {"count": 2, "file": "report.rest.jsonl"}
    rest = [*read_transcripts(tmp_path / "report.rest.jsonl")]
    assert [(run.id, (run.model_extra or {})["source"]) for run in rest] == [
        (f"run {MAX_FAILURES}", f"runs.jsonl:{MAX_FAILURES + 1}"),
        (f"run {MAX_FAILURES + 1}", f"runs.jsonl:{MAX_FAILURES + 2}"),
    ]
    assert all(Score().add(run).failed for run in rest)
    assert KEY not in report.rest.read_text("utf-8")


def test_a_rest_of_an_earlier_report_is_removed(tmp_path: Path) -> None:
    (tmp_path / "report.rest.jsonl").write_text("{}\n")
    report = HtmlReport(tmp_path / "report.html")
    report.finish(replayed(good(), into=report))
    assert not report.rest.exists()


@pytest.mark.parametrize("name", ["in.html", "in.rest.jsonl"])
def test_an_input_is_not_overwritten(tmp_path: Path, name: str) -> None:
    given = tmp_path / name
    given.write_text("")
    with pytest.raises(CallerError, match=f"{name}: is read by this replay and would be overwritten"):
        HtmlReport(tmp_path / "in.html", [given])


def test_a_place_that_cannot_be_written_is_an_error_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CallerError, match=r"there is no folder .*nowhere; create it"):
        HtmlReport(tmp_path / "nowhere" / "report.html")
    with pytest.raises(CallerError, match="is a folder; name a file"):
        HtmlReport(tmp_path)

    def denied(_path: Path, _mode: int) -> bool:  # root may write everywhere
        return False

    monkeypatch.setattr("os.access", denied)
    with pytest.raises(CallerError, match="this process may not write there"):
        HtmlReport(tmp_path / "report.html")


def test_memory_is_flat(tmp_path: Path) -> None:
    report = HtmlReport(tmp_path / "report.html")
    outcome = Score().add(wrong(id="x" * 200))
    for _ in range(MAX_FAILURES + 1):
        report.add(outcome)
    tracemalloc.start()
    for _ in range(500):
        report.add(outcome)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    report.finish(Score().report())
    assert report.rest_count == 501
    assert grown < 20_000  # forty bytes a transcript; each has two hundred in its id alone


@pytest.mark.sweep  # starts a browser
def test_a_browser_lays_the_page_out(tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    report = HtmlReport(tmp_path / "report.html")
    report.finish(replayed(good(), wrong(id="first"), wrong(id=HOSTILE), cut(id="last one"), into=report))
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
    ]
    done = subprocess.run([*command, f"{report.path.as_uri()}#last%20one"], capture_output=True, timeout=120, check=True)
    laid_out = done.stdout.decode()
    assert laid_out.count('class="row') == 3
    assert laid_out.count('class="detail"') == 1  # the transcript that the link names
    assert '<span class="call"' in laid_out
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in laid_out
    assert "\\u202e\\u0000\\ud800" in laid_out
