"""Pass-through: a request goes to the model's server as it came, and calls in the text of the reply become native calls.

Two things of a request change: the name of the model, and tools that the server would refuse. Of a reply, what `HttpExchange`
rewrites changes. Every other field stays.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from llmcore.adapters.wire.terminators import parse_json
from llmcore.gateway.sending import STREAM_HEADERS, Sender
from llmcore.gateway.settings import ModelSettings
from llmcore.gateway.telemetry import RequestRecord
from llmcore.gateway.upstreams import Upstream, is_own_server, passed_reply_headers, upstream_of
from llmcore.gateway.wires import ANTHROPIC, COUNT_TOKENS, ClientWire, GatewayError
from llmcore.models import ModelConfig
from llmcore.support.values.narrowing import is_object, object_in, objects_in
from llmcore.types import CallerError
from llmcore.wire import ExchangeOptions, HttpExchange, decode_tools
from llmcore.wire.sse import json_bytes

__all__ = ["ESTIMATED", "Asked", "PassThrough", "dropped_header", "estimated_tokens"]

Json = dict[str, Any]
ESTIMATED = ("x-llmcore-estimated", "input_tokens")
"""The header of a count that is an estimate."""
_CONNECT_SECONDS = 10.0
_CHARACTERS_PER_TOKEN = 4
_NO_SUCH_PATH = frozenset({404, 405, 501})
_OF_THE_KEY = frozenset({401, 403})
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_END_LOOK_BACK = 32
"""An end mark may begin this many bytes before new bytes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a client. `body`: its JSON. `query`: of its URL. `headers`: in lower case."""

    wire: ClientWire
    body: Json
    headers: list[tuple[str, str]]
    query: str = ""


class _Reply(Protocol):
    """Rewrites the bytes of a stream."""

    def feed(self, data: bytes) -> bytes: ...

    def finish(self) -> bytes: ...


class PassThrough:
    """Sends requests on. `client`: an httpx client without limits of connections."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._without_count = set[str]()
        """The servers that count no tokens."""

    async def answer(
        self, asked: Asked, config: ModelConfig, settings: ModelSettings, sender: Sender, record: RequestRecord
    ) -> None:
        """Answer one request. Raises `GatewayError`."""
        body, dropped = _sent_body(asked, config, settings)
        options = ExchangeOptions(
            reasoning_open=config.reasoning_open, text_calls=config.text_calls or "standard", on_reply=record.note, extension=True
        )
        try:
            async with (
                asyncio.timeout(config.first_token_timeout if body.get("stream") is True else None) as first_piece,
                self._sent(asked, asked.wire.path, body, config) as (response, upstream),
            ):
                host = urlsplit(upstream.url).hostname or ""
                exchange = HttpExchange.of_request(asked.wire.path, body, options, host)
                if response.status_code != 200:
                    await _relay_error(response, asked.wire, config, sender)
                    return
                headers = [*passed_reply_headers(response.headers.items()), *dropped_header(dropped)]
                if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
                    await _relay_stream(response, exchange, headers, sender, first_piece)
                else:
                    raw = await _whole(response)
                    written = raw if exchange is None else exchange.body(raw)
                    await sender.body(200, written, [*headers, *record.repairs_header.items()])
        except TimeoutError:
            words = f"the server of {config.alias!r} sent nothing within {config.first_token_timeout:g} seconds"
            raise GatewayError(504, words, kind="upstream_timeout") from None

    async def count_tokens(self, asked: Asked, config: ModelConfig, settings: ModelSettings, sender: Sender) -> None:
        """Answer a request for the number of tokens: as the server does, or by an estimate if it cannot."""
        body, dropped = _sent_body(asked, config, settings)
        place = upstream_of(config.at("")).url
        if place not in self._without_count:
            async with self._sent(asked, COUNT_TOKENS, body, config) as (response, _):
                if response.status_code == 200:
                    headers = [*passed_reply_headers(response.headers.items()), *dropped_header(dropped)]
                    await sender.body(200, await _whole(response), headers)
                    return
                if response.status_code not in _NO_SUCH_PATH:
                    await _relay_error(response, ANTHROPIC, config, sender)
                    return
            self._without_count.add(place)
        await sender.body(200, json_bytes({"input_tokens": estimated_tokens(body)}), [ESTIMATED])

    @asynccontextmanager
    async def _sent(
        self, asked: Asked, path: str, body: Json, config: ModelConfig
    ) -> AsyncGenerator[tuple[httpx.Response, Upstream]]:
        """The response of the first place that can be reached, with its head read. It is closed at the end, in any case."""
        timeout = httpx.Timeout(config.timeout, connect=min(_CONNECT_SECONDS, config.timeout), pool=None)
        response: httpx.Response | None = None
        for at, place in enumerate(config.places, 1):
            upstream = upstream_of(config.at(place))
            request = self._client.build_request(
                "POST",
                upstream.address(path, asked.query),
                content=json_bytes({**body, "model": upstream.model}),
                headers=upstream.request_headers(asked.headers, is_anthropic=asked.wire is ANTHROPIC),
                timeout=timeout,
            )
            try:
                response = await self._client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:  # nothing was sent, so another place may be asked
                if at == len(config.places):
                    raise _of_connection(error, config) from error
                continue
            except httpx.TransportError as error:
                raise _of_connection(error, config) from error
            try:
                yield response, upstream
            finally:
                await response.aclose()
            return


