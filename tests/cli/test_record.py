"""`llmcore record`: against a server on loopback, then replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmcore.transcripts import Transcript, read_transcripts
from tests.cli.conftest import Invoke
from tests.helpers.wire_server import Failure, Raw, Script, WireServer
from tests.helpers.wires import Turn

MODEL = "openai_compatible/some-model"
CALLS = [("get_weather", {"city": "Paris"})]
TOOL_MODULE = '''
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"
'''


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A module with one tool, as `MODULE:OBJECT`."""
    name = f"recorded_tools_{request.node.name.partition('[')[0]}"
    (tmp_path / f"{name}.py").write_text(TOOL_MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return f"{name}:get_weather"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key-0123456789")
    monkeypatch.delenv("LLMCORE_MODELS", raising=False)


def recorded(invoke: Invoke, script: Script, path: Path, *arguments: str) -> tuple[Any, list[Transcript]]:
    with WireServer(script) as server:
        base_url = server.base_url("openai_compatible")
        result = invoke("record", MODEL, *arguments, "--base-url", base_url, "-o", path)
    return result, list(read_transcripts(path))


@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_a_tool_loop_is_recorded_and_replays(invoke: Invoke, tmp_path: Path, tools: str, options: tuple[str, ...]) -> None:
    path = tmp_path / "runs.jsonl"
    script = [Turn(calls=CALLS), Turn("It is sunny.")]
    result, (run,) = recorded(invoke, script, path, "Weather in Paris?", "--tools", tools, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "recorded: Weather in Paris? (2 exchanges)" in result.stderr
    assert [exchange.attempt.reason for exchange in run.exchanges] == ["first", "turn"]
    assert (run.id, run.provider, run.model, run.level) == (
        "runs-1",
        "openai_compatible",
        "some-model",
        "litellm",
    )
    assert run.provenance is not None
    assert run.provenance.startswith("local: ")
    assert "very-secret" not in path.read_text("utf-8")

    figures = json.loads(invoke("replay", path, "--json").stdout)
    assert (figures["units"], figures["succeeded"], figures["exchanges"]) == (1, 1, 2)
    assert figures["families"][0]["real_provider"] is False
    assert figures["dialects"][0]["dialect"] == "native"


def test_a_re_ask_is_recorded_as_one(invoke: Invoke, tmp_path: Path, tools: str) -> None:
    script = [Turn(calls=[("get_weather", {"town": 3})]), Turn(calls=CALLS), Turn("Sunny.")]
    _, (run,) = recorded(invoke, script, tmp_path / "runs.jsonl", "Weather?", "--tools", tools)
    assert [exchange.attempt.reason for exchange in run.exchanges] == ["first", "reask", "turn"]
    row = json.loads(invoke("replay", tmp_path / "runs.jsonl", "--json").stdout)["families"][0]
    assert (row["units"], row["succeeded"], row["retries_per_call"], row["fallback_share"]) == (1, 1, 1.0, 0.0)


def test_each_prompt_is_a_run_and_runs_are_appended(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    recorded(invoke, [Turn("Hello.")], path, "One", "Two", "--provenance", "live: a test")
    _, runs = recorded(invoke, [Turn("Hello.")], path, "Three", "--system", "Be brief.")
    assert [(run.id, run.provenance == "live: a test") for run in runs] == [
        ("runs-1", True),
        ("runs-2", True),
        ("runs-3", False),
    ]
    assert "Be brief." in json.dumps(runs[2].exchanges[0].request)


def test_tools_without_a_function_are_offered_and_not_run(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "get_weather", "input_schema": {"type": "object"}}]))
    script = [Turn(calls=CALLS)]
    _, (run,) = recorded(invoke, script, tmp_path / "runs.jsonl", "Weather?", "--tools", str(tmp_path / "tools.json"))
    assert len(run.exchanges) == 1


