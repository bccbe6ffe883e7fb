"""A history that every provider takes."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.request.conversation.history import NO_RESULT, sound_history
from llmcore.types import Message, Role, TextBlock, ToolResultBlock, ToolUseBlock


def use(call_id: str, **fields: Any) -> ToolUseBlock:
    return ToolUseBlock.model_validate({"id": call_id, "name": f"tool_{call_id}", "input": {}} | fields)


def result(call_id: str, text: str = "ok") -> ToolResultBlock:
    return ToolResultBlock.model_validate({"tool_use_id": call_id, "content": text})


def says(role: Any, *blocks: Any) -> Message:
    return Message(role=role, content=[TextBlock(text=block) if isinstance(block, str) else block for block in blocks])


def results_of(messages: list[Message]) -> list[tuple[str, str]]:
    return [
        (block.tool_use_id, "".join(part.text for part in block.content if isinstance(part, TextBlock)))
        for message in messages
        for block in message.tool_results
    ]


def test_a_sound_history_is_unchanged() -> None:
    history = [says("user", "hi"), says("assistant", "let me see", use("a")), says("user", "thanks")]
    history.insert(2, Message(role="tool", content=[result("a").model_copy(update={"name": "tool_a"})]))
    assert sound_history(history) == history


def test_results_follow_their_calls_in_order() -> None:
    history = [
        says("assistant", use("a"), use("b")),
        says("user", "and another thing", result("b", "B")),
        says("tool", result("a", "A")),
    ]
    sound = sound_history(history)
    assert [message.role for message in sound] == ["assistant", "tool", "user"]
    assert results_of(sound) == [("a", "A"), ("b", "B")]
    assert sound[2].text == "and another thing"
    assert [block.name for block in sound[1].tool_results] == ["tool_a", "tool_b"]


def test_a_missing_result_is_made_up_and_says_so() -> None:
    sound = sound_history([says("assistant", use("a"), use("b")), says("tool", result("b"))])
    assert results_of(sound) == [("a", NO_RESULT), ("b", "ok")]
    assert sound[1].tool_results[0].is_error


def test_a_result_without_a_call_becomes_text() -> None:
    sound = sound_history([says("user", "hi"), says("tool", result("ghost", "boo"))])
    assert [message.role for message in sound] == ["user", "user"]
    assert sound[1].text == "Result of the tool call 'ghost': boo"


def test_the_id_of_a_result_without_a_call_is_shortened() -> None:
    (sound,) = sound_history([Message(role="tool", content=[ToolResultBlock(tool_use_id="i" * 1_000_000, content=[])])])
    assert len(sound.text) < 120


def test_a_second_result_of_one_call_becomes_text() -> None:
    sound = sound_history([says("assistant", use("a")), says("tool", result("a", "one"), result("a", "two"))])
    assert results_of(sound) == [("a", "one")]
    assert "two" in sound[-1].text


def test_an_id_used_twice_is_answered_in_order() -> None:
    history = [
        says("assistant", use("a")),
        says("tool", result("a", "one")),
        says("assistant", use("a")),
        says("tool", result("a", "two")),
    ]
    assert results_of(sound_history(history)) == [("a", "one"), ("a", "two")]


def test_an_unreadable_call_carries_what_was_written() -> None:
    sound = sound_history([says("assistant", use("a", input=None, raw_input='{"x": '))])
    assert sound[0].tool_uses[0].input == {"INVALID_JSON": '{"x": '}


def test_empty_text_and_empty_messages_go() -> None:
    assert sound_history([says("assistant", ""), says("user", "", "hi")]) == [says("user", "hi")]


IDS = st.sampled_from(["a", "b", "c"])
ROLES: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "tool"])
BLOCKS = st.builds(use, IDS) | st.builds(result, IDS, st.text()) | st.builds(TextBlock, text=st.text())
MESSAGES = st.builds(Message, role=ROLES, content=st.lists(BLOCKS, max_size=4))


@given(st.lists(MESSAGES, max_size=6))
def test_any_history_becomes_sound(history: list[Message]) -> None:
    sound = sound_history(history)
    for message, following in zip_longest(sound, sound[1:]):
        assert message.content
        assert not any(isinstance(block, TextBlock) and not block.text for block in message.content)
        called = [block.id for block in message.tool_uses]
        if called:
            assert following is not None
            assert following.role == "tool"
            assert [block.tool_use_id for block in following.tool_results] == called
        if message.role == "tool":
            assert all(isinstance(block, ToolResultBlock) for block in message.content)
    told = [block.text for message in history for block in message.content if isinstance(block, TextBlock)]
    kept = [block.text for message in sound for block in message.content if isinstance(block, TextBlock)]
    assert all(text in kept for text in told if text)
    assert sound_history(sound) == sound
