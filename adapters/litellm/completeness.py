"""Decides from the received bytes how a call ended.

LiteLLM takes a cut stream for a whole one, and drops valid bodies with a missing field. If a reply is incomplete, or is no
reply, a `RemoteServerError` says so in one sentence.
"""

from __future__ import annotations

from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.urls import shown_url
from llmcore.adapters.wire.error_events import error_in, plain_words
from llmcore.adapters.wire.terminators import is_whole_reply, may_be_stream_line, why_no_reply, why_unreadable
from llmcore.adapters.wire.traffic_watch import WireExchange
from llmcore.support.values.narrowing import is_object
from llmcore.types import InternalError, RemoteServerError, Timeout

__all__ = ["body_of", "ending_of"]


def _fault(call: ModelCall, exchange: WireExchange, what: str) -> RemoteServerError:
    endpoint = call.endpoint
    name = endpoint.alias or f"{endpoint.provider}/{endpoint.model}"
    scrubber = process_scrubber([endpoint.api_key.get_secret_value() if endpoint.api_key else None])
    words = f"{scrubber.text(what)} (HTTP {exchange.status}, {scrubber.text(shown_url(exchange.url))})"
    return RemoteServerError(f"{name}: {words}", status=exchange.status)


def _not_a_reply(call: ModelCall, exchange: WireExchange) -> RemoteServerError | None:
    if not exchange.body.strip():
        return _fault(call, exchange, "the server sent nothing")
    if exchange.is_web_page:
        return _fault(call, exchange, "the server answered with a web page instead of a reply; is the base URL right?")
    return None


def _connection_words(exchange: WireExchange) -> str:
    return (
        f" and the connection broke ({type(exchange.connection_error).__name__})" if exchange.connection_error is not None else ""
    )


def _quoted_body(exchange: WireExchange) -> str:
    words = plain_words(exchange.body)
    return f": {words}" if words else ""


def _is_timeout(error: Exception) -> bool:
    return isinstance(classify(error), Timeout)


def ending_of(
    call: ModelCall, exchange: WireExchange | None, error: Exception | None, *, has_output: bool, known: bool
) -> dict[str, Any] | None:
    """At the end of a stream: None if the reply is whole as it was read, or the JSON body that arrived instead of a stream.

    `error` is what LiteLLM raised, if anything. `has_output`: some of the reply was read. `known`: the wire format is known,
    so that a stream without an end was cut. Raises what went wrong: a `RemoteServerError`, an `ErrorEvent`, or `error`
    itself.
    """
    if exchange is not None and exchange.is_read:
        _raise_failure(call, exchange, error)
    if exchange is None or not exchange.is_read or not exchange.ok or (error is not None and _is_timeout(error)):
        if error is not None:
            raise error
        return None
    if not has_output and is_object(document := exchange.document):
        if error_event := error_in(document):
            raise error_event
        if exchange.connection_error is not None:
            raise _fault_in_body(call, exchange) from error
        if is_whole_reply(document) and not may_be_stream_line(document):
            return document
    if not has_output and exchange.is_json_body and not exchange.end.known:
        raise _fault_in_body(call, exchange) from error
    if error is not None and exchange.end.events and (exchange.is_whole or not exchange.is_exhausted):
        if isinstance(classify(error), InternalError):  # LiteLLM failed, and the provider reported no error
            raise _fault(call, exchange, f"the stream holds what cannot be read ({type(error).__name__})") from error
        raise error
    nothing = not exchange.end.events and (known or not exchange.received)
    if error is not None or nothing or not (exchange.is_whole or not (known or exchange.end.known)):
        raise _fault_in_stream(call, exchange) from error
    return None


def body_of(call: ModelCall, exchange: WireExchange, error: Exception | None) -> dict[str, Any] | list[dict[str, Any]]:
    """Return the reply in a whole body: its JSON, or the events of a stream, which some servers send unasked.

    Raises what went wrong, like `ending_of`.
    """
    _raise_failure(call, exchange, error)
    document = exchange.document
    if error_event := error_in(document):
        raise error_event
    if error is not None and _is_timeout(error):
        raise error
    if exchange.connection_error is not None:
        raise _fault_in_body(call, exchange) from error
    if is_object(document) and is_whole_reply(document):
        return document
    if document is None and (events := exchange.events_in_body()):
        return events
    _raise_failure(call, exchange, error)
    raise _fault_in_body(call, exchange) from error


def _raise_failure(call: ModelCall, exchange: WireExchange, error: Exception | None) -> None:
    """Raises the reason why reading stopped, if there is one."""
    if not exchange.failure and exchange.error is None:
        return
    if exchange.error is not None:
        raise exchange.error
    raise _fault(call, exchange, exchange.failure) from error


def _fault_in_stream(call: ModelCall, exchange: WireExchange) -> RemoteServerError:
    """Why a stream without an end is no reply."""
    events = exchange.end.events
    if not events and (fault := _not_a_reply(call, exchange)):
        return fault
    if not events and exchange.connection_error is None:
        sent = f"the server sent {exchange.received} bytes of {exchange.kind or 'text'} without any event"
        return _fault(call, exchange, sent + _quoted_body(exchange))
    arrived = (
        f"{events} events ({exchange.received} bytes) came without a finish reason or an end mark{_connection_words(exchange)}"
    )
    return _fault(call, exchange, f"the stream ended before its end: {arrived}")


def _fault_in_body(call: ModelCall, exchange: WireExchange) -> RemoteServerError:
    """Why a whole body is no reply."""
    if fault := _not_a_reply(call, exchange):
        return fault
    if exchange.connection_error is not None and exchange.document is not None:
        return _fault(
            call, exchange, f"the reply ended before its end: {exchange.received} bytes came{_connection_words(exchange)}"
        )
    if exchange.document is not None:
        return _fault(
            call, exchange, why_no_reply(exchange.document) or "the reply ended before its end: it does not say that it is done"
        )
    if exchange.body.lstrip()[:1] not in (b"{", b"["):
        return _fault(
            call, exchange, f"the server answered with {exchange.kind or 'text'} that is no JSON{_quoted_body(exchange)}"
        )
    if why := why_unreadable(exchange.body):
        return _fault(call, exchange, f"the reply cannot be read: {why} ({exchange.received} bytes came)")
    return _fault(
        call,
        exchange,
        f"the reply ended before its end: {exchange.received} bytes came, no whole JSON{_connection_words(exchange)}",
    )
