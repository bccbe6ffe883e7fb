"""FakeModel and the guard: the doubles that ship."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from llmcore.adapters.base import Adapter, Endpoint, ModelCall
from llmcore.adapters.guard import check_requests_allowed
from llmcore.fallback import Retry
from llmcore.normalizer import Normalizer, normalize
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel, ReplayAdapter, block_model_requests
from llmcore.testing.replies import tool_call_body
from llmcore.types import (
    Budget,
    CallerError,
    ConfigError,
    Envelope,
    FallbackExhausted,
    ImageBlock,
    InternalError,
    LLMCoreError,
    Message,
    Overloaded,
    ProviderError,
    RateLimited,
    RedactedThinkingBlock,
    RemoteServerError,
    Reply,
    Request,
    RetryConfig,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ToolDefinition,
    ToolSet,
    ToolUseBlock,
    Usage,
)

pytestmark = pytest.mark.anyio

TOOLS = ToolSet([ToolDefinition(name="get_weather", parameters={"type": "object"})])


def request(text: str = "hi") -> ModelCall:
    return ModelCall(endpoint=Endpoint(provider="fake", model="fake"), request=Request(messages=text))


async def streamed(fake: FakeModel) -> Envelope:
    normalizer = Normalizer(TOOLS)
    async for chunk in fake.stream(request()):
        if not (isinstance(chunk, dict) and "llmcore" in chunk):
            normalizer.feed(chunk)
    normalizer.finish()
    return normalizer.envelope


ANTHROPIC = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Nice"}}],
    "stop_reason": "tool_use",
}


ANSWERS: dict[str, Any] = {
    "text": "Hello there",
    "call": tool_call_body([("get_weather", {"city": "Paris"})], "One moment.", 0),
    "calls": tool_call_body([("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Nice"})], None, 0),
    "broken": tool_call_body([("get_weather", '{"city": "Paris"')], None, 0),
    "dialect": '<tool_call>{"name": "get_weather", "arguments": {"city": "Bonn"}}</tool_call>',
    "anthropic": ANTHROPIC,
    "chunks": ["Hel", "lo"],
    "parts": {"choices": [{"message": {"content": [{"type": "text", "text": "parts"}]}}]},
    "null": {"choices": [{"message": {"content": None, "tool_calls": [{"id": "a", "function": {"name": "get_weather"}}]}}]},
    "odd": {"choices": [{"message": {"content": 3, "tool_calls": {"a": 1}}}]},
    "odd anthropic": {"type": "message", "content": [{"type": "text", "text": 3}, {"type": "tool_use", "input": []}, None]},
    "two": {"choices": [{"message": {"content": "one"}}, {"message": {"content": "two"}}]},
}


@pytest.mark.parametrize("chunk_size", [None, 1, 3])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_plain_and_streamed_answers_are_the_same(answer: Any, chunk_size: int | None) -> None:
    whole = normalize(await FakeModel(answer).complete(request()), TOOLS)
    assert (await streamed(FakeModel(answer, chunk_size=chunk_size))).model_dump() == whole.model_dump()


async def test_it_is_an_adapter() -> None:
    assert isinstance(FakeModel(), Adapter)


async def test_replies_come_in_order_then_the_default() -> None:
    fake = FakeModel("one", default="later").text("two")
    assert [(await fake.complete(request())).raw for _ in range(4)] == ["one", "two", "later", "later"]
    assert (fake.call_count, len(fake.calls)) == (4, 4)
    fake.reset()
    with pytest.raises(CallerError, match="has had no request yet"):
        _ = fake.last_request
    assert (await fake.complete(request("again"))).raw == "one"
    assert fake.last_request.messages[0].text == "again"


async def test_running_out_of_replies_is_an_error_that_counts() -> None:
    fake = FakeModel("one")
    await fake.complete(request())
    with pytest.raises(ConfigError, match="given 1 reply and this is request 2"):
        await fake.complete(request())


async def test_callables_sync_or_async_answer_from_the_request() -> None:
    async def later(given: Request) -> str:
        return given.messages[0].text + "?"

    fake = FakeModel(lambda given: given.messages[0].text + "!", later)
    assert [(await fake.complete(request("x"))).raw for _ in range(2)] == ["x!", "x?"]


async def test_on_request_sees_all_and_may_answer_itself() -> None:
    seen: list[str] = []

    def watch(given: Request) -> str | None:
        seen.append(given.messages[0].text)
        return "instead" if given.messages[0].text == "b" else None

    fake = FakeModel(default="scripted").on_request(watch)
    assert [(await fake.complete(request(text))).raw for text in "abc"] == ["scripted", "instead", "scripted"]
    assert seen == ["a", "b", "c"]


async def test_each_function_on_request_sees_all_and_the_first_answer_counts() -> None:
    seen: list[str] = []

    def first(given: Request) -> str | None:
        seen.append("first")
        return "by the first" if given.messages[0].text == "a" else None

    async def second(given: Request) -> str:
        seen.append("second")
        return "by the second"

    fake = FakeModel(default="scripted").on_request(first).on_request(second)
    assert [(await fake.complete(request(text))).raw for text in "ab"] == ["by the first", "by the second"]
    assert seen == ["first", "second"] * 2


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RateLimited("slow", retry_after=3), RateLimited),
        (Overloaded, Overloaded),
        (ValueError("boom"), LLMCoreError),
        (KeyboardInterrupt, KeyboardInterrupt),
    ],
)
async def test_errors_are_raised_plain_and_streamed(error: Any, expected: type[BaseException]) -> None:
    with pytest.raises(expected):
        await FakeModel().error(error).complete(request())
    with pytest.raises(expected):
        await streamed(FakeModel(default=error))


@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyError("mine"), RuntimeError])
async def test_an_exception_of_the_tests_own_is_no_fault_of_the_library(error: Any) -> None:
    for fake in (FakeModel().error(error), FakeModel().default_error(error), FakeModel(["Hel", error])):
        with pytest.raises(ProviderError, match=error.__name__ if isinstance(error, type) else type(error).__name__) as caught:
            await streamed(fake)
        assert not isinstance(caught.value, InternalError)
        assert isinstance(caught.value.__cause__, Exception)
    scripted = FakeModel().default_error(error)
    with pytest.raises(FallbackExhausted) as ended:
        await Orchestrator(scripted).run("Hi")
    assert not isinstance(ended.value, InternalError)
    assert "fault in litellm or llmcore" not in str(ended.value)
    assert scripted.call_count == 1


async def test_a_stream_may_break_in_the_middle() -> None:
    fake = FakeModel(["Hel", Overloaded("gone")])
    chunks = aiter(fake.stream(request()))
    assert await anext(chunks) == "Hel"
    with pytest.raises(Overloaded):
        await anext(chunks)


async def test_delay_and_usage() -> None:
    fake = FakeModel("four" * 4).delay(0.03).token_counter(lambda given: 7)
    started = time.perf_counter()
    reply = await fake.complete(request())
    assert time.perf_counter() - started >= 0.03
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.estimated) == (7, 4, True)
    assert fake.count_tokens(request().request) == 7
    body = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}
    assert (await FakeModel(body).complete(request())).usage.total_tokens == 11


_CUT = {
    "gemini": [{"candidates": [{"content": {"role": "model", "parts": [{"text": word}]}}]} for word in ("Hello ", "wor")],
    "ollama": [{"model": "m", "message": {"role": "assistant", "content": word}} for word in ("Hello ", "wor")],
}


@pytest.mark.parametrize("chunks", _CUT.values(), ids=_CUT)
async def test_a_stream_without_its_end_is_cut_on_wires_whose_events_look_like_bodies(chunks: list[dict[str, Any]]) -> None:
    result = await Orchestrator(FakeModel(chunks, "whole")).run("go")
    assert result.content == "whole"
    assert isinstance(result.attempts[0].failure, RemoteServerError)
    run = Orchestrator(FakeModel(chunks, "whole")).stream("go")
    assert [event async for event in run][-1].result.content == "whole"  # type: ignore[union-attr]  # the last one is Finished


@pytest.mark.parametrize("seconds", [-1, -0.1, float("nan"), float("inf"), True, "1"])
def test_a_delay_that_cannot_be_waited_is_refused(seconds: Any) -> None:
    with pytest.raises(ConfigError, match="delay is a finite number of seconds of at least 0"):
        FakeModel().delay(seconds)


async def test_a_body_given_is_not_the_body_handed_out() -> None:
    fake = FakeModel(default=ANTHROPIC)
    first: Reply = await fake.complete(request())
    first.raw["content"].clear()
    assert (await fake.complete(request())).raw["content"]


async def test_a_wrong_kind_of_answer_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"a callable that returns one of these, not int"):
        await FakeModel(lambda _: 3).complete(request())


class Answers:
    """No reply: a class is not one."""


@pytest.mark.parametrize(
    "wrong", [3, None, b"bytes", Answers, Message, Message(role="user", content=[]), [3], ["a", None], object(), {"a"}]
)
def test_a_wrong_kind_of_reply_is_refused_when_it_is_given(wrong: Any) -> None:
    for give in (FakeModel, FakeModel().reply, FakeModel().default_reply):
        with pytest.raises(ConfigError, match=r"not|holds"):
            give(wrong)
    image = ImageBlock(url="https://example.com/a.png")
    with pytest.raises(ConfigError, match="not ImageBlock"):
        FakeModel(Message(role="assistant", content=[image]))
    with pytest.raises(ConfigError, match="'get_weather' cannot be written as JSON"):
        FakeModel().tool_call("get_weather", {"city": object()})
    with pytest.raises(ConfigError, match="chunk_size"):
        FakeModel("x", chunk_size=0)


SPOKEN = Message(
    role="assistant",
    content=[
        ThinkingBlock(thinking="Which city?", signature="sig"),
        RedactedThinkingBlock(data="hidden"),
        TextBlock(text="One moment."),
        ToolUseBlock(id="t1", name="get_weather", input={"city": "Paris"}),
        ToolUseBlock(id="t2", name="get_weather", input=None, raw_input='{"city": '),
    ],
)


@pytest.mark.parametrize("chunk_size", [None, 1, 4])
async def test_a_message_is_a_reply(chunk_size: int | None) -> None:
    whole = normalize(await FakeModel(SPOKEN).complete(request()), TOOLS)
    assert (await streamed(FakeModel(lambda _: SPOKEN, chunk_size=chunk_size))).model_dump() == whole.model_dump()
    assert (whole.content, whole.reasoning) == ("One moment.", "Which city?")
    assert [(call.id, call.arguments, call.complete) for call in whole.tool_calls] == [
        ("t1", {"city": "Paris"}, True),
        ("t2", {}, False),
    ]
    assert whole.blocks[:3] == SPOKEN.content[:3]


@pytest.mark.parametrize("chunk_size", [None, 3])
async def test_an_envelope_is_a_reply(chunk_size: int | None) -> None:
    text = '<think>hm</think>Let me look.<tool_call>{"name": "get_weather", "arguments": {"city": "Bonn"}}</tool_call>'
    given = normalize(text, TOOLS)
    whole = normalize(await FakeModel(given).complete(request()), TOOLS)
    assert (await streamed(FakeModel(given, chunk_size=chunk_size))).model_dump() == whole.model_dump()
    assert (whole.content, whole.reasoning) == (given.content, given.reasoning)
    assert [(call.name, call.arguments) for call in whole.tool_calls] == [("get_weather", {"city": "Bonn"})]


async def usage_of(fake: FakeModel) -> list[Usage]:
    """Of one reply whole, and of the next one streamed."""
    whole = (await fake.complete(request())).usage
    summaries = [chunk async for chunk in fake.stream(request()) if isinstance(chunk, dict) and "llmcore" in chunk]
    return [whole, *(Usage.model_validate(summary["llmcore"]["usage"]) for summary in summaries)]


async def test_usage_of_each_reply_whole_and_streamed() -> None:
    each = Usage(input_tokens=7, output_tokens=3, cost=0.5)
    told_nothing: list[Any] = ["text", SPOKEN, ["a", "b"], Reply(raw="x")]
    for answer in told_nothing:
        assert await usage_of(FakeModel(default=answer).usage(input_tokens=7, output_tokens=3, cost=0.5)) == [each] * 2
    own: dict[str, Any] = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    told: list[Any] = [own, [own], Reply(raw="x", usage=Usage(input_tokens=1, output_tokens=2))]
    for answer in told:
        found = await usage_of(FakeModel(default=answer).usage(input_tokens=9))
        assert found == [Usage(input_tokens=1, output_tokens=2)] * 2


async def test_a_budget_is_spent_by_the_usage_of_replies() -> None:
    result = await Orchestrator(FakeModel("fine").usage(input_tokens=10, output_tokens=5, cost=0.25)).run("x")
    assert (result.usage.total_tokens, result.usage.cost) == (15, 0.25)


def fails(given: Request) -> str:
    assert given.messages[0].text == "something else", "not what was asked"
    return "never"


async def fails_later(given: Request) -> str:
    return {"": ""}[given.messages[0].text]


@pytest.mark.parametrize("way", ["reply", "default", "on_request"])
@pytest.mark.parametrize(("function", "error"), [(fails, AssertionError), (fails_later, KeyError)])
async def test_what_a_reply_function_raises_comes_out_as_it_is(way: str, function: Any, error: type[Exception]) -> None:
    fake = FakeModel("one", default="more")
    if way == "on_request":
        fake.on_request(function)
    elif way == "default":
        fake = FakeModel(default=function)
    else:
        fake = FakeModel(function, "two", "three")
    with pytest.raises(error) as caught:
        await Orchestrator(fake).run("x")
    assert fake.call_count == 1
    assert caught.value.__dict__["partial"].messages
    with pytest.raises(error):
        async for _ in Orchestrator(fake.reset()).stream("x"):
            pass
    assert fake.call_count == 1


async def test_a_failed_assertion_given_as_a_reply_stays_one() -> None:
    with pytest.raises(AssertionError, match="must not be asked"):
        await Orchestrator(FakeModel(default=AssertionError("must not be asked"))).run("x")


async def test_a_providers_error_raised_by_a_reply_function_is_the_models_failure() -> None:
    def busy(given: Request) -> str:
        raise Overloaded("busy")

    strategies = [Retry(RetryConfig(max_retries=1, base=0))]
    assert (await Orchestrator(FakeModel(busy, "fine"), strategies=strategies).run("x")).content == "fine"


async def test_an_adapter_that_breaks_its_contract_is_an_internal_error() -> None:
    class Broken(FakeModel):
        lets_exceptions_through = False

    with pytest.raises(LLMCoreError, match="the adapter Broken raised AssertionError"):
        await Orchestrator(Broken(default=fails)).run("x")


def get_weather(city: str) -> str:
    return f"{city}: sunny"


async def test_exhaustion_says_why_there_was_another_request_and_what_the_last_reply_was() -> None:
    with pytest.raises(ConfigError, match=r"request 2, the next turn, since tools had run.*last reply was .*get_weather"):
        await Orchestrator(FakeModel().tool_call("get_weather", {"city": "Rome"}), [get_weather]).run("x")
    fake = FakeModel().tool_call("get_weather", {"town": "Rome"})
    with pytest.raises(ConfigError, match=r"request 2, made so that the model corrects its last reply \(.*city"):
        await Orchestrator(fake, [get_weather]).run("x")
    assert (fake.calls[1].reason, "city" in fake.calls[1].detail) == ("reask", True)
    with pytest.raises(ConfigError, match=r"given 0 replies and this is request 1, the first of a run;.*last reply was none"):
        await Orchestrator(FakeModel()).run("x")


def test_a_block_holds_until_its_end_and_nests() -> None:
    with block_model_requests():
        inner = block_model_requests()
        with pytest.raises(ConfigError, match=r"openai/gpt-4o.*block_model_requests"):
            check_requests_allowed("openai/gpt-4o")
        inner.release()
        with pytest.raises(ConfigError):
            check_requests_allowed("openai/gpt-4o")
    check_requests_allowed("openai/gpt-4o")


async def test_a_fake_model_is_not_concerned_by_the_block() -> None:
    with block_model_requests():
        assert (await FakeModel("fine").complete(request())).raw == "fine"
        await asyncio.sleep(0)


CHAT: dict[str, Any] = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "boom"}}, RemoteServerError),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}, RateLimited),
        ({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}, RateLimited),
        ({**CHAT, "error": {"message": "boom"}}, RemoteServerError),
        ({**CHAT, "object": "error", "message": "boom"}, RemoteServerError),
        ({**CHAT, "object": "error"}, RemoteServerError),
        ({**CHAT, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, LLMCoreError),
        ({"choices": [{**CHAT["choices"][0], "error": {"message": "boom"}}]}, RemoteServerError),
    ],
)
async def test_a_body_that_tells_of_an_error_fails_as_on_the_wire(body: dict[str, Any], kind: type[LLMCoreError]) -> None:
    with pytest.raises(FallbackExhausted) as failed:
        await Orchestrator(FakeModel(body)).run("Hi", budget=Budget(attempts=1))
    assert isinstance(failed.value, kind)
    with pytest.raises(FallbackExhausted) as replayed:
        await Orchestrator(ReplayAdapter({"id": "r", "exchanges": [{"response": body}]})).run("Hi", budget=Budget(attempts=1))
    assert isinstance(replayed.value, kind)


@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_within_a_recorded_stream_fails_as_on_the_wire(streamed: bool) -> None:
    sse = 'data: {"error": {"message": "Rate limit reached", "code": 429}}\n\ndata: [DONE]\n\n'
    orchestrator = Orchestrator(ReplayAdapter({"id": "r", "exchanges": [{"sse": sse}]}))
    run = orchestrator.stream_sync if streamed else orchestrator.run_sync
    with pytest.raises(RateLimited):
        list(run("Hi", budget=Budget(attempts=1)))


HALF = {"role": "assistant", "content": "half"}
OUTPUT = [{"type": "message", "content": [{"type": "output_text", "text": "half"}]}]
NO_REPLIES: list[dict[str, Any]] = [
    {},
    {"foo": 1},
    {"choices": None},
    {"choices": []},
    {"detail": "Not Found"},
    {"message": "Unauthorized"},
    {"success": False, "errors": [{"message": "x"}]},
    {"message": HALF, "done": False},
    {"object": "response", "status": "in_progress", "output": OUTPUT},
    {"choices": [{"message": HALF, "finish_reason": "in_progress"}]},
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("body", [*NO_REPLIES, {"__type": "ThrottlingException", "message": "Too many"}])
def test_a_body_that_is_no_whole_reply_fails_as_on_the_wire(body: dict[str, Any], streamed: bool) -> None:
    kind = RateLimited if "__type" in body else RemoteServerError
    for model in (FakeModel(body), ReplayAdapter({"id": "r", "exchanges": [{"response": body}]})):
        run = Orchestrator(model).stream_sync if streamed else Orchestrator(model).run_sync
        with pytest.raises(kind):
            list(run("Hi", budget=Budget(attempts=1)))


def test_a_body_that_is_no_reply_is_told_with_its_words() -> None:
    with pytest.raises(RemoteServerError, match=r"JSON that is no reply: .'foo': 1."):
        Orchestrator(FakeModel({"foo": 1})).run_sync("Hi", budget=Budget(attempts=1))


@pytest.mark.parametrize("body", [HALF, {"content": "half"}, {"choices": [{"message": HALF}]}, {"message": HALF, "done": True}])
def test_a_message_without_its_body_is_a_reply(body: dict[str, Any]) -> None:
    assert Orchestrator(FakeModel(body)).run_sync("Hi").content == "half"


STOP: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
DELTA: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": None}]}
BROKEN: dict[str, Any] = {
    "no JSON": {"sse": f"data: {json.dumps(DELTA)}\n\ndata: oops\n\ndata: {json.dumps(STOP)}\n\n"},
    "half an object": {"sse": f'data: {json.dumps(DELTA)}\n\ndata: {{"a": \n\ndata: {json.dumps(STOP)}\n\n'},
    "named error": {"sse": f"data: {json.dumps(DELTA)}\n\nevent: error\ndata: {{}}\n\ndata: {json.dumps(STOP)}\n\n"},
    "an error in words": {"chunks": [DELTA, {"detail": "Internal"}, STOP]},
    "Gemini's list": {"chunks": [[{"error": {"code": 500, "message": "boom", "status": "INTERNAL"}}]]},
    "null": {"chunks": [DELTA, None, STOP]},
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("how", BROKEN)
def test_an_event_of_a_recording_that_cannot_be_read_fails_as_on_the_wire(how: str, streamed: bool) -> None:
    orchestrator = Orchestrator(ReplayAdapter({"id": "r", "exchanges": [BROKEN[how]]}))
    run = orchestrator.stream_sync if streamed else orchestrator.run_sync
    with pytest.raises(RemoteServerError):
        list(run("Hi", budget=Budget(attempts=1)))


async def test_a_recorded_null_is_no_reply() -> None:
    with pytest.raises(FallbackExhausted, match="null"):
        await Orchestrator(ReplayAdapter({"id": "r", "exchanges": [{"response": None}]})).run("Hi", budget=Budget(attempts=1))


def test_a_message_without_its_body_is_cut_into_chunks_like_one_with_it() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"text": "long enough"}'}}
    message = {"role": "assistant", "content": "Hello world", "tool_calls": [call]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    pieces = [
        [event for event in Orchestrator(FakeModel(reply, chunk_size=4)).stream_sync("go") if isinstance(event, TextDelta)]
        for reply in (message, body)
    ]
    assert len(pieces[0]) == 3
    assert pieces[0] == pieces[1]


async def test_what_a_reply_function_does_to_its_request_reaches_neither_the_next_one_nor_the_record() -> None:
    seen: list[dict[str, Any]] = []

    def reply(request: Request) -> str:
        [tool] = request.tools
        seen.append(dict(tool.parameters))
        tool.parameters.clear()
        request.messages.clear()
        return "ok"

    parameters = {"type": "object", "properties": {"a": {"type": "integer"}}}
    model = FakeModel(default=reply)
    orchestrator = Orchestrator(model, [ToolDefinition(name="f", description="", parameters=parameters)])
    for _ in range(2):
        await orchestrator.run("Hi")
    assert seen == [parameters, parameters]
    assert [request.tools[0].parameters for request in model.requests] == [parameters, parameters]
    assert [request.messages[0].text for request in model.requests] == ["Hi", "Hi"]
