"""A killed run resumes from its last save: no tool runs twice, and each call has one result."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from llmcore import Interjections
from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run import Answer, Approve, RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import tool
from llmcore.types import ConfigError, Message, RemoteServerError, TerminateLoop, TextBlock, ToolError
from tests.packaging.tree import ROOT
from tests.run.resume.killed import NAMES, orchestrator, to_the_end
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio

UNKNOWN = "The outcome of this call is unknown"


def judge(result: RunResult, ran: Counter[str]) -> None:
    """Each call has one result; each tool ran once, but for the idempotent one, and for one whose start was saved and which did not
    begin after all: its outcome is unknown."""
    assert result.content == "done"
    assert result.ended
    assert_valid(result.messages)
    uses = [use for message in result.messages for use in message.tool_uses]
    told = {one.tool_use_id: one.text for message in result.messages for one in message.tool_results}
    assert [use.name for use in uses] == NAMES
    assert uses[4].input == {"word": "by the hook"}
    for use in uses:
        unknown = told[use.id].startswith(UNKNOWN)
        assert told[use.id] == "ok" or (unknown and use.name != "again")
        assert ran[use.id] == 1 or (use.name == "again" and ran[use.id] == 2) or (unknown and ran[use.id] == 0)


class Saved(list[str]):
    """What was saved, as JSON; a checkpoint."""

    def __call__(self, result: RunResult) -> None:
        self.append(result.model_dump_json())

    def read(self, index: int) -> RunResult:
        return RunResult.model_validate_json(self[index])


async def test_from_each_saved_state_it_goes_on_to_the_same_end() -> None:
    log: list[str] = []
    saved: list[tuple[str, int]] = []
    await to_the_end(orchestrator(log.append, lambda result: saved.append((result.model_dump_json(), len(log)))))
    assert len(saved) > 15
    for index, (state, at) in enumerate(saved):
        until = saved[index + 1][1] if index + 1 < len(saved) else len(log)
        for had_run in {at, until}:  # killed at once, and just before the next point
            ran = Counter(log[:had_run])
            again: list[str] = []
            result = await to_the_end(orchestrator(again.append, lambda result: None), RunResult.model_validate_json(state))
            judge(result, ran + Counter(again))


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
async def test_a_process_that_is_killed_at_any_point_is_gone_on_with_by_another(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.run.resume.killed", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert points > 15
    for place in tmp_path.iterdir():
        if int(place.name.partition("-")[0]) < points:
            result = RunResult.model_validate_json((place / "state.json").read_text("utf-8"))
            judge(result, Counter((place / "log").read_text().split()))


# What is saved, and when


@tool
async def first(word: str) -> str:
    """The first."""
    return f"did {word}"


def two() -> FakeModel:
    return FakeModel(tool_call_body([("first", {"word": "a"}), ("first", {"word": "b"})], None, 0), "done")


def told(result: RunResult) -> tuple[list[str], int, int, bool]:
    results = sum(len(message.tool_results) for message in result.messages)
    return [call.stage for call in result.open_calls], results, len(result.tool_results), result.ended


@pytest.mark.parametrize("way", ["sync", "async", "of the run", "with the context"])
async def test_it_is_saved_before_each_tool_and_after_it_and_after_each_reply(way: str) -> None:
    saved: list[RunResult] = []

    async def later(result: RunResult) -> None:
        saved.append(result)

    async def knowing(result: RunResult, context: Any) -> None:
        assert context.deps == "deps"
        saved.append(result)

    function: Any = {"sync": saved.append, "with the context": knowing}.get(way, later)
    made: dict[str, Any] = {} if way == "of the run" else {"checkpoint": function}
    given: dict[str, Any] = {"checkpoint": function} if way == "of the run" else {}
    result = await Orchestrator(two(), [first], max_parallel_tools=1, deps="deps", **made).run("go", **given)
    assert [told(one) for one in saved] == [
        ([], 0, 0, False),
        (["started"], 0, 0, False),
        ([], 1, 1, False),
        (["started"], 1, 1, False),
        ([], 2, 2, False),
        ([], 2, 2, True),
    ]
    assert saved[-1].messages == result.messages
    assert saved[2].tool_results[0].content == "did a"
    assert [message.role for message in saved[0].messages] == ["user", "assistant"]


def partial_of(error: Any) -> RunResult:
    """Every error that ends a run has it."""
    partial: RunResult = error.partial
    assert isinstance(partial, RunResult)
    return partial


async def test_what_it_raises_ends_the_run_before_the_tool_starts() -> None:
    ran: list[str] = []

    @tool
    def note(word: str) -> str:
        """Note it."""
        ran.append(word)
        return word

    def full(result: RunResult) -> None:
        if any(call.stage == "started" for call in result.open_calls):
            raise OSError("the disk is full")

    fake = FakeModel(tool_call_body([("note", {"word": "a"})], None, 0), "done")
    with pytest.raises(OSError, match="the disk is full") as caught:
        await Orchestrator(fake, [note], checkpoint=full).run("go")
    assert not ran
    partial = partial_of(caught.value)
    assert not partial.tool_results[0].ran
    assert_valid(partial.messages)


async def test_what_it_raises_behind_a_tool_loses_no_outcome() -> None:
    def full(result: RunResult) -> None:
        if result.tool_results:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full") as caught:
        await Orchestrator(two(), [first], max_parallel_tools=1, checkpoint=full).run("go")
    partial = partial_of(caught.value)
    assert [(one.ran, one.value) for one in partial.tool_results] == [(True, "did a"), (False, None)]


def of_nothing() -> None:
    """No checkpoint."""


def test_a_checkpoint_is_a_function_of_a_result() -> None:
    with pytest.raises(ConfigError, match="`checkpoint` must be a function of a RunResult"):
        Orchestrator(two(), checkpoint="state.json")  # type: ignore[arg-type]  # what a user may try
    with pytest.raises(ConfigError, match="checkpoint takes the value"):
        Orchestrator(two(), checkpoint=of_nothing)  # type: ignore[arg-type]  # what a user may try


async def midway(stage: str, fake: FakeModel, tools: Any, **options: Any) -> RunResult:
    """The first state in which a call is at that stage, or (`done`) in which one has its result."""
    saved = Saved()
    output_type = options.pop("output_type", None)
    runner = Orchestrator(fake, tools, checkpoint=saved, **options)
    await runner.run("go", output_type=output_type)
    read = [saved.read(index) for index in range(len(saved))]
    if stage == "done":
        return next(one for one in read if one.tool_results and not one.ended)
    return next(one for one in read if stage in [call.stage for call in one.open_calls])


@pytest.mark.parametrize(("option", "runs"), [({}, 0), ({"read_only": True}, 1), ({"idempotent": True}, 1)])
async def test_a_call_that_was_started_runs_again_only_where_that_does_no_harm(option: Any, runs: int) -> None:
    ran: list[str] = []

    @tool(**option)
    def note(word: str) -> str:
        """Note it."""
        ran.append(word)
        return word

    state = await midway("started", FakeModel(tool_call_body([("note", {"word": "a"})], None, 0), "done"), [note])
    ran.clear()
    done = await Orchestrator(FakeModel("done"), [note]).run(state.model_copy())
    assert len(ran) == runs
    (record,) = done.tool_results
    assert record.ran
    assert record.content.startswith(UNKNOWN) == (runs == 0)
    ran.clear()
    answered = await Orchestrator(FakeModel("done"), [note]).run(
        state.model_copy(), answers={record.id: Answer("I looked: it is done")}
    )
    assert answered.tool_results[0].content == "I looked: it is done"
    await Orchestrator(FakeModel("done"), [note]).run(state, answers={record.id: Approve()})
    assert ran == ["a"]


async def test_a_call_that_was_approved_and_not_begun_needs_no_second_approval() -> None:
    ran: list[str] = []

    @tool(requires_approval=True)
    def pay(word: str) -> str:
        """Pay."""
        ran.append(word)
        return word

    fake = FakeModel(tool_call_body([("pay", {"word": "a"}), ("pay", {"word": "b"})], None, 0), "done")
    waiting = await Orchestrator(fake, [pay]).run("go")
    saved = Saved()
    answers = {call.id: Approve() for call in waiting.pending}
    runner = Orchestrator(FakeModel("done"), [pay], max_parallel_tools=1)
    await runner.run(waiting, answers=answers, checkpoint=saved)
    state = saved.read(0)
    assert [call.stage for call in state.open_calls] == ["started", "ready"]
    ran.clear()
    done = await Orchestrator(FakeModel("done"), [pay]).run(state)
    assert ran == ["b"]
    assert [record.answer for record in done.tool_results] == [None, "approve"]


async def test_a_tool_that_ended_the_run_ends_it_where_it_goes_on() -> None:
    ran: list[str] = []

    @tool
    def stop(word: str) -> str:
        """Stop."""
        ran.append(word)
        raise TerminateLoop({"said": word})

    fake = FakeModel(tool_call_body([("stop", {"word": "a"}), ("stop", {"word": "b"})], None, 0))
    state = await midway("done", fake, [stop], max_parallel_tools=1)
    ran.clear()
    done = await Orchestrator(FakeModel("never"), [stop]).run(state)
    assert done.value == {"said": "a"}
    assert not ran
    assert_valid(done.messages)


async def test_results_that_were_saved_pass_the_hook_on_results_once() -> None:
    def marked(message: Message) -> Message:
        blocks = [one.model_copy(update={"content": [TextBlock(text=f"<{one.text}>")]}) for one in message.tool_results]
        return message.model_copy(update={"content": blocks})

    hooks = Hooks(on_tool_response=marked)
    state = await midway("done", two(), [first], hooks=hooks, max_parallel_tools=1)
    fake = FakeModel("done")
    done = await Orchestrator(fake, [first], hooks=hooks).run(state)
    assert [(record.content, record.ran) for record in done.tool_results] == [("<did a>", True), ("<did b>", True)]
    assert [one.text for one in fake.requests[0].messages[-1].tool_results] == ["<did a>", "<did b>"]


async def test_a_reply_that_was_no_answer_goes_on() -> None:
    more: dict[str, Any] = {"toolCalls": [], "content": "Let me think.", "needsMoreWork": True}
    saved = Saved()
    fake = FakeModel(json.dumps(more), "done")
    await Orchestrator(fake, [first], checkpoint=saved).run("go")
    state = saved.read(0)
    assert (state.ended, state.messages[-1].role) == (False, "assistant")
    again = FakeModel("done")
    await Orchestrator(again, [first]).run(state)
    assert again.requests[0].messages == fake.requests[1].messages


async def test_a_run_that_failed_goes_on_from_what_was_saved_last() -> None:
    saved = Saved()
    fake = FakeModel(tool_call_body([("first", {"word": "a"})], None, 0), default=RemoteServerError("down"))
    runner = Orchestrator(fake, [first], strategies=(), checkpoint=saved)
    with pytest.raises(RemoteServerError):
        await runner.run("go")
    state = saved.read(-1)
    assert not state.ended
    done = await Orchestrator(FakeModel("done"), [first]).run(state)
    assert [message.role for message in done.messages] == ["user", "assistant", "tool", "assistant"]


async def test_what_is_asked_behind_a_run_that_was_killed_comes_after_its_turn() -> None:
    state = await midway("done", two(), [first], max_parallel_tools=1)
    fake = FakeModel("ok")
    done = await Orchestrator(fake, [first]).run("and then?", message_history=state)
    assert [message.role for message in fake.requests[0].messages] == ["user", "assistant", "tool", "user"]
    assert [one.text for one in done.messages[2].tool_results] == ["did a", "did b"]


async def test_save_points_come_one_at_a_time() -> None:
    inside = 0

    async def slow(result: RunResult) -> None:
        nonlocal inside
        inside += 1
        assert inside == 1
        await asyncio.sleep(0.001)
        inside -= 1

    calls = [("first", {"word": str(number)}) for number in range(6)]
    result = await Orchestrator(FakeModel(tool_call_body(calls, None, 0), "done"), [first], checkpoint=slow).run("go")
    assert len(result.tool_results) == 6


async def test_the_typed_value_is_not_lost_when_its_reply_also_made_calls() -> None:
    calls = [("first", {"word": "a"}), ("final_result", {"result": 3})]
    state = await midway("started", FakeModel(tool_call_body(calls, None, 0)), [first], output_type=int)
    fake = FakeModel("3")
    assert await Orchestrator(fake, [first]).execute(state, int) == 3
    assert_valid(fake.requests[0].messages)


class DiskFull(Saved):
    """The save `n` (from 0) fails, the ones behind it do not."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self._failing, self._asked = n, -1

    def __call__(self, result: RunResult) -> None:
        self._asked += 1
        if self._asked == self._failing:
            raise OSError("disk full")
        super().__call__(result)


