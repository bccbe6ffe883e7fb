"""A stream keeps nobody waiting longer than was said: for its first token, and between two pieces."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm
from llmcore.types import Timeout
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio


def delta(**fields: Any) -> bytes:
    event = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields}]}
    return f"data: {json.dumps(event)}\n\n".encode()


EMPTY, SAYS, COMMENT = delta(role="assistant", content=""), delta(content="Hi"), b": still here\n\n"


@pytest.mark.parametrize(
    ("frames", "pause", "waits", "words"),
    [
        ([], 0.0, {"first_token_timeout": 0.3}, "no first token came within 0.3 s (first_token_timeout)"),
        ([COMMENT] * 1000, 0.05, {"first_token_timeout": 0.3}, "no first token came within 0.3 s"),
        ([EMPTY] * 1000, 0.05, {"first_token_timeout": 0.3}, "no first token came within 0.3 s"),
        ([SAYS], 0.0, {"timeout": 0.3}, "nothing of the stream came for 0.3 s (timeout)"),
        ([SAYS, *[COMMENT] * 1000], 0.05, {"timeout": 0.3}, "nothing of the stream came for 0.3 s"),
        ([SAYS], 0.0, {"timeout": 0.3, "first_token_timeout": 9}, "nothing of the stream came for 0.3 s"),
        ([], 0.0, {"timeout": 0.3}, "/v1: nothing of the stream came for 0.3 s"),
    ],
)
async def test_a_silent_stream_is_given_up(
    adapter: LiteLLMAdapter, frames: list[bytes], pause: float, waits: dict[str, Any], words: str
) -> None:
    with WireServer([Raw(frames, "text/event-stream", pause=pause, hang=60.0)]) as server:
        endpoint = endpoint_at(server, "openai_compatible", "m").model_copy(update={"alias": "m"})
        await litellm()  # imported once, which takes its time
        started = time.perf_counter()
        with pytest.raises(Timeout) as caught:
            async for _ in adapter.stream(call_of(endpoint, tools=(), **waits)):
                pass
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"m at {server.root}/v1: ")
    assert time.perf_counter() - started < 30


async def test_a_first_token_may_take_longer_than_what_follows(adapter: LiteLLMAdapter) -> None:
    frames = [COMMENT] * 12 + [SAYS, delta(content="!"), b"data: [DONE]\n\n"]
    with WireServer([Raw(frames, "text/event-stream", pause=0.1)]) as server:
        call = call_of(endpoint_at(server, "openai_compatible"), tools=(), timeout=1.0, first_token_timeout=30.0)
        events = [event async for event in adapter.stream(call)]
    assert "Hi" in str(events)
