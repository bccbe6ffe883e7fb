"""A transcript of every version of the format is read. `versions/` has one that the first llmcore of that version wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmcore.support.values.format_versions import FormatVersions
from llmcore.transcripts import Score, Transcript, model, read_transcripts
from llmcore.transcripts.model import TRANSCRIPT_VERSIONS

FOLDER = Path(__file__).with_name("versions")


@pytest.mark.parametrize("version", range(1, TRANSCRIPT_VERSIONS.current + 1))
def test_a_transcript_of_every_version_is_read_and_judged(version: int) -> None:
    (run,) = read_transcripts(FOLDER / f"{version}.jsonl")
    assert (run.provider, run.model, run.level) == ("openai", "gpt-4o", "litellm")
    assert [exchange.attempt.reason for exchange in run.exchanges] == ["first", "turn"]
    outcome = Score().add(run)
    assert [unit.succeeded for unit in outcome.units] == [True]
    assert [call.name for call in outcome.units[0].last.calls] == ["get_weather"]


def test_an_older_transcript_is_upgraded_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "provider": data["vendor"]}

    monkeypatch.setattr(model, "TRANSCRIPT_VERSIONS", FormatVersions("transcripts", (renamed,)))
    old = {"version": 1, "vendor": "groq", "exchanges": [{"text": "a"}]}
    assert Transcript.model_validate(old).provider == "groq"
    assert Transcript.model_validate({**old, "version": 2}).provider == ""
