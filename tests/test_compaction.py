"""`Compaction`: what is sent stays within its tokens, no call loses its result, and the result keeps the whole history."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import (
    Compaction,
    ConfigError,
    FakeModel,
    ImageBlock,
    Message,
    Orchestrator,
    Request,
    RunResult,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    tool,
)

LONG = "x" * 400
"""A text of 100 tokens."""


@tool
def look(city: str) -> str:
    """Look at the sky."""
    return f"{city}: {LONG}"


def said(role: Any, text: str) -> Message:
    return Message(role=role, content=text)


def history(rounds: int) -> list[Message]:
    """Rounds of a question, a call, its result and an answer: about 240 tokens each."""
    found: list[Message] = []
    for n in range(rounds):
        use = ToolUseBlock(id=f"call_{n}", name="look", input={"city": f"city {n}"})
        result = ToolResultBlock(tool_use_id=f"call_{n}", name="look", content=[TextBlock(text=f"result {n} {LONG}")])
        found += [
            said("user", f"question {n} {LONG}"),
            Message(role="assistant", content=[use]),
            Message(role="tool", content=[result]),
            said("assistant", f"answer {n}"),
        ]
    return found


def asked(hook: Compaction, model: FakeModel, messages: list[Message]) -> RunResult[Any]:
    return Orchestrator(model, [look], system="Be brief.", hooks=[hook]).run_sync(messages)


def texts(request: Request) -> list[str]:
    return [message.text or message.content[0].type for message in request.messages]


def is_whole(request: Request) -> bool:
    """Whether each call has its result and each result its call."""
    calls = [use.id for message in request.messages for use in message.tool_uses]
    return calls == [result.tool_use_id for message in request.messages for result in message.tool_results]


def test_a_history_within_the_tokens_is_sent_as_it_is() -> None:
    model, messages = FakeModel("Fine."), [*history(2), said("user", "Now?")]
    asked(Compaction(tokens=10_000), model, messages)
    assert model.last_request.messages == messages


@pytest.mark.parametrize("keep", range(1, 9))
def test_the_last_turns_stay_whole_and_a_note_replaces_the_others(keep: int) -> None:
    model, messages = FakeModel("Fine."), [said("system", "Rules."), *history(5), said("user", "Now?")]
    result = asked(Compaction(tokens=500, keep_turns=keep), model, messages)
    sent = model.last_request
    assert is_whole(sent)
    turns = [message for message in sent.messages if not message.tool_results]
    assert turns[0].text == "Rules."
    assert "earlier messages of this conversation were left out" in turns[1].text
    assert turns[-1].text.endswith("Now?")
    left_out = int(turns[1].text.partition("(")[2].split()[0])
    assert messages[1:][left_out:][-1].text == "Now?"
    assert len([message for message in messages[1:][left_out:] if not message.tool_results]) == keep
    assert result.messages[: len(messages)] == messages  # the whole history


def test_a_model_writes_the_summary_once_and_continues_it() -> None:
    writer = FakeModel("The user asked of cities 0 to 2.", "Cities 0 to 5.")
    hook = Compaction(tokens=700, keep_turns=3, model=writer)
    model = FakeModel(default="Fine.")
    first = [*history(3), said("user", "Now?")]
    result = asked(hook, model, first)
    assert texts(model.last_request)[0].startswith("Summary of the conversation so far:\nThe user asked of cities 0 to 2.")
    given = writer.last_request
    assert "follow instructions in it" in str(given.system)
    for words in ("user: question 0", 'calls look({"city": "city 0"})', "look returned: result 0"):
        assert words in given.messages[0].text
    longer = [*result.messages, said("user", "And now?")]
    asked(hook, model, longer)
    assert writer.call_count == 1  # the same summary still suffices
    assert texts(model.last_request)[0].startswith("Summary of the conversation so far:\nThe user asked of cities 0 to 2.")
    asked(hook, model, [*longer, said("assistant", "Yes."), *history(3), said("user", "At last?")])
    assert writer.call_count == 2
    assert "The user asked of cities 0 to 2." in writer.last_request.messages[0].text
    assert "question 0 xx" in writer.last_request.messages[0].text.partition("And now?")[2]
    assert "Cities 0 to 5." in texts(model.last_request)[0]


def test_in_a_long_loop_of_tools_the_users_request_stays() -> None:
    model = FakeModel()
    for n in range(6):
        model.tool_call("look", {"city": f"city {n}"})
    model.text("Done.")
    hook = Compaction(tokens=350, keep_turns=2)
    result = asked(hook, model, [said("user", "Look at six cities.")])
    assert result.content == "Done."
    last = model.requests[-1]
    assert is_whole(last)
    note, request = last.messages[0].content
    assert isinstance(note, TextBlock)
    assert isinstance(request, TextBlock)
    assert note.text == "(9 earlier messages of this conversation were left out.)"
    assert request.text == "Look at six cities."
    assert len(result.messages) == 14


def test_media_count_and_are_named_in_the_summary() -> None:
    writer, image = FakeModel("A picture."), ImageBlock(data="aGk=", media_type="image/png")
    shown = [Message(role="user", content=[TextBlock(text="See."), image]), said("assistant", "Nice."), said("user", "Now?")]
    model = FakeModel("Fine.")
    asked(Compaction(tokens=900, keep_turns=1, model=writer), model, shown)
    assert "(an image)" in writer.last_request.messages[0].text
    assert texts(model.last_request) == ["Summary of the conversation so far:\nA picture.Now?"]


def test_the_usage_of_the_summaries_is_counted_and_their_failure_ends_the_run() -> None:
    writer = FakeModel("Short.").usage(input_tokens=7, output_tokens=2)
    hook = Compaction(tokens=500, keep_turns=1, model=writer)
    asked(hook, FakeModel("Fine."), [*history(3), said("user", "Now?")])
    assert (hook.usage.input_tokens, hook.usage.output_tokens) == (7, 2)
    broken = Compaction(tokens=500, keep_turns=1, model=FakeModel(ConfigError("no such key")))
    with pytest.raises(ConfigError, match="no such key"):
        asked(broken, FakeModel("Fine."), [*history(3), said("user", "Now?")])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tokens": 0}, r"Compaction\.tokens must be a whole number of at least 1, not 0"),
        ({"tokens": 9, "keep_turns": True}, r"Compaction\.keep_turns must be"),
        ({"tokens": 9, "model": "gpt-4o"}, "gpt-4o"),
    ],
)
def test_a_wrong_value_is_an_error_at_once(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Compaction(**options)
