"""Calls that wait for the caller, for approval or to be carried out elsewhere, and how a run resumes with the answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.hooks import Hooks, Veto
from llmcore.orchestrator import Orchestrator
from llmcore.run import Answer, Approve, Deny, RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import RunContext, Tool, tool
from llmcore.types import (
    Budget,
    CallerError,
    CallsPending,
    ConfigError,
    Envelope,
    Finished,
    ImageBlock,
    LimitExceeded,
    Message,
    TerminateLoop,
    TextBlock,
    ToolCall,
    ToolDefinition,
    ToolDefinitionError,
    ToolError,
    ToolResult,
    ToolResultBlock,
)
from tests.run.support import add, assert_valid

pytestmark = pytest.mark.anyio

ASK = ToolDefinition(
    name="ask", description="Ask a person.", parameters={"type": "object", "properties": {"q": {"type": "string"}}}
)
ran: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


@tool(requires_approval=True, summary="Pay {amount} to {to}")
def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    ran[f"pay {to} {amount}"] += 1
    return f"paid {amount} to {to}"


@tool
async def look(what: str) -> str:
    """Look at something."""
    ran[f"look {what}"] += 1
    return f"saw {what}"


PAY = ("pay", {"to": "Ann", "amount": 5})
TOOLS: list[Any] = [pay, look, ASK]


def asking(*calls: Any) -> FakeModel:
    return FakeModel(tool_call_body(list(calls), None, 0), default="done")


async def waiting(*calls: Any, tools: Any = TOOLS, **options: Any) -> RunResult:
    return await Orchestrator(asking(*calls), tools, **options).run("go")


def in_json(result: RunResult) -> RunResult:
    return RunResult.model_validate_json(result.model_dump_json())


def results(messages: list[Message]) -> dict[str, str]:
    return {one.tool_use_id: one.text for message in messages for one in message.tool_results}


def finished(events: Sequence[Any]) -> RunResult:
    last: Any = events[-1]
    result: RunResult = last.result
    assert isinstance(last, Finished)
    return result


# What waits


async def test_a_call_that_needs_approval_waits_and_the_others_run_first() -> None:
    result = await waiting(("look", {"what": "sea"}), PAY, ("ask", {"q": "why"}), ("look", {"what": "sky"}))
    assert ran == {"look sea": 1, "look sky": 1}
    assert [call.name for call in result.pending] == ["pay", "ask"]
    (request,) = result.approvals
    assert (request.name, request.arguments, request.summary, request.reason) == ("pay", PAY[1], "Pay 5 to Ann", "")
    assert [call.name for call in result.calls_elsewhere] == ["ask"]
    assert [record.name for record in result.tool_results] == ["look", "look"]
    assert_valid(result.messages, [call.id for call in result.pending])
    assert in_json(result).open_calls == result.open_calls
    assert result.ended


async def test_stream_and_iterate_agree_with_run() -> None:
    orchestrator = Orchestrator(FakeModel(default=tool_call_body([("look", {"what": "x"}), PAY], None, 0)), TOOLS)
    events = [event async for event in orchestrator.stream("go")]
    assert [event.name for event in events if isinstance(event, ToolResult)] == ["look"]
    streamed = finished(events)
    async with orchestrator.iterate("go") as steps:
        kinds = [step.kind async for step in steps]
    assert kinds == ["reply", "results"]
    for result in (streamed, steps.result):
        assert [call.name for call in result.pending] == [one.name for one in result.approvals] == ["pay"]
        assert result.messages == streamed.messages


def over_a_hundred(arguments: dict[str, Any]) -> bool:
    return bool(arguments["amount"] > 100)


async def not_to_strangers(context: RunContext[Any], arguments: dict[str, Any]) -> str:
    return "" if arguments["to"] in context.deps else f"{arguments['to']} is a stranger"


def of_that_name(arguments: dict[str, Any], context: RunContext[Any]) -> bool:
    return context.tool_name == "pay"


def of_nothing() -> bool:
    return True


def of_three(a: Any, b: Any, c: Any) -> bool:
    return True


def failing(arguments: dict[str, Any]) -> bool:
    raise KeyError("sk-proj-abcdefghijklmnopqrstuvwxyz123456")


@pytest.mark.parametrize(
    ("predicate", "amount", "reason"),
    [
        (over_a_hundred, 100, None),
        (over_a_hundred, 101, ""),
        (not_to_strangers, 1, "Ann is a stranger"),
        (failing, 1, "its predicate failed: KeyError"),
        (of_that_name, 1, ""),
    ],
)
async def test_a_predicate_is_asked_of_the_arguments(predicate: Any, amount: int, reason: str | None) -> None:
    careful = pay.with_options(requires_approval=predicate)
    result = await waiting(("pay", {"to": "Ann", "amount": amount}), tools=[careful], deps=["Bob"])
    assert [one.reason[: len(reason or "")] for one in result.approvals] == ([] if reason is None else [reason])
    assert bool(ran) == (reason is None)
    assert "sk-proj-" not in result.model_dump_json()


@pytest.mark.parametrize("wrong", ["yes", 1, of_nothing, of_three])
def test_a_requirement_that_is_none_is_refused_where_it_is_given(wrong: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="requires_approval must be True, False or a function of the arguments"):
        tool(requires_approval=wrong)(add)
    with pytest.raises(ToolDefinitionError, match="has no function: the caller answers its calls"):
        Tool.from_definition(ASK, requires_approval=True)


async def test_a_call_that_a_hook_changes_is_judged_as_it_would_run() -> None:
    def more(call: ToolCall, context: Any) -> ToolCall:
        return call.model_copy(update={"arguments": {**(call.arguments or {}), "amount": 500}})

    careful = pay.with_options(requires_approval=over_a_hundred)
    hooked: dict[str, Any] = {"tools": [careful], "hooks": Hooks(before_tool_run=more)}
    result = await waiting(PAY, **hooked)
    assert result.approvals[0].arguments == {"to": "Ann", "amount": 500} == result.messages[1].tool_uses[0].input
    done = await Orchestrator(FakeModel("done"), **hooked).run(result, answers={result.pending[0].id: Approve()})
    assert ran == {"pay Ann 500": 1}
    assert done.content == "done"


async def test_a_call_that_a_hook_refuses_affects_no_other() -> None:
    result = await waiting(PAY, hooks=Hooks(before_tool_run=lambda call, context: Veto("closed")))
    assert not result.pending
    assert result.content == "done"


# How it goes on


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("way", ["run", "history", "stream", "iterate", "execute"])
async def test_answers_in_every_way(way: str, saved: bool) -> None:
    result = await waiting(PAY, ("pay", {"to": "Bob", "amount": 6}), ("pay", {"to": "Cy", "amount": 7}), ("ask", {"q": "why"}))
    result = in_json(result) if saved else result
    ann, bob, cy, ask = [call.id for call in result.pending]
    answers = {ann: Approve(), bob: Approve(arguments={"to": "Bob", "amount": 1}), cy: Deny("too much"), ask: Answer("for love")}
    fake = FakeModel("7")
    orchestrator = Orchestrator(fake, TOOLS)
    if way == "run":
        messages = (await orchestrator.run(result, answers=answers)).messages
    elif way == "history":
        messages = (await orchestrator.run(message_history=result, answers=answers)).messages
    elif way == "execute":
        assert await orchestrator.execute(result, int, answers=answers) == 7
        messages = fake.requests[0].messages
    elif way == "iterate":
        async with orchestrator.iterate(result, answers=answers) as steps:
            assert [(step.kind, step.turn) async for step in steps] == [("results", 0), ("reply", 1)]
        messages = steps.result.messages
    else:
        events = [event async for event in orchestrator.stream(result, answers=answers)]
        told = [event.tool_use_id for event in events if isinstance(event, ToolResult)]
        assert sorted(told) == sorted([ann, bob, cy, ask])
        messages = finished(events).messages
    assert ran == {"pay Ann 5": 1, "pay Bob 1": 1}
    assert results(messages) == {
        ann: "paid 5 to Ann",
        bob: "paid 1 to Bob",
        cy: "The call was not approved: too much",
        ask: "for love",
    }
    assert messages[1].tool_uses[1].input == {"to": "Bob", "amount": 1}
    assert_valid(messages)
    assert_valid(fake.requests[0].messages)


async def test_the_records_show_what_the_caller_said() -> None:
    result = await waiting(PAY, ("pay", {"to": "Bob", "amount": 6}), ("ask", {}), ("look", {"what": "x"}))
    ann, bob, ask = [call.id for call in result.pending]
    done = await Orchestrator(FakeModel("ok"), TOOLS).run(
        result, answers={ann: Approve(), bob: Deny(), ask: Answer({"a": 1}, is_error=False)}
    )
    told = [(record.name, record.answer, record.ran, record.value) for record in done.tool_results]
    assert told == [("pay", "approve", True, "paid 5 to Ann"), ("pay", "deny", False, None), ("ask", "answer", False, {"a": 1})]
    assert [one.role for one in done.new_messages] == ["tool", "assistant"]
    assert results(done.messages)[bob] == "The call was not approved."
    assert result.tool_results[0].answer is None


def test_the_sync_twins_go_on_as_well() -> None:
    result = Orchestrator(asking(PAY), TOOLS).run_sync("go")
    answers = {result.pending[0].id: Approve()}
    assert Orchestrator(FakeModel("5"), TOOLS).execute_sync(result.model_copy(), int, answers=answers) == 5
    events = list(Orchestrator(FakeModel("5"), TOOLS).stream_sync(result.model_copy(), answers=answers))
    assert finished(events).content == "5"
    assert Orchestrator(FakeModel("ok"), TOOLS).run_sync(message_history=result, answers=answers).content == "ok"


@pytest.mark.parametrize("answers", [None, {}])
async def test_without_an_answer_it_is_pending_again(answers: Any) -> None:
    result = await waiting(PAY)
    fake = FakeModel("never")
    again = await Orchestrator(fake, TOOLS).run(result, answers=answers)
    assert fake.call_count == 0
    assert again.open_calls == result.open_calls
    assert (again.pending, again.messages) == (result.pending, result.messages)


async def test_rounds_until_all_are_answered() -> None:
    result = await waiting(PAY, ("pay", {"to": "Bob", "amount": 6}), ("ask", {}))
    ann, bob, ask = [call.id for call in result.pending]
    fake = FakeModel(tool_call_body([("pay", {"to": "Dee", "amount": 1})], None, 0), "done")
    orchestrator = Orchestrator(fake, TOOLS)
    second = await orchestrator.run(in_json(result), answers={bob: Approve()})
    assert [call.id for call in second.pending] == [ann, ask]
    assert fake.call_count == 0
    third = await orchestrator.run(in_json(second), answers={ask: Answer("x"), ann: Deny()})
    assert [call.arguments for call in third.pending] == [{"to": "Dee", "amount": 1}]
    last = await orchestrator.run(in_json(third), answers={third.pending[0].id: Approve()})
    assert last.content == "done"
    assert ran == {"pay Bob 6": 1, "pay Dee 1": 1}
    assert_valid(last.messages)


async def test_an_answer_to_no_call_names_those_that_wait() -> None:
    result = await waiting(PAY, ("look", {"what": "x"}))
    (call,) = result.pending
    orchestrator = Orchestrator(FakeModel("never"), TOOLS)
    done = [one.tool_use_id for one in result.messages[-1].tool_results]
    for wrong in ("ghost", *done):
        with pytest.raises(
            CallerError, match=f"no call '{wrong}' waits for an answer; those that wait are '{call.id}' \\(pay\\)"
        ):
            orchestrator.stream(result, answers={call.id: Approve(), wrong: Approve()})
    with pytest.raises(CallerError, match="none waits"):
        await orchestrator.run("go", answers={"x": Deny()})
    with pytest.raises(ConfigError, match=r"answers: that of '.*' must be Approve\(\), Deny\(...\) or Answer\(...\), not True"):
        await orchestrator.run(result, answers={call.id: True})  # type: ignore[dict-item]  # what a user of another library gives
    assert set(ran) == {"look x"}


async def test_arguments_that_do_not_fit_are_the_callers_error_before_anything_runs() -> None:
    result = await waiting(PAY, ("pay", {"to": "Bob", "amount": 6}))
    ann, bob = [call.id for call in result.pending]
    answers = {ann: Approve(), bob: Approve(arguments={"to": "Bob", "amount": "lots"})}
    with pytest.raises(CallerError, match=r"the arguments given for .* do not fit its tool: .*amount") as caught:
        await Orchestrator(FakeModel("never"), TOOLS).run(result, answers=answers)
    assert not ran
    assert [call.id for call in caught.value.partial.pending] == [ann, bob]
    coerced = {ann: Deny(), bob: Approve(arguments={"to": "Bob", "amount": "7"})}
    await Orchestrator(FakeModel("ok"), TOOLS).run(result, answers=coerced)
    assert ran == {"pay Bob 7": 1}


async def test_arguments_whose_keys_meet_in_the_tools_types_are_the_callers_error() -> None:
    def pay_all(amounts: dict[int, float]) -> str:
        return f"paid {amounts}"

    tools = [tool(pay_all, requires_approval=True)]
    result = await Orchestrator(FakeModel().tool_call("pay_all", {"amounts": {"1": 2.5}}), tools).run("go")
    (call,) = result.pending
    merging = {call.id: Approve(arguments={"amounts": {"1": 1.0, "01": 2.0}})}
    with pytest.raises(CallerError, match="do not fit its tool: amounts: 2 keys of which the type makes 1"):
        await Orchestrator(FakeModel("never"), tools).run(result, answers=merging)
    apart = {call.id: Approve(arguments={"amounts": {"1": 1.0, "2": 2.0}})}
    assert (await Orchestrator(FakeModel("ok"), tools).run(result, answers=apart)).tool_results[
        0
    ].value == "paid {1: 1.0, 2: 2.0}"


async def test_what_cannot_be_approved_is_reported() -> None:
    result = await waiting(("ask", {}), PAY)
    ask, ann = [call.id for call in result.pending]
    with pytest.raises(CallerError, match="it has no function here: give an Answer"):
        await Orchestrator(FakeModel("never"), TOOLS).run(result, answers={ask: Approve()})
    with pytest.raises(CallerError, match="there is no such tool in this run"):
        await Orchestrator(FakeModel("never"), [look]).run(result, answers={ann: Approve()})
    done = await Orchestrator(FakeModel("ok"), [look]).run(result, answers={ann: Deny(), ask: Answer("yes")})
    assert done.content == "ok"


async def test_calls_whose_tools_are_gone_still_wait() -> None:
    result = await waiting(("ask", {}), PAY)
    again = await Orchestrator(FakeModel("never"), []).run(result, answers={})
    assert again.open_calls == result.open_calls


async def test_a_call_is_judged_by_the_tools_that_there_are_when_it_goes_on() -> None:
    result = await waiting(PAY)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"to": {"type": "string", "enum": ["Bob"]}, "amount": {"type": "string"}},
    }
    given: list[Any] = []

    def take(to: str, amount: Any) -> None:
        given.append((to, amount))

    stricter = Tool.from_definition(ToolDefinition(name="pay", parameters=schema), take, requires_approval=True)
    answers = {result.pending[0].id: Approve()}
    done = await Orchestrator(FakeModel("ok"), [stricter]).run(result.model_copy(), answers=answers)
    assert "the call cannot run: `to`" in done.tool_results[0].content
    assert not done.tool_results[0].ran
    schema["properties"] = {"to": {"type": "string"}, "amount": {"type": "string"}}
    looser = Tool.from_definition(ToolDefinition(name="pay", parameters=schema), take)
    await Orchestrator(FakeModel("ok"), [looser]).run(result, answers=answers)
    assert given == [("Ann", "5")]


async def test_an_answer_is_any_result_a_tool_may_give() -> None:
    image = ImageBlock(data="AAAA", media_type="image/png")
    result = await waiting(("ask", {}), ("ask", {}), ("ask", {}))
    first, second, third = [call.id for call in result.pending]
    answers = {first: Answer([TextBlock(text="see"), image]), second: Answer("no paper", is_error=True), third: Answer(None)}
    done = await Orchestrator(FakeModel("ok"), TOOLS).run(result, answers=answers)
    told = done.messages[2].tool_results
    assert told[0].content == [TextBlock(text="see"), image]
    assert (told[1].text, told[1].is_error) == ("no paper", True)
    assert not told[2].is_error


# An approved call is like any other


async def test_hooks_budget_retries_and_timeout_hold_for_it() -> None:
    tries = Counter[str]()

    @tool(requires_approval=True, retries=1, timeout=0.3)
    async def flaky(how: str) -> str:
        tries[how] += 1
        if how == "slow":
            await asyncio.sleep(5)
        if tries[how] == 1:
            raise ValueError("not yet")
        return "ok"

    result = await waiting(("flaky", {"how": "twice"}), ("flaky", {"how": "slow"}), tools=[flaky])
    answers = {call.id: Approve() for call in result.pending}
    unclaimed = result.model_dump_json()
    seen: list[str] = []
    hooks = Hooks(before_tool_run=lambda call, context: seen.append(f"before {call.id}"), on_tool_response=lambda message: None)
    done = await Orchestrator(FakeModel("ok"), [flaky], hooks=hooks).run(result, answers=answers)
    assert [(one.retries, one.error.type if one.error else None) for one in done.tool_results] == [(1, None), (1, "timeout")]
    assert len(seen) == 2
    again = RunResult[Any].model_validate_json(unclaimed)
    with pytest.raises(LimitExceeded) as caught:
        await Orchestrator(FakeModel("ok"), [flaky], max_parallel_tools=1).run(
            again, answers=answers, budget=Budget(tool_calls=1)
        )
    assert_valid(caught.value.partial.messages)


async def test_a_hook_on_the_results_sees_each_result_once() -> None:
    def marked(message: Message) -> Message:
        blocks = [one.model_copy(update={"content": [TextBlock(text=f"<{one.text}>")]}) for one in message.tool_results]
        return message.model_copy(update={"content": blocks})

    hooks = Hooks(on_tool_response=marked)
    result = await waiting(("look", {"what": "sea"}), PAY, ("look", {"what": "sky"}), hooks=hooks)
    done = await Orchestrator(FakeModel("ok"), TOOLS, hooks=hooks).run(result, answers={result.pending[0].id: Approve()})
    assert list(results(done.messages).values()) == ["<saw sea>", "<paid 5 to Ann>", "<saw sky>"]
    assert_valid(done.messages)


async def test_a_typed_run_waits_too() -> None:
    with pytest.raises(CallsPending, match="calls are pending") as caught:
        await Orchestrator(asking(PAY), TOOLS).execute("go", int)
    partial: Any = caught.value.partial
    assert await Orchestrator(FakeModel("3"), TOOLS).execute(partial, int, answers={partial.pending[0].id: Approve()}) == 3


async def test_calls_written_as_text_wait_as_well() -> None:
    written = '<tool_call>{"name": "pay", "arguments": {"to": "Ann", "amount": 5}}</tool_call>'
    result = in_json(await Orchestrator(FakeModel(written), TOOLS).run("go"))
    done = await Orchestrator(FakeModel("ok"), TOOLS).run(result, answers={result.approvals[0].id: Approve()})
    assert ran == {"pay Ann 5": 1}
    assert_valid(done.messages)


async def test_a_run_that_a_tool_ends_waits_for_no_other() -> None:
    @tool
    def stop() -> str:
        """Stop."""
        raise TerminateLoop("enough")

    result = await waiting(PAY, ("stop", {}), ("ask", {}), tools=[*TOOLS, stop])
    assert result.value == "enough"
    assert not result.pending
    assert not result.open_calls
    assert_valid(result.messages)


async def test_what_waits_rides_on_an_error_and_goes_on_from_there() -> None:
    @tool
    def broken() -> str:
        """Break."""
        raise ValueError("no")

    with pytest.raises(ToolError) as caught:
        await waiting(PAY, ("broken", {}), tools=[*TOOLS, broken], tool_errors="abort", max_parallel_tools=1)
    partial: Any = caught.value.partial
    done = await Orchestrator(FakeModel("ok"), TOOLS).run(partial, answers={partial.approvals[0].id: Approve()})
    assert ran == {"pay Ann 5": 1}
    assert_valid(done.messages)


async def test_two_processes_with_one_id_of_the_models() -> None:
    again = tool_call_body([PAY], None, 0)
    orchestrator = Orchestrator(FakeModel(again, again, "ok"), TOOLS)
    first = await orchestrator.run("go")
    second = await orchestrator.run(in_json(first), answers={first.pending[0].id: Approve()})
    assert second.pending[0].id != first.pending[0].id
    done = await orchestrator.run(in_json(second), answers={second.pending[0].id: Approve()})
    assert ran == {"pay Ann 5": 2}
    assert_valid(done.messages)


# With something else behind


async def test_what_is_said_behind_enters_when_the_turn_is_fixed() -> None:
    result = await waiting(PAY)
    fake = FakeModel("ok")
    done = await Orchestrator(fake, TOOLS).run("and hurry", message_history=result, answers={result.pending[0].id: Approve()})
    assert [message.role for message in fake.requests[0].messages] == ["user", "assistant", "tool", "user"]
    assert ran == {"pay Ann 5": 1}
    assert_valid(done.messages)
    assert not done.repairs


async def test_who_goes_on_without_an_answer_leaves_the_call_unanswered() -> None:
    result = await waiting(PAY)
    done = await Orchestrator(FakeModel("ok"), TOOLS).run("never mind", message_history=result)
    assert "before anybody answered" in results(done.messages)[result.pending[0].id]
    (record,) = done.repairs
    assert (record.of, record.repair.kind, record.call_id) == ("history", "result_made_up", result.pending[0].id)
    assert not ran
    assert not done.pending


async def test_a_message_with_the_result_is_an_answer_too() -> None:
    result = await waiting(("ask", {}), PAY)
    ask, ann = [call.id for call in result.pending]
    answer = Message(role="tool", content=[ToolResultBlock(tool_use_id=ask, content=[TextBlock(text="yes")])])
    again = await Orchestrator(FakeModel("never"), TOOLS).run([answer], message_history=result)
    assert [call.id for call in again.pending] == [ann]
    done = await Orchestrator(FakeModel("ok"), TOOLS).run([answer], message_history=result, answers={ann: Approve()})
    assert results(done.messages) == {ask: "yes", ann: "paid 5 to Ann"}
    assert_valid(done.messages)


async def test_plain_messages_go_on_by_answers_and_run_nothing_without() -> None:
    result = await waiting(PAY, ("pay", {"to": "Bob", "amount": 6}))
    ann, bob = [call.id for call in result.pending]
    plain = [message.model_dump() for message in result.messages]
    again = await Orchestrator(FakeModel("never"), TOOLS).run(plain, answers={ann: Approve()})
    assert [call.id for call in again.pending] == [bob]
    assert again.approvals[0].reason == "the history does not tell whether it was carried out"
    assert ran == {"pay Ann 5": 1}
    closed = await Orchestrator(FakeModel("ok"), TOOLS).run(plain)
    assert [record.repair.kind for record in closed.repairs] == ["result_made_up"] * 2
    assert ran == {"pay Ann 5": 1}


async def test_an_answer_where_no_call_is_open_is_the_callers_error() -> None:
    states: list[RunResult] = []

    def unfinished(envelope: Envelope) -> Envelope:
        return envelope.model_copy(update={"needs_more_work": envelope.content == "Let me see."})

    hooks = Hooks(on_response=unfinished)
    await Orchestrator(FakeModel("Let me see.", "Done."), hooks=hooks, checkpoint=states.append).run("Go")
    midway = next(state for state in states if not state.ended)
    assert midway.messages[-1].role == "assistant"
    with pytest.raises(CallerError, match="no call 'call_1' waits"):
        await Orchestrator(FakeModel("ok")).run(midway, answers={"call_1": Approve()})
    assert (await Orchestrator(FakeModel("ok")).run(midway)).content == "ok"


async def test_no_call_is_approved_behind_the_one_that_ended_the_run() -> None:
    states: list[RunResult] = []

    @tool
    async def stop() -> str:
        """Stop."""
        raise TerminateLoop("over")

    @tool(requires_approval=True)
    async def pay() -> str:
        """Pay."""
        return "paid"

    asking = FakeModel().tool_calls(("pay", {}), ("stop", {}))
    await Orchestrator(asking, [stop, pay], checkpoint=states.append, max_parallel_tools=1).run("Go")
    midway = next(state for state in states if state.pending and any(one.ended for one in state.tool_results))
    going_on = Orchestrator(FakeModel(), [stop, pay])
    with pytest.raises(CallerError, match="has ended the run"):
        await going_on.run(midway, answers={midway.pending[0].id: Approve()})
    assert (await going_on.run(midway)).content == "over"
    denied = await going_on.run(midway, answers={midway.pending[0].id: Deny("no")})
    assert "no" in denied.tool_results[0].content


async def test_where_there_are_no_tools_an_open_call_is_reported() -> None:
    states: list[RunResult] = []
    await Orchestrator(FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3"), [add], checkpoint=states.append).run("Go")
    done = await Orchestrator(FakeModel("ok")).run(states[0])
    assert done.tool_results[0].content == "there is no tool 'add'; there are no tools."


@pytest.mark.parametrize("field", ["pending", "open_calls"])
@pytest.mark.parametrize("saved", [False, True])
async def test_a_call_that_is_shown_with_other_arguments_than_would_run_is_not_accepted(field: str, saved: bool) -> None:
    result = await waiting(PAY)
    if saved:
        data = json.loads(result.model_dump_json())
        data[field][0]["arguments"] = {"to": "Eve", "amount": 5}
        data[field][0].pop("raw_arguments", None)
        result = RunResult.model_validate_json(json.dumps(data))
    else:
        getattr(result, field)[0].arguments["to"] = "Eve"
    with pytest.raises(CallerError, match="other arguments than its history holds"):
        await Orchestrator(FakeModel("ok"), TOOLS).run(result, answers={result.pending[0].id: Approve()})
    assert not ran


class Form(BaseModel):
    to: str = "Ann"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"to": object()}, "`to`: a value of type object"),
        ({1: "x"}, "a key that is no text"),
        ({"to": "A\ud800"}, "`to`: a lone surrogate"),
        ({"to": float("inf")}, "`to`: a number that JSON has not"),
        ({"to": Form()}, "must be plain JSON data"),
    ],
    ids=["an object", "a number as a key", "a lone surrogate", "no number of JSON", "a form"],
)
def test_arguments_that_are_no_json_are_refused_where_they_are_given(arguments: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Approve(arguments)


def test_what_was_answered_does_not_change_later() -> None:
    arguments, value = {"to": ["Ann"]}, [{"a": 1}]
    approve, answer = Approve(arguments), Answer(value)
    arguments["to"].append("Eve")
    value[0]["a"] = 2
    assert approve == Approve({"to": ["Ann"]})
    assert answer == Answer([{"a": 1}])


@pytest.mark.parametrize(("said", "value"), [(Approve(), 3), (Deny("no"), 4)])
async def test_a_final_result_beside_a_call_that_waits_waits_with_it(said: Any, value: int) -> None:
    """It was given before the model knew what becomes of the call, and holds where that went well."""

    @tool(requires_approval=True)
    def pay(amount: int) -> str:
        return f"paid {amount}"

    fake = FakeModel().tool_calls(("final_result", {"result": 3}), ("pay", {"amount": 5}))
    with pytest.raises(CallsPending, match="calls are pending: pay") as caught:
        await Orchestrator(fake, [pay]).execute("Pay.", int)
    paused = RunResult.model_validate_json(caught.value.partial.model_dump_json())
    assert not paused.has_output
    again = FakeModel("4")
    unsettled = await Orchestrator(again, [pay]).run(paused, output_type=int)
    assert ([call.name for call in unsettled.pending], again.call_count) == (["pay"], 0)
    done = await Orchestrator(again, [pay]).run(unsettled, output_type=int, answers={unsettled.pending[0].id: said})
    assert (done.value, again.call_count, done.pending) == (value, value - 3, [])
    assert_valid(done.messages)


async def test_output_validators_judge_a_final_result_that_waited() -> None:
    seen: list[int] = []

    def positive(value: int) -> None:
        seen.append(value)
        if len(seen) == 2:
            raise ValueError("not now")

    ticket: dict[str, Any] = {"name": "ticket", "description": "", "parameters": {"type": "object", "properties": {}}}
    fake = FakeModel().tool_calls(("ticket", {}), ("final_result", {"result": 3})).text("4")
    orchestrator = Orchestrator(fake, [ticket], output_validators=[positive])
    paused = await orchestrator.run("Go.", output_type=int)
    done = await orchestrator.run(paused, output_type=int, answers={paused.pending[0].id: Answer("7")})
    assert (done.value, seen) == (4, [3, 3, 4])
    assert "not now" in fake.requests[-1].messages[-1].tool_results[1].text
