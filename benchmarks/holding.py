"""How long one step of a run holds the event loop: CPU time of the loop's thread, in a new process for each kind of run.

    python -m benchmarks.holding [--warm] [--only NAME ...] [--modules]

Each step of the loop is measured by `time.thread_time`, so other processes do not count. A pass of the garbage collector is told
apart. Without `--warm` the first run imports LiteLLM, in a thread; with it, `warm_up()` was awaited before. `--modules` names the
modules that a step over the bar imported.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["main"]

BAR = 5.0
"""Milliseconds."""


class Steps:
    """Measures each step of the running loop. Only one at a time."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float, str, list[str]]] = []
        """CPU and collector in milliseconds, what ran, which modules it imported."""
        self._collecting = 0.0
        self._began = 0.0
        self.phase = ""

    def __enter__(self) -> Steps:
        handle: Any = asyncio.Handle
        self._run = run = handle._run
        thread = threading.get_ident()
        gc.callbacks.append(self._collect)

        def measured(one: Any) -> None:
            if threading.get_ident() != thread:  # of another loop
                run(one)
                return
            collected, modules, began = self._collecting, len(sys.modules), time.thread_time()
            run(one)
            took = 1000 * (time.thread_time() - began)
            if took > 1:
                named = [*sys.modules][modules:] if len(sys.modules) > modules else []
                self.seen.append((took, 1000 * (self._collecting - collected), self.phase, named))

        handle._run = measured
        return self

    def __exit__(self, *_: object) -> None:
        handle: Any = asyncio.Handle
        handle._run = self._run
        gc.callbacks.remove(self._collect)

    def _collect(self, phase: str, _: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if phase == "start":
            self._began = time.thread_time()
        else:
            self._collecting += time.thread_time() - self._began


def _model(base: str, name: str = "m", **more: Any) -> dict[str, Any]:
    return {"provider": "openai_compatible", "model": name, "base_url": base, "api_key": "sk-benchmark-0123456789abcdef", **more}


def _weather(city: str, days: int = 3, units: str | None = None) -> dict[str, Any]:
    """The weather.

    Args:
        city: Where.
        days: How many days.
    """
    return {"city": city, "days": days, "sunny": True}


async def _text(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "text")}})
    await step("first run")
    await orchestrator.run("Hello?")
    await step("second run")
    await orchestrator.run("Hello?")


async def _stream(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "text")}})
    for name in ("first stream", "second stream"):
        await step(name)
        async for _ in orchestrator.stream("Hello?"):
            pass


async def _tools(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    await step("constructing")
    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "tool")}}, tools=[llmcore.tool(_weather)])
    for name in ("first run with a tool", "second run with a tool"):
        await step(name)
        await orchestrator.run("Weather in Paris?")
    await step("streamed run with a tool")
    async for _ in orchestrator.stream("Weather in Paris?"):
        pass


async def _text_tools(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "text_tool", preferred_modes=["text"])}}, tools=[_weather])
    for name in ("first text call", "second text call"):
        await step(name)
        await orchestrator.run("Weather in Paris?")


async def _typed(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import pydantic

    import llmcore

    class City(pydantic.BaseModel):
        name: str
        population: int
        districts: list[str] = []

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "typed")}})
    for name in ("first execute", "second execute"):
        await step(name)
        await orchestrator.execute("Paris?", City)
    await step("execute of list[str]")
    await orchestrator.execute("Paris?", dict[str, Any])
    await step("typed stream")
    async for _ in orchestrator.stream("Paris?", City):
        pass


async def _reask(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import pydantic

    import llmcore

    class City(pydantic.BaseModel):
        name: str
        population: int

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "reask")}})
    await step("first re-ask")
    await orchestrator.execute("Paris?", City)


async def _bad_call(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "bad_call")}}, tools=[_weather])
    await step("first re-ask of a call")
    await orchestrator.run("Weather?")


