"""No field of a message vanishes: it is read, kept for the wire that it came by, dropped because it says nothing, or refused."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import Agent, CallerError, FakeModel, Orchestrator, Request
from llmcore.normalizer.native import openai_chat
from llmcore.support.values.copies import updated
from llmcore.types import (
    AudioBlock,
    Block,
    CacheControl,
    FileBlock,
    ImageBlock,
    ProviderBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

Json = dict[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
SEEN = ImageBlock(data=PNG, media_type="image/png")
CALL: Json = {"function": {"name": "f", "arguments": {"x": 1}}}


def blocks(message: Json) -> list[Block]:
    return Request.model_validate({"messages": [message]}).messages[0].content


def kept(provider: str, **data: Any) -> ProviderBlock:
    return ProviderBlock(provider=provider, data=data)


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        ([PNG], [SEEN]),
        ([base64.b64decode(PNG)], [SEEN]),
        ([{"value": PNG}], [SEEN]),
        ([f"data:image/png;base64,{PNG}"], [SEEN]),
        (["https://x.example/a.png"], [ImageBlock(url="https://x.example/a.png")]),
        ([{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}], [ImageBlock(url="https://x.example/a.png")]),
        (["/9j/4AAQSkZJRg=="], [ImageBlock(data="/9j/4AAQSkZJRg==", media_type="image/jpeg")]),
        (("R0lGODlhAQABAA==", "UklGRhYAAABXRUJQ"), [
            ImageBlock(data="R0lGODlhAQABAA==", media_type="image/gif"), ImageBlock(data="UklGRhYAAABXRUJQ", media_type="image/webp")
        ]),
        ([], []),
        (None, []),
    ],
)  # fmt: skip
def test_images_beside_the_words_are_taken(images: Any, expected: list[Block]) -> None:
    assert blocks({"role": "user", "content": "What?", "images": images}) == [TextBlock(text="What?"), *expected]


def test_images_may_stand_without_words_and_in_a_result() -> None:
    assert blocks({"role": "user", "images": [PNG]}) == [SEEN]
    history = [
        {"role": "assistant", "tool_calls": [{**CALL, "id": "c"}]},
        {"role": "tool", "tool_call_id": "c", "content": "ok", "images": [PNG]},
    ]
    answer = Request.model_validate({"messages": history}).messages[1].content
    assert answer == [ToolResultBlock(tool_use_id="c", content=[TextBlock(text="ok"), SEEN])]


@pytest.mark.parametrize("images", [["./photo.png"], ["photo"], [5], [""]])
def test_what_is_no_image_is_refused(images: Any) -> None:
    with pytest.raises(CallerError, match="has in `images` what is no image; give base64"):
        blocks({"role": "user", "content": "What?", "images": images})
    with pytest.raises(CallerError, match="has `images` of type str; give a list"):
        blocks({"role": "user", "content": "What?", "images": PNG})


@pytest.mark.parametrize(
    "message",
    [{"content": "x", "images": [PNG]}, {"content": [{"type": "image_url", "image_url": {"url": "https://x.example/a"}}]}],
)
def test_an_image_in_a_system_message_is_refused(message: Json) -> None:
    with pytest.raises(CallerError, match="holds an image; put it into a message of the user's"):
        blocks({"role": "system", **message})


PDF, WAV = "JVBERi0xLjc=", "UklGRhAAAABXQVZFZm10IA=="
FILE, SPOKEN = FileBlock(data=PDF, media_type="application/pdf"), AudioBlock(data=WAV, media_type="audio/wav")
LINK = "https://x.example/a.pdf"
PARTS: list[tuple[Json, Block]] = [
    ({"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}"}}, FILE),
    ({"type": "file", "file": {"file_data": PDF, "filename": "a.pdf"}}, updated(FILE, {"name": "a.pdf"})),
    ({"type": "file", "file": {"file_id": LINK, "format": "application/pdf"}}, FileBlock(url=LINK, media_type="application/pdf")),
    ({"type": "input_file", "file_url": LINK}, FileBlock(url=LINK)),
    (
        {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        updated(FILE, {"name": "a.pdf"}),
    ),
    ({"type": "document", "source": {"type": "url", "url": LINK}, "title": "A"}, FileBlock(url=LINK, name="A")),
    ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}, FILE),
    ({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}, SPOKEN),
    ({"type": "audio_url", "audio_url": {"url": "https://x.example/a.wav"}}, AudioBlock(url="https://x.example/a.wav")),
    ({"type": "file", "data": PDF, "media_type": "application/pdf"}, FILE),
    ({"type": "audio", "data": WAV, "media_type": "audio/wav"}, SPOKEN),
]


@pytest.mark.parametrize(("part", "block"), PARTS)
def test_files_and_audio_are_read_in_the_forms_of_other_apis(part: Json, block: Block) -> None:
    assert blocks({"role": "user", "content": [part]}) == [block]
    mark = {"cache_control": {"type": "ephemeral"}}
    assert blocks({"role": "user", "content": [{**part, **mark}]}) == [updated(block, {"cache_control": CacheControl()})]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (
            {"type": "file", "file": {"file_id": "file-123"}},
            "a file by the id 'file-123', which only one provider knows; give the",
        ),
        ({"type": "file", "file": {}}, "a file without a `url` and without data"),
        ({"type": "file", "file": {"file_data": "eHg="}}, r"a file in no known format \(pdf\); give its media type"),
        ({"type": "input_file", "file_data": "data:,x"}, "not of the form data:application/pdf;base64"),
        (
            {"type": "input_audio", "input_audio": {"data": WAV, "rate": 8}},
            "audio of message 0 of the request has no field 'rate'",
        ),
        (
            {"type": "file", "file": {"file_data": PDF}, "size": 3},
            r"a part of message 0 of the request \(type 'file'\) has no field 'size'",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(part: Json, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        blocks({"role": "user", "content": [part]})


CLAUDES: Json = {
    "id": "msg_1",
    "container": None,
    "content": [
        {"signature": "s", "thinking": "Hm.", "type": "thinking"},
        {"citations": None, "text": "Look.", "type": "text"},
        {"citations": [{"cited_text": "x"}], "text": "Noon.", "type": "text"},
        {"id": "s1", "input": {"query": "x"}, "name": "web_search", "type": "server_tool_use", "caller": None},
        {"tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}], "type": "web_search_tool_result"},
        {"id": "c1", "input": {"x": 1}, "name": "f", "type": "tool_use", "caller": None},
    ],
    "model": "claude",
    "role": "assistant",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "type": "message",
    "usage": {"input_tokens": 3},
}
"""As Anthropic's SDK dumps a message."""


