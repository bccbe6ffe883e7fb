"""If an invalid request is passed, the error says what to pass."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import (
    Block,
    CallerError,
    ImageBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]}
CALLS = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]
URL_IMAGE = ImageBlock(url="https://x.example/a.png")
NEAR_IMAGE = ImageBlock(url="https://x.example/a.png", detail="low")
DATA_IMAGE = ImageBlock(data="AAAA", media_type="image/png")


def _refused(given: Any, **options: Any) -> str:
    fake = FakeModel("ok")
    with pytest.raises(CallerError) as caught:
        Orchestrator(fake).run_sync(given, **options)
    assert fake.call_count == 0
    return str(caught.value)


@pytest.mark.parametrize("given", [5, b"hi", {"messages": [USER]}, 1.5, object()])
def test_a_wrong_request_is_named(given: Any) -> None:
    said = _refused(given)
    assert said == f"the request is of type {type(given).__name__}; give text, a list of messages or a Request"


def test_a_wrong_message_is_named() -> None:
    assert (
        _refused([USER, 5])
        == "message 1 of the request is of type int; give a Message, or a dict of one: {'role': 'user', 'content': '...'}"
    )


def _taken(given: Any, **options: Any) -> list[Message]:
    """The messages as they are taken; one of the user stands before the assistant's first."""
    fake = FakeModel("ok")
    begins = given.__class__ is list and bool(given) and dict(given[0]).get("role") == "assistant"
    Orchestrator(fake).run_sync([USER, *given] if begins else given, **options)
    return fake.requests[0].messages[begins:]


ANSWER = {"role": "tool", "tool_call_id": "c", "content": "12 degrees"}


def test_a_history_of_openais_is_accepted_as_input_and_as_history() -> None:
    given = [{"role": "developer", "content": "Be brief."}, USER, CALLING, ANSWER, USER]
    expected = [
        Message(role="system", content=[TextBlock(text="Be brief.")]),
        Message(role="user", content=[TextBlock(text="hi")]),
        Message(role="assistant", content=[ToolUseBlock(id="c", name="f", input={})]),
        Message(role="tool", content=[ToolResultBlock(tool_use_id="c", content=[TextBlock(text="12 degrees")])]),
        Message(role="user", content=[TextBlock(text="hi")]),
    ]
    assert _taken(given) == expected
    assert _taken([USER], message_history=given[:-1]) == expected
    assert Request.model_validate({"messages": given}).messages == expected


