"""LiteLLM as the tests call it, and what a caller reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any, NamedTuple

from llmcore.adapters.litellm.engine import litellm_now
from llmcore.wire.sse import json_bytes
from tests.helpers.wire_server import Raw, WireServer
from tests.integrations.httpx.support import ASK, CHAT_TOOLS
from tests.wire.support import WIRES
from tests.wire.test_exchange import stream_bytes

__all__ = ["CHAT", "LEAD", "Got", "asked", "gathered", "litellm", "read", "read_stream", "served", "two_choices"]

litellm: Any = litellm_now()  # its import would make requests without llmcore's settings
CHAT = WIRES[0]
LEAD = "I look.\n"


def asked(server: WireServer, **options: Any) -> dict[str, Any]:
    """The arguments of a call with tools."""
    base = server.base_url("openai")
    return {"model": "openai/m", "messages": ASK, "tools": CHAT_TOOLS, "api_base": base, "api_key": "k", **options}


def served(text: str) -> Any:
    """The script of a server that answers with this text, whole or streamed."""

    def script(seen: Any) -> Raw:
        if seen.streaming:
            return Raw([stream_bytes(CHAT, text)], "text/event-stream")
        return Raw([json_bytes(CHAT.body(text))])

    return script


def two_choices(seen: Any) -> Raw:
    """A server's reply with two choices, which have calls of two cities."""
    texts = [f'<tool_call>{{"name": "get_weather", "arguments": {{"city": "{city}"}}}}</tool_call>' for city in ("Paris", "Rome")]
    if not seen.streaming:
        bodies = [CHAT.body(text) for text in texts]
        choices = [{**body["choices"][0], "index": n} for n, body in enumerate(bodies)]
        return Raw([json_bytes({**bodies[0], "choices": choices})])
    streams = [[event for event in CHAT.events([text]) if event["choices"]] for text in texts]
    events = [
        {**event, "choices": [{**event["choices"][0], "index": n}]}
        for events in zip(*streams, strict=True)
        for n, event in enumerate(events)
    ]
    return Raw([b"data: %b\n\n" % json_bytes(event) for event in events] + [b"data: [DONE]\n\n"], "text/event-stream")


class Got(NamedTuple):
    """What a caller has in its hands. `calls`: the ids, names and arguments."""

    text: str
    calls: list[tuple[str, str, str]]
    end: str | None

    @property
    def names(self) -> list[str]:
        return [name for _, name, _ in self.calls]


def read(response: Any, choice: int = 0) -> Got:
    """A whole reply."""
    chosen = response.choices[choice]
    calls = [(call.id, call.function.name, call.function.arguments) for call in chosen.message.tool_calls or ()]
    return Got(chosen.message.content or "", calls, chosen.finish_reason)


def read_stream(chunks: Iterable[Any], choice: int = 0) -> Got:
    """The chunks of a stream."""
    text, calls, end = "", list[tuple[str, str, str]](), None
    for chunk in chunks:
        for part in chunk.choices:
            if part.index == choice:
                text += part.delta.content or ""
                calls += [(call.id, call.function.name, call.function.arguments) for call in part.delta.tool_calls or ()]
                end = part.finish_reason or end
    return Got(text, calls, end)


async def gathered(stream: AsyncIterator[Any]) -> list[Any]:
    return [chunk async for chunk in stream]
