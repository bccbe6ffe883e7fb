"""The three errors of calls: as the model wrote them, and after the repairs."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.transcripts import Score
from tests.transcripts.runs import chat, hermes, run

NONE: set[str] = set()
NATIVE_TEXT = '{"city": "Paris", "days": "2"}'


@pytest.mark.parametrize(
    ("reply", "raw", "repaired"),
    [
        pytest.param({"text": hermes()}, NONE, NONE, id="as it should be"),
        pytest.param({"text": hermes("{'city': 'Paris',}")}, {"invalid_json"}, NONE, id="repaired text"),
        pytest.param({"text": hermes()[:60]}, {"invalid_json"}, {"invalid_json"}, id="cut"),
        pytest.param({"response": chat("nonsense")}, {"invalid_json"}, {"invalid_json"}, id="unreadable"),
        pytest.param({"text": hermes(name="get-weather")}, {"unknown_name"}, NONE, id="a spelling of a name"),
        pytest.param({"text": hermes(name="fly")}, {"unknown_name"}, {"unknown_name"}, id="an unknown name"),
        pytest.param({"response": chat(NATIVE_TEXT)}, {"schema_mismatch"}, NONE, id="a coerced value"),
        pytest.param({"text": hermes({"days": 1})}, {"schema_mismatch"}, {"schema_mismatch"}, id="a missing argument"),
        pytest.param(
            {"text": hermes("{'days': 1}")}, {"invalid_json", "schema_mismatch"}, {"schema_mismatch"}, id="two errors, one left"
        ),
        pytest.param({"text": f"For example: {hermes()}"}, NONE, NONE, id="a doubtful place is no error of the call"),
    ],
)
def test_errors_as_written_and_after_repairs(reply: dict[str, Any], raw: set[str], repaired: set[str]) -> None:
    score = Score()
    score.add(run(reply, model="gpt-4o"))
    report = score.report()
    assert {error for error, count in report.errors.items() if count.raw} == raw
    assert {error for error, count in report.errors.items() if count.repaired} == repaired
    assert report.families[0].errors == report.models[0].errors == report.errors
