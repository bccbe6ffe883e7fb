"""A run step by step, and messages added to it meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.run import Interjections, RunResult, Step
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import RunContext
from llmcore.types import (
    AuthenticationFailed,
    CallerError,
    ConfigError,
    Message,
    RateLimited,
    RemoteServerError,
    Request,
    TextBlock,
)
from tests.run.asking.test_cut_streams import finished
from tests.run.support import FAST, add, assert_valid

pytestmark = pytest.mark.anyio

ONE = {"a": 1, "b": 2}


def fake() -> FakeModel:
    return FakeModel().tool_call("add", ONE).text("3")


async def test_each_reply_and_each_batch_of_results_is_a_step() -> None:
    steps = Orchestrator(fake(), [add]).iterate("go")
    taken = [step async for step in steps]
    assert [(step.kind, step.turn) for step in taken] == [("reply", 1), ("results", 1), ("reply", 2)]
    result = steps.result
    assert [step.message for step in taken] == result.messages[1:]
    assert result.content == "3"
    assert_valid(result.messages)


async def test_nothing_goes_on_between_two_steps() -> None:
    ran: list[int] = []

    def note(n: int) -> int:
        ran.append(n)
        return n

    model = FakeModel().tool_call("note", {"n": 1}).text("done")
    steps = Orchestrator(model, [note]).iterate("go")
    await anext(steps)
    await asyncio.sleep(0.01)
    assert (ran, model.call_count) == ([], 1)
    await anext(steps)
    await asyncio.sleep(0.01)
    assert (ran, model.call_count) == ([1], 1)
    assert [step.kind async for step in steps] == ["reply"]


@pytest.mark.parametrize("after", [0, 1, 2])
async def test_it_can_be_left_early_with_what_was_done(after: int) -> None:
    ran: list[int] = []

    def note(n: int) -> int:
        ran.append(n)
        return n

    model = FakeModel().tool_calls(("note", {"n": 1}), ("note", {"n": 2})).text("done")
    async with Orchestrator(model, [note], max_parallel_tools=1).iterate("go") as steps:
        for _ in range(after):
            await anext(steps)
    result = steps.result
    assert_valid(result.messages)
    assert len(ran) == (2 if after == 2 else 0)
    assert len(result.messages) == 1 + (2 if after else 0)
    with pytest.raises(StopAsyncIteration):
        await anext(steps)
    more = await Orchestrator(FakeModel("more"), [note]).run("and?", message_history=result)
    assert more.content == "more"


async def test_an_error_comes_from_the_step_that_failed_with_the_partial_result() -> None:
    model = FakeModel(default=RateLimited("busy", retry_after=0)).tool_call("add", ONE)
    steps, taken = Orchestrator(model, [add], strategies=FAST).iterate("go"), list[Step]()
    with pytest.raises(Exception, match="busy") as caught:
        taken += [step async for step in steps]
    assert caught.value.partial.tool_results[0].value == 3  # type: ignore[attr-defined]  # every error that ends a run has it
    assert steps.result.tool_results[0].value == 3


async def test_the_typed_value_is_in_the_result() -> None:
    steps = Orchestrator(FakeModel("3")).iterate("go", int)
    assert [step.kind async for step in steps] == ["reply"]
    assert (steps.result.output, steps.result.has_output) == (3, True)


# Interjections


async def test_what_is_added_between_two_steps_enters_before_the_next_request() -> None:
    model = fake()
    steps = Orchestrator(model, [add]).iterate("go")
    async for step in steps:
        if step.kind == "results":
            steps.interject("in French", Message(role="system", content=[TextBlock(text="be short")]))
    assert [message.text for message in model.requests[1].messages[-2:]] == ["in French", "be short"]
    assert [message.role for message in steps.result.messages] == ["user", "assistant", "tool", "user", "system", "assistant"]
    assert_valid(steps.result.messages)


async def test_another_task_adds_to_a_running_run() -> None:
    box, running = Interjections(), asyncio.Event()

    async def slow() -> str:
        running.set()
        await asyncio.sleep(0.02)
        return "done"

    model = FakeModel().tool_call("slow").text("ok")
    run = asyncio.create_task(Orchestrator(model, [slow]).run("go", interjections=box))
    await running.wait()
    box.add("hurry")
    assert len(box) == 1
    result = await run
    assert [message.text for message in model.requests[1].messages if message.role == "user"] == ["go", "hurry"]
    assert [message.text for message in result.messages if message.role == "user"] == ["go", "hurry"]
    assert len(box) == 0


async def test_a_function_is_asked_before_each_request() -> None:
    def remind(ctx: RunContext[Any]) -> str | None:
        return f"{len(ctx.messages)} so far" if ctx.messages[-1].role == "tool" else None

    model = fake()
    result = await Orchestrator(model, [add]).run("go", interjections=remind)
    assert [message.text for message in result.messages if message.role == "user"] == ["go", "3 so far"]


class Asked:
    """A function of interjections that tells by which message of the history it was asked, and gives what it is told to."""

    def __init__(self, *after_final: str) -> None:
        self.asked: list[str] = []
        self.waiting = list(after_final)

    def __call__(self, ctx: RunContext[Any]) -> str | None:
        self.asked.append(ctx.messages[-1].role)
        is_final = ctx.messages[-1].role == "assistant"
        return self.waiting.pop(0) if is_final and self.waiting else None


@pytest.mark.parametrize("way", ["run", "stream", "iterate"])
async def test_a_function_is_asked_after_the_final_message_too_and_the_run_goes_on(way: str) -> None:
    source, model = Asked("And in French?", "And in Latin?"), FakeModel("Three.", "Trois.", "Tres.")
    orchestrator = Orchestrator(model)
    if way == "stream":
        result = await finished(orchestrator.stream("1 + 2?", interjections=source))
    elif way == "iterate":
        steps = orchestrator.iterate("1 + 2?", interjections=source)
        assert [step.kind async for step in steps] == ["reply"] * 3
        result = steps.result
    else:
        result = await orchestrator.run("1 + 2?", interjections=source)
    assert (result.content, source.asked) == ("Tres.", ["user", "assistant", "assistant", "assistant"])
    assert [message.text for message in result.messages] == [
        "1 + 2?",
        "Three.",
        "And in French?",
        "Trois.",
        "And in Latin?",
        "Tres.",
    ]
    assert [attempt.reason for attempt in result.attempts] == ["first", "turn", "turn"]


async def test_steps_take_what_is_added_to_them_beside_a_function() -> None:
    source, model = Asked("And in French?"), fake().text("Trois.")
    steps = Orchestrator(model, [add]).iterate("go", interjections=source)
    async for step in steps:
        steps.interject(f"after {step.kind} {step.turn}")
    assert [message.text for message in model.requests[1].messages[-2:]] == ["after reply 1", "after results 1"]
    assert [message.text for message in model.requests[2].messages[-2:]] == ["after reply 2", "And in French?"]
    assert [message.text for message in steps.result.not_entered] == ["after reply 3"]
    assert source.asked == ["user", "tool", "assistant", "assistant"]


async def test_a_typed_answer_is_a_final_message_too_and_results_are_no_message_of_the_model() -> None:
    source = Asked("Once more.")
    final = tool_call_body([("final_result", {"result": 4})], None, 0)
    model = FakeModel(tool_call_body([("add", {"a": 1, "b": 2})], None, 0), "3", final)
    assert await Orchestrator(model, [add]).execute("go", int, interjections=source) == 4
    assert source.asked == ["user", "tool", "assistant", "tool"]


async def test_a_function_that_always_gives_something_ends_with_the_tool_turns() -> None:
    model = FakeModel(default="Yes.")
    result = await Orchestrator(model).run("go", interjections=lambda: "More.", max_tool_turns=3)
    assert (result.content, model.call_count) == ("Yes.", 4)


async def test_what_comes_too_late_waits_for_the_next_run() -> None:
    box = Interjections()

    def add_late(_: Request) -> str:
        box.add("late")
        return "ok"

    await Orchestrator(FakeModel(add_late)).run("go", interjections=box)
    assert len(box) == 1
    model = FakeModel("ok")
    await Orchestrator(model).run("again", interjections=box)
    assert [message.text for message in model.requests[0].messages] == ["again", "late"]


@pytest.mark.parametrize("way", ["run", "stream"])
@pytest.mark.parametrize("bad", ["a wrong call", "a wrong answer", "a failure", "nothing"])
async def test_what_is_added_while_a_turn_is_corrected_enters_before_its_next_request(bad: str, way: str) -> None:
    box = Interjections()
    replies: dict[str, Any] = {
        "a wrong call": tool_call_body([("add", {"a": "x", "b": 2})], None, 0),
        "a wrong answer": "many",
        "a failure": RemoteServerError("boom", status=500),
        "nothing": "",
    }

    def interrupted(_: Request) -> Any:
        box.add("hurry")
        return replies[bad]

    model = FakeModel(interrupted, "3")
    options: dict[str, Any] = {"interjections": box, "output_type": int if bad == "a wrong answer" else None}
    orchestrator = Orchestrator(model, [add], strategies=FAST)
    if way == "run":
        result: Any = await orchestrator.run("go", **options)
    else:
        result = [event async for event in orchestrator.stream("go", **options)][-1]
        result = result.result
    texts = [message.text for message in model.requests[1].messages]
    assert texts[:2] == ["go", "hurry"]
    assert len(texts) == (3 if bad.startswith("a wrong") else 2)
    assert [message.text for message in result.messages] == ["go", "hurry", "3"]
    assert (len(box), result.not_entered) == (0, [])


async def test_what_a_second_correction_sees_has_what_entered_before_the_first() -> None:
    box = Interjections()
    said = iter(["one", "two"])

    def interrupted(_: Request) -> str:
        word = next(said)
        box.add(word)
        return f"{word} word"

    model = FakeModel(interrupted, interrupted, "3")
    await Orchestrator(model, strategies=FAST).run("go", output_type=int, interjections=box)
    assert [message.text for message in model.requests[2].messages[:3]] == ["go", "one", "two"]
    assert len(model.requests[2].messages) == 4


async def test_the_result_shows_what_came_too_late_at_any_end() -> None:
    box = Interjections()

    def late(_: Request) -> str:
        box.add("late")
        return "ok"

    result = await Orchestrator(FakeModel(late)).run("go", interjections=box)
    assert [message.text for message in result.not_entered] == ["late"]
    assert [message.text for message in RunResult.model_validate_json(result.model_dump_json()).not_entered] == ["late"]

    def refused(_: Request) -> Any:
        box.add("later")
        return AuthenticationFailed("no")

    with pytest.raises(AuthenticationFailed) as caught:
        await Orchestrator(FakeModel(refused)).run("go", interjections=box)
    assert [message.text for message in caught.value.partial.messages] == ["go", "late"]
    assert [message.text for message in caught.value.partial.not_entered] == ["later"]

    async with Orchestrator(FakeModel("ok")).iterate("go") as steps:
        async for _ in steps:
            steps.interject("too late")
    assert [message.text for message in steps.result.not_entered] == ["too late"]


async def test_what_is_no_message_of_a_user_is_refused() -> None:
    with pytest.raises(CallerError, match="not with the role 'assistant'"):
        Interjections().add(Message(role="assistant", content=[]))
    wrong: Any = 3
    with pytest.raises(CallerError):
        Interjections().add(wrong)
    with pytest.raises(ConfigError, match="interjections"):
        await Orchestrator(FakeModel("ok")).run("go", interjections=cast("Any", "text"))
    with pytest.raises(ConfigError, match="interjections"):
        Orchestrator(FakeModel("ok")).iterate("go", interjections=cast("Any", "text"))
