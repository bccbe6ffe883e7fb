"""Images, files and audio: what cannot be seen or heard is an error before anything is sent, and the rest is sent whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.providers import PROVIDERS, provider_of
from llmcore.adapters.request.conversation.media import check_sendable, media_part
from llmcore.support.values.media_kinds import MEDIA_KINDS
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import (
    AudioBlock,
    CallerError,
    FileBlock,
    ImageBlock,
    MediaBlock,
    Message,
    Request,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import WireServer

PIXEL = "iVBORw0KGgo="
PDF = FileBlock.from_bytes(b"%PDF-1.4 x", name="plan.pdf")
WAV = AudioBlock.from_bytes(b"RIFF\x10\x00\x00\x00WAVEfmt ")
PNG = ImageBlock(data=PIXEL, media_type="image/png")


def check(block: MediaBlock, provider: str) -> None:
    endpoint = Endpoint(provider=provider, model="m")
    call = call_of(endpoint, Request(messages=[Message(role="user", content=[block])]))
    check_sendable(call, provider_of(endpoint))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize(
    ("image", "words"),
    [
        (ImageBlock(url="notaurl"), "is no URL"),
        (ImageBlock(url="file:///etc/passwd"), r"is not read from .*; ImageBlock\.from_path reads it"),
        (ImageBlock(url="data:text/plain;base64,aGk="), "data:image/"),
        (ImageBlock(url="data:image/png;base64,???"), "data:image/"),
        (ImageBlock(data="no base64!", media_type="image/png"), "no base64"),
    ],
    ids=["no URL", "file", "text", "bad URL data", "bad data"],
)
def test_an_image_that_is_none_is_refused(provider: str, image: ImageBlock, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        check(image, provider)


@pytest.mark.parametrize(
    ("block", "provider"),
    [
        (ImageBlock(url="https://x.example/a.png"), "openai"),
        (ImageBlock(url=f"data:image/png;base64,{PIXEL}"), "ollama"),
        (PNG, "anthropic"),
        (ImageBlock(data=f"{PIXEL}\n", media_type="image/png"), "openai"),
        (ImageBlock(url="gs://bucket/a.png"), "gemini"),
        (ImageBlock(url="file:///srv/images/a.png"), "vllm"),
        (FileBlock(url="https://x.example/a.pdf"), "anthropic"),
        (FileBlock(url="https://x.example/a.pdf"), "openrouter"),
        (FileBlock(data="eA==", media_type="text/csv"), "gemini"),
        (AudioBlock(url="gs://bucket/a.mp3"), "gemini"),
        (WAV, "vllm"),
    ],
    ids=str,
)
def test_any_other_is_let_through(block: MediaBlock, provider: str) -> None:
    check(block, provider)


@pytest.mark.parametrize(
    ("block", "provider", "words"),
    [
        (
            WAV,
            "anthropic",
            r"part 0 of message 0 is audio, and anthropic \(m\) takes no audio: ask another model, or leave it out",
        ),
        (PDF, "groq", "groq .* takes no files"),
        (PDF, "ollama", "is a file"),
        (PNG, "deepseek", "is an image"),
        (FileBlock(url="https://x.example/a.pdf"), "openai", "takes no file by this URL .*: fetch it, and give `data`"),
        (FileBlock(url="https://x.example/a.pdf"), "gemini", "takes no file by this URL"),
        (
            AudioBlock(data="T2dnUw==", media_type="audio/ogg"),
            "openai",
            "takes no audio/ogg: convert it .*audio/wav.*, or ask another",
        ),
        (FileBlock(data="eA==", media_type="text/csv"), "anthropic", r"takes no text/csv: convert it \(application/pdf\)"),
    ],
    ids=str,
)
def test_what_a_provider_does_not_take_is_an_error_that_names_the_part_and_the_fix(
    block: MediaBlock, provider: str, words: str
) -> None:
    with pytest.raises(CallerError, match=words):
        check(block, provider)


SENT: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"type": "file", "file": {"file_data": PDF.data_url, "filename": "plan.pdf"}},
        {"type": "input_audio", "input_audio": {"data": WAV.data, "format": "wav"}},
    ],
    "anthropic": [{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF.data}}],
    "gemini": [
        {"inline_data": {"mime_type": "application/pdf", "data": PDF.data}},
        {"inline_data": {"mime_type": "audio/wav", "data": WAV.data}},
    ],
}
RESULT = [
    Message(role="user", content="Go."),
    Message(role="assistant", content=[ToolUseBlock(id="call_1", name="get_weather", input={"city": "Rome"})]),
    Message(
        role="tool",
        content=[ToolResultBlock(tool_use_id="call_1", name="get_weather", content=[TextBlock(text="See."), PDF, WAV])],
    ),
]


def parts_in(value: object) -> list[object]:
    """Every object in the body."""
    inner: Iterable[object] = value.values() if is_object(value) else value if is_list(value) else ()
    return [*([value] if is_object(value) else []), *(part for each in inner for part in parts_in(each))]


@pytest.mark.anyio
@pytest.mark.parametrize("provider", SENT)
async def test_files_and_audio_go_out_in_the_form_of_each_wire_and_the_rest_of_a_result_is_described(
    provider: str, adapter: LiteLLMAdapter
) -> None:
    given = [Message(role="user", content=[TextBlock(text="What?"), PDF, *([WAV] if len(SENT[provider]) == 2 else [])])]
    with WireServer(["Fine."]) as server:
        endpoint = endpoint_at(server, provider)
        replies = [await adapter.complete(call_of(endpoint, Request(messages=messages))) for messages in (given, RESULT)]
    for seen in server.requests:
        assert [part for part in parts_in(seen.body) if part in SENT[provider]] == SENT[provider]
    assert replies[0].dropped == ()
    lacks = provider == "anthropic"
    assert replies[1].dropped == (("audio",) if lacks else ())
    assert (b"[audio was left out: anthropic takes no audio]" in server.requests[1].sent) == lacks


@pytest.mark.anyio
async def test_a_file_by_its_url_is_sent_as_a_url(adapter: LiteLLMAdapter) -> None:
    linked = FileBlock(url="https://x.example/a.pdf", media_type="application/pdf")
    with WireServer(["Fine."]) as server:
        call = call_of(endpoint_at(server, "anthropic"), Request(messages=[Message(role="user", content=[linked])]))
        await adapter.complete(call)
    assert {"type": "url", "url": "https://x.example/a.pdf"} in parts_in(server.requests[0].body)


@pytest.mark.parametrize(("block", "name"), [(PDF, "plan.pdf"), (FileBlock(data="eA==", media_type="text/csv"), "document.csv")])
def test_a_file_without_a_name_gets_one_that_fits_its_type(block: FileBlock, name: str) -> None:
    assert media_part(block, PROVIDERS["openai_compatible"])["file"]["filename"] == name


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_rules_of_a_provider_are_for_known_kinds_and_types(provider: str) -> None:
    for kind, rule in PROVIDERS[provider].media.items():
        assert kind in MEDIA_KINDS
        assert all("/" in media_type for media_type in rule.types)


@pytest.mark.anyio
async def test_what_the_model_does_not_take_in_a_result_is_a_note(adapter: LiteLLMAdapter) -> None:
    """By the model's capabilities, and by the media type."""
    ogg = AudioBlock(data="T2dnUw==", media_type="audio/ogg")
    asked = [
        *RESULT[:2],
        Message(role="tool", content=[ToolResultBlock(tool_use_id="call_1", name="get_weather", content=[PDF, ogg])]),
    ]
    with WireServer(["Fine."]) as server:
        claude = endpoint_at(server, "anthropic")
        csv = FileBlock(data="eA==", media_type="text/csv")
        table = [*RESULT[:2], Message(role="tool", content=[ToolResultBlock(tool_use_id="call_1", content=[csv])])]
        replies = [
            await adapter.complete(call_of(claude, Request(messages=table))),
            await adapter.complete(call_of(claude, Request(messages=asked), capabilities=Capabilities(files=False, audio=False))),
        ]
    assert [reply.dropped for reply in replies] == [("files",), ("files", "audio")]
    assert b"[a file was left out: anthropic takes no text/csv]" in server.requests[0].sent
    assert b"[a file was left out: anthropic takes no files]" in server.requests[1].sent
