"""The recording proxy: bytes pass unchanged, each exchange becomes a line, secrets do not."""

from __future__ import annotations

import json
import logging
import re
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.proxy import RecordingProxy
from llmcore.adapters.wire.aws_events import AWS_STREAM
from llmcore.transcripts import Score, Transcript, read_transcripts
from tests.adapters.conftest import KEY, PROVIDERS, call_of
from tests.adapters.litellm.test_adapter import calls_in, collected, streamed_calls
from tests.adapters.wire.test_aws_events import frame
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer

CALL = Turn("One moment.", calls=[("get_weather", {"city": "Paris"})])


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def proxied(server: WireServer, path: Path, provider: str = "openai") -> RecordingProxy:
    return RecordingProxy(server.root, path, provider=provider, provenance="local: a test")


def connected(proxy: RecordingProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=5)


@pytest.mark.parametrize("own", ["", "/v1", "/v1beta", "/api/v1", "/gateway/v1"])
@pytest.mark.parametrize(
    "asked", ["/chat/completions", "/v1/chat/completions", "/v1beta/models/m:generateContent?alt=sse", "/api/v1/models"]
)
def test_the_path_of_the_url_is_not_doubled(tmp_path: Path, own: str, asked: str) -> None:
    with WireServer([Raw([b"{}"], "application/json")]) as server:
        with RecordingProxy(f"{server.root}{own}/", tmp_path / "r.jsonl", provider="openai", provenance="local: a test") as proxy:
            httpx.post(f"{proxy.url}{asked}", json={"model": "m"})
        (seen,) = server.requests
    shared = next((part for part in (own, own[-3:]) if part and asked.startswith(f"{part}/")), "")
    assert seen.path == own.removesuffix(shared) + asked


@pytest.mark.anyio
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
async def test_a_client_notices_nothing(adapter: LiteLLMAdapter, tmp_path: Path, provider: str) -> None:
    path = tmp_path / "run.jsonl"
    with WireServer([CALL]) as server, proxied(server, path, provider) as proxy:
        base = server.base_url(provider).replace(server.root, proxy.url)
        given = {"provider": provider, "model": PROVIDERS[provider], "base_url": base, "api_key": KEY}
        call = call_of(Endpoint.model_validate(given))
        plain = await adapter.complete(call)
        chunks, _ = await collected(adapter, call)
    assert calls_in(plain.raw) == streamed_calls(chunks) == [("get_weather", {"city": "Paris"})]
    first, second = lines(path)
    assert first["level"] == "wire"
    assert first["model"] == PROVIDERS[provider]
    assert [tool["function"]["name"] for tool in first["tools"]] == ["get_weather"]
    assert calls_in(first["exchanges"][0]["response"]) == [("get_weather", {"city": "Paris"})]
    assert json.loads(first["exchanges"][0]["body"]) == first["exchanges"][0]["response"]
    assert "get_weather" in second["exchanges"][0]["sse"]
    assert KEY not in path.read_text("utf-8")
    assert [run.exchanges[0].kind for run in read_transcripts(path)] == ["response", "sse"]


def test_bytes_pass_and_are_kept_bit_for_bit(tmp_path: Path) -> None:
    frames = [b'data: {"a":  1}\r\n\r\n', b"data: \xff\xfe broken utf-8\n\n", "data: grüß ▁\n\n".encode()]
    path = tmp_path / "run.jsonl"
    with WireServer([Raw(frames, "text/event-stream")]) as server, proxied(server, path) as proxy:
        got = httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m", "stream": True}).content
    assert got == b"".join(frames)
    assert lines(path)[0]["exchanges"][0]["sse"].encode("utf-8", "surrogateescape") == got


def test_tools_that_the_provider_runs_are_no_tools_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    own = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    tools = [own, {"type": "web_search_20250305", "name": "web_search"}, {"type": "code_interpreter"}, {"name": 3}]
    with WireServer([Raw([b"{}"], "application/json")]) as server, proxied(server, path) as proxy:
        httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m", "tools": tools})
    (line,) = lines(path)
    assert [tool["function"]["name"] for tool in line["tools"]] == ["f"]
    assert line["exchanges"][0]["request"]["tools"] == tools