async def _modes(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import pydantic

    import llmcore

    class City(pydantic.BaseModel):
        name: str
        population: int

    orchestrator = llmcore.Orchestrator(
        {
            "models": {
                "a": _model(base, "typed", preferred_modes=["json_schema"]),
                "b": _model(base, "typed", preferred_modes=["json_object"]),
            }
        }
    )
    await step("first JSON schema")
    await orchestrator.execute("Paris?", City, model="a")
    await step("first JSON mode")
    await orchestrator.execute("Paris?", City, model="b")
    text = llmcore.Orchestrator({"models": {"m": _model(base, "envelope", preferred_modes=["json_schema"])}}, tools=[_weather])
    await step("first envelope")
    await text.run("Weather?")


async def _errors(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    orchestrator = llmcore.Orchestrator(
        {"models": {name: _model(base, name) for name in ("e400", "e401", "e404", "e429", "e500", "tools_refused", "html")}}
    )
    for name in ("e400", "e401", "e404", "e429", "e500", "html"):
        await step(f"first {name}")
        with suppress(llmcore.LLMCoreError):
            await orchestrator.run("Hello?", model=name, budget=llmcore.Budget(attempts=1))
    await step("tools refused")
    await llmcore.Orchestrator({"models": {"m": _model(base, "tools_refused")}}, tools=[_weather]).run("Weather?")


async def _yaml(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    with TemporaryDirectory() as folder:
        path = Path(folder) / "models.yaml"
        path.write_text(
            f"llm:\n  models:\n    m:\n      provider: openai_compatible\n      model: text\n      base_url: {base}\n      api_key: sk-benchmark-0123456789abcdef\n",
            "utf-8",
        )
        await step("first registry of YAML")
        orchestrator = llmcore.Orchestrator(str(path))
        await step("first run of it")
        await orchestrator.run("Hello?")


async def _saved(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    def pay(amount: int) -> str:
        return "paid"

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "pay")}}, tools=[llmcore.tool(pay, requires_approval=True)])
    await step("run to approve")
    result = await orchestrator.run("Pay 3.")
    await step("saving")
    saved = result.model_dump_json()
    await step("loading")
    loaded = llmcore.RunResult.model_validate_json(saved)
    await step("resuming")
    await orchestrator.run(loaded, answers={call.id: llmcore.Approve() for call in loaded.pending})


