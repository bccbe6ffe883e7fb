"""The clients of anthropic, groq and mistralai, on httpx or httpx2. Each test is skipped where its package is missing."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.integrations.httpx import wrap
from tests.helpers.wire_server import Turn, WireServer
from tests.integrations.httpx.support import ANTHROPIC_TOOLS, ASK, CHAT_TOOLS
from tests.wire.support import CALL, TWELVE, written

pytestmark = pytest.mark.anyio
LEAD = "I look.\n"
ASKED: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": ASK, "tools": ANTHROPIC_TOOLS}
ABOUT = f"For example:\n{CALL}\nis how you do it."


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def names(message: Any) -> list[str]:
    return [block.name for block in message.content if block.type == "tool_use"]


@pytest.mark.parametrize("dialect", TWELVE)
def test_anthropic(dialect: str) -> None:
    anthropic: Any = pytest.importorskip("anthropic")
    turn = Turn(LEAD + written(dialect))
    with WireServer([turn]) as server, wrap(anthropic.Anthropic(base_url=server.root, api_key="k")) as asked:
        reply = asked.messages.create(**ASKED)
        assert (names(reply), reply.stop_reason, reply.id) == (["get_weather"], "tool_use", "msg_wire")
        assert reply.usage.input_tokens == 21
        with asked.messages.stream(**ASKED) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        assert (names(final), final.stop_reason) == (["get_weather"], "tool_use")
        assert text == "".join(block.text for block in reply.content if block.type == "text")


async def test_the_async_client_of_anthropic() -> None:
    anthropic: Any = pytest.importorskip("anthropic")
    with WireServer([Turn(LEAD + CALL + CALL.replace("Paris", "Rome"))]) as server:
        async with wrap(anthropic.AsyncAnthropic(base_url=server.root, api_key="k")) as asked:
            assert len(names(await asked.messages.create(**ASKED))) == 2
            async with asked.messages.stream(**ASKED) as stream:
                assert len(names(await stream.get_final_message())) == 2


def test_text_about_calls_stays_text_for_anthropic() -> None:
    anthropic: Any = pytest.importorskip("anthropic")
    with WireServer([Turn(ABOUT)]) as server, wrap(anthropic.Anthropic(base_url=server.root, api_key="k")) as asked:
        assert asked.messages.create(**ASKED).content[0].text == ABOUT
        with asked.messages.stream(**ASKED) as stream:
            assert stream.get_final_message().content[0].text == ABOUT


def test_groq() -> None:
    groq: Any = pytest.importorskip("groq")
    with WireServer([Turn(CALL)]) as server, wrap(groq.Groq(base_url=server.root, api_key="k")) as asked:
        reply = asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert reply.choices[0].message.tool_calls[0].function.name == "get_weather"
        chunks = [*asked.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True)]
        assert [chunk.choices[0].delta.tool_calls for chunk in chunks if chunk.choices and chunk.choices[0].delta.tool_calls]


def test_mistral() -> None:
    pytest.importorskip("mistralai")
    client: Any = pytest.importorskip("mistralai.client")
    with WireServer([Turn(CALL)]) as server, wrap(client.Mistral(server_url=server.root, api_key="k")) as asked:
        reply = asked.chat.complete(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert reply.choices[0].message.tool_calls[0].function.name == "get_weather"
        with asked.chat.stream(model="m", messages=ASK, tools=CHAT_TOOLS) as events:
            calls = [event.data.choices[0].delta.tool_calls for event in events if event.data.choices]
        assert [call for call in calls if call]


async def test_mistral_async() -> None:
    client: Any = pytest.importorskip("mistralai.client")
    with WireServer([Turn(CALL)]) as server:
        async with wrap(client.Mistral(server_url=server.root, api_key="k")) as asked:
            reply = await asked.chat.complete_async(model="m", messages=ASK, tools=CHAT_TOOLS)
        assert reply.choices[0].message.tool_calls[0].function.name == "get_weather"


def test_httpx2() -> None:
    httpx2: Any = pytest.importorskip("httpx2")
    with WireServer([Turn(CALL)]) as server, wrap(httpx2.Client()) as asked:
        reply = asked.post(server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS}).json()
        assert reply["choices"][0]["finish_reason"] == "tool_calls"
