"""Running calls: outcomes, timeouts, retries, policies, cancellation."""

from __future__ import annotations

import asyncio
import contextvars
import re
import threading
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from llmcore.orchestrator import Orchestrator
from llmcore.support.code.emitter import event_stream
from llmcore.testing import FakeModel
from llmcore.tools import RetryConfig, RunContext, Tool, ToolConfig, as_tool, current_tool_call_id, tool
from llmcore.tools.execution.call import run_call
from llmcore.tools.execution.parallel_calls import ParallelCalls
from llmcore.tools.results.outcome import Outcome
from llmcore.types import ImageBlock, RetryTool, TerminateLoop, TextBlock, ToolCall, ToolError

pytestmark = pytest.mark.anyio

NO_WAIT = RetryConfig(max_retries=2, base=0)
CONTEXT: RunContext[Any] = RunContext("deps")
ambient: contextvars.ContextVar[str] = contextvars.ContextVar("ambient", default="unset")


def call(name: str = "f", arguments: dict[str, Any] | None = None, call_id: str = "c1") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments or {})


async def outcome_of(function: Callable[..., Any], arguments: dict[str, Any] | None = None, **config: Any) -> Outcome:
    return await run_call(call(arguments=arguments), as_tool(function), CONTEXT, ToolConfig(**config))


async def test_sync_tools_run_in_a_thread_with_the_callers_context() -> None:
    seen: list[Any] = []

    def f(context: RunContext[str], n: int) -> int:
        seen.extend([threading.current_thread(), ambient.get(), current_tool_call_id(), context.deps, context.tool_call_id])
        return n + 1

    ambient.set("inherited")
    outcome = await outcome_of(f, {"n": 1})
    assert (outcome.value, outcome.text, outcome.error, outcome.retries) == (2, "2", None, 0)
    assert seen[0] is not threading.current_thread()
    assert seen[1:] == ["inherited", "c1", "deps", "c1"]
    assert current_tool_call_id() is None


async def test_async_tools_preprocess_and_postprocess() -> None:
    async def shout(given: str) -> str:
        await asyncio.sleep(0)
        return given.upper()

    @tool(params={"name": {"type": "string"}}, preprocess=lambda given: {**given, "times": 2}, postprocess=shout)
    async def greet(name: str, times: int) -> str:
        return f"hi {name} " * times

    assert (await outcome_of(greet, {"name": "ann"})).text == "HI ANN HI ANN "


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, "null"),
        ({"a": [1, 2.5, True]}, '{"a":[1,2.5,true]}'),
        (TextBlock, f'"{TextBlock}"'),
        (b"\xff", "_w=="),
    ],
)
async def test_results_become_text(value: Any, text: str) -> None:
    assert (await outcome_of(lambda_tool(value))).text == text


def lambda_tool(value: Any) -> Any:
    def f() -> Any:
        return value

    return f


async def test_images_come_beside_the_text() -> None:
    image = ImageBlock(url="https://example.com/a.png")
    assert (await outcome_of(lambda_tool(("a map", image)))).content == [TextBlock(text="a map"), image]
    assert (await outcome_of(lambda_tool(image))).content == [image]


async def test_a_long_result_keeps_both_ends_and_states_its_size() -> None:
    text = "head" + "x" * 10_000 + "tail"
    shown = (await outcome_of(lambda_tool(text), max_result_chars=300)).text
    assert shown.startswith("head")
    assert shown.endswith("tail")
    assert "10008 characters" in shown
    assert int(re.findall(r"(\d+) characters left out", shown)[0]) == 10_008 - len(re.sub(r"\n\[.*\]\n", "", shown))
    assert 295 <= len(shown) <= 300


async def test_a_tool_that_fails_is_an_outcome_with_its_cause() -> None:
    def f() -> None:
        raise KeyError("missing")

    outcome = await outcome_of(f)
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.tool_name, outcome.error.tool_id) == ("execution", "f", "c1")
    assert outcome.text == "KeyError: 'missing'"
    assert isinstance(outcome.error.__cause__, KeyError)
    assert outcome.block().is_error


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_tool_that_is_too_slow_times_out(is_async: bool) -> None:
    release = threading.Event()

    async def slow() -> None:
        await asyncio.sleep(60)

    def blocking() -> None:
        release.wait(60)

    outcome = await outcome_of(slow if is_async else blocking, timeout=0.02)
    release.set()
    assert outcome.error is not None
    assert outcome.error.type == "timeout"
    assert ("thread" in outcome.text) is not is_async
    assert 0.02 <= outcome.duration < 5


async def test_a_tools_own_timeout_wins() -> None:
    @tool(timeout=0.02)
    async def f() -> None:
        await asyncio.sleep(60)

    outcome = await outcome_of(f, timeout=60)
    assert "0.02 s" in outcome.text


