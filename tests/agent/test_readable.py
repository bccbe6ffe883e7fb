"""Options can be read, overridden methods can call their base's, and overridden methods have sync forms."""

from __future__ import annotations

import copy
import functools
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from llmcore import Agent, Budget, FakeModel, Finished, ModelRegistry, Orchestrator, TextDelta, ToolConfig, tool
from llmcore.agent.options import OPTIONS
from llmcore.agent.readable import ReadableOptions
from llmcore.types import CallerError, ConfigError


def plain() -> str:
    """Plain."""
    return "p"


class Told(Agent):
    """Says what it was told."""

    system = "Of the class."
    max_tool_turns = 3
    tools = (plain,)
    deps = "class"

    def log(self, line: str) -> None: ...


# Options


def test_each_option_can_be_read() -> None:
    agent = Told(FakeModel())
    for name in OPTIONS:
        getattr(agent, name)
    assert {*ReadableOptions.__annotations__} | {"messages", "name"} == {*OPTIONS}


def test_what_is_set_on_the_object_wins_over_the_class() -> None:
    model, told = FakeModel("a", "b"), list[Any]()
    agent: Any = Told(model, "some-model", told.append, system="Of the object.", deps=None, temperature=0.5)
    assert (agent.client, agent.model, agent.socket_emit) == (model, "some-model", told.append)
    assert (agent.system, agent.deps, agent.temperature) == ("Of the object.", None, 0.5)
    assert (agent.max_tool_turns, agent.tools) == (3, (plain,))
    agent.chat_sync("Hi")
    assert model.requests[0].system == agent.system
    agent.system = "Said later."
    agent.chat_sync("Hi")
    assert model.requests[1].system == agent.system == "Said later."
    assert copy.copy(agent).system == copy.deepcopy(agent).system == "Said later."


def test_an_option_that_nobody_set_has_the_value_that_holds() -> None:
    agent = Agent(FakeModel())
    assert (agent.max_tool_turns, agent.max_parallel_tools, agent.tool_timeout, agent.tool_errors) == (10, 8, 60.0, "continue")
    assert (agent.system, agent.deps, agent.budget, agent.socket_emit, agent.log) == (None, None, None, None, None)
    assert (agent.tools, agent.hooks, agent.stop, agent.tool_choice, agent.strictness) == ((), (), [], "auto", "safe")
    assert (agent.description, Told(FakeModel()).description) == ("Ask the agent Agent.", "Says what it was told.")
    agent.tool_config = ToolConfig(max_turns=2)
    assert (agent.max_tool_turns, agent.max_parallel_tools) == (2, 8)


def test_what_an_orchestrator_as_client_settles_is_read_of_it() -> None:
    shared = Orchestrator(FakeModel(), system="Shared.", deps="its", max_tool_turns=4, budget=Budget(attempts=2))
    agent = Agent(shared)
    assert (agent.client, agent.system, agent.deps, agent.max_tool_turns) == (shared, "Shared.", "its", 4)
    assert agent.budget == Budget(attempts=2)
    assert Told(shared).max_tool_turns == 3


@pytest.mark.parametrize("choice", ["none", "required", {"name": "plain"}])
def test_the_tool_choice_is_the_one_that_is_sent(choice: Any) -> None:
    config, model = ToolConfig(tool_choice=choice), FakeModel(default="Hi.")
    call = FakeModel().tool_call("plain", {}).default_text("Hi.")
    own = Agent(call if choice != "none" else model, tools=[plain], tool_config=config)
    shared = Agent(Orchestrator(model, tool_config=config), tools=[plain])
    assert own.tool_choice == shared.tool_choice == choice
    own.chat_sync("Hi")
    assert (call if choice != "none" else model).requests[0].tool_choice == choice
    assert Agent(model, tool_config=config, tool_choice="auto").tool_choice == "auto"


def test_the_model_is_the_one_there_is() -> None:
    two = {"models": {"a": {"provider": "openai", "model": "gpt-5"}, "b": {"provider": "openai", "model": "gpt-5-mini"}}}
    assert Agent("groq/some-model").model == "groq/some-model"
    assert Agent(ModelRegistry.from_dict(two)).model is None
    assert Agent(ModelRegistry.from_dict(two), "b").model == "b"


def test_methods_that_are_options_stay_methods() -> None:
    class Own(Told):
        def tools(self) -> list[Any]:  # type: ignore[override]  # a method in place of a value
            return [plain]

    assert [made.name for made in Own(FakeModel()).list_tools()] == ["plain"]
    assert Own(FakeModel()).tools()[0] is plain
    assert callable(Told(FakeModel()).log)


def test_what_is_no_option_is_no_attribute() -> None:
    agent: Any = Told(FakeModel())
    with pytest.raises(AttributeError, match="'Told' object has no attribute 'sytem'"):
        _ = agent.sytem


