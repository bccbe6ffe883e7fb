"""Real clients against the gateway: openai, anthropic and litellm, whole, streamed and by their helpers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.gateway.support import (
    ABOUT,
    ANTHROPIC_TOOLS,
    ASK,
    BY_NAME,
    CALL_TEXT,
    CHAT_TOOLS,
    PATHS,
    RESPONSES_TOOLS,
    SECONDS,
    app_for,
    asked,
    events_of,
    running,
    streamed,
    whole,
)
from tests.helpers.wire_server import Failure, Raw, Seen, WireServer
from tests.wire.support import TWELVE, written

KEY = "key-of-a-client"
SETTINGS = {"keys": {"team": KEY}}
MODES = pytest.mark.parametrize("mode", ["pass_through", "orchestrated"])


def answering(name: str, text: str) -> Callable[[Seen], Raw | Failure]:
    """A script of a model's server: whole or streamed, as the request wants it."""

    def answer(seen: Seen) -> Raw | Failure:
        if seen.path.endswith("/count_tokens"):
            return Failure(404, "")
        return streamed(BY_NAME[name], text) if seen.streaming else whole(BY_NAME[name], text)

    return answer


def settings(mode: str) -> dict[str, Any]:
    return {**SETTINGS, "default": {"mode": mode}}


@MODES
@pytest.mark.parametrize("dialect", TWELVE)
def test_openai_chat(dialect: str, mode: str) -> None:
    openai: Any = pytest.importorskip("openai")
    text = f"I look.\n{written(dialect)}"
    request: dict[str, Any] = {"model": "m", "messages": ASK, "tools": CHAT_TOOLS}
    with (
        WireServer(answering("openai-chat", text)) as server,
        running(app_for(f"{server.root}/v1", settings(mode))) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
    ):
        reply = client.chat.completions.create(**request)
        chunks = [*client.chat.completions.create(**request, stream=True)]
        with client.chat.completions.stream(**request) as stream:
            final = stream.get_final_completion()
    for choice in (reply.choices[0], final.choices[0]):
        assert (choice.finish_reason, choice.message.tool_calls[0].function.name) == ("tool_calls", "get_weather")
        assert choice.message.content.startswith("I look.")
    assert reply.usage.prompt_tokens == 21
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "tool_calls"


@MODES
def test_openai_responses(mode: str) -> None:
    openai: Any = pytest.importorskip("openai")
    request: dict[str, Any] = {"model": "m", "input": ASK, "tools": RESPONSES_TOOLS}
    wire = "openai-responses" if mode == "pass_through" else "openai-chat"
    with (
        WireServer(answering(wire, CALL_TEXT)) as server,
        running(app_for(f"{server.root}/v1", settings(mode))) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
    ):
        reply = client.responses.create(**request)
        with client.responses.stream(**request) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()
    for response in (reply, final):
        (call,) = [item for item in response.output if item.type == "function_call"]
        assert (call.name, response.output_text.strip(), response.status) == ("get_weather", "I look.", "completed")
    assert kinds[-1] == "response.completed"


@MODES
def test_anthropic(mode: str) -> None:
    anthropic: Any = pytest.importorskip("anthropic")
    request: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": ASK, "tools": ANTHROPIC_TOOLS}
    wire = "anthropic" if mode == "pass_through" else "openai-chat"
    with (
        WireServer(answering(wire, CALL_TEXT)) as server,
        running(app_for(f"{server.root}/v1", settings(mode))) as url,
        anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client,
    ):
        reply = client.messages.create(**request)
        events = [event.type for event in client.messages.create(**request, stream=True)]
        with client.messages.stream(**request) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        counted = client.messages.count_tokens(model="m", messages=ASK)
        models = client.models.list()
    for message in (reply, final):
        calls = [block for block in message.content if block.type == "tool_use"]
        assert ([call.name for call in calls], message.stop_reason) == (["get_weather"], "tool_use")
        assert calls[0].input == {"city": "Paris", "days": 3}
        assert message.usage.output_tokens == 9
    assert text.strip() == "I look."
    assert (events[0], events[-1]) == ("message_start", "message_stop")
    assert counted.input_tokens > 0
    assert [model.id for model in models] == ["m"]


