"""Re-asks that fail: an empty reply, a failed request, or nothing left to ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.types import (
    Budget,
    FallbackExhausted,
    Finished,
    LimitExceeded,
    ModelError,
    OutputParseError,
    RateLimited,
    RemoteServerError,
)
from tests.run.support import FAST, add, assert_valid, get_weather, stack

pytestmark = pytest.mark.anyio

Calls = Callable[..., Any]
NOTHING: list[Any] = [
    "",
    " \n",
    {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": None, "reasoning_content": "Hm."}, "finish_reason": "stop"}]},
    "<think>Shall I?</think>",
]


def native(*arguments: Any) -> Any:
    return tool_call_body([("pay", given) for given in arguments], None, 0)


def in_text(*arguments: Any) -> Any:
    return "\n".join(f'<tool_call>{{"name": "pay", "arguments": {json.dumps(given)}}}</tool_call>' for given in arguments)


class Till:
    """A tool whose payments are remembered."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> str:
        self.paid.append(amount)
        return "paid"


async def ran(fake: FakeModel, tools: list[Any], streamed: bool, **options: Any) -> Any:
    orchestrator = Orchestrator(fake, tools, strategies=FAST, budget=options.pop("budget", Budget()))
    return await finished(orchestrator, "go", streamed, **options)


async def finished(orchestrator: Orchestrator, request: str, streamed: bool, **options: Any) -> Any:
    if not streamed:
        return await orchestrator.run(request, **options)
    last = [event async for event in orchestrator.stream(request, **options)][-1]
    assert isinstance(last, Finished)
    return last.result


both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
both_forms = pytest.mark.parametrize("calls", [native, in_text])


@both_ways
@both_forms
@pytest.mark.parametrize("nothing", NOTHING)
async def test_nothing_in_answer_to_a_reask_is_no_answer(calls: Calls, nothing: Any, streamed: bool) -> None:
    till = Till()
    fake = FakeModel(calls({"amount": 1}, {"amount": "x"}), nothing, nothing, calls({"amount": 2}), "Both are paid.")
    result = await ran(fake, [till.pay], streamed)
    assert (result.content, sorted(till.paid), result.degraded) == ("Both are paid.", [1, 2], False)
    failures = [str(attempt.failure) if attempt.failure else None for attempt in result.attempts]
    assert failures == [None, "the reply is empty", "the reply is empty", None, None]
    asked = [request.messages[-1].text for request in fake.requests[1:4]]
    assert asked[0].startswith("A part of your last reply was not used.")
    assert asked[0] == asked[1] == asked[2]
    assert_valid(result.messages)


@both_ways
@both_forms
async def test_words_after_an_empty_answer_to_a_reask_take_the_calls_back(calls: Calls, streamed: bool) -> None:
    till = Till()
    result = await ran(FakeModel(calls({"amount": 1}, {"amount": "x"}), "", "I will not pay."), [till.pay], streamed)
    assert (result.content, till.paid) == ("I will not pay.", [])
    assert [(record.name, record.ran) for record in result.tool_results] == [("pay", False), ("pay", False)]


@both_ways
async def test_a_reask_that_is_never_answered_ends_as_an_always_empty_model_does(streamed: bool) -> None:
    till = Till()
    with pytest.raises(FallbackExhausted, match="the reply is empty") as caught:
        await ran(FakeModel(native({"amount": 1}, {"amount": "x"}), default=""), [till.pay], streamed)
    assert isinstance(caught.value.__cause__, ModelError)
    assert (till.paid, caught.value.partial.content, len(caught.value.attempts)) == ([], "", 5)


async def test_a_typed_answer_and_a_judged_one_are_asked_for_again_after_nothing_too() -> None:
    assert await Orchestrator(FakeModel("four", "", "4"), strategies=FAST).execute("?", int) == 4
    with pytest.raises(FallbackExhausted, match="the reply is empty"):
        await Orchestrator(FakeModel("four", default=""), strategies=FAST).execute("?", int)

    def short(text: str) -> None:
        if len(text) > 5:
            raise ValueError("at most five letters")

    fake = FakeModel("too long", "", "short")
    result = await Orchestrator(fake, output_validators=[short], strategies=FAST).run("?")
    assert (result.content, [attempt.reason for attempt in result.attempts]) == ("short", ["first", "reask", "retry"])
    assert "at most five letters" in fake.requests[2].messages[-1].text


