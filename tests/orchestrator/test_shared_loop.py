"""What a tool sets on the shared event loop has no effect on later runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("set by a tool")


ATTRIBUTES = [
    *("create_task", "call_later", "call_at", "call_soon", "call_soon_threadsafe", "run_in_executor", "getaddrinfo"),
    *("create_connection", "create_future", "time", "stop", "close", "set_debug", "__class__"),
    *("_default_executor", "_task_factory", "_exception_handler", "_selector", "_ready", "slow_callback_duration"),
]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_what_is_set_on_the_loop_as_an_attribute_changes_nothing(name: str, caplog: pytest.LogCaptureFixture) -> None:
    async def set_it() -> str:
        loop = asyncio.get_running_loop()
        before = getattr(loop, name)
        setattr(loop, name, broken)
        delattr(loop, name)
        assert getattr(loop, name) == before
        return "set"

    async def use() -> str:
        loop = asyncio.get_running_loop()
        await asyncio.wait_for(asyncio.create_task(asyncio.sleep(0.001)), 5)
        await asyncio.to_thread(str)
        await loop.getaddrinfo("localhost", 80)
        return f"as ever at {loop.time():.0f}"

    calls = FakeModel().tool_call("set_it").tool_call("use").text("Done.")
    with caplog.at_level("WARNING", "llmcore.tools"):
        result = Orchestrator(calls, [set_it, use]).run_sync("go")
    assert [record.error for record in result.tool_results] == [None, None]
    assert caplog.text.count(f"`{name}` changes nothing on the event loop") == 2
    assert Orchestrator(FakeModel().tool_call("use").text("Done."), [use]).run_sync("go").content == "Done."


def test_an_attribute_of_ones_own_may_be_set_on_the_loop() -> None:
    async def note() -> str:
        loop: Any = asyncio.get_running_loop()
        loop.seen_by_a_library = True
        del loop.seen_by_a_library
        return "noted"

    assert Orchestrator(FakeModel().tool_call("note").text("Done."), [note]).run_sync("go").tool_results[0].error is None


def test_the_loop_itself_drops_timers_that_were_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    """asyncio replaces its heap of timers when most of them are cancelled."""
    timers = 500

    async def waits() -> int:
        loop: Any = asyncio.get_running_loop()
        for _ in range(timers):
            loop.call_later(600, print).cancel()
        await asyncio.sleep(0.01)
        return len(loop._scheduled)

    with caplog.at_level("WARNING", "llmcore.tools"):
        result = Orchestrator(FakeModel().tool_call("waits").text("Done."), [waits]).run_sync("go")
    assert result.tool_results[0].value < timers / 2
    assert caplog.text == ""


@pytest.mark.parametrize("name", ["set_task_factory", "set_exception_handler", "set_debug"])
def test_a_method_of_asyncio_called_by_its_class_changes_nothing(name: str, caplog: pytest.LogCaptureFixture) -> None:
    async def set_it() -> None:
        loop = asyncio.get_running_loop()
        getattr(asyncio.BaseEventLoop, name)(loop, None if name != "set_debug" else True)

    with caplog.at_level("WARNING", "llmcore.tools"):
        Orchestrator(FakeModel().tool_call("set_it").text("Done."), [set_it]).run_sync("go")
    assert "changes nothing on the event loop" in caplog.text
