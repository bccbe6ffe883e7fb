"""Which calls in text a run accepts: by its policy, and by what its endpoint has written before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmcore import CallerError, FakeModel, Orchestrator, RunResult, record
from llmcore.adapters.providers.families import OWN_DIALECTS
from llmcore.normalizer import DIALECTS
from llmcore.testing.replies import tool_call_body
from llmcore.transcripts import read_transcripts
from llmcore.types.requests import TextCalls

pytestmark = pytest.mark.anyio

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
OTHER = '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}'
NATIVE = tool_call_body([("get_weather", {"city": "Rome"})], None, 1)


def get_weather(city: str) -> str:
    """Weather."""
    return f"{city}: sunny"


def ran(result: RunResult[Any]) -> list[bool]:
    return [record.ran for record in result.tool_results]


def registry(**model: Any) -> dict[str, Any]:
    return {"models": {"m": {"provider": "openai_compatible", "model": "m", "base_url": "http://localhost:1", **model}}}


async def test_a_runs_policy_beats_the_models_and_that_the_orchestrators() -> None:
    async def calls(orchestrator: TextCalls | None, model: TextCalls | None, run: TextCalls | None) -> list[bool]:
        fake = FakeModel(f"Let me look.\n{CALL}", default="done")
        given: dict[str, Any] = {} if orchestrator is None else {"text_calls": orchestrator}
        made = Orchestrator(registry(**({} if model is None else {"text_calls": model})), [get_weather], adapter=fake, **given)
        return ran(await (made.run("?") if run is None else made.run("?", text_calls=run)))

    assert await calls(None, None, None) == [True]
    assert await calls("off", None, None) == []
    assert await calls("off", "standard", None) == [True]
    assert await calls("standard", "off", None) == []
    assert await calls("off", "off", "standard") == [True]
    assert await calls(None, "standard", "alone") == [False]


@pytest.mark.parametrize("streamed", [False, True])
async def test_beside_words_a_model_that_calls_natively_is_asked_about_a_call_in_another_dialect(streamed: bool) -> None:
    async def result(text: str, model: str = "gpt-x") -> RunResult[Any]:
        fake = FakeModel(NATIVE, text, default="done")
        made = Orchestrator(registry(model=model), [get_weather], adapter=fake)
        if not streamed:
            return await made.run("?")
        stream = made.stream("?")
        async for _ in stream:
            pass
        return stream.result

    assert ran(await result(f"Look:\n{CALL}")) == [True, False]
    assert ran(await result(CALL)) == [True, True]
    assert ran(await result(f"Look:\n{CALL}", model="qwen3-8b")) == [True, True]
    assert ran(await result(f"Look:\n{OTHER}", model="qwen3-8b")) == [True, False]


async def test_a_dialect_that_the_endpoint_was_seen_to_write_is_its_own() -> None:
    fake = FakeModel(NATIVE, OTHER, f"Look:\n{OTHER}", f"Look:\n{CALL}", default="done")
    result = await Orchestrator(registry(model="gpt-x"), [get_weather], adapter=fake).run("?")
    assert ran(result) == [True, True, True, False]


async def test_of_an_endpoint_that_nothing_is_known_of_the_rules_alone_judge() -> None:
    fake = FakeModel(f"Look:\n{CALL}", f"Look:\n{OTHER}", default="done")
    assert ran(await Orchestrator(registry(model="gpt-x"), [get_weather], adapter=fake).run("?")) == [True, True]


async def test_a_recording_says_what_the_run_took_for_the_models_own(tmp_path: Path) -> None:
    where = tmp_path / "run.jsonl"
    fake = FakeModel(NATIVE, f"Look:\n{CALL}", default="done")
    with record(where):
        await Orchestrator(registry(model="qwen3-8b"), [get_weather], adapter=fake, text_calls="alone").run("?")
    [transcript] = read_transcripts(where)
    notes = [exchange.attempt for exchange in transcript.exchanges]
    assert {note.text_calls for note in notes} == {"alone"}
    assert notes[0].own_dialects is None
    assert "hermes" in (notes[1].own_dialects or ())


def test_another_word_is_refused() -> None:
    with pytest.raises(CallerError, match="Orchestrator: `text_calls` must be 'standard', 'alone' or 'off'"):
        Orchestrator(FakeModel("x"), text_calls="never")  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="run: `text_calls` must be"):
        Orchestrator(FakeModel("x")).run_sync("x", text_calls="never")  # type: ignore[call-overload]
    with pytest.raises(CallerError, match="text_calls"):
        Orchestrator(registry(text_calls="never"))


def test_the_dialects_of_the_families_are_rows_of_the_registry() -> None:
    assert {name for _, names in OWN_DIALECTS for name in names} <= DIALECTS.keys()
