"""A process that asks more endpoints than LiteLLM's cache of HTTP clients holds: those it evicts are closed, none while a call
uses it."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import close_clients, litellm
from llmcore.adapters.litellm.patches.client_cache import PATCHES, in_use, register_loop
from llmcore.adapters.litellm.patches.patch import replace
from llmcore.adapters.wire.traffic_watch import TrafficWatch
from llmcore.support.values.narrowing import object_in, objects_in
from llmcore.types import Limits
from tests.adapters.conftest import KEY, call_of, endpoint_at
from tests.adapters.litellm.patches.conftest import Unpatch
from tests.helpers.wire_server import Raw, Seen, Step, WireServer
from tests.helpers.wires import Turn

pytestmark = pytest.mark.anyio

_PLACES = 2
_CALLS = 7
_SSE = "text/event-stream"
_HALVES = [
    b'data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}\n\n',
    b'data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
]


@pytest.fixture
async def sessions(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Any]]:
    """The sessions that are made, by which sockets are open. The cache has few places; Python's loop tells of nothing."""
    module = await litellm()
    await close_clients()
    cache = module.in_memory_llm_clients_cache
    empty: dict[str, object] = {"cache_dict": {}, "ttl_dict": {}, "expiration_heap": [], "max_size_in_memory": _PLACES}
    for name, value in empty.items():
        monkeypatch.setattr(cache, name, value)
    made: list[Any] = []
    told: list[Any] = []
    transport = __import__("litellm.llms.custom_httpx.aiohttp_transport", fromlist=["x"]).LiteLLMAiohttpTransport
    make = transport._rebuild_session

    def noted(self: Any) -> Any:
        made.append(make(self))
        return made[-1]

    monkeypatch.setattr(transport, "_rebuild_session", noted)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(context["message"]))
    yield made
    await close_clients()
    assert _open(made) == []
    made.clear()
    gc.collect()
    loop.set_exception_handler(None)
    assert told == []


def _open(sessions: list[Any]) -> list[Any]:
    return [session for session in sessions if not session.closed]


def _call(server: WireServer, user: int, *, streamed: bool = False) -> ModelCall:
    endpoint = endpoint_at(server, "openai").model_copy(update={"api_key": SecretStr(f"{KEY}-{user}")})
    return call_of(endpoint, tools=(), streamed=streamed)


async def _said(adapter: LiteLLMAdapter, call: ModelCall) -> str:
    return "".join([_text_of(event) async for event in adapter.stream(call)])


def _text_of(event: object) -> str:
    choices = objects_in(object_in(event).get("choices"))
    return "".join(str(object_in(choice.get("delta")).get("content", "")) for choice in choices)


async def _settled() -> None:
    """The closing of what nobody uses is begun in the next step of the loop, and ends in some more."""
    await asyncio.sleep(0.05)


async def test_litellm_forgets_clients_whose_sockets_are_open(
    adapter: LiteLLMAdapter, sessions: list[Any], unpatch: Unpatch
) -> None:
    unpatch("client_cache")
    with WireServer(["Hi"]) as server:
        for user in range(_CALLS):
            await adapter.complete(_call(server, user))
        await _settled()
        assert len(_open(sessions)) > _PLACES
        await asyncio.gather(*(session.close() for session in sessions))


async def test_litellm_closes_the_clients_of_every_loop_and_keeps_them(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    module = await litellm()
    with WireServer(["Hi"]) as server:
        await adapter.complete(_call(server, 0))
        await asyncio.to_thread(asyncio.run, module.close_litellm_async_clients())
        await _settled()
        assert _open(sessions) == []
        assert module.in_memory_llm_clients_cache.cache_dict


async def test_what_is_evicted_is_closed(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    with WireServer(["Hi"]) as server:
        for user in range(_CALLS):
            await adapter.complete(_call(server, user))
        gc.collect()
        await _settled()
        assert len(sessions) == _CALLS
        assert len(_open(sessions)) <= _PLACES


async def test_an_open_stream_keeps_its_client(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    def reply(seen: Seen) -> Step:
        return Raw(_HALVES, _SSE, pause=0.3) if seen.streaming else Turn("Hi")

    with WireServer(reply) as server:
        said = asyncio.create_task(_said(adapter, _call(server, 0, streamed=True)))
        while not server.requests:
            await asyncio.sleep(0.01)
        for user in range(1, _CALLS):
            await adapter.complete(_call(server, user))
        gc.collect()
        await _settled()
        assert not said.done()
        assert not sessions[0].closed
        assert len(_open(sessions)) <= _PLACES + 1  # a long stream holds no other
        assert await said == "Hello"
        await _settled()
        assert sessions[0].closed


async def test_requests_at_once_beyond_the_places_all_end_well(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    with WireServer(lambda seen: Raw(_HALVES, _SSE, pause=0.02) if seen.streaming else Turn("Hi")) as server:
        for _ in range(2):
            calls = [_said(adapter, _call(server, user, streamed=True)) for user in range(_CALLS)]
            wholes = [adapter.complete(_call(server, user % 3)) for user in range(_CALLS)]
            said, _ = await asyncio.gather(asyncio.gather(*calls), asyncio.gather(*wholes))
            assert said == ["Hello"] * _CALLS
        await _settled()
        assert len(_open(sessions)) <= _PLACES


async def test_what_others_send_through_is_left_to_litellm(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    module = await litellm()
    with WireServer(["Hi"]) as server:
        await module.acompletion(
            model="openai/gpt-4o", api_base=server.base_url("openai"), api_key="k", messages=[{"role": "user", "content": "x"}]
        )
        held = [*module.in_memory_llm_clients_cache.cache_dict.values()]
        for user in range(_CALLS):
            await adapter.complete(_call(server, user))
        await _settled()
        assert not sessions[0].closed
        await sessions[0].close()
        del held


async def test_a_client_of_another_loop_is_closed_there(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    with WireServer(["Hi"]) as server:
        await adapter.complete(_call(server, 0))

        async def others() -> None:
            for user in range(1, _CALLS):
                await adapter.complete(_call(server, user))

        thread = threading.Thread(target=lambda: asyncio.run(others()))
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.01)
        await _settled()
        assert sessions[0].closed
        assert len(sessions) == _CALLS


async def test_closing_the_adapter_closes_what_was_evicted(adapter: LiteLLMAdapter, sessions: list[Any]) -> None:
    with WireServer(["Hi"]) as server:
        for user in range(_CALLS):
            await adapter.complete(_call(server, user))
        await adapter.close()
        assert _open(sessions) == []
        assert (await adapter.complete(_call(server, 0))).raw


async def test_many_that_nobody_uses_are_closed_at_once() -> None:
    """One after the other they would be closed more slowly than a busy loop, whose turns are long, evicts others."""
    closed: list[int] = []

    class Slow:
        async def aclose(self) -> None:
            for _ in range(5):
                await asyncio.sleep(0)
            closed.append(1)

    key = "client-1"

    class Cache:
        def __init__(self) -> None:
            self.cache_dict: dict[str, object] = {}
            self.update_cache_key_with_event_loop = "{}-1".format

        def _remove_key(self, key: str) -> None:
            del self.cache_dict[key]

    cache: Any = Cache()
    replace(cache, "_remove_key", PATCHES[0].wrap)
    register_loop(SimpleNamespace(in_memory_llm_clients_cache=cache))
    with in_use(TrafficWatch(Limits(), streamed=False, known=True)):
        for _ in range(50):
            cache.cache_dict[key] = SimpleNamespace(_transport=Slow())
            cache._remove_key(key)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(closed) == 50
