"""`wrap`: what it takes, what it changes, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import httpx
import pytest

from llmcore.integrations.httpx import wrap
from llmcore.types import ConfigError
from tests.helpers.wire_server import Turn, WireServer
from tests.integrations.httpx.support import CHAT_TOOLS
from tests.wire.support import CALL, WIRES
from tests.wire.test_exchange import stream_bytes


def calls(asked: httpx.Client, server: WireServer) -> Any:
    reply = asked.post(server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})
    return reply.json()["choices"][0]["message"].get("tool_calls")


def test_the_client_itself_is_changed_and_returned() -> None:
    with httpx.Client() as asked:
        assert wrap(asked) is asked


def test_to_wrap_twice_rewrites_once_with_the_second_options() -> None:
    reports: list[Any] = []
    with WireServer([Turn(CALL)]) as server, wrap(wrap(httpx.Client(), on_reply=reports.append), text_calls="off") as asked:
        assert calls(asked, server) is None
        assert len(calls(wrap(asked, on_reply=reports.append), server)) == 1
    assert len(reports) == 1


def test_options_decide_what_counts() -> None:
    with WireServer([Turn("I look. " + CALL)]) as server:
        cases: list[tuple[dict[str, Any], bool]]
        cases = [({"text_calls": "alone"}, False), ({"dialects": ["glm45"]}, False), ({"dialects": ["hermes"]}, True)]
        for options, found in cases:
            with wrap(httpx.Client(), **options) as asked:
                assert bool(calls(asked, server)) is found


@pytest.mark.parametrize("given", [None, object(), "client", dict])
def test_what_is_no_client_is_refused(given: object) -> None:
    with pytest.raises(ConfigError, match="wrap takes a client of"):
        wrap(given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text_calls": "some"}, "text_calls"),
        ({"dialects": "hermes"}, "dialects"),
        ({"dialects": ["nothing"]}, "nothing"),
        ({"reasoning_open": 1}, "reasoning_open"),
        ({"on_reply": "print"}, "on_reply"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_changes(options: dict[str, Any], words: str) -> None:
    with httpx.Client() as asked:
        transport = asked._transport  # pyright: ignore[reportPrivateUsage]  # what is wrapped
        with pytest.raises(ConfigError, match=words):
            wrap(asked, **options)
        assert asked._transport is transport  # pyright: ignore[reportPrivateUsage]


def _in_memory(request: httpx.Request) -> httpx.Response:
    if json.loads(request.content).get("stream"):
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream_bytes(WIRES[0], CALL))
    return httpx.Response(200, json=WIRES[0].body(CALL))


def test_a_transport_in_memory_is_wrapped() -> None:
    with wrap(httpx.Client(transport=httpx.MockTransport(_in_memory))) as asked:
        for stream in (False, True):
            reply = asked.post("http://model.invalid/v1/chat/completions", json={"tools": CHAT_TOOLS, "stream": stream})
            assert '"tool_calls"' in reply.text
            assert "<tool_call>" not in reply.text


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_async_transport_in_memory_is_wrapped(anyio_backend: str) -> None:
    async with wrap(httpx.AsyncClient(transport=httpx.MockTransport(_in_memory))) as asked:
        for stream in (False, True):
            reply = await asked.post("http://model.invalid/v1/chat/completions", json={"tools": CHAT_TOOLS, "stream": stream})
            assert '"tool_calls"' in reply.text


def test_neither_library_is_imported() -> None:
    code = "import sys, llmcore.integrations.httpx; print('httpx' in sys.modules, 'httpx2' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["False", "False"]


def test_a_request_without_a_body_in_memory_passes() -> None:
    with WireServer([Turn(CALL)]) as server, wrap(httpx.Client()) as asked:
        body = b'{"tools": []}'
        reply = asked.post(server.root + "/v1/chat/completions", content=iter([body]), headers={"content-length": str(len(body))})
        assert reply.json()["choices"][0]["message"]["content"] == CALL
