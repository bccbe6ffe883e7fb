"""Bedrock signs a model's reasoning: it goes back beside the calls it led to, or is told as left out."""

from __future__ import annotations

import binascii
import json
import struct
from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.types import Finished, RedactedThinkingBlock, Request, ThinkingBlock
from tests.adapters.conftest import EVERY_MODEL
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio
_USAGE = {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}
_SIGNED = {"reasoningContent": {"reasoningText": {"text": "Look it up.", "signature": "c2ln"}}}
_USE = {"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Paris"}}}


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 12 degrees"


def _whole(*content: dict[str, Any], stop: str = "end_turn") -> Raw:
    message = {"role": "assistant", "content": content}
    return Raw([json.dumps({"output": {"message": message}, "stopReason": stop, "usage": _USAGE}).encode()])


def _frame(kind: str, payload: dict[str, Any]) -> bytes:
    """One message of an AWS event stream: lengths, their checksum, headers, payload, the checksum of it all."""
    named = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in named.items()
    )
    body = json.dumps(payload).encode()
    message = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message += struct.pack(">I", binascii.crc32(message)) + headers + body
    return message + struct.pack(">I", binascii.crc32(message))


def frames_of(*events: tuple[str, dict[str, Any]]) -> Raw:
    return Raw([_frame(kind, payload) for kind, payload in events], "application/vnd.amazon.eventstream")


def _delta(index: int, delta: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": delta}


_STREAM = frames_of(
    ("messageStart", {"role": "assistant"}),
    _delta(0, {"reasoningContent": {"text": "Look "}}),
    _delta(0, {"reasoningContent": {"text": "it up."}}),
    _delta(0, {"reasoningContent": {"signature": "c2ln"}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t1", "name": "get_weather"}}}),
    _delta(1, {"toolUse": {"input": '{"city": "Paris"}'}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    ("messageStop", {"stopReason": "tool_use"}),
    ("metadata", {"usage": _USAGE, "metrics": {"latencyMs": 1}}),
)
_ANSWER = frames_of(
    ("messageStart", {"role": "assistant"}),
    _delta(0, {"text": "Mild."}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("messageStop", {"stopReason": "end_turn"}),
    ("metadata", {"usage": _USAGE, "metrics": {"latencyMs": 1}}),
)


def _at(server: WireServer) -> dict[str, Any]:
    at = {"provider": "bedrock", "model": EVERY_MODEL["bedrock"], "base_url": server.base_url("bedrock"), "api_key": "k"}
    return {"models": {"m": at}}


_ASKED = Request(messages=[{"role": "user", "content": "Weather?"}], thinking=2000, max_tokens=4000)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_signed_reasoning_goes_back_before_its_call(streamed: bool) -> None:
    whole = [_whole(_SIGNED, _USE, stop="tool_use"), _whole({"text": "Mild."})]
    with WireServer([_STREAM, _ANSWER] if streamed else whole) as server:
        async with Orchestrator(_at(server), [get_weather]) as made:
            if streamed:
                (result,) = [event.result async for event in made.stream(_ASKED) if isinstance(event, Finished)]
            else:
                result = await made.run(_ASKED)
    (first,) = [block for block in result.messages[1].content if isinstance(block, ThinkingBlock)]
    assert (first.thinking, first.signature) == ("Look it up.", "c2ln")
    assert len(result.messages[1].content) == 2  # nothing else beside the call
    sent = server.requests[1].body
    assert sent["messages"][1]["content"][0] == _SIGNED
    assert "toolUse" in sent["messages"][1]["content"][1]
    assert sent["additionalModelRequestFields"]["thinking"]["type"] == "enabled"
    assert [attempt.dropped for attempt in result.attempts] == [[], []]


async def test_hidden_reasoning_that_cannot_go_back_is_told() -> None:
    hidden = {"reasoningContent": {"redactedContent": "b3BhcXVl"}}
    with WireServer([_whole(hidden, _USE, stop="tool_use"), _whole({"text": "Mild."})]) as server:
        async with Orchestrator(_at(server), [get_weather]) as made:
            result = await made.run(_ASKED)
    assert RedactedThinkingBlock(data="b3BhcXVl") in result.messages[1].content
    assert "b3BhcXVl" not in json.dumps(server.requests[1].body)
    assert list(result.attempts[1].dropped) == ["thinking", "reasoning of an earlier turn"]