@pytest.mark.parametrize(
    ("arguments", "value", "raw"),
    [
        ('{"a": 1}', {"a": 1}, ""),
        ({"a": 1}, {"a": 1}, ""),
        ("", {}, ""),
        (None, {}, ""),
        ('{"a": ', {"INVALID_JSON": '{"a": '}, ""),  # recorded: tests/run/results/test_history_repairs.py
        ("[1]", {"INVALID_JSON": "[1]"}, ""),
        ('{"a": 12345678901234567890.12}', {"a": 12345678901234567890.12}, ""),
    ],
)
def test_arguments_of_a_call(arguments: Any, value: dict[str, Any], raw: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    (use,) = _taken([{"role": "assistant", "content": None, "tool_calls": [call]}, ANSWER, USER])[0].tool_uses
    assert (use.input, use.raw_input) == (value, raw)


@pytest.mark.parametrize(
    ("part", "block"),
    [
        ({"type": "text", "text": "hi"}, TextBlock(text="hi")),
        ({"type": "input_text", "text": "hi"}, TextBlock(text="hi")),
        ("hi", TextBlock(text="hi")),
        ({"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "low"}}, NEAR_IMAGE),
        ({"type": "image_url", "image_url": "https://x.example/a.png"}, URL_IMAGE),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, DATA_IMAGE),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, DATA_IMAGE),
        ({"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}, URL_IMAGE),
    ],
)
def test_parts_of_content(part: Any, block: Block) -> None:
    assert _taken([{"role": "user", "content": [part]}])[0].content == [block]
    answered = [CALLING, {**ANSWER, "content": [part]}, USER]
    assert _taken(answered)[1].tool_results[0].content == [block]


def test_what_only_openai_knows_stays_in_the_history() -> None:
    said: dict[str, Any] = {"role": "assistant", "content": "No.", "refusal": "I will not.", "annotations": [], "audio": None}
    (message, _) = _taken([said, USER])
    assert message.content == [TextBlock(text="No."), ProviderBlock(provider="openai-chat", data={"refusal": "I will not."})]


def test_thoughts_stand_before_what_was_said() -> None:
    plain = {"role": "assistant", "content": "4", "reasoning_content": "2 + 2"}
    signed = {"role": "assistant", "content": "4", "thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "s"}]}
    hidden = {"role": "assistant", "content": "4", "thinking_blocks": [{"type": "redacted_thinking", "data": "x"}]}
    first = [message.content[0] for message in _taken([plain, signed, hidden, USER])[:3]]
    assert first == [ThinkingBlock(thinking="2 + 2"), ThinkingBlock(thinking="", signature="s"), RedactedThinkingBlock(data="x")]


def test_the_elder_form_of_calls() -> None:
    calling: dict[str, Any] = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    messages = _taken([calling, {"role": "function", "name": "f", "content": "ok"}, USER])
    assert messages[0].tool_uses[0].id == messages[1].tool_results[0].tool_use_id


def test_messages_of_the_openai_package_are_accepted() -> None:
    from openai.types.chat import ChatCompletionMessage

    message = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": CALLS})
    assert _taken([message, ANSWER, USER])[0].tool_uses[0].input == {"x": 1}


def test_a_field_of_openais_stays_in_the_history() -> None:
    (message,) = _taken([{"role": "user", "content": "hi", "name": "ann", "audio": None}])
    assert message.content == [TextBlock(text="hi"), ProviderBlock(provider="openai-chat", data={"name": "ann"})]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": "x"}, "has no `role`; it is one of assistant, system, tool, user"),
        ({"role": "usr", "content": "x"}, "has the role 'usr'"),
        ({"role": ["user"], "content": "x"}, "has the role ['user']"),
        ({"role": "user"}, "has no `content`"),
        ({"role": "user", "content": 3}, "has a `content` of type int"),
        ({"role": "user", "content": [3]}, "holds a part of type int"),
        ({"role": "user", "content": [{"type": "video_url"}]}, "holds a part of the type 'video_url'"),
        ({"role": "user", "content": [{"type": "input_audio"}]}, "audio without a `url` and without data"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "an image without a `url`"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}, "data URL is not of the form"),
        (
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]},
            "an image without a `url` and without data",
        ),
        ({"role": "assistant", "content": None, "tool_calls": 3}, "`tool_calls` of type int"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, "holds a call that is not"),
        ({"role": "assistant", "content": None, "tool_calls": [{**CALLS[0], "id": 7}]}, "holds a call that is not"),
        ({"role": "tool", "content": "x"}, "has no `tool_call_id`"),
    ],
)
def test_nonsense_is_named_in_our_words(message: dict[str, Any], words: str) -> None:
    said = _refused([USER, message])
    assert said.startswith("message 1 of the request ")
    assert words in said


def test_no_message_at_all_is_no_request() -> None:
    assert _refused([]) == "the request has no messages; give text, or at least one message"
    assert "message_history" in _refused("hi", history=[USER])
    assert "an image is an ImageBlock" in _refused("hi", images=["a.png"])
    assert _taken([], message_history=[USER]) == [Message.model_validate(USER)]


@pytest.mark.parametrize(
    "given", ["hi", [USER], [Message.model_validate(USER)], (USER,), iter([USER]), Request.model_validate({"messages": [USER]})]
)
def test_what_is_one_is_accepted(given: Any) -> None:
    assert Orchestrator(FakeModel("ok")).run_sync(given).content == "ok"
