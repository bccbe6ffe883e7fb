"""If the caller's async functions ignore cancellation, the run still ends at its deadline."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, RunContext, tool
from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.types import RemoteServerError, Timeout
from tests.run.support import add, called

pytestmark = pytest.mark.anyio


@pytest.fixture
async def over() -> AsyncGenerator[asyncio.Event]:
    """Set at the end, so that nothing is left for other tests."""
    event = asyncio.Event()
    yield event
    event.set()
    await asyncio.sleep(0.06)


def deaf(over: asyncio.Event) -> Any:
    async def function(value: object = None) -> Any:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)

    return function


def _without_arguments(function: Any) -> Any:
    async def asked() -> Any:
        return await function()

    return asked


def _options(place: str, function: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the orchestrator, and those of the run."""
    options: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "output_validators": ({"output_validators": [function]}, {}),
        "checkpoint": ({"checkpoint": function}, {}),
        "tools": ({"tools": _without_arguments(function)}, {}),
        "interjections": ({}, {"interjections": _without_arguments(function)}),
        "requires_approval": ({"tools": [tool(add, requires_approval=function)]}, {}),
        "token_counter": ({"token_counter": function, "max_context_tokens": 1000}, {}),
    }
    return options[place]


@pytest.mark.parametrize(
    "place", ["output_validators", "checkpoint", "tools", "interjections", "requires_approval", "token_counter"]
)
async def test_what_is_deaf_to_its_cancellation_is_left_behind(place: str, over: asyncio.Event) -> None:
    options, per_run = _options(place, deaf(over))
    made: dict[str, Any] = {"tools": [add], **options}
    model = FakeModel(called("add", {"a": 1, "b": 2})).default_text("done")
    began = time.monotonic()
    with pytest.raises(Timeout, match="deadline"):
        await Orchestrator(model, **made).run("go", deadline=0.2, **per_run)
    assert time.monotonic() - began < 30


async def test_a_run_that_is_cancelled_ends_though_its_validator_does_not(over: asyncio.Event) -> None:
    running = asyncio.ensure_future(Orchestrator(FakeModel("done"), output_validators=[deaf(over)]).run("go"))
    await asyncio.sleep(0.1)
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=30)
    assert done
    assert running.cancelled()


async def test_what_a_function_sets_in_the_context_holds() -> None:
    async def checked(value: str, context: RunContext[list[str]]) -> None:
        context.deps.append(value)

    deps: list[str] = []
    await Orchestrator(FakeModel("done"), output_validators=[checked], deps=deps).run("go")
    assert deps == ["done"]


class DeafAdapter:
    """An adapter of a caller's own that goes on when it is cancelled."""

    provider_id = "own"

    def __init__(self, over: asyncio.Event) -> None:
        self._deaf = deaf(over)

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return Capabilities()

    async def complete(self, call: ModelCall) -> Any:
        return await self._deaf()

    async def stream(self, call: ModelCall) -> AsyncGenerator[str]:
        yield "half"
        await self._deaf()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("own", [True, False])
async def test_a_run_stops_waiting_for_an_adapter_that_ignores_cancellation(
    own: bool, streamed: bool, over: asyncio.Event
) -> None:
    adapter: Any = DeafAdapter(over) if own else FakeModel(default=deaf(over))
    models = {"models": {"m": {"provider": "custom", "model": "x"}}}
    orchestrator = Orchestrator(models, adapter=adapter) if own else Orchestrator(adapter)
    run = consumed(orchestrator, 0.2) if streamed else orchestrator.run("go", deadline=0.2)
    started = time.perf_counter()
    with pytest.raises(Timeout):
        await run
    assert time.perf_counter() - started < 30
    waiting = asyncio.ensure_future(consumed(orchestrator, None) if streamed else orchestrator.run("go"))
    await asyncio.sleep(0.05)
    waiting.cancel()
    done, _ = await asyncio.wait([waiting], timeout=30)
    assert done == {waiting}
    assert waiting.cancelled()


class KeepsItToItself:
    """An adapter within which a cancellation gets lost, as `asyncio.wait_for` of Python 3.11 loses one; the server then fails."""

    provider_id = "custom"
    heeds_cancellation = True

    def __init__(self) -> None:
        self.asked, self.begun = 0, asyncio.Event()

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return Capabilities()

    async def _fail(self) -> Any:
        self.asked += 1
        self.begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        raise RemoteServerError("busy", status=503)

    async def complete(self, call: ModelCall) -> Any:
        return await self._fail()

    async def stream(self, call: ModelCall) -> AsyncGenerator[str]:
        yield await self._fail()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("deadline", [None, 30.0])
async def test_a_cancellation_that_got_lost_within_an_adapter_ends_the_run(streamed: bool, deadline: float | None) -> None:
    adapter: Any = KeepsItToItself()
    orchestrator = Orchestrator({"models": {"m": {"provider": "custom", "model": "x"}}}, adapter=adapter)
    run = asyncio.ensure_future(consumed(orchestrator, deadline) if streamed else orchestrator.run("go", deadline=deadline))
    await asyncio.wait_for(adapter.begun.wait(), 30)
    run.cancel()
    await asyncio.wait([run], timeout=30)
    assert run.cancelled()
    assert adapter.asked == 1


async def consumed(orchestrator: Orchestrator, deadline: float | None) -> None:
    async with orchestrator.stream("go", deadline=deadline) as events:
        async for _ in events:
            pass
