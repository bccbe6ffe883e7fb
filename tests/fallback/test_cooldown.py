"""Which places rest, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from llmcore.fallback import Cooldown, best_deployment, cooldown_left, first_available_model
from llmcore.types import CapabilityRefused, LLMCoreError, ModelError, Overloaded, RateLimited, RemoteServerError, Timeout
from tests.fallback.support import Table


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def fault() -> RemoteServerError:
    return RemoteServerError("502", status=502)


@pytest.mark.parametrize("kind", [fault, lambda: Timeout("late"), lambda: Overloaded("busy")])
def test_several_faults_in_a_row_start_a_cooldown(kind: Callable[[], LLMCoreError]) -> None:
    clock = Clock()
    health = Cooldown(clock=clock)
    for _ in range(2):
        health.failed("m", "eu", kind())
        assert health.left("m", "eu") == 0
    health.failed("m", "eu", kind())
    assert (health.left("m", "eu"), health.left("m", "us"), health.left("l", "eu")) == (30, 0, 0)
    clock.now += 31
    assert health.left("m", "eu") == 0
    health.failed("m", "eu", kind())  # one more is enough
    assert health.left("m", "eu") == 30
    health.worked("m", "eu")
    health.failed("m", "eu", kind())
    assert health.left("m", "eu") == 0


def test_an_answer_even_an_invalid_one_clears_the_faults() -> None:
    health = Cooldown(clock=Clock())
    for failure in (fault(), fault(), ModelError("bad"), fault(), fault(), CapabilityRefused("no", capability="native_tools")):
        health.failed("m", "", failure)
    assert health.left("m", "") == 0


@pytest.mark.parametrize(
    ("failure", "rest"),
    [
        (RateLimited("slow", retry_after=60.0), 60),
        (RateLimited("slow", retry_after=0.0), 0),
        (RateLimited("slow"), 5),
        (RateLimited("slow", retry_after=float("nan")), 5),
        (RateLimited("slow", retry_after=1e9), 600),
        (Overloaded("busy", retry_after=7.0), 7),
        (Overloaded("busy"), 0),
    ],
    ids=repr,
)
def test_a_rate_limited_place_cools_down_as_long_as_the_server_asks(failure: LLMCoreError, rest: float) -> None:
    health = Cooldown(clock=Clock())
    health.failed("m", "", failure)
    assert health.left("m", "") == rest


def test_the_first_available_deployment_else_the_shortest_cooldown() -> None:
    table = Table(places={"m": ["a", "b", "c"]}, rests={("m", "a"): 9.0})
    assert (best_deployment(table, "m"), cooldown_left(table, "m")) == ("b", 0)
    table.rests |= {("m", "b"): 3.0, ("m", "c"): 5.0}
    assert (best_deployment(table, "m"), cooldown_left(table, "m")) == ("b", 3)


def test_an_available_escalation_replaces_a_model_that_cools_down() -> None:
    table = Table(chain={"m": ["l"], "l": ["m", "xl"]}, rests={("m", ""): 9.0, ("l", ""): 9.0})
    assert first_available_model(table, "m") == "xl"
    table.rests[("xl", "")] = 1.0
    assert first_available_model(table, "m") == "m"
    assert first_available_model(Table(chain={"m": ["l"]}), "m") == "m"


class Broken:
    """A backend that fails as long as it is told to."""

    def __init__(self) -> None:
        self.fails = True
        self.asked = 0
        self.saved: dict[tuple[str, str], float] = {}

    async def load(self) -> dict[tuple[str, str], float]:
        self.asked += 1
        if self.fails:
            raise OSError("no route")
        return {("m", "b"): 5.0}

    async def save(self, cooldowns: Mapping[tuple[str, str], float]) -> None:
        await self.load()
        self.saved |= cooldowns


@pytest.mark.anyio
async def test_a_backend_that_fails_is_left_alone_and_nothing_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    clock, backend = Clock(), Broken()
    cooldown = Cooldown(shared=backend, clock=clock)
    cooldown.failed("m", "a", RateLimited("slow down", retry_after=60.0, status=429))
    for _ in range(3):
        await cooldown.publish()
        await cooldown.refresh_if_stale()
    assert (backend.asked, len(caplog.records)) == (1, 1)
    assert cooldown.left("m", "a") == 60
    backend.fails = False
    clock.now += 5
    await cooldown.publish()
    await cooldown.refresh_if_stale()
    assert backend.saved == {("m", "a"): 55.0}
    assert (cooldown.left("m", "a"), cooldown.left("m", "b")) == (55, 5)