async def _agent(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    await step("making an agent")
    agent = llmcore.Agent({"models": {"m": _model(base, "tool")}}, tools=[_weather], system="You help.")
    await step("first chat")
    await agent.chat("Weather in Paris?")


async def _own(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import pydantic

    import llmcore

    class City(pydantic.BaseModel):
        name: str
        population: int

    model = llmcore.FakeModel().text("Hello.").text('{"name": "Paris", "population": 2}')
    await step("constructing")
    orchestrator = llmcore.Orchestrator(model)
    await step("first run without LiteLLM")
    await orchestrator.run("Hello?")
    await step("typed run without LiteLLM")
    await orchestrator.execute("Paris?", City)


async def _probe(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    orchestrator = llmcore.Orchestrator({"models": {"m": _model(base, "tool")}})
    await step("probe")
    await orchestrator.probe("m")


async def _parse(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import pydantic

    import llmcore

    class City(pydantic.BaseModel):
        name: str
        population: int

    await step("first parse")
    llmcore.parse('```json\n{"name": "Paris", "population": 2,}\n```', City)
    await step("first normalize")
    llmcore.normalize('<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>', [_weather])


_PROVIDERS = ("openai", "anthropic", "gemini", "mistral", "groq", "ollama")


async def _wires(base: str, step: Callable[[str], Awaitable[None]]) -> None:
    import llmcore

    root = base.removesuffix("/v1")
    paths = {"openai": "/v1", "mistral": "/v1", "groq": "/openai/v1", "gemini": "/v1beta"}
    models = {
        name: {
            "provider": name,
            "model": "tool",
            "base_url": root + paths.get(name, ""),
            "api_key": "sk-benchmark-0123456789abcdef",
        }
        for name in _PROVIDERS
    }
    orchestrator = llmcore.Orchestrator({"models": models}, tools=[_weather])
    for name in _PROVIDERS:
        await step(f"first run at {name}")
        await orchestrator.run("Weather in Paris?", model=name)
        await step(f"first stream at {name}")
        async for _ in orchestrator.stream("Weather in Paris?", model=name):
            pass


SCENARIOS: dict[str, Callable[[str, Callable[[str], Awaitable[None]]], Awaitable[None]]] = {
    "text": _text,
    "stream": _stream,
    "tools": _tools,
    "text tools": _text_tools,
    "typed": _typed,
    "reask": _reask,
    "bad call": _bad_call,
    "modes": _modes,
    "errors": _errors,
    "yaml": _yaml,
    "saved": _saved,
    "agent": _agent,
    "own": _own,
    "probe": _probe,
    "parse": _parse,
    "wires": _wires,
}


def _child(scenario: str, base: str, *, warm: bool) -> None:
    """One scenario in this process; prints its steps over a millisecond as JSON."""
    import llmcore

    if scenario != "imports":
        for name in ("Orchestrator", "Agent", "tool", "FakeModel", "RunResult", "parse", "normalize"):
            getattr(llmcore, name)

    async def measured() -> list[Any]:
        if warm:
            await llmcore.warm_up()
        with Steps() as steps:

            async def step(name: str) -> None:
                await asyncio.sleep(0)  # what came before is a step of its own
                steps.phase = name

            await asyncio.create_task(SCENARIOS[scenario](base, step))
        return steps.seen

    seen = asyncio.run(measured())
    print(json.dumps(seen))


def script(seen: Any) -> Any:
    """What the server answers, by the model's name."""
    from tests.helpers.wire_server import Failure, Turn, demo

    name = str(seen.body.get("model", ""))
    told = json.dumps(seen.body.get("messages", []))
    answered = '"role": "tool"' in told or "tool_response" in told or "tool_result" in told
    city = '{"name": "Paris", "population": 2000000, "districts": ["Marais"]}'
    if name == "tool" or "/tool" in seen.path or (name == "tools_refused" and not seen.body.get("tools")):
        return demo(seen)
    match name:
        case "text_tool":
            call = '<tool_call>\n{"name": "_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
            return Turn("Sunny." if answered else call)
        case "typed":
            return _typed_turn(seen, city)
        case "reask":
            return _typed_turn(seen, city if "expected integer" in told else '{"name": "Paris", "population": "many"}')
        case "bad_call":
            return (
                Turn("Sunny.")
                if answered
                else Turn(calls=[("_weather", '{"city": "Paris"}' if "expected" in told else '{"town": "Paris"}')])
            )
        case "envelope":
            return Turn('{"toolCalls": [], "content": "Sunny.", "needsMoreWork": false}')
        case "pay":
            return Turn("Paid.") if answered else Turn(calls=[("pay", {"amount": 3})])
        case "tools_refused":
            return Failure(400, {"error": {"message": "Tools are not supported by this model.", "type": "invalid_request_error"}})
        case "html":
            return Failure(502, "<html><body><h1>502 Bad Gateway</h1></body></html>")
        case _ if name.startswith("e") and name[1:].isdigit():
            return Failure(int(name[1:]), {"error": {"message": "That did not work, for reasons. " * 30, "type": "some_error"}})
    return Turn("Hello there, it is a fine day.")


def _typed_turn(seen: Any, city: str) -> Any:
    from tests.helpers.wire_server import Turn

    names = [tool["function"]["name"] for tool in seen.body.get("tools", ())]
    return Turn(calls=[(names[0], city)]) if names else Turn(city)


def main() -> None:
    """Print each phase's longest step."""
    parser = argparse.ArgumentParser(description="How long a step of a run holds the event loop.")
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--modules", action="store_true")
    parser.add_argument("--only", nargs="*", default=sorted(SCENARIOS))
    parser.add_argument("--child")
    parser.add_argument("--base")
    asked = parser.parse_args()
    if asked.child:
        _child(asked.child, asked.base, warm=asked.warm)
        return
    from tests.helpers.wire_server import WireServer

    with WireServer(script) as server:
        for name in asked.only:
            command = [sys.executable, "-m", "benchmarks.holding", "--child", name, "--base", server.base_url("openai")]
            done = subprocess.run([*command, *(["--warm"] if asked.warm else [])], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name}: failed\n{done.stderr[-2000:]}")
                continue
            _print(name, json.loads(done.stdout.strip().splitlines()[-1]), modules=asked.modules)


def _print(scenario: str, seen: list[Any], *, modules: bool) -> None:
    longest: dict[str, Any] = {}
    for one in seen:
        if one[0] - one[1] > (longest[one[2]][0] - longest[one[2]][1] if one[2] in longest else 0):
            longest[one[2]] = one
    for phase, (took, collecting, _, named) in longest.items():
        own = took - collecting
        over = "OVER" if own > BAR else "    "
        print(f"{scenario:10} {phase:32} {own:6.1f} ms {over} collector {collecting:6.1f} ms, {len(named)} modules imported")
        if modules and own > BAR:
            print("    " + " ".join(named))


if __name__ == "__main__":
    main()
