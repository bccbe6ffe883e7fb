"""The options of an agent: validated when it is made, as a run would, and effective however they are set."""

from __future__ import annotations

import asyncio
import copy
from typing import Any, cast

import pytest

from llmcore import (
    Agent,
    Budget,
    CallerError,
    CapabilityStore,
    ConfigError,
    FakeModel,
    Hooks,
    LimitExceeded,
    ModelNotFound,
    ModelRegistry,
    Orchestrator,
    RunContext,
    ToolCall,
    tool,
)
from llmcore.types import Request

AGENT = cast("Any", Agent)  # of a caller without a type checker


@tool
def add(a: int) -> int:
    """Add one."""
    return a + 1


class Unusable:
    """A type that pydantic does not know."""


def in_a_class(fake: FakeModel, name: str, value: Any) -> None:
    written = staticmethod(value) if callable(value) and not isinstance(value, type) else value
    cast("Any", type("Of", (Agent,), {name: written}))(fake)


def given(fake: FakeModel, name: str, value: Any) -> None:
    AGENT(fake, **{name: value})


def set_later(fake: FakeModel, name: str, value: Any) -> None:
    setattr(AGENT(fake), name, value)


WAYS = {"given": given, "in the class": in_a_class, "set": set_later}


def _of_an_object(self: Any, given: Any) -> None: ...


MISTAKES: list[tuple[str, Any, str]] = [
    ("deadline", "soon", "a finite number above 0"),
    ("deadline", -1, "a finite number above 0"),
    ("temperature", "hot", "a finite number of at least 0"),
    ("top_p", 7, "less than or equal to 1"),
    ("max_tokens", 0, "at least 1"),
    ("stop", 3, "must be a list"),
    ("stop", [3], "must be a text"),
    ("thinking", "yes", "True, False or the number of tokens"),
    ("deadline", "5", "must be a finite number above 0, not a text"),
    ("parallel_tool_calls", "maybe", "True or False"),
    ("allow_web_search", "maybe", "True or False"),
    ("tool_choice", "requird", "did you mean 'required'?"),
    ("extra_body", [1], "must be a dict"),
    ("extra_body", {1: 2}, "must be a text"),
    ("extra_headers", {"a\n": "b"}, "no name of a header"),
    ("system", [{"type": "text", "txt": "a"}], "there is no field 'txt'"),
    ("output_type", Unusable, "cannot be used"),
    ("output_type", lambda: 1, "is the function"),
    ("output_validators", 3, "must be a function"),
    ("interjections", 3, "must be a function"),
    ("interjections", pow, "takes no argument"),
    ("checkpoint", 3, "a function of a RunResult"),
    ("checkpoint", _of_an_object, "its parameters are (self: "),
    ("output_validators", [_of_an_object], "its parameters are (self: "),
    ("socket_emit", lambda: None, "a function of one JSON object"),
    ("socket_emit", _of_an_object, "not the function _of_an_object(self, given)"),
    ("log", lambda: None, "a function of one line"),
    ("log", asyncio.sleep, "that is not async"),
    ("token_counter", lambda: 1, "is called with the request"),
    ("max_context_tokens", "9", "at least 1"),
    ("tool_timeout", -1, "seconds above 0"),
    ("answers", {}, "an option of each chat"),
    ("observers", 3, "llmcore.Observer"),
    ("hooks", 3, "llmcore.Hooks"),
    ("tools", 3, "give a list of tools"),
]


