"""`llmcore normalize --openai`: a filter for chat logs in JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke
from tests.transcripts.runs import CALL, TOOLS, hermes

LEAKED = {"messages": [{"role": "assistant", "content": hermes()}], "tools": TOOLS}
PLAIN = '{"messages":   [{"role": "assistant", "content": "Hello."}]}'


def calls_in(line: str) -> list[dict[str, Any]]:
    functions = [call["function"] for call in json.loads(line)["messages"][0]["tool_calls"]]
    return [{"name": each["name"], "arguments": json.loads(each["arguments"])} for each in functions]


def test_calls_become_native_and_other_lines_stay_as_they_came(invoke: Invoke) -> None:
    result = invoke("normalize", "--openai", stdin=f"{json.dumps(LEAKED)}\n\n{PLAIN}\n")
    first, empty, last = result.stdout.splitlines()
    assert result.exit_code == 0
    assert calls_in(first) == [CALL]
    assert (empty, last) == ("", PLAIN)
    assert "lines: 2; replies: 2, 1 changed" in result.stderr
    assert "new calls: 1 (hermes 1)" in result.stderr


def test_tools_of_the_command_are_for_lines_without_any(invoke: Invoke, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS), "utf-8")
    bare = json.dumps({"messages": LEAKED["messages"]})
    result = invoke("normalize", "--openai", "--tools", tools, stdin=bare)
    assert calls_in(result.stdout) == [CALL]


def test_the_report_says_what_was_repaired_and_withheld(invoke: Invoke, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    damaged = {**LEAKED, "messages": [{"role": "assistant", "content": hermes().replace("}}", ",}}")}]}
    unknown = {**LEAKED, "messages": [{"role": "assistant", "content": hermes().replace("get_weather", "get_lottery")}]}
    rows = "\n".join(json.dumps(row) for row in (damaged, unknown, json.loads(PLAIN)))
    result = invoke("normalize", "--openai", "--report", report, stdin=rows)
    first, second = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert (first["line"], first["place"]) == (1, "messages[0]")
    assert [repair["kind"] for repair in first["calls"][0]["repairs"]] == ["trailing_comma"]
    assert (second["line"], second["withheld"][0]["reason"]) == (2, "unknown_tool")
    assert "repairs: 1 (trailing_comma 1)" in result.stderr
    assert "withheld: 1 (unknown_tool 1)" in result.stderr


@pytest.mark.parametrize("line", ["no json", '{"messages": [], "tools": [3]}', "[" * 100_000], ids=["text", "tools", "deep"])
def test_an_unreadable_line_passes_and_gives_exit_code_1(invoke: Invoke, line: str) -> None:
    result = invoke("normalize", "--openai", stdin=f"{line}\n{json.dumps(LEAKED)}\n")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == line
    assert calls_in(result.stdout.splitlines()[1]) == [CALL]
    assert "line 1: " in result.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--openai", "--stream"], "--stream and --openai"),
        (["--openai", "--forced-tool", "x"], "--forced-tool is for a single reply"),
        (["--report", "x"], "--report needs --openai"),
        (["--openai", "--report", "/nowhere/x"], "No such file"),
    ],
)
def test_options_that_do_not_fit_are_errors(invoke: Invoke, options: list[str], told: str) -> None:
    result = invoke("normalize", *options, stdin="{}")
    assert result.exit_code == 2
    assert told in result.stderr


def test_numbers_of_a_changed_line_stay_numbers(invoke: Invoke) -> None:
    line = json.dumps({**LEAKED, "scores": [0, 1]}).replace("[0, 1]", "[NaN, -Infinity, 1e400, 0.1, 12345678901234567890]")
    result = invoke("normalize", "--openai", stdin=line)
    assert calls_in(result.stdout) == [CALL]
    assert '"scores": [NaN, -Infinity, Infinity, 0.1, 12345678901234567890]' in result.stdout
