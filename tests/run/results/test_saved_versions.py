"""A saved run of every version of the format is read. `saved/` has one that the first llmcore of that version wrote (`1.json`), and
one whose call waits (`1_waiting.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmcore import Approve, FakeModel, Orchestrator, RunResult, tool
from llmcore.run.results import openai_history
from llmcore.run.results.openai_history import SAVED_RESULTS
from llmcore.support.values.format_versions import FormatVersions
from llmcore.validator import ValidationReport

FOLDER = Path(__file__).with_name("saved")
VERSIONS = range(1, SAVED_RESULTS.current + 1)


def test_the_version_that_is_written_is_the_current_one() -> None:
    assert RunResult().version == SAVED_RESULTS.current


@pytest.mark.parametrize("version", VERSIONS)
def test_a_saved_run_of_every_version_is_read(version: int) -> None:
    saved = RunResult[Any].model_validate_json((FOLDER / f"{version}.json").read_bytes())
    assert (saved.version, saved.value) == (SAVED_RESULTS.current, {"name": "Oslo", "days": 2})
    assert [record.content for record in saved.tool_results] == ["sunny in Oslo", "ValueError: no such city"]
    assert [attempt.reason for attempt in saved.attempts] == ["first", "turn", "turn", "reask"]
    assert isinstance(saved.attempts[0].report, ValidationReport)
    assert [message.role for message in saved.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


@pytest.mark.anyio
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_run_of_every_version_resumes(version: int) -> None:
    sent: list[str] = []

    @tool(requires_approval=True)
    def send(to: str) -> str:
        """Send a letter."""
        sent.append(to)
        return f"sent to {to}"

    saved = RunResult[Any].model_validate_json((FOLDER / f"{version}_waiting.json").read_bytes())
    (call,) = saved.approvals
    result = await Orchestrator(FakeModel("Done."), [send]).run(saved, answers={call.id: Approve()})
    assert (result.content, sent) == ("Done.", ["Ann"])


@pytest.fixture
def _next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version 2, in which `name` is called `id`."""

    def renamed(data: dict[str, Any]) -> dict[str, Any]:
        return {**{key: value for key, value in data.items() if key != "name"}, "id": data["name"]}

    monkeypatch.setattr(openai_history, "SAVED_RESULTS", FormatVersions("saved results", (renamed,)))


@pytest.mark.usefixtures("_next_version")
def test_an_older_result_is_upgraded_before_pydantic_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def keep(_: object, given: object, __: object) -> None:
        read.append(given)

    monkeypatch.setattr(RunResult, "_read", keep)
    old: dict[str, Any] = {"version": 1, "name": "outer", "messages": []}
    RunResult.model_validate(old)
    RunResult.model_validate_json(json.dumps(old))
    RunResult.model_validate_json('{"version": 2, "id": "new", "messages": []}')
    upgraded: dict[str, Any] = {"version": 2, "id": "outer", "messages": []}
    assert [read[0], json.loads(read[1])] == [upgraded, upgraded]
    assert read[2] == '{"version": 2, "id": "new", "messages": []}'


@pytest.mark.usefixtures("_next_version")
def test_nested_runs_are_upgraded_too() -> None:
    inner: dict[str, Any] = {"version": 1, "name": "inner", "messages": []}
    upgraded = openai_history.checked_saved({**inner, "name": "outer", "runs": [inner]}, RunResult.model_fields)
    assert (upgraded["id"], upgraded["runs"]) == ("outer", [{"version": 2, "id": "inner", "messages": []}])