async def test_a_stop_sequence_makes_no_answer_of_an_empty_reply_to_a_reask() -> None:
    till = Till()
    fake = FakeModel(native({"amount": "x"}), NOTHING[2], native({"amount": 2}), "Paid.")
    assert (await ran(fake, [till.pay], False, stop=["END"])).content == "Paid."
    assert till.paid == [2]


# --- after tools ran ----------------------------------------------------------------------------------------------------


@both_ways
@both_forms
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_silence_after_a_tool_ran_is_asked_about_as_long_as_there_is_a_way(
    calls: Calls, times: int, streamed: bool
) -> None:
    till = Till()
    result = await ran(FakeModel(calls({"amount": 1}), *[""] * times, "Paid."), [till.pay], streamed)
    assert (result.content, result.degraded, till.paid) == ("Paid.", False, [1])


@both_ways
@both_forms
async def test_a_model_that_stays_silent_after_a_tool_ran_ends_the_run_and_it_shows(calls: Calls, streamed: bool) -> None:
    till = Till()
    result = await ran(FakeModel(calls({"amount": 1}), default=""), [till.pay], streamed)
    assert (result.content, result.degraded, till.paid) == ("", True, [1])
    assert [str(attempt.failure) for attempt in result.attempts[1:]] == ["the reply is empty"] * 4
    assert [message.role for message in result.messages] == ["user", "assistant", "tool"]


async def test_what_was_said_before_a_tool_ran_does_not_stand_in_for_silence() -> None:
    announced = tool_call_body([("pay", {"amount": 1})], "I will pay.", 0)
    result = await ran(FakeModel(announced, default=""), [Till().pay], False)
    assert (result.content, result.degraded) == ("", True)


@pytest.mark.parametrize(
    "replies",
    [
        (native({"amount": 1}), native({"amount": "x"}), ""),
        (native({"amount": 1}), "", "", "", RemoteServerError("down", status=503)),
        (native({"amount": "x"}), ""),
    ],
    ids=["in a correction", "beside another failure", "before any tool ran"],
)
async def test_silence_is_the_end_only_where_a_tool_ran_and_nothing_else_was_said(replies: tuple[Any, ...]) -> None:
    till = Till()
    last = "" if replies[-1] == "" else replies[-1]
    with pytest.raises(FallbackExhausted):
        await ran(FakeModel(*replies, default=last), [till.pay], False)


async def test_silence_is_no_typed_answer_and_a_spent_budget_is_its_own_error() -> None:
    till = Till()
    with pytest.raises(FallbackExhausted, match="the reply is empty"):
        await Orchestrator(FakeModel(native({"amount": 1}), default=""), [till.pay], strategies=FAST).execute("go", int)
    with pytest.raises(LimitExceeded) as caught:
        await ran(FakeModel(native({"amount": 1}), default=""), [till.pay], False, budget=Budget(requests=3))
    assert caught.value.partial.tool_results[0].value == "paid"


# --- a typed value in answer to the re-ask of a call ---------------------------------------------------------------------


def final(value: Any) -> Any:
    return tool_call_body([("final_result", {"result": value})], None, 0)


@both_ways
@both_forms
@pytest.mark.parametrize("answers", [("5",), (final(5),), (final("x"), final(5)), ("Five.", "5")], ids=str)
async def test_a_typed_value_may_take_the_calls_back(calls: Calls, answers: tuple[Any, ...], streamed: bool) -> None:
    till = Till()
    result = await ran(FakeModel(calls({"amount": 1}, {"amount": "x"}), *answers), [till.pay], streamed, output_type=int)
    assert (result.output, till.paid, [message.role for message in result.messages][:2]) == (5, [], ["user", "assistant"])
    assert [attempt.reason for attempt in result.attempts] == ["first", *["reask"] * len(answers)]
    assert [(record.name, record.ran) for record in result.tool_results] == [("pay", False), ("pay", False)]