def test_errors_are_those_of_the_sdks() -> None:
    anthropic: Any = pytest.importorskip("anthropic")
    openai: Any = pytest.importorskip("openai")
    with running(app_for("http://127.0.0.1:9/v1", SETTINGS)) as url:
        for key, expected in (("wrong-key", "AuthenticationError"), (KEY, "InternalServerError")):
            with openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
                with pytest.raises(getattr(openai, expected)) as failure:
                    client.chat.completions.create(model="m", messages=ASK)
                assert failure.value.request_id.startswith("req_")
            with (
                anthropic.Anthropic(base_url=url, api_key=key, max_retries=0) as client,
                pytest.raises(getattr(anthropic, expected)),
            ):
                client.messages.create(model="m", max_tokens=9, messages=ASK)


@pytest.mark.parametrize("name", ["openai-chat", "anthropic"])
def test_a_cut_stream_raises_in_the_sdks(name: str) -> None:
    openai: Any = pytest.importorskip("openai")
    anthropic: Any = pytest.importorskip("anthropic")
    parts = b"".join(streamed(BY_NAME[name], CALL_TEXT).frames).split(b"\n\n")
    half = Raw([b"\n\n".join(parts[: len(parts) // 2]) + b"\n\n"], "text/event-stream", ending="dropped")
    with WireServer([half]) as server, running(app_for(f"{server.root}/v1", SETTINGS)) as url:
        if name == "openai-chat":
            with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
                stream = client.chat.completions.create(model="m", messages=ASK, tools=CHAT_TOOLS, stream=True)
                with pytest.raises(openai.APIError, match="broke the reply off"):
                    list(stream)
        else:
            with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
                stream = client.messages.create(model="m", max_tokens=9, messages=ASK, tools=ANTHROPIC_TOOLS, stream=True)
                with pytest.raises(anthropic.APIError):
                    list(stream)


LITELLM = """
import json, sys, warnings
warnings.simplefilter("ignore")  # of litellm's own types
import litellm
place = json.loads(sys.argv[1])
reply = litellm.completion(**place)
built = litellm.stream_chunk_builder([*litellm.completion(**place, stream=True)])
print(*(each.choices[0].message.tool_calls[0].function.name for each in (reply, built)))
"""
"""In a process of its own: what litellm leaves on event loops, later tests would be blamed for."""


def test_litellm() -> None:
    with WireServer(answering("openai-chat", CALL_TEXT)) as server, running(app_for(f"{server.root}/v1", SETTINGS)) as url:
        place = {"model": "openai/m", "api_base": f"{url}/v1", "api_key": KEY, "messages": ASK, "tools": CHAT_TOOLS}
        done = subprocess.run(
            [sys.executable, "-c", LITELLM, json.dumps(place)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        )
    assert done.stdout.split()[-2:] == ["get_weather", "get_weather"], done.stderr


@pytest.mark.parametrize("name", ["openai-chat", *(pytest.param(name, marks=pytest.mark.sweep) for name in sorted(PATHS)[:2])])
def test_two_hundred_streams_at_once(name: str) -> None:
    """Each client has words of its own. None is lost or mixed."""
    wire = BY_NAME[name]
    draw = random.Random(name)  # reproducible, no secret

    async def model(scope: Any, receive: Any, send: Any) -> None:
        """A model's server that streams in pieces."""
        body = json.loads((await receive())["body"])
        text = str(body["field_of_client"])
        stream = streamed(wire, f"{text} {CALL_TEXT.replace('Paris', text)}").frames[0]
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for at in range(0, len(stream), 400):
            await send({"type": "http.response.body", "body": stream[at : at + 400], "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})

    async def all_of(url: str) -> list[Any]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=url, timeout=60.0, limits=limits) as client:

            async def one(text: str) -> Any:
                reply = await client.post(PATHS[name], json=asked(name, stream=True, field_of_client=text))
                return wire.read_events(events_of(reply.content))

            return await asyncio.gather(*map(one, texts))

    texts = [f"client-{number}-{draw.getrandbits(64):x}" for number in range(200)]
    with running(model, lifespan="off") as root, running(app_for(f"{root}/v1")) as url:
        found = asyncio.run(all_of(url))
    assert [(read.calls, read.text.strip()) for read in found] == [
        ([("get_weather", {"city": text, "days": 3})], f"{text} I look.") for text in texts
    ]


def test_text_about_calls_stays_text() -> None:
    with WireServer(answering("openai-chat", ABOUT)) as server, running(app_for(f"{server.root}/v1")) as url:
        reply = httpx.post(url + PATHS["openai-chat"], json=asked("openai-chat"), timeout=SECONDS).json()
    assert reply["choices"][0]["message"]["content"] == ABOUT
