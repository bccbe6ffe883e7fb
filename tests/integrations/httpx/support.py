"""The two libraries, and chat requests and replies for clients that stand on them."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.wire.sse import json_bytes
from tests.helpers.wire_server import Raw, WireServer
from tests.wire.support import TOOLS, Wire
from tests.wire.test_exchange import stream_bytes

__all__ = ["ASK", "CHAT_TOOLS", "LIBRARIES", "event_stream", "raw_reply", "whole_body"]

CHAT_TOOLS: Any = [{"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}} for tool in TOOLS]
ASK: Any = [{"role": "user", "content": "How is the weather?"}]
LIBRARIES = pytest.mark.parametrize("name", ["httpx", "httpx2"])


def whole_body(wire: Wire, text: str) -> Raw:
    """A whole reply with this text."""
    return Raw([json_bytes(wire.body(text))])


def event_stream(wire: Wire, text: str, **options: Any) -> Raw:
    """A stream with this text."""
    return Raw([stream_bytes(wire, text)], "text/event-stream", **options)


def raw_reply(client: Any, reply: Raw) -> tuple[bytes, Any]:
    """The bytes, as they are on the wire, and the headers that this client gets for a chat request."""
    with WireServer([reply]) as server, client:
        request = client.build_request("POST", server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})
        response = client.send(request, stream=True)
        try:
            return b"".join(response.iter_raw()), response.headers
        finally:
            response.close()