@pytest.mark.parametrize("parallel", [1, 8])
async def test_no_start_is_saved_once_the_run_is_ending(parallel: int) -> None:
    saved = DiskFull(1)  # behind the reply: before the first tool
    with pytest.raises(OSError, match="disk full"):
        await Orchestrator(two(), [first], max_parallel_tools=parallel).run("go", checkpoint=saved)
    assert [call.stage for text in saved for call in RunResult.model_validate_json(text).open_calls] == []


@pytest.mark.parametrize("way", ["abort", "end", "checkpoint"])
async def test_a_blocked_call_runs_on_resume_or_is_reported_as_not_begun(way: str) -> None:
    began: list[str] = []

    @tool
    async def work(n: int) -> str:
        """Work."""
        began.append(f"work {n}")
        return "ok"

    @tool
    async def stop() -> str:
        """Stop."""
        began.append("stop")
        if way == "end":
            raise TerminateLoop("over")
        raise ValueError("bad")

    saved = DiskFull(2 if way == "checkpoint" else -1)
    options: dict[str, Any] = {"tool_errors": "abort"} if way == "abort" else {}
    model = FakeModel().tool_calls(("stop", {}), ("work", {"n": 1}), ("work", {"n": 2}))
    with suppress(ToolError, OSError):
        await Orchestrator(model, [work, stop], max_parallel_tools=1).run("go", checkpoint=saved, **options)
    assert began == ["stop"]
    for text in saved:
        started = [call.name for call in RunResult.model_validate_json(text).open_calls if call.stage == "started"]
        assert started in ([], ["stop"])


