"""A replayed request is compared in everything that was sent, and without the secrets that no recording has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.recorder import Recorder
from llmcore.orchestrator import Orchestrator
from llmcore.testing import ReplayAdapter
from llmcore.types import (
    AudioBlock,
    ConfigError,
    FileBlock,
    ImageBlock,
    Message,
    Request,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.helpers.wire_server import WireServer
from tests.helpers.wires import Turn

pytestmark = pytest.mark.anyio

KEY = "sk-proj-7Qf3xLm92KdPz0aB"
CAT, DOG = "Y2F0IHBpY3R1cmU=", "ZG9nIHBpY3R1cmU="
URL = "https://example.com/cat.png"
MODEL = {"models": {"a": {"provider": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}}}


def image(data: str) -> ImageBlock:
    return ImageBlock(url=data) if data.startswith("http") else ImageBlock(data=data, media_type="image/png")


def shown(*images: str, text: str = "What is it?") -> Request:
    return Request(messages=[Message(role="user", content=[TextBlock(text=text), *map(image, images)])])


def replayed(recorded: dict[str, Any], **attempt: str) -> Orchestrator:
    run = {"id": "r", "exchanges": [{"attempt": attempt, "request": recorded, "text": "A cat."}]}
    return Orchestrator(ReplayAdapter(run))


def user(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, *parts], **more}]}


DATA_URL = f"data:image/png;base64,{CAT}"
RECORDED: dict[str, dict[str, Any]] = {
    "openai": user({"type": "image_url", "image_url": {"url": DATA_URL}}),
    "litellm, short": user({"type": "image_url", "image_url": DATA_URL}),
    "responses": {
        "input": [
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": DATA_URL}],
            }
        ]
    },
    "anthropic": user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": CAT}}),
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "What is it?"}, {"inlineData": {"mimeType": "image/png", "data": CAT}}]}]
    },
    "bedrock": user({"image": {"format": "png", "source": {"bytes": CAT}}}),
    "ollama": {"messages": [{"role": "user", "content": "What is it?", "images": [CAT]}]},
    "llmcore": user({"type": "image", "data": CAT, "media_type": "image/png"}),
}


@pytest.mark.parametrize("recorded", RECORDED.values(), ids=RECORDED)
async def test_another_image_is_another_request_on_every_wire(recorded: dict[str, Any]) -> None:
    assert (await replayed(recorded).run(shown(CAT))).content == "A cat."
    for other in (shown(DOG), shown(), shown(CAT, DOG), shown(URL)):
        with pytest.raises(ConfigError, match=r"image or file [12]: recorded .*, asked") as caught:
            await replayed(recorded).run(other)
        assert CAT not in str(caught.value)
        assert DOG not in str(caught.value)


async def test_the_difference_shows_short_digests() -> None:
    was, now = (hashlib.sha256(data.rstrip("=").encode()).hexdigest()[:12] for data in (CAT, DOG))
    with pytest.raises(ConfigError, match=f"image or file 1: recorded 'sha256 {was}', asked 'sha256 {now}'"):
        await replayed(RECORDED["openai"]).run(shown(DOG))


async def test_in_a_prompted_mode_images_are_compared_too() -> None:
    async def run(request: Request) -> str:
        models = {"models": {"a": {"provider": "openai", "model": "gpt-4o", "force_text_mode": True}}}
        transcript = {"exchanges": [{"attempt": {"mode": "text"}, "request": RECORDED["openai"], "text": "A cat."}]}
        return (await Orchestrator(models, [look], adapter=ReplayAdapter(transcript)).run(request)).content

    assert await run(shown(CAT)) == "A cat."
    with pytest.raises(ConfigError, match="image or file 1"):
        await run(shown(DOG))


async def test_a_document_that_is_asked_no_more_is_a_difference() -> None:
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": CAT}}
    with pytest.raises(ConfigError, match=r"image or file 1: recorded 'sha256 .*', asked none"):
        await replayed(user(document)).run("What is it?")


def look(at: str) -> str:
    """Look at something."""
    return f"a look at {at}"


async def record(path: Path, ask: Sequence[Any], provider: str = "openai_compatible", **settings: Any) -> ReplayAdapter:
    """Ask a server each of these, and give what replays it."""
    recorder = Recorder(provenance="local: a test")
    with WireServer([Turn("A cat.")]) as server:
        models = {"models": {"a": {"provider": provider, "model": "m", "base_url": server.base_url("openai_compatible")}}}
        async with Orchestrator(models, adapter=LiteLLMAdapter(observer=recorder.observe), **settings) as orchestrator:
            for one in ask:
                await orchestrator.run(one)
    recorder.write(path, id="run")
    return ReplayAdapter(path)


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_API_KEY", "a-Key-Like-No-0ther")


@pytest.mark.usefixtures("_key")
@pytest.mark.parametrize("key", [KEY, "a-Key-Like-No-0ther"], ids=["by its look", "known"])
async def test_a_prompt_that_was_masked_in_the_recording_is_the_same_request(key: str, tmp_path: Path) -> None:
    adapter = await record(tmp_path / "runs.jsonl", [f"Is {key} a key?"], system=f"Never say {key}.")
    assert key not in (tmp_path / "runs.jsonl").read_text("utf-8")
    orchestrator = Orchestrator(MODEL, adapter=adapter, system=f"Never say {key}.")
    assert (await orchestrator.run(f"Is {key} a key?")).content == "A cat."
    adapter.reset()
    with pytest.raises(ConfigError, match="message 1 of the user") as caught:
        await orchestrator.run(f"Is {key} no key?")
    assert key not in str(caught.value)


async def test_secrets_of_the_request_itself_are_masked_in_both(tmp_path: Path) -> None:
    request = Request.model_validate({"messages": "Is gateSecret1 one?", "extra_headers": {"X-Gate": "gateSecret1"}})
    adapter = await record(tmp_path / "runs.jsonl", [request])
    assert "gateSecret1" not in (tmp_path / "runs.jsonl").read_text("utf-8")
    assert (await Orchestrator(MODEL, adapter=adapter).run(request)).content == "A cat."


async def test_an_image_that_a_tool_returned_is_no_message_of_the_user(tmp_path: Path) -> None:
    """On wires that take no images in results, they go in a message of the user."""

    def history(data: str) -> Request:
        use, text = ToolUseBlock(id="c1", name="look", input={"at": "it"}), TextBlock(text="seen")
        result = ToolResultBlock(tool_use_id="c1", name="look", content=[text, image(data)])
        turns = [Message(role="assistant", content=[use]), Message(role="tool", content=[result])]
        return Request(messages=[*shown(URL).messages, *turns, Message(role="user", content=[TextBlock(text="And?")])])

    adapter = await record(tmp_path / "runs.jsonl", [history(CAT)])
    assert "Image returned by the tool look:" in json.dumps(adapter.transcript.exchanges[0].request)
    assert (await Orchestrator(MODEL, adapter=adapter).run(history(CAT))).content == "A cat."
    adapter.reset()
    with pytest.raises(ConfigError, match="image or file 2"):
        await Orchestrator(MODEL, adapter=adapter).run(history(DOG))


async def test_files_and_audio_are_compared_and_a_note_in_their_place_is_none_of_the_tools_words(tmp_path: Path) -> None:
    """An endpoint of vLLM takes no files: in a result, a note stands in place of one."""

    def history(data: bytes) -> Request:
        use = ToolUseBlock(id="c1", name="look", input={"at": "it"})
        plan, wav = FileBlock.from_bytes(b"%PDF-1.4 plan"), AudioBlock.from_bytes(b"RIFF\x10\x00\x00\x00WAVE" + data)
        result = ToolResultBlock(tool_use_id="c1", name="look", content=[TextBlock(text="seen"), plan, wav])
        turns = [Message(role="assistant", content=[use]), Message(role="tool", content=[result])]
        return Request(messages=[*turns, Message(role="user", content=[TextBlock(text="And?"), wav])])

    adapter = await record(tmp_path / "runs.jsonl", [history(b"a")], provider="vllm")
    assert "seen\\n[a file was left out: vllm takes no files]" in json.dumps(adapter.transcript.exchanges[0].request)
    assert (await Orchestrator(MODEL, adapter=adapter).run(history(b"a"))).content == "A cat."
    adapter.reset()
    with pytest.raises(ConfigError, match="image or file 1"):
        await Orchestrator(MODEL, adapter=adapter).run(history(b"b"))


# --- results of tools -------------------------------------------------------------------------------------------------

CALLS = [("p1", "Oslo", CAT), ("p2", "Rome", DOG)]
"""Their ids, what they look at, and the image that the tool gives beside its text."""


def sees(at: str) -> Any:
    """See something."""
    return f"a look at {at}", image(next(data for _, place, data in CALLS if place == at))


def called_on(wire: str) -> list[dict[str, Any]]:
    """The calls, as a history of this wire has them."""
    if wire == "responses":
        return [{"type": "function_call", "call_id": id, "name": "sees", "arguments": "{}"} for id, _, _ in CALLS]
    if wire == "anthropic":
        return [{"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "sees"} for id, _, _ in CALLS]}]
    if wire == "bedrock":
        return [{"role": "assistant", "content": [{"toolUse": {"toolUseId": id, "name": "sees"}} for id, _, _ in CALLS]}]
    calls = [{"id": id, "type": "function", "function": {"name": "sees", "arguments": "{}"}} for id, _, _ in CALLS]
    return [{"role": "assistant", "tool_calls": calls}]


def answered_on(wire: str, order: Sequence[int], *, told: Sequence[int] = (0, 1)) -> list[dict[str, Any]]:
    """Their results, sent in this order. `told`: which result each call gets."""
    found: list[dict[str, Any]] = []
    for at in order:
        call_id, (_, place, data) = CALLS[at][0], CALLS[told[at]]
        text, url = f"a look at {place}", f"data:image/png;base64,{data}"
        if wire == "responses":
            parts: list[dict[str, Any]] = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": url}]
            found.append({"type": "function_call_output", "call_id": call_id, "output": parts})
        elif wire == "anthropic":
            source = {"type": "base64", "media_type": "image/png", "data": data}
            parts = [{"type": "text", "text": text}, {"type": "image", "source": source}]
            found.append({"type": "tool_result", "tool_use_id": call_id, "content": parts})
        elif wire == "bedrock":
            parts = [{"text": text}, {"image": {"format": "png", "source": {"bytes": data}}}]
            found.append({"toolResult": {"toolUseId": call_id, "content": parts}})
        else:
            parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
            found.append({"role": "tool", "tool_call_id": call_id, "content": parts})
    return [{"role": "user", "content": found}] if wire in ("anthropic", "bedrock") else found


async def replayed_loop(wire: str, results: list[dict[str, Any]]) -> str:
    offered = {"tools": [{"type": "function", "function": {"name": "sees"}}]}
    asked = [{"role": "user", "content": "go"}]
    calls = [
        {"id": id, "type": "function", "function": {"name": "sees", "arguments": json.dumps({"at": at})}} for id, at, _ in CALLS
    ]
    said = {"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": calls}}]}
    history = [*asked, *called_on(wire), *results]
    exchanges = [
        {"request": {"messages": asked, **offered}, "response": said},
        {"request": {"input" if wire == "responses" else "messages": history, **offered}, "text": "Done."},
    ]
    return (await Orchestrator(ReplayAdapter({"id": "r", "exchanges": exchanges}), [sees]).run("go")).content


WIRES = ("openai", "responses", "anthropic", "bedrock")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "swapped"])
@pytest.mark.parametrize("wire", WIRES)
async def test_results_are_compared_by_call_in_whatever_order_they_were_sent(wire: str, order: tuple[int, int]) -> None:
    assert await replayed_loop(wire, answered_on(wire, order)) == "Done."


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "swapped"])
@pytest.mark.parametrize("wire", WIRES)
async def test_the_result_of_another_call_is_a_difference(wire: str, order: tuple[int, int]) -> None:
    with pytest.raises(ConfigError, match="result 1 of the tools: recorded 'a look at Rome', asked 'a look at Oslo'"):
        await replayed_loop(wire, answered_on(wire, order, told=(1, 0)))


@pytest.mark.parametrize("form", ["document", "fields", "json"])
async def test_results_as_documents_and_data_are_read(form: str) -> None:
    def results(*said: str) -> list[dict[str, Any]]:
        found = answered_on(wire, (0, 1))
        for at, text in enumerate(said):
            data = text if form == "document" else {"seen": text}
            if wire == "bedrock":
                found[0]["content"][at]["toolResult"]["content"][0] = {"json": data}
            else:
                found[at]["content"][0] = {"type": "document", "document": {"data": data}}
        return found

    wire = "bedrock" if form == "json" else "openai"
    assert await replayed_loop(wire, results("a look at Oslo", "a look at Rome")) == "Done."
    if form == "document":
        with pytest.raises(ConfigError, match="result 1 of the tools: recorded 'a dog', asked 'a look at Oslo'"):
            await replayed_loop(wire, results("a dog", "a look at Rome"))


async def test_results_without_ids_are_those_of_the_calls_in_their_order() -> None:
    results = [{name: value for name, value in one.items() if name != "tool_call_id"} for one in answered_on("openai", (0, 1))]
    assert await replayed_loop("openai", results) == "Done."
    with pytest.raises(ConfigError, match="result 1 of the tools"):
        await replayed_loop("openai", results[::-1])
