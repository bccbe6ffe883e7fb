"""If a stream breaks off, no call of the reply runs and its text is no answer: a re-ask follows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore.adapters.base import ModelCall
from llmcore.adapters.wire.terminators import StreamEnd
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel, ReplayAdapter
from llmcore.types import Event, FallbackExhausted, Finished, RemoteServerError
from tests.helpers.wire_server import Raw, Step, Turn, WireServer
from tests.helpers.wires import WIRES, frames
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio

MODELS = {"openai_compatible": "m", "mistral": "m", "groq": "m", "anthropic": "claude-sonnet-4-5", "gemini": "m", "ollama": "m"}
CALL = Turn("Let me look.", calls=[("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})], chunk=100)
ANSWER = Turn("It is sunny in Paris.")


def orchestrator_at(server: WireServer, provider: str, ran: list[str], **options: Any) -> Orchestrator:
    def get_weather(city: str) -> str:
        """The weather of a city."""
        ran.append(city)
        return "sunny"

    model = {"provider": provider, "model": MODELS[provider], "base_url": server.base_url(provider), "api_key": "k"}
    options.setdefault("strategies", FAST)
    return Orchestrator(ModelRegistry.from_dict({"models": {"m": model}}), [get_weather], **options)


def cut_stream(provider: str, turn: Turn, upto: str) -> Raw:
    """The stream up to the middle of the last `upto`."""
    whole = b"".join(frames(WIRES.get(provider, WIRES["openai-chat"]), turn))
    kind = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
    return Raw([whole[: whole.rindex(upto.encode()) + len(upto) // 2]], kind)


async def finished(events: AsyncIterator[Event]) -> RunResult:
    results: list[RunResult] = [event.result async for event in events if isinstance(event, Finished)]
    return results[0]


@pytest.mark.parametrize("provider", MODELS)
async def test_no_call_of_a_cut_stream_runs_and_it_is_asked_again(provider: str) -> None:
    ran: list[str] = []
    script: list[Step] = [cut_stream(provider, CALL, "Rome"), CALL, cut_stream(provider, ANSWER, "Paris."), ANSWER]
    with WireServer(script) as server:
        orchestrator = orchestrator_at(server, provider, ran)
        result = await finished(orchestrator.stream("Weather?"))
        await orchestrator.aclose()
    assert sorted(ran) == ["Paris", "Rome"]  # once each, of the whole reply
    assert result.content == "It is sunny in Paris."
    assert not result.degraded
    assert [attempt.reason for attempt in result.attempts] == ["first", "retry", "turn", "retry"]
    assert [type(attempt.failure) for attempt in result.attempts] == [RemoteServerError, type(None)] * 2


@pytest.mark.parametrize("ending", ["chunked", "dropped", "close", "length"])
@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini", "ollama"])
async def test_a_whole_reply_that_is_cut_is_asked_again(provider: str, ending: str) -> None:
    ran: list[str] = []

    def cut(turn: Turn, upto: str) -> Raw:
        body = json.dumps(WIRES.get(provider, WIRES["openai-chat"]).body(turn)).encode()
        return Raw([body[: body.rindex(upto.encode()) + 1]], ending=ending)

    with WireServer([cut(CALL, "Rome"), CALL, cut(ANSWER, "Paris"), Raw([b" "], ending=ending), ANSWER]) as server:
        orchestrator = orchestrator_at(server, provider, ran)
        result = await orchestrator.run("Weather?")
        await orchestrator.aclose()
    assert sorted(ran) == ["Paris", "Rome"]
    assert result.content == "It is sunny in Paris."
    assert [attempt.reason for attempt in result.attempts] == ["first", "retry", "turn", "retry", "retry"]


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic", "ollama"])
async def test_what_came_of_a_cut_stream_rides_on_the_error(provider: str) -> None:
    ran: list[str] = []
    with WireServer([cut_stream(provider, CALL, "Rome")]) as server:
        orchestrator = orchestrator_at(server, provider, ran, strategies=())
        with pytest.raises(FallbackExhausted) as caught:
            await finished(orchestrator.stream("Weather?"))
        await orchestrator.aclose()
    assert isinstance(caught.value.__cause__, RemoteServerError)
    envelope = caught.value.partial.envelope
    assert (envelope.content, envelope.truncated) == ("Let me look.", True)
    assert [call.arguments for call in envelope.tool_calls if call.complete] == [{"city": "Paris"}]
    assert ran == []


DELTA: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": "Half an "}}]}
CALLS: dict[str, Any] = {"choices": [{"index": 0, "delta": {"tool_calls": [
    {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
]}}]}  # fmt: skip
STOP: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("cut", [[DELTA], [CALLS], [DELTA, CALLS], [{**DELTA, "usage": {"prompt_tokens": 3}}]])
async def test_a_scripted_stream_of_events_without_an_end_is_cut(cut: list[Any], streamed: bool) -> None:
    fake = FakeModel(cut, [DELTA, STOP])
    orchestrator = Orchestrator(fake, [get_weather], strategies=FAST)
    result = await finished(orchestrator.stream("hi")) if streamed else await orchestrator.run("hi")
    assert result.content.strip() == "Half an"
    assert [attempt.reason for attempt in result.attempts] == ["first", "retry"]


class Telling(FakeModel):
    """An adapter of one's own, which says of its stream that it came to its end."""

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        yield DELTA
        yield {"llmcore": {"ended": True}}


