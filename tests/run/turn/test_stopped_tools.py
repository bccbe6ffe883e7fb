"""If a tool is stopped, every record has the time that it ran and its retries."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import FakeModel, Observer, Orchestrator, RetryConfig, ToolCall, ToolConfig, ToolStatistics, tool
from llmcore.run.results.result import ToolRecord

pytestmark = pytest.mark.anyio
_RUNS = 0.15


class Kept(Observer):
    def __init__(self) -> None:
        self.records: list[ToolRecord] = []

    def tool_ended(self, run: Any, record: ToolRecord, raised: BaseException | None) -> None:
        self.records.append(record)


def slow(at_work: asyncio.Event) -> Any:
    began: list[int] = []

    async def work() -> None:
        """Work."""
        began.append(1)
        if len(began) == 1:
            raise ValueError("the first try")
        at_work.set()
        await asyncio.sleep(60)

    return tool(work, retries=RetryConfig(max_retries=2, base=0.001))


def fail_late() -> str:
    """Fail."""
    import time

    time.sleep(_RUNS)
    raise ValueError


async def cancelled(orchestrator: Orchestrator, at_work: asyncio.Event) -> BaseException:
    task = asyncio.create_task(orchestrator.run("Go"))
    await at_work.wait()
    await asyncio.sleep(_RUNS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    return caught.value


async def past_its_deadline(orchestrator: Orchestrator, _: asyncio.Event) -> BaseException:
    with pytest.raises(Exception, match="deadline") as caught:
        await orchestrator.run("Go", deadline=4 * _RUNS)
    return caught.value


async def aborted(orchestrator: Orchestrator, _: asyncio.Event) -> BaseException:
    with pytest.raises(Exception, match="ValueError") as caught:
        await orchestrator.run("Go", tool_errors="abort")
    return caught.value


@pytest.mark.parametrize("stop", [cancelled, past_its_deadline, aborted])
async def test_a_stopped_tool_has_its_time_and_its_retries(stop: Callable[[Orchestrator, asyncio.Event], Any]) -> None:
    kept, statistics, names = Kept(), ToolStatistics(), ["work"] if stop is not aborted else ["work", "fail_late"]
    nothing: dict[str, Any] = {}
    fake = FakeModel().tool_calls(*((name, nothing) for name in names))
    at_work = asyncio.Event()
    error = await stop(Orchestrator(fake, [slow(at_work), fail_late], observers=[kept, statistics]), at_work)
    told = next(record for record in error.partial.tool_results if record.name == "work")
    seen = next(record for record in kept.records if record.name == "work")
    for record in (told, seen):
        assert record.ran
        assert _RUNS / 2 < record.duration < 5
        assert record.retries == 1
    assert statistics["work"].retries == 1
    assert statistics["work"].total_duration == told.duration


async def test_a_tool_whose_hook_stops_the_run_has_its_time() -> None:
    from llmcore import Hooks

    def stop(call: ToolCall, outcome: Any) -> None:
        raise KeyError("stop")

    async def nap() -> str:
        """Nap."""
        await asyncio.sleep(_RUNS)
        return "x"

    orchestrator = Orchestrator(FakeModel().tool_call("nap"), [nap], hooks=Hooks(after_tool_run=stop), tool_config=ToolConfig())
    with pytest.raises(KeyError) as caught:
        await orchestrator.run("Go")
    (record,) = vars(caught.value)["partial"].tool_results
    assert record.duration > _RUNS / 2


async def test_a_run_may_be_closed_half_way_in_a_tool() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    run = Orchestrator(FakeModel().tool_call("hang").text("never"), [hang]).run("Go")
    run.send(None)
    await asyncio.wait_for(begun.wait(), 10)
    run.close()
    await asyncio.wait_for(ended.wait(), 10)


def test_what_a_closed_loop_left_waiting_is_dropped_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def hang() -> str:
        begun.set()
        await asyncio.sleep(60)
        return "late"

    said: list[object] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _, context: said.append(context["message"]))  # asyncio's own words of its tasks
    task = loop.create_task(Orchestrator(FakeModel().tool_call("hang").text("never"), [hang]).run("Go"))
    loop.run_until_complete(asyncio.wait_for(begun.wait(), 30))
    loop.close()
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    del task
    gc.collect()
    assert unraisable == []
    assert set(said) == {"Task was destroyed but it is pending!"}