async def test_a_tool_that_failed_and_ended_the_run_ends_it_where_it_goes_on() -> None:
    ran: list[str] = []

    @tool
    async def stop() -> str:
        """Stop."""
        ran.append("stop")
        raise ValueError("bad")

    @tool
    async def work() -> str:
        """Work."""
        ran.append("work")
        return "ok"

    saved = Saved()
    model = FakeModel().tool_calls(("stop", {}), ("work", {}))
    options: dict[str, Any] = {"max_parallel_tools": 1, "tool_errors": "abort"}
    with pytest.raises(ToolError, match="bad"):
        await Orchestrator(model, [stop, work], **options).run("go", checkpoint=saved)
    fake = FakeModel("done")
    with pytest.raises(ToolError, match="bad") as caught:
        await Orchestrator(fake, [stop, work], **options).run(saved.read(-1))
    assert (fake.call_count, ran) == (0, ["stop"])
    assert_valid(caught.value.partial.messages)


@pytest.mark.parametrize("choice", ["required", {"name": "work"}])
async def test_a_choice_forces_no_second_turn_of_tools_where_the_saved_run_had_one(choice: Any) -> None:
    ran: list[int] = []

    @tool
    async def work(n: int) -> str:
        """Work."""
        ran.append(n)
        return "ok"

    saved = Saved()
    await Orchestrator(FakeModel().tool_call("work", {"n": 1}).text("done"), [work]).run(
        "go", tool_choice=choice, checkpoint=saved
    )
    for index in range(len(saved) - 1):
        fake = FakeModel("done")
        await Orchestrator(fake, [work]).run(saved.read(index), tool_choice=choice)
        assert [request.tool_choice for request in fake.requests] == ["auto"]
    fake = FakeModel().tool_call("work", {"n": 2}).text("done")
    await Orchestrator(fake, [work]).run("more", message_history=saved.read(-1), tool_choice=choice)
    assert [request.tool_choice for request in fake.requests] == [choice, "auto"]  # that run is over


