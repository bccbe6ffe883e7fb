"""Runs of the whole stack: the orchestrator asks, calls tools, asks again, changes mode and model, all over a socket.

Each answer stands beside the reason for which the request must be made; recording fails where the orchestrator asks for
another reason, in another order, or ends with another text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from llmcore import Budget, CapabilityStore, Finished, ModelRegistry, Orchestrator, RunResult, Tool
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.recorder import Recorder
from llmcore.fallback import EscalateModel, OtherMode, Retry, TextOnly
from llmcore.types import AttemptReason, RetryConfig
from llmcore.validator import json_schema
from scripts.recorded.material import (
    ASK_BOTH,
    ASK_CODE,
    ASK_PARIS,
    CODE,
    NOTES,
    OSLO,
    PARIS,
    SAVE,
    SEARCH,
    SUNNY,
    TOOLS,
    WEATHER,
    WIRE,
    Call,
    deepseek,
    envelope,
    expectation,
    failed_generation,
    hermes,
    kimi,
    llama,
)
from tests.helpers.wire_server import Failure, Step, Turn, WireServer

__all__ = ["RUNS", "Answer", "Model", "StackRun", "record"]

_STRATEGIES = (Retry(RetryConfig(max_retries=2, base=0)), OtherMode(), EscalateModel(), TextOnly())
"""The default ones, without waiting."""
_RESULTS = {
    WEATHER.name: "24 degrees, sunny",
    SEARCH.name: "kitchen plan.md: new oven, two shelves",
    SAVE.name: "saved",
}


@dataclass
class Model:
    """A model of the run's registry; it escalates to the next one."""

    provider: str
    model: str
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Answer:
    """What the server answers to the next request, why that request must be made, and what its reply should give (None:
    not judged, for replies that cannot be used)."""

    reason: AttemptReason
    step: Step
    calls: list[Call] | None = None
    content: str | None = None


@dataclass
class StackRun:
    """One line of a fixture file. With `output_type` the last answer's text should give `value`."""

    id: str
    models: list[Model]
    prompt: str
    answers: list[Answer]
    streamed: bool = False
    output_type: type[BaseModel] | None = None
    value: Any = None
    budget: Budget | None = None


class City(BaseModel):
    """The typed output of a run."""

    name: str
    country: str
    people: int


def native(*calls: Call, text: str = "", **more: Any) -> Turn:
    return Turn(text, calls=list(calls), **more)


def refused(message: str, status: int = 400) -> Failure:
    return Failure(status, {"error": {"message": message, "type": "invalid_request_error", "code": status}})


GPT, CLAUDE, GEMINI = (
    Model("openai", "gpt-4o"),
    Model("anthropic", "claude-sonnet-4-5"),
    Model("gemini", "gemini-3.1-pro-preview"),
)
BOTH = "Oslo stays sunny for three days, and your kitchen plan lists an oven and two shelves."
SAVED = "I saved it as src/min.py."
OVERLOADED = Failure(503, {"error": {"message": "Service unavailable: the model is overloaded", "type": "service_unavailable"}})

