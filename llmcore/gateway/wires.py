"""The three wires that clients speak, as data: paths, the shapes of errors, and what a stream needs.

An error has the shape of its wire everywhere: as a body before the first byte of a reply, and as an event after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmcore.wire.sse import event_bytes

__all__ = ["ANTHROPIC", "CHAT", "COUNT_TOKENS", "RESPONSES", "WIRES", "ClientWire", "GatewayError", "error_wire"]

Json = dict[str, Any]


class GatewayError(Exception):
    """An answer that is an error. `message`: for the client. `status`: HTTP. `code`: OpenAI's; None derives it from the status.

    `retry_after`: seconds. `kind`: what the log says, because `message` may quote a server.
    """

    def __init__(
        self, status: int, message: str, *, code: str | None = None, retry_after: float | None = None, kind: str = ""
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.retry_after = status, message, code, retry_after
        self.kind = kind or code or f"status_{status}"


_OPENAI_TYPES = {429: "rate_limit_error", 403: "permission_error"}
_OPENAI_CODES = {
    401: "invalid_api_key",
    404: "not_found",
    408: "request_timeout",
    413: "request_too_large",
    429: "rate_limit_exceeded",
    502: "upstream_error",
    503: "upstream_overloaded",
    504: "upstream_timeout",
}
_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _fallback_type(status: int, fault: str) -> str:
    return "invalid_request_error" if status < 500 else fault


def _openai_fields(error: GatewayError) -> Json:
    kind = _OPENAI_TYPES.get(error.status) or _fallback_type(error.status, "server_error")
    return {"message": error.message, "type": kind, "param": None, "code": error.code or _OPENAI_CODES.get(error.status)}


def _openai_error(error: GatewayError) -> Json:
    return {"error": _openai_fields(error)}


def _anthropic_error(error: GatewayError) -> Json:
    kind = _ANTHROPIC_TYPES.get(error.status) or _fallback_type(error.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}}


def _chat_event(error: GatewayError, number: int) -> bytes:
    return event_bytes(_openai_error(error))


def _responses_event(error: GatewayError, number: int) -> bytes:
    fields = _openai_fields(error)
    event = {"type": "error", "code": fields["code"] or fields["type"], "message": error.message, "param": None}
    return event_bytes({**event, "sequence_number": number}, "error")


def _anthropic_event(error: GatewayError, number: int) -> bytes:
    return event_bytes(_anthropic_error(error), "error")


@dataclass(frozen=True, slots=True)
class ClientWire:
    """One wire.

    `path`: below `/v1`. `messages`: the field whose length is limited. `error`: an error as a body. `error_event`: as the last
    bytes of a stream; the number is the next `sequence_number`. `end_marks`: one of them is in the bytes of each stream that
    came to its end, or to an error of its server. `ping`: bytes that a client ignores.
    """

    name: str
    path: str
    messages: str
    error: Callable[[GatewayError], Json]
    error_event: Callable[[GatewayError, int], bytes]
    end_marks: tuple[bytes, ...]
    ping: bytes = b": ping\n\n"


CHAT = ClientWire(
    "openai-chat",
    "/chat/completions",
    "messages",
    _openai_error,
    _chat_event,
    (b"[DONE]", b'"finish_reason":"', b'"finish_reason": "', b'"error":{', b'"error": {'),
)
RESPONSES = ClientWire(
    "openai-responses",
    "/responses",
    "input",
    _openai_error,
    _responses_event,
    (b"response.completed", b"response.incomplete", b"response.failed", b"event: error"),
)
ANTHROPIC = ClientWire(
    "anthropic",
    "/messages",
    "messages",
    _anthropic_error,
    _anthropic_event,
    (b"message_stop", b'"stop_reason":"', b'"stop_reason": "', b"event: error"),
    event_bytes({"type": "ping"}, "ping"),
)
WIRES = (CHAT, RESPONSES, ANTHROPIC)
COUNT_TOKENS = "/messages/count_tokens"


def error_wire(path: str) -> ClientWire:
    """The wire whose errors a path answers with. Paths of no wire answer in OpenAI's shape."""
    return ANTHROPIC if "/messages" in path else CHAT
