"""The openai client with calls in text, over loopback: every way to ask, sync and async."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from pydantic import BaseModel

from llmcore.integrations.httpx import wrap
from llmcore.wire import ReplyReport
from llmcore.wire.sse import json_bytes
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer
from tests.integrations.httpx.support import ASK, CHAT_TOOLS, RESPONSES_TOOLS, event_stream, whole_body
from tests.wire.support import CALL, TWELVE, WIRES, written
from tests.wire.test_exchange import stream_bytes

pytestmark = pytest.mark.anyio
CHAT, _, RESPONSES = WIRES
LEAD = "I look.\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def client(server: WireServer, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url("openai"), api_key="k", max_retries=0, **options)


def names(calls: Any) -> list[str]:
    return [call.function.name for call in calls or ()]


def chunks_of(stream: Any) -> tuple[str, list[str], str | None]:
    """(text, names of calls, finish reason) of a stream of chunks."""
    text, found, end = "", list[str](), None
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            found += [call.function.name for call in choice.delta.tool_calls or () if call.function.name]
            end = choice.finish_reason or end
    return text, found, end


@pytest.mark.parametrize("dialect", TWELVE)
def test_calls_in_text_are_native_calls(dialect: str) -> None:
    with WireServer([Turn(LEAD + written(dialect))]) as server, wrap(client(server)) as asked:
        reply = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert names(reply.choices[0].message.tool_calls) == ["get_weather"]
        assert (reply.choices[0].finish_reason, reply.id) == ("tool_calls", "chatcmpl-wire")
        assert reply.usage is not None
        assert reply.usage.total_tokens == 30
        stream = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True)
        text, found, end = chunks_of(stream)
        assert text == (reply.choices[0].message.content or "")
        assert (found, end) == (["get_weather"], "tool_calls")


@pytest.mark.parametrize("dialect", TWELVE)
async def test_the_async_client_gets_them_too(dialect: str) -> None:
    with WireServer([Turn(LEAD + written(dialect))]) as server:
        async with wrap(openai.AsyncOpenAI(base_url=server.base_url("openai"), api_key="k")) as asked:
            reply = await asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)
            assert names(reply.choices[0].message.tool_calls) == ["get_weather"]
            stream = await asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True)
            _, found, end = chunks_of([chunk async for chunk in stream])
            assert (found, end) == (["get_weather"], "tool_calls")


def test_raw_and_streaming_responses() -> None:
    with WireServer([Turn(CALL)]) as server, wrap(client(server)) as asked:
        raw = asked.chat.completions.with_raw_response.create(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert names(raw.parse().choices[0].message.tool_calls) == ["get_weather"]
        assert int(raw.headers["content-length"]) == len(raw.content)
        with asked.chat.completions.with_streaming_response.create(model="m", messages=ASK, tools=CHAT_TOOLS) as response:
            assert names(response.parse().choices[0].message.tool_calls) == ["get_weather"]
        with asked.chat.completions.with_streaming_response.create(
            model="m", messages=ASK, tools=CHAT_TOOLS, stream=True
        ) as streamed:
            lines = [*streamed.iter_lines()]
        assert "content-length" not in streamed.headers
        assert lines[-1 if lines[-1] else -2] == "data: [DONE]"


class get_weather(BaseModel):  # the tool's name is the class's
    city: str
    days: int


def test_parse_validates_the_arguments() -> None:
    tool = openai.pydantic_function_tool(get_weather)
    with WireServer([Turn(CALL)]) as server, wrap(client(server)) as asked:
        reply = asked.chat.completions.parse(model="m", messages=ASK, tools=[tool])
        (call,) = reply.choices[0].message.tool_calls or []
        assert call.function.parsed_arguments == get_weather(city="Paris", days=3)


def test_the_stream_helper() -> None:
    with WireServer([Turn(LEAD + CALL)]) as server, wrap(client(server)) as asked:
        with asked.chat.completions.stream(model="m", messages=ASK, tools=CHAT_TOOLS) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_completion()
        assert {"content.delta", "content.done", "tool_calls.function.arguments.done"} <= {*kinds}
        assert names(final.choices[0].message.tool_calls) == ["get_weather"]


def test_clients_made_of_it_are_wrapped() -> None:
    with WireServer([Turn(CALL)]) as server, wrap(client(server)) as asked:
        other = asked.with_options(timeout=5, max_retries=1).copy()
        reply = other.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert names(reply.choices[0].message.tool_calls) == ["get_weather"]


def test_a_failed_request_is_tried_again() -> None:
    with WireServer([Failure(500, {"error": {"message": "no"}}, {"retry-after-ms": "1"}), Turn(CALL)]) as server:
        with wrap(client(server).with_options(max_retries=1)) as asked:
            reply = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert names(reply.choices[0].message.tool_calls) == ["get_weather"]
        assert len(server.requests) == 2


def test_errors_are_the_clients_own() -> None:
    failing = Failure(400, {"error": {"message": CALL}})
    refused = pytest.raises(openai.BadRequestError, match="get_weather")
    with WireServer([failing]) as server, wrap(client(server)) as asked, refused:
        asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_hangs_is_a_timeout(streamed: bool) -> None:
    hanging = Raw([b'data: {"choices": []}\n\n' if streamed else b'{"choices": '], hang=30.0)
    hanging.content_type = "text/event-stream" if streamed else "application/json"
    with WireServer([hanging]) as server, wrap(client(server, timeout=0.3)) as asked:

        def ask() -> object:
            return asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=streamed)

        waiting: Any = ask() if streamed else None
        with pytest.raises((openai.APITimeoutError, httpx.ReadTimeout)):  # openai 2 does not translate that of a stream
            list(waiting) if streamed else ask()


def test_a_connection_that_breaks_hands_out_no_call() -> None:
    data = stream_bytes(CHAT, LEAD + CALL)
    cut = Raw([data[: data.index(b'"finish_reason": "stop"') - 60]], "text/event-stream", ending="dropped")
    seen: list[Any] = []
    broken = pytest.raises((httpx.RemoteProtocolError, openai.APIConnectionError))
    with WireServer([cut]) as server, wrap(client(server)) as asked, broken:
        seen.extend(asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True))
    assert chunks_of(seen)[1:] == ([], None)


def test_a_stream_that_ends_before_the_reply_hands_out_no_call() -> None:
    data = stream_bytes(CHAT, LEAD + CALL)
    cut = Raw([data[: data.rindex(b"data:", 0, data.index(b'"finish_reason": "stop"'))]], "text/event-stream")
    reports: list[ReplyReport] = []
    with WireServer([cut]) as server, wrap(client(server), on_reply=reports.append) as asked:
        text, found, end = chunks_of(asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True))
    assert (text, found, end) == (LEAD + CALL, [], None)
    assert [report.cut for report in reports] == [True]


def test_a_stream_that_is_left_closes_its_connection() -> None:
    endless = Raw([stream_bytes(CHAT, LEAD)[:200]] * 2000, "text/event-stream", pause=0.005)
    with WireServer([endless]) as server, wrap(client(server)) as asked:
        stream = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True)
        stream.response.close()
        assert server.wait_for_disconnect()


@pytest.mark.parametrize("streamed", [False, True])
def test_compressed_replies(streamed: bool) -> None:
    headers = {"Content-Encoding": "gzip"}
    raw = stream_bytes(CHAT, LEAD + CALL) if streamed else json_bytes(CHAT.body(LEAD + CALL))
    packed = gzip.compress(raw, mtime=0)
    kind = "text/event-stream" if streamed else "application/json"
    parts = [packed[at : at + 50] for at in range(0, len(packed), 50)]
    with WireServer([Raw(parts, kind, headers=headers)]) as server, wrap(client(server)) as asked:
        reply: Any = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=streamed)
        found = chunks_of(reply)[1] if streamed else names(reply.choices[0].message.tool_calls)
        assert found == ["get_weather"]


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with WireServer([Turn(CALL)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        with wrap(openai.OpenAI(base_url="http://model.invalid/v1", api_key="k", max_retries=0)) as asked:
            reply = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert names(reply.choices[0].message.tool_calls) == ["get_weather"]
        assert proxy.requests[0].headers["host"] == "model.invalid"


def test_several_choices() -> None:
    body = CHAT.body(CALL)
    body["choices"].append({**body["choices"][0], "index": 1})
    with WireServer([Raw([json_bytes(body)])]) as server, wrap(client(server)) as asked:
        reply = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, n=2)
        assert [names(choice.message.tool_calls) for choice in reply.choices] == [["get_weather"]] * 2


@pytest.mark.parametrize("dialect", TWELVE)
def test_responses(dialect: str) -> None:
    text = LEAD + written(dialect)
    with WireServer([whole_body(RESPONSES, text), event_stream(RESPONSES, text)]) as server, wrap(client(server)) as asked:
        reply = asked.responses.create(model="m", input="Hi", tools=RESPONSES_TOOLS)
        assert [item.name for item in reply.output if item.type == "function_call"] == ["get_weather"]
        with asked.responses.stream(model="m", input="Hi", tools=RESPONSES_TOOLS) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()
        assert [item.name for item in final.output if item.type == "function_call"] == ["get_weather"]
        assert final.output_text == reply.output_text
        assert "response.function_call_arguments.delta" in kinds


@pytest.fixture
def pages() -> Iterator[WireServer]:
    """A server of pages that are no chat."""
    page = gzip.compress(f"<p>{CALL}</p>".encode(), mtime=0)
    with WireServer([Raw([page], "text/html", headers={"Content-Encoding": "gzip", "X-Page": "1"})]) as server:
        yield server


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/chat/completions", "/page"])
def test_other_traffic_passes_byte_for_byte(pages: WireServer, path: str) -> None:
    found: list[tuple[bytes, dict[str, str]]] = []
    for asked in (httpx.Client(), wrap(httpx.Client())):
        with asked, asked.stream("POST", pages.root + path, json={"tools": CHAT_TOOLS, "input": "x"}) as response:
            headers = {name: value for name, value in response.headers.items() if name != "date"}
            found.append((b"".join(response.iter_raw()), headers))
    assert found[0] == found[1]


def raw_reply(reply: Raw) -> tuple[bytes, httpx.Headers]:
    """The bytes and headers that a wrapped client gets for this reply to a chat request."""
    with WireServer([reply]) as server, wrap(httpx.Client()) as asked:
        request = asked.build_request("POST", server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})
        response = asked.send(request, stream=True)
        found = b"".join(response.iter_raw())
        response.close()
        return found, response.headers


def test_a_reply_without_calls_passes_byte_for_byte() -> None:
    packed = gzip.compress(json_bytes(CHAT.body("Hello\n")), mtime=0)
    found, headers = raw_reply(Raw([packed], headers={"Content-Encoding": "gzip"}))
    assert (found, headers["content-encoding"]) == (packed, "gzip")


@pytest.mark.parametrize("raw", [b"no json", b'{"choices": [', b"", gzip.compress(b"{}", mtime=0)[:-4], b"\x1f\x8b broken"])
def test_a_body_that_cannot_be_read_passes_byte_for_byte(raw: bytes) -> None:
    headers = {"Content-Encoding": "gzip"} if raw.startswith(b"\x1f") else {}
    assert raw_reply(Raw([raw] if raw else [], headers=headers))[0] == raw


def test_a_request_without_tools_passes() -> None:
    with WireServer([Turn(CALL)]) as server, wrap(client(server)) as asked:
        assert asked.chat.completions.create(model="m", messages=ASK).choices[0].message.content == CALL
