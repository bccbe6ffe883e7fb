"""A request that is cancelled before it went out leaves nothing behind: no coroutine that was never awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from llmcore.adapters.wire.watching import Watch, tells_what_it_makes
from llmcore.types import DEFAULT_LIMITS

pytestmark = pytest.mark.anyio


async def _request() -> None:
    """What LiteLLM would await."""


@pytest.mark.parametrize("made_first", [True, False], ids=["made before the cancellation", "made after it"])
async def test_what_was_made_for_a_cancelled_request_is_closed(made_first: bool) -> None:
    watch = Watch(DEFAULT_LIMITS, streamed=False, known=True)
    made: list[Coroutine[Any, Any, None]] = []

    def completion() -> Coroutine[Any, Any, None]:
        made.append(_request())
        return made[-1]

    async def acompletion() -> None:
        with watch.watching():
            complete = tells_what_it_makes(completion)
            if made_first:
                complete()
            try:
                await asyncio.sleep(10)
            finally:
                if not made_first:
                    asyncio.get_running_loop().call_soon(complete)

    task = asyncio.create_task(acompletion())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await asyncio.sleep(0)
    assert [inspect.getcoroutinestate(each) for each in made] == [inspect.CORO_CLOSED]


async def test_what_is_made_for_a_request_that_goes_on_is_awaited() -> None:
    watch = Watch(DEFAULT_LIMITS, streamed=False, known=True)
    with watch.watching():
        made = tells_what_it_makes(_request)()
        assert inspect.getcoroutinestate(made) == inspect.CORO_CREATED
        await made
