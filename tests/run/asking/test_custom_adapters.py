"""If an adapter breaks its contract, the error names it and shows the value without secrets."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.orchestrator import Orchestrator
from llmcore.types import InternalError, Reply, RequestRefused
from tests.run.asking.test_cut_streams import finished
from tests.run.support import FAST

pytestmark = pytest.mark.anyio

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"


class Mine:
    provider_id = "mine"
    endpoint = Endpoint(provider="mine", model="m", alias="m")

    def __init__(self, given: Any, stream: Any = None) -> None:
        self.given, self.streamed = given, stream

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return Capabilities()

    async def complete(self, call: ModelCall) -> Reply:
        return self.given  # type: ignore[no-any-return]  # wrong on purpose

    def stream(self, call: ModelCall) -> Any:
        return self.streamed() if callable(self.streamed) else self.streamed


class NoCoroutine(Mine):
    def complete(self, call: ModelCall) -> Any:
        return self.given


class Raising(Mine):
    def complete(self, call: ModelCall) -> Any:
        raise ValueError("no luck")

    stream = complete


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


async def yielding(*given: Any) -> Any:
    for one in given:
        yield one


async def told(adapter: Any, *, streamed: bool = False) -> str:
    orchestrator = Orchestrator(adapter, strategies=FAST)
    run = finished(orchestrator.stream("Hi")) if streamed else orchestrator.run("Hi")
    with pytest.raises(InternalError) as caught:
        await run
    assert KEY not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"text": "hi", "key": KEY}, "dict {'text': 'hi'"),
        (None, "not None"),
        ("Hello", "str 'Hello'"),
        (Unprintable(), "Unprintable"),
        (b"Hello", "bytes b'Hello'"),
    ],
)
async def test_a_reply_that_is_none_is_named_with_its_adapter(given: Any, shown: str) -> None:
    words = await told(Mine(given))
    assert "the adapter Mine" in words
    assert shown in words
    assert "the adapter NoCoroutine" in await told(NoCoroutine(given))


@pytest.mark.parametrize("stream", [None, "text", [{"choices": []}], {"a": KEY}, 7])
async def test_a_stream_that_is_no_iterator_is_named_with_its_adapter(stream: Any) -> None:
    words = await told(Mine(None, stream), streamed=True)
    assert "the adapter Mine is wrong: stream() must give an async iterator" in words
    assert (type(stream).__name__ if stream is not None else "None") in words


async def test_a_stream_that_is_a_coroutine_is_named_and_leaves_nothing_behind() -> None:
    class Awaited(Mine):
        async def stream(self, call: ModelCall) -> Any:
            return yielding("a")

    assert "stream() must give an async" in await told(Awaited(None), streamed=True)


@pytest.mark.parametrize("chunk", [None, 5, b"bytes", ["a"], Unprintable()])
async def test_a_chunk_that_is_neither_text_nor_event_is_named_with_its_adapter(chunk: Any) -> None:
    words = await told(Mine(None, partial(yielding, "Hel", chunk)), streamed=True)
    assert "the adapter Mine is wrong: stream() must yield text or stream events (dicts)" in words


@pytest.mark.parametrize("capabilities", [None, {"native_tools": True}, "all"])
async def test_capabilities_that_are_none_are_named_with_their_adapter(capabilities: Any) -> None:
    class Knowing(Mine):
        def capabilities(self, endpoint: Endpoint) -> Any:
            return capabilities

    words = await told(Knowing(None))
    assert "the adapter Knowing is wrong: capabilities() must give Capabilities, not" in words


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_it_raises_before_anything_is_awaited_is_named_too(streamed: bool) -> None:
    assert "the adapter Raising raised ValueError: no luck" in await told(Raising(None), streamed=streamed)


@pytest.mark.parametrize("method", ["capabilities", "request_key", "warm_up"])
async def test_what_its_plain_methods_raise_is_named_too(method: str) -> None:
    def failing(self: Mine, given: Any) -> Any:
        raise KeyError("nothing")

    async def refused(self: Mine, call: ModelCall) -> Reply:
        raise RequestRefused("no such field")

    adapter = type("Failing", (Mine,), {"complete": refused, method: failing})(None)
    with pytest.raises(InternalError, match="the adapter Failing raised KeyError: 'nothing'"):
        await Orchestrator(adapter).run("go")


def test_what_capabilities_raises_is_named_where_they_are_read() -> None:
    class Failing(Mine):
        def capabilities(self, endpoint: Endpoint) -> Any:
            raise KeyError("nothing")

    for orchestrator in (Orchestrator(Failing(None)), Orchestrator(Failing(None), capabilities=CapabilityStore())):
        with pytest.raises(InternalError, match="the adapter Failing raised KeyError: 'nothing'"):
            orchestrator.capabilities.get("m")
    with pytest.raises(InternalError, match="the adapter Failing raised"):
        Orchestrator(Failing(None)).capabilities.get(Endpoint(provider="mine", model="mine"))
