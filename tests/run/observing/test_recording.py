"""`llmcore.record` records the user's program by one line, and the recording can be replayed."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

import llmcore
from llmcore import (
    Agent,
    ConfigError,
    FakeModel,
    FallbackExhausted,
    ModelConfig,
    ModelRegistry,
    Orchestrator,
    RateLimited,
    ReplayAdapter,
    RunContext,
    tool,
)
from llmcore.adapters.recording.proxy import RecordingProxy
from llmcore.run.asking import warming
from llmcore.transcripts import Score, read_transcripts
from tests.helpers.wire_server import Turn, WireServer

pytestmark = pytest.mark.anyio
KEY = "sk-proj-Zx81hqpL0vTn3RaY7cWd5Kf2"


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sun over {city}"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def scripted() -> FakeModel:
    return FakeModel().tool_call("get_weather", {"city": "Paris"}).text("Sunny.")


async def replayed(path: Path, *, streamed: bool = False, run: str | None = None) -> None:
    adapter = ReplayAdapter(path, run=run)
    orchestrator = Orchestrator(adapter, [get_weather])
    if streamed:
        async with orchestrator.stream("How is Paris?") as stream:
            async for _ in stream:
                pass
        result = stream.result
    else:
        result = await orchestrator.run("How is Paris?")
    assert result.content == "Sunny."
    assert [record.value for record in result.tool_results] == ["sun over Paris"]
    assert adapter.finished


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
async def test_an_orchestrator_is_recorded_by_one_line(tmp_path: Path, provider: str, streamed: bool) -> None:
    path = tmp_path / "runs.jsonl"
    script = [Turn("I look.", calls=[("get_weather", {"city": "Paris"})]), Turn("Sunny.")]
    with WireServer(script) as server:
        config = ModelConfig(
            alias="m", provider=provider, model="m-1", base_url=server.base_url(provider), api_key=SecretStr(KEY)
        )
        orchestrator = Orchestrator(ModelRegistry([config]), [get_weather])
        orchestrator = llmcore.record(path, orchestrator)
        async with orchestrator:
            if streamed:
                async with orchestrator.stream("How is Paris?", extra_headers={"x-api-key": KEY}) as stream:
                    async for _ in stream:
                        pass
            else:
                await orchestrator.run("How is Paris?", extra_headers={"x-api-key": KEY})
    assert KEY not in path.read_text()
    (line,) = lines(path)
    assert [exchange["attempt"]["reason"] for exchange in line["exchanges"]] == ["first", "turn"]
    assert line["provenance"].startswith(f"local: {provider} m-1")
    assert [one["function"]["name"] for one in line["tools"]] == ["get_weather"]
    await replayed(path, streamed=streamed)
    await replayed(path, streamed=not streamed)
    score = Score()
    for run in read_transcripts(path):
        score.add(run)
    assert score.report().model_dump()["runs"] == 1


async def test_every_run_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    orchestrator = llmcore.record(path, Orchestrator(FakeModel("One.", "Two.")))
    await orchestrator.run("1?")
    await orchestrator.run("2?")
    assert [line["id"] for line in lines(path)] == ["runs-1", "runs-2"]
    await llmcore.record(path, Orchestrator(FakeModel("Three."))).run("3?")
    assert [line["id"] for line in lines(path)] == ["runs-1", "runs-2", "runs-3"]
    assert (await Orchestrator(ReplayAdapter(path, run="runs-2")).run("2?")).content == "Two."


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_adapter_of_the_callers_own_is_recorded(tmp_path: Path, streamed: bool) -> None:
    path = tmp_path / "runs.jsonl"
    orchestrator = llmcore.record(path, Orchestrator(scripted(), [get_weather]), provenance="local: a test")
    if streamed:
        async with orchestrator.stream("How is Paris?") as stream:
            async for _ in stream:
                pass
    else:
        await orchestrator.run("How is Paris?")
    assert lines(path)[0]["provenance"] == "local: a test"
    await replayed(path)
    await replayed(path, streamed=True)
    with pytest.raises(ConfigError, match="Oslo"):
        await Orchestrator(ReplayAdapter(path), [get_weather]).run("How is Oslo?")


async def test_a_context_records_all_runs_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    helper = Agent(FakeModel("Deep."), name="helper")

    async def ask(context: RunContext[Any]) -> str:
        """Ask within."""
        return (await Orchestrator(FakeModel("Within.")).run("Inner?", parent=context)).content

    model = FakeModel().tool_calls(("helper", {"message": "Deep?"}), ("ask", {})).text("Outer.")
    async with llmcore.record(path) as recording:
        await Orchestrator(model, [helper, ask]).run("Outer?")
        thread = threading.Thread(target=lambda: Orchestrator(FakeModel("Thread.")).run_sync("Thread?"))
        thread.start()
        await asyncio.to_thread(thread.join)
    await Orchestrator(FakeModel("Not recorded.")).run("After?")
    said = sorted(line["exchanges"][0]["request"]["messages"][-1]["content"] for line in lines(path))
    assert said == ["Deep?", "Inner?", "Outer?", "Thread?"]
    assert recording.runs == 4


@pytest.mark.parametrize("way", ["run", "stream", "warm-up"])
def test_what_llmcore_runs_to_load_its_layers_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(warming, "_are_ready", False)
    path = tmp_path / "all.jsonl"
    orchestrator = Orchestrator(FakeModel("Hello."))

    async def streamed() -> None:
        async for _ in orchestrator.stream("Hi"):
            pass

    with llmcore.record(path):
        if way == "warm-up":
            llmcore.warm_up_sync()
        if way == "stream":
            asyncio.run(streamed())
        else:
            orchestrator.run_sync("Hi")
    assert len(lines(path)) == 1
    assert Orchestrator(ReplayAdapter(path)).run_sync("Hi").content == "Hello."


def test_a_context_for_code_without_an_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with llmcore.record(path):
        Orchestrator(scripted(), [get_weather]).run_sync("How is Paris?")
    assert [len(line["exchanges"]) for line in lines(path)] == [2]


async def test_what_failed_is_recorded_and_fails_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    model = FakeModel(RateLimited("slow down", retry_after=0)).tool_call("get_weather", {"city": "Paris"}).text("Sunny.")
    await llmcore.record(path, Orchestrator(model, [get_weather])).run("How is Paris?")
    adapter = ReplayAdapter(path)
    result = await Orchestrator(adapter, [get_weather]).run("How is Paris?")
    assert [attempt.reason for attempt in result.attempts] == ["first", "retry", "turn"]
    assert adapter.finished
    with pytest.raises(FallbackExhausted):
        await llmcore.record(path, Orchestrator(FakeModel(default=RateLimited("no", retry_after=0)))).run(
            "Hi", budget=llmcore.Budget(attempts=1)
        )
    assert "error" in lines(path)[1]["exchanges"][0]


async def test_a_run_that_is_left_is_recorded_as_far_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"

    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return ""

    with llmcore.record(path):
        async with Orchestrator(FakeModel().tool_call("wait"), [wait]).stream("Wait.") as stream:
            async for event in stream:
                if isinstance(event, llmcore.ToolStarted):
                    break
    assert [len(line["exchanges"]) for line in lines(path)] == [1]


async def test_keys_that_are_said_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    config = ModelConfig(alias="fake", provider="fake", model="fake", api_key=SecretStr(KEY))
    model = FakeModel(f"Your key is {KEY}.", chunk_size=5)
    orchestrator = llmcore.record(path, Orchestrator(ModelRegistry([config]), adapter=model))
    async with orchestrator.stream(f"Is {KEY} my key?") as stream:
        async for _ in stream:
            pass
    text = path.read_text()
    assert KEY not in text
    assert KEY[8:] not in "".join(json.loads(text)["exchanges"][0]["chunks"][:-1])


def test_what_cannot_be_recorded_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        llmcore.record(tmp_path / "none" / "runs.jsonl")
    with pytest.raises(ConfigError, match="must be a path"):
        llmcore.record(3)  # type: ignore[call-overload]  # the point of the test
    with pytest.raises(ConfigError, match=r"must be an Orchestrator, not .*Agent.*with llmcore.record"):
        llmcore.record(tmp_path / "runs.jsonl", Agent(FakeModel("x")))  # type: ignore[call-overload]  # the point


async def test_a_recorded_run_that_goes_on_with_an_earlier_one_replays_by_its_id(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    orchestrator = llmcore.record(path, Orchestrator(FakeModel("one", "two")))
    first = await orchestrator.run("A")
    await orchestrator.run("B", message_history=first)
    second = await Orchestrator(ReplayAdapter(path, run="runs-2")).run("B", message_history=first)
    assert second.content == "two"
    both = Orchestrator(ReplayAdapter(path))
    assert (await both.run("B", message_history=await both.run("A"))).content == "two"


@pytest.mark.parametrize("native", [True, False], ids=["native calls", "calls as text"])
async def test_a_tool_loop_that_the_proxy_recorded_replays_as_a_run(tmp_path: Path, native: bool) -> None:
    arguments = {"city": "Oslo"}
    text = json.dumps({"name": "get_weather", "arguments": arguments})
    first = Turn(calls=[("get_weather", arguments)]) if native else Turn(f"<tool_call>{text}</tool_call>")
    path = tmp_path / "runs.jsonl"
    with WireServer([first, Turn("Sunny.")]) as server:
        proxy = RecordingProxy(server.root, path, provider="openai_compatible", provenance="local: a test")
        with proxy:
            model = ModelConfig(
                alias="m", provider="openai_compatible", model="m", base_url=f"{proxy.url}/v1", api_key=SecretStr(KEY)
            )
            live = await Orchestrator(ModelRegistry([model]), [get_weather]).run("Weather in Oslo?")
    replayed = await Orchestrator(ReplayAdapter(path), [get_weather]).run("Weather in Oslo?")
    assert (live.content, replayed.content) == ("Sunny.", "Sunny.")
    assert [record.arguments for record in replayed.tool_results] == [arguments]