# --- a re-ask whose request fails ---------------------------------------------------------------------------------------


@both_ways
@both_forms
@pytest.mark.parametrize("failure", [RemoteServerError("boom", status=500), RateLimited("slow", retry_after=0.0)])
async def test_a_retry_of_a_reask_sends_the_same_request(calls: Calls, failure: Exception, streamed: bool) -> None:
    till = Till()
    fake = FakeModel(calls({"amount": 1}, {"amount": "x"}), failure, calls({"amount": 2}), "Paid.")
    result = await ran(fake, [till.pay], streamed)
    assert (result.content, sorted(till.paid)) == ("Paid.", [1, 2])
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "retry", "turn"]
    assert fake.requests[1] == fake.requests[2]


async def test_another_model_begins_the_turn_again() -> None:
    till = Till()
    small = FakeModel(native({"amount": 1}, {"amount": "x"}), default=RemoteServerError("down", status=503))
    large = FakeModel(native({"amount": 3}), "Paid.")
    result = await stack({"small": small, "large": large}, [till.pay]).run("go")
    assert (result.content, till.paid) == ("Paid.", [3])
    assert [message.text for message in large.requests[0].messages] == ["go"]


async def test_the_tools_that_a_hook_left_hold_for_the_retry_of_a_reask() -> None:
    def only_add(request: Any) -> Any:
        return request.model_copy(update={"tools": [tool for tool in request.tools if tool.name == "add"]})

    till = Till()
    fake = FakeModel(tool_call_body([("add", {"a": "x"})], None, 0), RemoteServerError("boom", status=500), default="No.")
    orchestrator = Orchestrator(fake, [add, till.pay], strategies=FAST, hooks=Hooks(before_request=only_add))
    assert (await orchestrator.run("go")).content == "No."
    assert [[tool.name for tool in request.tools] for request in fake.requests] == [["add"]] * 3


@both_ways
@both_forms
@pytest.mark.parametrize("again", [{"amount": "1"}, {"amount": 1, "note": "-"}], ids=str)
async def test_a_kept_call_that_is_made_again_in_another_writing_runs_once(calls: Calls, again: Any, streamed: bool) -> None:
    paid: list[int] = []

    def pay(amount: int, note: str = "-") -> str:
        paid.append(amount)
        return note

    fake = FakeModel(calls({"amount": 1}, {"amount": "x"}), calls(again, {"amount": 2}), "Paid.")
    result = await ran(fake, [pay], streamed)
    assert (result.content, sorted(paid)) == ("Paid.", [1, 2])
    assert "repeated_call" in {record.repair.kind for record in result.repairs}


# --- no re-ask left -----------------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("typed", [False, True], ids=["words", "typed"])
async def test_a_validators_words_stand_in_the_error_where_no_reask_is_left(typed: bool, streamed: bool) -> None:
    def refuse(_: Any) -> None:
        raise ValueError("the number must be even")

    fake = FakeModel(default="3")
    orchestrator = Orchestrator(fake, output_validators=[refuse], strategies=(), budget=Budget(reasks=0))
    options: dict[str, Any] = {"output_type": int} if typed else {}
    with pytest.raises(FallbackExhausted, match="the number must be even") as caught:
        await finished(orchestrator, "?", streamed, **options)
    failure = caught.value.__cause__
    assert isinstance(failure, OutputParseError if typed else ModelError)
    assert isinstance(failure.__cause__, ValueError)


@pytest.mark.parametrize(
    "text",
    [
        "The syntax is:\n<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>',
        'For example:\n<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n'
        "</function_calls>",
    ],
)
async def test_a_guess_that_is_written_again_is_the_answer_with_its_whole_wrapper(text: str) -> None:
    result = await Orchestrator(FakeModel(default=text), [get_weather]).run("What was it?")
    assert (result.content, [attempt.reason for attempt in result.attempts]) == (text, ["first", "reask"])
