"""Orchestrated requests: an `Orchestrator` answers, with output modes, corrections, fallback, typed output and a budget.

The tools are the client's. Their calls end the run as pending calls, and the client receives them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from llmcore.gateway.decoding import ClientRequest, read_client_request
from llmcore.gateway.encoding import ReplyWriter, result_extension, whole_body
from llmcore.gateway.pass_through import ESTIMATED, Asked, dropped_header, estimated_tokens
from llmcore.gateway.sending import STREAM_HEADERS, Sender
from llmcore.gateway.settings import GatewaySettings, ModelSettings
from llmcore.gateway.telemetry import RequestRecord
from llmcore.gateway.wires import GatewayError
from llmcore.models import ModelConfig, ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.run.streaming.replies import LiveText, refusal_reply
from llmcore.types import (
    AuthenticationFailed,
    CallerError,
    CapabilityRefused,
    ContextOverflow,
    Finished,
    LimitExceeded,
    LLMCoreError,
    ModelError,
    ModelNotFound,
    Overloaded,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    Refused,
    RemoteServerError,
    RequestRefused,
    RequestTooLarge,
    Timeout,
)
from llmcore.wire import ReplyReport
from llmcore.wire.sse import json_bytes

__all__ = ["Orchestrated", "error_of"]

_STATUSES: Sequence[tuple[type[LLMCoreError], int, str]] = (
    (ModelNotFound, 404, "model_not_found"),
    (AuthenticationFailed, 502, "upstream_key"),
    (QuotaExceeded, 429, "insufficient_quota"),
    (LimitExceeded, 400, "budget_exceeded"),
    (ContextOverflow, 400, "context_length_exceeded"),
    (RequestTooLarge, 413, "request_too_large"),
    (RateLimited, 429, "rate_limit_exceeded"),
    (Overloaded, 503, "upstream_overloaded"),
    (Timeout, 504, "upstream_timeout"),
    (CallerError, 400, "invalid_request"),
    (Refused, 400, "content_filter"),
    (RemoteServerError, 502, "upstream_error"),
    (RequestRefused, 400, "invalid_request"),
    (CapabilityRefused, 400, "invalid_request"),
    (ProviderError, 502, "upstream_error"),
    (ModelError, 502, "model_failed"),
)
"""The status of each error. The first class counts: `FallbackExhausted` is an instance of each failure's class."""
_WAITING_EVENTS = 64
"""How many events of a run may wait for a slow client."""


def error_of(error: LLMCoreError) -> GatewayError:
    """The answer for an error that ended a run."""
    status, code = next(((status, code) for kind, status, code in _STATUSES if isinstance(error, kind)), (500, "internal_error"))
    if code == "upstream_error" and (error.status or 0) >= 500:
        status = error.status or status
    return GatewayError(status, str(error), code=code, retry_after=getattr(error, "retry_after", None), kind=type(error).__name__)


class Orchestrated:
    """Answers requests by runs of one orchestrator."""

    def __init__(self, registry: ModelRegistry, settings: GatewaySettings, adapter: Any) -> None:
        self._orchestrator = Orchestrator(registry, adapter=adapter, name="gateway", budget=settings.budget)
        self._ping = settings.ping

    async def close(self) -> None:
        """Close the connections."""
        await self._orchestrator.aclose()

    async def answer(
        self, asked: Asked, config: ModelConfig, settings: ModelSettings, sender: Sender, record: RequestRecord
    ) -> None:
        """Answer one request. Raises `GatewayError`."""
        request = read_client_request(asked.wire, asked.body)
        try:
            if request.streams:
                await self._stream(asked, request, config, settings, sender, record)
            else:
                result = await self._result(request, config)
                extension = _noted(result, request, record)
                body = whole_body(asked.wire, result, config.alias, request, extension)
                await sender.body(200, json_bytes(body), [*record.repairs_header.items(), *dropped_header(request.dropped)])
        except LLMCoreError as error:
            raise error_of(error) from error

    async def count_tokens(self, asked: Asked, sender: Sender) -> None:
        """Answer with an estimate."""
        estimate = json_bytes({"input_tokens": estimated_tokens(asked.body)})
        await sender.body(200, estimate, [ESTIMATED])

    async def _result(self, request: ClientRequest, config: ModelConfig) -> RunResult[Any]:
        try:
            return await self._orchestrator.run(request.messages, model=config.alias, **request.options)
        except Refused as error:
            return refusal_reply(error)

    async def _stream(
        self,
        asked: Asked,
        request: ClientRequest,
        config: ModelConfig,
        settings: ModelSettings,
        sender: Sender,
        record: RequestRecord,
    ) -> None:
        """Send the events. The head goes out with the first text or the first ping, so that earlier errors have their status."""
        writer = ReplyWriter(asked.wire, config.alias, request)
        text = LiveText(only_at_end=request.is_typed or settings.stream == "held")
        result: RunResult[Any] | None = None

        async def start() -> None:
            if not sender.status:
                await sender.start(200, [*STREAM_HEADERS.items(), *dropped_header(request.dropped)])
                await sender.write(writer.start(estimated_tokens(asked.body)))

        async with self._events(request, config) as events:
            async for event in _with_silences(events, self._ping):
                if event == "silence":
                    await start()
                    await sender.write(asked.wire.ping)
                elif isinstance(event, Finished):
                    result = cast("RunResult[Any]", event.result)  # pyright: ignore[reportUnknownMemberType]
                elif isinstance(event, Refused):
                    result = refusal_reply(event)
                elif isinstance(event, Exception):
                    raise event
                elif shown := text.shown(event):
                    await start()
                    await sender.write(writer.feed(shown))
        if result is None:
            raise GatewayError(500, "the run ended without a result", code="internal_error")
        await start()
        await sender.write(writer.feed(text.rest(result)))
        await sender.write(writer.finish(result, _noted(result, request, record)))
        await sender.end()

    @asynccontextmanager
    async def _events(self, request: ClientRequest, config: ModelConfig) -> AsyncGenerator[asyncio.Queue[Any]]:
        """The events of the run, from a task of its own: a wait for the next one may be broken off. The last entry is None.

        An error of the run is an entry too. The run is cancelled when the caller leaves early.
        """
        queue: asyncio.Queue[Any] = asyncio.Queue(_WAITING_EVENTS)

        async def produce() -> None:
            try:
                async with self._orchestrator.stream(request.messages, model=config.alias, **request.options) as events:
                    async for event in events:
                        await queue.put(event)
            except Exception as error:
                await queue.put(error)
            await queue.put(None)

        task = asyncio.ensure_future(produce())
        try:
            yield queue
        finally:
            task.cancel()
            await asyncio.wait((task,))


async def _with_silences(queue: asyncio.Queue[Any], seconds: float) -> AsyncGenerator[Any]:
    """The entries of the queue up to None, and "silence" whenever none came for so long."""
    while True:
        try:
            async with asyncio.timeout(seconds or None):
                entry = await queue.get()
        except TimeoutError:
            yield "silence"
            continue
        if entry is None:
            return
        yield entry


def _noted(result: RunResult[Any], request: ClientRequest, record: RequestRecord) -> dict[str, Any]:
    """The extension of a reply, which the record notes."""
    record.reports.append(ReplyReport(calls=result.pending))
    record.repairs += [each.repair for each in result.repairs]
    return result_extension(result, request.dropped)
