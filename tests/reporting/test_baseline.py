"""A comparison with an earlier replay: which transcripts and figures became better or worse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmcore.reporting.baseline import Baseline, Comparison
from llmcore.transcripts import Score, Transcript
from llmcore.types import CallerError
from tests.reporting.outcomes import cut, good, replayed, wrong
from tests.transcripts.runs import hermes, run


def compared(folder: Path, before: list[Transcript], now: list[Transcript]) -> Comparison:
    failed = [transcript.label for transcript in before if Score().add(transcript).failed]
    old = folder / "old.json"
    old.write_text(json.dumps({**replayed(*before).model_dump(mode="json"), "failed": failed}))
    baseline = Baseline(old)
    return baseline.finish(replayed(*now, into=baseline))


def test_nothing_changed(tmp_path: Path) -> None:
    runs = [good(id="a"), wrong(id="b"), cut(id="c")]
    assert compared(tmp_path, runs, runs) == Comparison()
    assert not Comparison().is_worse


def test_what_fails_now_is_worse_although_as_many_pass(tmp_path: Path) -> None:
    found = compared(tmp_path, [good(id="a"), wrong(id="b")], [wrong(id="a"), good(id="b")])
    assert (found.failing, found.passing) == (["a"], ["b"])
    assert (found.worse, found.better) == ([], [])
    assert found.is_worse


def test_a_label_that_several_have_is_counted(tmp_path: Path) -> None:
    found = compared(tmp_path, [wrong(id="a"), good(id="a")], [wrong(id="a"), wrong(id="a")])
    assert found.failing == ["a"]


def test_figures_by_family_dialect_and_error(tmp_path: Path) -> None:
    found = compared(tmp_path, [good(id="a"), cut(id="c")], [good(id="a"), good(id="c", model="llama-3.1-8b")])
    assert [change.figure for change in found.better] == [
        "calls with invalid_json after repairs",
        "calls with invalid_json as written",
        "dialect hermes: success",
        "llama: success",
    ]
    assert [(change.before, change.now) for change in found.better] == [(0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (0.0, 1.0)]
    assert (found.passing, found.is_worse) == (["c"], False)
    assert compared(tmp_path, [good(id="c", model="llama-3.1-8b")], [cut(id="c")]).is_worse


def test_more_retries_are_worse_without_a_failure(tmp_path: Path) -> None:
    def retried(*reasons: str) -> Transcript:
        return run(*({"text": hermes(), "attempt": {"reason": reason}} for reason in reasons), model="gpt-4o", id="a")

    found = compared(tmp_path, [retried("first", "turn")], [retried("first", "reask")])
    assert [(change.figure, change.now) for change in found.worse] == [("openai: retries per call", 1.0)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "old.json: cannot be read: No such file"),
        ("words", "old.json: is not what `llmcore replay --json` printed"),
        ('{"runs": 1}', r"old.json: is not what .* \(calls: Field required\); make it with `llmcore replay PATH"),
    ],
)
def test_a_file_that_is_no_earlier_replay_is_an_error(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "old.json").write_text(content)
    with pytest.raises(CallerError, match=words):
        Baseline(tmp_path / "old.json")
