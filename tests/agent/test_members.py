"""The members of an agent's class: tools, hooks and options, and errors for members without effect."""

from __future__ import annotations

import copy
import functools
from typing import Any, cast

import pytest

from llmcore import Agent, FakeModel, Hooks, Orchestrator, Request, RunResult, ToolCall, Veto, hook, tool
from llmcore.types import CallerError, ConfigError, Envelope, Message, ToolDefinitionError

pytestmark = pytest.mark.anyio


class Base(Agent):
    """A base."""

    @tool
    def first(self) -> str:
        """The first."""
        return "base"

    @tool(name="other_name")
    async def second(self, n: int = 1) -> str:
        """The second."""
        return "base"

    @staticmethod
    @tool
    def apart(n: int) -> int:
        """Without the object."""
        return n

    @property
    def sharp(self) -> str:
        raise AssertionError


class Heir(Base):
    @tool
    async def third(self) -> str:
        """The third."""
        return "heir"

    @tool
    def first(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]  # a tool knows its class
        """The first, anew."""
        return f"heir of {super().first()}"


def names(agent: Agent) -> list[str]:
    return [one.name for one in agent.list_tools()]


async def test_methods_under_tool_are_tools_inherited_ones_too() -> None:
    assert names(Base(FakeModel())) == ["first", "other_name", "apart"]
    heir = Heir(FakeModel().tool_call("first", {}).text("x"))
    assert names(heir) == ["first", "other_name", "apart", "third"]
    assert (await heir.run("Go")).tool_results[0].content == "heir of base"


async def test_a_tool_may_be_left_out_and_must_stay_a_tool() -> None:
    class Less(Base):
        second = None  # type: ignore[assignment]

    assert names(Less(FakeModel())) == ["first", "apart"]
    with pytest.raises(
        ToolDefinitionError, match=r"Silent.first takes the place of a tool and is none itself; put @tool above it"
    ):

        class Silent(Base):  # pyright: ignore[reportUnusedClass]  # it cannot be made
            def first(self) -> str:  # type: ignore[override]
                return "not a tool"


def test_a_tool_does_not_take_the_place_of_the_agents_own_methods() -> None:
    with pytest.raises(ToolDefinitionError, match=r"Taking.run takes the place of the agent's own method; .*@tool\(name='run'\)"):

        class Taking(Agent):  # pyright: ignore[reportUnusedClass]  # it cannot be made
            @tool
            def run(self, code: str) -> str:  # type: ignore[override]
                """Run code."""
                return code


def nothing(*_: Any) -> Any:
    """Stands where a method may."""


def needy(self: Any, one: Any, two: Any) -> Any:
    """Takes more than it is given."""


def bare(self: Any) -> Any:
    """Takes less than it is given."""


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"max_tool_turn": 3}, "max_tool_turn is no option; did you mean 'max_tool_turns'"),
    ({"output_typ": int}, "output_typ is no option; did you mean 'output_type'"),
    ({"system_prompt": "x"}, "it is `system`"),
    ({"max_tool_iterations": 3}, "it is `max_tool_turns`"),
    ({"budget": 3}, "`budget` must be an llmcore.Budget"),
    ({"before_tool": nothing}, "did you mean 'before_tool_run'"),
    ({"on_responses": nothing}, "did you mean 'on_response'"),
    ({"system_messages": nothing, "_system_messages": nothing}, "which are the same: keep one"),
]


