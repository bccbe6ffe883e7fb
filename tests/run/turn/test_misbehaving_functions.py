"""Tools and hooks that do not stop, exit the process, or change their arguments."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import RunContext, tool
from llmcore.types import Timeout
from tests.run.support import add, assert_valid

pytestmark = pytest.mark.anyio


def calls_of(name: str, count: int) -> list[tuple[str, Any]]:
    return [(name, {}) for _ in range(count)]


class Stubborn:
    """A tool and a hook that ignore their cancellation until they are released."""

    def __init__(self) -> None:
        self.begun, self.release = asyncio.Event(), asyncio.Event()

    async def tool(self) -> str:
        self.begun.set()
        while not self.release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.release.wait()
        return "late"

    async def hook(self, *_: Any) -> None:
        await self.tool()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("how", ["timeout", "deadline", "cancellation"])
async def test_a_tool_that_ignores_its_cancellation_holds_up_no_run(how: str, count: int) -> None:
    stubborn = Stubborn()
    fake = FakeModel().tool_calls(*calls_of("stubborn", count)).text("done")
    orchestrator = Orchestrator(fake, [tool(name="stubborn")(stubborn.tool)])
    options: dict[str, dict[str, Any]] = {"timeout": {"tool_timeout": 0.05}, "deadline": {"deadline": 0.3}}
    task = asyncio.create_task(orchestrator.run("go", **options.get(how, {})))
    await asyncio.wait_for(stubborn.begun.wait(), 30)
    if how == "cancellation":
        task.cancel()
    await asyncio.wait([task], timeout=30)
    assert task.done()
    stubborn.release.set()
    if how == "timeout":
        messages = task.result().messages
    else:
        with pytest.raises(Timeout if how == "deadline" else asyncio.CancelledError) as caught:
            await task
        partial: RunResult = getattr(caught.value, "partial")  # noqa: B009  (not every class has one)
        messages = partial.messages
    assert_valid(messages)
    assert "late" not in [block.text for block in messages[2].tool_results]


@pytest.mark.parametrize("name", ["before_request", "on_response", "before_tool_run", "after_tool_run", "on_tool_response"])
async def test_a_hook_that_does_not_end_stands_under_the_deadline(name: str) -> None:
    stubborn = Stubborn()
    hooks = Hooks(**{name: stubborn.hook})
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("done")
    task = asyncio.create_task(Orchestrator(fake, [add], hooks=hooks).run("go", deadline=0.3))
    await asyncio.wait([task], timeout=30)
    ended = task.done()
    stubborn.release.set()
    assert ended
    with pytest.raises(Timeout, match=f"deadline has passed while the hook {name} ran") as caught:
        await task
    assert_valid(caught.value.partial.messages)


async def test_a_hook_after_a_tool_has_a_little_more_than_the_deadline() -> None:
    async def late(*_: Any) -> None:
        await asyncio.sleep(0.2)

    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("done").delay(0.01)
    with pytest.raises(Timeout) as caught:
        await Orchestrator(fake, [add], hooks=Hooks(after_tool_run=late)).run("go", deadline=0.15)
    assert caught.value.partial.messages[2].tool_results[0].text == "3"


async def test_a_hook_that_cancels_itself_does_not_cancel_the_run() -> None:
    async def cancels(*_: Any) -> None:
        raise asyncio.CancelledError

    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("done")
    with pytest.raises(RuntimeError, match="the hook on_response was cancelled by its own code"):
        await Orchestrator(fake, [add], hooks=Hooks(on_response=cancels)).run("go")


async def test_tools_that_block_leave_other_runs_alone() -> None:
    release = threading.Event()

    def blocks() -> str:
        release.wait(60)
        return "released"

    busy = Orchestrator(FakeModel().tool_calls(*calls_of("blocks", 40)).text("done"), [blocks], max_parallel_tools=40)
    task = asyncio.create_task(busy.run("go"))
    await asyncio.sleep(0.05)
    other = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")
    assert (await asyncio.wait_for(Orchestrator(other, [add]).run("go"), 30)).content == "3"
    release.set()
    assert (await task).content == "done"


async def test_a_tool_that_exits_ends_neither_the_run_nor_its_siblings() -> None:
    def leaves() -> None:
        sys.exit(3)

    async def interrupts() -> None:
        raise KeyboardInterrupt

    fake = FakeModel().tool_calls(("leaves", {}), ("interrupts", {}), ("add", {"a": 1, "b": 2})).text("done")
    result = await Orchestrator(fake, [leaves, interrupts, add]).run("go")
    assert [block.text for block in result.messages[2].tool_results] == ["SystemExit: 3", "KeyboardInterrupt: ", "3"]


async def test_what_a_tool_does_to_what_it_is_shown_changes_no_history() -> None:
    def spoils(items: Any, context: RunContext[Any]) -> int:
        items.append("spoiled")
        for message in context.messages:
            message.content.clear()
        use = context.messages[-1].tool_uses[0]
        assert use.input is not None
        use.input.clear()
        return len(items)

    fake = FakeModel().tool_call("spoils", {"items": [1]}).text("done")
    result = await Orchestrator(fake, [spoils]).run("go")
    assert (result.messages[0].text, result.messages[1].tool_uses[0].input) == ("go", {"items": [1]})
    assert fake.requests[1].messages[1].tool_uses[0].input == {"items": [1]}


async def test_a_live_list_in_a_dynamic_schema_changes_no_earlier_request() -> None:
    cities = ["Paris"]

    @tool(params={"city": {"type": "string", "enum": lambda: cities}})
    def visit(city: str) -> str:
        cities.append("Rome")
        return city

    fake = FakeModel().tool_call("visit", {"city": "Paris"}).text("done")
    await Orchestrator(fake, [visit]).run("go")
    offered = [call.tools[0].parameters["properties"]["city"]["enum"] for call in fake.calls]
    assert offered == [["Paris"], ["Paris", "Rome"]]
