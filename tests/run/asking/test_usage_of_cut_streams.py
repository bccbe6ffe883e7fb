"""If a stream ends early, its usage is estimated, whatever ended it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore import Budget, FakeModel, Orchestrator, RunResult, Timeout
from llmcore.adapters.base import Endpoint, ModelCall, Prices
from llmcore.types import Event, LLMCoreError, TextDelta
from tests.run.support import FAST

pytestmark = pytest.mark.anyio

PRICED = Endpoint(provider="fake", model="m", prices=Prices(input=1.0, output=2.0))
WORDS = "word " * 200
ASKED = "y" * 400


class Slow(FakeModel):
    """As a server: piece by piece."""

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        async for piece in super().stream(call):
            await asyncio.sleep(0.005)
            yield piece


class Stalling(FakeModel):
    """Stops in mid-answer."""

    def __init__(self) -> None:
        super().__init__(WORDS, chunk_size=5, endpoint=PRICED)
        self.stalled = asyncio.Event()

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        pieces = 0
        async for piece in super().stream(call):
            yield piece
            pieces += 1
            if pieces == 30:
                self.stalled.set()
                await asyncio.sleep(60)


def is_estimated(result: RunResult, *, prompts: int = 1) -> bool:
    first, usage = result.attempts[0], result.usage
    assert first.time_to_first_token is not None
    assert first.usage.estimated
    assert 0 < (usage.cost or 0) < 1
    return usage.estimated and 100 * prompts <= usage.input_tokens < 130 * prompts and 5 < first.usage.output_tokens < 200


async def read(events: AsyncIterator[Event], *, pieces: int) -> None:
    count = 0
    async for event in events:
        count += isinstance(event, TextDelta)
        if count == pieces:
            return


async def test_left() -> None:
    async with Orchestrator(Slow(WORDS, chunk_size=5, endpoint=PRICED)).stream(ASKED) as stream:
        await read(stream, pieces=20)
    assert is_estimated(stream.result)


def test_left_without_an_event_loop() -> None:
    with Orchestrator(Slow(WORDS, chunk_size=5, endpoint=PRICED)).stream_sync(ASKED) as stream:
        for count, _ in enumerate(stream):
            if count == 20:
                break
    assert is_estimated(stream.result)


@pytest.mark.parametrize("budget", [Budget(deadline=0.3), Budget(deadline=0.3, tokens=10_000)], ids=["plain", "tokens"])
async def test_the_deadline_passes(budget: Budget) -> None:
    with pytest.raises(Timeout) as failed:
        await read(Orchestrator(Stalling()).stream(ASKED, budget=budget), pieces=1000)
    assert is_estimated(failed.value.partial)


async def test_cancelled() -> None:
    model = Stalling()
    stream = Orchestrator(model).stream(ASKED)
    task = asyncio.ensure_future(read(stream, pieces=1000))
    await asyncio.wait_for(model.stalled.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_estimated(stream.result)


BROKEN: dict[str, dict[str, Any] | None] = {
    "error": {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]},
    "cut": None,
}


@pytest.mark.parametrize("end", BROKEN.values(), ids=BROKEN)
async def test_ended_by_the_server(end: dict[str, Any] | None) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"content": "word word "}}]}] * 20
    fake = FakeModel([*pieces, end] if end else pieces, "Whole.", endpoint=PRICED)
    stream = Orchestrator(fake, strategies=FAST).stream(ASKED)
    await read(stream, pieces=1000)
    failed, whole = stream.result.attempts
    assert isinstance(failed.failure, LLMCoreError)
    assert (failed.usage.estimated, failed.usage.output_tokens, 100 <= failed.usage.input_tokens < 130) == (True, 50, True)
    assert failed.time_to_first_token is not None
    assert not whole.usage.estimated


async def test_of_which_nothing_came() -> None:
    """It may have been refused; nobody was told that anything was paid."""
    with pytest.raises(Timeout) as failed:
        await Orchestrator(FakeModel("x").delay(5)).run(ASKED, deadline=0.05)
    assert failed.value.partial.usage.total_tokens == 0
