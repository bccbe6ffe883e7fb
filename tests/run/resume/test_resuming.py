"""A run resumes from a result, also from its JSON, and its history can be exported in OpenAI's form."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from llmcore import Answer, Approve, Interjections, ToolUseBlock, tool
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.testing import FakeModel
from llmcore.types import CallerError, LLMCoreError, Message, Overloaded, TextBlock, ToolDefinition, ToolResultBlock
from tests.run.support import add, assert_valid

pytestmark = pytest.mark.anyio

ASK = ToolDefinition(name="ask", description="", parameters={"type": "object"})


async def first() -> RunResult:
    return await Orchestrator(FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3"), [add]).run("go")


@pytest.mark.parametrize("saved", [False, True])
async def test_a_result_is_the_history_of_the_next_run(saved: bool) -> None:
    result = await first()
    again = RunResult.model_validate_json(result.model_dump_json()) if saved else result
    fake = FakeModel("more")
    more = await Orchestrator(fake, [add]).run("and now?", message_history=again)
    assert [message.role for message in fake.requests[0].messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert fake.requests[0].messages[:-1] == result.messages
    assert [message.text for message in more.new_messages] == ["more"]
    assert_valid(more.messages)


async def test_a_run_that_waits_for_its_caller_goes_on_from_its_json() -> None:
    result = await Orchestrator(FakeModel().tool_call("ask"), [ASK]).run("go")
    read = RunResult.model_validate_json(result.model_dump_json())
    answer = ToolResultBlock(tool_use_id=read.pending[0].id, name="ask", content=[TextBlock(text="yes")])
    fake = FakeModel("done")
    done = await Orchestrator(fake, [ASK]).run([Message(role="tool", content=[answer])], message_history=read)
    assert done.content == "done"
    assert_valid(done.messages)


async def test_a_result_that_the_model_has_not_answered_is_a_request() -> None:
    fake = FakeModel("more")
    result = await first()
    unanswered = result.model_copy(update={"messages": result.messages[:-1]})
    assert (await Orchestrator(fake, [add]).run(unanswered)).content == "more"
    assert fake.requests[0].messages == unanswered.messages


@pytest.mark.parametrize("as_history", [False, True])
@pytest.mark.parametrize("stored", [False, True])
async def test_a_run_that_is_over_needs_something_new(as_history: bool, stored: bool) -> None:
    fake = FakeModel("more", "and more")
    result = await first()
    given = RunResult[Any].model_validate_json(result.model_dump_json()) if stored else result
    orchestrator = Orchestrator(fake, [add])
    words = re.escape("the messages end with the model's answer, and no call of it waits; say what comes next")
    with pytest.raises(CallerError, match=words):
        await (orchestrator.run(message_history=given) if as_history else orchestrator.run(given))
    with pytest.raises(CallerError, match=words):
        await orchestrator.run([], message_history=given.messages, answers={})
    assert fake.call_count == 0
    box = Interjections()
    box.add("And then?")
    assert (await orchestrator.run(given, interjections=box)).content == "more"
    assert (await orchestrator.run([*given.messages])).content == "and more"  # the caller's own list: he may want it so


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"version": 2}, "`version` 2 is not known: this llmcore reads saved results of version 1; upgrade llmcore"),
        ({"verzion": 1, "foo": 2}, "no field 'verzion'; did you mean 'version'"),
        ({"version": 1, "toolResults": []}, "did you mean 'tool_results'"),
    ],
)
def test_what_is_no_saved_result_is_an_error_of_the_caller(data: Any, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        RunResult.model_validate(data)
    with pytest.raises(CallerError, match=words):
        RunResult.model_validate_json(json.dumps(data))


@pytest.mark.parametrize("history", ["words", {"messages": []}])
async def test_a_history_is_a_result_or_a_list(history: Any) -> None:
    with pytest.raises(CallerError, match="`message_history` must be a list of messages, or a RunResult"):
        await Orchestrator(FakeModel("ok")).run("go", message_history=history)


@pytest.mark.parametrize("call_id", ["call_fake_0", "ghost"])
async def test_a_result_that_is_given_behind_a_history_answers_a_call_of_it(call_id: str) -> None:
    answer = Message(role="tool", content=[ToolResultBlock(tool_use_id=call_id, content=[])])
    with pytest.raises(CallerError, match=f"holds a result for '{call_id}', and no call before it that is without one"):
        await Orchestrator(FakeModel("ok")).run([answer], message_history=await first())


async def test_the_history_in_openais_form_comes_back_as_it_was() -> None:
    result = await first()
    told = result.messages_as_openai()
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "assistant"]
    assert told[1]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    assert told[2]["tool_call_id"] == told[1]["tool_calls"][0]["id"]
    assert json.loads(json.dumps(told)) == told
    fake = FakeModel("more")
    await Orchestrator(fake).run("and?", message_history=told)
    assert fake.requests[0].messages[:-1] == result.messages


async def test_a_call_that_an_earlier_run_left_open_gets_its_result_before_a_later_message() -> None:
    waiting = await Orchestrator(FakeModel().tool_call("ask"), [ASK]).run("go")
    orchestrator = Orchestrator(FakeModel(Overloaded("busy")), [ASK], strategies=())
    with pytest.raises(LLMCoreError) as caught:
        await orchestrator.run("next", message_history=waiting)
    messages = caught.value.partial.messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    assert "the conversation went on before anybody answered" in messages[2].tool_results[0].text


def test_calls_of_a_list_of_messages_wait_as_their_tools_say() -> None:
    ticket: dict[str, Any] = {"name": "ticket", "parameters": {"type": "object", "properties": {}}}
    ran: list[str] = []

    def plain() -> str:
        """Plain."""
        ran.append("plain")
        return "p"

    @tool(requires_approval=True, summary="Drop it")
    def drop() -> str:
        """Drop."""
        ran.append("drop")
        return "d"

    uses = [ToolUseBlock(id=f"id_{name}", name=name, input={}) for name in ("ticket", "drop", "plain")]
    history = [Message(role="user", content="Go"), Message(role="assistant", content=[*uses])]
    orchestrator = Orchestrator(FakeModel("All is done."), [ticket, drop, plain])
    waiting = orchestrator.run_sync(history, answers={})
    assert [call.name for call in waiting.calls_elsewhere] == ["ticket"]
    assert [(call.name, call.summary) for call in waiting.approvals] == [("drop", "Drop it"), ("plain", "plain()")]
    half = orchestrator.run_sync(waiting, answers={call.id: Approve() for call in waiting.approvals})
    assert sorted(ran) == ["drop", "plain"]  # at the same time
    assert [call.name for call in half.pending] == ["ticket"]
    assert orchestrator.run_sync(half, answers={"id_ticket": Answer(7)}).content == "All is done."
