"""The deadline holds even if the event loop was blocked and no timer fired: the clock is checked before each request and
before the result is returned."""

from __future__ import annotations

import time
from typing import Any

import pytest

from llmcore.adapters.base import Capabilities
from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import Finished, TerminateLoop, Timeout
from tests.run.support import called

pytestmark = pytest.mark.anyio

DEADLINE = 0.1


def _block() -> None:
    time.sleep(2 * DEADLINE)


@tool
async def block() -> str:
    """Blocks the loop."""
    _block()
    return "done"


@tool
async def block_and_end() -> str:
    """Blocks the loop, then ends the run."""
    _block()
    raise TerminateLoop("done")


async def _run(fake: FakeModel, streamed: bool, **options: Any) -> Timeout:
    orchestrator = Orchestrator(fake, [block, block_and_end], hooks=options.pop("hooks", None))

    async def listen() -> None:
        async for event in orchestrator.stream("x", **options):
            assert not isinstance(event, Finished)

    with pytest.raises(Timeout, match="the run's deadline has passed") as caught:
        await (listen() if streamed else orchestrator.run("x", **options))
    return caught.value


@pytest.mark.parametrize("streamed", [False, True])
async def test_no_request_is_made_after_a_tool_that_blocked(streamed: bool) -> None:
    fake = FakeModel(called("block", {}), default="late")
    error = await _run(fake, streamed, deadline=DEADLINE)
    partial: RunResult = error.partial
    assert fake.call_count == len(partial.attempts) == 1
    assert [record.content for record in partial.tool_results] == ["done"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_no_result_is_given_after_a_hook_that_blocked(streamed: bool) -> None:
    class Slow(Hooks):
        def on_response(self, envelope: Any) -> None:
            _block()

    error = await _run(FakeModel("late"), streamed, deadline=DEADLINE, hooks=[Slow()])
    assert error.partial.content == "late"


async def test_no_result_is_given_after_a_tool_that_blocked_and_ended_the_run() -> None:
    error = await _run(FakeModel(called("block_and_end", {})), False, deadline=DEADLINE)
    assert error.partial.content == "done"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_deadline_that_is_over_at_once_sends_nothing_and_says_so(streamed: bool) -> None:
    fake = FakeModel(default="late")
    error = await _run(fake, streamed, deadline=1e-9)
    assert fake.call_count == len(error.partial.attempts) == 0
    assert str(error) == "the run's deadline has passed; nothing was sent"


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_listener_that_holds_up_the_first_request_sees_none_made(streaming: bool) -> None:
    fake = FakeModel(default="late", capabilities=Capabilities(streaming=streaming))

    async def listen() -> None:
        async for _ in Orchestrator(fake).stream("x", deadline=DEADLINE):
            _block()

    with pytest.raises(Timeout, match="the run's deadline has passed"):
        await listen()
    assert fake.call_count == 0
