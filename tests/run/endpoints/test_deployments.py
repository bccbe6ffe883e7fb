"""Several deployments of one alias, and cooldowns of failing ones. Over real sockets if waits are real."""

from __future__ import annotations

import logging
import time
from email.utils import formatdate
from typing import Any

import pytest

from llmcore.adapters.base import ModelCall
from llmcore.fallback import Cooldown
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import AttemptStarted, Budget, ConfigError, FallbackExhausted, Finished, RemoteServerError, Waiting
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer
from tests.run.support import add, called

pytestmark = pytest.mark.anyio


def models(*servers: WireServer, **settings: Any) -> dict[str, Any]:
    places = [{"name": name, "base_url": server.base_url("openai")} for name, server in zip("ab", servers, strict=False)]
    model = {"provider": "openai_compatible", "model": "local", "api_key": "none", "deployments": places}
    return {"models": {"m": {**model, **settings}}}


def limited(**headers: str) -> Failure:
    return Failure(429, {"error": {"message": "slow down"}}, headers)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "failure",
    [
        limited(**{"Retry-After": "60"}),
        limited(),
        limited(**{"Retry-After": formatdate(time.time() + 3600, usegmt=True)}),
        Failure(529, {"error": {"message": "busy"}}, {"Retry-After": "60"}),
        Failure(502, "Bad Gateway"),
    ],
    ids=["429 in seconds", "429 without", "429 as a date", "529", "502"],
)
async def test_another_deployment_answers_without_a_wait(failure: Failure, streamed: bool) -> None:
    with WireServer([failure]) as sick, WireServer(["Hello."]) as well:
        async with Orchestrator(models(sick, well)) as orchestrator:
            if streamed:
                events = [event async for event in orchestrator.stream("Hi")]
                assert not [event for event in events if isinstance(event, Waiting)]
                result = next(event.result for event in events if isinstance(event, Finished))
            else:
                result = await orchestrator.run("Hi")
    assert result.content == "Hello."
    assert [(one.deployment, one.reason, one.waited) for one in result.attempts] == [("a", "first", 0), ("b", "retry", 0)]
    assert result.attempts[1].detail.startswith(("RateLimited: ", "Overloaded: ", "RemoteServerError: "))