@pytest.mark.parametrize(("members", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_would_have_no_effect_is_reported_when_the_class_is_made(members: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        type("Made", (Agent,), members)


def test_what_is_the_classes_own_is_left_alone() -> None:
    type(
        "Made",
        (Agent,),
        {"registry": None, "on_message": nothing, "_max_tool_turn": 1, "spent": property(nothing)},
    )
    members: dict[str, Any] = {"stop": tool(bare, name="stop"), "names": ["a"]}
    type("Other", (Agent,), members)


_UNHEARD: list[tuple[str, Any, str]] = [
    ("checkpoint", lambda state: None, "first parameter be `self`, or write `checkpoint = staticmethod"),  # pyright: ignore[reportUnknownLambdaType]
    ("log", bare, "log"),
    ("tools", lambda context: [], "first parameter be `self`"),  # pyright: ignore[reportUnknownLambdaType]
    ("token_counter", bare, r"staticmethod\(function\)"),
    ("system", bare, "def system_messages"),
    ("budget", property(nothing), "no property"),
    ("system", classmethod(nothing), "no classmethod"),
    ("messages", bare, "no method"),
    ("finalise_response", bare, "did you mean 'finalize_response'"),
    ("finalize_reponse", bare, "did you mean 'finalize_response'"),
    ("_finalise_response", bare, "did you mean '_finalize_response'"),
    ("system_message", bare, "did you mean 'system_messages'"),
    ("gone", property(tool(bare, name="gone")), "@property hides the tool"),
    ("gone", classmethod(cast("Any", tool(bare, name="gone"))), "@classmethod hides the tool"),
    ("gone", functools.cached_property(tool(bare, name="gone")), "@cached_property hides the tool"),
]


@pytest.mark.parametrize(("name", "value", "words"), _UNHEARD)
def test_what_would_have_no_effect_is_an_error_that_names_the_fix(name: str, value: Any, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        type("Made", (Agent,), {name: value})


def test_options_that_are_functions_are_heard_as_methods_of_their_own_object() -> None:
    class Told(Agent):
        def __init__(self, model: FakeModel, **options: Any) -> None:
            super().__init__(model, **options)
            self.heard: list[str] = []

        def checkpoint(self, state: RunResult) -> None:
            self.heard.append("checkpoint")

        def log(self, line: str) -> None:
            self.heard.append("log")

        async def socket_emit(self, event: dict[str, Any]) -> None:
            self.heard.append("socket_emit")

        def tools(self) -> list[Any]:
            self.heard.append("tools")
            return [plain]

        def interjections(self) -> list[str]:
            self.heard.append("interjections")
            return []

        def output_validators(self, value: str) -> None:
            self.heard.append("output_validators")

    def plain() -> str:
        """Plain."""
        return "p"

    every = {"checkpoint", "log", "socket_emit", "tools", "interjections", "output_validators"}
    agent = Told(FakeModel().tool_call("plain", {}).text("ok").text("ok"))
    agent.chat_sync("x")
    assert set(agent.heard) == every
    other = copy.copy(agent)
    agent.heard, other.heard = [], []
    other.chat_sync("y")
    assert set(other.heard) == every
    assert agent.heard == []
    saved: list[Any] = []
    given = Told(FakeModel("ok"), checkpoint=saved.append)  # the object's wins
    given.chat_sync("x")
    assert saved
    assert "checkpoint" not in given.heard


def test_a_decorator_above_a_tool_leaves_it_a_tool() -> None:
    before: list[str] = []

    def noted(function: Any) -> Any:
        @functools.wraps(function)
        def noting(*given: Any, **named: Any) -> Any:
            before.append("noted")
            return function(*given, **named)

        return noting

    class Wrapped(Agent):
        who = "me"

        @noted
        @noted
        @tool(name="say_it", read_only=True)
        def say(self, times: int) -> str:
            """Say it."""
            return self.who * times

    agent = Wrapped(FakeModel().tool_call("say_it", {"times": 2}).text("ok"))
    (only,) = agent.list_tools()
    assert (only.name, only.definition.read_only, only.definition.description) == ("say_it", True, "Say it.")
    assert only.definition.parameters["properties"].keys() == {"times"}
    assert agent.run_sync("x").tool_results[0].value == "meme"
    assert before == ["noted", "noted"]


def test_messages_of_a_class_are_each_objects_own() -> None:
    said = ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."})

    def last(agent: Any) -> str:
        return str(agent.messages[-1].text)

    asked: dict[str, Any] = {"messages": said, "system_messages": last}
    begun: Any = type("Begun", (Agent,), asked)
    heir: Any = type("Heir", (begun,), {})

    fake = FakeModel("a", "b")
    one, other = begun(fake), heir(fake)
    one.chat_sync("Now")
    assert fake.requests[0].system == "Now"
    assert [message.text for message in one.messages] == ["Hi", "Hello.", "Now", "a"]
    assert [message.text for message in other.messages] == ["Hi", "Hello."]
    one.reset()
    assert one.messages == []
    assert begun(fake, messages=()).messages == []


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("before_request", bare),
        ("system_messages", needy),
        ("finalize_response", bare),
    ],
)
def test_a_method_that_cannot_be_called_so_is_reported_when_the_agent_is_made(name: str, method: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        type("Made", (Agent,), {name: method})(FakeModel())


def calling() -> FakeModel:
    return FakeModel().tool_call("first", {}).text("ok")


async def test_hooks_are_methods_by_name_or_marked_in_order_and_before_those_given() -> None:
    seen: list[str] = []

    class Watched(Base):
        async def before_tool_run(self, call: ToolCall, context: Any) -> None:
            seen.append("named")

        @hook.before_tool_run
        def later(self, call: ToolCall, context: Any) -> None:
            seen.append("marked")

        @hook.on_response
        @hook.before_request
        def both(self, value: Request | Envelope) -> None:
            seen.append(type(value).__name__)

    class Heir(Watched):
        @hook.before_tool_run
        async def last(self, call: ToolCall, context: Any) -> Veto:
            seen.append("heir")
            return Veto("no")

    given = Hooks(before_tool_run=lambda call, context: seen.append("given"))
    result = await Watched(calling(), hooks=given).run("Go")
    assert result.tool_results[0].content == "base"
    assert seen == ["Request", "Envelope", "named", "marked", "given", "Request", "Envelope"]
    seen.clear()
    result = await Heir(calling(), hooks=[given]).run("Go")
    assert result.tool_results[0].content == "no"
    assert seen == ["Request", "Envelope", "named", "marked", "heir", "Request", "Envelope"]


async def test_a_streamed_chat_has_its_hook_too() -> None:
    seen: list[str] = []

    class Watched(Agent):
        @hook.on_streaming_response
        def look(self, so_far: Any) -> None:
            seen.append(so_far.content)

    async for _ in Watched(FakeModel("abc", chunk_size=1)).stream("Go"):
        pass
    assert seen[-1] == "abc"


async def test_a_marked_function_is_a_hook_wherever_hooks_are_given() -> None:
    @hook.on_tool_response
    def hide(message: Message) -> Message:
        return Message.model_validate_json(message.model_dump_json().replace("base", "hidden"))

    class Elsewhere:
        @hook.before_request
        def cool(self, request: Request) -> Request:
            return request.model_copy(update={"temperature": 0.0})

    fake = calling()
    base = Base(FakeModel())
    result = await Orchestrator(fake, base.list_tools(), hooks=[hide, Elsewhere().cool]).run("Go")
    assert result.messages[2].tool_results[0].text == "hidden"
    assert [request.temperature for request in fake.requests] == [0.0, 0.0]
    assert (await Base(calling(), hooks=hide).run("Go")).messages[2].tool_results[0].text == "hidden"


async def test_hooks_classes_may_mark_methods_too() -> None:
    seen: list[str] = []

    class Marked(Hooks):
        @hook.before_tool_run
        def one(self, call: ToolCall, context: Any) -> None:
            seen.append("one")

        @staticmethod
        @hook.before_tool_run
        def two(call: ToolCall, context: Any) -> None:
            seen.append("two")

    class Less(Marked):
        one = None  # type: ignore[assignment]

    await Orchestrator(calling(), Base(FakeModel()).list_tools(), hooks=Marked()).run("Go")
    await Orchestrator(calling(), Base(FakeModel()).list_tools(), hooks=Less()).run("Go")
    assert seen == ["one", "two", "two"]
    with pytest.raises(
        ConfigError, match=r"Silent.one takes the place of a hook and is none itself; put @hook.before_tool_run above it"
    ):

        class Silent(Marked):  # pyright: ignore[reportUnusedClass]  # it cannot be made
            def one(self, call: ToolCall, context: Any) -> None:
                """Not marked."""


def test_marks_that_cannot_be_are_reported_where_they_stand() -> None:
    marks: Any = hook
    with pytest.raises(ConfigError, match="there is no hook 'before_tool'; did you mean 'before_tool_run'"):
        marks.before_tool  # noqa: B018  # asked for
    assert not hasattr(marks, "before_tool")
    with pytest.raises(ConfigError, match="before_request is called as before_request"):

        @hook.before_request
        def wrong() -> None: ...

    with pytest.raises(ConfigError, match="must be a function"):
        hook.before_request(3)  # type: ignore[type-var]
    with pytest.raises(ConfigError, match="let it stand below other decorators"):
        hook.before_request(functools.partial(bare))
    with pytest.raises(ConfigError, match="a tool is no hook: write two functions"):
        hook.before_request(tool(bare, name="x"))
    with pytest.raises(ConfigError, match="mark the function"):
        Orchestrator(FakeModel(), hooks=[nothing])


def test_a_hook_that_is_a_tool_is_reported_where_it_stands() -> None:
    with pytest.raises(ToolDefinitionError, match=r"marked as a hook \(@hook\.before_tool_run\)"):

        class _Both(Agent):  # pyright: ignore[reportUnusedClass]
            @tool
            @hook.before_tool_run
            def guard(self, call: Any, context: Any) -> None: ...


@pytest.mark.parametrize("above", [property, functools.cached_property, functools.partialmethod, functools.lru_cache])
@pytest.mark.parametrize("base", [Agent, Hooks])
def test_a_hook_that_something_hides_is_reported_when_the_class_is_made(above: Any, base: type) -> None:
    def guard(self: Any, call: Any, context: Any) -> None: ...

    with pytest.raises(ConfigError, match=r"Hidden\.guard: \w+ hides the hook below it"):
        type("Hidden", (base,), {"guard": above(hook.before_tool_run(guard))})


async def test_an_agent_is_not_hooks() -> None:
    with pytest.raises(ConfigError, match=r"hooks must be llmcore\.Hooks"):
        Orchestrator(FakeModel(), hooks=cast("Any", Base(FakeModel())))


def test_tools_that_could_never_run_are_reported_when_the_class_is_made() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'look' is a method without `self`"):

        class _Without(Agent):  # pyright: ignore[reportUnusedClass]
            @tool
            def look() -> str:  # pyright: ignore[reportSelfClsParameterName]
                return ""

    with pytest.raises(ToolDefinitionError, match=r"_Twice\.one and _Twice\.two are tools of one name, 'look'"):

        class _Twice(Agent):  # pyright: ignore[reportUnusedClass]
            @tool(name="look")
            def one(self) -> str:
                return ""

            @staticmethod
            @tool(name="look")
            def two() -> str:
                return ""

    with pytest.raises(ToolDefinitionError, match=r"are tools of one name, 'first'"):

        class _Inherited(Base):  # pyright: ignore[reportUnusedClass]
            @tool(name="first")
            def another(self) -> str:
                return ""

    class Alias(Base):
        again = Base.second

    assert names(Alias(FakeModel())) == ["first", "other_name", "apart"]


def test_a_decorator_above_a_tool_may_give_its_name() -> None:
    told: list[str] = []

    def logged(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            told.append(function.__name__)
            return function(*args, **kwargs)

        return call

    class Logged(Agent):
        @logged
        @tool(name="other")
        def look(self) -> str:
            return "seen"

    result = Logged(FakeModel().tool_call("other").text("ok")).run_sync("Hi")
    assert (result.tool_results[0].content, told) == ("seen", ["look"])


def lent_by(desk: Any) -> Any:
    return desk.lent


class Desk(Agent):
    """Lends books."""

    lent: list[str]

    @tool(params={"title": {"type": "string", "enum": lent_by}}, required=["title"])
    def give_back(self, title: str) -> str:
        """Take back."""
        self.lent.remove(title)
        return "back"

    @tool(
        params={
            "titles": {"type": "array", "items": {"type": "string", "enum": lent_by}},
            "n": {"type": "integer"},
        },
        required=["n"],
    )
    def count(self, n: int, titles: list[str] | None = None) -> str:
        """Count."""
        return f"{n} {titles}"


def test_a_tool_that_has_nothing_to_choose_from_is_left_out_meanwhile() -> None:
    fake = FakeModel().tool_call("give_back", {"title": "Emma"}).tool_call("count", {"n": 1}).text("ok").text("again")
    desk = Desk(fake)
    desk.lent = ["Emma"]
    result = desk.run_sync("Here is Emma.")
    assert [record.content for record in result.tool_results] == ["back", "1 None"]
    told = [{one.name: sorted(one.parameters["properties"]) for one in request.tools} for request in fake.requests]
    assert told == [{"give_back": ["title"], "count": ["n", "titles"]}, {"count": ["n"]}, {"count": ["n"]}]
    desk.lent.append("Persuasion")
    desk.run_sync("And now?")
    assert [one.name for one in fake.requests[-1].tools] == ["give_back", "count"]
    assert fake.requests[-1].tools[0].parameters["properties"]["title"]["enum"] == ["Persuasion"]