def test_a_body_that_comes_in_chunks_is_passed_on(tmp_path: Path) -> None:
    """Clients send so what they make while they send it."""
    sent = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Grüße " * 3000}]}).encode()
    pieces = (sent[at : at + 1000] for at in range(0, len(sent), 1000))
    with WireServer([CALL]) as server, proxied(server, path := tmp_path / "run.jsonl") as proxy:
        reply = httpx.post(f"{proxy.url}/v1/chat/completions", content=pieces)
        again = httpx.post(f"{proxy.url}/v1/chat/completions", content=sent)
    assert reply.status_code == again.status_code == 200
    assert [seen.body for seen in server.requests] == [json.loads(sent)] * 2
    assert lines(path)[0]["exchanges"][0]["request"] == json.loads(sent)


@pytest.mark.parametrize("chunk", [b"-5\r\nhello\r\n", b"zz\r\n", b"\r\n"])
def test_a_body_that_is_framed_wrongly_is_refused(tmp_path: Path, chunk: bytes) -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with WireServer([CALL]) as server, proxied(server, tmp_path / "run.jsonl") as proxy, connected(proxy) as client:
        client.sendall(head + chunk)
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    assert not server.requests


def test_a_client_that_resets_its_connection_is_no_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with WireServer([CALL]) as server, proxied(server, tmp_path / "run.jsonl") as proxy:
        with connected(proxy) as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.05)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        time.sleep(0.05)
        assert httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m"}).status_code == 200
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_what_browsers_ask_first_is_passed_on(tmp_path: Path, method: str) -> None:
    asked: list[str] = []

    class Upstream(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.command)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        do_OPTIONS = do_HEAD

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Upstream) as upstream:
        threading.Thread(target=upstream.handle_request, daemon=True).start()
        root = f"http://127.0.0.1:{upstream.server_port}"
        with RecordingProxy(root, tmp_path / "r.jsonl", provider="openai", provenance="local: a test") as proxy:
            reply = httpx.request(method, f"{proxy.url}/v1/models", timeout=5)
    assert (reply.status_code, reply.headers["access-control-allow-origin"], asked) == (200, "*", [method])


def test_what_asks_no_model_passes_and_is_not_kept(tmp_path: Path) -> None:
    with WireServer([CALL]) as server, proxied(server, tmp_path / "r.jsonl") as proxy:
        assert httpx.get(f"{proxy.url}/v1/models").json() == {"data": []}
        httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m"})
    assert len(lines(tmp_path / "r.jsonl")) == 1


def test_an_error_passes_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    failure = Failure(429, {"error": {"message": "slow"}}, {"retry-after": "3"})
    with WireServer([failure]) as server, proxied(server, path) as proxy:
        reply = httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m"})
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "3")
    exchange = lines(path)[0]["exchanges"][0]
    assert (exchange["status"], exchange["error"]) == (429, {"error": {"message": "slow"}})


def test_secrets_pass_and_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with WireServer([Turn("The key was tok-12345678.")]) as server, proxied(server, path) as proxy:
        headers = {"Authorization": "Bearer tok-12345678", "X-Goog-Api-Key": "goog-secret-1"}
        body = {"model": "m", "messages": [{"role": "user", "content": "goog-secret-1"}]}
        reply = httpx.post(f"{proxy.url}/v1/chat/completions?key=urlsecret99", json=body, headers=headers)
        assert "tok-12345678" in reply.text
        assert server.requests[0].headers["authorization"] == "Bearer tok-12345678"
    written = path.read_text("utf-8")
    for secret in ("tok-12345678", "goog-secret-1", "urlsecret99"):
        assert secret not in written


def test_nobody_upstream_is_a_502(tmp_path: Path) -> None:
    with WireServer([]) as server:
        gone = server.root
    with RecordingProxy(gone, tmp_path / "run.jsonl", provider="openai", provenance="local: a test") as proxy:
        reply = httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m"})
    assert (reply.status_code, proxy.exchanges, proxy.cut) == (502, 1, 1)
    (line,) = lines(tmp_path / "run.jsonl")
    exchange = line["exchanges"][0]
    assert (exchange["truncated"], exchange["error"]["type"], exchange["status"]) == (True, "ConnectError", None)
    assert exchange["request"] == {"model": "m"}
    assert next(iter(read_transcripts(tmp_path / "run.jsonl"))).exchanges[0].kind == "error"