async def test_a_timeout_error_of_the_tool_itself_is_no_timeout_of_ours() -> None:
    def f() -> None:
        raise TimeoutError("upstream")

    outcome = await outcome_of(f)
    assert outcome.error is not None
    assert outcome.error.type == "execution"


def failing(times: int, error: Exception) -> tuple[Tool, list[int]]:
    tries: list[int] = []

    def f(context: RunContext[Any]) -> str:
        tries.append(context.retry)
        if len(tries) <= times:
            raise error
        return "done"

    return as_tool(f), tries


async def test_the_retry_policy_runs_a_failed_tool_again() -> None:
    flaky, tries = failing(2, OSError("down"))
    outcome = await run_call(call(), flaky, CONTEXT, ToolConfig(errors="retry", retry=NO_WAIT))
    assert (outcome.text, outcome.retries, tries) == ("done", 2, [0, 1, 2])


async def test_retries_end() -> None:
    flaky, tries = failing(9, OSError("down"))
    outcome = await run_call(call(), flaky, CONTEXT, ToolConfig(errors="retry", retry=NO_WAIT))
    assert (outcome.text, outcome.retries, len(tries)) == ("OSError: down", 2, 3)


async def test_a_tool_that_says_only_how_often_waits_as_the_run_says() -> None:
    waits: list[float] = []

    @tool(retries=2)
    def f() -> None:
        raise OSError("down")

    config = ToolConfig(retry=RetryConfig(max_retries=9, base=0))
    outcome = await run_call(call(arguments={}), f, CONTEXT, config, on_retry=lambda outcome, n, wait: waits.append(wait))
    assert outcome.retries == 2
    assert waits == [0, 0]


async def test_a_tools_own_retries_need_no_policy_and_bad_arguments_are_never_retried() -> None:
    tries: list[int] = []

    @tool(retries=RetryConfig(max_retries=1, base=0))
    def f(n: int) -> int:
        tries.append(n)
        raise (OSError if n else RetryTool)("try another n")

    assert (await outcome_of(f, {"n": 1})).retries == 1
    asked_again = await outcome_of(f, {"n": 0})
    wrong = await outcome_of(f, {"n": "many"})
    assert tries == [1, 1, 0]
    assert [outcome.error.type for outcome in (asked_again, wrong) if outcome.error] == ["validation", "validation"]
    assert asked_again.text == "try another n"
    assert "n: Input should be a valid integer" in wrong.text


def test_back_off_grows_to_its_bound_with_jitter() -> None:
    config = RetryConfig(base=1, factor=3, max_delay=5, jitter=0.5)
    assert [config.delay(n, 0.5) for n in (1, 2, 3)] == [1, 3, 5]
    assert (config.delay(1, 0.0), config.delay(1, 1.0)) == (0.5, 1.5)


# Several calls


async def gathered(run: ParallelCalls) -> list[Outcome]:
    async with aclosing(event_stream(run.run)) as outcomes:
        return [outcome async for outcome in outcomes if isinstance(outcome, Outcome)]


def run_of(count: int, function: Callable[[str], Any], config: ToolConfig) -> ParallelCalls:
    cut_short: dict[str, Callable[[], Outcome]] = {}

    async def run(made: ToolCall) -> Outcome:
        async def f() -> Any:
            result = function(made.id)
            return await result if asyncio.iscoroutine(result) else result

        return await run_call(made, as_tool(f), CONTEXT, ToolConfig(), cut_short=partial(cut_short.__setitem__, made.id))

    return ParallelCalls([call(call_id=f"c{number}") for number in range(count)], run, config, cut_short)


