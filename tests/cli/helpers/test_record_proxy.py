"""`llmcore record --proxy`: a program of its own between a client and a server on loopback."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from llmcore.transcripts import read_transcripts
from tests.cli.conftest import Invoke
from tests.helpers.wire_server import WireServer
from tests.helpers.wires import Turn

CALLS = [("get_weather", {"city": "Paris"})]
KEY = "sk-very-secret-key-0123456789"
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
REQUEST = {"model": "some-model", "messages": [{"role": "user", "content": "Weather?"}], "tools": [TOOL]}


@contextmanager
def recording(upstream: str, path: Path, *options: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The running program and the URL that it printed."""
    command = [sys.executable, "-m", "llmcore", "record", "--proxy", upstream, "-o", str(path), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_any_client_is_recorded_and_the_recording_replays(invoke: Invoke, tmp_path: Path, ending: signal.Signals) -> None:
    path = tmp_path / "runs.jsonl"
    server = WireServer([Turn(calls=CALLS), Turn("Sunny.")])
    with server, recording(server.base_url("openai_compatible"), path) as (url, process):
        for stream in (False, True):
            reply = httpx.post(
                f"{url}/chat/completions", json={**REQUEST, "stream": stream}, headers={"Authorization": f"Bearer {KEY}"}
            )
            assert reply.status_code == 200
        process.send_signal(ending)
        _, told = process.communicate(timeout=30)
        assert process.returncode == 0
    assert "recorded: 2 exchanges" in told
    runs = list(read_transcripts(path))
    assert [(run.level, run.model) for run in runs] == [("wire", "some-model")] * 2
    assert runs[0].provenance is not None
    assert runs[0].provenance.startswith("local: ")
    assert KEY not in path.read_text("utf-8")
    assert json.loads(invoke("replay", path, "--json").stdout)["exchanges"] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--proxy", "api.openai.com"], "needs the URL that requests go to"),
        (["--proxy", "https://user:pass@api.openai.com"], "without credentials and query"),
        (["--proxy", "https://api.openai.com", "openai/gpt-4o", "Hi"], "leave out MODEL and PROMPT"),
        (["--proxy", "https://api.example.com", "--provider", "opnai"], "did you mean 'openai'"),
        (["openai/gpt-4o"], "needs a MODEL and a PROMPT, or --proxy URL"),
    ],
)
def test_what_cannot_be_recorded_is_named(invoke: Invoke, tmp_path: Path, arguments: list[str], words: str) -> None:
    result = invoke("record", *arguments, "-o", tmp_path / "runs.jsonl")
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert "pass@" not in result.stderr


def test_a_port_that_is_taken_is_named(invoke: Invoke, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = invoke("record", "--proxy", "http://127.0.0.1:9/v1", "--port", str(port), "-o", tmp_path / "runs.jsonl")
    assert result.exit_code == 2
    assert f"port {port}: " in result.stderr