def test_a_secret_in_the_pieces_of_a_stream_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    key = "tok-12345678"
    frames = [f'data: {{"delta":  "{piece}"}}\r\n\r\n'.encode() for piece in ("Hi ", *key, " there")]
    with WireServer([Raw(frames, "text/event-stream")]) as server, proxied(server, path) as proxy:
        headers = {"X-Gate": key}
        got = httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m", "stream": True}, headers=headers).content
    assert got == b"".join(frames)
    kept = lines(path)[0]["exchanges"][0]["sse"]
    assert "".join(re.findall('"delta": +"([^"]*)"', kept)) == "Hi [secret] there"
    assert kept.startswith('data: {"delta":  "Hi "}\r\n\r\n')


def test_a_key_in_the_path_is_in_no_field_and_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "run.jsonl"
    with WireServer([Failure(404, {"error": {"message": "no"}})]) as server:
        for _ in range(2):
            with proxied(server, path, "gemini") as proxy:
                httpx.post(f"{proxy.url}/v1beta/models/gemini-2?key=urlSecret99", json={"note": "urlSecret99 %75rlSecret99"})
    first, second = lines(path)
    assert (first["model"], first["id"], second["id"]) == ("gemini-2", "run-1", "run-2")
    assert "urlSecret99" not in path.read_text("utf-8") + caplog.text


FRAMES = [b'data: {"n": %d}\n\n' % number for number in range(40)]


def test_what_a_client_leaves_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    path, told = tmp_path / "run.jsonl", list[str]()
    with (
        WireServer([Raw(FRAMES, "text/event-stream", pause=0.05)]) as server,
        RecordingProxy(server.root, path, provider="openai", provenance="local: a test", tell=told.append) as proxy,
    ):
        with httpx.stream("POST", f"{proxy.url}/v1/chat/completions", json={"model": "m", "stream": True}) as reply:
            next(reply.iter_bytes())
        deadline = time.monotonic() + 5
        while not proxy.exchanges and time.monotonic() < deadline:
            time.sleep(0.02)
    exchange = lines(path)[0]["exchanges"][0]
    assert exchange["truncated"] is True
    assert "the client left" in exchange["error"]["message"]
    assert exchange["sse"].startswith('data: {"n": 0}')
    assert '"n": 39' not in exchange["sse"]
    assert (proxy.exchanges, proxy.cut, proxy.lost, len(told)) == (1, 1, 0, 1)


def test_what_is_going_on_at_the_end_is_kept_and_no_line_is_written_twice(tmp_path: Path) -> None:
    path, told = tmp_path / "run.jsonl", list[str]()
    with WireServer([Raw(FRAMES, "text/event-stream", pause=0.2)]) as server:
        with RecordingProxy(server.root, path, provider="openai", provenance="local: a test", tell=told.append) as proxy:
            client = httpx.Client()
            asked = client.send(
                client.build_request("POST", f"{proxy.url}/v1/chat/completions", json={"model": "m"}), stream=True
            )
            pieces = asked.iter_bytes()
            next(pieces)
        asked.close()
        client.close()
    (line,) = lines(path)
    assert "the recording was ended" in line["exchanges"][0]["error"]["message"]
    assert line["exchanges"][0]["sse"]
    assert (proxy.exchanges, proxy.cut) == (1, 1)


@pytest.mark.sweep
def test_a_large_exchange_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with WireServer([Turn("a" * (6 * 2**20))]) as server, proxied(server, path) as proxy:
        reply = httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m", "messages": []}, timeout=60)
    assert reply.status_code == 200
    assert proxy.exchanges == len(lines(path)) == 1