RUNS: list[StackRun] = [
    StackRun(
        "openai-reask",
        [GPT],
        "How is Oslo for the next three days?",
        [
            Answer("first", native(("get_weather", {"city": "Oslo", "days": "a few", "unit": "C"}))),
            Answer("reask", native(OSLO), [OSLO]),
            Answer("turn", "Oslo stays sunny for three days.", [], "Oslo stays sunny for three days."),
        ],
    ),
    StackRun(
        "anthropic-two-tool-turns-streamed",
        [CLAUDE],
        "Find my kitchen notes, then save the function that gives the smaller of two values.",
        [
            Answer(
                "first",
                native(NOTES, text="First your notes.", reasoning="Notes first, then the file.", signature="c2lnbmVk"),
                [NOTES],
                "First your notes.",
            ),
            Answer("turn", native(CODE, text="Now the file."), [CODE], "Now the file."),
            Answer("turn", SAVED, [], SAVED),
        ],
        streamed=True,
    ),
    StackRun(
        "gemini-parallel-tool-loop",
        [GEMINI],
        ASK_BOTH,
        [Answer("first", native(OSLO, NOTES, signature="c2lnbmVk"), [OSLO, NOTES]), Answer("turn", BOTH, [], BOTH)],
    ),
    StackRun(
        "groq-bad-twice-then-larger-model",
        [
            Model("groq", "llama-3.1-8b-instant", {"retry_with_different_format": False}),
            Model("groq", "llama-3.3-70b-versatile"),
        ],
        ASK_PARIS,
        [
            Answer("first", native(("get_weather", {"town": "Paris"}))),
            Answer("reask", native(("get_weather", {"location": "Paris", "days": 0}))),
            Answer("model", native(PARIS), [PARIS]),
            Answer("turn", SUNNY, [], SUNNY),
        ],
        budget=Budget(reasks=1),
    ),
    StackRun(
        "groq-failed-generation-tool-loop",
        [Model("groq", "llama-3.3-70b-versatile")],
        ASK_BOTH,
        [
            Answer("first", failed_generation(llama(OSLO, NOTES)), [OSLO, NOTES]),
            Answer("turn", BOTH, [], BOTH),
        ],
    ),
    StackRun(
        "mistral-down-then-larger-model",
        [Model("mistral", "mistral-small-latest"), Model("mistral", "mistral-large-latest")],
        ASK_CODE,
        [
            Answer("first", OVERLOADED),
            Answer("retry", OVERLOADED),
            Answer("model", native(CODE), [CODE]),
            Answer("turn", SAVED, [], SAVED),
        ],
    ),
    StackRun(
        "mistral-typed-output-reask",
        [Model("mistral", "mistral-large-latest", {"preferred_modes": ["json_schema"]})],
        "Which city has the Eiffel tower? Population of the city proper.",
        [
            Answer("first", '{"name": "Paris", "country": "France", "people": "about two million"}'),
            Answer("reask", '{"name": "Paris", "country": "France", "people": 2048472}'),
        ],
        output_type=City,
        value={"name": "Paris", "country": "France", "people": 2048472},
    ),
    StackRun(
        "ollama-no-tools-then-json-schema",
        [Model("ollama", "gemma2:9b")],
        ASK_BOTH,
        [
            Answer("first", Failure(400, {"error": "registry.ollama.ai/library/gemma2:9b does not support tools"})),
            Answer("mode", envelope(OSLO, NOTES, content="One moment."), [OSLO, NOTES], "One moment."),
            Answer("turn", envelope(content=BOTH), [], BOTH),
        ],
    ),
    StackRun(
        "openrouter-no-tools-then-text",
        [Model("openrouter", "qwen/qwen-2.5-7b-instruct", {"preferred_modes": ["native_tools", "text"]})],
        ASK_PARIS,
        [
            Answer("first", refused('No endpoints found that support tool use. Try disabling "get_weather".', 404)),
            Answer("mode", "I will look.\n" + hermes(PARIS), [PARIS], "I will look."),
            Answer("turn", SUNNY, [], SUNNY),
        ],
    ),
    StackRun(
        "openrouter-llama-text-call-streamed",
        [Model("openrouter", "meta-llama/llama-3.1-8b-instruct")],
        ASK_PARIS,
        [Answer("first", llama(PARIS), [PARIS]), Answer("turn", SUNNY, [], SUNNY)],
        streamed=True,
    ),
    StackRun(
        "openrouter-kimi-cut-then-whole",
        [Model("openrouter", "moonshotai/kimi-k2")],
        ASK_CODE,
        [
            Answer("first", Turn(kimi(CODE)[:150], finish="length")),
            Answer("reask", kimi(CODE), [CODE]),
            Answer("turn", SAVED, [], SAVED),
        ],
    ),
    StackRun(
        "openrouter-deepseek-reask-streamed",
        [Model("openrouter", "deepseek/deepseek-chat-v3-0324")],
        ASK_CODE,
        [
            Answer("first", deepseek(CODE).replace(', "content"', ' "content"')),
            Answer("reask", deepseek(CODE), [CODE]),
            Answer("turn", SAVED, [], SAVED),
        ],
        streamed=True,
    ),
]


async def record(run: StackRun) -> dict[str, Any]:
    """Carry the run out and return its line. Raises `AssertionError` where it does not go as written."""
    recorder, store = Recorder(provenance=WIRE), CapabilityStore()
    adapter = LiteLLMAdapter(store, recorder.observe)
    with WireServer([answer.step for answer in run.answers]) as server:
        async with Orchestrator(
            _registry(run, server), _tools(run), adapter=adapter, capabilities=store, strategies=_STRATEGIES, budget=run.budget
        ) as orchestrator:
            result = await _result(orchestrator, run)
    line = recorder.line(
        id=run.id,
        tools=() if run.output_type else TOOLS,
        output_schema=json_schema(run.output_type) if run.output_type else None,
        expect=_judged(run, run.answers[-1]),
    )
    for answer, kept in zip(run.answers[:-1], line["exchanges"], strict=False):
        if answer.calls is not None:
            kept["expect"] = expectation(answer.calls, answer.content)
    _check(run, line, result)
    return line


async def _result(orchestrator: Orchestrator, run: StackRun) -> RunResult:
    options: dict[str, Any] = {"max_tokens": 512, "output_type": run.output_type}
    if not run.streamed:
        whole: RunResult = await orchestrator.run(run.prompt, **options)
        return whole
    events = [event async for event in orchestrator.stream(run.prompt, **options)]
    result: RunResult = next(event.result for event in events if isinstance(event, Finished))
    return result


def _registry(run: StackRun, server: WireServer) -> ModelRegistry:
    aliases = [model.model for model in run.models]
    return ModelRegistry.from_dict(
        {
            "models": {
                model.model: {
                    "provider": model.provider,
                    "model": model.model,
                    "base_url": server.base_url(model.provider),
                    "escalates_to": aliases[number : number + 1],
                    **model.settings,
                }
                for number, model in enumerate(run.models, 1)
            }
        }
    )


def _tools(run: StackRun) -> list[Tool]:
    if run.output_type is not None:
        return []

    return [Tool.from_definition(definition, _answering(_RESULTS[definition.name])) for definition in TOOLS]


def _answering(text: str) -> Callable[..., str]:
    def answer(**_: Any) -> str:
        return text

    return answer


def _judged(run: StackRun, last: Answer) -> dict[str, Any]:
    return {"value": run.value} if run.output_type else expectation(last.calls or [], last.content)


def _check(run: StackRun, line: dict[str, Any], result: RunResult) -> None:
    wanted = [answer.reason for answer in run.answers]
    made = [exchange["attempt"]["reason"] for exchange in line["exchanges"]]
    assert made == wanted == [attempt.reason for attempt in result.attempts], f"{run.id}: asked for {made}, not for {wanted}"
    got = result.output.model_dump() if run.output_type else result.content
    assert got == (run.value if run.output_type else run.answers[-1].content), f"{run.id}: ended with {got!r}"
