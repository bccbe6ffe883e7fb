"""`run`: the tool loop from the request to the final answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import RunContext, ToolRegistry, current_tool_call_id, tool
from llmcore.types import (
    ImageBlock,
    MaxToolTurns,
    Message,
    Request,
    TerminateLoop,
    TextBlock,
    ThinkingBlock,
    ToolError,
    Usage,
)
from tests.run.support import add, assert_valid, called, calls_in, get_weather

pytestmark = pytest.mark.anyio


async def test_an_answer_without_tools_is_one_request() -> None:
    fake = FakeModel("Hello!")
    result = await Orchestrator(fake, system="Be brief.").run("Hi")
    assert (result.content, result.degraded, result.pending) == ("Hello!", False, [])
    assert [message.role for message in result.messages] == ["user", "assistant"]
    assert [(attempt.reason, attempt.detail) for attempt in result.attempts] == [("first", "")]
    assert fake.last_request.system == "Be brief."


async def test_calls_are_run_and_their_results_fed_back() -> None:
    fake = FakeModel().tool_calls(("get_weather", {"city": "Paris"}), ("add", {"a": 1, "b": "2"})).text("Sunny, and 3.")
    result = await Orchestrator(fake, [get_weather, add]).run("Weather and sum?")
    assert result.content == "Sunny, and 3."
    assert calls_in(result.messages) == [("get_weather", {"city": "Paris"}), ("add", {"a": 1, "b": 2})]
    assert [block.text for block in result.messages[2].tool_results] == ["Paris: sunny for 1 days", "3"]
    assert [attempt.reason for attempt in result.attempts] == ["first", "turn"]
    assert_valid(result.messages)
    second = fake.requests[1]
    assert second.messages == result.messages[:3]
    assert [made.name for made in second.tools] == ["get_weather", "add"]


async def test_a_call_written_as_text_is_run_like_any_other() -> None:
    text = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
    fake = FakeModel(text, "Sunny.")
    orchestrator = Orchestrator(fake, [get_weather])
    result = await orchestrator.run("Weather?")
    assert result.content == "Sunny."
    assert result.messages[1].text.strip() == "Let me look."
    assert_valid(result.messages)
    assert orchestrator.capabilities.learnt(fake.endpoint) == {"emits_text_calls": True, "writes=hermes": True}


async def test_a_doubtful_call_is_asked_about_once() -> None:
    shown = 'For example:\n<tool_call>{"name": "note", "arguments": {"text": "a"}}</tool_call>'
    ran: list[str] = []

    @tool
    def note(text: str) -> str:
        ran.append(text)
        return "noted"

    fake = FakeModel(default=shown)
    result = await Orchestrator(fake, tools=[note]).run("Show me.")
    assert (result.content, ran, fake.call_count) == (shown, [], 2)
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask"]


async def test_ids_are_unique_over_the_turns_and_with_the_given_history() -> None:
    text = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 1}}</tool_call>'
    first = await Orchestrator(FakeModel(text, text, "done"), [add]).run("go")
    again = await Orchestrator(FakeModel(text, "done"), [add]).run("once more", message_history=first.messages)
    assert_valid(again.messages)
    assert len(calls_in(again.messages)) == 3
    assert again.messages[: len(first.messages)] == first.messages
    assert [message.role for message in again.new_messages] == ["assistant", "tool", "assistant"]


async def test_deps_usage_and_history_reach_the_tool() -> None:
    seen: list[Any] = []

    def look(context: RunContext[dict[str, str]], key: str) -> str:
        seen.append((context.tool_call_id == current_tool_call_id(), context.tool_name, len(context.messages)))
        seen.append(context.usage.total_tokens)
        return context.deps[key]

    fake = FakeModel().tool_call("look", {"key": "a"}).text("done").token_counter(lambda given: 10)
    result = await Orchestrator(fake, [look], deps={"a": "default"}).run("go", deps={"a": "from the call"})
    assert result.messages[2].tool_results[0].text == "from the call"
    assert seen[0] == (True, "look", 2)
    assert seen[1] >= 10
    assert result.usage.input_tokens == 20


async def test_a_failing_tool_reaches_the_model_by_default() -> None:
    def broken() -> None:
        raise ValueError("no such table")

    fake = FakeModel().tool_call("broken").text("I could not.")
    result = await Orchestrator(fake, [broken]).run("go")
    block = result.messages[2].tool_results[0]
    assert (block.text, block.is_error, result.content) == ("ValueError: no such table", True, "I could not.")


async def test_abort_ends_the_run_with_a_valid_history() -> None:
    def broken() -> None:
        raise ValueError("no such table")

    fake = FakeModel().tool_calls(("broken", {}), ("add", {"a": 1, "b": 2}))
    with pytest.raises(ToolError, match="no such table") as caught:
        await Orchestrator(fake, [broken, add]).run("go", tool_errors="abort")
    assert_valid(caught.value.partial.messages)
    assert fake.call_count == 1


async def test_the_loop_ends_after_max_tool_turns() -> None:
    fake = FakeModel().default_reply(called("add", {"a": 1, "b": 1}))
    with pytest.raises(MaxToolTurns, match="after 2 tool turns") as caught:
        await Orchestrator(fake, [add]).run("go", max_tool_turns=2)
    partial = caught.value.partial
    assert fake.call_count == 3  # two turns of tools, and the answer that was to follow
    assert_valid(partial.messages)
    assert [block.is_error for message in partial.messages for block in message.tool_results] == [False, False, True]
    assert len(caught.value.attempts) == 3
    assert [call.ran for call in partial.tool_results] == [True, True, False]  # the one that did not get its turn is told, too


async def test_a_model_that_says_it_is_not_done_gets_another_turn() -> None:
    unfinished = '{"toolCalls": [], "content": "First part.", "needsMoreWork": true}'
    fake = FakeModel(unfinished, "The rest.")
    result = await Orchestrator(fake, [add]).run("go")
    assert result.content == "The rest."
    assert [message.role for message in result.messages] == ["user", "assistant", "user", "assistant"]
    with pytest.raises(MaxToolTurns):
        await Orchestrator(FakeModel(default=unfinished), [add]).run("go", max_tool_turns=1)


async def test_terminate_loop_ends_cleanly_with_its_value() -> None:
    async def stop() -> None:
        raise TerminateLoop({"reason": "enough"})

    async def slow() -> None:
        await asyncio.sleep(60)

    fake = FakeModel().tool_calls(("slow", {}), ("stop", {}))
    result = await Orchestrator(fake, [stop, slow]).run("go")
    assert (result.content, result.output) == ('{"reason":"enough"}', {"reason": "enough"})
    assert_valid(result.messages)
    assert fake.call_count == 1


async def test_tools_without_a_function_come_back_as_pending() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": 2}), ("remote", {}))
    result = await Orchestrator(fake, [add, {"name": "remote", "parameters": {"type": "object"}}]).run("go")
    assert [call.name for call in result.pending] == ["remote"]
    assert_valid(result.messages, pending=[call.id for call in result.pending])


async def test_images_from_tools_go_into_the_history() -> None:
    image = ImageBlock(data="aGk=", media_type="image/png")
    fake = FakeModel().tool_call("draw").text("Drawn.")

    def draw() -> Any:
        return "here", image

    result = await Orchestrator(fake, [draw]).run("go")
    assert result.messages[2].tool_results[0].content == [TextBlock(text="here"), image]


async def test_thinking_is_kept_in_its_place() -> None:
    body = {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Adding."},
            {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": "1", "b": 2}},
        ],
        "stop_reason": "tool_use",
    }
    result = await Orchestrator(FakeModel(body, "3"), [add]).run("go")
    blocks = result.messages[1].content
    assert blocks[0] == ThinkingBlock(thinking="hm", signature="sig")
    assert [block.type for block in blocks] == ["thinking", "text", "tool_use"]
    assert result.messages[1].tool_uses[0].input == {"a": 1, "b": 2}  # as it ran


async def test_options_override_the_request_and_the_request_the_orchestrator() -> None:
    fake = FakeModel(default="ok")
    orchestrator = Orchestrator(fake, system="default")
    request = Request(messages=[Message(role="user", content=[TextBlock(text="x")])], temperature=0.1, top_p=0.5)
    await orchestrator.run(request, temperature=0.9, system="call")
    sent = fake.last_request
    assert sent is not None
    assert (sent.temperature, sent.top_p, sent.system) == (0.9, 0.5, "call")


async def test_requests_may_be_text_messages_or_dicts() -> None:
    fake = FakeModel(default="ok")
    for given in ("x", Message(role="user", content=[TextBlock(text="x")]), [{"role": "user", "content": "x"}]):
        await Orchestrator(fake).run(given)
    assert [request.messages[0].text for request in fake.requests] == ["x", "x", "x"]


async def test_recorded_requests_do_not_change_afterwards() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 1}).text("2")
    await Orchestrator(fake, [add]).run("go")
    assert [len(request.messages) for request in fake.requests] == [1, 3]


async def test_a_registry_and_the_requests_own_tools_are_merged() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": 1}), ("get_weather", {"city": "x"})).text("ok")
    registry = ToolRegistry([add])
    result = await Orchestrator(fake, registry).run("go", tools=[get_weather, add])
    assert [block.is_error for block in result.messages[2].tool_results] == [False, False]


async def test_a_forced_choice_holds_until_tools_have_run() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 1}).text("2")
    await Orchestrator(fake, [add, get_weather]).run("go", tool_choice={"name": "add"})
    assert [request.tool_choice for request in fake.requests] == [{"name": "add"}, "auto"]


async def test_with_choice_none_no_call_is_run() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 1}, text="I would add.")
    result = await Orchestrator(fake, [add]).run("go", tool_choice="none")
    assert result.content == "I would add."
    assert result.envelope.repairs[-1].kind == "call_not_allowed"
    text = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 1}}</tool_call>'
    result = await Orchestrator(FakeModel(text, default="I may not."), [add]).run("go", tool_choice="none")
    assert (result.content, len(result.attempts)) == ("I may not.", 2)


async def test_usage_adds_up() -> None:
    body = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}
    fake = FakeModel().tool_call("add", {"a": 1, "b": 1}).reply(body)
    result = await Orchestrator(fake, [add]).run("go")
    assert result.usage == Usage(input_tokens=5, output_tokens=6)


async def test_runs_of_one_orchestrator_do_not_meet() -> None:
    @tool
    async def echo(word: str) -> str:
        await asyncio.sleep(0.001)
        return word

    def answer(request: Request) -> Any:
        last = request.messages[-1]
        if last.tool_results:
            return f"got {last.tool_results[0].text}"
        return called("echo", {"word": last.text})

    orchestrator = Orchestrator(FakeModel(default=answer), [echo])
    results = await asyncio.gather(*(orchestrator.run(f"w{n}") for n in range(20)))
    assert [result.content for result in results] == [f"got w{n}" for n in range(20)]