def test_what_cannot_be_written_is_said_and_counted(tmp_path: Path) -> None:
    told = list[str]()
    with WireServer([Turn("Hi.")]) as server:
        path = tmp_path / "none" / "run.jsonl"
        with RecordingProxy(server.root, path, provider="openai", provenance="local: a test", tell=told.append) as proxy:
            assert httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m"}).status_code == 200
    assert (proxy.exchanges, proxy.lost) == (0, 1)
    assert "not recorded: FileNotFoundError" in told[0]


SPEC = {"toolSpec": {"name": "get_weather", "inputSchema": {"json": {"type": "object"}}}}
CONVERSE = "/model/anthropic.claude-3-5-sonnet-20240620-v1%3A0/converse"


def converse_stream(*, cut: int = 0) -> Raw:
    use = {"toolUse": {"toolUseId": "t1", "name": "get_weather"}}
    given = {"toolUse": {"input": '{"city": "Paris"}'}}
    told = [
        frame({"role": "assistant"}, event_type="messageStart"),
        frame({"contentBlockIndex": 0, "start": use}, event_type="contentBlockStart"),
        frame({"contentBlockIndex": 0, "delta": given}, event_type="contentBlockDelta"),
        frame({"contentBlockIndex": 0}, event_type="contentBlockStop"),
        frame({"stopReason": "tool_use"}, event_type="messageStop"),
    ]
    return Raw([b"".join(told)[: -cut or None]], AWS_STREAM)


def test_bedrocks_tools_model_and_stream_are_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with WireServer([converse_stream()]) as server, proxied(server, path, "bedrock") as proxy:
        got = httpx.post(f"{proxy.url}{CONVERSE}-stream", json={"messages": [], "toolConfig": {"tools": [SPEC]}})
    assert got.headers["content-type"] == AWS_STREAM
    (run,) = read_transcripts(path)
    assert isinstance(run, Transcript)
    assert (run.model, [tool["function"]["name"] for tool in run.tools or []]) == (
        "anthropic.claude-3-5-sonnet-20240620-v1:0",
        ["get_weather"],
    )
    score = Score()
    score.add(run)
    (row,) = score.report().families
    assert (run.exchanges[0].kind, row.units, row.succeeded, row.needs_reask) == ("chunks", 1, 1, 0)


def test_a_stream_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with WireServer([converse_stream(cut=3)]) as server, proxied(server, path, "bedrock") as proxy:
        httpx.post(f"{proxy.url}{CONVERSE}-stream", json={"messages": [], "toolConfig": {"tools": [SPEC]}})
    (exchange,) = lines(path)[0]["exchanges"]
    assert exchange["truncated"] is True
    assert exchange["error"] == {"type": "Unreadable", "message": f"{AWS_STREAM}: the stream is cut within a frame"}
    assert len(exchange["chunks"]) == 4


_DELTA = (
    b'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": %s}]}\n\n'
)


@pytest.mark.parametrize(
    ("frames", "kind", "is_cut"),
    [
        ([_DELTA % b"null", b'data: {"object": "chat.comp'], "text/event-stream", True),
        ([_DELTA % b"null"], "text/event-stream", True),
        ([_DELTA % b"null", _DELTA % b'"stop"'], "text/event-stream", False),
        ([_DELTA % b"null", b"data: [DONE]\n\n"], "text/event-stream", False),
        ([_DELTA % b"null", b'data: {"error": {"message": "down", "code": 500}}\n\n'], "text/event-stream", False),
        ([b'{"choices": [{"mess'], "application/json", True),
        ([b'{"choices": []}'], "application/json", False),
    ],
)
def test_a_reply_that_the_connection_cut_is_told_to_be(frames: list[bytes], kind: str, is_cut: bool, tmp_path: Path) -> None:
    path, told = tmp_path / "run.jsonl", list[str]()
    with (
        WireServer([Raw(frames, kind)]) as server,
        RecordingProxy(server.root, path, provider="openai", provenance="local: a test", tell=told.append) as proxy,
    ):
        httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "m"})
    (exchange,) = lines(path)[0]["exchanges"]
    assert (exchange.get("truncated", False), proxy.cut, len(told)) == (is_cut, int(is_cut), int(is_cut))