def test_anthropics_message_is_taken_as_its_sdk_dumps_it() -> None:
    server, result = ({key: value for key, value in part.items() if value is not None} for part in CLAUDES["content"][3:5])
    assert blocks(CLAUDES) == [
        ThinkingBlock(thinking="Hm.", signature="s"),
        TextBlock(text="Look."),
        TextBlock(text="Noon."),
        kept("anthropic", citations=[{"cited_text": "x"}]),
        ProviderBlock(provider="anthropic", data=server),
        ProviderBlock(provider="anthropic", data=result),
        ToolUseBlock(id="c1", name="f", input={"x": 1}),
        kept("anthropic", id="msg_1", model="claude", stop_reason="tool_use", usage={"input_tokens": 3}),
    ]


def test_openais_message_is_taken_as_its_sdk_dumps_it() -> None:
    from openai.types.chat import ChatCompletionMessage

    said: Json = {
        "role": "assistant",
        "content": "Noon.",
        "refusal": None,
        "annotations": [],
        "audio": None,
        "function_call": None,
    }
    message = ChatCompletionMessage.model_validate({**said, "tool_calls": None, "reasoning": None, "citations": ["u"]})
    for given in (message, message.model_dump(), message.model_dump(exclude_none=True)):
        (block, told) = Request(messages=[given]).messages[0].content  # type: ignore[list-item]  # an SDK's object is taken as well
        assert (block, told) == (TextBlock(text="Noon."), kept("openai-chat", citations=["u"]))


REPLIES: list[tuple[Json, list[Block]]] = [
    (
        {"role": "assistant", "content": "4", "thinking": "2 + 2", "images": None, "tool_name": None, "tool_calls": None},
        [ThinkingBlock(thinking="2 + 2"), TextBlock(text="4")],
    ),
    (
        {"role": "assistant", "content": "", "thinking": None, "images": None, "tool_name": None, "tool_calls": [CALL]},
        [ToolUseBlock(id="call_0_0", name="f", input={"x": 1})],
    ),
    (
        {
            "role": "assistant",
            "content": "4",
            "function_call": None,
            "provider_specific_fields": {"citations": None},
            "images": [],
        },
        [TextBlock(text="4"), kept("openai-chat", provider_specific_fields={"citations": None})],
    ),
    (
        {"role": "assistant", "tool_plan": "Look.", "tool_calls": [{**CALL, "id": "c"}], "citations": None},
        [ThinkingBlock(thinking="Look."), ToolUseBlock(id="c", name="f", input={"x": 1})],
    ),
    ({"role": "assistant", "content": "4", "prefix": False, "tool_calls": None}, [TextBlock(text="4")]),
    (
        {
            "id": "m",
            "content": [{"annotations": [], "text": "4", "type": "output_text", "logprobs": None}],
            "role": "assistant",
            "status": "completed",
            "type": "message",
        },
        [TextBlock(text="4"), kept("openai-chat", id="m", status="completed")],
    ),
    (
        {"role": "assistant", "content": [{"type": "output_text", "text": "4", "annotations": [{"url": "u"}]}]},
        [TextBlock(text="4"), kept("openai-responses", annotations=[{"url": "u"}])],
    ),
    (
        {"role": "assistant", "content": "4", "images": [{"type": "image_url", "image_url": {"url": "u"}, "index": 0}]},
        [TextBlock(text="4"), kept("openai-chat", images=[{"type": "image_url", "image_url": {"url": "u"}, "index": 0}])],
    ),
]