@pytest.mark.parametrize(
    "adapter",
    [
        Telling(),
        FakeModel(["Half ", "an "]),
        FakeModel({"choices": [{"message": {"role": "assistant", "content": "Half an "}}]}),
        FakeModel({"role": "assistant", "content": "Half an "}),
        FakeModel([{"message": {"content": "Half an "}, "done": False}, {"message": {"content": ""}, "done": True}]),
    ],
)
async def test_an_adapter_may_say_that_a_stream_was_whole_and_text_is_trusted(adapter: FakeModel) -> None:
    result = await finished(Orchestrator(adapter, strategies=()).stream("hi"))
    assert result.content.strip() == "Half an"
    assert not result.degraded


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_recording_is_cut_as_it_was(streamed: bool) -> None:
    sse = 'data: {"choices": [{"index": 0, "delta": {"content": "Half an "}}]}\n\n'
    for text, whole in ((sse, False), (sse + "data: [DONE]\n\n", True), (sse + 'data: {"choices": [{"index": 0', False)):
        replay = ReplayAdapter({"id": "r", "exchanges": [{"sse": text}]})
        orchestrator = Orchestrator(replay, strategies=())
        run = finished(orchestrator.stream("hi")) if streamed else orchestrator.run("hi")
        if whole:
            assert (await run).content.strip() == "Half an"
        else:
            with pytest.raises(FallbackExhausted, match="the stream broke off"):
                await run


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_empty_answer_after_tools_is_asked_again(provider: str, streamed: bool) -> None:
    ran: list[str] = []
    calls = Turn(calls=[("get_weather", {"city": "Paris"})])
    with WireServer([calls, Turn(""), ANSWER]) as server:
        orchestrator = orchestrator_at(server, provider, ran)
        if streamed:
            last = [event async for event in orchestrator.stream("weather?")][-1]
            assert isinstance(last, Finished)
            result = last.result
        else:
            result = await orchestrator.run("weather?")
        await orchestrator.aclose()
    assert (ran, result.content, len(server.requests)) == (["Paris"], ANSWER.text, 3)


