"""An agent among the tools of another one."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llmcore import Agent, Budget, FakeModel, Orchestrator, RunContext, ToolRegistry, tool
from llmcore.types import LimitExceeded, RateLimited, ToolDefinitionError
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio


class Librarian(Agent):
    """Knows every book.

    Not told to models.
    """

    @tool
    def look_up(self, title: str, context: RunContext[Any]) -> str:
        """Look up a book."""
        self.asked = [*getattr(self, "asked", []), (title, context.deps)]
        return f"{title}: shelf 3"


def librarian(*answers: str, **options: Any) -> Librarian:
    fake = FakeModel().usage(input_tokens=100, cost=0.5)
    for answer in answers:
        fake = fake.tool_call("look_up", {"title": "Emma"}).text(answer)
    return Librarian(fake, **options)


def asking(*names: str, after: str = "Shelf 3.") -> FakeModel:
    fake = FakeModel().usage(input_tokens=10, cost=0.25)
    return fake.tool_calls(*((name, {"message": f"Where is Emma? {n}"}) for n, name in enumerate(names))).text(after)


async def test_it_is_a_tool_with_a_name_a_description_and_a_message() -> None:
    definition = librarian().as_tool().definition
    assert (definition.name, definition.description) == ("librarian", "Knows every book.")
    assert definition.parameters["required"] == ["message"]
    named = librarian(name="Desk 4", description="At the desk.")
    assert (named.as_tool().name, named.as_tool().definition.description) == ("desk_4", "At the desk.")
    assert named.as_tool(name="ask", description="Ask.", timeout=5.0).definition.description == "Ask."
    assert Agent(FakeModel()).as_tool().definition.description == "Ask the agent Agent."
    with pytest.raises(ToolDefinitionError):
        named.as_tool(timeout="long")  # type: ignore[arg-type]


@pytest.mark.parametrize("as_tool", [False, True])
async def test_its_answer_is_the_result_and_its_spending_the_asking_runs(as_tool: bool) -> None:
    desk = librarian("On shelf 3.")
    boss = Agent(asking("librarian"), tools=[desk.as_tool() if as_tool else desk], deps="ann")
    result = await boss.run("Where is Emma?")
    assert result.tool_results[0].content == "On shelf 3."
    assert (result.usage.input_tokens, result.usage.cost) == (220, 1.5)
    assert [run.parent_call for run in result.runs] == [result.tool_results[0].id]
    assert result.runs[0].messages[0].text == "Where is Emma? 0"
    assert vars(desk)["asked"] == [("Emma", "ann")]  # the asking run's deps, for want of its own
    assert desk.messages == []
    assert [one.name for one in Orchestrator(FakeModel(), [desk])._tools.snapshot()] == ["librarian"]  # pyright: ignore[reportPrivateUsage]
    assert ToolRegistry([desk]).list()[0].name == "librarian"


async def test_a_model_that_asks_nothing_is_reported() -> None:
    fake = FakeModel().tool_call("librarian", {"message": " "}).text("Well.")
    result = await Agent(fake, tools=[librarian("On shelf 3.")]).run("Where is Emma?")
    assert result.tool_results[0].content == "the message is empty: ask something"
    assert result.content == "Well."


async def test_each_call_begins_again_also_those_at_once() -> None:
    desk = Librarian(FakeModel(default=lambda request: f"{len(request.messages)}"))
    boss = Agent(asking("librarian", "librarian", "librarian"), tools=[desk])
    result = await boss.run("Go")
    assert [record.content for record in result.tool_results] == ["1", "1", "1"]
    assert len(result.runs) == 3


async def test_its_history_may_be_kept_then_calls_go_on_one_after_the_other() -> None:
    desk = Librarian(FakeModel(default=lambda request: f"{len(request.messages)}"))
    boss = Agent(asking("librarian", "librarian"), tools=[desk.as_tool(keep_history=True)])
    result = await boss.run("Go")
    assert [record.content for record in result.tool_results] == ["1", "3"]
    assert len(desk.messages) == 4


async def test_its_error_is_the_tools() -> None:
    desk = Librarian(FakeModel(RateLimited("slow", retry_after=0.0)), strategies=[])
    result = await Agent(asking("librarian", after="Nobody there."), tools=[desk]).run("Go")
    assert result.content == "Nobody there."
    error = result.tool_results[0].error
    assert error is not None
    assert "RateLimited: slow" in error.message
    assert len(result.runs[0].attempts) == 1


@pytest.mark.parametrize("budget", [Budget(requests=2), Budget(cost=0.7), Budget(tokens=60), Budget(tool_calls=1)], ids=str)
async def test_the_asking_runs_budget_ends_both(budget: Budget) -> None:
    boss = Agent(asking("librarian"), tools=[librarian("never")], budget=budget)
    with pytest.raises(LimitExceeded) as caught:
        await boss.chat("Go")
    assert len(caught.value.partial.runs) == 1
    assert_valid(boss.messages)
    assert len(boss.messages) == 3  # a tool was begun


async def test_its_own_budget_applies_too() -> None:
    result = await Agent(asking("librarian"), tools=[librarian("never", budget=Budget(requests=1))]).run("Go")
    assert "the budget of 1 requests is spent" in result.tool_results[0].content


async def test_a_cancellation_reaches_it() -> None:
    class Waiting(Agent):
        began = asyncio.Event()
        ended: tuple[str, ...] = ()

        @tool
        async def wait(self) -> None:
            """Wait."""
            self.began.set()
            try:
                await asyncio.sleep(60)
            finally:
                self.ended = ("cancelled",)

    waiting = Waiting(FakeModel().tool_call("wait", {}))
    task = asyncio.create_task(Agent(asking("waiting"), tools=[waiting]).chat("Go"))
    await waiting.began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waiting.ended == ("cancelled",)


async def test_agents_that_ask_each_other_without_end_are_stopped() -> None:
    def ask(name: str) -> Any:
        call = {"id": "c", "type": "function", "function": {"name": name, "arguments": '{"message": "You?"}'}}

        def asking_on(request: Any) -> dict[str, Any]:
            return {"content": None, "tool_calls": [call]}

        return asking_on

    one_model, two_model = FakeModel(default=ask("two")), FakeModel(default=ask("one"))
    others: list[Any] = []
    one = Agent(one_model, name="one", tools=lambda: others)
    two = Agent(two_model, name="two", tools=[one])
    others.append(two)
    with pytest.raises(LimitExceeded, match="do agents call each other"):
        await one.chat("Go")
    assert one_model.call_count + two_model.call_count == 11


async def test_pending_calls_within_are_the_asking_runs() -> None:
    elsewhere: dict[str, Any] = {"name": "elsewhere", "parameters": {"type": "object", "properties": {}}}
    desk = Agent(FakeModel().tool_call("elsewhere", {}), name="desk", tools=[elsewhere])
    result = await Agent(asking("desk"), tools=[desk]).run("Go")
    assert [call.name for call in result.calls_elsewhere] == ["elsewhere"]
    assert result.tool_results == []


async def test_a_typed_agent_gives_its_value() -> None:
    desk = Agent(FakeModel('{"shelf": 3}'), name="desk", output_type=dict[str, int])
    result = await Agent(asking("desk"), tools=[desk]).run("Go")
    assert result.tool_results[0].value == {"shelf": 3}


async def test_a_class_is_no_tool() -> None:
    with pytest.raises(ToolDefinitionError, match=r"Librarian"):
        await Agent(FakeModel("x"), tools=[Librarian]).chat("Hi")


@pytest.mark.parametrize(
    ("limits", "told"), [({}, "inner (look_up 3 times)"), ({"max_tool_turns": 2}, "inner (look_up 2 times)")]
)
async def test_what_was_done_below_a_failure_is_reported_at_each_level(limits: dict[str, Any], told: str) -> None:
    """To the model as well, which would have it done again."""
    fake = FakeModel()
    for _ in range(3):
        fake = fake.tool_call("look_up", {"title": "Emma"})
    fake = fake.error(ValueError("broken")).error(ValueError("broken"))
    inner = Librarian(fake, name="inner", **limits)
    failing = FakeModel().tool_call("inner", {"message": "Go."}).error(ValueError("broken")).error(ValueError("broken"))
    middle = Agent(failing, name="middle", tools=[inner])
    result = await Agent(FakeModel().tool_call("middle", {"message": "Go."}).text("Well."), tools=[middle]).run("Go.")
    assert result.tool_results[0].content.endswith(f"\nWhat it had run before: {told}.")
    below = result.runs[0]
    assert below.tool_results[0].content.endswith(f"\nWhat it had run before: {told[7:-1]}.")
    assert {record.content for record in below.runs[0].tool_results if record.ran} == {"Emma: shelf 3"}


async def test_what_was_done_below_a_call_that_is_cut_short_is_reported() -> None:
    waiting = asyncio.Event()

    async def hang() -> None:
        waiting.set()
        await asyncio.sleep(60)

    inner = Librarian(FakeModel().tool_call("look_up", {"title": "Emma"}).tool_call("hang"), name="inner", tools=[hang])
    middle = Agent(FakeModel().tool_call("inner", {"message": "Go."}), name="middle", tools=[inner])
    outer = Agent(FakeModel().tool_call("middle", {"message": "Go."}), tools=[middle])
    running = asyncio.create_task(outer.run("Go."))
    await waiting.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await running
    partial = vars(caught.value)["partial"]
    assert partial.tool_results[0].content.endswith("What it had run before: inner (look_up, hang).")


def test_calls_that_keep_a_history_wait_for_each_other_in_any_loop() -> None:
    desk = Agent(FakeModel(default=lambda request: f"to {request.messages[-1].text}").delay(0.02).delay(0.02), name="desk")
    tools = [desk.as_tool(keep_history=True), desk.as_tool(keep_history=True, name="same")]

    def ask(n: int) -> str:
        model = FakeModel().tool_calls(("desk", {"message": f"{n}a"}), ("same", {"message": f"{n}b"})).text("Done.")
        return "".join(record.content for record in asyncio.run(Orchestrator(model, tools).run("Go.")).tool_results)

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(ask, range(4), timeout=30))
    assert said == [f"to {n}ato {n}b" for n in range(4)]
    texts = [message.text for message in desk.messages]
    assert [f"to {text}" for text in texts[::2]] == texts[1::2]
    assert len(texts) == 16


async def test_a_conversation_that_is_asked_within_itself_does_not_wait_for_its_own_end() -> None:
    tools: list[Any] = []
    model = FakeModel().tool_call("desk", {"message": "Within?"}).text("No.").text("Still here.")
    desk = Agent(model, name="desk", tools=lambda: tools)
    tools.append(desk.as_tool(keep_history=True))
    boss = Agent(asking("desk").tool_call("desk", {"message": "Still there?"}).text("Good."), tools=tools)
    result = await asyncio.wait_for(boss.run("Go"), 10)
    assert [record.content for record in result.tool_results] == ["No."]
    assert "is asked within itself" in result.runs[0].tool_results[0].content
    again = await boss.run("Again")
    assert again.tool_results[0].content == "Still here."
