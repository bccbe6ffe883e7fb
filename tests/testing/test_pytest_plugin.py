"""The pytest plugin: each test writes a small project, and runs pytest on it as a user does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os
import pytest
from llmcore import FakeModel, Orchestrator

SKY = os.environ.get("SKY", "sunny")

def get_weather(city: str) -> str:
    "The weather in a city."
    return f"{SKY} in {city}"

def ask(question):
    live = FakeModel().tool_call("get_weather", {"city": "Oslo"}).text("Fine.")
    return Orchestrator(live if os.environ.get("LIVE") else FakeModel(), [get_weather]).run_sync(question)
"""
TEST = """
@pytest.mark.llmcore_cassette
def test_weather():
    assert ask("Weather in Oslo?").content == "Fine."
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project whose pytest has only this plugin."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p llmcore.testing.pytest_plugin\n")
    return pytester


def record(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record with a model that answers. Outside of this function, it does not."""
    with monkeypatch.context() as patched:
        patched.setenv("LIVE", "1")
        project.runpytest_subprocess("--llmcore-record").assert_outcomes(passed=1)


def test_a_test_records_once_and_replays_offline(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(project.makepyfile(test_sky=PROGRAM + TEST))
    record(project, monkeypatch)
    assert len((path.parent / "cassettes" / "test_sky" / "test_weather.jsonl").read_text("utf-8").splitlines()) == 1
    for _ in range(2):
        project.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_missing_cassette_names_the_command(project: pytest.Pytester) -> None:
    project.makepyfile(test_sky=PROGRAM + TEST)
    result = project.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*there is no cassette *pytest --llmcore-record 'test_sky.py::test_weather'*"])


def test_a_request_that_differs_shows_the_step_and_the_call(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makepyfile(test_sky=PROGRAM + TEST)
    record(project, monkeypatch)
    monkeypatch.setenv("SKY", "rainy")
    result = project.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*llmcore trajectory*", "*step 1: get_weather({'city': 'Oslo'})*", "*! step 2: 'Fine.'*", "*differs:*sunny*rainy*"]
    )


def test_a_request_too_many_and_an_unused_recording_fail(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makepyfile(test_sky=PROGRAM + TEST)
    record(project, monkeypatch)
    project.makepyfile(test_sky=PROGRAM + TEST + "    ask('Weather in Oslo?')\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the recording holds 1 run, and this is one more*"])
    project.makepyfile(test_sky=PROGRAM + "@pytest.mark.llmcore_cassette\ndef test_weather():\n    pass\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the test made fewer requests than*", "*test_weather-1: not used*"])


def test_a_cassette_holds_all_runs_of_a_test(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = PROGRAM + TEST + "    assert ask('And in Rome?').content == 'Fine.'\n"
    project.makepyfile(test_sky=twice)
    record(project, monkeypatch)
    project.runpytest_subprocess().assert_outcomes(passed=1)
    project.makepyfile(test_sky=PROGRAM + TEST)
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the test made fewer requests than*", "*test_weather-2: not used*"])


def test_a_test_that_fails_keeps_its_old_cassette(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(project.makepyfile(test_sky=PROGRAM + TEST))
    record(project, monkeypatch)
    folder = path.parent / "cassettes" / "test_sky"
    before = (folder / "test_weather.jsonl").read_text("utf-8")
    project.runpytest_subprocess("--llmcore-record").assert_outcomes(failed=1)  # the model does not answer
    assert {each.name: each.read_text("utf-8") for each in folder.iterdir()} == {"test_weather.jsonl": before}


def test_a_vcr_cassette_is_replayed(project: pytest.Pytester) -> None:
    reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}]}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    asked = {"model": "fake", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    request: dict[str, Any] = {"method": "POST", "uri": "http://x/v1/chat/completions", "body": json.dumps(asked), "headers": {}}
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": json.dumps(reply)}}
    test = '@pytest.mark.llmcore_cassette("one.yaml")\ndef test_hi():\n    assert ask("Hi").content == "Fine."\n'
    path = Path(project.makepyfile(test_sky=PROGRAM + test))
    (path.parent / "one.yaml").write_text(json.dumps({"interactions": [{"request": request, "response": response}]}), "utf-8")
    project.runpytest_subprocess("--llmcore-record").assert_outcomes(passed=1)


def test_a_snapshot_of_an_envelope_shows_what_changed(project: pytest.Pytester) -> None:
    text = "import llmcore\ndef test_reply(llmcore_snapshot):\n    llmcore_snapshot(llmcore.normalize({!r}))\n"
    project.makepyfile(test_sky=text.format("Hello."))
    project.runpytest_subprocess().assert_outcomes(failed=1)
    project.runpytest_subprocess("--llmcore-record").assert_outcomes(passed=1)
    project.runpytest_subprocess().assert_outcomes(passed=1)
    project.makepyfile(test_sky=text.format("Goodbye."))
    result = project.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the snapshot differs:*", '-*"Hello."*', '+*"Goodbye."*'])


def test_tests_without_the_marker_are_left_alone(project: pytest.Pytester) -> None:
    project.makepyfile(test_sky="def test_one():\n    pass\n")
    project.runpytest_subprocess("--llmcore-record").assert_outcomes(passed=1)
    project.runpytest_subprocess("--markers").stdout.fnmatch_lines(["*llmcore_cassette(path=None)*"])
