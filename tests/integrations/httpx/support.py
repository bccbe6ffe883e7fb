"""The two libraries, and chat requests and replies for clients that stand on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.wire_server import Raw, WireServer
from tests.wire.support import TOOLS

__all__ = ["CHAT_TOOLS", "LIBRARIES", "raw_reply"]

CHAT_TOOLS: Any = [{"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}} for tool in TOOLS]
LIBRARIES = pytest.mark.parametrize("name", ["httpx", "httpx2"])


def raw_reply(client: Any, reply: Raw) -> tuple[bytes, Any]:
    """The bytes, as they are on the wire, and the headers that this client gets for a chat request."""
    with WireServer([reply]) as server, client:
        request = client.build_request("POST", server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})
        response = client.send(request, stream=True)
        try:
            return b"".join(response.iter_raw()), response.headers
        finally:
            response.close()
