"""`llmcore replay`: tables, JSON, exit codes, and input that is damaged or hostile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke
from tests.transcripts.runs import CALL, TOOLS, chat, hermes

GOOD: dict[str, Any] = {"id": "good", "model": "gpt-4o", "tools": TOOLS, "response": chat(), "calls": [CALL]}
WRONG: dict[str, Any] = {**GOOD, "id": "wrong", "calls": []}
CUT: dict[str, Any] = {"id": "cut", "model": "llama-3.1-8b", "tools": TOOLS, "text": hermes()[:40]}
LOCAL: dict[str, Any] = {**GOOD, "id": "local", "model": "claude-opus-4-6", "provenance": "local: a stand-in"}

Write = Callable[..., Path]


def table_row(output: str, first: str) -> list[str]:
    """The cells of the table row that begins so."""
    (line,) = [line for line in output.splitlines() if line.startswith(first + " ")]
    return [cell.strip() for cell in line.split("│")]


def test_the_tables(invoke: Invoke, lines: Write) -> None:
    result = invoke("replay", lines(GOOD, GOOD, LOCAL, CUT))
    assert result.exit_code == 0
    assert table_row(result.output, "openai") == ["openai", "2", "2", "100.0%", "0", "0", "-", "-", "met (99%)"]
    assert table_row(result.output, "claude")[-1] == "local recording"
    assert table_row(result.output, "llama") == ["llama", "1", "1", "0.0%", "1", "0", "-", "-", "missed: success < 85%"]
    assert table_row(result.output, "all")[:6] == ["all", "4", "4", "75.0%", "1", "0"]
    assert table_row(result.output, "native")[:3] == ["native", "3", "3"]
    assert table_row(result.output, "hermes") == ["hermes", "1", "0", "0", "0", "0", "1", "0", "1", "0.0%"]
    assert "units that need a re-ask: 1" in result.output


def test_retries_and_fallbacks(invoke: Invoke, lines: Write) -> None:
    run = {
        "model": "gpt-4o",
        "tools": TOOLS,
        "exchanges": [
            {"text": "{"},
            {"attempt": {"reason": "reask"}, "text": hermes()[:40]},
            {"attempt": {"reason": "mode"}, "text": hermes()},
        ],
    }
    row = table_row(invoke("replay", lines(run)).output, "openai")
    assert row[6:] == ["2.00", "100.0%", "missed: retries per call > 0.2, fallback > 5%"]


def test_an_expectation_that_is_not_met_is_shown_and_exits_1(invoke: Invoke, lines: Write) -> None:
    path = lines(GOOD, WRONG)
    result = invoke("replay", path)
    assert result.exit_code == 1
    assert "expectations not met: 1" in result.output
    assert f"{path}:2 (wrong)" in result.output
    assert 'calls: expected []\n           got      [{"name": "get_weather", "arguments": {"city": "Paris"}}]' in result.output


def test_findings_are_bounded(invoke: Invoke, lines: Write) -> None:
    result = invoke("replay", lines(*[WRONG] * 5), "--show", "2")
    assert "expectations not met: 5" in result.output
    assert result.output.count("(wrong)") == 2
    assert "and 3 more" in result.output
    assert "(wrong)" not in invoke("replay", lines(*[WRONG] * 5), "--show", "0").output


def test_the_table_of_dialects_can_be_left_out(invoke: Invoke, lines: Write) -> None:
    assert "dialect" not in invoke("replay", lines(GOOD), "--no-dialects").output
    assert "dialect" in invoke("replay", lines(GOOD), "--dialects").output


def test_json(invoke: Invoke, lines: Write) -> None:
    path = lines(GOOD, WRONG, "garbage")
    result = invoke("replay", path, "--json", "--on-error", "skip")
    figures = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (figures["runs"], figures["units"], figures["succeeded"], figures["wrong"]) == (2, 2, 1, 1)
    assert figures["families"][0]["family"] == "openai"
    assert figures["families"][0]["targets"] == [
        {"metric": "success", "value": 0.5, "target": 0.99, "at_least": True, "met": False}
    ]
    assert figures["dialects"][0]["dialect"] == "native"
    assert figures["unmet"][0] == {
        "id": "wrong",
        "path": str(path),
        "line": 2,
        "what": "calls",
        "expected": [],
        "got": [CALL],
    }
    assert figures["skipped_count"] == 1
    assert figures["skipped"][0]["line"] == 3


def test_errors_of_calls_as_written_and_after_repairs(invoke: Invoke, lines: Write) -> None:
    repaired = {**GOOD, "response": None, "text": hermes("{'city': 'Paris',}")}
    output = invoke("replay", lines(GOOD, repaired, CUT)).output
    assert table_row(output, "invalid json") == ["invalid json", "66.6%", "33.3%"]
    assert table_row(output, "unknown name") == ["unknown name", "0.0%", "0.0%"]


def test_a_page_and_junit_xml_are_written_beside_the_tables(invoke: Invoke, lines: Write, tmp_path: Path) -> None:
    page, cases = tmp_path / "report.html", tmp_path / "report.xml"
    result = invoke("replay", lines(GOOD, WRONG, "garbage"), "--html", page, "--junit", cases, "--on-error", "skip")
    assert result.exit_code == 1
    assert '"label": "wrong"' in page.read_text("utf-8")
    assert 'tests="3" failures="1" errors="1"' in cases.read_text("utf-8")
    assert table_row(result.output, "openai")[1] == "2"


def test_what_is_not_in_the_page_is_named(invoke: Invoke, lines: Write, tmp_path: Path) -> None:
    result = invoke("replay", lines(*[WRONG] * 502), "--html", tmp_path / "report.html", "--show", "0")
    words = f"2 failed transcripts that are not in {tmp_path / 'report.html'} are in {tmp_path / 'report.rest.jsonl'}\n"
    assert result.stderr.endswith(words)
    assert (tmp_path / "report.rest.jsonl").read_text("utf-8").count("\n") == 2


def test_a_report_that_would_overwrite_its_input_exits_2_and_changes_nothing(invoke: Invoke, lines: Write) -> None:
    path = lines(GOOD)
    before = path.read_bytes()
    for option in ("--html", "--junit"):
        result = invoke("replay", path, option, path)
        assert (result.exit_code, path.read_bytes()) == (2, before)
        assert f"{path}: is read by this replay and would be overwritten; name another file" in result.stderr


def test_with_a_baseline_only_what_became_worse_exits_1(invoke: Invoke, lines: Write, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(invoke("replay", lines(GOOD, WRONG, CUT), "--json").stdout, "utf-8")
    assert json.loads(old.read_text("utf-8"))["failed"] == ["wrong", "cut"]
    same = invoke("replay", lines(GOOD, WRONG, CUT), "--baseline", old)
    assert (same.exit_code, "compared with the baseline: nothing changed" in same.output) == (0, True)
    better = invoke("replay", lines(GOOD, {**WRONG, "calls": [CALL]}, CUT), "--baseline", old)
    assert (better.exit_code, "transcripts that do not fail any more: 1\n  wrong\n" in better.output) == (0, True)
    assert "better than the baseline\n  dialect native: success: 0.5000 -> 1.0000\n" in better.output
    worse = invoke("replay", lines({**GOOD, "calls": []}, WRONG, CUT), "--baseline", old, "--json")
    comparison = json.loads(worse.stdout)["comparison"]
    assert (worse.exit_code, comparison["failing"]) == (1, ["good"])
    assert comparison["worse"][0] == {"figure": "dialect native: success", "before": 0.5, "now": 0.0}


def test_a_baseline_that_is_none_exits_2(invoke: Invoke, lines: Write) -> None:
    result = invoke("replay", lines(GOOD), "--baseline", lines(GOOD, name="old.jsonl"))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "is not what `llmcore replay --json` printed" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("runs.jsonl", '{"text": ""}\n{"text": \n', "runs.jsonl:2: not JSON: "),
        ("runs.jsonl", '{"text": ""}\n[]\n', "runs.jsonl:2: expected a JSON object, got a list"),
        ("runs.jsonl", '{"text": "x", "tools": [3]}\n', "runs.jsonl:1: exchanges[0]: not a tool: int"),
        ("cassette.yaml", "interactions:\n- request: {uri: x\n  response: ]", "cassette.yaml:3: malformed YAML: "),
        ("cassette.yaml", "a: 1", "cassette.yaml: not a VCR cassette"),
        ("runs.jsonl", '{"text": "", "sse": ""}\n', "runs.jsonl:1: exchanges[0]: holds several replies: sse, text; keep one"),
        ("runs.jsonl", '{"text": ""}\n{"text": "a", "text": "b"}\n', "runs.jsonl:2: 'text' is given twice in one object"),
        ("run.json", '{"text": "a", "calls": [{"name": "f", "name": "g"}]}', "run.json: 'name' is given twice in one object"),
        (
            "cassette.yaml",
            "interactions: []\na: 1\ninteractions: []\n",
            "cassette.yaml:3: malformed YAML: 'interactions' is given twice",
        ),
        ("runs.jsonl", "", "the files contain no runs"),
    ],
)
def test_input_that_cannot_be_read_exits_2_with_its_place(
    invoke: Invoke, tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    result = invoke("replay", tmp_path / name)
    assert result.exit_code == 2
    assert result.stderr.startswith("llmcore: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_bad_file_costs_only_itself_and_exits_2(invoke: Invoke, lines: Write, tmp_path: Path) -> None:
    first, last = lines(GOOD, "garbage", GOOD, name="a.jsonl"), lines(GOOD, name="z.jsonl")
    (tmp_path / "b.yaml").write_text("a: &a [*a]\ninteractions: []", "utf-8")
    result = invoke("replay", tmp_path)
    assert result.exit_code == 2
    assert table_row(result.stdout, "openai")[:3] == ["openai", "3", "3"]
    assert [line.partition(": not JSON")[0].partition(": malformed")[0] for line in result.stderr.splitlines()] == [
        f"llmcore: error: {first}:2",
        f"llmcore: error: {tmp_path / 'b.yaml'}:1",
    ]
    as_json = invoke("replay", tmp_path, "--json")
    assert (as_json.exit_code, json.loads(as_json.stdout)["skipped_count"]) == (2, 2)
    assert invoke("replay", last, "--json").exit_code == 0


def test_errors_are_bounded(invoke: Invoke, lines: Write) -> None:
    result = invoke("replay", lines(GOOD, *["garbage"] * 30))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 11)
    assert result.stderr.endswith("and 20 more\n")


def test_skipped_lines_are_counted_and_shown(invoke: Invoke, lines: Write) -> None:
    path = lines(GOOD, "garbage", {**GOOD, "tools": [3]})
    result = invoke("replay", path, "--on-error", "skip")
    assert result.exit_code == 0
    assert "not read, skipped: 2" in result.output
    assert f"  {path}:2: not JSON" in result.output
    assert f"  {path}:3: exchanges[0]: not a tool" in result.output


def test_nothing_but_skipped_lines_exits_2(invoke: Invoke, lines: Write) -> None:
    result = invoke("replay", lines("garbage"), "--on-error", "skip")
    assert result.exit_code == 2
    assert "every run was skipped" in result.stderr


def test_a_wrong_path_exits_2(invoke: Invoke, lines: Write, tmp_path: Path) -> None:
    result = invoke("replay", lines(GOOD), tmp_path / "nowhere", "--on-error", "skip")
    assert result.exit_code == 2
    assert result.stderr == f"llmcore: error: {tmp_path / 'nowhere'}: no such file or folder\n"


GARBAGE: list[dict[str, Any]] = [
    {"response": None},
    {"response": []},
    {"response": {}},
    {"response": "\x00\ufffd garbage"},
    {"response": "garbage", "stream": True},
    {"text": "{" * 20_000},
    {"text": "<tool_call>" * 5_000},
]
FIVE_MEGABYTES: list[dict[str, Any]] = [
    {"text": "{" * 5_000_000},
    {"response": "{" * 5_000_000, "stream": True},
    {"response": {"choices": [{"message": {"content": "{" * 5_000_000}}]}},
    {"sse": "data: {\n" * 600_000},
]


@pytest.mark.parametrize(
    "reply",
    [*GARBAGE, *(pytest.param(reply, marks=pytest.mark.sweep) for reply in FIVE_MEGABYTES)],
    ids=lambda reply: str(reply)[:40],
)
def test_garbage_is_a_reply_without_a_call_and_ends_quickly(invoke: Invoke, lines: Write, reply: dict[str, Any]) -> None:
    path = lines({"tools": TOOLS, "calls": [], **reply})
    start = time.process_time()
    result = invoke("replay", path, "--json")
    assert time.process_time() - start < 30
    figures = json.loads(result.stdout)
    assert (figures["runs"], figures["unmet_expectations"], figures["dialects"]) == (1, 0, [])


def test_what_recordings_hold_cannot_steer_the_terminal(invoke: Invoke, lines: Write) -> None:
    hostile = {
        **WRONG,
        "id": "\x1b[31mred\n[bold]x[/]",
        "model": "\x1b]0;title\x07",
        "response": chat({"city": "\x1b[2J\u202e"}),
    }
    output = invoke("replay", lines(hostile)).output
    assert "\x1b" not in output
    assert "\u202e" not in output
    assert "\\x1b[31mred\\n[bold]x[/]" in output


def test_lone_surrogates_are_shown(script: Any, lines: Write) -> None:
    path = lines({**WRONG, "id": "lone \ud83d", "response": chat('{"city": "\\ud83d"}')})
    for options in ((), ("--json",)):
        done = script("replay", path, *options)
        assert done.returncode == 1, done.stderr
        assert b"Traceback" not in done.stderr


def test_exit_codes_of_the_console_script(script: Any, lines: Write) -> None:
    assert script("replay", lines(GOOD)).returncode == 0
    assert script("replay", lines(WRONG)).returncode == 1
    assert script("replay", lines("garbage")).returncode == 2


def test_a_progress_bar_is_for_terminals_only(script: Any, lines: Write) -> None:
    done = script("replay", lines({**GOOD, "note": "x" * 3_000_000}))
    assert done.stderr == b""
