"""A place that asked for time is gone back to when the others fail; what ends a run then is every failure."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import FakeModel
from llmcore.fallback import ComeBack, EscalateModel, FallbackManager, OtherDeployment, OtherMode, Plan, Retry, TextOnly
from llmcore.types import (
    AuthenticationFailed,
    CallerError,
    ConfigError,
    ContextOverflow,
    FallbackExhausted,
    LLMCoreError,
    ModelNotFound,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    Refused,
    RemoteServerError,
    RetryConfig,
    Waiting,
)
from tests.fallback.support import Script, Table, context_for, told
from tests.run.support import stack

pytestmark = pytest.mark.anyio

ALL = (OtherDeployment(), Retry(RetryConfig(max_retries=2, base=0)), OtherMode(), EscalateModel(), TextOnly(), ComeBack())
BUSY = RateLimited("busy", retry_after=6.0)


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(seconds: float) -> None:
        pass

    monkeypatch.setattr("llmcore.fallback.manager.asyncio.sleep", sleep)


async def walked(table: Table, *failures: LLMCoreError, deadline: float | None = 60.0) -> list[Plan]:
    context = context_for(table, attempts=3, deadline=deadline)
    script = Script(context, *failures)
    async for _ in told(FallbackManager(ALL), context, script):
        pass
    return script.plans[1:]


@pytest.mark.parametrize("other", [QuotaExceeded("spent"), ModelNotFound("gone"), Refused("no"), ContextOverflow("long")])
@pytest.mark.parametrize("busy", [BUSY, Overloaded("busy", retry_after=6.0)])
async def test_a_rate_limited_model_is_waited_for_if_the_other_model_fails(busy: LLMCoreError, other: LLMCoreError) -> None:
    plans = await walked(Table(chain={"m": ["l"]}, rests={("m", ""): 6.0}), busy, other)
    assert [(plan.model, plan.reason, plan.wait) for plan in plans] == [("l", "model", 0.0), ("m", "retry", 6.0)]


async def test_a_rate_limited_model_is_waited_for_if_the_other_is_down_or_slower() -> None:
    table = Table(chain={"m": ["l"]}, rests={("m", ""): 6.0, ("l", ""): 600.0})
    down = [RemoteServerError("502")] * 3
    assert [plan.model for plan in await walked(table, BUSY, *down)] == ["l", "l", "l", "m"]
    assert [plan.model for plan in await walked(table, BUSY, RateLimited("too", retry_after=600.0))] == ["l", "m"]


async def test_a_rate_limited_deployment_is_waited_for() -> None:
    table = Table(places={"m": ["x", "y"]}, rests={("m", "x"): 6.0})
    context = context_for(table, deadline=60.0)
    context.plan = Plan("m", "native_tools", deployment="x")
    script = Script(context, BUSY, *[RemoteServerError("502")] * 3)
    async for _ in told(FallbackManager(ALL), context, script):
        pass
    assert [plan.deployment for plan in script.plans][-1] == "x"


@pytest.mark.parametrize(("rest", "deadline"), [(61.0, None), (59.0, 30.0)])
async def test_no_wait_exceeds_the_deadline_or_max_wait(rest: float, deadline: float | None) -> None:
    with pytest.raises(FallbackExhausted):
        await walked(Table(chain={"m": ["l"]}, rests={("m", ""): rest}), BUSY, QuotaExceeded("spent"), deadline=deadline)


async def test_a_callers_error_at_the_other_model_ends_the_run() -> None:
    with pytest.raises(FallbackExhausted) as caught:
        await walked(Table(chain={"m": ["l"]}, rests={("m", ""): 1.0}), BUSY, ConfigError("a setting"))
    assert isinstance(caught.value, RateLimited)
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize("windows", [{}, {"m": 10}, {"l": 10}])
async def test_an_unknown_window_counts_as_larger(windows: dict[str, int]) -> None:
    plans = await walked(Table(chain={"m": ["l"]}, windows=windows), ContextOverflow("long"))
    assert [plan.model for plan in plans] == ["l"]


@pytest.mark.parametrize("last", [QuotaExceeded("q"), ModelNotFound("x"), Refused("no"), AuthenticationFailed("k")])
async def test_exhaustion_after_a_rate_limit_is_caught_as_a_rate_limit(last: LLMCoreError) -> None:
    fakes: dict[str, Any] = {"a": FakeModel(default=RateLimited("busy", retry_after=600.0)), "b": FakeModel(default=last)}
    with pytest.raises(RateLimited) as caught:
        await stack(fakes, strategies=ALL).run("Hi", deadline=5)
    assert isinstance(caught.value, FallbackExhausted)
    assert isinstance(caught.value, type(last))
    assert [type(one) for one in caught.value.failures] == [RateLimited, type(last)]


async def test_callers_errors_alone_are_raised_unchanged() -> None:
    spent = FakeModel(default=QuotaExceeded("spent"))
    with pytest.raises(CallerError) as caught:
        await stack({"a": spent}, strategies=ALL).run("Hi")
    assert type(caught.value) is QuotaExceeded


async def test_a_run_waits_and_returns_to_the_rate_limited_place() -> None:
    fakes = {"a": FakeModel(RateLimited("busy", retry_after=6.0), "Here I am."), "b": FakeModel(default=QuotaExceeded("spent"))}
    orchestrator = stack(fakes, strategies=ALL)
    waits = [event.seconds async for event in orchestrator.stream("Hi", deadline=60) if isinstance(event, Waiting)]
    assert len(waits) == 1
    assert 5.5 < waits[0] <= 6.0
