"""Streams of LiteLLM: what stays LiteLLM's, cut streams, and what `stream_chunk_builder` makes of the chunks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore.integrations.litellm import ProxyHandler, wrap
from llmcore.wire import ReplyReport
from llmcore.wire.sse import json_bytes
from tests.helpers.wire_server import Raw, WireServer
from tests.integrations.httpx.support import CHAT_TOOLS
from tests.integrations.litellm.support import CHAT, LEAD, asked, gathered, litellm, read, read_stream, served
from tests.wire.support import CALL
from tests.wire.test_exchange import read as read_bytes
from tests.wire.test_exchange import stream_bytes

pytestmark = pytest.mark.anyio
DATA = stream_bytes(CHAT, LEAD + CALL)
END = DATA.rindex(b"data:", 0, DATA.index(b'"finish_reason": "stop"'))
"""Where the chunk with the finish reason begins. The call is whole before it."""


def events_reply(events: list[Any]) -> Raw:
    data = [
        b"data: %b\n\n" % json_bytes({"id": "r1", "object": "chat.completion.chunk", "model": "m", **event}) for event in events
    ]
    return Raw([*data, b"data: [DONE]\n\n"], "text/event-stream")


def delta(fields: dict[str, Any], end: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": end}]}


@pytest.mark.parametrize("ending", ["chunked", "dropped"])
def test_a_cut_stream_hands_out_no_call(ending: str) -> None:
    reports: list[ReplyReport] = []
    wrap(on_reply=reports.append)
    seen: list[Any] = []
    with WireServer([Raw([DATA[:END]], "text/event-stream", ending=ending)]) as server:
        stream = litellm.completion(**asked(server, stream=True))
        if ending == "dropped":
            with pytest.raises(litellm.exceptions.MidStreamFallbackError):
                seen.extend(stream)
            assert read_stream(seen) == (LEAD + CALL, [], None)
            assert [report.cut for report in reports] == [True]
            assert next(stream, None) is None
            return
        seen.extend(stream)
    assert read_stream(seen) == (LEAD + CALL, [], "stop")
    assert [report.cut for report in reports] == [True]


async def test_a_cut_async_stream_hands_out_no_call(closed_clients: None) -> None:
    reports: list[ReplyReport] = []
    wrap(on_reply=reports.append)
    with WireServer([Raw([DATA[:END]], "text/event-stream")]) as server:
        seen = await gathered(await litellm.acompletion(**asked(server, stream=True)))
    assert read_stream(seen) == (LEAD + CALL, [], "stop")
    assert [report.cut for report in reports] == [True]


def test_what_is_asked_of_the_stream_is_litellms() -> None:
    wrap()
    with WireServer(served(LEAD + CALL)) as server:
        stream = litellm.completion(**asked(server, stream=True))
        assert isinstance(stream, litellm.CustomStreamWrapper)
        assert (stream.model, stream.custom_llm_provider, stream.chunks) == ("m", "openai", [])
        assert stream.logging_obj.litellm_call_id
        assert stream._hidden_params["api_base"] == server.base_url("openai")
        stream.something = 1
        assert stream.something == 1
        with pytest.raises(AttributeError, match="nothing"):
            _ = stream.nothing
        assert iter(stream) is stream
        assert len([*stream]) < len(stream.chunks)
        assert [*stream] == []


async def test_to_close_it_closes_litellms_stream(closed_clients: None) -> None:
    wrap()
    with WireServer(served(LEAD + CALL)) as server:
        stream = await litellm.acompletion(**asked(server, stream=True))
        assert stream.completion_stream is not None
        await stream.aclose()
        assert stream.completion_stream is None


@pytest.mark.parametrize("text", [LEAD + CALL, CALL + CALL.replace("Paris", "Rome"), "It is sunny."])
def test_stream_chunk_builder_makes_the_whole_reply(text: str) -> None:
    wrap()
    with WireServer(served(text)) as server:
        whole = litellm.completion(**asked(server))
        chunks = [*litellm.completion(**asked(server, stream=True, stream_options={"include_usage": True}))]
    built = litellm.stream_chunk_builder(chunks)
    assert [call[1:] for call in read(built).calls] == [call[1:] for call in read(whole).calls]
    assert (read(built).text, read(built).end) == (read(whole).text, read(whole).end)
    assert (built.id, built.usage.total_tokens) == (whole.id, 30)


def test_ids_and_hidden_params_of_chunks_are_kept() -> None:
    with WireServer(served(LEAD + CALL)) as server:
        plain = [*litellm.completion(**asked(server, stream=True))]
        wrap()
        chunks = [*litellm.completion(**asked(server, stream=True))]
    assert {(chunk.id, chunk.model) for chunk in chunks} == {(chunk.id, chunk.model) for chunk in plain}
    assert {type(chunk) for chunk in chunks} == {type(chunk) for chunk in plain}
    assert all(chunk._hidden_params["api_base"] == plain[0]._hidden_params["api_base"] for chunk in chunks)
    assert plain[-1]._hidden_params["usage"] == chunks[-1]._hidden_params["usage"]


def test_usage_comes_once_behind_the_calls() -> None:
    wrap()
    with WireServer(served(CALL)) as server:
        chunks = [*litellm.completion(**asked(server, stream=True, stream_options={"include_usage": True}))]
    usages = [getattr(chunk, "usage", None) for chunk in chunks]
    assert [usage.total_tokens for usage in usages if usage] == [30]
    assert usages[-1] is not None


def test_chunks_that_need_not_change_are_the_same_objects() -> None:
    wrap()
    with WireServer(served("It is sunny in Paris.")) as server:
        stream = litellm.completion(**asked(server, stream=True))
        texts = [chunk for chunk in stream if chunk.choices[0].delta.content]
        assert texts
        assert all(any(chunk is each for each in stream.chunks) for chunk in texts)


def test_native_calls_of_the_server_stay() -> None:
    call = {"index": 0, "id": "call_server", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": part}} for part in ('{"city": ', '"Paris"}')]
    events = [delta({"role": "assistant", "tool_calls": [call]}), *(delta({"tool_calls": [each]}) for each in rest)]
    wrap()
    with WireServer([events_reply([*events, delta({}, "tool_calls")])]) as server:
        chunks = [*litellm.completion(**asked(server, stream=True))]
    (built,) = read(litellm.stream_chunk_builder(chunks)).calls
    assert built == ("call_server", "get_weather", '{"city": "Paris"}')
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_reasoning_stays_and_that_in_the_text_becomes_reasoning() -> None:
    events = [delta({"role": "assistant", "reasoning_content": "Hm. "}), delta({"content": "<think>Well.</think>" + CALL})]
    wrap()
    with WireServer([events_reply([*events, delta({}, "stop")])]) as server:
        chunks = [*litellm.completion(**asked(server, stream=True))]
    message = litellm.stream_chunk_builder(chunks).choices[0].message
    assert message.reasoning_content == "Hm. Well."
    assert [call.function.name for call in message.tool_calls] == ["get_weather"]


def test_a_finish_reason_beside_the_last_text_is_an_end() -> None:
    """LiteLLM makes a chunk of its own of it."""
    wrap()
    with WireServer([events_reply([delta({"role": "assistant", "content": CALL}, "stop")])]) as server:
        got = read_stream(litellm.completion(**asked(server, stream=True)))
    assert (got.text, got.names, got.end) == ("", ["get_weather"], "tool_calls")


async def test_the_proxys_hook_sends_the_text_before_the_error() -> None:
    reports: list[ReplyReport] = []
    handler = ProxyHandler(on_reply=reports.append)

    async def chunks() -> AsyncIterator[Any]:
        yield DATA[:END]
        raise ConnectionError("the server is gone")

    seen: list[bytes] = []
    parts = handler.async_post_call_streaming_iterator_hook(User(), chunks(), {"tools": CHAT_TOOLS})
    with pytest.raises(ConnectionError):
        await collect(parts, seen)
    assert LEAD + CALL in read_bytes(CHAT, b"".join(seen)).text
    assert [report.cut for report in reports] == [True]


async def collect(parts: AsyncIterator[bytes], seen: list[bytes]) -> None:
    async for part in parts:
        seen.append(part)


class User:
    """What the proxy knows of who asks."""

    request_route = "/v1/chat/completions"