@pytest.mark.parametrize(
    ("provider", "word"),
    [
        ("openai_compatible", "error"),
        ("openai_compatible", "insufficient_system_resource"),
        ("groq", "network_error"),
        ("gemini", "OTHER"),
        ("ollama", "aborted"),
        ("openai_compatible", "interrupted"),
        ("groq", "preempted"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_nothing_runs_of_a_reply_whose_finish_word_is_an_error(provider: str, word: str, streamed: bool) -> None:
    ran: list[str] = []
    with WireServer([Turn(calls=[("get_weather", {"city": "Paris"})], finish=word), ANSWER]) as server:
        orchestrator = orchestrator_at(server, provider, ran)
        if streamed:
            last = [event async for event in orchestrator.stream("weather?")][-1]
            assert isinstance(last, Finished)
            result = last.result
        else:
            result = await orchestrator.run("weather?")
        await orchestrator.aclose()
    assert (ran, result.content, len(server.requests)) == ([], ANSWER.text, 2)


@pytest.mark.parametrize("word", ["in_progress", "unknown", "IN_PROGRESS", "not_finished", "a_new_reason"])
@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic"])
async def test_a_reason_that_is_not_known_completes_no_stream_that_was_cut(provider: str, word: str) -> None:
    """Its wire's end mark does."""
    call = Turn(calls=[("get_weather", {"city": "Paris"})], finish=word)
    whole = b"".join(frames(WIRES.get(provider, WIRES["openai-chat"]), call))
    cut = whole[: whole.index(word.encode()) + len(word) + 200]
    mark = b"event: message_stop" if provider == "anthropic" else b"data: [DONE]"
    ran: list[str] = []
    with WireServer([Raw([cut.partition(mark)[0]]), ANSWER, Raw([whole]), ANSWER]) as server:
        orchestrator = orchestrator_at(server, provider, ran)
        results = [await finished(orchestrator.stream("Weather?")) for _ in range(2)]
        await orchestrator.aclose()
    assert [[attempt.reason for attempt in result.attempts] for result in results] == [["first", "retry"], ["first", "turn"]]
    assert ran == ["Paris"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_no_call_of_a_reply_that_its_server_calls_incomplete_runs(streamed: bool) -> None:
    ran: list[str] = []
    script: list[Step] = [Turn(calls=[("get_weather", {"city": "Paris"})], finish="incomplete"), ANSWER]
    with WireServer(script) as server:
        orchestrator = orchestrator_at(server, "openai_compatible", ran)
        run = finished(orchestrator.stream("Weather?")) if streamed else orchestrator.run("Weather?")
        result = await run
        await orchestrator.aclose()
    assert (ran, [attempt.reason for attempt in result.attempts]) == ([], ["first", "reask"])


async def test_a_stream_of_chunks_with_an_unknown_reason_is_cut() -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": "Half"}, "finish_reason": "in_progress"}]}]
    result = await finished(Orchestrator(FakeModel(chunks, "Whole."), strategies=FAST).stream("hi"))
    assert (result.content, [type(attempt.failure) for attempt in result.attempts]) == ("Whole.", [RemoteServerError, type(None)])


async def test_a_stream_that_makes_calls_without_end_is_broken_off() -> None:
    def chunk(number: int) -> dict[str, Any]:
        made = [
            {"index": at, "id": f"c{at}", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
            for at in range(number * 50, number * 50 + 50)
        ]
        return {"choices": [{"index": 0, "delta": {"tool_calls": made}, "finish_reason": None}]}

    fake = FakeModel([*map(chunk, range(100)), STOP], "Whole.")
    result = await finished(Orchestrator(fake, [get_weather], strategies=FAST).stream("hi"))
    assert (result.content, [type(attempt.failure) for attempt in result.attempts]) == ("Whole.", [RemoteServerError, type(None)])
    assert "more than 4,096 calls" in str(result.attempts[0].failure)


LIMIT = {"anthropic": "max_tokens", "gemini": "MAX_TOKENS"}


@pytest.mark.parametrize("provider", MODELS)
async def test_a_call_whose_arguments_had_not_begun_when_the_room_was_up_does_not_run(provider: str) -> None:
    ran: list[str] = []

    def wipe(path: str = "/") -> str:
        ran.append(path)
        return "wiped"

    cut = Turn(calls=[("wipe", {})], finish=LIMIT.get(provider, "length"))
    with WireServer([cut, ANSWER, cut, ANSWER]) as server:
        orchestrator = orchestrator_at(server, provider, ran)
        streamed = await finished(orchestrator.stream("Weather?", tools=[wipe]))
        whole = await orchestrator.run("Weather?", tools=[wipe])
        await orchestrator.aclose()
    assert (ran, streamed.content, whole.content) == ([], ANSWER.text, ANSWER.text)


@pytest.mark.parametrize("kind", ["response.incomplete", "response.completed"])
def test_a_response_that_is_incomplete_without_a_reason_says_so_at_its_end(kind: str) -> None:
    for response in ({"status": "incomplete"}, {} if kind == "response.incomplete" else {"status": "incomplete"}):
        end = StreamEnd()
        end.add({"type": kind, "response": response})
        assert (end.finished, end.word) == (True, "incomplete")
