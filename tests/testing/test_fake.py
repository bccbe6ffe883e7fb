"""FakeModel and the guard: the doubles that ship."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from llmcore.adapters.base import Adapter, Endpoint, ModelCall
from llmcore.adapters.guard import check_requests_allowed
from llmcore.normalizer import Normalizer, normalize
from llmcore.testing import FakeModel, block_model_requests
from llmcore.testing.replies import tool_call_body
from llmcore.types import (
    ConfigError,
    Envelope,
    LLMCoreError,
    Overloaded,
    RateLimited,
    Reply,
    Request,
    ToolDefinition,
    ToolSet,
)

pytestmark = pytest.mark.anyio

TOOLS = ToolSet([ToolDefinition(name="get_weather", parameters={"type": "object"})])


def request(text: str = "hi") -> ModelCall:
    return ModelCall(endpoint=Endpoint(provider="fake", model="fake"), request=Request(messages=text))  # type: ignore[arg-type]


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


@pytest.mark.parametrize("chunk_size", [None, 1, 3])
@pytest.mark.parametrize(
    "answer",
    [
        "Hello there",
        tool_call_body([("get_weather", {"city": "Paris"})], "One moment.", 0),
        tool_call_body([("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Nice"})], None, 0),
        tool_call_body([("get_weather", '{"city": "Paris"')], None, 0),
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Bonn"}}</tool_call>',
        ANTHROPIC,
        ["Hel", "lo"],
    ],
    ids=["text", "call", "calls", "broken", "dialect", "anthropic", "chunks"],
)
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
    assert fake.last_request is None
    assert (await fake.complete(request("again"))).raw == "one"
    assert fake.last_request is not None
    assert fake.last_request.messages[0].text == "again"


async def test_running_out_of_replies_is_an_error_that_counts() -> None:
    fake = FakeModel("one")
    await fake.complete(request())
    with pytest.raises(ConfigError, match="given 1 replies and this is request 2"):
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


async def test_a_body_given_is_not_the_body_handed_out() -> None:
    fake = FakeModel(default=ANTHROPIC)
    first: Reply = await fake.complete(request())
    first.raw["content"].clear()
    assert (await fake.complete(request())).raw["content"]


async def test_a_wrong_kind_of_answer_is_told() -> None:
    with pytest.raises(ConfigError, match="not int"):
        await FakeModel(3).complete(request())  # type: ignore[arg-type]


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
