"""A call that neither the provider nor the normaliser could read is never an answer: a re-ask follows, then another mode."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.types import FallbackExhausted, Finished, LLMCoreError
from tests.helpers.wire_server import Failure, Raw, Step, Turn, WireServer
from tests.run.support import FAST, add, assert_valid, called, calls_in

pytestmark = pytest.mark.anyio

GOOD = {"a": 1, "b": 2}
UNREADABLE = "add with a=1 and b=2 </function>"
ENVELOPE = '{"toolCalls": [{"name": "add", "arguments": {"a": 1, "b": 2}}], "content": "", "needsMoreWork": true}'
ANSWER = '{"toolCalls": [], "content": "3", "needsMoreWork": false}'


def failed(text: str | None, code: str | None = "tool_use_failed") -> dict[str, Any]:
    message = "Failed to call a function. Please adjust your prompt."
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "failed_generation": text}}


async def ended(orchestrator: Orchestrator, streamed: bool, **options: Any) -> RunResult:
    if not streamed:
        whole: RunResult = await orchestrator.run("go", **options)
        return whole
    last = [event async for event in orchestrator.stream("go", **options)][-1]
    assert isinstance(last, Finished)
    result: RunResult = last.result
    return result


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("text", [UNREADABLE, "maybe", "", '{"weather": {"city": "Oslo"}}'])
@pytest.mark.parametrize("code", ["tool_use_failed", "json_validate_failed", "another", None])
async def test_a_failed_call_is_asked_for_again(text: str, code: str | None, streamed: bool) -> None:
    fake = FakeModel(failed(text, code), called("add", GOOD), "3")
    result = await ended(Orchestrator(fake, [add], strategies=FAST), streamed)
    assert result.content == "3"
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
    assert calls_in(result.messages) == [("add", GOOD)]
    assert_valid(result.messages)
    told = fake.requests[1].messages[-1].content[0]
    assert "could not read it as a call" in told.text  # type: ignore[union-attr]  # a correction is text
    assert text[:20] in told.text  # type: ignore[union-attr]
    assert fake.requests[1].tool_choice == "auto"


WITHOUT_TOOLS: list[tuple[list[Any], dict[str, Any]]] = [([], {}), ([add], {"tool_choice": "none"})]
HALF = '<function=delete_user>{"name": "bob"'


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("text", [None, "", "garbage", HALF, f"{HALF}}}</function>", '{"weather": {"city": "Oslo"}}'])
@pytest.mark.parametrize(("tools", "options"), WITHOUT_TOOLS)
async def test_no_tools_make_no_answer_of_a_failed_call(
    tools: list[Any], options: dict[str, Any], text: str | None, streamed: bool
) -> None:
    fake = FakeModel(failed(text), "Good day.")
    result = await ended(Orchestrator(fake, tools, strategies=FAST), streamed, **options)
    assert (result.content, [attempt.reason for attempt in result.attempts]) == ("Good day.", ["first", "reask"])
    told = fake.requests[1].messages[-1].text
    assert "in words, without a call" in told
    assert "expected words" in told
    assert fake.requests[1].tool_choice == "none" or not tools
    with pytest.raises(FallbackExhausted) as caught:
        await ended(Orchestrator(FakeModel(default=failed(text)), tools, strategies=FAST), streamed, **options)
    assert caught.value.partial.content == ""


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("text", [None, "garbage", HALF])
async def test_no_tools_make_no_answer_of_a_failed_call_over_http(text: str | None, streamed: bool) -> None:
    with WireServer([Failure(400, failed(text)), Turn("Good day.")]) as server:
        model = {"provider": "groq", "model": "m", "base_url": server.base_url("groq"), "api_key": "k"}
        orchestrator = Orchestrator(ModelRegistry.from_dict({"models": {"m": model}}), strategies=FAST)
        result = await ended(orchestrator, streamed)
        await orchestrator.aclose()
    assert (result.content, [attempt.reason for attempt in result.attempts]) == ("Good day.", ["first", "reask"])


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_may_answer_in_words_when_asked_again(streamed: bool) -> None:
    result = await ended(Orchestrator(FakeModel(failed(UNREADABLE), "I cannot add."), [add], strategies=FAST), streamed)
    assert result.content == "I cannot add."


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_that_fails_again_is_asked_for_in_another_mode(streamed: bool) -> None:
    fake = FakeModel(failed(UNREADABLE), failed(UNREADABLE), ENVELOPE, ANSWER)
    result = await ended(Orchestrator(fake, [add], strategies=FAST), streamed)
    assert result.content == "3"
    assert [(attempt.mode, attempt.reason) for attempt in result.attempts] == [
        ("native_tools", "first"),
        ("native_tools", "reask"),
        ("json_schema", "mode"),
        ("json_schema", "turn"),
    ]


@pytest.mark.parametrize("streamed", [False, True])
async def test_no_text_of_a_failed_call_stands_in_for_an_answer(streamed: bool) -> None:
    fake = FakeModel(default=failed(UNREADABLE))
    with pytest.raises(LLMCoreError) as caught:
        await ended(Orchestrator(fake, [add], strategies=FAST), streamed)
    assert isinstance(caught.value, FallbackExhausted)
    assert UNREADABLE not in caught.value.partial.content


async def test_a_call_that_can_be_read_runs() -> None:
    fake = FakeModel(failed('I add.\n<function=add>{"a": 1, "b": 2}</function>'), "3")
    result = await Orchestrator(fake, [add], strategies=FAST).run("go")
    assert calls_in(result.messages) == [("add", GOOD)]
    assert len(result.attempts) == 2


class City(BaseModel):
    name: str = "nowhere"


async def test_with_a_typed_output_it_is_no_value() -> None:
    fake = FakeModel(failed('final_result with {"name": "Oslo"} </function>'), called("final_result", {"name": "Rome"}))
    assert await Orchestrator(fake, strategies=FAST).execute("go", City) == City(name="Rome")
    fake = FakeModel(failed('the answer is {"name": "Oslo"}, I think'), '{"name": "Rome"}')
    assert await Orchestrator(fake, [add], strategies=FAST).execute("go", City) == City(name="Rome")


async def test_a_call_of_the_output_tool_in_it_is_the_value() -> None:
    fake = FakeModel(failed('<function=final_result>{"name": "Oslo"}</function>'))
    assert await Orchestrator(fake, strategies=FAST).execute("go", City) == City(name="Oslo")
    assert fake.call_count == 1


async def test_json_that_was_not_valid_is_judged_by_the_type() -> None:
    fake = FakeModel(failed('{"name": "Oslo",}', "json_validate_failed"))
    assert await Orchestrator(fake, strategies=FAST).execute("go", City) == City(name="Oslo")


@pytest.mark.parametrize("streamed", [False, True])
async def test_one_longer_than_is_read_of_an_error_is_asked_for_again(streamed: bool) -> None:
    """Of an error's body only a head is read: what the model said is cut, that it failed is not."""
    long = Failure(400, failed('<function=add>{"a": 1, "b": "' + "many words " * 40_000))
    with WireServer([long, Turn(calls=[("add", GOOD)]), Turn("3")]) as server:
        model = {"provider": "groq", "model": "m", "base_url": server.base_url("groq"), "api_key": "k"}
        orchestrator = Orchestrator(ModelRegistry.from_dict({"models": {"m": model}}), [add], strategies=FAST)
        result = await ended(orchestrator, streamed)
        await orchestrator.aclose()
    assert result.content == "3"
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
    assert len(server.requests[1].sent) < 100_000


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ("Malformed function call: print(default_api.add(a=1, b=2))", ["first", "turn"]),
        ("Malformed function call: print(default_api.add(a=", ["first", "reask", "turn"]),
        ("", ["first", "reask", "turn"]),
    ],
)
async def test_a_call_that_gemini_could_not_read_is_read_by_us_or_asked_for_again(
    said: str, reasons: list[str], streamed: bool
) -> None:
    candidate = {"content": {"role": "model"}, "finishReason": "MALFORMED_FUNCTION_CALL", "index": 0, "finishMessage": said}
    body = json.dumps({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}})
    raw = Raw([f"data: {body}\n\n".encode()], "text/event-stream") if streamed else Raw([body.encode()])
    steps: list[Step] = [raw, *([Turn(calls=[("add", GOOD)])] if "reask" in reasons else []), Turn("It is 3.")]
    with WireServer(steps) as server:
        at = {"provider": "gemini", "model": "gemini-2.5-flash", "base_url": server.base_url("gemini"), "api_key": "k"}
        async with Orchestrator(ModelRegistry.from_dict({"models": {"m": at}}), [add], strategies=FAST) as made:
            result = await ended(made, streamed)
    assert (result.content, [attempt.reason for attempt in result.attempts]) == ("It is 3.", reasons)
    assert calls_in(result.messages) == [("add", GOOD)]
    noted = [repair for record in result.repairs for repair in [record.repair] if repair.kind == "failed_at_provider"]
    assert len(noted) == ("reask" not in reasons)
