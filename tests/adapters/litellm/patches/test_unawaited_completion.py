"""A request that is cancelled before it went out leaves nothing behind: no coroutine that was never awaited."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import warnings
from collections.abc import Coroutine
from typing import Any

import pytest

from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.litellm.patches.unawaited_completion import PATCHES
from llmcore.adapters.wire.traffic_watch import TrafficWatch
from llmcore.types import DEFAULT_LIMITS

pytestmark = pytest.mark.anyio


async def _request() -> None:
    """What LiteLLM would await."""


@pytest.mark.parametrize("made_first", [True, False], ids=["made before the cancellation", "made after it"])
async def test_what_was_made_for_a_cancelled_request_is_closed(made_first: bool) -> None:
    watch = TrafficWatch(DEFAULT_LIMITS, streamed=False, known=True)
    made: list[Coroutine[Any, Any, None]] = []

    def completion() -> Coroutine[Any, Any, None]:
        made.append(_request())
        return made[-1]

    async def acompletion() -> None:
        with watch.active():
            complete = PATCHES[0].wrap(completion)
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
    watch = TrafficWatch(DEFAULT_LIMITS, streamed=False, known=True)
    with watch.active():
        made = PATCHES[0].wrap(_request)()
        assert inspect.getcoroutinestate(made) == inspect.CORO_CREATED
        await made


@pytest.mark.parametrize("patched", [False, True], ids=["LiteLLM's own", "patched"])
async def test_litellm_leaves_the_coroutine_of_a_cancelled_request(patched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    module, main = litellm_now(), __import__("litellm.main", fromlist=["completion"])
    own = main.completion.__wrapped__
    entered, cancelled, made = threading.Event(), threading.Event(), threading.Event()

    def completion(*args: Any, **kwargs: Any) -> Any:
        entered.set()
        cancelled.wait(30)
        return own(*args, **kwargs)

    complete = PATCHES[0].wrap(completion) if patched else completion

    def in_thread(*args: Any, **kwargs: Any) -> Any:
        try:
            return complete(*args, **kwargs)
        finally:
            made.set()

    monkeypatch.setattr(main, "completion", in_thread)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with_watch = TrafficWatch(DEFAULT_LIMITS, streamed=False, known=True)

        async def ask() -> None:
            with with_watch.active():
                await module.acompletion(model="openai/gpt-4o", api_key="k", messages=[{"role": "user", "content": "x"}])

        task = asyncio.create_task(ask())
        await asyncio.to_thread(entered.wait, 30)
        task.cancel()
        await asyncio.wait([task])
        cancelled.set()
        await asyncio.to_thread(made.wait, 30)
        await asyncio.sleep(0.05)  # the thread lets its result go
        gc.collect()
    left = [str(warning.message) for warning in warned if "was never awaited" in str(warning.message)]
    assert bool(left) is not patched