def test_a_run_that_fails_is_recorded_and_exits_1(invoke: Invoke, tmp_path: Path) -> None:
    broken = Failure(422, {"error": {"message": "no such thing sk-very-secret-key-0123456789"}})
    result, runs = recorded(invoke, [broken], tmp_path / "runs.jsonl", "Hello")
    assert result.exit_code == 1
    assert [exchange.kind for exchange in runs[0].exchanges][-1] == "error"
    assert "very-secret" not in (tmp_path / "runs.jsonl").read_text("utf-8") + result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt-4o", "Hello", "-o", "{tmp}/x.jsonl"], "neither a file nor a model name with its provider"),
        (
            [MODEL, "Hello", "-o", "{tmp}/no/such/folder/x.jsonl", "--base-url", "http://127.0.0.1:9/v1"],
            "No such file or directory",
        ),
        (
            [MODEL, "Hello", "-o", "{tmp}/x.jsonl", "--tools", "nowhere.json", "--base-url", "http://127.0.0.1:9/v1"],
            "nowhere.json",
        ),
        ([MODEL, "Hello", "-o", "{tmp}/x.jsonl", "--models", "{tmp}/nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_mistakes_exit_2_before_anything_is_asked(invoke: Invoke, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = invoke("record", *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_key_in_a_prompt_is_written_nowhere(invoke: Invoke, tmp_path: Path) -> None:
    key = "sk-proj-abcdef0123456789"
    pieces = [f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n".encode() for piece in key]
    stream = Raw([*pieces, b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'])
    stream.content_type = "text/event-stream"
    path = tmp_path / "runs.jsonl"
    result, (run,) = recorded(invoke, [stream], path, f"Is {key} a key?", "--system", f"Not {key}.", "--stream")
    assert run.id == "runs-1"
    assert "Is [secret] a key?" in path.read_text("utf-8")
    said = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in run.exchanges[0].chunks or [])
    assert "abcdef0123456789" not in path.read_text("utf-8") + said + result.output


UNSENT = "quiteUnlike4nyKey"  # by its look nobody would take it for one


@pytest.mark.parametrize("newline", ["", "\n"])
@pytest.mark.parametrize("answer", [Turn(f"You said {UNSENT}."), Failure(422, {"error": {"message": f"no {UNSENT}"}})])
def test_a_key_of_the_environment_that_is_not_sent_is_written_nowhere(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, newline: str
) -> None:
    monkeypatch.setenv("FOO_API_KEY", UNSENT + newline)
    path = tmp_path / "runs.jsonl"
    result, _ = recorded(invoke, [answer], path, f"What is {UNSENT}?")
    assert "What is [secret]?" in path.read_text("utf-8")
    assert "What is [secret]?" in result.stderr
    assert UNSENT not in path.read_text("utf-8") + result.output


@pytest.mark.parametrize("arguments", [[f"--{UNSENT}"], ["--max-turns", UNSENT], ["--tools", f"{UNSENT}.json"]])
def test_a_mistake_that_quotes_a_key_does_not_show_it(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("FOO_API_KEY", UNSENT)
    result = invoke("record", MODEL, UNSENT, "-o", tmp_path / "x.jsonl", *arguments)
    assert result.exit_code == 2
    assert UNSENT not in result.output


@pytest.mark.parametrize("name", ["tiny-1", "org/tiny-1"])
def test_a_bare_name_with_a_base_url_is_a_model_of_an_openai_compatible_server(invoke: Invoke, tmp_path: Path, name: str) -> None:
    path = tmp_path / "runs.jsonl"
    with WireServer([Turn("Hello.")]) as server:
        result = invoke("record", name, "Hi", "--base-url", server.base_url("openai_compatible"), "-o", path)
    (run,) = read_transcripts(path)
    assert result.exit_code == 0
    assert (run.provider, run.model) == ("openai_compatible", name)
    assert str(run.provenance).startswith(f"local: openai_compatible {name}")


def test_a_base_url_with_a_key_exits_2(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("record", MODEL, "Hello", "--base-url", "http://ann:urlSecret1@127.0.0.1:9/v1", "-o", tmp_path / "x.jsonl")
    assert result.exit_code == 2
    assert "base_url holds a secret" in result.stderr
    assert "urlSecret1" not in result.output


def test_as_json_each_run_is_a_line(invoke: Invoke, tmp_path: Path) -> None:
    broken = Failure(422, {"error": {"message": "no such thing sk-very-secret-key-0123456789"}})
    result, runs = recorded(invoke, [Turn("Hello."), broken], tmp_path / "runs.jsonl", "Hello.", "Again.", "--json")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {"prompt": "Hello.", "exchanges": 1, "error": None}
    assert (second["prompt"], second["error"]["type"]) == ("Again.", "FallbackExhausted")
    assert (result.exit_code, len(runs)) == (1, 2)
    assert "very-secret" not in result.stdout + result.stderr
