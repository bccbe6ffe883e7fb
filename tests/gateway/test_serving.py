"""`llmcore serve` as a process: workers, shutdown, logs and errors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.cli.conftest import ROOT, Invoke, invoke
from tests.gateway.support import BY_NAME, CALL_TEXT, PATHS, SECONDS, START_SECONDS, HangingServer, asked, events_of, streamed
from tests.gateway.test_disconnects import STREAM_HEAD, chunk
from tests.helpers.wire_server import WireServer

__all__ = ["invoke"]

KEY = "key-of-a-client"


class Process:
    """A running `llmcore serve`, and what it has logged."""

    def __init__(self, path: Path, *options: str) -> None:
        command = [sys.executable, "-c", "from llmcore.cli import main; main()", "serve", str(path), "--port", "0", *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "GATEWAY_KEY": KEY}
        self.process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment)
        self.lines: list[str] = []
        self.url = ""
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                with self._changed:
                    self.lines.append(line)
                    if found := re.search(r"running on (http://\S+)", line):
                        self.url = found[1]
                    self._changed.notify_all()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(START_SECONDS)
        self._reader.join(SECONDS)

    def wait_for(self, words: str, count: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: sum(words in line for line in self.lines) >= count, START_SECONDS), self.lines

    @property
    def log(self) -> str:
        with self._changed:
            return "".join(self.lines)


@contextmanager
def served(path: Path, *options: str, workers: int = 1) -> Generator[Process]:
    process = Process(path, "--workers", str(workers), *options)
    try:
        process.wait_for("running on")
        process.wait_for("startup complete", workers)
        yield process
    finally:
        process.stop()


def configuration(folder: Path, base_url: str, **section: Any) -> Path:
    model = {"provider": "vllm", "model": "served-model", "base_url": base_url}
    path = folder / "llm.yaml"
    path.write_text(yaml.safe_dump({"llm": {"models": {"m": model}}, "gateway": section}))
    return path


def test_two_workers_share_their_port_and_their_metrics(tmp_path: Path) -> None:
    with WireServer([streamed(BY_NAME["anthropic"], CALL_TEXT)]) as server:
        path = configuration(tmp_path, f"{server.root}/v1", keys={"team": "${GATEWAY_KEY}"})
        with served(path, workers=2) as process:
            for _ in range(8):
                answer = httpx.post(
                    process.url + PATHS["anthropic"],
                    json=asked("anthropic", stream=True),
                    headers={"x-api-key": KEY},
                    timeout=SECONDS,
                )
                assert BY_NAME["anthropic"].read_events(events_of(answer.content)).calls
            process.wait_for("anthropic pass_through m from team: 200", 8)
            counted = httpx.get(f"{process.url}/metrics").text
    assert re.search(
        r'llmcore_gateway_requests_total\{mode="pass_through",model="m",status="200",wire="anthropic"\} 8\.0', counted
    )
    assert "llmcore_gateway_in_flight 0.0" in counted
    assert process.process.returncode == 0


def test_the_log_names_clients_and_models_and_has_no_words(tmp_path: Path) -> None:
    with WireServer([streamed(BY_NAME["openai-chat"], CALL_TEXT)]) as server:
        path = configuration(tmp_path, f"{server.root}/v1", keys={"team-blue": "${GATEWAY_KEY}"})
        with served(path) as process, httpx.Client(base_url=process.url, timeout=SECONDS) as client:
            headers = {"authorization": f"Bearer {KEY}"}
            client.post(f"{PATHS['openai-chat']}?word=secret-query", json=asked("openai-chat", stream=True), headers=headers)
            client.post(PATHS["openai-chat"], json=asked("openai-chat", model="secret-model"), headers=headers)
            client.post(PATHS["openai-chat"], content=b"secret-junk", headers=headers)
            process.wait_for("llmcore.gateway: ", 3)
    log = process.log
    assert "openai-chat pass_through m from team-blue: 200 in" in log
    assert "openai-chat - - from team-blue: 404 in" in log
    assert "400 in" in log
    for word in ("secret", "weather", "Paris", "look", KEY):
        assert word not in log


def test_a_stream_in_flight_ends_before_the_process_does(tmp_path: Path) -> None:
    """The server sends the rest of the reply after the gateway was told to stop."""
    reply = streamed(BY_NAME["openai-chat"], CALL_TEXT).frames[0]
    with HangingServer([STREAM_HEAD, chunk(reply[:300])], then=[chunk(reply[300:]), b"0\r\n\r\n"]) as server:
        path = configuration(tmp_path, server.base_url)
        with served(path) as process:
            with httpx.stream(
                "POST", process.url + PATHS["openai-chat"], json=asked("openai-chat", stream=True), timeout=SECONDS
            ) as answer:
                parts = answer.iter_raw()
                received = next(parts)
                process.process.send_signal(signal.SIGTERM)
                process.wait_for("Shutting down")
                server.go_on.set()
                received += b"".join(parts)
            assert process.process.wait(SECONDS) == 0
    assert BY_NAME["openai-chat"].read_events(events_of(received)).calls
    assert received.endswith(b"data: [DONE]\n\n")


def test_a_stream_that_does_not_end_is_broken_off_after_the_grace(tmp_path: Path) -> None:
    with HangingServer([STREAM_HEAD]) as server:
        path = configuration(tmp_path, server.base_url)
        with (
            served(path, "--grace", "0") as process,
            httpx.stream("POST", process.url + PATHS["openai-chat"], json=asked("openai-chat", stream=True), timeout=SECONDS),
        ):
            process.process.terminate()
            assert server.was_freed.wait(SECONDS)
            process.process.wait(SECONDS)


@pytest.mark.parametrize(
    ("section", "host", "words"),
    [
        ({}, "0.0.0.0", "gateway.keys: there are none, so the gateway listens on loopback only, not on 0.0.0.0"),
        ({"kyes": {}}, "127.0.0.1", "gateway.kyes: unknown key"),
        ({"models": {"n": {}}}, "127.0.0.1", "gateway.models.n: the registry has no such model; there are m"),
        ({"keys": {"a": "short"}}, "127.0.0.1", "gateway.keys: the key of 'a' is shorter than 8 characters"),
        ({"keys": {"a": "${NO_SUCH_VARIABLE}"}}, "127.0.0.1", "the environment variable NO_SUCH_VARIABLE is not set"),
    ],
)
def test_a_wrong_configuration(invoke: Invoke, tmp_path: Path, section: dict[str, Any], host: str, words: str) -> None:
    path = configuration(tmp_path, "http://127.0.0.1:9/v1", **section)
    result = invoke("serve", path, "--host", host)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
