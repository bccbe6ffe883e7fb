"""An agent resumes after a crash: from any save point, in every way in which a state may be given."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import Agent, Answer, Approve, FakeModel, Orchestrator, RunResult, tool
from llmcore.types import CallerError, RateLimited
from tests.run.support import assert_valid


class Cashier(Agent):
    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.done: list[str] = []

    @tool
    def pay(self, to: str) -> str:
        """Pay."""
        self.done = [*self.done, to]
        return f"paid {to}"

    @tool(read_only=True)
    def balance(self) -> str:
        """What is left."""
        self.done = [*self.done, "balance"]
        return "100"


def replies() -> FakeModel:
    return FakeModel().tool_calls(("pay", {"to": "Ann"}), ("balance", {})).tool_call("pay", {"to": "Bob"}).text("All is paid.")


def saved_states() -> list[str]:
    states: list[str] = []

    def save(state: RunResult) -> None:
        states.append(state.model_dump_json())

    agent = Cashier(replies(), checkpoint=save, max_parallel_tools=1)
    agent.run_sync("Pay Ann and Bob.")
    return states


STATES = saved_states()
AT = range(len(STATES) - 1)  # the last one is the end


def replayed(state: RunResult) -> FakeModel:
    """The replies that are still to come."""
    turns = sum(message.role == "assistant" for message in state.messages)
    return FakeModel(*[reply for at, reply in enumerate(_replies()) if at >= turns])


def _replies() -> list[Any]:
    def call(number: int, name: str, arguments: str) -> Any:
        return {"id": f"id_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}

    first = [call(0, "pay", '{"to": "Ann"}'), call(1, "balance", "{}")]
    return [
        {"content": None, "tool_calls": first},
        {"content": None, "tool_calls": [call(2, "pay", '{"to": "Bob"}')]},
        "All is paid.",
    ]


def loaded(state: str, **options: Any) -> tuple[Cashier, RunResult]:
    agent = Cashier(replayed(RunResult.model_validate_json(state)))
    agent.load_messages(state)
    return agent, agent.run_sync(**options)


def assigned(state: str) -> tuple[Cashier, RunResult]:
    result = RunResult.model_validate_json(state)
    agent = Cashier(replayed(result))
    agent.messages = result
    return agent, agent.run_sync()


def constructed(state: str) -> tuple[Cashier, RunResult]:
    result = RunResult.model_validate_json(state)
    agent = Cashier(replayed(result), messages=result)
    return agent, agent.run_sync()


def copied(state: str) -> tuple[Cashier, RunResult]:
    result = RunResult.model_validate_json(state)
    agent = copy.copy(Cashier(replayed(result), messages=result))
    return agent, agent.run_sync()


def saved_again(state: str) -> tuple[Cashier, RunResult]:
    first = Cashier(FakeModel())
    first.load_messages(RunResult.model_validate_json(state))
    return loaded(first.dump_messages())


def run(state: str) -> tuple[Cashier, RunResult]:
    result = RunResult.model_validate_json(state)
    agent = Cashier(replayed(result))
    return agent, agent.run_sync(result)


def as_history(state: str) -> tuple[Cashier, RunResult]:
    result = RunResult.model_validate_json(state)
    agent = Cashier(replayed(result))
    return agent, agent.run_sync(message_history=result)


def with_no_answers(state: str) -> tuple[Cashier, RunResult]:
    return loaded(state, answers={})


@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize(
    "go_on", [loaded, assigned, constructed, copied, saved_again, run, as_history, with_no_answers], ids=lambda way: way.__name__
)
def test_every_state_is_gone_on_from_and_no_payment_is_made_twice(go_on: Callable[..., Any], at: int) -> None:
    state = RunResult.model_validate_json(STATES[at])
    agent, result = go_on(STATES[at])
    assert result.content == "All is paid."
    assert_valid(result.messages)
    begun = {record.arguments["to"] for record in state.tool_results if record.name == "pay" and record.arguments}
    unknown = {call.arguments["to"] for call in state.open_calls if call.name == "pay" and call.arguments}
    assert sorted({"Ann", "Bob"} - begun - unknown) == sorted(who for who in agent.done if who != "balance")
    said = [block.text for message in result.messages for block in message.tool_results]
    assert len(said) == 3
    assert sum("is unknown: it was started" in one for one in said) == len(unknown)
    assert not any("not run." in one for one in said)


@pytest.mark.parametrize("way", ["said", "by_hand"])
def test_what_is_said_behind_a_state_hides_nothing_of_it(way: str) -> None:
    started = next(one for one in STATES if RunResult.model_validate_json(one).open_calls)
    agent = Cashier(FakeModel("I see."))
    agent.load_messages(started)
    if way == "said":
        result = agent.run_sync("What happened?")
    else:
        agent.messages.append({"role": "user", "content": "What happened?"})  # type: ignore[arg-type]  # as without types
        result = agent.run_sync()
    assert "is unknown: it was started" in result.messages[2].tool_results[0].text
    assert [message.role for message in agent.messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert agent.done == ["balance"]


def test_answers_settle_what_was_started() -> None:
    started = next(one for one in STATES if RunResult.model_validate_json(one).open_calls)
    (call,) = RunResult.model_validate_json(started).open_calls
    for answer, said, done in ((Answer("it was paid"), "it was paid", ["balance"]), (Approve(), "paid Ann", ["Ann", "balance"])):
        agent = Cashier(FakeModel("Good."))
        agent.load_messages(started)
        result = agent.run_sync(answers={call.id: answer})
        assert result.messages[2].tool_results[0].text == said
        assert sorted(agent.done) == sorted(done)  # they run beside each other


def test_a_chat_that_failed_after_a_tool_continues() -> None:
    fake = FakeModel().tool_call("pay", {"to": "Ann"}).error(RateLimited("no", retry_after=0.0)).text("Ann is paid.")
    agent = Cashier(fake, strategies=[])
    with pytest.raises(RateLimited):
        agent.chat_sync("Pay Ann.")
    assert agent.chat_sync() == "Ann is paid."
    assert agent.done == ["Ann"]
    with pytest.raises(CallerError, match="holds no message"):
        agent.chat_sync()
    with pytest.raises(CallerError, match="has no content but blanks"):
        agent.chat_sync(" ")


def test_a_conversation_is_saved_while_a_chat_goes_on() -> None:
    saved: list[str] = []

    class Saving(Cashier):
        @tool
        def save(self) -> str:
            """Save."""
            saved.append(self.dump_messages())
            return "saved"

    Saving(FakeModel().tool_calls(("pay", {"to": "Ann"}), ("save", {})).text("ok"), max_parallel_tools=1).chat_sync("Pay.")
    (state,) = saved
    again = Saving(FakeModel("I see."))
    again.load_messages(state)
    assert again.chat_sync() == "I see."
    assert again.done == []
    texts = [block.text for block in again.messages[2].tool_results]
    assert texts[0] == "paid Ann"
    assert "is unknown" in texts[1]


def test_what_openai_is_sent_says_the_same_of_calls_without_a_result() -> None:
    for text in STATES[:-1]:
        state = RunResult.model_validate_json(text)
        told = {one["tool_call_id"]: one["content"] for one in state.messages_as_openai() if one["role"] == "tool"}
        stages = {call.id: call.stage for call in state.open_calls}
        ended = {record.id for record in state.tool_results}
        for call_id, said in told.items():
            if call_id in ended:
                assert "No result" not in said
            else:
                assert ("unknown: it was started" if stages.get(call_id) == "started" else "was not run") in said
    ask: dict[str, Any] = {"type": "function", "function": {"name": "ask", "parameters": {"type": "object", "properties": {}}}}
    waiting = Orchestrator(FakeModel().tool_call("ask"), [ask]).run_sync("Ask.")
    assert "elsewhere" in waiting.messages_as_openai()[-1]["content"]


def test_of_a_bare_history_nothing_unknown_is_reported() -> None:
    started = next(RunResult.model_validate_json(one) for one in STATES if RunResult.model_validate_json(one).open_calls)
    result = Cashier(FakeModel("ok")).run_sync("And now?", message_history=started.messages)
    assert "may have taken effect" in result.messages[2].tool_results[0].text


@pytest.mark.parametrize("wrong", [5, None, ["x"], "no json"])
def test_what_is_no_saved_conversation_is_reported(wrong: Any) -> None:
    with pytest.raises(CallerError, match="no saved RunResult"):
        Cashier(FakeModel()).load_messages(wrong)