@pytest.mark.parametrize("header", [{"Retry-After": "1"}, {}, {"Retry-After": "DATE"}], ids=str)
async def test_a_single_place_is_waited_for_and_the_wait_is_reported(
    header: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    given = {name: formatdate(time.time() + 2, usegmt=True) if value == "DATE" else value for name, value in header.items()}
    with WireServer([limited(**given), "Hello."]) as server:
        async with Orchestrator(models(server)) as orchestrator:
            with caplog.at_level(logging.INFO, "llmcore.fallback"):
                events = [event async for event in orchestrator.stream("Hi", deadline=20)]
    waiting = next(event for event in events if isinstance(event, Waiting))
    result = next(event.result for event in events if isinstance(event, Finished))
    assert waiting.deployment == result.attempts[1].deployment == "a"
    assert 0 < waiting.seconds <= 2
    assert result.attempts[1].waited >= waiting.seconds * 0.9
    assert "RateLimited" in result.attempts[1].detail
    assert [line for line in caplog.messages if "attempt 2: m@a (" in line and f"waiting {waiting.seconds:.2f} s" in line]
    assert [event.deployment for event in events if isinstance(event, AttemptStarted)] == ["a", "a"]


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("seconds", ["1", "2"])
async def test_the_place_that_asked_to_wait_is_asked_again_beside_a_dead_one(seconds: str, streamed: bool) -> None:
    with WireServer(["never"]) as gone:
        pass
    with WireServer([limited(**{"Retry-After": seconds}), "Hello."]) as busy:
        async with Orchestrator(models(gone, busy)) as orchestrator:
            if streamed:
                events = [event async for event in orchestrator.stream("Hi", deadline=20)]
                result = next(event.result for event in events if isinstance(event, Finished))
            else:
                result = await orchestrator.run("Hi", deadline=20)
    assert result.content == "Hello."
    assert [one.deployment for one in result.attempts] == ["a", "b", "a", "b"]


# Without sockets


class Places(FakeModel):
    """Answers by the deployment's URL: the sick ones fail."""

    def __init__(self, *sick: str, **options: Any) -> None:
        super().__init__(default="Hello.", **options)
        self.sick = set(sick)
        self.asked: list[str] = []

    async def complete(self, call: ModelCall) -> Any:
        place = (call.endpoint.base_url or "").removeprefix("http://") or call.endpoint.model
        self.asked.append(place)
        if place in self.sick:
            raise RemoteServerError("502", status=502)
        return await super().complete(call)


def registry(names: str = "ab", **settings: Any) -> dict[str, Any]:
    places = [{"name": name, "base_url": f"http://{name}"} for name in names]
    model = {"provider": "fake", "model": "fake", "deployments": places, **settings}
    return {"models": {"m": model, "l": {"provider": "fake", "model": "large"}}}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def cooled(orchestrator: Orchestrator) -> Clock:
    clock = Clock()
    orchestrator._catalog.cooldown = Cooldown(clock=clock)  # pyright: ignore[reportPrivateUsage]  # no wait of half a minute
    return clock


async def test_a_sick_deployment_is_left_aside_by_later_runs_until_its_rest_is_over() -> None:
    fake = Places("a")
    orchestrator = Orchestrator(registry(), adapter=fake)
    clock = cooled(orchestrator)
    for _ in range(3):
        await orchestrator.run("Hi")
    assert fake.asked == ["a", "b"] * 3
    await orchestrator.run("Hi")
    assert fake.asked[6:] == ["b"]
    clock.now += 31
    fake.sick.clear()
    await orchestrator.run("Hi")
    assert fake.asked[7:] == ["a"]


async def test_a_sick_model_is_left_aside_for_the_one_it_escalates_to(caplog: pytest.LogCaptureFixture) -> None:
    fake = Places("a", "b")
    orchestrator = Orchestrator(registry(escalates_to="l"), adapter=fake)
    clock = cooled(orchestrator)
    for _ in range(3):
        assert (await orchestrator.run("Hi", model="m")).content == "Hello."
    assert fake.asked == ["a", "b", "large"] * 3
    with caplog.at_level(logging.INFO, "llmcore.run"):
        result = await orchestrator.run("Hi", model="m")
    assert fake.asked[9:] == ["large"]
    first = result.attempts[0]
    assert (first.model, first.reason, first.detail) == ("l", "model", "m failed before and is left aside for 30.0 s more")
    assert "m failed before and is left aside for 30.0 s more; l is asked" in caplog.messages
    clock.now += 31
    fake.sick.clear()
    assert [one.deployment for one in (await orchestrator.run("Hi", model="m")).attempts] == ["a"]


async def test_a_sick_model_with_nothing_beside_it_is_asked_all_the_same() -> None:
    fake = Places("a")
    orchestrator = Orchestrator(registry("a"), adapter=fake, strategies=())
    cooled(orchestrator)
    for _ in range(5):
        with pytest.raises(FallbackExhausted):
            await orchestrator.run("Hi", model="m")
    assert fake.asked == ["a"] * 5


async def test_later_turns_stay_with_the_deployment_that_worked() -> None:
    fake = Places("a").tool_call("add", {"a": 1, "b": 2}).text("3")
    result = await Orchestrator(registry(), [add], adapter=fake).run("go")
    assert [(one.deployment, one.reason) for one in result.attempts] == [("a", "first"), ("b", "retry"), ("b", "turn")]


async def test_what_is_learnt_belongs_to_the_deployment() -> None:
    fake = Places().text('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>').text("3")
    orchestrator = Orchestrator(registry(), [add], adapter=fake)
    await orchestrator.run("go")
    model = orchestrator.models.get("m")
    assert orchestrator.capabilities.learnt(model.at("a").endpoint) == {"emits_text_calls": True, "writes=hermes": True}
    assert orchestrator.capabilities.learnt(model.at("b").endpoint) == {}


async def test_the_most_requests_with_deployments_are_what_the_docstring_says() -> None:
    fake = Places("a", "b", "c")
    with pytest.raises(FallbackExhausted) as caught:
        await Orchestrator(registry("abc"), adapter=fake).run("Hi", model="m", budget=Budget(attempts=1, reasks=0))
    assert len(caught.value.attempts) == 1 + 2
    assert "m@a (native_tools): RemoteServerError: 502; then m@b" in caught.value.details


async def test_a_cost_budget_wants_the_price_of_every_deployment() -> None:
    settings = registry(provider="openai", model="gpt-4o")
    settings["models"]["m"]["deployments"].append({"model": "gpt-4o-unheard-of"})
    orchestrator = Orchestrator(settings, adapter=FakeModel(default=called("add")))
    with pytest.raises(ConfigError, match="price of 'm'"):
        await orchestrator.run("Hi", budget=Budget(cost=1))


@pytest.mark.parametrize(("status", "tries"), [(401, 1), (403, 1), (400, 4), (422, 4)])
async def test_a_place_that_takes_no_key_or_no_such_request_gives_way(status: int, tries: int) -> None:
    with WireServer([Failure(status, {"error": {"message": "Not here."}})]) as sick, WireServer(["Hello."]) as well:
        async with Orchestrator(models(sick, well), [add]) as orchestrator:
            result = await orchestrator.run("Hi")
    assert (result.content, result.attempts[-1].deployment, result.attempts[-1].mode) == ("Hello.", "b", "native_tools")
    assert len(sick.requests) == tries


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_another_place_begins_in_its_own_first_mode(streamed: bool) -> None:
    """What one place refuses (its tools) is true of it alone, in the same turn and in later ones."""
    down = Failure(503, {"error": {"message": "down"}})

    def without_tools(seen: Seen) -> Step:
        refused = Failure(400, {"error": {"message": "tools are not supported"}})
        return refused if "tools" in seen.body else down

    def without_formats(seen: Seen) -> Step:
        if "response_format" in seen.body:
            return Failure(400, {"error": {"message": "response_format is not supported"}})
        answered = any(message["role"] == "tool" for message in seen.body["messages"])
        return "It is 3." if answered else Turn(calls=[("add", {"a": 1, "b": 2})])

    with WireServer(without_tools) as first, WireServer(without_formats) as second:
        async with Orchestrator(models(first, second), [add]) as orchestrator:
            if streamed:
                events = [event async for event in orchestrator.stream("1 + 2?")]
                result = next(event.result for event in events if isinstance(event, Finished))
            else:
                result = await orchestrator.run("1 + 2?")
    assert [(one.deployment, one.mode, one.failure is None) for one in result.attempts] == [
        ("a", "native_tools", False),
        ("a", "json_schema", False),
        ("b", "native_tools", True),
        ("b", "native_tools", True),
    ]
    assert result.content == "It is 3."
