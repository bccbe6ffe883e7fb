"""The loop: a run with one tool and a final answer, beside pydantic-ai's FunctionModel and openai-agents with a fake model.

    python -m benchmarks.loop --setup     # once: the peers, into benchmarks/.peers/agents
    python -m benchmarks.loop [--rounds 5] [--runs 200]

All three are told the same: a user's question, one async tool `add(a, b)`; the model calls it and then answers with the sum. Nothing
waits and nothing is sent. `at once`: `--runs` runs at the same time, each with five turns of one call; the answers are compared.
`waiting`: what a run holds that waits for its model (tracemalloc, 1000 of them).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import best_of, conditions, table

__all__ = ["main"]

FOLDER = Path(__file__).parent / ".peers" / "agents"
_PINS = ("pydantic-ai-slim==2.68.0", "openai-agents==0.24.0")
_QUESTION = "What is 2 and 3?"
Run = Callable[[int], Awaitable[str]]
"""A run whose model calls the tool in so many turns before it answers; gives the answer."""


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def ours() -> Run:
    from llmcore import FakeModel, Orchestrator, Request
    from llmcore.testing.replies import tool_call_body

    def made(turns: int) -> FakeModel:
        def reply(request: Request) -> Any:
            done = sum(message.role == "assistant" for message in request.messages)
            return tool_call_body([("add", {"a": 2, "b": 3})], "", done) if done < turns else "The sum is 5."

        return FakeModel(default=reply)

    models = {turns: made(turns) for turns in (1, 5)}
    orchestrators = {turns: Orchestrator(model, [add]) for turns, model in models.items()}

    async def run(turns: int) -> str:
        answer = (await orchestrators[turns].run(_QUESTION)).content
        models[turns].reset()  # it keeps all requests for a test to look at; theirs keep none
        return answer

    return run


def pydantic_ai() -> Run:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def made(turns: int) -> Any:
        def reply(messages: list[Any], _: Any) -> Any:
            done = sum(isinstance(message, ModelResponse) for message in messages)
            part = ToolCallPart("add", {"a": 2, "b": 3}) if done < turns else TextPart("The sum is 5.")
            return ModelResponse(parts=[part])

        return Agent(FunctionModel(reply), tools=[add])

    agents = {turns: made(turns) for turns in (1, 5)}

    async def run(turns: int) -> str:
        return (await agents[turns].run(_QUESTION)).output

    return run


def openai_agents() -> Run:
    from agents import Agent, RunConfig, Runner, function_tool
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Fake(Model):
        def __init__(self, turns: int) -> None:
            self._turns = turns

        async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
            done = 0 if isinstance(input, str) else sum(item.get("type") == "function_call" for item in input)
            if done < self._turns:
                call = ResponseFunctionToolCall(
                    id=f"fc_{done}", call_id=f"call_{done}", name="add", arguments='{"a": 2, "b": 3}', type="function_call"
                )
                return ModelResponse(output=[call], usage=Usage(), response_id=None)
            said = ResponseOutputText(text="The sum is 5.", type="output_text", annotations=[])
            message = ResponseOutputMessage(id="m", content=[said], role="assistant", status="completed", type="message")
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **named: Any) -> Any:
            raise NotImplementedError

    agents = {turns: Agent(name="sums", model=Fake(turns), tools=[function_tool(add)]) for turns in (1, 5)}
    config = RunConfig(tracing_disabled=True)

    async def run(turns: int) -> str:
        return str((await Runner.run(agents[turns], _QUESTION, run_config=config)).final_output)

    return run


_IN_A_ROW = 10

CONTENDERS: dict[str, Callable[[], Run]] = {"llmcore": ours, "pydantic-ai": pydantic_ai, "openai-agents": openai_agents}


def one_after_another(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """CPU seconds of a run with one tool turn. Several at a time are handed to the event loop: to start that takes 0.1 ms, which are
    nobody's."""

    async def some(run: Run) -> None:
        for _ in range(_IN_A_ROW):
            await run(1)

    with asyncio.Runner() as runner:
        spent = best_of({name: lambda run=run: runner.run(some(run)) for name, run in runs.items()}, rounds, 0.05)
    return {name: seconds / _IN_A_ROW for name, seconds in spent.items()}


def at_once(run: Run, many: int, rounds: int) -> float:
    """Runs a second, of `many` at the same time, five tool turns each; the best of the rounds."""

    async def all_of_them() -> float:
        start = time.perf_counter()
        answers = await asyncio.gather(*(run(5) for _ in range(many)))
        spent = time.perf_counter() - start
        assert set(answers) == {"The sum is 5."}, set(answers)
        return many / spent

    return max(asyncio.run(all_of_them()) for _ in range(rounds))


def held_while_waiting(many: int = 1000) -> float:
    """Bytes that a run of ours with one tool holds while its model does not answer."""
    from llmcore import FakeModel, Orchestrator, Request

    async def measured() -> float:
        let_go = asyncio.Event()

        async def reply(_: Request) -> str:
            await let_go.wait()
            return "ok"

        orchestrator = Orchestrator(FakeModel(default=reply), [add])
        let_go.set()
        await orchestrator.run(_QUESTION)
        let_go.clear()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tasks = [asyncio.create_task(orchestrator.run(_QUESTION)) for _ in range(many)]
        await asyncio.sleep(2)
        gc.collect()
        held = (tracemalloc.get_traced_memory()[0] - before) / many
        tracemalloc.stop()
        let_go.set()
        await asyncio.gather(*tasks)
        return held

    return asyncio.run(measured())


def install() -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(FOLDER), *_PINS]
    subprocess.run(command, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    if options.setup:
        install()
        return
    sys.path.insert(0, str(FOLDER))
    runs = {name: make() for name, make in CONTENDERS.items()}
    for name, run in runs.items():
        assert asyncio.run(_answer(run)) == "The sum is 5.", name
    print(conditions(), end="\n\n")
    alone = one_after_another(runs, options.rounds)
    together = {name: at_once(run, options.runs, options.rounds) for name, run in runs.items()}
    rows = [
        [
            name,
            f"{alone[name] * 1e3:.2f}",
            f"{alone['llmcore'] / alone[name]:.2f}",
            f"{together[name]:.0f}",
            f"{together['llmcore'] / together[name]:.1f}",
        ]
        for name in runs
    ]
    print(table(["one tool and an answer", "ms of CPU", "ours / its", f"{options.runs} at once, runs/s", "ours / its"], rows))
    print(f"\na waiting run of ours with one tool holds {held_while_waiting() / 1e3:.1f} KB")


async def _answer(run: Run) -> str:
    return await run(1)


if __name__ == "__main__":
    main()