def _of_connection(error: httpx.TransportError, config: ModelConfig) -> GatewayError:
    if isinstance(error, httpx.TimeoutException):
        return GatewayError(504, f"the server of {config.alias!r} did not answer in time", kind="upstream_timeout")
    return GatewayError(502, f"the server of {config.alias!r} cannot be reached", kind="upstream_down")


def _cut(error: Exception) -> GatewayError:
    if isinstance(error, httpx.TimeoutException):
        return GatewayError(504, "the model's server sent nothing more in time", kind="upstream_timeout")
    return GatewayError(502, "the model's server broke the reply off", code="upstream_cut")


async def _whole(response: httpx.Response) -> bytes:
    """The body. Raises `GatewayError` if the server breaks it off."""
    try:
        return await response.aread()
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise _cut(error) from error


async def _relay_stream(
    response: httpx.Response,
    exchange: HttpExchange | None,
    headers: list[tuple[str, str]],
    sender: Sender,
    first_piece: asyncio.Timeout,
) -> None:
    reply: _Reply = _Unchanged() if exchange is None else exchange.stream()
    end = _EndWatch(sender.wire)
    kept = [(name, value) for name, value in headers if name not in STREAM_HEADERS]
    await sender.start(200, [*kept, *STREAM_HEADERS.items()])
    try:
        is_plain = "content-encoding" not in response.headers
        async for piece in response.aiter_raw() if is_plain else response.aiter_bytes():
            if not end.has_begun:
                first_piece.reschedule(None)
            end.feed(piece)
            if written := reply.feed(piece):
                await sender.write(written)
    except (httpx.TransportError, httpx.DecodingError) as error:
        await sender.write(reply.finish())
        raise _cut(error) from error
    await sender.write(reply.finish())
    if not end.found:
        raise GatewayError(502, "the model's server ended the stream before the reply's end", code="upstream_cut")
    await sender.end()


class _Unchanged:
    """A stream that passes byte for byte."""

    def feed(self, data: bytes) -> bytes:
        return data

    def finish(self) -> bytes:
        return b""


class _EndWatch:
    """Looks for the mark that a stream came to its end. A connection can end cleanly in the middle of a reply."""

    __slots__ = ("_marks", "_tail", "found", "has_begun")

    def __init__(self, wire: ClientWire) -> None:
        self._marks = wire.end_marks
        self._tail = b""
        self.has_begun = self.found = False

    def feed(self, data: bytes) -> None:
        self.has_begun = True
        if self.found:
            return
        seen = self._tail + data
        self.found = any(mark in seen for mark in self._marks)
        self._tail = seen[-_END_LOOK_BACK:]


async def _relay_error(response: httpx.Response, wire: ClientWire, config: ModelConfig, sender: Sender) -> None:
    """Pass the server's error on if it has the wire's shape and does not concern the gateway's own key."""
    status = response.status_code
    raw = await _whole(response)
    body = parse_json(raw)
    if status in _OF_THE_KEY:
        raise GatewayError(502, f"the server of {config.alias!r} refused the gateway's key (HTTP {status})", code="upstream_key")
    if status >= 400 and is_object(body) and is_object(error := body.get("error")) and error.get("message"):
        shaped = {"type": "error", **body} if wire is ANTHROPIC else body
        await sender.body(status, raw if shaped == body else json_bytes(shaped), passed_reply_headers(response.headers.items()))
        return
    words = f"the server of {config.alias!r} answered HTTP {status}"
    if status in _NO_SUCH_PATH:
        words += f"; if it has no {wire.path}, set `gateway.models.{config.alias}.mode: orchestrated`"
    raise GatewayError(status if status >= 400 else 502, words, code="upstream_error")


def _sent_body(asked: Asked, config: ModelConfig, settings: ModelSettings) -> tuple[Json, list[str]]:
    """The body for the server, and the names of the tools that are left out."""
    body = asked.body
    choice = settings.built_in_tools or ("drop" if is_own_server(config) else "pass")
    if choice == "pass" or not body.get("tools"):
        return body, []
    try:
        dropped = decode_tools(body["tools"], built_in="drop", free_text="pass").dropped
    except CallerError:  # the server says what is wrong with them
        return body, []
    if not dropped:
        return body, []
    tools = [tool for tool in objects_in(body["tools"]) if not any(tool is each for each in dropped)]
    if not tools:
        return {key: value for key, value in body.items() if key not in ("tools", "tool_choice")}, _names(dropped)
    named = object_in(body.get("tool_choice")).get("name")
    if named is not None and named in {tool.get("name") for tool in dropped}:
        body = {key: value for key, value in body.items() if key != "tool_choice"}
    return {**body, "tools": tools}, _names(dropped)


def _names(tools: Iterable[Mapping[str, Any]]) -> list[str]:
    """The types of the tools, as far as a header can hold them."""
    return [kind if _SAFE_NAME.fullmatch(kind := str(tool.get("type"))) else "other" for tool in tools]


def dropped_header(names: Iterable[str]) -> list[tuple[str, str]]:
    """The header that names the parts of a request that the server did not get."""
    listed = ", ".join(dict.fromkeys(names))
    return [("x-llmcore-dropped", listed)] if listed else []


def estimated_tokens(body: Json) -> int:
    """About how many tokens a request has: a fourth of the characters of its messages, system prompt and tools."""
    counted = {key: body[key] for key in ("messages", "system", "tools") if key in body}
    return max(1, len(json_bytes(counted)) // _CHARACTERS_PER_TOKEN)
