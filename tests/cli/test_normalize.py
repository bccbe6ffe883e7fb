"""`llmcore normalize`: every form of input, the three kinds of output, and the caller's mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llmcore import Envelope, ToolCallFinished, event_json
from llmcore.transcripts.formats import decoding
from llmcore.types import limits
from tests.cli.conftest import ROOT, Invoke
from tests.transcripts.runs import CALL, TOOLS, chat, hermes, sse

HERMES = f"Let me look.\n{hermes()}"
STREAM = sse({"content": HERMES[:30]}, {"content": HERMES[30:]})


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), "utf-8")
    return path


def canonical(output: str) -> list[dict[str, Any]]:
    return [{"name": call["name"], "arguments": call["arguments"]} for call in json.loads(output)["tool_calls"]]


@pytest.mark.parametrize(
    "stdin",
    [
        HERMES,
        json.dumps(chat()),
        json.dumps(chat(), indent=2),
        json.dumps(chat(content=HERMES)),
        json.dumps([chat()]),
        STREAM,
        "\n\n" + STREAM,
        "\n".join(line.removeprefix("data: ") for line in STREAM.splitlines() if "{" in line),
        '{"name": "get_weather", "arguments": {"city": "Paris"}}',
        '[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
        '{"name": "get_weather",\n "arguments": {"city": "Paris"}}',
        'data = get_weather(city="Paris")'.removeprefix("data = "),
    ],
    ids=lambda text: text[:24],
)
def test_every_form_of_reply(invoke: Invoke, tools: Path, stdin: str) -> None:
    result = invoke("normalize", "--tools", tools, stdin=stdin)
    assert result.exit_code == 0
    assert canonical(result.stdout) == [CALL]
    assert canonical(invoke("normalize", "-", "--tools", tools, stdin=stdin).stdout) == [CALL]


def test_a_file(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "reply.txt").write_text(HERMES, "utf-8")
    envelope = json.loads(invoke("normalize", tmp_path / "reply.txt").stdout)
    assert (envelope["content"].strip(), envelope["needs_more_work"], envelope["near_misses"]) == (
        "Let me look.",
        True,
        [],
    )


def test_the_form_can_be_given(invoke: Invoke) -> None:
    body = json.dumps(chat())
    assert json.loads(invoke("normalize", "--as", "text", stdin=body).stdout)["content"] == body
    assert canonical(invoke("normalize", "--as", "json", stdin=body).stdout) == [CALL]
    assert canonical(invoke("normalize", "--as", "events", stdin=STREAM).stdout) == [CALL]


def test_options_say_how_the_reply_is_read(invoke: Invoke) -> None:
    assert canonical(invoke("normalize", "--dialect", "react", stdin=HERMES).stdout) == []
    assert canonical(invoke("normalize", "--text-calls", "off", stdin=HERMES).stdout) == []
    assert canonical(invoke("normalize", "--reasoning-open", stdin=f"{HERMES}</think>Hello").stdout) == []
    forced = invoke("normalize", "--forced-tool", "get_weather", stdin='{"city": "Paris"}')
    assert canonical(forced.stdout) == [CALL]
    cut = json.loads(invoke("normalize", "--finish-reason", "length", stdin="Hello").stdout)
    assert cut["finish_reason"] == "length"


@pytest.mark.parametrize("stdin", ["", " ", "{", "Hi", "data", "null", "[3]", "3", '{"a": 1}'])
def test_a_reply_without_a_call_is_content(invoke: Invoke, stdin: str) -> None:
    result = invoke("normalize", stdin=stdin)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["content"].strip() == stdin.strip()


HOSTILE = ("{", "[", '{"a":\n', "data: {\n\n")


@pytest.mark.parametrize(
    "stdin",
    [
        *(piece * (20_000 // len(piece)) for piece in HOSTILE),
        *(pytest.param(piece * (5_000_000 // len(piece)), marks=pytest.mark.sweep) for piece in HOSTILE),
    ],
    ids=lambda text: f"{text[:4]!r} {len(text)}",
)
def test_hostile_input_ends_quickly(invoke: Invoke, stdin: str) -> None:
    start = time.process_time()
    result = invoke("normalize", stdin=stdin)
    assert time.process_time() - start < 30
    envelope = json.loads(result.stdout)
    assert envelope["tool_calls"] == []
    if not stdin.startswith("data"):
        assert envelope["content"] == stdin


def test_the_envelope_is_printed_in_snake_case_and_the_events_as_runs_tell_them(invoke: Invoke, tools: Path) -> None:
    envelope = json.loads(invoke("normalize", "--json", "--tools", tools, stdin=HERMES).stdout)
    assert {"tool_calls", "needs_more_work"} <= envelope.keys()
    assert envelope == json.loads(invoke("normalize", "--tools", tools, stdin=HERMES).stdout)
    finished = Envelope.model_validate(envelope).tool_calls[0]
    lines = [json.loads(line) for line in invoke("normalize", "--stream", "--tools", tools, stdin=HERMES).stdout.splitlines()]
    assert event_json(ToolCallFinished(0, finished)) in lines
    assert all(key == key.lower() for line in lines for key in line)


@pytest.mark.parametrize("given", [["--json", "--stream"], ["--json", "--explain"], ["--stream", "--explain"]])
def test_only_one_form_of_output_can_be_chosen(invoke: Invoke, given: list[str]) -> None:
    result = invoke("normalize", *given, stdin=HERMES)
    assert (result.exit_code, result.stderr) == (2, f"llmcore: error: {' and '.join(given)} cannot be used together\n")


# --- streaming --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stdin", [HERMES, STREAM], ids=["text", "events"])
def test_stream_prints_events_and_the_envelope(invoke: Invoke, tools: Path, stdin: str) -> None:
    output = invoke("normalize", "--stream", "--tools", tools, stdin=stdin).stdout
    events = [json.loads(line) for line in output.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "text_delta"
    assert kinds[-1] == "envelope"
    assert kinds.count("tool_call_started") == kinds.count("tool_call_finished") == 1
    assert json.loads("".join(event["json"] for event in events if event["type"] == "arguments_delta")) == CALL["arguments"]
    whole = json.loads(invoke("normalize", "--tools", tools, stdin=stdin).stdout)
    assert {key: value for key, value in events[-1].items() if key != "type"} == whole


def test_events_are_printed_while_input_comes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from llmcore.cli import main; main()", "normalize", "--stream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("Let me look: caf\u00e9 ".encode())
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        assert first["type"] == "text_delta"
        process.stdin.write(hermes().encode())
        process.stdin.close()
        assert json.loads(process.stdout.read().splitlines()[-1])["tool_calls"][0]["name"] == "get_weather"
    assert process.returncode == 0


# --- explaining -------------------------------------------------------------------------------------------------------


def test_explain_says_what_became_of_each_call(invoke: Invoke, tools: Path) -> None:
    text = f"{hermes('''{'city': 'Paris', 'days': '3'}''')}\n{hermes({'days': 1})}\n{hermes()[:40]}"
    output = invoke("normalize", "--explain", "--tools", tools, stdin=text).stdout
    assert "call 0: get_weather" in output
    assert "dialect     hermes, characters 0-" in output
    assert "(lossless)" in output
    assert 'at days: "3" -> 3' in output
    assert 'runs as     get_weather {"city": "Paris", "days": 3}' in output
    assert "validation of call 1: may not run" in output
    assert "`city`" in output
    assert "complete    no: the input ended inside" in output
    assert "truncated: the reply ended inside a call" in output


def test_explain_shows_near_misses_with_reason_and_excerpt(invoke: Invoke, tools: Path) -> None:
    call = json.dumps(CALL)
    output = invoke("normalize", "--explain", "--tools", tools, stdin=f"I could call: {call} now.").stdout
    assert output.startswith("no call\nnear miss: get_weather: mid_line, characters 14-")
    assert f"excerpt     {call}" in output
    assert "words       I could call:" in output


def test_explain_without_tools_says_so(invoke: Invoke) -> None:
    assert "unknown: no tools were given" in invoke("normalize", "--explain", stdin=HERMES).stdout


# --- the caller's mistakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "nowhere.txt: No such file or directory"),
        (["--tools", "mytools"], "mytools: there is no such file; give a JSON file of tools, or MODULE:OBJECT (`mytools:tools`)"),
        (["--tools", "nowhere.json"], "nowhere.json: there is no such file; give a JSON file of tools, or MODULE:OBJECT"),
        (["--tools", "no_such_module:tools"], "cannot import 'no_such_module'"),
        (["--tools", "json:no_such_name"], "module 'json' has no 'no_such_name'"),
        (["--dialect", "klingon"], "klingon"),
        (["--tools", "{tools}", "--forced-tool", "nope"], "--forced-tool 'nope' is not a tool; there are: get_weather"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(invoke: Invoke, tools: Path, arguments: list[str], message: str) -> None:
    result = invoke("normalize", *(argument.replace("{tools}", str(tools)) for argument in arguments), stdin="Hello")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.startswith("llmcore: error: ")
    assert result.stderr.count("\n") == 1


def test_input_that_is_not_utf8_is_reported(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("normalize", stdin=b"caf\xe9")
    assert (result.exit_code, result.stderr) == (2, "llmcore: error: standard input: not UTF-8 near byte 3\n")
    (tmp_path / "reply.txt").write_bytes(b"caf\xe9 ")
    assert "reply.txt: not UTF-8 near byte 3" in invoke("normalize", tmp_path / "reply.txt").stderr


def test_characters_cut_between_reads_are_whole(script: Any) -> None:
    text = "é" * 100_000 + "x"
    done = script("normalize", stdin=text.encode())
    assert json.loads(done.stdout)["content"] == text


def test_exit_codes_of_the_console_script(script: Any) -> None:
    assert script("normalize", stdin=b"Hello").returncode == 0
    assert script("normalize", stdin=b"\xff").returncode == 2


@pytest.mark.parametrize("reply", ["x" * 3000, "data: {}\n\n" * 300, "[" + "{}," * 1000 + "{}]", '{"a": 1}\n' * 300])
def test_a_reply_of_any_form_is_bounded(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    monkeypatch.setattr(limits, "RECORDING_LIMITS", replace(limits.RECORDING_LIMITS, size=1000))
    result = invoke("normalize", "-", stdin=reply)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "llmcore: error: standard input: a reply of more than 1000 bytes\n"


def test_a_reply_of_too_many_values_is_reported(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", replace(limits.RECORDING_LIMITS, values=100))
    result = invoke("normalize", "-", stdin='{"a": [' + "{}," * 1000 + "{}]}")
    assert result.exit_code == 2
    assert result.stderr == "llmcore: error: standard input: more than 100 values in one JSON text\n"
