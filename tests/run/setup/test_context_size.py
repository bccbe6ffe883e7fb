"""A request that does not fit the model's context is not sent: a larger model is tried, or the run ends with its partial
result."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import ConfigError, ContextOverflow, Request, Timeout
from tests.run.support import assert_valid, stack

pytestmark = pytest.mark.anyio


def long() -> str:
    return "x" * 10_000


def words(request: Request) -> int:
    return sum(
        len(block.content[0].text) for m in request.messages for block in m.tool_results if block.content[0].type == "text"
    )


async def ended(orchestrator: Orchestrator, **options: Any) -> ContextOverflow:
    with pytest.raises(ContextOverflow) as caught:
        await orchestrator.run("go", **options)
    partial = caught.value.partial
    assert [record.name for record in partial.tool_results] == ["long"]
    assert_valid(partial.messages)
    assert len(partial.attempts) == 1
    return caught.value


@pytest.mark.parametrize("per_run", [False, True])
async def test_a_bound_of_the_callers_ends_the_run_with_what_was_done(per_run: bool) -> None:
    fake = FakeModel().tool_call("long", text="I look.").text("never")
    own: dict[str, Any] = {"max_context_tokens": 2000} if per_run else {}
    error = await ended(Orchestrator(fake, [long], max_context_tokens=None if per_run else 2000), **own)
    assert "about 25" in str(error)
    assert "max_context_tokens is 2000; nothing was sent" in str(error)
    assert fake.call_count == 1


@pytest.mark.parametrize("whose", ["orchestrator", "adapter"])
async def test_tokens_are_counted_by_whoever_can(whose: str) -> None:
    fake = FakeModel(endpoint=Endpoint(provider="fake", model="fake", alias="fake", context_window=9000))
    fake.tool_call("long").text("fits")
    if whose == "adapter":
        fake.token_counter(words)
    error = await ended(Orchestrator(fake, [long], token_counter=words if whose == "orchestrator" else None))
    assert "the request has 10000 tokens, and the context window of 'fake' has 9000" in str(error)


@pytest.mark.parametrize(("window", "fits"), [(500, False), (1200, False), (1300, True), (5000, True)])
async def test_by_an_estimate_only_what_is_twice_the_window_is_too_long(window: int, fits: bool) -> None:
    fake = FakeModel(endpoint=Endpoint(provider="fake", model="fake", alias="fake", context_window=window))
    fake.tool_call("long").text("fits")
    orchestrator = Orchestrator(fake, [long])
    if fits:
        assert (await orchestrator.run("go")).content == "fits"
    else:
        await ended(orchestrator)


async def test_a_model_with_a_larger_window_takes_over() -> None:
    fakes = {"small": FakeModel().tool_call("long"), "large": FakeModel("seen")}
    settings = {"small": {"context_window": 500}, "large": {"context_window": 50_000}}
    result = await stack(fakes, [long], settings=settings).run("go")
    assert (result.content, [attempt.model for attempt in result.attempts]) == ("seen", ["small", "large"])


@pytest.mark.parametrize(
    "options",
    [{"max_context_tokens": 0}, {"max_context_tokens": "3"}, {"token_counter": 3}, {"token_counter": lambda: 3}],
    ids=["zero", "text", "no function", "of nothing"],
)
def test_what_makes_no_sense_is_refused_at_once(options: Any) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(options))} "):
        Orchestrator(FakeModel("ok"), **options)


async def test_a_counter_that_gives_no_number_ends_the_run() -> None:
    def many(_: Request) -> Any:
        return "many"

    with pytest.raises(ConfigError, match="returned 'many', which is not a number of tokens"):
        await Orchestrator(FakeModel("ok"), token_counter=many, max_context_tokens=5).run("go")


async def test_a_counter_may_be_async() -> None:
    async def counted(request: Request) -> int:
        await asyncio.sleep(0)
        return 5

    async def never(request: Request) -> int:
        await asyncio.sleep(10)
        return 5

    assert (await Orchestrator(FakeModel("ok"), token_counter=counted, max_context_tokens=5).run("go")).content == "ok"
    with pytest.raises(ContextOverflow):
        await Orchestrator(FakeModel("ok"), token_counter=counted, max_context_tokens=4).run("go")
    with pytest.raises(Timeout, match="deadline"):
        await Orchestrator(FakeModel("ok"), token_counter=never, max_context_tokens=4).run("go", deadline=0.1)


async def test_a_slow_counter_ends_by_the_deadline_and_blocks_no_other() -> None:
    release, ticks = threading.Event(), 0

    def slow(request: Request) -> int:
        release.wait(10)
        return 1

    orchestrator = Orchestrator(FakeModel("never"), max_context_tokens=1000, token_counter=slow)
    running = asyncio.ensure_future(orchestrator.run("go", deadline=0.2))
    while not running.done():
        await asyncio.sleep(0.01)
        ticks += 1
    release.set()
    with pytest.raises(Timeout, match="deadline"):
        await running
    assert ticks > 5


async def test_a_counter_cannot_change_what_is_sent() -> None:
    def counter(request: Request) -> int:
        for use in (use for message in request.messages for use in message.tool_uses):
            (use.input or {}).clear()
        request.messages.clear()
        return 1

    fake = FakeModel().tool_call("echo", {"text": "a"}).text("ok")

    def echo(text: str) -> str:
        return text

    await Orchestrator(fake, [echo], token_counter=counter, max_context_tokens=1000).run("go")
    assert [len(request.messages) for request in fake.requests] == [1, 3]
    assert fake.last_request.messages[1].tool_uses[0].input == {"text": "a"}
