"""A call of an unknown tool does not affect the good calls beside it."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import Budget, FallbackExhausted, ToolDefinition
from tests.run.support import FAST, add, assert_valid, calls_in

pytestmark = pytest.mark.anyio

GOOD: tuple[str, Any] = ("add", {"a": 1, "b": 2})
NOPE: tuple[str, Any] = ("adder", {"a": 1})


@pytest.mark.parametrize("calls", [(GOOD, NOPE), (NOPE, GOOD)], ids=["behind", "before"])
async def test_the_good_call_runs_and_the_unknown_one_is_answered_with_the_names(calls: tuple[tuple[str, Any], ...]) -> None:
    fake = FakeModel().tool_calls(*calls).text("3")
    result = await Orchestrator(fake, [add]).run("go")
    assert (result.content, fake.call_count) == ("3", 2)
    assert calls_in(result.messages) == [*calls]
    assert_valid(result.messages)
    by_name = {record.name: record for record in result.tool_results}
    assert (by_name["add"].value, by_name["add"].ran) == (3, True)
    unknown = by_name["adder"]
    assert unknown.error is not None
    assert (unknown.error.type, unknown.ran) == ("not_found", False)
    assert unknown.content == "there is no tool 'adder'; the tools are: add. Did you mean 'add'?"
    results = fake.requests[1].messages[-1].tool_results
    assert [one.is_error for one in results] == [call == NOPE for call in calls]


async def test_a_model_that_goes_on_with_an_unknown_name_is_answered_twice_and_then_given_up() -> None:
    ran: list[int] = []

    def add(a: int, b: int) -> int:
        ran.append(a)
        return a + b

    fake = FakeModel()
    for n in range(30):
        fake.tool_calls(("add", {"a": n, "b": 0}), ("nope", {"n": n}))
    with pytest.raises(FallbackExhausted, match=r"the name of a tool \(add\), got `nope`") as caught:
        await Orchestrator(fake, [add], strategies=FAST, budget=Budget(attempts=1)).run("go")
    assert ran == [0, 1]
    assert_valid(caught.value.partial.messages)
    records = caught.value.partial.tool_results
    assert [record.name for record in records][:4] == ["add", "nope"] * 2
    assert not any(record.ran for record in records[4:])


async def test_a_tool_that_may_not_be_called_now_is_not_unknown() -> None:
    def other() -> str:
        raise AssertionError("it was not to be called")

    fake = FakeModel().tool_calls(GOOD, ("other", {})).tool_call("add", {"a": 5, "b": 6}).text("3")
    result = await Orchestrator(fake, [add, other]).run("go", tool_choice={"name": "add"})
    assert calls_in(result.messages) == [GOOD, ("add", {"a": 5, "b": 6})]


async def test_a_call_that_is_left_to_the_caller_stays_pending_beside_an_unknown_one() -> None:
    ask = ToolDefinition(name="ask", description="", parameters={"type": "object"})
    fake = FakeModel().tool_calls(("ask", {}), NOPE)
    result = await Orchestrator(fake, [ask]).run("go")
    assert [call.name for call in result.pending] == ["ask"]
    assert [record.name for record in result.tool_results] == ["adder"]
