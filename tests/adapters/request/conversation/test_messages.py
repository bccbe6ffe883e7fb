"""Our history as LiteLLM takes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.providers import PROVIDERS, provider_of
from llmcore.adapters.request.conversation.messages import render_messages
from llmcore.adapters.request.names import NameMap
from llmcore.types import (
    CacheControl,
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
from tests.adapters.conftest import call_of

IMAGE = ImageBlock(data="aGk=", media_type="image/png")


class Hermes:
    """A writer of `<tool_call>{json}</tool_call>`."""

    dialect = "hermes"

    def __call__(self, name: str, arguments: dict[str, Any]) -> str:
        return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def asked(provider: str, *messages: Message, system: Any = None, **fields: Any) -> ModelCall:
    endpoint = Endpoint(provider=provider, model="m", base_url="http://127.0.0.1:1/v1")
    return call_of(endpoint, Request(messages=list(messages), system=system), **fields)


def rendered(call: ModelCall, instructions: str = "") -> list[dict[str, Any]]:
    provider = provider_of(call.endpoint)
    names = NameMap((tool.name for tool in call.tools), provider.names)
    return render_messages(call, provider, names, instructions)


def message(role: Any, *blocks: Any) -> Message:
    return Message(role=role, content=[TextBlock(text=block) if isinstance(block, str) else block for block in blocks])


def result(call_id: str, *content: Any, **fields: Any) -> ToolResultBlock:
    parts = [TextBlock(text=part) if isinstance(part, str) else part for part in content]
    return ToolResultBlock(tool_use_id=call_id, content=parts, **fields)


USE = ToolUseBlock(id="call_1", name="get_weather", input={"city": "Köln"})
ROUND = (
    message("user", "Weather?"),
    message("assistant", "Let me look.", USE),
    message("tool", result("call_1", "sunny")),
)


def test_a_round_of_calls() -> None:
    system, user, assistant, tool = rendered(asked("groq", *ROUND, system="Be brief."))
    assert system == {"role": "system", "content": "Be brief."}
    assert user == {"role": "user", "content": "Weather?"}
    function = {"name": "get_weather", "arguments": '{"city": "Köln"}'}
    assert assistant == {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    assert tool == {"role": "tool", "tool_call_id": "call_1", "name": "get_weather", "content": "sunny"}


def test_empty_arguments_are_an_empty_object() -> None:
    _, assistant, _ = rendered(asked("groq", message("user", "x"), message("assistant", USE.model_copy(update={"input": {}}))))
    assert assistant["tool_calls"][0]["function"]["arguments"] == "{}"
    assert assistant["content"] is None


def test_an_error_says_so() -> None:
    history = (*ROUND[:2], message("tool", result("call_1", "no such city", is_error=True)))
    assert rendered(asked("groq", *history))[-1]["content"] == "Error: no such city"


def test_ids_are_mapped_on_both_sides() -> None:
    _, assistant, tool = rendered(asked("mistral", *ROUND))
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"]
    assert len(tool["tool_call_id"]) == 9


def test_images() -> None:
    history = message("user", "Look", IMAGE, ImageBlock(url="https://example.com/a.png"))
    (user,) = rendered(asked("groq", history))
    assert user["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ]


def test_images_of_a_result_go_where_the_wire_takes_them() -> None:
    history = (*ROUND[:2], message("tool", result("call_1", "a map", IMAGE)))
    claude = rendered(asked("anthropic", *history))[-1]
    assert [part["type"] for part in claude["content"]] == ["text", "image_url"]
    *_, tool, user = rendered(asked("groq", *history))
    assert tool["content"] == "a map"
    assert [part["type"] for part in user["content"]] == ["text", "image_url"]


def test_cache_marks_only_where_they_are_taken() -> None:
    marked = TextBlock(text="Long.", cache_control=CacheControl())
    history = message("user", marked)
    claude = rendered(asked("anthropic", history, system=[marked]))
    assert claude[0]["content"] == [{"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}]
    assert claude[1]["content"][0]["cache_control"] == {"type": "ephemeral"}
    other = rendered(asked("groq", history, system=[marked]))
    assert [part["content"] for part in other] == ["Long.", "Long."]


def test_thinking_returns_to_claude_alone_and_whole() -> None:
    history = (
        ROUND[0],
        message(
            "assistant",
            ThinkingBlock(thinking="", signature="sig"),
            RedactedThinkingBlock(data="opaque"),
            ThinkingBlock(thinking="unsigned"),
            USE,
        ),
    )
    claude = rendered(asked("anthropic", *history))[1]
    assert claude["thinking_blocks"] == [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "redacted_thinking", "data": "opaque"},
    ]
    assert "thinking_blocks" not in rendered(asked("groq", *history))[1]
    assert rendered(asked("deepseek", *history))[1]["reasoning_content"] == "unsigned"


def test_provider_parts_return_to_their_own_wire() -> None:
    details = ProviderBlock(provider="openai-chat", data={"reasoning_details": [{"type": "x"}], "annotations": []})
    search = ProviderBlock(provider="anthropic", data={"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})
    history = (ROUND[0], message("assistant", details, search, "Hi"))
    router = rendered(asked("openrouter", *history))[1]
    assert router["reasoning_details"] == [{"type": "x"}]
    assert "annotations" not in router
    claude = rendered(asked("anthropic", *history))[1]
    assert [part["type"] for part in claude["content"]] == ["server_tool_use", "text"]
    assert "reasoning_details" not in claude
    assert rendered(asked("gemini", *history))[1] == {"role": "assistant", "content": "Hi"}


def test_nothing_given_is_aliased() -> None:
    data: dict[str, Any] = {"reasoning_details": [{"type": "x"}]}
    history = (ROUND[0], message("assistant", ProviderBlock(provider="openai-chat", data=data), "Hi"))
    rendered(asked("openrouter", *history))[1]["reasoning_details"].append("edited")
    assert data == {"reasoning_details": [{"type": "x"}]}


def test_a_gemini_signature_stays_with_its_call() -> None:
    signature = ProviderBlock(provider="gemini", data={"thoughtSignature": "c2ln"})
    second = ToolUseBlock(id="call_2", name="get_weather", input={})
    history = (ROUND[0], message("assistant", USE, signature, second))
    first, other = rendered(asked("gemini", *history))[1]["tool_calls"]
    assert first["provider_specific_fields"] == {"thought_signature": "c2ln"}
    assert "provider_specific_fields" not in other
    assert all("provider_specific_fields" not in call for call in rendered(asked("groq", *history))[1]["tool_calls"])


def test_litellms_form_of_a_signature_is_known() -> None:
    annotation = ProviderBlock(provider="openai-chat", data={"provider_specific_fields": {"thought_signature": "c2ln"}})
    history = (ROUND[0], message("assistant", USE, annotation))
    (call,) = rendered(asked("gemini", *history))[1]["tool_calls"]
    assert call["provider_specific_fields"] == {"thought_signature": "c2ln"}


def test_extra_content_of_a_call_returns() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    history = (ROUND[0], message("assistant", USE, ProviderBlock(provider="openai-chat", data={"extra_content": extra})))
    assert rendered(asked("openai_compatible", *history))[1]["tool_calls"][0]["extra_content"] == extra
    assert "extra_content" not in rendered(asked("anthropic", *history))[1]["tool_calls"][0]


def test_one_system_message_where_templates_want_it() -> None:
    history = (message("user", "a"), message("system", "later"), message("user", "b"))
    assert [part["role"] for part in rendered(asked("openai_compatible", *history))] == ["system", "user", "user"]
    assert [part["role"] for part in rendered(asked("groq", *history))] == ["user", "system", "user"]


def test_prompted_modes_write_calls_and_results_as_text() -> None:
    call = asked("openai_compatible", *ROUND, message("user", "And?"), mode="text", writer=Hermes())
    system, user, assistant, answer = rendered(call, "# Tools")
    assert system["content"] == "# Tools"
    assert user["content"] == "Weather?"
    assert assistant == {"role": "assistant", "content": "Let me look.\n" + Hermes()("get_weather", {"city": "Köln"})}
    assert answer["role"] == "user"  # neighbours of one role are one message
    assert "<tool_response>" in answer["content"]
    assert answer["content"].endswith("\n\nAnd?")


def test_envelope_modes_write_the_envelope() -> None:
    call = asked("groq", *ROUND, mode="json_object")
    _, assistant, answer = rendered(call)
    assert json.loads(assistant["content"]) == {
        "toolCalls": [{"name": "get_weather", "arguments": {"city": "Köln"}}],
        "content": "Let me look.",
        "needsMoreWork": True,
    }
    assert json.loads(answer["content"]) == {"toolResult": {"name": "get_weather", "content": "sunny"}}


def test_every_provider_renders_a_round() -> None:
    for provider in PROVIDERS:
        assert [part["role"] for part in rendered(asked(provider, *ROUND))] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["One", "Two"], "One\nTwo"),
        (["One ", "Two", "", "\nThree"], "One Two\nThree"),
        (["", "One"], "One"),
    ],
)
@pytest.mark.parametrize("mode", ["native_tools", "text"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_text_parts_do_not_run_together(provider: str, mode: str, parts: list[str], text: str) -> None:
    assert rendered(asked(provider, message("user", *parts), mode=mode, writer=Hermes()))[-1]["content"] == text


def test_what_a_model_wrote_in_pieces_is_one_text() -> None:
    said = [message("assistant", "It is ", "12", " degrees."), message("user", "In words?"), message("assistant", "twel", "ve")]
    turns = rendered(asked("openai", message("user", "Hi"), *said, message("user", "Thanks")))
    assert [turn["content"] for turn in turns if turn["role"] == "assistant"] == ["It is 12 degrees.", "twelve"]


def test_parts_beside_an_image_are_one_text_where_the_wire_has_one() -> None:
    question = message("user", "One", IMAGE, "Two")
    assert [part["type"] for part in rendered(asked("openai", question))[0]["content"]] == ["text", "image_url", "text"]
    first, second = rendered(asked("ollama", question))[0]["content"]
    assert (first, second["type"]) == ({"type": "text", "text": "One\nTwo"}, "image_url")


def test_parts_of_a_result_do_not_run_together() -> None:
    turns = rendered(asked("openai", *ROUND[:2], message("tool", result("call_1", "One", "Two"))))
    assert turns[-1]["content"] == "One\nTwo"
