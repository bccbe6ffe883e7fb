"""What a chat leaves in the conversation, however it ends; one chat at a time; chats with their own history."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from llmcore import Agent, FakeModel, Finished, Message, Request, RunResult, TextDelta, tool
from llmcore.types import CallerError, RateLimited
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio


class Worker(Agent):
    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.done: list[str] = []
        self.began = asyncio.Event()

    @tool
    async def work(self, what: str) -> str:
        """Work."""
        self.done = [*self.done, what]
        self.began.set()
        if what == "long":
            await asyncio.sleep(60)
        return "done"


async def test_a_chat_that_fails_before_a_tool_was_begun_leaves_no_trace() -> None:
    agent = Worker(FakeModel("first", RateLimited("no", retry_after=0.0), "second"), strategies=[])
    await agent.chat("One")
    with pytest.raises(RateLimited):
        await agent.chat("Two")
    assert [message.text for message in agent.messages] == ["One", "first"]
    assert await agent.chat("Two") == "second"


async def test_a_chat_that_fails_after_a_tool_was_begun_leaves_what_was_done() -> None:
    fake = FakeModel().tool_call("work", {"what": "it"}).error(RateLimited("no", retry_after=0.0)).text("It was done.")
    agent = Worker(fake, strategies=[])
    with pytest.raises(RateLimited) as caught:
        await agent.chat("Work")
    assert [message.role for message in agent.messages] == ["user", "assistant", "tool"]
    assert agent.messages == caught.value.partial.messages
    assert await agent.chat("Was it done?") == "It was done."
    assert agent.done == ["it"]
    assert_valid(agent.messages)


async def test_a_cancelled_chat_leaves_a_valid_history() -> None:
    agent = Worker(FakeModel().tool_call("work", {"what": "long"}).text("Again.").text("x"))
    task = asyncio.create_task(agent.chat("Work"))
    await agent.began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert_valid(agent.messages)
    assert "stopped" in agent.messages[-1].tool_results[0].text
    assert await agent.chat("Well?") == "Again."


async def test_a_stream_that_is_left_early_frees_the_agent() -> None:
    agent = Worker(FakeModel("one two three", "next", chunk_size=3))
    events = agent.stream("Count")
    async for event in events:
        if isinstance(event, TextDelta):
            break
    with pytest.raises(CallerError, match="is in a chat already"):
        await agent.chat("Meanwhile")
    with pytest.raises(CallerError, match="is in a chat"):
        agent.reset()
    await events.aclose()
    assert agent.messages == []
    assert await agent.chat("Count") == "next"


async def test_a_stream_that_is_closed_at_its_last_event_has_happened() -> None:
    agent = Worker(FakeModel("one"))
    events = agent.stream("Count")
    async for event in events:
        if isinstance(event, Finished):
            break
    await events.aclose()
    assert [message.text for message in agent.messages] == ["Count", "one"]


async def test_two_chats_at_once_are_an_error_and_the_first_goes_on() -> None:
    agent = Worker(FakeModel().delay(0.05).text("a"))
    first = asyncio.create_task(agent.chat("One"))
    await asyncio.sleep(0)
    with pytest.raises(CallerError, match="two in one conversation would mix"):
        await agent.chat("Two")
    assert await first == "a"
    assert [message.text for message in agent.messages] == ["One", "a"]


async def test_chats_with_histories_of_their_own_go_on_at_once_and_share_all_else() -> None:
    def answer(request: Any) -> Any:
        last = request.messages[-1]
        if last.role == "tool":
            return f"did {request.messages[0].text}"
        call = {"id": "c", "type": "function", "function": {"name": "work", "arguments": f'{{"what": "{last.text}"}}'}}
        return {"content": None, "tool_calls": [call]}

    agent = Worker(FakeModel(default=answer))
    answers = await asyncio.gather(*(agent.chat(f"job {n}", message_history=()) for n in range(5)))
    assert answers == [f"did job {n}" for n in range(5)]
    assert sorted(agent.done) == [f"job {n}" for n in range(5)]
    assert agent.messages == []
    result = await agent.run(
        "more", message_history=[{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}]
    )
    assert [message.role for message in result.messages] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    again = await agent.run("and more", message_history=result)
    assert again.messages[:6] == result.messages


async def test_the_system_prompt_sees_the_history_of_its_own_chat() -> None:
    class Echo(Agent):
        async def system_messages(self) -> str:
            await asyncio.sleep(0)
            return self.messages[-1].text

    fake = FakeModel(default=lambda request: f"{request.system}={request.messages[-1].text}")
    agent = Echo(fake)
    answers = await asyncio.gather(*(agent.chat(str(n), message_history=()) for n in range(4)))
    assert answers == [f"{n}={n}" for n in range(4)]


async def test_a_history_is_given_changed_saved_and_loaded() -> None:
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    agent = Worker(FakeModel().tool_call("work", {"what": "x"}).text("Done."), messages=said)
    assert agent.messages[0]["content"] == "Hello"
    await agent.chat("Work")
    saved = agent.dump_messages()
    fake = FakeModel("Yes.", "a", "b")
    other = Worker(fake)
    other.load_messages(saved)
    assert other.messages == agent.messages
    assert RunResult.model_validate_json(saved).messages == agent.messages
    assert await other.chat("Is it done?") == "Yes."
    assert len(fake.requests[0].messages) == 7
    other.reset()
    other.messages.append({"role": "user", "content": "By hand."})  # type: ignore[arg-type]  # as a program without types would
    assert await other.chat("So?") == "a"
    assert [message.text for message in other.messages] == ["By hand.", "So?", "a"]
    other.messages = agent.messages
    assert other.messages == agent.messages
    assert other.messages is not agent.messages
    result = await Worker(FakeModel("r")).run("Start")
    assert Worker(FakeModel(), messages=result).messages == result.messages
    other.load_messages(result.model_dump_json())
    assert other.messages == result.messages
    for wrong in ("no json", '{"version": 9, "messages": []}', "[]"):
        with pytest.raises(CallerError):
            other.load_messages(wrong)


async def test_what_a_chat_gave_shares_nothing_with_the_history() -> None:
    agent = Worker(FakeModel("a", "b"))
    result = await agent.run("One")
    result.messages.clear()
    assert len(agent.messages) == 2
    given = [Message(role="user", content="x")]
    other = Worker(FakeModel("c"), messages=given)
    given.clear()
    assert len(other.messages) == 1


@pytest.mark.parametrize(
    "message", [None, 3, [], b"x", {"role": "user", "content": "x"}, Request(messages="x"), RunResult()], ids=str
)
async def test_what_is_no_message_is_reported_and_enters_nothing(message: Any) -> None:
    agent = Worker(FakeModel("ok"))
    with pytest.raises(CallerError):
        await agent.chat(message)
    assert agent.messages == []


def test_a_message_reads_like_a_dict() -> None:
    message = Message(role="user", content="x")
    assert (message["role"], message["content"]) == ("user", "x")
    called = Message.model_validate({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]})
    assert called["content"][0]["name"] == "f"
    with pytest.raises(KeyError):
        message["name"]


async def test_a_copy_has_a_conversation_of_its_own() -> None:
    agent = Worker(FakeModel("a", "b", "c", "d"))
    await agent.chat("One")
    shallow, deep = copy.copy(agent), copy.deepcopy(Worker(FakeModel("x"), messages=agent.messages))
    await shallow.chat("Two")
    assert [len(one.messages) for one in (agent, shallow, deep)] == [2, 4, 2]
    assert shallow.done is agent.done
    assert await deep.chat("Three") == "x"
    assert shallow.list_tools()[0].instance is shallow


async def test_a_stream_holds_what_its_events_add_up_to() -> None:
    agent = Worker(FakeModel("one two", "three four", "five", chunk_size=3))
    async with agent.stream("Count") as stream:
        async for _ in stream:
            pass
    assert (stream.text, stream.result.content, len(agent.messages)) == ("one two", "one two", 2)
    async with agent.stream("Count on") as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                break
    assert [message.text for message in stream.result.messages] == ["Count", "one two", "Count on"]
    assert len(agent.messages) == 2
    with pytest.raises(CallerError, match="unknown option"):
        agent.stream("Hi", temprature=1)  # type: ignore[call-overload]  # at once
    async with agent.stream("Never begun"):
        pass
    assert await agent.chat("Count") == "five"


def test_a_sync_stream_may_be_left() -> None:
    fake = FakeModel(default="three").delay(60.0)
    agent = Worker(fake)
    with agent.stream_sync("Count") as stream:
        assert next(stream)
    assert agent.messages == []
    fake.delay(0.0)
    assert agent.chat_sync("Count") == "three"


def test_messages_read_like_dicts() -> None:
    agent = Agent(FakeModel("Hello."))
    agent.chat_sync("Hi")
    last = agent.messages[-1]
    assert (last["role"], last.get("content"), last.get("name"), last.get("name", "?")) == ("assistant", "Hello.", None, "?")
    assert "role" in last
    assert "name" not in last
    assert [*last.keys()] == ["role", "content"]
    assert [{**one} for one in agent.messages] == [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    with pytest.raises(KeyError):
        last["name"]


ADDED = Message(role="user", content="x")
CHANGES: dict[str, tuple[Any, ...]] = {
    "append": (ADDED,),
    "extend": ([ADDED],),
    "insert": (0, ADDED),
    "__setitem__": (0, ADDED),
    "__delitem__": (slice(None),),
    "__iadd__": ([ADDED],),
    "pop": (),
    "clear": (),
}


@pytest.mark.parametrize("way", CHANGES)
async def test_messages_do_not_change_while_a_chat_goes_on(way: str) -> None:
    agent: Agent

    @tool
    def change() -> str:
        """Change."""
        with pytest.raises(CallerError, match="in a chat: its messages change when that has ended"):
            getattr(agent.messages, way)(*CHANGES[way])
        return f"{len(agent.messages)}, {copy.deepcopy(agent.messages)[0].text}"

    agent = Agent(FakeModel().tool_call("change").text("ok"), tools=[change])
    result = await agent.run("Hi")
    assert result.tool_results[0].content == "1, Hi"
    assert [message.role for message in agent.messages] == ["user", "assistant", "tool", "assistant"]
    getattr(agent.messages, way)(*CHANGES[way])
    agent.reset()
    assert agent.messages == []
