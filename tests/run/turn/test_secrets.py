"""Content of the model reaches the tool and the caller unchanged; what llmcore shows holds no key."""

from __future__ import annotations

import logging
import traceback
from typing import Any, Literal

import pytest

import llmcore
from llmcore.adapters.base import ModelCall
from llmcore.testing import FakeModel
from llmcore.types import Finished, Reply
from tests.run.support import FAST

KEY = "sk-live-7Qf3xLm92KdPz0aB"

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_API_KEY", KEY)


@pytest.mark.parametrize("streamed", [False, True])
async def test_arguments_and_answer_are_untouched_and_what_is_shown_is_masked(
    streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    got: list[str] = []

    def store(path: str) -> str:
        got.append(path)
        return f"stored {path}"

    model = FakeModel().tool_call("store", {"path": f"/keys/{KEY}"}).text(f"Stored {KEY}.")
    orchestrator = llmcore.Orchestrator(model, [store])
    with caplog.at_level(logging.DEBUG):
        if streamed:
            finished = [event async for event in orchestrator.stream("Store it") if isinstance(event, Finished)]
            result: Any = finished[0].result
        else:
            result = await orchestrator.run("Store it")
    assert got == [f"/keys/{KEY}"]
    assert result.content == f"Stored {KEY}."
    assert result.repairs == []
    assert KEY not in f"{result} {result!r} {caplog.text}"
    assert "Stored [secret]." in repr(result)


async def test_an_error_that_quotes_the_model_quotes_no_key() -> None:
    model = FakeModel(default=f'{{"result": "{KEY}"}}')
    orchestrator = llmcore.Orchestrator(model, strategies=FAST)
    with pytest.raises(llmcore.LLMCoreError) as caught:
        await orchestrator.execute("One or two?", Literal["one", "two"])
    error = caught.value
    shown = [f"{part} {part!r}" for part in chained(error)]
    shown += [f"{one.error} {one.detail}" for one in error.attempts]
    assert len(error.attempts) > 1
    assert KEY not in "".join(shown)
    assert KEY not in f"{error.partial!r}"
    assert KEY in error.partial.envelope.content  # the model's own words, as data


async def test_a_tools_error_that_ends_the_run_is_masked() -> None:
    def connect() -> str:
        raise RuntimeError(f"401 for {KEY}")

    model = FakeModel().tool_call("connect", {})
    orchestrator = llmcore.Orchestrator(model, [connect], tool_errors="abort")
    with pytest.raises(llmcore.ToolError) as caught:
        await orchestrator.run("Connect")
    assert "401 for [secret]" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    state = caught.value.with_partial(None).__reduce__()  # what pickle asks for; what the run did is data, as it was said
    assert KEY not in repr(state)


async def test_a_tools_error_without_a_key_stays_chained() -> None:
    def connect() -> str:
        raise RuntimeError("401")

    orchestrator = llmcore.Orchestrator(FakeModel().tool_call("connect", {}), [connect], tool_errors="abort")
    with pytest.raises(llmcore.ToolError) as caught:
        await orchestrator.run("Connect")
    assert isinstance(caught.value.__cause__, RuntimeError)


class Broken(FakeModel):
    lets_exceptions_through = False

    async def complete(self, call: ModelCall) -> Reply:
        raise RuntimeError(f"a bug with {KEY}")


async def test_what_a_broken_adapter_raises_is_masked() -> None:
    with pytest.raises(llmcore.LLMCoreError, match=r"RuntimeError: a bug with \[secret\]") as caught:
        await llmcore.Orchestrator(Broken(), strategies=()).run("Hello")
    error = caught.value
    assert KEY not in "".join(traceback.format_exception(error)) + "".join(repr(one.failure) for one in error.attempts)
    assert KEY not in str(error.as_data())


async def test_an_error_that_cuts_what_it_quotes_shows_no_part_of_a_key() -> None:
    key = "quiteUnlike4nyKeyOfAll"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTHER_API_KEY", key)
        orchestrator = llmcore.Orchestrator(FakeModel("x" * 185 + f" {key}"))
        await orchestrator.run("Hello")
        with pytest.raises(llmcore.ConfigError, match=r"\[secret\]\.\.\.") as caught:
            await orchestrator.run("Hello")
    assert key[:12] not in str(caught.value)


def chained(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
