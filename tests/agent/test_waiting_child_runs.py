"""Calls of a sub-agent that wait: the calling run ends with them, and answers reach the sub-agent, also in another process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from llmcore import Agent, Answer, Approve, Deny, FakeModel, Message, Orchestrator, RunContext, RunResult, tool
from llmcore.types import AuthenticationFailed, CallerError, ToolDefinition
from tests.run.support import assert_valid

PEOPLE: dict[str, Any] = {
    "type": "function",
    "function": {"name": "ask_people", "parameters": {"type": "object", "properties": {}}},
}


class Sub(Agent):
    """Does it."""

    done: list[str]

    @tool
    def pay(self, to: str) -> str:
        """Pay."""
        self.done.append(f"pay {to}")
        return f"paid {to}"

    @tool(requires_approval=True, summary="Wipe {disk}")
    def wipe(self, disk: str) -> str:
        """Wipe."""
        self.done.append(f"wipe {disk}")
        return f"wiped {disk}"


def sub(done: list[str], model: FakeModel, **options: Any) -> Sub:
    made = Sub(model, **options)
    made.done = done
    return made


def paying_then_wiping() -> FakeModel:
    return FakeModel().tool_call("pay", {"to": "Ann"}).tool_calls(("wipe", {"disk": "c"}), ("wipe", {"disk": "d"}))


def waiting(done: list[str], *, deep: bool = False, keep_history: bool = False) -> RunResult:
    inner = sub(done, paying_then_wiping()).as_tool(keep_history=keep_history)
    if deep:
        inner = Agent(FakeModel().tool_call("sub", {"message": "do"}), name="middle", tools=[inner]).as_tool()
    name = "middle" if deep else "sub"
    asking = Agent(FakeModel().tool_call(name, {"message": "do"}), tools=[inner])
    result = asking.run_sync("Go")
    return RunResult.model_validate_json(result.model_dump_json())


def going_on(
    done: list[str], *, deep: bool = False, keep_history: bool = False, replies: tuple[str, ...] = ("sub is done",)
) -> Agent:
    inner = sub(done, FakeModel(*replies)).as_tool(keep_history=keep_history)
    if deep:
        inner = Agent(FakeModel("middle is done"), name="middle", tools=[inner]).as_tool()
    return Agent(FakeModel("all is done"), tools=[inner])


@pytest.mark.parametrize("keep_history", [False, True])
@pytest.mark.parametrize("deep", [False, True])
def test_the_human_is_asked_and_nothing_is_done_twice(deep: bool, keep_history: bool) -> None:
    done: list[str] = []
    state = waiting(done, deep=deep, keep_history=keep_history)
    assert done == ["pay Ann"]
    assert [call.summary for call in state.approvals] == ["Wipe c", "Wipe d"]
    assert [call.id for call in state.pending] == [call.id for call in state.approvals]
    agent = going_on(done, deep=deep, keep_history=keep_history)
    agent.load_messages(state)
    result = agent.run_sync(answers={call.id: Approve() for call in state.approvals})
    assert sorted(done) == ["pay Ann", "wipe c", "wipe d"]
    assert (result.content, result.pending, result.open_calls) == ("all is done", [], [])
    assert [record.content for record in result.tool_results] == ["middle is done" if deep else "sub is done"]
    assert_valid(result.messages)
    inner = result.runs[0].runs[0] if deep else result.runs[0]
    assert [block.text for message in inner.messages for block in message.tool_results] == ["paid Ann", "wiped c", "wiped d"]


def test_calls_without_an_answer_stay_with_what_was_done() -> None:
    done: list[str] = []
    state = waiting(done)
    first, second = state.approvals
    agent = going_on(done)
    same = agent.run_sync(state)
    assert [call.id for call in same.pending] == [first.id, second.id]
    half = agent.run_sync(RunResult.model_validate_json(same.model_dump_json()), answers={first.id: Approve()})
    assert [call.id for call in half.pending] == [second.id]
    assert done == ["pay Ann", "wipe c"]
    whole = agent.run_sync(RunResult.model_validate_json(half.model_dump_json()), answers={second.id: Deny("in use")})
    assert done == ["pay Ann", "wipe c"]
    assert whole.content == "all is done"
    assert "in use" in whole.runs[0].messages[-2].tool_results[1].text


def test_a_call_elsewhere_within_an_agent() -> None:
    asking = Agent(
        FakeModel().tool_call("agent", {"message": "?"}).text("ok"),
        tools=[Agent(FakeModel().tool_call("ask_people").text("7"), tools=[PEOPLE])],
    )
    state = asking.run_sync("Go")
    (call,) = state.calls_elsewhere
    assert asking.chat_sync(answers={call.id: Answer("seven")}) == "ok"


def test_the_agents_own_answer_may_be_given_in_its_place() -> None:
    done: list[str] = []
    state = waiting(done)
    own = state.open_calls[0]
    assert own.stage == "within"
    result = going_on(done).run_sync(state, answers={own.id: Answer("I did it by hand")})
    assert result.messages[2].tool_results[0].text == "I did it by hand"
    for wrong in (Approve(), Deny()):
        with pytest.raises(CallerError, match="waits for answers to"):
            going_on(done).run_sync(state, answers={own.id: wrong})


def test_whoever_goes_on_without_answers_tells_the_model_what_was_done() -> None:
    done: list[str] = []
    agent = going_on(done)
    agent.load_messages(waiting(done))
    said = agent.run_sync("Never mind.").messages[2].tool_results[0].text
    assert "(wipe), which was not run" in said
    assert "had run before: pay" in said
    assert done == ["pay Ann"]


def test_answers_that_do_not_fit_are_the_callers_error_and_lose_nothing() -> None:
    done: list[str] = []
    state = waiting(done)
    first, second = state.approvals
    agent = going_on(done)
    with pytest.raises(CallerError, match="do not fit") as caught:
        agent.run_sync(state, answers={first.id: Approve(arguments={"disc": 1})})
    assert [call.id for call in caught.value.partial.pending] == [first.id, second.id]
    assert done == ["pay Ann"]
    result = agent.run_sync(caught.value.partial, answers={first.id: Approve(), second.id: Approve()})
    assert result.content == "all is done"


@pytest.mark.parametrize("deep", [False, True])
def test_a_process_that_dies_while_the_agent_goes_on_does_nothing_twice(deep: bool) -> None:
    done: list[str] = []
    state, states = waiting(done, deep=deep), list[tuple[str, int]]()

    def save(saved: RunResult) -> None:
        states.append((saved.model_dump_json(), len(done)))

    answers = {call.id: Approve() for call in state.approvals}
    going_on(done, deep=deep).run_sync(state, answers=answers, checkpoint=save)
    assert sorted(done) == ["pay Ann", "wipe c", "wipe d"]
    for index, (text, at) in enumerate(states):
        until = states[index + 1][1] if index + 1 < len(states) else len(done)
        for had_done in {at, until}:  # killed at once, and just before the next point
            saved = RunResult.model_validate_json(text)
            if saved.ended:
                continue
            again = done[:had_done]
            agent = going_on(again, deep=deep)
            result = agent.run_sync(saved)
            if result.pending:  # none of the answers was taken before it was killed
                result = agent.run_sync(result, answers={call.id: Approve() for call in result.pending})
            assert len(again) == len(set(again))
            assert result.content == "all is done"
            assert_valid(result.messages)
            told = [text for run in all_runs(result) for message in run.messages for text in results_in(message)]
            assert {"wipe c", "wipe d"} <= set(again) or any("is unknown" in text for text in told)


def all_runs(result: RunResult) -> list[RunResult]:
    return [result, *(inner for run in result.runs for inner in all_runs(run))]


def results_in(message: Message) -> list[str]:
    return [block.text for block in message.tool_results]


class Worker(Agent):
    """Works."""

    did: list[str]

    @tool
    def work(self, n: int) -> str:
        """Work."""
        self.did.append(f"work {n}")
        return f"worked {n}"

    @tool(read_only=True)
    def look(self) -> str:
        """Look."""
        return "looked"


def at_work(did: list[str], *, deep: bool, fresh: bool) -> Agent:
    script = FakeModel().tool_calls(("work", {"n": 1}), ("work", {"n": 2})).tool_call("look").tool_call("work", {"n": 3})
    inner: Agent = Worker(script.text("worked") if fresh else FakeModel(default="worked"), name="sub")
    cast("Any", inner).did = did
    asking = FakeModel().tool_call("sub", {"message": "do"}).text("done")
    if deep:
        model = FakeModel().tool_call("sub", {"message": "do"}).text("middle") if fresh else FakeModel(default="middle")
        inner = Agent(model, name="middle", tools=[inner])
        asking = FakeModel().tool_call("middle", {"message": "do"}).text("done")
    return Agent(asking if fresh else FakeModel(default="done"), tools=[inner])


@pytest.mark.parametrize("deep", [False, True])
def test_what_an_agent_does_within_is_saved_with_the_asking_run(deep: bool) -> None:
    did: list[str] = []
    states: list[tuple[str, int]] = []

    def save(saved: RunResult) -> None:
        states.append((saved.model_dump_json(), len(did)))

    at_work(did, deep=deep, fresh=True).run_sync("Go", checkpoint=save)
    assert sorted(did[:2]) == ["work 1", "work 2"]  # two at once, each in a thread
    assert did[2:] == ["work 3"]
    known: set[int] = set()
    for index, (text, at) in enumerate(states):
        until = states[index + 1][1] if index + 1 < len(states) else len(did)
        for had_done in {at, until}:
            saved = RunResult.model_validate_json(text)
            if saved.ended:
                continue
            again = did[:had_done]
            result = at_work(again, deep=deep, fresh=False).run_sync(saved)
            assert len(again) == len(set(again))
            assert_valid(result.messages)
            assert result.content == "done"
            inner = [message for run in all_runs(result) for message in run.messages]
            known.add(sum("worked " in text for message in inner for text in results_in(message)))
    assert known >= {1, 2, 3}  # the results that it had by then are not lost


def test_what_the_checkpoint_raises_within_an_agent_ends_the_asking_run() -> None:
    did: list[str] = []
    count = 0

    def save(_: RunResult) -> None:
        nonlocal count
        count += 1
        if did:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        at_work(did, deep=True, fresh=True).run_sync("Go", checkpoint=save, max_parallel_tools=1)
    assert "work 3" not in did


def test_other_runs_of_a_call_are_not_mistaken_for_the_one_that_carries_it_out() -> None:
    states: list[RunResult] = []

    class Asking(Agent):
        """Asks."""

        async def system_messages(self, context: RunContext) -> str:
            look = tool(lambda: "x", name="look", description="Look.")
            model = FakeModel().tool_call("look").text("be brief")
            return (await Orchestrator(model, [look]).run("How?", parent=context)).content

    async def by_hand(context: RunContext) -> str:
        """By hand."""
        look = tool(lambda: "x", name="look", description="Look.")
        return (await Orchestrator(FakeModel().tool_call("look").text("seen"), [look]).run("?", parent=context)).content

    model = FakeModel().tool_call("sub", {"message": "do"}).tool_call("by_hand").text("done")
    agent = Agent(model, tools=[Asking(FakeModel("Well."), name="sub"), by_hand], checkpoint=states.append)
    assert agent.run_sync("Go").content == "done"
    begun = [call.stage for state in states for call in state.open_calls]
    assert set(begun) == {"started"}


def test_what_else_the_turn_calls_runs_and_a_run_within_is_in_the_asking_runs_save_points() -> None:
    done: list[str] = []
    states: list[RunResult] = []
    inner = sub(done, paying_then_wiping())
    other = tool(lambda: "x", name="other", description="Other.")
    asking = FakeModel().tool_calls(("sub", {"message": "do"}), ("other", {}))
    result = Orchestrator(asking, [inner, other], checkpoint=states.append, max_parallel_tools=1).run_sync("Go")
    assert [record.name for record in result.tool_results] == ["other"]
    assert [call.name for call in result.pending] == ["wipe", "wipe"]
    assert states[-1].pending == result.pending
    assert result.messages_as_openai()[-2]["content"] == "x" or "wait for somebody" in str(result.messages_as_openai())


def test_a_call_that_was_started_cannot_be_denied() -> None:
    done: list[str] = []
    states: list[RunResult] = []
    agent = sub(done, FakeModel().tool_call("pay", {"to": "Ann"}).text("ok"), checkpoint=states.append)
    agent.run_sync("Pay")
    started = next(state for state in states if state.open_calls)
    with pytest.raises(CallerError, match="may have taken effect, so it cannot be denied"):
        agent.run_sync(started, answers={started.open_calls[0].id: Deny("no")})


def nothing_else(done: list[str]) -> Agent:
    def other() -> str:
        done.append("other")
        return "x"

    return Agent(FakeModel("all is done"), tools=[other])


def plain_function(done: list[str]) -> Agent:
    def sub(message: str, context: RunContext) -> str:
        done.append(message)
        return "x"

    return Agent(FakeModel("all is done"), tools=[sub])


def no_function(_: list[str]) -> Agent:
    schema = {"type": "object", "properties": {"message": {"type": "string"}}}
    return Agent(FakeModel("all is done"), tools=[ToolDefinition(name="sub", parameters=schema)])


def other_arguments(done: list[str]) -> Agent:
    inner = sub(done, FakeModel()).as_tool(params={"message": {"type": "string", "enum": ["another"]}})
    return Agent(FakeModel("all is done"), tools=[inner])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (nothing_else, "'sub' is no tool of this run"),
        (plain_function, "'sub' is no agent in this run"),
        (no_function, "'sub' has no function here"),
        (other_arguments, "do not fit the tool as it is now"),
    ],
)
def test_answers_within_an_agent_that_is_gone_are_the_callers_error(made: Callable[[list[str]], Agent], words: str) -> None:
    done: list[str] = []
    state, agent = waiting(done), made(done)
    with pytest.raises(CallerError, match=words) as caught:
        agent.run_sync(state, answers={call.id: Approve() for call in state.approvals})
    assert done == ["pay Ann"]
    partial = RunResult.model_validate_json(caught.value.partial.model_dump_json())
    result = going_on(done).run_sync(partial, answers={call.id: Approve() for call in partial.approvals})
    assert sorted(done) == ["pay Ann", "wipe c", "wipe d"]
    assert result.content == "all is done"


def test_without_answers_the_calls_of_an_agent_that_is_gone_wait_on() -> None:
    done: list[str] = []
    state = waiting(done)
    assert nothing_else(done).run_sync(state).pending == state.pending
    own = state.open_calls[0].id
    assert nothing_else(done).chat_sync(state, answers={own: Answer("by hand")}) == "all is done"


def test_an_answer_in_an_agents_place_and_one_within_it_exclude_each_other() -> None:
    done: list[str] = []
    state = waiting(done)
    own, inner = state.open_calls[0].id, state.approvals[0].id
    with pytest.raises(CallerError, match="is answered, and calls within it too"):
        going_on(done).run_sync(state, answers={own: Answer("by hand"), inner: Approve()})
    assert done == ["pay Ann"]


def test_after_answers_that_do_not_fit_the_saved_state_waits_again() -> None:
    done: list[str] = []
    states: list[str] = []
    state = waiting(done)
    first, second = state.approvals

    def save(saved: RunResult) -> None:
        states.append(saved.model_dump_json())

    with pytest.raises(CallerError, match="do not fit"):
        going_on(done).run_sync(state, answers={first.id: Approve(arguments={"disc": 1})}, checkpoint=save)
    saved = RunResult.model_validate_json(states[-1])
    assert [call.id for call in saved.pending] == [first.id, second.id]
    going_on(done).run_sync(saved, answers={first.id: Approve(), second.id: Approve()})
    assert sorted(done) == ["pay Ann", "wipe c", "wipe d"]


def test_a_call_within_that_is_shown_with_other_arguments_is_not_accepted() -> None:
    done: list[str] = []
    state = waiting(done)
    arguments: Any = state.pending[0].arguments
    arguments["disk"] = "z"
    with pytest.raises(CallerError, match="other arguments than its history holds"):
        going_on(done).run_sync(state, answers={state.pending[0].id: Approve()})
    assert done == ["pay Ann"]


def test_an_agent_that_is_gone_in_the_midst_of_its_run_has_an_unknown_outcome() -> None:
    did: list[str] = []
    states: list[RunResult] = []
    at_work(did, deep=False, fresh=True).run_sync("Go", checkpoint=states.append)
    saved = next(state for state in states if any(call.stage == "within" for call in state.open_calls)).model_dump_json()
    midway = RunResult.model_validate_json(saved)
    for agent in (Agent(FakeModel("done")), plain_function(did)):
        result = agent.run_sync(RunResult.model_validate_json(saved))
        assert "is unknown" in result.tool_results[0].content
        assert result.content in ("done", "all is done")
    assert Agent(FakeModel("done")).chat_sync(midway, answers={midway.open_calls[0].id: Answer("by hand")}) == "done"
    for wrong in (Approve(), Deny()):
        again = RunResult.model_validate_json(saved)
        with pytest.raises(CallerError, match="was begun, and goes on by itself"):
            at_work(did, deep=False, fresh=False).run_sync(again, answers={again.open_calls[0].id: wrong})


def test_a_kept_conversation_is_asked_again_when_its_calls_have_their_results() -> None:
    done: list[str] = []
    desk = sub(done, FakeModel().tool_call("wipe", {"disk": "c"}).text("c is wiped").text("d is fine"))
    asking = FakeModel().tool_calls(("sub", {"message": "Wipe c"}), ("sub", {"message": "Look at d"}))
    boss = Agent(asking.tool_call("sub", {"message": "Look at d"}).text("done"), tools=[desk.as_tool(keep_history=True)])
    state = boss.run_sync("Both")
    assert [call.summary for call in state.approvals] == ["Wipe c"]
    (refused,) = state.tool_results
    assert "waits for somebody's answer" in refused.content
    result = boss.run_sync(answers={call.id: Approve() for call in state.approvals})
    assert (result.content, done) == ("done", ["wipe c"])
    said = [message.text for message in desk.messages if message.text]
    assert said == ["Wipe c", "c is wiped", "Look at d", "d is fine"]


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_said_meanwhile_stays_in_a_kept_conversation(fails: bool) -> None:
    done: list[str] = []
    model = FakeModel().tool_call("wipe", {"disk": "c"}).text("hello")
    desk = sub(done, model.error(AuthenticationFailed("no key")) if fails else model.text("c is wiped"))
    boss = Agent(FakeModel().tool_call("sub", {"message": "Wipe c"}).text("ok"), tools=[desk.as_tool(keep_history=True)])
    state = boss.run_sync("Go")
    assert desk.chat_sync("Hi?") == "hello"
    assert boss.run_sync(answers={call.id: Approve() for call in state.approvals}).content == "ok"
    assert done == ["wipe c"]
    told = [message.text or message.tool_results[0].text for message in desk.messages if message.text or message.tool_results]
    assert told == ["Wipe c", "wiped c", *([] if fails else ["c is wiped"]), "Hi?", "hello"]
    assert_valid(desk.messages)


def test_a_kept_conversation_that_waits_once_more_keeps_what_was_said_meanwhile() -> None:
    done: list[str] = []
    model = FakeModel().tool_call("wipe", {"disk": "c"}).text("hello").tool_call("wipe", {"disk": "d"}).text("both are wiped")
    desk = sub(done, model)
    boss = Agent(FakeModel().tool_call("sub", {"message": "Wipe"}).text("ok"), tools=[desk.as_tool(keep_history=True)])
    state = boss.run_sync("Go")
    desk.chat_sync("Hi?")
    for _ in range(2):
        state = boss.run_sync(answers={call.id: Approve() for call in state.approvals})
    assert done == ["wipe c", "wipe d"]
    assert [message.text for message in desk.messages if message.text] == ["Wipe", "both are wiped", "Hi?", "hello"]
    assert_valid(desk.messages)
