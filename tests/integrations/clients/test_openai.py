"""What only the openai client has: `.parse`, the stream helpers, several choices; and the reports of `wrap` over a real connection."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.integrations.httpx import wrap
from llmcore.wire import ReplyReport
from tests.helpers.wire_server import Raw, Turn, WireServer
from tests.helpers.wires import WIRES
from tests.integrations.clients.sdks import SDKS
from tests.integrations.clients.support import Answer, cut_reply, failure_of, items, resolved, sample, serving, the_module

pytestmark = pytest.mark.anyio
GIVEN = sample("written", "hermes", "sentence_before")
CHAT, CHAT_ASYNC, RESPONSES, RESPONSES_ASYNC = (sdk for sdk in SDKS if sdk.module == "openai")
either = pytest.mark.parametrize("sdk", [CHAT, CHAT_ASYNC], ids=lambda sdk: sdk.name)


class get_weather(BaseModel):  # the tool's name is the class's
    city: str
    days: int


@either
async def test_parse_validates_the_arguments(sdk: Any) -> None:
    tool = the_module("openai").pydantic_function_tool(get_weather)
    with serving(Turn(GIVEN.text)) as server:
        client = sdk.client(server)
        reply = await resolved(client.chat.completions.parse(**{**sdk.api.options(GIVEN), "tools": [tool]}))
        await resolved(client.close())
    (call,) = reply.choices[0].message.tool_calls
    assert call.function.parsed_arguments == get_weather(city="Oslo", days=3)


@pytest.mark.parametrize("sdk", [RESPONSES, RESPONSES_ASYNC], ids=lambda sdk: sdk.name)
async def test_parse_of_responses_validates_the_arguments(sdk: Any) -> None:
    openai = the_module("openai")
    with serving(Turn(GIVEN.text)) as server:
        client = sdk.client(server)
        tool = openai.pydantic_function_tool(get_weather)
        reply = await resolved(client.responses.parse(**{**sdk.api.options(GIVEN), "tools": [tool]}))
        await resolved(client.close())
    (call,) = (item for item in reply.output if item.type == "function_call")
    assert call.parsed_arguments == get_weather(city="Oslo", days=3)


HELPERS = [
    (CHAT, "chat.completions", "get_final_completion", {"content.delta", "content.done", "tool_calls.function.arguments.done"}),
    (CHAT_ASYNC, "chat.completions", "get_final_completion", {"content.done", "tool_calls.function.arguments.done"}),
    (RESPONSES, "responses", "get_final_response", {"response.function_call_arguments.done", "response.output_text.done"}),
    (RESPONSES_ASYNC, "responses", "get_final_response", {"response.function_call_arguments.delta", "response.completed"}),
]


@pytest.mark.parametrize(("sdk", "resource", "final", "expected"), HELPERS)
async def test_the_stream_helper(sdk: Any, resource: str, final: str, expected: set[str]) -> None:
    with serving(Turn(GIVEN.text)) as server:
        client = sdk.client(server)
        owner = client
        for name in resource.split("."):
            owner = getattr(owner, name)
        tool = the_module("openai").pydantic_function_tool(get_weather)
        tools = {"tools": [tool]} if owner is client.chat.completions else {}  # that helper takes strict tools only
        manager = owner.stream(**{**sdk.api.options(GIVEN), **tools})
        is_async = hasattr(manager, "__aenter__")
        stream = await manager.__aenter__() if is_async else manager.__enter__()
        kinds = {event.type async for event in items(stream)}
        answer = Answer()
        sdk.api.add(answer, _with_usage(await resolved(getattr(stream, final)())))
        await resolved(stream.close())
        await resolved(client.close())
    assert expected <= kinds
    assert (answer.calls, answer.text.strip()) == (GIVEN.calls, GIVEN.content)


def _with_usage(reply: Any) -> Any:
    assert reply.usage is not None
    return reply


@either
async def test_all_choices_are_rewritten(sdk: Any) -> None:
    wire = WIRES["openai-chat"]
    body = wire.body(Turn(GIVEN.text))
    body["choices"].append({**body["choices"][0], "index": 1})
    with WireServer([Raw([json.dumps(body).encode()])]) as server:
        client = sdk.client(server)
        reply = await resolved(sdk.create(client, GIVEN, n=2))
        await resolved(client.close())
    assert [choice.message.tool_calls[0].function.name for choice in reply.choices] == ["get_weather"] * 2
    assert len({choice.message.tool_calls[0].id for choice in reply.choices}) == 2


@either
@pytest.mark.parametrize("ending", ["chunked", "close", "dropped", "length"])
async def test_a_cut_stream_is_reported(sdk: Any, ending: str) -> None:
    reports: list[ReplyReport] = []
    with serving(cut_reply(GIVEN.text, ending)) as server:
        client = wrap(sdk.bare_client(server.root, max_retries=0), on_reply=reports.append)
        answer = Answer()
        failure = await failure_of(sdk.api.stream(client, sdk.api.options(GIVEN), answer))
        await resolved(client.close())
    assert answer.calls == []
    ended = ending in ("chunked", "close")
    assert (failure is None) is ended  # else the connection's error, as without `wrap`
    assert [(report.cut, report.calls) for report in reports] == [(True, [])]
    assert not ended or (answer.text, answer.end) == (GIVEN.text, "")


async def test_a_request_without_tools_passes() -> None:
    with serving(Turn(GIVEN.text)) as server, CHAT.client(server) as client:
        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    assert reply.choices[0].message.content == GIVEN.text
