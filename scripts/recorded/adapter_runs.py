"""Runs that the adapter makes alone, request by request: one reply each, or a history that is written here.

Native calls are answered by `@copilotkit/aimock`, which nobody here wrote; what it cannot do (calls written as text,
thinking, signatures, failed generations) by our own wire server.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.recorder import Recorder
from llmcore.types import Message, OutputMode, Request, TextBlock, ToolDefinition, ToolResultBlock, ToolUseBlock
from scripts.recorded.material import (
    AIMOCK,
    ASK_BOTH,
    ASK_CODE,
    ASK_PARIS,
    CODE,
    NOTES,
    OSLO,
    PARIS,
    SUNNY,
    TOOLS,
    WIRE,
    Call,
    deepseek,
    envelope,
    expectation,
    failed_generation,
    fenced,
    hermes,
    invoke_xml,
    kimi,
)
from tests.helpers.aimock import Aimock
from tests.helpers.wire_server import Step, Turn, WireServer

__all__ = ["AIMOCK_FIXTURES", "RUNS", "Exchange", "Run", "record"]


@dataclass
class Exchange:
    """One request of a run. `step` is what our wire server answers; None = aimock answers by its fixtures."""

    messages: str | list[Message]
    step: Step | None = None
    expect: list[Call] | None = None


@dataclass
class Run:
    """One line of a fixture file."""

    id: str
    provider: str
    model: str
    exchanges: list[Exchange]
    calls: list[Call] = field(default_factory=list[Call])
    """What the last reply should give."""
    content: str | None = None
    streamed: bool = False
    mode: OutputMode = "native_tools"
    tools: tuple[ToolDefinition, ...] = TOOLS

    @property
    def foreign(self) -> bool:
        return all(exchange.step is None for exchange in self.exchanges)

    @property
    def file(self) -> str:
        return f"{self.provider}.jsonl"


def asks(prompt: str, step: Step | None = None) -> list[Exchange]:
    return [Exchange(prompt, step)]


def second_turn(prompt: str, call: Call, result: str) -> list[Message]:
    """The history of a second turn: what was asked, the call that was made and its result."""
    name, arguments = call
    return [
        Message(role="user", content=[TextBlock(text=prompt)]),
        Message(role="assistant", content=[ToolUseBlock(id="call_1", name=name, input=arguments)]),
        Message(role="tool", content=[ToolResultBlock(tool_use_id="call_1", content=[TextBlock(text=result)])]),
    ]


# What aimock answers, by words of the prompt


def _told(*calls: Call) -> list[dict[str, str]]:
    return [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in calls]


AIMOCK_FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "weather in Paris", "hasToolResult": False}, "response": {"toolCalls": _told(PARIS)}},
    {
        "match": {"userMessage": "weather in Paris", "hasToolResult": True},
        "response": {"content": SUNNY},
    },
    {"match": {"userMessage": "Oslo and my kitchen notes"}, "response": {"toolCalls": _told(OSLO, NOTES)}},
    {"match": {"userMessage": "Save the function"}, "response": {"toolCalls": _told(CODE)}},
]


LLAMA = "meta-llama/llama-3.3-70b-instruct"
CLAUDE = "anthropic/claude-sonnet-4.5"

RUNS: list[Run] = [
    # native calls, from aimock
    Run("openai-native", "openai", "gpt-4o", asks(ASK_PARIS), [PARIS]),
    Run("openai-parallel-streamed", "openai", "gpt-4o", asks(ASK_BOTH), [OSLO, NOTES], streamed=True),
    Run(
        "openai-tool-loop",
        "openai",
        "gpt-4o",
        [Exchange(ASK_PARIS, expect=[PARIS]), Exchange(second_turn(ASK_PARIS, PARIS, "24 degrees, sunny"))],
        content=SUNNY,
    ),
    Run("anthropic-native", "anthropic", "claude-sonnet-4-5", asks(ASK_CODE), [CODE]),
    Run("anthropic-parallel-streamed", "anthropic", "claude-sonnet-4-5", asks(ASK_BOTH), [OSLO, NOTES], streamed=True),
    Run("gemini-native", "gemini", "gemini-2.5-pro", asks(ASK_BOTH), [OSLO, NOTES]),
    Run("groq-native-streamed", "groq", "llama-3.3-70b-versatile", asks(ASK_BOTH), [OSLO, NOTES], streamed=True),
    Run("openrouter-native", "openrouter", LLAMA, asks(ASK_PARIS), [PARIS]),
    Run("mistral-native-streamed", "mistral", "mistral-large-latest", asks(ASK_CODE), [CODE], streamed=True),
    Run("ollama-native", "ollama", "llama3.1", asks(ASK_PARIS), [PARIS]),
    # what only our own server can say
    Run(
        "anthropic-thinking-streamed",
        "anthropic",
        "claude-sonnet-4-5",
        asks(ASK_PARIS, Turn(calls=[PARIS], reasoning="The user wants the weather; call the tool.", signature="c2lnbmVk")),
        [PARIS],
        streamed=True,
    ),
    Run(
        "gemini-signed-streamed",
        "gemini",
        "gemini-3.1-pro-preview",
        asks(ASK_BOTH, Turn("Let me look.", calls=[OSLO, NOTES], reasoning="Two look-ups.", signature="c2lnbmVk")),
        [OSLO, NOTES],
        content="Let me look.",
        streamed=True,
    ),
    Run(
        "ollama-one-index-streamed",
        "ollama",
        "llama3.1",
        asks(ASK_BOTH, Turn(calls=[OSLO, NOTES], one_index=True)),
        [OSLO, NOTES],
        streamed=True,
    ),
    Run(
        "openai-plain-answer", "openai", "gpt-4o", asks("Say hello.", "Hello! How can I help?"), content="Hello! How can I help?"
    ),
    Run(
        "ollama-hermes-text",
        "ollama",
        "qwen2.5:7b",
        asks(ASK_BOTH, "Sure.\n" + hermes(OSLO, NOTES)),
        [OSLO, NOTES],
        content="Sure.",
    ),
    Run(
        "openrouter-claude-xml-streamed",
        "openrouter",
        CLAUDE,
        asks(ASK_CODE, "I will save it.\n\n" + invoke_xml(CODE)),
        [CODE],
        content="I will save it.",
        streamed=True,
    ),
    Run("openrouter-kimi-tokens", "openrouter", "moonshotai/kimi-k2", asks(ASK_BOTH, kimi(OSLO, NOTES)), [OSLO, NOTES]),
    Run(
        "openrouter-deepseek-tokens-streamed",
        "openrouter",
        "deepseek/deepseek-chat-v3-0324",
        asks(ASK_BOTH, deepseek(OSLO, NOTES)),
        [OSLO, NOTES],
        streamed=True,
    ),
    Run("mistral-fenced-json", "mistral", "open-mistral-7b", asks(ASK_PARIS, fenced(PARIS)), [PARIS]),
    Run(
        "groq-failed-generation",
        "groq",
        "llama-3.3-70b-versatile",
        asks(ASK_PARIS, failed_generation('<function=get_weather>{"city": "Paris"}</function>')),
        [PARIS],
    ),
    Run(
        "groq-json-object-streamed",
        "groq",
        "llama-3.3-70b-versatile",
        asks(ASK_BOTH, envelope(OSLO, NOTES, content="One moment.")),
        [OSLO, NOTES],
        content="One moment.",
        streamed=True,
        mode="json_object",
    ),
]


async def record(run: Run, root: Aimock | WireServer) -> dict[str, Any]:
    """Make the run's requests and return its line."""
    recorder = Recorder(provenance=AIMOCK if run.foreign else WIRE)
    adapter = LiteLLMAdapter(observer=recorder.observe)
    endpoint = Endpoint(provider=run.provider, model=run.model, base_url=root.base_url(run.provider))
    try:
        for exchange in run.exchanges:
            request = Request.model_validate({"messages": exchange.messages, "max_tokens": 512})
            call = ModelCall(endpoint=endpoint, request=request, mode=run.mode, tools=run.tools)
            if run.streamed:
                _ = [event async for event in adapter.stream(call)]
            else:
                await adapter.complete(call)
    finally:
        await adapter.close()
    line = recorder.line(id=run.id, tools=run.tools, expect=expectation(run.calls, run.content))
    for exchange, kept in zip(run.exchanges, line["exchanges"], strict=True):
        if exchange.expect is not None:
            kept["expect"] = expectation(exchange.expect, None)
    return line
