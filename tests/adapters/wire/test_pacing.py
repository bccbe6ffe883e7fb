"""A stream that is there already, however much of it, lets other tasks run and ends with its deadline."""

from __future__ import annotations

import asyncio
import gzip
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm
from llmcore.adapters.wire.traffic_watch import TrafficWatch, WireExchange
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.support.code.cooperative_work import Pace
from llmcore.testing import FakeModel
from llmcore.types import DEFAULT_LIMITS, Timeout
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio


async def _turns(counted: list[int]) -> None:
    """Counts how often the event loop came round."""
    for turn in itertools.count():
        counted[:] = [turn]
        await asyncio.sleep(0)


async def _at_once(data: bytes) -> AsyncIterator[bytes]:
    """Bytes that need no waiting for."""
    yield data


async def _drained(stream: AsyncIterator[Any]) -> None:
    async for _ in stream:
        pass


def _exchange(data: bytes, **headers: str) -> WireExchange:
    watch = TrafficWatch(DEFAULT_LIMITS, streamed=True, known=True)
    made = watch.begin("http://127.0.0.1/v1", 200, {"content-type": "text/event-stream", **headers}, _at_once(data))
    assert made is not None
    return made


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("read", ["litellm_body", "events"])
async def test_others_run_between_the_pieces_of_a_stream(monkeypatch: pytest.MonkeyPatch, read: str, packed: bool) -> None:
    monkeypatch.setattr("llmcore.support.code.cooperative_work._MAX_SECONDS", -1)
    data = b'data: {"choices": []}\n\n' * 10_000
    exchange = _exchange(gzip.compress(data), **{"content-encoding": "gzip"}) if packed else _exchange(data)
    counted = [0]
    async with asyncio.TaskGroup() as group:
        others = group.create_task(_turns(counted))
        async for _ in getattr(exchange, read)():
            pass
        others.cancel()
    assert counted[0] >= len(data) // 4096
    assert exchange.end.events == 10_000


SILENT = {
    "openai": b"data: {}\n\n",
    "anthropic": b"data: {}\n\n",
    "gemini": b"data: {}\n\n",
    "ollama": b'{"model": "m", "message": {"content": ""}, "done": false}\n',
}

_MANY = 200_000
"""Seconds of work, which a reader that ignores the deadline does to the end."""


@pytest.mark.parametrize("provider", SILENT)
async def test_a_stream_that_says_nothing_ends_with_its_deadline(
    adapter: LiteLLMAdapter, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watches: list[TrafficWatch] = []

    class Spied(TrafficWatch):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            watches.append(self)

    monkeypatch.setattr("llmcore.adapters.litellm.adapter.TrafficWatch", Spied)
    await litellm()
    packed = gzip.compress(SILENT[provider] * _MANY)
    with WireServer([Raw([packed], "text/event-stream", headers={"Content-Encoding": "gzip"})]) as server:
        reading = asyncio.create_task(_drained(adapter.stream(call_of(endpoint_at(server, provider)))))
        while not reading.done() and not (watches and watches[0].exchange and watches[0].exchange.end.events):
            await asyncio.sleep(0.001)  # else the time may be over before anything has come
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reading, 0.02)
    exchange = watches[0].exchange
    assert exchange is not None
    assert 0 < exchange.end.events < _MANY


async def test_what_is_sent_without_a_wait_ends_with_the_deadline() -> None:
    sent: list[int] = []

    class Eager(FakeModel):
        async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
            for number in range(200_000):
                sent.append(number)
                yield {"choices": [{"index": 0, "delta": {}}]}

    orchestrator = Orchestrator(
        ModelRegistry.from_dict({"models": {"m": {"provider": "fake", "model": "m"}}}), adapter=Eager("x")
    )
    with pytest.raises(Timeout, match="deadline"):
        await _drained(orchestrator.stream("hi", deadline=0.05))
    assert len(sent) < 200_000


async def test_a_rest_is_where_a_timeout_that_passed_ends_a_task() -> None:
    pace = Pace()

    async def works() -> None:
        while True:
            await pace.rest()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(works(), 0.05)