@pytest.mark.parametrize("box", ["none", "the same", "another"])
async def test_what_was_added_to_the_run_enters_where_it_goes_on(box: str) -> None:
    waiting = Interjections()

    @tool
    async def work() -> str:
        """Work."""
        waiting.add("hurry")
        return "ok"

    saved = Saved()
    await Orchestrator(FakeModel().tool_call("work").text("done"), [work]).run("go", interjections=waiting, checkpoint=saved)
    state = saved.read(-2)
    assert [message.text for message in state.not_entered] == ["hurry"]
    boxes = {"none": None, "the same": Interjections(), "another": Interjections()}
    given = boxes[box]
    if given is not None:
        given.add("hurry" if box == "the same" else "now")
    fake = FakeModel("done")
    result = await Orchestrator(fake, [work]).run(state, interjections=given)
    said = [message.text for message in fake.requests[0].messages if message.role == "user"]
    assert said == ["go", "hurry", *(["now"] if box == "another" else [])]
    assert result.not_entered == []


async def test_what_was_added_stays_with_a_result_whose_calls_still_wait() -> None:
    box = Interjections()

    @tool(requires_approval=True)
    async def pay() -> str:
        """Pay."""
        return "paid"

    @tool
    async def work() -> str:
        """Work."""
        box.add("hurry")
        return "ok"

    model = FakeModel().tool_calls(("pay", {}), ("work", {}))
    result = await Orchestrator(model, [pay, work]).run("go", interjections=box)
    same = await Orchestrator(FakeModel(), [pay, work]).run(RunResult.model_validate_json(result.model_dump_json()))
    assert [message.text for message in same.not_entered] == ["hurry"]
    fake = FakeModel("done")
    await Orchestrator(fake, [pay, work]).run(same, answers={same.pending[0].id: Approve()})
    assert [message.text for message in fake.requests[0].messages if message.role == "user"] == ["go", "hurry"]