# Methods that call their base's


class Plain(Agent):
    system = "S."

    def _system_messages(self) -> list[Any]:
        return [*super()._system_messages(), "mine"]

    def _finalize_response(self, text: str) -> str:
        return str(super()._finalize_response(text)).strip()


class Later(Agent):
    system = "S."

    async def _system_messages(self) -> list[Any]:
        return [*super()._system_messages(), "mine"]

    async def _finalize_response(self, text: str) -> str:
        return str(super()._finalize_response(text)).strip()


class Public(Agent):
    system = "S."

    def system_messages(self) -> list[Any]:
        return [*super().system_messages(), "mine"]

    async def finalize_response(self, text: str) -> str:
        return str(super().finalize_response(text)).strip()


class Heir(Plain):
    def _finalize_response(self, text: str) -> str:
        return f"<{super()._finalize_response(text)}>"


@pytest.mark.parametrize("kind", [Plain, Later, Public, Heir])
def test_the_methods_of_a_chat_may_call_the_bases(kind: type[Agent]) -> None:
    model = FakeModel(" Hello ")
    assert kind(model).chat_sync("Hi") == ("<Hello>" if kind is Heir else "Hello")
    assert model.requests[0].system == "S.\n\nmine"


def test_one_method_in_two_spellings_is_refused_over_bases_too() -> None:
    with pytest.raises(ConfigError, match="Both has finalize_response and Plain has _finalize_response, which are the same"):
        type("Both", (Plain,), {"finalize_response": Public.finalize_response})


# Sync forms


def test_the_sync_forms_call_what_a_class_overrides() -> None:
    class Shouting(Agent):
        async def chat(self, message: Any = None, output_type: Any = None, **options: Any) -> Any:
            return str(await cast("Any", super()).chat(message, output_type, **options)).upper()

        def stream(self, message: Any = None, output_type: Any = None, **options: Any) -> Any:
            return super().stream(f"{message}!", output_type, **options)

    model = FakeModel("hello", "there")
    agent = Shouting(model)
    assert agent.chat_sync("Hi") == "HELLO"
    with agent.stream_sync("Hi") as stream:
        assert [type(event) for event in stream][-1] is Finished
    assert stream.result.content == "there"
    assert model.requests[1].messages[-1].text == "Hi!"


async def of_a_message(self: Agent, message: str) -> str:
    return f"<{await Agent.chat(self, message)}>"


async def of_options(self: Agent, message: str, **options: Any) -> str:
    return f"<{await Agent.chat(self, message, **options)}>"


async def of_a_type_by_name(self: Agent, message: str, *, output_type: Any = None) -> str:
    return f"<{await Agent.chat(self, message, output_type)}>"


async def of_nothing(self: Agent) -> str:
    return f"<{await Agent.chat(self, 'Hi')}>"


def of_a_sync_form(self: Agent, message: str) -> str:
    return f"<{self.run_sync(message).content}>"


@pytest.mark.parametrize("chat", [of_a_message, of_options, of_a_type_by_name, of_nothing, of_a_sync_form])
def test_a_chat_of_another_signature_is_given_what_the_caller_gave(chat: Any) -> None:
    model = FakeModel(default="hello")
    agent: Any = type("Own", (Agent,), {"chat": chat})(model)
    assert agent.chat_sync(*([] if chat is of_nothing else ["Hi"])) == "<hello>"
    assert model.requests[0].messages[-1].text == "Hi"


def test_a_run_and_a_stream_of_another_signature_are_given_what_the_caller_gave() -> None:
    class Own(Agent):
        async def run(self, message: Any, **options: Any) -> Any:  # type: ignore[override]  # as people write it
            return await super().run(f"{message}!", **options)

        def stream(self, message: Any, **options: Any) -> Any:  # type: ignore[override]
            return super().stream(f"{message}?", **options)

    class Asking(Orchestrator):
        def stream(self, request: Any, **options: Any) -> Any:  # type: ignore[override]
            return super().stream(f"{request}?", **options)

    model = FakeModel(default="hello")
    agent: Any = Own(model)
    assert agent.chat_sync("Hi") == agent.run_sync("Hi").content == "hello"
    for one in (agent, Asking(model)):
        with one.stream_sync("Hi") as stream:
            assert [*stream]
    assert [request.messages[-1].text for request in model.requests] == ["Hi!", "Hi!", "Hi?", "Hi?"]


def shouted(function: Any) -> Any:
    @functools.wraps(function)
    def shouting(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs).upper()

    return shouting


class Sync(Agent):
    def chat(self, message: Any, **options: Any) -> Any:  # type: ignore[override]  # as people write it
        return f"<{super().chat_sync(message, **options)}>"


