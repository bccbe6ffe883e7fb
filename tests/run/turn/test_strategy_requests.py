"""A strategy's plan may hold another request: it is validated and sent from then on, and the history stays whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmcore import (
    Budget,
    ConfigError,
    ContextOverflow,
    FakeModel,
    Hooks,
    LLMCoreError,
    Message,
    Orchestrator,
    Request,
    TextBlock,
    ToolUseBlock,
)
from llmcore.fallback import DEFAULT_STRATEGIES, FallbackContext, Plan
from llmcore.types import ToolResultBlock

pytestmark = pytest.mark.anyio

OLD = [Message(role="user", content="old question"), Message(role="assistant", content="old answer")]
LONG = ContextOverflow("too long")


class Alter:
    """After an overflow, the request as `change` makes it."""

    def __init__(self, change: Callable[[Request], Request], times: int = 1) -> None:
        self.change, self.left = change, times
        self.shown: list[Request] = []

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return isinstance(failure, ContextOverflow) and self.left > 0

    def execute(self, context: FallbackContext) -> Plan:
        self.left -= 1
        self.shown.append(context.request)
        return Plan(context.plan.model, context.plan.mode, request=self.change(context.request))


def without_history(request: Request) -> Request:
    return request.model_copy(update={"messages": request.messages[2:]})


def orchestrator(fake: Any, strategy: Alter, *tools: Any, **options: Any) -> Orchestrator:
    return Orchestrator(fake, tools, strategies=[strategy, *DEFAULT_STRATEGIES], **options)


def texts(request: Request) -> list[str]:
    return [message.text for message in request.messages]


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_altered_request_is_what_the_next_attempt_sends(streamed: bool) -> None:
    fake, strategy = FakeModel(LONG, "new answer"), Alter(without_history)
    asked = orchestrator(fake, strategy)
    if streamed:
        async with asked.stream("new question", message_history=OLD) as events:
            async for _ in events:
                pass
        result = events.result
    else:
        result = await asked.run("new question", message_history=OLD)
    assert result is not None
    assert [texts(request) for request in fake.requests] == [["old question", "old answer", "new question"], ["new question"]]
    assert [(one.reason, one.detail) for one in result.attempts] == [("first", ""), ("retry", "ContextOverflow: too long")]
    assert [message.text for message in result.messages] == ["old question", "old answer", "new question", "new answer"]


async def test_it_holds_for_the_run_and_what_enters_later_is_added() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    fake = FakeModel().error(LONG).tool_call("look").text("done")
    result = await orchestrator(fake, Alter(without_history), look).run("go", message_history=OLD)
    (_, second, third) = fake.requests
    assert texts(second) == ["go"]
    assert [message.role for message in third.messages] == ["user", "assistant", "tool"]
    assert [message.role for message in result.messages] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert result.content == "done"


async def test_a_later_failure_is_shown_what_was_sent_and_default_strategies_keep_to_it() -> None:
    fake = FakeModel(LONG, LONG, "ok")
    strategy = Alter(lambda request: request.model_copy(update={"messages": request.messages[1:]}), times=2)
    await orchestrator(fake, strategy).run("go", message_history=OLD)
    assert [len(request.messages) for request in strategy.shown] == [3, 2]
    assert [len(request.messages) for request in fake.requests] == [3, 2, 1]
    other = {"a": FakeModel(LONG, LONG), "b": FakeModel("ok")}
    models: dict[str, dict[str, Any]] = {
        name: {"provider": "custom", "model": name, "base_url": "http://127.0.0.1:1/v1"} for name in other
    }
    models["a"]["escalates_to"] = ["b"]
    await Orchestrator({"models": models}, adapter=other, strategies=[Alter(without_history), *DEFAULT_STRATEGIES]).run(
        "go", model="a", message_history=OLD
    )
    assert texts(other["b"].last_request) == ["go"]


async def test_other_fields_may_be_altered_and_hooks_see_them() -> None:
    fake, seen = FakeModel(LONG, "ok"), list[float | None]()

    def before_request(request: Request) -> None:
        seen.append(request.temperature)

    strategy = Alter(lambda request: request.model_copy(update={"temperature": 0.0, "max_tokens": 50, "system": "Be short."}))
    await orchestrator(fake, strategy, hooks=Hooks(before_request=before_request)).run("go", temperature=1.0)
    assert (fake.last_request.temperature, fake.last_request.max_tokens, fake.last_request.system) == (0.0, 50, "Be short.")
    assert seen == [1.0, 0.0]


async def test_what_a_strategy_does_to_the_request_it_is_shown_changes_nothing() -> None:
    def spoil(request: Request) -> Request:
        request.messages.clear()
        return Request(messages="mine")

    fake = FakeModel(LONG, "ok")
    result = await orchestrator(fake, Alter(spoil)).run("go")
    assert texts(fake.last_request) == ["mine"]
    assert [message.text for message in result.messages] == ["go", "ok"]


USE = Message(role="assistant", content=[ToolUseBlock(id="c1", name="look", input={})])
GIVEN = Message(role="tool", content=[ToolResultBlock(tool_use_id="c1", content=[TextBlock(text="seen")])])


@pytest.mark.parametrize(
    ("update", "told"),
    [
        ({"messages": []}, "has no messages"),
        ({"messages": [Message(role="user", content="x"), USE]}, "the call 'c1' has no result"),
        ({"messages": [Message(role="user", content="x"), GIVEN]}, "c1"),
        ({"messages": ["text"]}, "message 0 of the request is of type str"),
        ({"temperature": "hot"}, "temperature"),
        ({"model": "other"}, "`model` cannot be changed here"),
        ({"deadline": 3.0}, "`deadline` cannot be changed here"),
        ({"tools": (print,)}, "`tools` cannot be changed by a strategy"),
        ({"tool_choice": {"name": "fly"}}, "tool_choice names 'fly'"),
        ({"tool_choice": "required"}, "no tool is left"),
        ({"messages": [Message(role="user", content="\ud800")]}, "cannot be sent"),
    ],
)
async def test_a_request_that_cannot_be_sent_is_an_error_that_names_the_strategy(update: dict[str, Any], told: str) -> None:
    fake = FakeModel(LONG, "never")
    strategy = Alter(lambda request: request.model_copy(update=update))
    with pytest.raises(ConfigError, match="the strategy Alter") as caught:
        await orchestrator(fake, strategy).run("go")
    assert told in str(caught.value)
    assert isinstance(caught.value.__cause__, ContextOverflow)
    assert fake.call_count == 1


@pytest.mark.parametrize("given", ["text", {"messages": "x"}, 3])
async def test_what_is_no_request_is_an_error_that_names_the_strategy(given: Any) -> None:
    strategy = Alter(lambda request: given)
    with pytest.raises(ConfigError, match=r"the strategy Alter gives .* as its plan's request; it is an llmcore\.Request"):
        await orchestrator(FakeModel(LONG), strategy).run("go")


async def test_the_same_request_again_is_no_plan() -> None:
    with pytest.raises(ConfigError, match="gives the plan that just failed"):
        await orchestrator(FakeModel(LONG, "never"), Alter(lambda request: request)).run("go")


async def test_a_local_bound_is_trimmed_to_before_anything_is_sent() -> None:
    fake = FakeModel("ok")

    def count(request: Request) -> int:
        return len(request.messages)

    asked = orchestrator(fake, Alter(without_history), max_context_tokens=1, token_counter=count)
    await asked.run("go", message_history=OLD, budget=Budget(requests=1))
    assert texts(fake.last_request) == ["go"]


async def test_an_altered_request_begins_a_corrected_turn_again() -> None:
    fake = FakeModel("no number", LONG, "7")
    result = await orchestrator(fake, Alter(without_history)).execute("a number", int, message_history=OLD)
    assert result == 7
    assert texts(fake.last_request) == ["a number"]
