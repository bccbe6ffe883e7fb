"""Each call that did not run is in `tool_results` with the reason, and is never a lossless repair."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from llmcore import Approve, Budget, Deny, Hooks, Interjections, Veto
from llmcore.agent import Agent
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import tool
from llmcore.types import FallbackExhausted, LimitExceeded, MaxToolTurns, RemoteServerError
from tests.run.asking.test_cut_streams import finished
from tests.run.support import FAST, assert_valid

pytestmark = pytest.mark.anyio


class Desk:
    def __init__(self) -> None:
        self.booked: list[int] = []
        self.tools = [tool(self.book), tool(self.peek, read_only=True)]

    async def book(self, seat: int) -> str:
        """Book a seat."""
        self.booked.append(seat)
        return "booked"

    async def peek(self, seat: int) -> str:
        """Look at a seat."""
        return "free"


def native(*seats: Any, name: str = "book", ids: Sequence[str] = (), finish: str = "tool_calls") -> Any:
    body = tool_call_body([(name, {"seat": seat}) for seat in seats], None, 0)
    for call, given in zip(body["choices"][0]["message"]["tool_calls"], ids, strict=False):
        call["id"] = given
    body["choices"][0]["finish_reason"] = finish
    return body


def in_text(*seats: Any, name: str = "book", **_: Any) -> str:
    calls = [json.dumps({"name": name, "arguments": {"seat": seat}}) for seat in seats]
    return "\n".join(f"<tool_call>{call}</tool_call>" for call in calls)


def not_run(result: RunResult[Any]) -> list[tuple[str, Any, str]]:
    """Name, argument and kind of error of each call that did not run; each has a reason, and no repair calls it lossless."""
    dropped = [record for record in result.tool_results if not record.ran]
    assert all(record.error is not None and record.error.message for record in dropped)
    assert len({record.id for record in result.tool_results}) == len(result.tool_results)
    kinds = {record.repair.kind for record in result.repairs if record.repair.safety == "lossless"}
    assert not kinds & {"withdrawn_call", "call_not_allowed", "calls_limit"}
    assert RunResult.model_validate_json(result.model_dump_json()).tool_results == result.tool_results
    return [(one.name, (one.arguments or {}).get("seat"), one.error.type) for one in dropped if one.error]


async def ran(replies: Sequence[Any], way: str, desk: Desk, **options: Any) -> RunResult[Any]:
    fake = FakeModel(*replies)
    if way == "agent":
        return await Agent(fake, tools=desk.tools, strategies=FAST).run("go", **options)
    orchestrator = Orchestrator(fake, desk.tools, strategies=FAST)
    return await finished(orchestrator.stream("go", **options)) if way == "stream" else await orchestrator.run("go", **options)


every_way = pytest.mark.parametrize("way", ["run", "stream", "agent"])
both_forms = pytest.mark.parametrize("write", [native, in_text])


@every_way
@pytest.mark.parametrize("ids", [("u1", "u2", "u3"), ("u", "u", "u"), ()], ids=["own", "same", "ours"])
async def test_a_wrong_call_that_is_made_again_unchanged_is_listed_each_time(way: str, ids: Sequence[str]) -> None:
    wrong = [native("x", ids=[one]) for one in ids] or [in_text("x")] * 3
    result = await ran([*wrong, "I have added it."], way, Desk())
    assert not_run(result) == [("book", "x", "validation")] * 3
    assert all("made it again" in str(one.error) for one in result.tool_results[:1])


@every_way
@both_forms
async def test_so_is_one_beside_a_call_that_is_kept(way: str, write: Any) -> None:
    desk = Desk()
    result = await ran([write(1, "x"), write("x"), write(1, 2), "Done."], way, desk)
    assert [one for one in not_run(result) if one[1] == "x"] == [("book", "x", "validation")] * 2
    assert desk.booked == [1, 2]


@every_way
@both_forms
async def test_a_call_that_a_correction_replaced(write: Any, way: str) -> None:
    desk = Desk()
    result = await ran([write(1, "x"), write(2), "Done."], way, desk)
    assert sorted(desk.booked) == [1, 2]
    assert not_run(result) == [("book", "x", "validation")]
    (record,) = [one for one in result.tool_results if not one.ran]
    assert record.error is not None
    assert "expected integer" in record.error.message
    assert_valid(result.messages)


@every_way
@both_forms
async def test_calls_that_words_took_back(write: Any, way: str) -> None:
    desk = Desk()
    result = await ran([write(1, "x"), "I have booked it."], way, desk)
    assert (result.content, desk.booked) == ("I have booked it.", [])
    assert not_run(result) == [("book", 1, "execution"), ("book", "x", "validation")]


_PER_REPLY = ["book:{}", "toolu_{}", "chatcmpl-tool-{}", "functions.book:{}", "call_{}", "same", ""]
"""Ids by which servers number the calls of each reply anew, the same for all, and none."""


@every_way
@pytest.mark.parametrize("ids", _PER_REPLY)
async def test_corrections_are_reported_by_their_places_whatever_ids_the_server_renumbers(ids: str, way: str) -> None:
    def numbered(*seats: Any) -> Any:
        return native(*seats, ids=[ids.format(n) for n in range(len(seats))])

    desk = Desk()
    result = await ran([numbered(1, "x", "y"), numbered(2, 3), "Done."], way, desk)
    assert (sorted(desk.booked), [one[1] for one in not_run(result)]) == ([1, 2, 3], ["x", "y"])
    assert_valid(result.messages)

    two = Desk()
    result = await ran([numbered("x", 1, "y"), numbered(2, "z"), numbered(3), "Done."], way, two)
    assert (sorted(two.booked), result.content) == ([1, 2, 3], "Done.")
    assert_valid(result.messages)


@every_way
async def test_a_call_of_an_unknown_tool_that_was_replaced(way: str) -> None:
    desk = Desk()
    result = await ran([native(1, name="reserve"), native(1), "Done."], way, desk)
    assert (desk.booked, not_run(result)) == ([1], [("reserve", 1, "not_found")])


async def test_calls_that_stay_wrong_after_all_re_asks() -> None:
    desk = Desk()
    with pytest.raises(FallbackExhausted) as caught:
        await ran([native("x", 1), *(native(f"x{n}", 1) for n in range(40))], "run", desk, budget=Budget(attempts=1, reasks=1))
    assert not_run(caught.value.partial) == [("book", "x", "validation"), ("book", "x0", "validation"), ("book", 1, "execution")]
    assert desk.booked == []


async def test_calls_of_a_reply_that_another_mode_takes_the_place_of() -> None:
    desk = Desk()
    result = await ran(["x", native("x"), native("y"), native("y"), native(1), "Done."][1:], "run", desk, budget=Budget(reasks=1))
    assert (desk.booked, result.content) == ([1], "Done.")
    assert [one[1] for one in not_run(result)][:2] == ["x", "y"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_calls_that_the_request_did_not_allow(streamed: bool) -> None:
    desk = Desk()
    result = await ran([native(1, 2), "Done."], "stream" if streamed else "run", desk, parallel_tool_calls=False)
    assert (desk.booked, not_run(result)) == ([1], [("book", 2, "execution")])
    assert [one.repair.safety for one in result.repairs] == ["guess"]
    none = await ran([native(1), "Done."], "stream" if streamed else "run", Desk(), tool_choice="none")
    assert not_run(none) == [("book", 1, "execution")]


@every_way
async def test_a_guess_that_is_made_again_and_only_shown(way: str) -> None:
    desk, shown = Desk(), f"For example:\n{in_text(1)}"
    result = await ran([shown, shown], way, desk)
    assert (result.content, desk.booked, [attempt.reason for attempt in result.attempts]) == (shown, [], ["first", "reask"])
    assert [one[:2] for one in not_run(result)] == [("book", 1)]


async def test_vetoed_denied_and_over_the_budget() -> None:
    desk = Desk()
    hooks = Hooks(before_tool_run=lambda call, context: Veto("not today"))
    result = await Orchestrator(FakeModel(native(1), "Done."), desk.tools, hooks=hooks).run("go")
    assert not_run(result) == [("book", 1, "execution")]

    asked = tool(desk.book, requires_approval=True)
    orchestrator = Orchestrator(FakeModel(native(1), "Done."), [asked])
    waiting = await orchestrator.run("go")
    assert waiting.tool_results == []
    denied = await orchestrator.run(waiting, answers={waiting.pending[0].id: Deny("no")})
    assert not_run(denied) == [("book", 1, "execution")]

    with pytest.raises(LimitExceeded) as caught:
        await Orchestrator(FakeModel(native(1, 2)), desk.tools, max_parallel_tools=1).run("go", budget=Budget(tool_calls=1))
    assert not_run(caught.value.partial) == [("book", 2, "execution")]
    with pytest.raises(MaxToolTurns) as turns:
        await Orchestrator(FakeModel(native(3)), desk.tools).run("go", max_tool_turns=0)
    assert not_run(turns.value.partial) == [("book", 3, "execution")]


async def test_calls_of_a_run_that_is_left_before_they_begin() -> None:
    desk = Desk()
    async with Orchestrator(FakeModel(native(1, 2)), desk.tools).iterate("go") as steps:
        async for step in steps:
            if step.message is not None and step.message.tool_uses:
                break
    assert [one[1] for one in not_run(steps.result)] == [1, 2]


async def test_calls_under_correction_when_the_run_is_cancelled() -> None:
    asked, desk = asyncio.Event(), Desk()

    async def hang(_: Any) -> Any:
        asked.set()
        await asyncio.sleep(3600)

    run = asyncio.create_task(Orchestrator(FakeModel(native(1, "x"), hang), desk.tools).run("go"))
    await asked.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await run
    assert [one[1] for one in not_run(caught.value.partial)] == [1, "x"]  # type: ignore[attr-defined]  # it rides on the error


async def test_calls_that_nobody_answers_when_the_conversation_goes_on() -> None:
    desk = Desk()
    orchestrator = Orchestrator(FakeModel(native(1), "Fine."), [tool(desk.book, requires_approval=True)])
    waiting = await orchestrator.run("go")
    result = await orchestrator.run("Never mind.", message_history=waiting)
    assert (desk.booked, not_run(result)) == ([], [("book", 1, "execution")])


async def test_calls_of_a_reply_that_its_provider_broke_off() -> None:
    desk = Desk()
    result = await ran([native(1, finish="error"), native(2), "Done."], "run", desk)
    assert (desk.booked, not_run(result)) == ([2], [("book", 1, "execution")])


async def test_a_killed_run_that_resumes_with_the_dropped_calls_of_its_open_turn() -> None:
    desk, saved = Desk(), list[str]()
    orchestrator = Orchestrator(FakeModel(native(1, "x"), native(2), "Done."), desk.tools)
    whole = await orchestrator.run("go", checkpoint=lambda result: saved.append(result.model_dump_json()))
    went_on = Orchestrator(FakeModel("Done."), desk.tools)
    resumed = await went_on.run(RunResult.model_validate_json(saved[0]), answers={})
    assert not_run(whole) == not_run(resumed) == [("book", "x", "validation")]


async def test_two_calls_with_the_id_of_a_dropped_one_are_kept_apart() -> None:
    desk = Desk()
    asked = tool(desk.book, requires_approval=True)
    orchestrator = Orchestrator(FakeModel(native(1, "x", ids=["a", "a"]), native(2, ids=["a"]), "Done."), [asked])
    waiting = await orchestrator.run("go")
    assert [call.arguments for call in waiting.pending] == [{"seat": 1}, {"seat": 2}]
    result = await orchestrator.run(
        RunResult.model_validate_json(waiting.model_dump_json()), answers={call.id: Approve() for call in waiting.pending}
    )
    assert (sorted(desk.booked), not_run(waiting)) == ([1, 2], [("book", "x", "validation")])
    assert_valid(result.messages)


async def test_a_dropped_call_counts_as_no_used_tool() -> None:
    desk = Desk()
    fake = FakeModel(native("x"), RemoteServerError("down", status=500), native(1), "Done.")
    await Orchestrator(fake, desk.tools, strategies=FAST).run("go", tool_choice="required", interjections=Interjections())
    assert [request.tool_choice for request in fake.requests][-1] == "auto"
    assert desk.booked == [1]