@pytest.mark.parametrize(
    ("message", "expected"),
    REPLIES,
    ids=["ollama", "ollama-call", "litellm", "cohere", "mistral", "responses", "responses-annotated", "openrouter"],
)
def test_what_a_reply_has_beside_its_words_stays(message: Json, expected: list[Block]) -> None:
    assert blocks(message) == expected


def test_everything_that_the_chat_wire_keeps_of_a_reply_comes_back() -> None:
    fields = openai_chat._OPAQUE_FIELDS - {"images"} | {"citations", "search_results"}  # pyright: ignore[reportPrivateUsage]
    for field in fields:
        assert blocks({"role": "assistant", "content": "x", field: ["y"]})[1] == kept("openai-chat", **{field: ["y"]})


def test_a_cache_mark_of_a_message_is_its_last_parts() -> None:
    mark = {"type": "ephemeral"}
    for content in ("x", [{"type": "text", "text": "x"}]):
        (block,) = blocks({"role": "user", "content": content, "cache_control": mark})
        assert block.cache_control is not None


IMAGE_RESULT: Json = {
    "type": "tool_result",
    "tool_use_id": "c",
    "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "text", "text": "x", "citations": None},
    ],
}


def test_a_result_of_anthropics_may_hold_its_own_parts() -> None:
    assert blocks({"role": "user", "content": [IMAGE_RESULT]}) == [
        ToolResultBlock(tool_use_id="c", content=[SEEN, TextBlock(text="x")])
    ]


ODD: Any = {"role": "user", "content": "x", 5: 6}
UNKNOWN: list[tuple[Json, str]] = [
    ({"role": "user", "content": "x", "attachments": ["a"]}, "message 1 of the request has no field 'attachments'; there are "),
    ({"role": "user", "content": "x", "image": [PNG]}, "has no field 'image'; did you mean 'images'?"),
    ({"role": "assistant", "content": "x", "citation": ["a"]}, "has no field 'citation'; did you mean 'citations'?"),
    ({"role": "tool", "tool_call_id": "c", "content": "x", "artifact": 5}, "has no field 'artifact'"),
    ({"role": "tool", "tool_call_id": "c", "content": "x", "tool_calls": [CALL]}, "a message of the role 'assistant' has it"),
    ({"role": "user", "content": "x", "tool_call_id": "c"}, "a message of the role 'tool' has it"),
    (ODD, "has no field 5"),
    *(
        ({"role": role, "content": "x", field: value}, f"has no field {field!r}; a message of the role 'assistant' has it")
        for role in ("user", "system", "developer")
        for field, value in (
            ("citations", ["u"]), ("usage", {"input_tokens": 3}), ("id", "m"), ("status", "completed"), ("refusal", "no"),
            ("reasoning_content", "Hm."), ("tool_calls", [CALL]),
        )
    ),
    ({"role": "user", "content": [{"type": "text", "text": "x", "citations": [{"cited_text": "y"}]}]}, "has no field 'citations'"),
    ({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x", "annotations": ["y"]}]}, "has no field 'annotations'"),
    ({"role": "user", "content": [{"type": "text", "text": "x", "txt": "y"}]}, "a part of message 1 of the request (type 'text') has no field 'txt'; did you mean 'text'?"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/a", "detial": "low"}}]}, "has no field 'detial'; did you mean 'detail'?"),
    ({"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x/a", "sise": 1}}]}, "has no field 'sise'"),
    ({"role": "assistant", "tool_calls": [{**CALL, "argumnts": "{}"}]}, "a call of message 1 of the request has no field 'argumnts'"),
    ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "argumnts": "{}"}}]}, "did you mean 'arguments'?"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "words"), UNKNOWN)
def test_any_other_field_is_refused_by_its_name(message: Json, words: str) -> None:
    with pytest.raises(CallerError) as raised:
        Request.model_validate({"messages": [{"role": "user", "content": "q"}, message]})
    assert words in str(raised.value)


NULLS: Json = {"attachments": None, "metadata": {}, "files": [], "label": ""}


def test_a_field_that_says_nothing_is_dropped() -> None:
    assert blocks({"role": "user", "content": "x", **NULLS}) == [TextBlock(text="x")]
    assert blocks({"role": "user", "content": [{"type": "text", "text": "x", **NULLS}]}) == [TextBlock(text="x")]


BAD: Json = {"role": "user", "content": "x", "attachments": ["a"]}


async def _streamed(orchestrator: Orchestrator) -> None:
    async for _ in orchestrator.stream([BAD]):
        pass


ENTRIES: dict[str, Callable[[FakeModel], Any]] = {
    "run": lambda model: Orchestrator(model).run_sync([BAD]),
    "message_history": lambda model: Orchestrator(model).run_sync("more", message_history=[BAD]),
    "execute": lambda model: Orchestrator(model).execute_sync([BAD], int),
    "stream": lambda model: asyncio.run(_streamed(Orchestrator(model))),
    "Request": lambda model: Request(messages=[BAD]),
    "agent": lambda model: Agent(model).chat_sync([BAD]),
}  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_refuses_it(entry: str) -> None:
    model = FakeModel("1")
    with pytest.raises(CallerError, match="has no field 'attachments'"):
        ENTRIES[entry](model)
    assert model.call_count == 0