async def test_calls_run_in_parallel_up_to_the_limit() -> None:
    running, most = 0, 0
    one_came = asyncio.Event()

    async def work(call_id: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await (asyncio.sleep(0) if call_id == "c2" else one_came.wait())
        running -= 1
        return call_id

    run = run_of(7, work, ToolConfig(max_parallel=3))
    came: list[Outcome] = []
    async with (
        asyncio.timeout(10),
        aclosing(event_stream(run.run)) as outcomes,
    ):  # if nothing came before all had ended, this would hang
        async for outcome in outcomes:
            assert isinstance(outcome, Outcome)
            came.append(outcome)
            one_came.set()
    assert most == 3
    assert sorted(outcome.call.id for outcome in came) == [f"c{n}" for n in range(7)]
    assert came[0].call.id == "c2"  # as they come
    assert [outcome.call.id for outcome in run.outcomes] == [f"c{n}" for n in range(7)]  # in call order


async def test_abort_raises_the_first_error_and_stops_the_others() -> None:
    stopped: list[str] = []

    async def work(call_id: str) -> str:
        if call_id == "c1":
            raise OSError("down")
        try:
            await asyncio.sleep(60 if call_id == "c2" else 0)
        except asyncio.CancelledError:
            stopped.append(call_id)
            raise
        return call_id

    run = run_of(3, work, ToolConfig(errors="abort"))
    with pytest.raises(ToolError, match="down"):
        await gathered(run)
    assert stopped == ["c2"]
    assert [outcome.text for outcome in run.outcomes] == ["c0", "OSError: down", "f was stopped before it finished."]


async def test_terminate_loop_stops_the_others_and_keeps_what_had_finished() -> None:
    async def work(call_id: str) -> str:
        if call_id == "c1":
            await asyncio.sleep(0.01)
            raise TerminateLoop("enough")
        if call_id == "c2":
            await asyncio.sleep(60)
        return call_id

    run = run_of(3, work, ToolConfig())
    await gathered(run)
    assert [outcome.text for outcome in run.outcomes] == ["c0", "enough", "f was stopped before it finished."]
    assert [bool(outcome.ended) for outcome in run.outcomes] == [False, True, False]


async def test_what_had_ended_unseen_when_the_run_stopped_is_kept() -> None:
    async def work(call_id: str) -> str:
        if call_id == "c0":
            raise TerminateLoop("enough")
        return call_id

    run = run_of(2, work, ToolConfig())
    assert [outcome.call.id for outcome in await gathered(run)] == ["c0"]
    assert [outcome.text for outcome in run.outcomes] == ["enough", "c1"]


async def test_closing_early_stops_everything_and_every_call_has_one_outcome() -> None:
    started: list[str] = []

    async def work(call_id: str) -> str:
        started.append(call_id)
        await asyncio.sleep(0 if call_id == "c0" else 60)
        return call_id

    run = run_of(4, work, ToolConfig())
    async with aclosing(event_stream(run.run)) as outcomes:
        first = await anext(outcomes)
    assert isinstance(first, Outcome)
    assert first.call.id == "c0"
    assert len(started) == len(set(started)) == 4
    assert [outcome.error is None for outcome in run.outcomes] == [True, False, False, False]


async def test_a_call_cut_short_says_whether_it_was_begun_and_whether_it_still_runs() -> None:
    release = asyncio.Event()
    both_are_there = asyncio.Barrier(3)

    async def work(call_id: str) -> str:
        await both_are_there.wait()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                if call_id == "c0":
                    raise
        return call_id

    run = run_of(3, work, ToolConfig(max_parallel=2))
    task = asyncio.create_task(gathered(run))
    await asyncio.wait_for(both_are_there.wait(), 10)
    task.cancel()
    await asyncio.wait([task])
    release.set()
    assert [(outcome.text, outcome.ran) for outcome in run.outcomes] == [
        ("f was stopped before it finished.", True),
        ("f had not finished when the run ended; it ignores its cancellation and may still be running.", True),
        ("f was not begun: the run ended before.", False),
    ]


@pytest.mark.parametrize("in_validator", [False, True])
async def test_a_thread_cut_short_is_told_of_and_begins_nothing_later(in_validator: bool) -> None:
    release, began = threading.Event(), threading.Event()

    def slow(value: int) -> int:
        began.set()
        release.wait(20)
        return value

    ran: list[int] = []

    def checked(n: Annotated[int, AfterValidator(slow)]) -> None:
        ran.append(n)

    cut_short: list[Callable[[], Outcome]] = []
    function = checked if in_validator else slow
    arguments = {"n": 1} if in_validator else {"value": 1}
    task = asyncio.create_task(
        run_call(call(arguments=arguments), as_tool(function), CONTEXT, ToolConfig(), cut_short=cut_short.append)
    )
    while not began.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait([task])
    release.set()
    for _ in range(100):  # until the thread is free again, whatever it then does
        await asyncio.sleep(0.001)
    due = "not begun: the run ended before." if in_validator else "its thread cannot be stopped and may still be running."
    outcome = cut_short[-1]()
    assert outcome.text.endswith(due)
    assert (outcome.ran, ran) == (not in_validator, [])


async def test_a_preprocess_function_may_change_the_arguments_in_place() -> None:
    def given(a: int, b: int = 0) -> int:
        return a + b

    async def later(arguments: dict[str, Any]) -> None:
        arguments["b"] = 5

    ready = [tool(given, preprocess=lambda arguments: arguments.update(b=2)), tool(given, preprocess=later)]
    for made, value in zip(ready, (3, 6), strict=True):
        result = await Orchestrator(FakeModel().tool_call("given", {"a": 1}).text("x"), [made]).run("go")
        assert result.tool_results[0].value == value
