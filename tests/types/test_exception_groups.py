"""What code tells a run by raising it, out of a group of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import FakeModel, Hooks, Orchestrator, RetryTool, TerminateLoop
from llmcore.types.exception_groups import unwrap_group

END, AGAIN, CUT = TerminateLoop("found it"), RetryTool("another one"), asyncio.CancelledError()
WRONG = ValueError("wrong")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (END, END),
        (WRONG, WRONG),
        (ExceptionGroup("", [END]), END),
        (ExceptionGroup("", [AGAIN]), AGAIN),
        (ExceptionGroup("", [ExceptionGroup("", [END])]), END),
        (BaseExceptionGroup("", [CUT, BaseExceptionGroup("", [END, CUT])]), END),
        (ExceptionGroup("", [END, WRONG]), None),
        (ExceptionGroup("", [END, AGAIN]), None),
        (ExceptionGroup("", [WRONG]), None),
        (BaseExceptionGroup("", [CUT]), None),
    ],
)
def test_a_group_tells_what_alone_is_in_it(error: BaseException, told: BaseException | None) -> None:
    assert unwrap_group(error) is (error if told is None else told)


def test_others_may_be_asked_for() -> None:
    group = ExceptionGroup("", [WRONG])
    assert unwrap_group(group, ValueError) is WRONG
    assert unwrap_group(group, OSError) is group


def in_a_group(raised: Callable[[], BaseException], *others: Callable[[], BaseException]) -> Any:
    async def check(*_: Any) -> None:
        """Check."""

        async def one(make: Callable[[], BaseException]) -> None:
            raise make()

        async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as inner:
            inner.create_task(one(raised))
            group.create_task(asyncio.sleep(10))
            for each in others:
                inner.create_task(one(each))

    return check


def check_tool(raised: Callable[[], BaseException], *others: Callable[[], BaseException]) -> Any:
    act = in_a_group(raised, *others)

    async def check() -> None:
        """Check."""
        await act()

    return check


def test_a_tool_ends_its_run_out_of_a_group() -> None:
    model = FakeModel().tool_call("check").text("went on")
    run = Orchestrator(model, [check_tool(lambda: TerminateLoop("found it"))]).run_sync("?")
    assert (run.content, run.value, run.tool_results[0].error) == ("found it", "found it", None)


def test_a_tool_asks_for_other_arguments_out_of_a_group() -> None:
    model = FakeModel().tool_call("check").text("went on")
    run = Orchestrator(model, [check_tool(lambda: RetryTool("another city"))]).run_sync("?")
    error = run.tool_results[0].error
    assert error is not None
    assert (error.type, error.message) == ("validation", "another city")


def test_what_is_not_alone_is_an_error_of_the_tool() -> None:
    model = FakeModel().tool_call("check").text("went on")
    check = check_tool(lambda: TerminateLoop("found it"), lambda: OSError("no disk"))
    run = Orchestrator(model, [check]).run_sync("?")
    error = run.tool_results[0].error
    assert error is not None
    assert (run.content, error.type) == ("went on", "execution")


def test_an_output_validator_refuses_out_of_a_group() -> None:
    asked: list[int] = []

    async def judge(value: int) -> None:
        asked.append(value)
        if value == 1:
            await in_a_group(lambda: RetryTool("more"))()

    model = FakeModel().text("1").text("2")
    assert Orchestrator(model, output_validators=[judge]).execute_sync("?", int) == 2
    assert asked == [1, 2]


def test_a_hook_ends_the_run_out_of_a_group() -> None:
    hooks = Hooks(on_response=in_a_group(lambda: TerminateLoop("enough")))
    run = Orchestrator(FakeModel("went on"), hooks=hooks).run_sync("?")
    assert run.content == "enough"
