"""Replayed runs for the tests of the reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from llmcore.transcripts import Outcome, Score, ScoreReport, Transcript
from tests.transcripts.runs import CALL, hermes, run

__all__ = ["HOSTILE", "KEY", "cut", "good", "replayed", "wrong"]

KEY = "sk-proj-" + "A1b2C3d4E5f6G7h8I9j0" * 2
HOSTILE = "</script><script>alert(1)</script>\u202e\x00\ud800 <!--"


class Receiver(Protocol):
    """A report that takes the runs of a replay."""

    def add(self, outcome: Outcome) -> None: ...


def good(*exchanges: dict[str, Any], **fields: Any) -> Transcript:
    """A run with one call, if no exchanges are given, that is as expected."""
    return run(*(exchanges or [{"text": hermes()}]), **{"model": "gpt-4o", "expect": {"calls": [CALL]}, **fields})


def wrong(*exchanges: dict[str, Any], **fields: Any) -> Transcript:
    """A valid call that is not as expected."""
    return good(*exchanges, **{"expect": {"calls": []}, **fields})


def cut(**fields: Any) -> Transcript:
    """A reply that ends inside its call."""
    return run({"text": hermes()[:60]}, **{"model": "llama-3.1-8b", **fields})


def replayed(*runs: Transcript, into: Receiver | None = None, path: str = "runs.jsonl") -> ScoreReport:
    """The figures of the runs, each of which the receiver was given."""
    score = Score()
    for line, transcript in enumerate(runs, 1):
        outcome = score.add(transcript.placed(Path(path), line, flat=False))
        if into is not None:
            into.add(outcome)
    return score.report()
