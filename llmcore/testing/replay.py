"""`ReplayAdapter`: a recorded run answers again, exchange by exchange, bit for bit at the level it was recorded."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, cast

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.testing.failures import failed_generation_body, recorded_error
from llmcore.testing.replies import chunks_of
from llmcore.transcripts import Exchange, Transcript, read_transcripts, split_events
from llmcore.types import ConfigError, Reply

__all__ = ["ReplayAdapter"]

_ENDED: dict[str, Any] = {"llmcore": {"ended": True}}
"""What an adapter says of a stream that came to its own end."""


class ReplayAdapter:
    """Answers the n-th request with the n-th exchange of a transcript.

    `transcript`: a `Transcript`, its dict, or the path of a file whose first run is meant (`run` = the id of
    another). A recorded error is raised as the error it means. `requests` holds what was asked. More requests than
    exchanges are a `ConfigError`; `finished` tells whether all were used.
    """

    provider_id = "replay"

    def __init__(self, transcript: Transcript | Mapping[str, Any] | str | os.PathLike[str], *, run: str | None = None) -> None:
        self.transcript = _transcript(transcript, run)
        self.endpoint = Endpoint(
            provider=self.transcript.provider or "replay", model=self.transcript.model or "replay", alias="replay"
        )
        self.calls: list[ModelCall] = []

    @property
    def requests(self) -> list[Any]:
        return [call.request for call in self.calls]

    @property
    def finished(self) -> bool:
        return len(self.calls) >= len(self.transcript.exchanges)

    def reset(self) -> None:
        """Start the run anew."""
        self.calls.clear()

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return Capabilities()

    async def complete(self, call: ModelCall) -> Reply:
        exchange = self._next(call)
        raw = _raw(exchange)
        return Reply(
            raw=_frozen(raw),
            provider=self.transcript.provider,
            model=self.transcript.model,
            reasoning_open=exchange.reasoning_open,
        )

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        raw = _raw(self._next(call))
        for chunk in chunks_of(raw, None):
            yield chunk
        if not isinstance(raw, list):
            yield _ENDED

    def _next(self, call: ModelCall) -> Exchange:
        exchanges = self.transcript.exchanges
        if len(self.calls) >= len(exchanges):
            raise ConfigError(
                f"the transcript {self.transcript.label} holds {len(exchanges)} exchanges "
                f"and this is request {len(self.calls) + 1}"
            )
        self.calls.append(call)
        return exchanges[len(self.calls) - 1]


def _frozen(raw: object) -> object:
    """A stream's events as the tuple that says so; a body as it is."""
    return tuple(cast("list[object]", raw)) if isinstance(raw, list) else raw


def _raw(exchange: Exchange) -> Any:
    """The reply as it was recorded: a body, text, or the list of a stream's events. Raises a recorded error."""
    if exchange.kind == "error":
        body = failed_generation_body(exchange.error)
        if body is None:
            raise recorded_error(exchange.error)
        return body
    if exchange.kind == "chunks":
        return list(exchange.chunks or [])
    if exchange.kind == "text":
        return exchange.text or ""
    if exchange.kind == "sse" or (exchange.stream and isinstance(exchange.response, str)):
        text = exchange.sse or "" if exchange.kind == "sse" else str(exchange.response)
        ended = [_ENDED] if text.rstrip().endswith("[DONE]") else []
        return [*split_events(text)[0], *ended]
    return exchange.response


def _transcript(given: Any, run: str | None) -> Transcript:
    if isinstance(given, Transcript):
        return given
    if isinstance(given, Mapping):
        return Transcript.model_validate(given)
    found = list(read_transcripts(Path(given)))
    chosen = [item for item in found if run is None or item.id == run]
    if not chosen:
        raise ConfigError(f"{given}: holds no run{f' {run!r}' if run else ''}; it has {[item.id for item in found][:10]}")
    return chosen[0]
