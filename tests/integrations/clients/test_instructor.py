"""instructor on the openai client: values of models, which it reads from calls of a tool named as the model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from tests.helpers.wire_server import Turn, WireServer
from tests.integrations.clients.sdks import SDKS
from tests.integrations.clients.support import DIALECTS, cut_reply, failure_of, items, resolved, sample, serving, the_module

pytestmark = pytest.mark.anyio
dialects = pytest.mark.parametrize("dialect", DIALECTS)
sdks = pytest.mark.parametrize(
    "sdk", [sdk for sdk in SDKS if sdk.name in ("openai chat", "openai chat, async")], ids=lambda sdk: sdk.name
)


class get_weather(BaseModel):  # the tool's name is the class's
    city: str
    days: int


class read_file(BaseModel):
    path: str


def partial(text: str) -> str:
    """The text with the tool's name that instructor offers for parts of a value."""
    return text.replace("get_weather", "Partialget_weather")


@asynccontextmanager
async def asking(sdk: Any, server: WireServer, mode: str = "TOOLS") -> AsyncGenerator[Any, None]:
    """instructor's client, and what it is always asked with."""
    instructor = the_module("instructor")
    client = sdk.client(server, max_retries=0)
    try:
        yield instructor.from_openai(client, mode=instructor.Mode[mode]).chat.completions
    finally:
        await resolved(client.close())


ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "How is the weather?"}], "max_retries": 0}


@sdks
@dialects
async def test_a_value(sdk: Any, dialect: str) -> None:
    with serving(Turn(sample("written", dialect, "sentence_before").text)) as server:
        async with asking(sdk, server) as asked:
            value, reply = await resolved(asked.create_with_completion(response_model=get_weather, **ASKED))
    assert value.model_dump() == {"city": "Oslo", "days": 3}  # of a class that instructor derives
    assert (reply.id, reply.usage.total_tokens, reply.choices[0].finish_reason) == ("chatcmpl-wire", 30, "tool_calls")


@sdks
@dialects
async def test_a_streamed_value(sdk: Any, dialect: str) -> None:
    with serving(Turn(partial(sample("written", dialect, "sentence_before").text))) as server:
        async with asking(sdk, server) as asked:
            values = [value async for value in items(await resolved(asked.create_partial(response_model=get_weather, **ASKED)))]
    assert values[-1].model_dump() == {"city": "Oslo", "days": 3}


@sdks
@dialects
async def test_values_of_parallel_calls(sdk: Any, dialect: str) -> None:
    with serving(Turn(sample("written", dialect, "two_calls").text)) as server:
        async with asking(sdk, server, "PARALLEL_TOOLS") as asked:
            values = await resolved(asked.create(response_model=Iterable[get_weather | read_file], **ASKED))
    assert [*values] == [get_weather(city="Oslo", days=3), read_file(path="notes/plan.md")]


@sdks
@dialects
async def test_text_about_calls_is_no_value(sdk: Any, dialect: str) -> None:
    failed = the_module("instructor.core").InstructorRetryException
    with serving(Turn(sample("shown", dialect, "element_of_code").text)) as server:
        async with asking(sdk, server) as asked:
            with pytest.raises(failed):
                await resolved(asked.create(response_model=get_weather, **ASKED))


@sdks
@dialects
@pytest.mark.parametrize("ending", ["chunked", "dropped"])
async def test_a_cut_stream_is_no_value(sdk: Any, dialect: str, ending: str) -> None:
    values: list[Any] = []
    with serving(cut_reply(partial(sample("written", dialect, "sentence_before").text), ending)) as server:
        async with asking(sdk, server) as asked:

            async def ask() -> None:
                async for value in items(await resolved(asked.create_partial(response_model=get_weather, **ASKED))):
                    values.append(value)

            await failure_of(ask())
        assert server.requests
    assert values == []
