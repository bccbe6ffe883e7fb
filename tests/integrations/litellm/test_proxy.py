"""LiteLLM's proxy with `proxy_handler` in its `config.yaml`: its three APIs, over loopback, in a process of its own.

Needs `litellm[proxy]`, which `make test` does not install.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from llmcore.wire.sse import ServerEventSplitter
from tests.helpers.wire_server import Raw, WireServer
from tests.integrations.httpx.support import ASK, event_stream, whole_body
from tests.packaging.tree import ROOT
from tests.wire.support import CALL, TWELVE, WIRES, Read, Wire, written
from tests.wire.test_exchange import END_OF_REPLY, stream_bytes, tool

_NEEDED = ("fastapi", "uvicorn", "apscheduler", "websockets", "fastapi_sso")
_MISSING = [name for name in _NEEDED if find_spec(name) is None]
COMMAND = shutil.which("litellm", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(
    bool(_MISSING) or COMMAND is None, reason=f"needs litellm[proxy]==1.105.3; not installed: {', '.join(_MISSING)}"
)
LEAD = "I look.\n"
ABOUT = f"For example:\n{CALL}\nis a call."
START_LINE = "Application startup complete"
CONFIG = """
model_list:
  - model_name: chat
    litellm_params: {{model: openai/m, api_base: "{root}/v1", api_key: k}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-m, api_base: "{root}", api_key: k}}
  - model_name: vllm
    litellm_params: {{model: hosted_vllm/m, api_base: "{root}/v1", api_key: k}}
litellm_settings:
  callbacks: {callback}
  num_retries: 0
