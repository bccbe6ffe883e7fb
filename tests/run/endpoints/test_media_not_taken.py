"""If a model takes no such media, a run says so before the request; a model that takes them is asked instead."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import AudioBlock, FakeModel, FileBlock, Message, ModelNotFound, Orchestrator, TextBlock, tool
from llmcore.adapters import Capabilities, Endpoint
from llmcore.adapters.capabilities.known import known_capabilities
from tests.helpers.wire_server import WireServer

WAV = AudioBlock.from_bytes(b"RIFF\x10\x00\x00\x00WAVEfmt ")
PDF = FileBlock.from_bytes(b"%PDF-1.4")
SPOKEN = [Message(role="user", content=[TextBlock(text="What is said?"), WAV])]


def models(**switches: Any) -> dict[str, Any]:
    claude = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api_key": "k", **switches}
    return {"models": {"claude": claude, "gemini": {"provider": "gemini", "model": "gemini-2.5-flash", "api_key": "k"}}}


def test_the_error_names_the_model_the_part_and_the_fix_and_nothing_is_sent() -> None:
    with WireServer(["Hi."]) as server:
        alone = {"models": {"claude": models(base_url=server.base_url("anthropic"))["models"]["claude"]}}
        with pytest.raises(ModelNotFound, match=r"claude lacks audio \(supports_audio\): ask a model that has it, or correct"):
            Orchestrator(alone).run_sync(SPOKEN)
        words = (
            r"the model 'claude' takes no audio, and part 1 of message 0 is audio \(audio/wav\): ask another model, leave the part "
            r"out, or set supports_audio: true if this model takes it; nothing was sent"
        )
        with pytest.raises(ModelNotFound, match=words):
            Orchestrator(alone).run_sync(SPOKEN, model="claude")
        assert server.requests == []


def test_the_first_model_that_takes_it_is_asked() -> None:
    adapters = {"claude": FakeModel("no", capabilities=Capabilities(audio=False)), "gemini": FakeModel(default="Hello is said.")}
    assert Orchestrator(models(), adapter=adapters).run_sync(SPOKEN).content == "Hello is said."
    assert Orchestrator(models(escalates_to=["gemini"]), adapter=adapters).run_sync(SPOKEN, model="claude").content == (
        "Hello is said."
    )


def test_a_models_switch_overrides_the_table() -> None:
    deaf = FakeModel("I hear it.", capabilities=Capabilities(audio=False))
    asked = Orchestrator(models(supports_audio=True), adapter={"claude": deaf, "gemini": deaf})
    assert asked.run_sync(SPOKEN, model="claude").content == "I hear it."
    assert deaf.last_request.messages[-1].content[1] == WAV
    assert asked.capabilities.get("claude").sources["audio"] == "registry"


def test_a_file_that_a_tool_returns_ends_no_run() -> None:
    @tool
    def fetch() -> tuple[str, FileBlock]:
        """Fetch the plan."""
        return "the plan", PDF

    model = FakeModel(capabilities=Capabilities(files=False)).tool_call("fetch", {}).text("Read.")
    result = Orchestrator(model, [fetch]).run_sync("Read the plan.")
    assert (result.content, result.messages[-2].tool_results[0].content[1]) == ("Read.", PDF)


@pytest.mark.parametrize(
    ("provider", "model", "files", "audio"),
    [
        ("anthropic", "claude-sonnet-4-5", True, False),
        ("openai", "gpt-4o", True, False),
        ("openai", "gpt-4o-audio-preview", None, True),
        ("gemini", "gemini-2.5-pro", True, True),
        ("groq", "llama-3.3-70b", False, False),
        ("ollama", "llava", False, False),
        ("vllm", "qwen2-audio", False, None),
    ],
)
def test_what_is_known_of_files_and_audio(provider: str, model: str, files: bool | None, audio: bool | None) -> None:
    known = known_capabilities(Endpoint(provider=provider, model=model))
    assert (known.files, known.audio) == (files, audio)
