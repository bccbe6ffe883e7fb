"""Reads requests, and notices clients that leave.

An ASGI server reports that a client has left only through `receive`, which nobody calls while a reply is made. So each answer is
made in a task beside a task that waits for that report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from llmcore.adapters.wire.terminators import parse_json
from llmcore.gateway.settings import GatewayLimits
from llmcore.gateway.wires import ClientWire, GatewayError
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["ClientGoneError", "read_request", "receive_body", "unless_client_leaves"]


class ClientGoneError(Exception):
    """The client closed its connection, so nobody reads the answer."""


async def receive_body(receive: Any, limits: GatewayLimits, declared: str | None) -> bytes:
    """The body, counted while it arrives. `declared`: the header `content-length`.

    Raises `GatewayError` (413, 408) and `ClientGoneError`.
    """
    if declared is not None and declared.isdecimal() and int(declared) > limits.body:
        raise _too_large(limits)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_timeout):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                part: bytes = message.get("body", b"")
                size += len(part)
                if size > limits.body:
                    raise _too_large(limits)
                parts.append(part)
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise GatewayError(408, f"the body did not arrive within {limits.body_timeout:g} seconds") from None


def _too_large(limits: GatewayLimits) -> GatewayError:
    return GatewayError(413, f"the body is larger than {limits.body} bytes, the gateway's limit")


def read_request(body: bytes, wire: ClientWire, limits: GatewayLimits) -> dict[str, Any]:
    """The JSON object of a request, with its `model` and a list of messages within the limit. Raises `GatewayError` (400)."""
    request = parse_json(body)
    if not is_object(request):
        raise GatewayError(400, "the body is no JSON object", code="invalid_json")
    model = request.get("model")
    if not isinstance(model, str) or not model:
        raise GatewayError(400, "`model` must be the name of a model; GET /v1/models lists them", code="invalid_model")
    messages = request.get(wire.messages)
    if not (is_list(messages) or (isinstance(messages, str) and wire.messages == "input")):
        raise GatewayError(400, f"`{wire.messages}` must be a list", code="invalid_messages")
    if is_list(messages) and len(messages) > limits.messages:
        raise GatewayError(
            400,
            f"`{wire.messages}` has {len(messages)} entries, the gateway's limit is {limits.messages}",
            code="too_many_messages",
        )
    return request


async def unless_client_leaves(receive: Any, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, and cancel it when the client leaves. Then raises `ClientGoneError`, after the work has cleaned up.

    `receive` must have delivered the whole body. Errors of the work are raised as they are.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_until_disconnect(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
        await asyncio.wait((task, gone))
    if task.cancelled():
        raise ClientGoneError
    task.result()


async def _until_disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
