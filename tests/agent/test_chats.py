"""A chat is a run of the one loop: options, system prompt, answer, typed answers, events."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import llmcore
from llmcore import (
    Agent,
    Budget,
    FakeModel,
    Finished,
    Message,
    ModelRegistry,
    Orchestrator,
    RunContext,
    TextBlock,
    TextDelta,
    tool,
)
from llmcore.tools.catalogue import openapi
from llmcore.types import (
    CallerError,
    CallsPending,
    ConfigError,
    LimitExceeded,
    MaxToolTurns,
    TerminateLoop,
    Timeout,
    ToolDefinitionError,
)
from llmcore.types.messages import CacheControl
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str


def steps_of(counter: Any) -> list[int]:
    steps: list[int] = counter.steps
    return steps


class Counter(Agent):
    """Counts."""

    system = "Count."
    max_tool_turns = 3

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.count = 0
        self.steps: list[int] = []

    def system_messages(self) -> Any:
        self.steps = [1, 10]
        return f"It stands at {self.count}."

    @tool(params={"step": {"type": "integer", "enum": steps_of}}, required=["step"])
    def add(self, step: int) -> int:
        """Add to the count."""
        self.count += step
        return self.count


def counting() -> FakeModel:
    return FakeModel().tool_call("add", {"step": 10}).text("It is 10.").text("Still 10.")


async def test_a_chat_is_a_run_with_the_methods_as_tools_and_a_history() -> None:
    fake = counting()
    agent = Counter(fake)
    assert await agent.chat("Add ten.") == "It is 10."
    assert agent.count == 10
    assert [message.role for message in agent.messages] == ["user", "assistant", "tool", "assistant"]
    assert await agent.chat("And now?") == "Still 10."
    assert_valid(agent.messages)
    assert [message.text for message in fake.requests[2].messages if message.role == "user"] == ["Add ten.", "And now?"]
    assert all(message.role != "system" for message in agent.messages)
    assert [request.system for request in fake.requests] == [
        "Count.\n\nIt stands at 0.",
        "Count.\n\nIt stands at 0.",
        "Count.\n\nIt stands at 10.",
    ]


async def test_schemas_ask_the_agent_at_each_request() -> None:
    class Growing(Counter):
        @tool(params={"step": {"type": "integer", "enum": steps_of}}, required=["step"])
        def add(self, step: int) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]  # a tool knows its class
            """Add."""
            self.steps.append(100)
            return step

    fake = counting()
    await Growing(fake).chat("Add ten.")
    offered = [call.tools[0].parameters["properties"]["step"]["enum"] for call in fake.calls]
    assert offered == [[1, 10], [1, 10, 100]]


async def test_the_wire_servers_model_is_named_by_a_registry_or_a_name(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text("llm: {models: {one: {provider: openai, model: gpt-4o, api_key: k}, two: {provider: fake, model: m}}}")
    fake = FakeModel("ok", "ok", "ok", "ok")
    adapter = {"one": fake, "two": fake}
    assert await Agent(str(path), "two", adapter=adapter).chat("Hi") == "ok"
    assert (await Agent(ModelRegistry.from_yaml(path), model="two", adapter=adapter).run("Hi")).attempts[0].model == "two"
    assert (await Agent(model="groq/llama-3.3-70b-versatile", adapter=fake).run("Hi")).attempts[0].model.startswith("groq/")
    assert await Agent(fake, "gpt-4o").chat("Hi") == "ok"


async def test_a_chats_own_options_win_over_the_agents_and_those_over_the_classes() -> None:
    class Loud(Agent):
        temperature = 0.5
        system = "Loud."
        max_tokens = 10

    fake = FakeModel("a", "b")
    agent = Loud(fake, max_tokens=20)
    await agent.chat("Hi")
    await agent.chat("Hi", temperature=0.0, system="Quiet.")
    told = [(request.temperature, request.max_tokens, request.system) for request in fake.requests]
    assert told == [(0.5, 20, "Loud."), (0.0, 20, "Quiet.")]


async def test_the_documents_options_have_their_names_here() -> None:
    fake = FakeModel().tool_call("add", {"step": 1}).tool_call("add", {"step": 1})
    agent = Counter(fake, tool_choice="required", thinking=2000, max_tokens=99, max_tool_turns=1, name="counter")
    with pytest.raises(MaxToolTurns):
        await agent.chat("Add.")
    first = fake.requests[0]
    assert (first.tool_choice, first.thinking, first.max_tokens) == ("required", 2000, 99)
    for theirs, ours in {
        "force_tools": "tool_choice",
        "thinking_tokens": "thinking",
        "max_context_size": "max_context_tokens",
        "max_tool_iterations": "max_tool_turns",
        "system_prompt": "system",
        "logf": "log",
        "emit": "socket_emit",
        "models": "client",
    }.items():
        with pytest.raises(ConfigError, match=ours):
            Counter(fake, **{theirs: 1})


async def test_a_context_bound_ends_a_chat_cleanly() -> None:
    agent = Agent(FakeModel("never"), max_context_tokens=5, token_counter=lambda request: 100)
    with pytest.raises(llmcore.ContextOverflow):
        await agent.chat("x" * 100)
    assert agent.messages == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_tool_turn": 3}, "did you mean 'max_tool_turns'"),
        ({"budget": 3}, "`budget` must be an llmcore.Budget"),
        ({"name": ""}, "`name` must be a text"),
        ({"socket_emit": "loud"}, "`socket_emit` must be a function"),
        ({"log": 3}, "`log` must be a function"),
        ({"model": 3}, "`model` must be a model's name"),
        ({"enforce_limits": 1}, "`enforce_limits` must be True or False"),
        ({"hooks": [3]}, "hooks must be llmcore.Hooks"),
        ({"tools": 3}, "give a list of tools"),
        ({"tools": [Agent]}, "Agent is a class: give one of its objects"),
        ({"messages": [{"role": "nobody", "content": "x"}]}, "role"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
    ],
    ids=str,
)
async def test_what_does_not_fit_is_reported_when_the_agent_is_made(options: dict[str, Any], words: str) -> None:
    with pytest.raises(CallerError, match=words):
        await Agent(FakeModel("ok"), **options).chat("Hi")  # a request's own fields are told with the first chat


async def test_an_agent_without_a_model_says_so() -> None:
    with pytest.raises(ConfigError, match="Counter has no model: write Counter"):
        Counter()
    with pytest.raises(ConfigError, match="unknown option 'temprature'"):
        await Agent(FakeModel("x")).chat("Hi", temprature=1)  # type: ignore[call-overload]


async def test_an_init_that_does_not_call_its_base_is_reported() -> None:
    class Forgetful(Agent):
        def __init__(self) -> None:
            self.x = 1

    with pytest.raises(ConfigError, match=r"Forgetful.__init__ does not call super\(\).__init__"):
        await Forgetful().chat("Hi")


GIVEN: list[tuple[Any, Any]] = [
    ("one", "one"),
    (["one", "two"], "one\n\ntwo"),
    ([{"role": "system", "content": "one"}], "one"),
    ({"role": "developer", "content": "one"}, "one"),
    ([Message(role="system", content="one"), TextBlock(text="two")], "one\n\ntwo"),
    ((), None),
    (None, None),
    ("", None),
]


@pytest.mark.parametrize("seeds_name", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("given", "system"), GIVEN, ids=str)
async def test_system_messages_of_every_form(given: Any, system: Any, is_async: bool, seeds_name: bool) -> None:
    async def later(self: Agent) -> Any:
        assert self.messages[-1].text == "Hi"
        return given

    def now(self: Agent) -> Any:
        assert self.messages[-1]["content"] == "Hi"
        return given

    name = "_system_messages" if seeds_name else "system_messages"
    fake = FakeModel("ok")
    await type("Told", (Agent,), {name: later if is_async else now})(fake).chat("Hi")
    assert fake.requests[0].system == system


async def test_cache_marks_of_system_messages_are_kept() -> None:
    class Cached(Agent):
        def system_messages(self) -> Any:
            return [TextBlock(text="long", cache_control=CacheControl())]

    fake = FakeModel("ok")
    await Cached(fake, system="Short.").chat("Hi")
    assert [block.text for block in fake.requests[0].system or () if isinstance(block, TextBlock)] == ["Short.", "long"]


async def test_a_system_message_of_another_role_is_reported() -> None:
    class Wrong(Agent):
        def system_messages(self) -> Any:
            return [{"role": "user", "content": "x"}]

    agent = Wrong(FakeModel("ok"))
    with pytest.raises(CallerError, match="system_messages gives texts and messages of the role system, not one of 'user'"):
        await agent.chat("Hi")
    assert agent.messages == []


async def test_the_methods_may_take_the_run_context() -> None:
    class Known(Agent):
        async def system_messages(self, context: RunContext[str]) -> str:
            return f"The user is {context.deps}."

        def finalize_response(self, text: str, context: RunContext[str]) -> str:
            return f"{context.deps}: {text}"

    fake = FakeModel("hello")
    assert await Known(fake, deps="Ann").chat("Hi") == "Ann: hello"
    assert fake.requests[0].system == "The user is Ann."


@pytest.mark.parametrize("seeds_name", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
async def test_the_finalised_answer_is_returned_kept_and_told(is_async: bool, seeds_name: bool) -> None:
    async def later(self: Agent, text: str) -> str:
        return text.strip()

    name = "_finalize_response" if seeds_name else "finalize_response"
    told: list[Any] = []

    def now(self: Agent, text: str) -> str:
        return text.strip()

    kind = type("Final", (Agent,), {name: later if is_async else now})
    fake = FakeModel("  Yes. ", "  No. ", "  Well. ")
    agent = kind(fake, socket_emit=told.append)
    assert await agent.chat("Is it?") == "Yes."
    assert agent.messages[-1].text == "Yes."
    assert told[-1] == {"type": "ai_response", "message": "Yes."}
    result = await agent.run("Really?")
    assert (result.content, result.value, result.messages[-1].text) == ("No.", "No.", "No.")
    events = [event async for event in agent.stream("Well?")]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "  Well. "
    assert isinstance(events[-1], Finished)
    assert events[-1].result.content == "Well."
    assert [message.text for message in fake.requests[-1].messages if message.role == "assistant"] == ["Yes.", "No."]


async def test_a_finaliser_that_fails_or_gives_no_text() -> None:
    class Wrong(Agent):
        def finalize_response(self, text: str) -> Any:
            if text == "fail":
                raise ValueError("no")
            return 3

    agent = Wrong(FakeModel("fail", "three"))
    with pytest.raises(ValueError, match="no") as caught:
        await agent.chat("Hi")
    assert vars(caught.value)["partial"].content == "fail"
    with pytest.raises(ConfigError, match="finalize_response must give a text, not int"):
        await agent.chat("Hi")
    assert agent.messages == []


async def test_a_typed_answer_is_a_value_and_does_not_pass_the_finaliser() -> None:
    class Typed(Agent):
        output_type = City

        def finalize_response(self, text: str) -> str:
            raise AssertionError

    fake = FakeModel('{"name": "Oslo"}', '{"name": "Rome"}', "5")
    agent = Typed(fake)
    assert await agent.chat("Where?", City) == City(name="Oslo")
    value: Any = await agent.chat("Where?")
    assert value == City(name="Rome")
    assert await agent.chat("How many?", int) == 5
    assert_valid(agent.messages)


async def test_a_tool_may_end_the_chat() -> None:
    class Ending(Agent):
        @tool
        def stop(self) -> None:
            """Stop."""
            raise TerminateLoop({"n": 1})

    agent = Ending(FakeModel().tool_call("stop", {}).text("never"))
    assert await agent.chat("Go") == '{"n":1}'
    assert_valid(agent.messages)


def test_the_sync_forms_are_the_same() -> None:
    agent = Counter(FakeModel().tool_call("add", {"step": 1}).text("one").text('{"name": "x"}').text("end").text("last"))
    assert agent.chat_sync("Add one.") == "one"
    assert agent.chat_sync("Which?", City) == City(name="x")
    assert agent.run_sync("And?").content == "end"
    *_, finished = agent.stream_sync("And?")
    assert isinstance(finished, Finished)
    assert len(agent.messages) == 10


async def test_pending_calls_are_no_answer_for_chat_and_one_for_run() -> None:
    elsewhere: dict[str, Any] = {
        "type": "function",
        "function": {"name": "elsewhere", "parameters": {"type": "object", "properties": {}}},
    }
    told: list[Any] = []
    agent = Agent(
        FakeModel(default=None).tool_call("elsewhere", {}).tool_call("elsewhere", {}), tools=[elsewhere], socket_emit=told.append
    )
    result = await agent.run("Go")
    assert [call.name for call in result.pending] == ["elsewhere"]
    assert told[-1]["type"] == "pending"
    assert told[-1]["calls"][0]["name"] == "elsewhere"
    agent.reset()
    with pytest.raises(CallsPending, match="calls are pending") as caught:
        await agent.chat("Go")
    assert not isinstance(caught.value, CallerError)
    assert [call.name for call in caught.value.pending] == ["elsewhere"]
    assert deepcopy(caught.value).pending == caught.value.pending


async def test_an_orchestrator_as_client_is_shared() -> None:
    fake = FakeModel("a", "b")
    shared = Orchestrator(fake, [llmcore.tool(lambda: 1, name="one")], system="Shared.", max_tool_turns=1)
    first, second = Counter(shared), Agent(shared)
    await first.chat("Hi")
    await second.chat("Hi")
    assert [tool.name for tool in fake.calls[0].tools] == ["one", "add"]
    assert [tool.name for tool in fake.calls[1].tools] == ["one"]
    assert [request.system for request in fake.requests] == ["Count.\n\nIt stands at 0.", "Shared."]
    await first.aclose()
    with pytest.raises(ConfigError, match="`token_counter` is fixed by the orchestrator"):
        Agent(shared, token_counter=len)  # type: ignore[arg-type]


async def test_tools_given_and_tools_of_a_chat_stand_beside_the_methods() -> None:
    registry = llmcore.ToolRegistry()
    fake = FakeModel(default="ok")
    agent = Counter(fake, tools=[registry, llmcore.tool(lambda: 1, name="given")])
    await agent.chat("Hi", tools=[llmcore.tool(lambda: 2, name="mine")])
    registry.register(llmcore.tool(lambda: 3, name="late"))
    await agent.chat("Hi")
    assert [[one.name for one in call.tools] for call in fake.calls] == [["add", "given", "mine"], ["add", "late", "given"]]
    assert [one.name for one in agent.list_tools()] == ["add", "late", "given"]
    with pytest.raises(ToolDefinitionError, match="add"):
        await agent.chat("Hi", tools=[llmcore.tool(lambda: 2, name="add")])


async def test_a_function_may_give_the_tools() -> None:
    fake = FakeModel(default="ok")

    async def provide(context: RunContext[Any]) -> list[Any]:
        return [llmcore.tool(lambda: 1, name=f"of_{context.deps}")]

    agent = Counter(fake, tools=provide, deps="ann")
    await agent.chat("Hi")
    assert [one.name for one in fake.calls[0].tools] == ["add", "of_ann"]
    with pytest.raises(CallerError, match=r"list_tools would block .*`await asyncio.to_thread\(list_tools\)`"):
        agent.list_tools()
    assert [one.name for one in await asyncio.to_thread(agent.list_tools)] == ["add", "of_ann"]


def test_an_agents_tools_are_those_of_its_orchestrator_too() -> None:
    shared = Orchestrator(FakeModel(default="ok"), [llmcore.tool(lambda: 1, name="one")])
    assert [one.name for one in Counter(shared).list_tools()] == ["one", "add"]
    assert [one.name for one in shared.list_tools()] == ["one"]


def test_catalogues_ask_the_function_that_gives_the_tools() -> None:
    def provide(context: RunContext[Any]) -> list[Any]:
        return [llmcore.tool(lambda: 1, name=f"of_{context.deps}")]

    given = Orchestrator(FakeModel(), provide, deps="bob")
    assert "/tools/of_bob" in openapi(given)["paths"]
    assert "/tools/of_ann" in openapi(Agent(given, deps="ann"))["paths"]


async def test_a_budget_bounds_each_chat() -> None:
    agent = Counter(FakeModel().tool_call("add", {"step": 1}).text("x").text("y"), budget=Budget(requests=1))
    with pytest.raises(LimitExceeded):
        await agent.chat("Add")
    assert await agent.chat("And?") == "x"


class SlowPrompt(Agent):
    async def system_messages(self) -> str:
        await asyncio.sleep(60)
        return ""


RELEASED = threading.Event()


class BlockingPrompt(Agent):
    def system_messages(self) -> str:
        RELEASED.wait(60)
        return ""


class SlowEnd(Agent):
    async def finalize_response(self, text: str) -> str:
        await asyncio.sleep(60)
        return text


class BlockingEnd(Agent):
    def finalize_response(self, text: str) -> str:
        RELEASED.wait(60)
        return text


def _in_the_call(kind: type[Agent]) -> Awaitable[str]:
    return kind(FakeModel("ok")).chat("Hi", deadline=0.1)


def _in_the_budget(kind: type[Agent]) -> Awaitable[str]:
    return kind(FakeModel("ok")).chat("Hi", budget=Budget(deadline=0.1))


def _earlier_in_the_budget(kind: type[Agent]) -> Awaitable[str]:
    return kind(FakeModel("ok"), deadline=60).chat("Hi", budget=Budget(deadline=0.1))


def _of_the_agent(kind: type[Agent]) -> Awaitable[str]:
    return kind(FakeModel("ok"), budget=Budget(deadline=0.1)).chat("Hi")


def _of_the_client(kind: type[Agent]) -> Awaitable[str]:
    return kind(Orchestrator(FakeModel("ok"), budget=Budget(deadline=0.1))).chat("Hi")


async def _of_the_run_around_it(kind: type[Agent]) -> None:
    chats: list[asyncio.Task[str]] = []

    async def ask(context: RunContext) -> str:
        chats.append(asyncio.ensure_future(kind(FakeModel("ok")).chat("Hi", parent=context)))
        await asyncio.sleep(60)
        return ""

    outer = Orchestrator(FakeModel().tool_call("ask", {}).text("x"), [ask], budget=Budget(deadline=0.1))
    with pytest.raises(Timeout):
        await outer.run("Hi")
    await chats[0]


@pytest.mark.parametrize("kind", [SlowPrompt, BlockingPrompt, SlowEnd, BlockingEnd])
@pytest.mark.parametrize(
    "chat", [_in_the_call, _in_the_budget, _earlier_in_the_budget, _of_the_agent, _of_the_client, _of_the_run_around_it]
)
async def test_the_deadline_bounds_the_agents_own_methods(
    chat: Callable[[type[Agent]], Awaitable[object]], kind: type[Agent]
) -> None:
    RELEASED.clear()
    since = time.monotonic()
    with pytest.raises(Timeout):
        await chat(kind)
    RELEASED.set()
    assert time.monotonic() - since < 30


async def test_an_agent_closes_what_it_made() -> None:
    async with Agent(FakeModel("ok")) as agent:
        assert await agent.chat("Hi") == "ok"


async def test_a_deadline_that_passes_before_the_run_has_begun_keeps_what_was_said() -> None:
    class Slow(Agent):
        async def system_messages(self) -> str:
            await asyncio.sleep(30)
            return ""

    with pytest.raises(Timeout) as caught:
        await Slow(FakeModel("never")).run("go", deadline=0.01)
    assert [message.text for message in caught.value.partial.messages] == ["go"]
