"""Replies for the SDKs' clients over loopback, and the tools that they offer."""

from __future__ import annotations

from typing import Any

from llmcore.wire.sse import json_bytes
from tests.helpers.wire_server import Raw
from tests.wire.support import TOOLS, Wire
from tests.wire.test_exchange import stream_bytes

__all__ = ["ANTHROPIC_TOOLS", "ASK", "CHAT_TOOLS", "RESPONSES_TOOLS", "event_stream", "whole_body"]

Json = dict[str, Any]
CHAT_TOOLS: Any = [{"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}} for tool in TOOLS]
RESPONSES_TOOLS: Any = [{"type": "function", **tool["function"], "strict": False} for tool in CHAT_TOOLS]
ANTHROPIC_TOOLS: Any = [{"name": tool.name, "input_schema": tool.parameters} for tool in TOOLS]
ASK: Any = [{"role": "user", "content": "How is the weather?"}]


def whole_body(wire: Wire, text: str) -> Raw:
    """A whole reply with this text."""
    return Raw([json_bytes(wire.body(text))])


def event_stream(wire: Wire, text: str, **options: Any) -> Raw:
    """A stream with this text."""
    return Raw([stream_bytes(wire, text)], "text/event-stream", **options)
