"""Cohere's chat, version 2: a provider without a row, whose streams LiteLLM cannot read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Orchestrator, RunResult
from llmcore.types import Finished, Request, TextDelta
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio
_USAGE = {"billed_units": {"input_tokens": 5, "output_tokens": 2}, "tokens": {"input_tokens": 11, "output_tokens": 7}}
_CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 12 degrees"


def _whole(finish: str, **message: Any) -> Raw:
    return Raw(
        [json.dumps({"id": "1", "finish_reason": finish, "message": {"role": "assistant", **message}, "usage": _USAGE}).encode()]
    )


def _streamed(finish: str, *events: tuple[str, dict[str, Any]]) -> Raw:
    every: list[tuple[str, dict[str, Any]]] = [
        ("message-start", {"id": "1", "delta": {"message": {"role": "assistant"}}}),
        *((kind, {"index": 0, "delta": {"message": message}}) for kind, message in events),
        ("message-end", {"delta": {"finish_reason": finish, "usage": _USAGE}}),
    ]
    lines = [f"event: {kind}\ndata: {json.dumps({'type': kind, **event})}\n\n".encode() for kind, event in every]
    return Raw(lines, "text/event-stream")


_WHOLE = [
    _whole("TOOL_CALL", tool_calls=[_CALL]),
    _whole("COMPLETE", content=[{"type": "text", "text": "It is mild."}]),
]
_STREAMED = [
    _streamed(
        "TOOL_CALL",
        ("tool-call-start", {"tool_calls": {**_CALL, "function": {"name": "get_weather", "arguments": ""}}}),
        ("tool-call-delta", {"tool_calls": {"function": {"arguments": '{"city": "Par'}}}),
        ("tool-call-delta", {"tool_calls": {"function": {"arguments": 'is"}'}}}),
        ("tool-call-end", {}),
    ),
    _streamed(
        "COMPLETE",
        ("content-start", {"content": {"type": "text", "text": ""}}),
        ("content-delta", {"content": {"text": "It is "}}),
        ("content-delta", {"content": {"text": "mild."}}),
        ("content-end", {}),
    ),
]


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_a_call_its_result_and_an_answer(streamed: bool) -> None:
    request = Request.model_validate({"messages": "Weather?", "top_p": 0.9, "tool_choice": {"name": "get_weather"}})
    texts: list[str] = []
    result: RunResult | None = None
    with WireServer(_STREAMED if streamed else _WHOLE) as server:
        at = {"provider": "cohere_chat", "model": "command-r-plus", "base_url": f"{server.root}/v2/chat", "api_key": "k"}
        async with Orchestrator({"models": {"m": at}}, [get_weather]) as made:
            if streamed:
                async for event in made.stream(request):
                    texts += [event.text] if isinstance(event, TextDelta) else []
                    result = event.result if isinstance(event, Finished) else None
            else:
                result = await made.run(request)
    assert result is not None
    assert (result.content, [record.value for record in result.tool_results]) == ("It is mild.", ["Paris: 12 degrees"])
    assert len(texts) == (2 if streamed else 0)  # as they came, not all at the end
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.estimated) == (22, 14, False)
    assert server.requests[0].body["p"] == 0.9
    assert [list(attempt.dropped) for attempt in result.attempts] == [["tool_choice"], []]
