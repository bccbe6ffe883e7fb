"""A run whose coroutine is closed half-way, by other code than asyncio's: it cannot wait for anything any more.

A stream that is read there is not told of it before Python 3.13, as no generator is."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator
from llmcore.testing.replies import tool_call_body

pytestmark = pytest.mark.anyio


@types.coroutine
def _closed_when(is_time: Callable[[], bool], coroutine: Coroutine[Any, Any, object]) -> Generator[None, None, None]:
    """Carry the coroutine on until it is time, then close it."""
    step = coroutine.send(None)
    while not is_time():
        yield
        if not asyncio.isfuture(step) or step.done():
            step = coroutine.send(None)
    coroutine.close()


@pytest.mark.parametrize("calls", [1, 2])
async def test_its_tools_are_told_to_stop(calls: int) -> None:
    began: list[str] = []
    told: list[str] = []

    async def wait(place: str) -> None:
        began.append(place)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            told.append(place)
            raise

    places = ["here", "there"][:calls]
    orchestrator = Orchestrator(
        FakeModel(tool_call_body([("wait", {"place": place}) for place in places], None, 0), "done"), tools=[wait]
    )

    others = asyncio.all_tasks()
    await _closed_when(lambda: len(began) == calls, orchestrator.run("go"))
    while asyncio.all_tasks() - others:
        await asyncio.sleep(0)
    assert sorted(told) == places