@pytest.mark.parametrize("index", range(len(MISTAKES)), ids=[f"{name}={value!r:.20}" for name, value, _ in MISTAKES])
@pytest.mark.parametrize("way", ["given", "in the class", "set"])
def test_what_no_chat_could_go_by_is_reported_at_once(index: int, way: str) -> None:
    name, value, words = MISTAKES[index]
    fake = FakeModel(default="x")
    with pytest.raises(CallerError) as caught:
        WAYS[way if name != "answers" else "given"](fake, name, value)
    assert words in str(caught.value)
    assert name in str(caught.value) or name in ("hooks", "tools", "output_validators")
    assert not fake.requests


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, value, _ in MISTAKES if name in ("system", "max_context_tokens")]
)
def test_a_wrong_option_of_an_orchestrator_is_reported_at_once(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        cast("Any", Orchestrator)(FakeModel("x"), **{name: value})


def test_a_chats_own_are_reported_at_once_too() -> None:
    agent = AGENT(FakeModel("x"))
    with pytest.raises(ConfigError, match=r"chat\.deadline must be a finite number above 0"):
        agent.stream("Hi", deadline="soon")


def test_a_type_may_name_what_is_defined_later() -> None:
    AGENT(FakeModel("x"), output_type=list["NotYet"])  # type: ignore[name-defined]  # noqa: F821


class Clerk(Agent):
    system = "of the class"

    def __init__(self, client: Any) -> None:
        self.temperature = 0.5  # before it is an agent
        super().__init__(client)
        self.client = client  # which is the same
        self.system = "of the object"
        self.tools = [add]
        self.message = "its own"


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_set_on_the_object_holds(shared: bool) -> None:
    fake = FakeModel(default="x")
    clerk = Clerk(Orchestrator(fake) if shared else fake)
    clerk.chat_sync("Hi")
    asked = fake.requests[-1]
    assert (asked.system, asked.temperature, [one.name for one in asked.tools]) == ("of the object", 0.5, ["add"])
    changed = cast("Any", clerk)
    changed.tools = []
    changed.temperature = None
    changed.max_tokens = 7
    changed.output_type = str
    changed.name = "Bob"
    changed.description = "Knows much."
    clerk.chat_sync("Hi")
    asked = fake.requests[-1]
    assert (asked.system, asked.temperature, asked.tools, asked.max_tokens) == ("of the object", None, (), 7)
    told = clerk.as_tool()
    assert (told.name, told.definition.description) == ("bob", "Knows much.")


@pytest.mark.parametrize("shared", [False, True])
def test_bounds_and_functions_that_are_set_hold(shared: bool) -> None:
    fake = FakeModel(default="x")
    agent = AGENT(Orchestrator(fake) if shared else fake)
    agent.chat_sync("Hi")
    lines: list[str] = []
    seen: list[Any] = []

    def noted(call: ToolCall, context: RunContext[Any]) -> None:
        seen.append(call.name)

    agent.budget = Budget(requests=1)
    agent.log = lines.append
    agent.socket_emit = seen.append
    agent.tools = [add]
    agent.hooks = Hooks(before_tool_run=noted)
    fake.tool_call("add", {"a": 1})
    fake.reset()
    with pytest.raises(LimitExceeded):
        agent.chat_sync("Hi")
    assert lines
    assert "add" in seen
    agent.budget = None
    assert agent.chat_sync("Hi") == "x"


def test_what_only_orchestrators_have_holds_too() -> None:
    fake = FakeModel(default="x")
    agent = AGENT(fake)
    agent.chat_sync("Hi")
    counted: list[Request] = []

    def count(request: Request) -> int:
        counted.append(request)
        return 1

    agent.token_counter = count
    agent.max_context_tokens = 5
    agent.chat_sync("Hi")
    assert len(counted) == 1


def test_a_methods_place_is_filled_by_what_is_set() -> None:
    class Talker(Agent):
        def log(self, line: str) -> None:
            raise AssertionError(line)

    lines: list[str] = []
    talker = Talker(FakeModel(default="x"))
    cast("Any", talker).log = lines.append
    talker.chat_sync("Hi")
    assert lines


def test_what_says_where_models_are_is_fixed() -> None:
    fake = FakeModel(default="x")
    agent = AGENT(fake)
    for name, value in (("client", FakeModel("y")), ("adapter", fake), ("capabilities", CapabilityStore())):
        with pytest.raises(ConfigError, match=f"`{name}` is fixed when the object is made"):
            setattr(agent, name, value)
    shares = AGENT(Orchestrator(fake))
    with pytest.raises(ConfigError, match="`enforce_limits` is fixed by the orchestrator"):
        shares.enforce_limits = True


def test_the_model_may_be_another_one_of_the_registry() -> None:
    settings = {"models": {name: {"provider": "openai", "model": f"gpt-{name}", "api_key": "k"} for name in ("a", "b")}}
    fakes = {"a": FakeModel(default="of a"), "b": FakeModel(default="of b")}
    agent = AGENT(settings, "a", adapter=fakes)
    assert agent.chat_sync("Hi") == "of a"
    agent.model = "b"
    assert agent.chat_sync("Hi") == "of b"


SLIPS = [
    ("temprature", "temperature"),
    ("max_tool_turn", "max_tool_turns"),
    ("sytsem", "system"),
    ("sistem", "system"),
    ("budegt", "budget"),
    ("thinknig", "thinking"),
    ("modle", "model"),
]


@pytest.mark.parametrize(("name", "meant"), SLIPS)
def test_what_is_almost_an_option_is_none_in_a_class(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'"):
        type("Slipped", (Agent,), {name: "x"})


@pytest.mark.parametrize("name", ["books", "tolls", "modal", "nmae", "spot", "models_by_name"])
def test_other_words_are_the_objects_own(name: str) -> None:
    made = type("Own", (Agent,), {name: "x", f"{name}_of": _of_an_object})(FakeModel("x"))
    setattr(made, name, "y")
    assert made.chat_sync("Hi") == "x"


METHODS = [
    ("chekpoint", "checkpoint"),
    ("checkponit", "checkpoint"),
    ("socket_emitt", "socket_emit"),
    ("interjection", "interjections"),
    ("output_validator", "output_validators"),
    ("finalise_response", "finalize_response"),
]


@pytest.mark.parametrize(("name", "meant"), METHODS)
def test_a_method_that_is_almost_an_options_is_reported_when_the_class_is_made(name: str, meant: str) -> None:
    def method(self: Any, given: Any) -> None: ...

    for value in (method, staticmethod(method)):
        with pytest.raises(ConfigError, match=rf"Slipped\.{name} is never called; did you mean '{meant}'"):
            type("Slipped", (Agent,), {name: value})


@pytest.mark.parametrize(("name", "meant"), SLIPS)
def test_what_is_almost_an_option_is_none(name: str, meant: str) -> None:
    agent = AGENT(FakeModel("x"))
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'"):
        setattr(agent, name, 1)
    setattr(agent, f"_{name}", 1)


def test_copies_have_it_too() -> None:
    fake = FakeModel(default="x")
    agent = AGENT(fake)
    agent.max_tokens = 7
    agent.client = fake
    for made in (copy.copy(agent), copy.deepcopy(agent)):
        made.chat_sync("Hi")
        assert fake.requests[-1].max_tokens == 7
        made.max_tokens = 9
    agent.chat_sync("Hi")
    assert fake.requests[-1].max_tokens == 7


REGISTRY = {"models": {"fast": {"provider": "groq", "model": "llama-3.3-70b-versatile", "api_key": "k"}}}


@pytest.mark.parametrize(
    "client", [REGISTRY, ModelRegistry.load(REGISTRY), Orchestrator(REGISTRY), "groq/llama-3.3-70b-versatile"]
)
def test_an_alias_that_there_is_not_is_refused_where_it_is_given(client: Any) -> None:
    with pytest.raises(ModelNotFound, match="there is no model 'fsat'"):
        Agent(client, model="fsat")
    agent = Agent(client)
    with pytest.raises(ModelNotFound, match="there is no model 'fsat'"):
        agent.model = "fsat"
    assert Agent(FakeModel("Hello."), model="fsat").chat_sync("Hi") == "Hello."  # an adapter is the one model there is
