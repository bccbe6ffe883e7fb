"""Record `fixtures/recorded/*.jsonl` anew, through LiteLLM, from servers on this machine.

    .venv/bin/python -m tests.support.aimock        # once: the foreign mock, needs node and npm
    .venv/bin/python -m scripts.record_fixtures     # from the repository's root

Two peers: `@copilotkit/aimock`, which nobody here wrote, for native calls; our own wire server for what it cannot do:
calls written as text, thinking, signatures, failed generations. No provider is called and no key is needed; the
provenance of every line says so. What a run should give is written here, by hand, and not taken from what came out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm import LiteLLMAdapter
from llmcore.adapters.recording import Recorder
from llmcore.types import Message, OutputMode, Request, TextBlock, ToolDefinition, ToolResultBlock, ToolUseBlock
from tests.support.aimock import VERSION as AIMOCK_VERSION
from tests.support.aimock import Aimock
from tests.support.wire_server import Failure, Step, Turn, WireServer

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "fixtures" / "recorded"
LITELLM = f"litellm {version('litellm')}"
AIMOCK = f"local recording: {LITELLM} against @copilotkit/aimock {AIMOCK_VERSION}"
WIRE = f"local recording: {LITELLM} against tests/support/wire_server.py of this repository"

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather in a city.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
    },
)
SEARCH = ToolDefinition(
    name="search_notes",
    description="Full-text search in the user's notes.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "archived": {"type": "boolean"},
        },
        "required": ["query"],
    },
)
SAVE = ToolDefinition(
    name="save_file",
    description="Write a text file.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
TOOLS = (WEATHER, SEARCH, SAVE)

Call = tuple[str, dict[str, Any]]
PARIS: Call = ("get_weather", {"city": "Paris"})
OSLO: Call = ("get_weather", {"city": "Oslo", "days": 3, "unit": "celsius"})
NOTES: Call = ("search_notes", {"query": 'kitchen "plan"', "tags": ["home", "2026"], "archived": False})
CODE: Call = ("save_file", {"path": "src/min.py", "content": "def smaller(a, b):\n    return a if a < b else b\n"})


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
        "response": {"content": "It is 24 degrees and sunny in Paris."},
    },
    {"match": {"userMessage": "Oslo and my kitchen notes"}, "response": {"toolCalls": _told(OSLO, NOTES)}},
    {"match": {"userMessage": "Save the function"}, "response": {"toolCalls": _told(CODE)}},
]
ASK_PARIS = "What is the weather in Paris?"
ASK_BOTH = "Look up Oslo and my kitchen notes."
ASK_CODE = "Save the function that gives the smaller of two values."


# Calls written as text, as the families write them


def hermes(*calls: Call) -> str:
    return "\n".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>" for name, arguments in calls
    )


def invoke_xml(*calls: Call) -> str:
    """Claude's markup: text values stand as they are, others as JSON."""

    def value(given: Any) -> str:
        return given if isinstance(given, str) else json.dumps(given)

    def block(name: str, arguments: dict[str, Any]) -> str:
        inside = "\n".join(f'<parameter name="{key}">{value(given)}</parameter>' for key, given in arguments.items())
        return f'<invoke name="{name}">\n{inside}\n</invoke>'

    blocks = "\n".join(block(*call) for call in calls)
    return f"<function_calls>\n{blocks}\n</function_calls>"


def kimi(*calls: Call) -> str:
    blocks = "".join(
        f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{json.dumps(arguments)}<|tool_call_end|>"
        for number, (name, arguments) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{blocks}<|tool_calls_section_end|>"


def deepseek(*calls: Call) -> str:
    blocks = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{json.dumps(arguments)}\n```<｜tool▁call▁end｜>"
        for name, arguments in calls
    )
    return f"<｜tool▁calls▁begin｜>{blocks}<｜tool▁calls▁end｜>"


def fenced(call: Call) -> str:
    name, arguments = call
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments}, indent=2)}\n```"


def envelope(*calls: Call, content: str = "") -> str:
    entries = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return json.dumps({"toolCalls": entries, "content": content, "needsMoreWork": bool(calls)})


def failed_generation(text: str) -> Failure:
    error = {
        "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": text,
    }
    return Failure(400, {"error": error})


SUNNY = "It is 24 degrees and sunny in Paris."
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
    line = recorder.line(id=run.id, tools=run.tools, expect=_expectation(run.calls, run.content))
    for exchange, kept in zip(run.exchanges, line["exchanges"], strict=True):
        if exchange.expect is not None:
            kept["expect"] = _expectation(exchange.expect, None)
    return line


def _expectation(calls: Iterable[Call], content: str | None) -> dict[str, Any]:
    expected: dict[str, Any] = {"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
    return expected | ({"content": content} if content is not None else {})


async def record_all(runs: Iterable[Run], folder: Path) -> None:
    """Record the runs and write a file a provider, each anew."""
    by_file: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    runs = list(runs)
    with ExitStack() as peers:
        foreign = peers.enter_context(Aimock(AIMOCK_FIXTURES)) if any(run.foreign for run in runs) else None
        for run in runs:
            with WireServer([exchange.step or "" for exchange in run.exchanges]) as own:
                peer = foreign if run.foreign and foreign is not None else own
                by_file[run.file].append(await record(run, peer))
            print(f"{run.file}: {run.id}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in sorted(by_file.items()):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / name).write_text(text, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Record fixtures/recorded anew from servers on this machine.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="the folder to write to")
    logging.getLogger("llmcore.adapters").setLevel(logging.ERROR)
    asyncio.run(record_all(RUNS, parser.parse_args().output))


if __name__ == "__main__":
    main()