class SyncHeir(Sync):
    @shouted
    def chat(self, message: Any, **options: Any) -> Any:
        return super().chat(message, **options)


class Asking(Agent):
    other: Any = None

    def chat(self, message: Any, **options: Any) -> Any:  # type: ignore[override]
        other = self.other
        said = super().chat_sync(message, **options)
        return f"({said})" if other is None else f"({other.chat_sync(said)})"


@pytest.mark.parametrize("form", ["chat", "chat_sync"])
def test_a_sync_chat_may_ask_the_bases_sync_form(form: str) -> None:
    model = FakeModel(default="hello")
    assert getattr(Sync(model), form)("Hi") == "<hello>"
    assert getattr(SyncHeir(model), form)("Hi") == "<HELLO>"
    assert [request.messages[-1].text for request in model.requests] == ["Hi", "Hi"]
    asking: Any = Asking(FakeModel("one"))
    asking.other = Asking(FakeModel("two"))
    assert getattr(asking, form)("Hi") == "((two))"


def test_what_a_tool_asks_the_agent_itself_is_no_call_of_the_base() -> None:
    told: list[str] = []

    class Own(Sync):
        @tool
        def ask(self) -> None:
            """Ask."""
            told.append(self.chat_sync("Well?", message_history=[]))

    assert Own(FakeModel().tool_call("ask").text("inner").text("outer")).chat_sync("Hi") == "<outer>"
    assert told == ["<inner>"]


@pytest.mark.anyio
async def test_a_sync_chat_is_refused_where_a_loop_runs() -> None:
    agent = type("Own", (Agent,), {"chat": of_a_sync_form})(FakeModel("hello"))
    with pytest.raises(CallerError, match="chat_sync would block the event loop"):
        agent.chat_sync("Hi")


def test_an_orchestrators_sync_forms_call_what_a_class_overrides() -> None:
    class Own(Orchestrator):
        async def execute(self, request: Any, output_type: Any, **options: Any) -> Any:
            return await super().execute(request, output_type, **options) + 1

        async def stream(self, request: Any = None, output_type: Any = None, **options: Any) -> AsyncIterator[Any]:  # type: ignore[override]  # as people write it
            async for event in super().stream(request, output_type, **options):
                if not isinstance(event, TextDelta):
                    yield event

    orchestrator = Own(FakeModel("5", "6"))
    assert orchestrator.execute_sync("Count.", int) == 6
    with orchestrator.stream_sync("Count.") as stream:
        seen = [*stream]
    assert not any(isinstance(event, TextDelta) for event in seen)
    assert stream.result.content == "6"


def test_what_a_registry_says_of_tools_is_what_an_agent_reads() -> None:
    says = {"max_turns": 2, "timeout": 5, "errors": "abort"}
    registry = ModelRegistry.from_dict({"models": {"x": {"provider": "custom", "model": "x", "tools": says}}})
    fake = FakeModel(default="Hi.")
    agent = Agent(registry, adapter=fake)
    assert (agent.max_tool_turns, agent.tool_timeout, agent.tool_errors) == (2, 5.0, "abort")
    shared = Agent(Orchestrator(registry, adapter=fake), tool_timeout=7.0)
    assert (shared.max_tool_turns, shared.tool_timeout) == (2, 7.0)


def test_the_tools_of_a_shared_orchestrator_are_those_of_an_agent_without_its_own() -> None:
    shared = Agent(Orchestrator(FakeModel(default="Hi."), [plain]))
    assert [tool.name for tool in shared.tools] == ["plain"]
    assert Told(FakeModel()).tools == (plain,)


def test_what_a_registry_overrules_is_not_read_as_it_was_set() -> None:
    def model(name: str, **says: int) -> dict[str, Any]:
        return {"provider": "custom", "model": name, "tools": says}

    class Set(Agent):
        max_tool_turns = 7
        max_parallel_tools = 3

    registry = ModelRegistry.from_dict({"models": {"x": model("x", max_turns=2), "y": model("y", max_turns=4)}})
    fake = FakeModel(default="Hi.")
    agent: Any = Set(registry, "x", adapter=fake, tool_config=ToolConfig(timeout=9))
    assert (agent.max_tool_turns, agent.max_parallel_tools, agent.tool_timeout) == (2, 3, 9.0)
    assert agent.tool_config == ToolConfig(max_turns=2, max_parallel=3, timeout=9)
    agent.max_tool_turns = 6
    assert agent.max_tool_turns == copy.copy(agent).max_tool_turns == 2
    agent.model = "y"
    assert (agent.max_tool_turns, agent.max_parallel_tools) == (4, 3)
    assert Set(Orchestrator(registry, adapter=fake), "x").max_tool_turns == 7  # as it holds there