"""
OWN_HANDLER = "from llmcore.integrations.litellm import ProxyHandler\n\nhandler = ProxyHandler(text_calls='off')\n"
MODELS = ["chat", "claude", "vllm"]
"""An upstream with OpenAI's APIs, one with Anthropic's, and one whose messages and responses LiteLLM makes of chat completions."""


class Proxy(NamedTuple):
    url: str
    key: str
    upstream: WireServer

    def ask(self, wire: Wire, model: str, *, stream: bool, tools: bool = True) -> httpx.Response:
        path = {"openai-chat": "chat/completions", "anthropic": "messages", "openai-responses": "responses"}[wire.name]
        body: dict[str, Any] = {"model": model, "stream": stream, "messages": ASK, "max_tokens": 100}
        if wire.name == "openai-responses":
            body = {"model": model, "stream": stream, "input": "How is the weather?"}
        if tools:
            body["tools"] = [tool(wire, "get_weather")]
        headers = {"authorization": f"Bearer {self.key}"}
        with httpx.Client(trust_env=False, timeout=60) as client:
            response = client.post(f"{self.url}/v1/{path}", json=body, headers=headers)
        assert response.status_code == 200, response.text
        return response

    def read(self, wire: Wire, model: str, *, stream: bool) -> Read:
        response = self.ask(wire, model, stream=stream)
        if not stream:
            return wire.read_body(response.json())
        events = [event.data for event in ServerEventSplitter().feed(response.content)]
        return wire.read_events(_padded(json.loads(data) for data in events if data.startswith(b"{")))


def _padded(events: Iterator[Any]) -> Iterator[Any]:
    """The events with what LiteLLM leaves out: an empty finish reason, and sound numbers of events that it made itself."""
    for number, event in enumerate(events):
        choices = [{"finish_reason": None, **choice} for choice in event.get("choices", ())]
        yield {**event, "sequence_number": number, "choices": choices}


def serve(folder: Path, callback: str) -> Iterator[Proxy]:
    """A proxy whose upstream is a `WireServer`. Its script is set by each test."""
    key = "sk-" + secrets.token_hex(24)
    with WireServer([""]) as upstream, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        (folder / "config.yaml").write_text(CONFIG.format(root=upstream.root, callback=callback), "utf-8")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM_")}
        settings = {
            "LITELLM_MASTER_KEY": key,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": str(ROOT),
        }
        command = [str(COMMAND), "--config", "config.yaml", "--host", "127.0.0.1", "--port", port]
        with subprocess.Popen(
            command, cwd=folder, env={**inherited, **settings}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            log: list[str] = []
            try:
                for line in process.stdout:
                    log.append(line)
                    if START_LINE in line:
                        break
                assert START_LINE in "".join(log[-1:]), "".join(log)
                threading.Thread(target=process.stdout.read, daemon=True).start()  # or its log would fill the pipe
                yield Proxy(f"http://127.0.0.1:{port}", key, upstream)
            finally:
                process.kill()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    yield from serve(tmp_path_factory.mktemp("proxy"), "llmcore.integrations.litellm.proxy_handler")


def served(text: str, *, cut: bool = False) -> Any:
    """The script of an upstream that answers on each wire with this text. `cut`: its streams end before the reply does."""

    def script(seen: Any) -> Raw:
        wire = next(wire for wire, mark in zip(WIRES, ("completions", "messages", "responses"), strict=True) if mark in seen.path)
        if not seen.streaming:
            return whole_body(wire, text)
        if not cut:
            return event_stream(wire, text)
        data = stream_bytes(wire, text)
        return Raw([data[: data.rindex(b"\n\n", 0, data.index(END_OF_REPLY[wire.name])) + 2]], "text/event-stream")

    return script


wires = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
streams = pytest.mark.parametrize("stream", [False, True])


@wires
@streams
@pytest.mark.parametrize("model", MODELS)
def test_a_call_in_text_is_a_native_call(proxy: Proxy, wire: Wire, model: str, stream: bool) -> None:
    proxy.upstream.script = served(LEAD + CALL)
    read = proxy.read(wire, model, stream=stream)
    assert (read.text, read.calls) == ("I look.", [("get_weather", {"city": "Paris", "days": 3})])
    assert read.end == wire.ends[0]


@streams
@pytest.mark.parametrize("dialect", TWELVE)
def test_dialects(proxy: Proxy, dialect: str, stream: bool) -> None:
    proxy.upstream.script = served(LEAD + written(dialect))
    read = proxy.read(WIRES[0], "chat", stream=stream)
    assert ([name for name, _ in read.calls], read.end) == (["get_weather"], "tool_calls")


@wires
@streams
def test_two_parallel_calls(proxy: Proxy, wire: Wire, stream: bool) -> None:
    proxy.upstream.script = served(CALL + CALL.replace("Paris", "Rome"))
    read = proxy.read(wire, "chat", stream=stream)
    assert [arguments["city"] for _, arguments in read.calls] == ["Paris", "Rome"]
    assert len({*read.ids}) == 2


@wires
@streams
@pytest.mark.parametrize("model", MODELS)
def test_text_about_calls_stays_text(proxy: Proxy, wire: Wire, model: str, stream: bool) -> None:
    proxy.upstream.script = served(ABOUT)
    read = proxy.read(wire, model, stream=stream)
    assert (read.text, read.calls, read.end) == (ABOUT, [], wire.ends[1])


@pytest.mark.parametrize("model", MODELS)
def test_a_cut_stream_hands_out_no_call(proxy: Proxy, model: str) -> None:
    proxy.upstream.script = served(LEAD + CALL, cut=True)
    read = proxy.read(WIRES[0], model, stream=True)
    assert (read.text, read.calls) == (LEAD + CALL, [])


def test_usage_is_kept(proxy: Proxy) -> None:
    proxy.upstream.script = served(LEAD + CALL)
    usages = [proxy.read(wire, "chat", stream=False).usage for wire in WIRES]
    assert [usage.get("completion_tokens") or usage.get("output_tokens") for usage in usages] == [9, 9, 9]


@wires
@streams
def test_a_request_without_tools_passes(proxy: Proxy, wire: Wire, stream: bool) -> None:
    proxy.upstream.script = served(CALL)
    text = proxy.ask(wire, "chat", stream=stream, tools=False).text.replace(" ", "")
    assert not [mark for mark in ('"tool_calls":[', '"type":"tool_use"', '"type":"function_call"') if mark in text]


def test_a_handler_of_your_own_has_other_options(tmp_path: Path) -> None:
    (tmp_path / "handlers.py").write_text(OWN_HANDLER, "utf-8")
    for proxy in serve(tmp_path, "handlers.handler"):
        proxy.upstream.script = served(CALL)
        assert proxy.read(WIRES[0], "chat", stream=False).text == CALL
