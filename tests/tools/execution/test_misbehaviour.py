"""Tools that misbehave: what they raise, return, ignore or change never reaches beyond their own outcome."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from llmcore.tools import RetryConfig, RunContext, Tool, ToolConfig, as_tool, tool
from llmcore.tools.execution.call import run_call
from llmcore.types import RetryTool, TerminateLoop, Timeout, ToolDefinition, ToolError
from tests.tools.execution.test_call import CONTEXT, NO_WAIT, call, lambda_tool, outcome_of

pytestmark = pytest.mark.anyio


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class OddToolError(ToolError):
    def __init__(self) -> None:
        pass  # so it has no message


FATAL = [
    SystemExit(1),
    KeyboardInterrupt(),
    GeneratorExit(),
    StopIteration(1),
    StopAsyncIteration(),
    asyncio.CancelledError(),
    BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("x")]),
    Unspeakable(),
    OddToolError(),
    ValueError("\ud800"),
]


@pytest.mark.parametrize("error", FATAL, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["sync", "async", "preprocess", "postprocess", "returned", "awaitable"])
async def test_whatever_a_tool_raises_is_an_outcome_at_once(error: BaseException, where: str) -> None:
    def raises(*_: Any) -> Any:
        raise error

    async def raises_late(*_: Any) -> Any:
        raise error

    async def fine() -> str:
        return "fine"

    functions: dict[str, Any] = {
        "sync": tool(name="f")(lambda: raises()),
        "async": tool(name="f")(raises_late_without_arguments := _without_arguments(raises_late)),
        "preprocess": tool(name="f", params={}, preprocess=raises)(fine),
        "postprocess": tool(name="f", postprocess=raises_late)(fine),
        "returned": lambda_tool(error),
        "awaitable": lambda_tool_of(raises_late_without_arguments),
    }
    outcome = await asyncio.wait_for(outcome_of(functions[where], timeout=60), 10)
    assert outcome.error is not None
    assert outcome.error.type == "execution"
    assert outcome.text.split(":")[0] in (type(error).__name__, "RuntimeError")  # a coroutine makes RuntimeErrors of some
    outcome.text.encode()


def _without_arguments(function: Callable[..., Any]) -> Callable[[], Any]:
    async def f() -> Any:
        return await function()

    return f


def lambda_tool_of(make: Callable[[], Any]) -> Any:
    def f() -> Any:
        return make()

    return f


async def test_a_tool_that_cancels_tasks_of_its_own_fails_alone() -> None:
    async def cancels_another() -> None:
        task = asyncio.create_task(asyncio.sleep(60))
        task.cancel()
        await task

    async def cancels_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    for function in (cancels_another, cancels_itself):
        outcome = await outcome_of(function)
        assert outcome.error is not None
        assert outcome.error.type == "execution"


@pytest.mark.parametrize("is_async", [True, False])
async def test_generators_are_no_results(is_async: bool) -> None:
    def numbers() -> Any:
        return (number for number in (1, 2))

    async def numbers_later() -> Any:
        return (number for number in (1, 2))

    outcome = await outcome_of(numbers_later if is_async else numbers)
    assert outcome.error is not None
    assert "iterator" in outcome.text
    assert "let the tool return a list" in outcome.text


async def test_a_result_that_cannot_be_written_is_a_failed_tool() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    outcome = await outcome_of(lambda_tool(cycle))
    assert outcome.error is not None
    assert outcome.error.type == "execution"
    assert "circular reference" in outcome.text
    ended = await outcome_of(lambda_tool(TerminateLoop(cycle)))
    assert ended.ended is not None


class SlowToSay(Exception):
    """Says nothing until it is released, as an exception or as a value."""

    release = threading.Event()

    def __str__(self) -> str:
        self.release.wait(20)
        return "said"


def _slow_to_check(value: Any) -> Any:
    SlowToSay.release.wait(20)
    return value


SlowToCheck = Annotated[int, AfterValidator(_slow_to_check)]


@pytest.mark.parametrize("where", ["result", "error", "ended", "argument", "async result", "async error"])
async def test_code_that_belongs_to_a_tool_holds_up_no_loop_and_stands_under_its_time(where: str) -> None:
    def f(checked: int) -> Any:
        if where.endswith("error"):
            raise SlowToSay
        if where == "ended":
            raise TerminateLoop(SlowToSay())
        return SlowToSay()

    async def f_later(checked: int) -> Any:
        return f(checked)

    def f_checked(checked: SlowToCheck) -> int:
        return checked

    function = f_later if "async" in where else f_checked if where == "argument" else f
    SlowToSay.release.clear()
    running = asyncio.create_task(outcome_of(function, {"checked": 1}, timeout=0.05))
    try:
        outcome = await asyncio.wait_for(running, 10)  # on the loop it would come after the 20 s above
        assert not SlowToSay.release.is_set()
    finally:
        SlowToSay.release.set()
    assert outcome.error is not None
    assert (outcome.error.type, outcome.ended) == ("timeout", None)
    assert "thread cannot be stopped" in outcome.text


async def test_a_subclass_of_terminate_loop_needs_no_value() -> None:
    class Done(TerminateLoop):
        def __init__(self) -> None:
            pass

    assert (await outcome_of(lambda_tool_of(_raising(Done())))).ended is not None


def _raising(error: BaseException) -> Callable[[], Any]:
    def f() -> None:
        raise error

    return f


async def test_an_error_of_any_length_is_shortened() -> None:
    assert len((await outcome_of(lambda_tool(ValueError("x" * 10_000)), max_result_chars=300)).text) <= 300


KEY = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError(f"401 for /v1?api_key={KEY}"), "ValueError: 401 for /v1?api_key=[secret]"),
        (
            ExceptionGroup("two", [OSError(KEY), OSError("full")]),
            "ExceptionGroup: two (2 sub-exceptions): OSError: [secret]; OSError: full",
        ),
        (RetryTool(f"ask for another key than {KEY}"), "ask for another key than [secret]"),
    ],
    ids=["plain", "group", "written for the model"],
)
async def test_a_key_in_what_a_tool_raises_is_masked(error: Exception, told: str) -> None:
    outcome = await outcome_of(lambda_tool(error))
    assert outcome.text == told
    assert outcome.error is not None
    assert KEY not in outcome.error.message


async def test_an_async_tool_that_ignores_its_cancellation_is_left_behind_at_once() -> None:
    release = asyncio.Event()
    ended: list[int] = []

    async def stubborn(context: RunContext[Any]) -> str:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()
        ended.append(context.retry)
        return "late"

    outcome = await asyncio.wait_for(outcome_of(stubborn, timeout=0.02), 5)
    assert outcome.error is not None
    assert outcome.error.type == "timeout"
    assert "ignores its cancellation" in outcome.text
    release.set()
    while not ended:
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_tool_is_not_tried_again_while_its_last_try_runs(is_async: bool) -> None:
    release = threading.Event()
    tries: list[int] = []

    def blocks(context: RunContext[Any]) -> str:
        tries.append(context.retry)
        release.wait(10)
        return "late"

    async def ignores(context: RunContext[Any]) -> str:
        tries.append(context.retry)
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return "late"

    outcome = await outcome_of(ignores if is_async else blocks, timeout=0.02, errors="retry", retry=NO_WAIT)
    release.set()
    assert tries == [0]
    assert (outcome.retries, outcome.error.type if outcome.error else None) == (0, "timeout")
    assert outcome.text.endswith("may still be running, so it was not tried again")


async def test_a_slow_tool_that_has_ended_meanwhile_is_tried_again() -> None:
    tries: list[int] = []

    async def slow_once(context: RunContext[Any]) -> str:
        tries.append(context.retry)
        if not context.retry:
            await asyncio.sleep(60)
        return "done"

    outcome = await outcome_of(slow_once, timeout=0.02, errors="retry", retry=NO_WAIT)
    assert (outcome.text, tries) == ("done", [0, 1])


async def test_the_runs_deadline_ends_a_try_and_begins_no_other() -> None:
    tries: list[int] = []

    async def slow(context: RunContext[Any]) -> None:
        tries.append(context.retry)
        await asyncio.sleep(60)

    def fails(context: RunContext[Any]) -> None:
        tries.append(context.retry)
        raise OSError("down")

    patient = ToolConfig(errors="retry", retry=RetryConfig(max_retries=2, base=60, max_delay=60))
    for function in (slow, fails):
        end = time.perf_counter() + 0.3
        running = run_call(call(), as_tool(function), CONTEXT, patient, partial(_seconds_to, end))
        with pytest.raises(Timeout, match="deadline"):
            await asyncio.wait_for(running, 30)
    assert tries == [0, 0]


def _seconds_to(end: float) -> float:
    return end - time.perf_counter()


@pytest.mark.parametrize("is_async", [True, False])
async def test_what_a_tool_does_to_its_arguments_stays_its_own(is_async: bool) -> None:
    seen: list[Any] = []

    def mutate(items: Any, context: RunContext[Any]) -> list[Any]:
        seen.append(items.copy())
        items.append({"more": context.retry})
        raise OSError("down")

    async def mutate_later(items: Any, context: RunContext[Any]) -> list[Any]:
        return mutate(items, context)

    made = call(arguments={"items": [{"a": 1}]})
    await run_call(made, as_tool(mutate_later if is_async else mutate), CONTEXT, ToolConfig(errors="retry", retry=NO_WAIT))
    assert seen == [[{"a": 1}]] * 3
    assert made.arguments == {"items": [{"a": 1}]}


async def test_a_returned_list_that_grows_later_changes_nothing() -> None:
    log: list[Any] = [{"n": 1}]
    outcome = await outcome_of(lambda_tool(log))
    log.append(2)
    log[0]["n"] = 3
    assert (outcome.value, outcome.text) == ([{"n": 1}], '[{"n":1}]')


@pytest.mark.parametrize("is_async", [True, False])
async def test_parameters_may_have_any_name(is_async: bool) -> None:
    names = ["self", "function", "args", "kwargs", "keywords", "call", "tool", "context", "loop"]

    def f(**given: Any) -> list[str]:
        return list(given)

    async def f_later(**given: Any) -> list[str]:
        return f(**given)

    definition = ToolDefinition(name="f", parameters={"type": "object"})
    made = Tool.from_definition(definition, f_later if is_async else f)
    outcome = await run_call(call(arguments=dict.fromkeys(names, 1)), made, CONTEXT, ToolConfig())
    assert outcome.value == names
