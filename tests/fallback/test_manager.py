"""Which failure leads to which attempt: the table of remedies, walked by the manager."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest

from llmcore.fallback import (
    EscalateModel,
    FallbackContext,
    FallbackManager,
    Ledger,
    OtherDeployment,
    OtherMode,
    Plan,
    Retry,
    TextOnly,
    remedies,
)
from llmcore.types import (
    AttemptFailed,
    AttemptStarted,
    AuthenticationFailed,
    Budget,
    CapabilityRefused,
    ConfigError,
    ContextOverflow,
    FallbackExhausted,
    InternalError,
    LimitExceeded,
    LLMCoreError,
    ModelError,
    ModelNotFound,
    OutputParseError,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    Refused,
    RemoteServerError,
    RequestRefused,
    RequestTooLarge,
    RetryConfig,
    Timeout,
    ToolError,
    Truncated,
    Waiting,
)
from llmcore.types.refusals import RefusalFacts
from tests.fallback.support import Script, Table, context_for, told

pytestmark = pytest.mark.anyio

STRATEGIES = (Retry(RetryConfig(max_retries=2, base=0)), OtherMode(), EscalateModel(), TextOnly())


async def plans_after(*failures: LLMCoreError, table: Table | None = None, attempts: int = 10) -> list[Plan]:
    """The plans after the first, up to success or exhaustion."""
    context = context_for(table or Table(), attempts=attempts)
    script = Script(context, *failures)
    try:
        async for _ in told(FallbackManager(STRATEGIES), context, script):
            pass
    except FallbackExhausted:
        pass
    return script.plans[1:]


def steps(plans: list[Plan]) -> list[tuple[str, str, str]]:
    return [(plan.model, plan.mode, plan.reason) for plan in plans]


ESCALATING = Table(chain={"m": ["l"], "l": ["xl"]}, windows={"m": 10, "l": 10, "xl": 20}, providers={"xl": "two"})


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (RateLimited("slow", retry_after=0.0), ("m", "native_tools", "retry")),
        (Overloaded("busy"), ("m", "native_tools", "retry")),
        (RemoteServerError("502"), ("m", "native_tools", "retry")),
        (Timeout("late"), ("m", "native_tools", "retry")),
        (InternalError("bug"), ("m", "native_tools", "retry")),
        (CapabilityRefused("no tools", capability="native_tools"), ("m", "json_schema", "mode")),
        (RequestRefused("no"), ("m", "json_schema", "mode")),
        (ModelError("bad calls"), ("m", "json_schema", "mode")),
        (OutputParseError("no JSON"), ("m", "json_schema", "mode")),
        (Refused("no"), ("l", "native_tools", "model")),
        (Truncated("cut"), ("l", "native_tools", "model")),
        (ModelNotFound("gone"), ("l", "native_tools", "model")),
        (ContextOverflow("long"), ("xl", "native_tools", "model")),  # l is no larger, and leads on
        (QuotaExceeded("spent"), ("xl", "native_tools", "model")),  # l is of the same provider
        (RequestTooLarge("413"), ("l", "native_tools", "model")),
        (AuthenticationFailed("key"), ("xl", "native_tools", "model")),
        (ConfigError("setting"), None),
        (ToolError("x", tool_name="t", tool_id="c", type="execution"), None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, LLMCoreError) else "",
)
async def test_each_failure_has_its_first_remedy(failure: LLMCoreError, expected: tuple[str, str, str] | None) -> None:
    context = context_for(ESCALATING)
    script = Script(context, failure)
    if expected is None:
        with pytest.raises((type(failure), FallbackExhausted)):
            async for _ in told(FallbackManager(STRATEGIES), context, script):
                pass
    else:
        async for _ in told(FallbackManager(STRATEGIES), context, script):
            pass
    assert steps(script.plans[1:]) == ([expected] if expected else [])


async def test_a_larger_window_and_another_provider_are_found_where_there_are_any() -> None:
    direct = Table(chain={"m": ["l", "xl"]}, windows={"m": 10, "l": 10, "xl": 20}, providers={"xl": "two"})
    for failure in (ContextOverflow("long"), QuotaExceeded("spent"), AuthenticationFailed("key")):
        assert steps(await plans_after(failure, table=direct)) == [("xl", "native_tools", "model")]


async def test_a_permanent_failure_is_not_retried() -> None:
    away = RemoteServerError("led to another server", facts=RefusalFacts(kind="lasting"))
    assert steps(await plans_after(away, table=Table(chain={"m": ["l"]}))) == [("l", "native_tools", "model")]
    assert steps(await plans_after(away)) == []


async def test_bad_answers_go_through_the_modes_then_the_models_then_text() -> None:
    table = Table(preferred={"m": ["native_tools", "json_object"], "l": ["json_schema"]}, chain={"m": ["l"]})
    bad = [ModelError(f"bad {n}") for n in range(9)]
    assert steps(await plans_after(*bad, table=table)) == [
        ("m", "json_object", "mode"),
        ("l", "json_schema", "model"),
        ("l", "text", "mode"),
    ]


@pytest.mark.parametrize("fault", [RemoteServerError("502"), Timeout("late"), Overloaded("busy"), RateLimited("slow")])
async def test_a_failing_model_gets_two_tries_if_another_is_left_else_three(fault: LLMCoreError) -> None:
    assert steps(await plans_after(*[fault] * 5, table=Table(chain={"m": ["l"]}))) == [
        ("m", "native_tools", "retry"),
        ("l", "native_tools", "model"),
        ("l", "native_tools", "retry"),
        ("l", "native_tools", "retry"),
    ]


async def test_invalid_replies_in_between_give_a_failing_model_no_further_tries() -> None:
    failures = [Timeout("late"), ModelError("bad"), RemoteServerError("502")]
    assert [plan.model for plan in await plans_after(*failures, table=Table(chain={"m": ["l"]}))] == ["m", "m", "l"]


async def test_every_model_of_the_list_is_tried() -> None:
    table = Table(chain={"m": ["l", "xl"]})
    assert [plan.model for plan in await plans_after(*[Refused("no")] * 3, table=table)] == ["l", "xl"]


async def test_an_internal_error_is_retried_once() -> None:
    assert len(await plans_after(InternalError("bug"), InternalError("bug"), InternalError("bug"))) == 1


async def test_a_rate_limit_waits_as_told_and_keeps_the_mode() -> None:
    started = time.perf_counter()
    plans = await plans_after(RateLimited("slow", retry_after=0.05))
    assert time.perf_counter() - started >= 0.05
    assert [(plan.mode, plan.wait) for plan in plans] == [("native_tools", 0.05)]


def next_after(failure: LLMCoreError, table: Table, *, deadline: float | None = None, **retry: Any) -> Plan:
    """The plan after the first failure, which nobody waits for."""
    context = context_for(table, deadline=deadline)
    context.failed(failure)
    strategies = (Retry(RetryConfig(base=0), **retry), OtherMode(), EscalateModel(), TextOnly())
    return FallbackManager(strategies).next_plan(context)


WITH_ANOTHER = Table(chain={"m": ["l"]})


@pytest.mark.parametrize("kind", [RateLimited, Overloaded])
@pytest.mark.parametrize(
    ("table", "told", "deadline", "model", "wait"),
    [
        (WITH_ANOTHER, 5.0, None, "m", 5.0),
        (WITH_ANOTHER, 5.1, None, "l", 0.0),
        (WITH_ANOTHER, 5.1, 100.0, "l", 0.0),
        (WITH_ANOTHER, 3.0, 2.0, "l", 0.0),
        (WITH_ANOTHER, 3600.0, None, "l", 0.0),
        (Table(), 59.0, None, "m", 59.0),
        (Table(), 90.0, 100.0, "m", 90.0),
        (Table(), -1.0, None, "m", 0.0),
        (Table(), float("nan"), None, "m", 0.0),
    ],
)
def test_the_length_of_a_wait(kind: Any, table: Table, told: float, deadline: float | None, model: str, wait: float) -> None:
    plan = next_after(kind("slow", retry_after=told), table, deadline=deadline)
    assert (plan.model, plan.wait) == (model, wait)


def test_a_wait_beyond_the_deadline_raises_the_providers_error_at_once() -> None:
    with pytest.raises(RateLimited) as caught:
        next_after(RateLimited("slow", retry_after=60.0), Table(), deadline=2.0)
    assert caught.value.retry_after == 60.0


def test_without_a_deadline_max_wait_bounds_the_wait() -> None:
    for limit in (60.0, 10.0):
        with pytest.raises(FallbackExhausted):
            next_after(RateLimited("slow", retry_after=limit + 1), Table(), max_wait=limit)


@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -1, True, None])
def test_an_invalid_max_wait_is_refused(wait: Any) -> None:
    with pytest.raises(ConfigError, match="max_wait"):
        Retry(max_wait=wait)


def test_an_invalid_backoff_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"backoff is an llmcore\.RetryConfig, not 3"):
        Retry(3)  # type: ignore[arg-type]  # callers without a type checker


async def test_a_wait_is_an_event_a_log_line_and_part_of_its_attempt(caplog: pytest.LogCaptureFixture) -> None:
    context = context_for(Table())
    script = Script(context, RateLimited("the secret prompt", retry_after=0.05))
    with caplog.at_level(logging.INFO, "llmcore.fallback"):
        events = [event async for event in told(FallbackManager(STRATEGIES), context, script)]
    waiting = [event for event in events if isinstance(event, Waiting)]
    assert waiting == [Waiting(2, "m", "native_tools", "retry", "RateLimited: the secret prompt", 0.05)]
    assert [type(event) for event in events] == [AttemptStarted, AttemptFailed, Waiting, AttemptStarted]
    first, second = context.ledger.attempts
    context.ledger.finish(second)
    assert (first.waited, second.waited >= 0.05, second.duration >= second.waited) == (0.0, True, True)
    assert caplog.messages == ["attempt 2: m (native_tools), retry after RateLimited 429, waiting 0.05 s"]


async def test_a_wait_obeys_cancellation() -> None:
    context = context_for(Table())

    async def turn() -> None:
        async for event in told(FallbackManager(), context, Script(context, RateLimited("slow", retry_after=50.0))):
            waits.set() if isinstance(event, Waiting) else None

    waits = asyncio.Event()
    task = asyncio.create_task(turn())
    await waits.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(context.ledger.attempts) == 1


async def test_a_slow_consumer_does_not_extend_the_deadline() -> None:
    now = [0.0]
    ledger = Ledger(Budget(deadline=10), clock=lambda: now[0])
    context = FallbackContext(Table(), ledger, Plan("m", "native_tools"))
    started = time.perf_counter()
    async for event in told(FallbackManager(), context, Script(context, RateLimited("slow", retry_after=9.0))):
        if isinstance(event, Waiting):
            now[0] = 9.99
    assert time.perf_counter() - started < 5


# Several deployments of one alias

PLACES = Table(places={"m": ["a", "b", "c"]}, chain={"m": ["l"]})
FIRST = Plan("m", "native_tools", deployment="a")


async def places_after(*failures: LLMCoreError, table: Table = PLACES, attempts: int = 10) -> list[tuple[str, float]]:
    ledger = Ledger(Budget(attempts=attempts))
    ledger.start_turn()
    context = FallbackContext(table, ledger, FIRST)
    script = Script(context, *failures)
    strategies = (OtherDeployment(), *STRATEGIES)
    try:
        async for _ in told(FallbackManager(strategies), context, script):
            pass
    except FallbackExhausted:
        pass
    return [(plan.place, plan.wait) for plan in script.plans[1:]]


@pytest.mark.parametrize(
    "failure",
    [
        RateLimited("slow", retry_after=60.0),
        RemoteServerError("502"),
        Timeout("late"),
        QuotaExceeded("spent"),
        ModelNotFound("?"),
    ],
    ids=lambda failure: type(failure).__name__,
)
async def test_another_deployment_is_asked_at_once(failure: LLMCoreError) -> None:
    assert await places_after(failure) == [("m@b", 0)]


async def test_every_deployment_is_asked_before_another_model_whatever_the_attempts() -> None:
    for attempts in (1, 10):
        for fault in (RemoteServerError("502"), RateLimited("slow", retry_after=60.0), RateLimited("slow", retry_after=0.0)):
            assert [place for place, _ in await places_after(*[fault] * 3, attempts=attempts)] == ["m@b", "m@c", "l"]


async def test_a_deployment_that_cools_down_is_asked_last() -> None:
    table = Table(places={"m": ["a", "b", "c"]}, rests={("m", "b"): 9.0})
    assert [place for place, _ in await places_after(Timeout("late"), Timeout("late"), table=table)] == ["m@c", "m@b"]


def test_the_deployment_that_is_ready_first_is_waited_for() -> None:
    table = Table(places={"m": ["a", "b"]}, rests={("m", "a"): 0.5, ("m", "b"): 60.0})
    context = FallbackContext(table, Ledger(Budget()), FIRST)
    context.failed(RateLimited("slow", retry_after=0.5))
    context.plan = Plan("m", "native_tools", "retry", "slow", deployment="b")
    context.failed(RateLimited("slow", retry_after=60.0))
    plan = FallbackManager().next_plan(context)
    assert plan.place == "m@a"
    assert 0.5 <= plan.wait < 0.6


DEAD, BUSY = RemoteServerError("502"), RateLimited("slow", retry_after=2.0)


@pytest.mark.parametrize(
    ("failures", "rests", "following"),
    [
        ((DEAD, BUSY), {"b": 2.0}, "a"),  # one fault may pass
        ((DEAD, BUSY, DEAD), {"b": 1.5}, "b"),
        ((Timeout("late"), BUSY, DEAD), {"b": 30.0}, "b"),
        ((Overloaded("busy"), BUSY, DEAD), {"b": 600.0}, "a"),  # nobody waits so long
        ((DEAD, DEAD, DEAD), {}, "b"),
        ((BUSY, QuotaExceeded("spent"), BUSY), {"a": 2.0}, "a"),
        ((BUSY, ModelNotFound("?"), BUSY), {"a": 2.0}, "a"),
    ],
)
def test_a_place_that_fails_again_and_again_is_not_retried_while_another_will_be_ready(
    failures: tuple[LLMCoreError, ...], rests: dict[str, float], following: str
) -> None:
    table = Table(places={"m": ["a", "b"]}, rests={("m", name): rest for name, rest in rests.items()})
    context = FallbackContext(table, Ledger(Budget(attempts=9)), FIRST)
    for failure, place in zip(failures, "aba", strict=False):
        context.plan = Plan("m", "native_tools", "retry", "it failed", deployment=place)
        context.failed(failure)
    context.ledger.start_turn()
    assert FallbackManager().next_plan(context).deployment == following


async def test_other_failures_stay_with_the_deployment() -> None:
    assert await places_after(ModelError("bad")) == [("m@a", 0)]
    assert await places_after(CapabilityRefused("no", capability="native_tools")) == [("m@a", 0)]


async def test_the_error_names_each_deployments_failure() -> None:
    table = Table(places={"m": ["a", "b"]})
    await places_after(Timeout("late"), table=table)
    assert table.seen == [("m", "a", "Timeout"), ("m", "b", "worked")]


async def test_a_strategy_that_names_an_unknown_deployment_raises() -> None:
    class Wrong:
        def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
            return True

        def execute(self, context: FallbackContext) -> Plan:
            return Plan("m", "text", deployment="mars")

    context = FallbackContext(PLACES, Ledger(Budget()), FIRST)
    context.failed(Timeout("late"))
    with pytest.raises(ConfigError, match="names the deployment 'mars' of m; there are a, b, c"):
        FallbackManager([Wrong()]).next_plan(context)


async def test_a_refused_capability_is_learnt_and_its_mode_never_asked_again() -> None:
    table = Table(chain={"m": ["l"]})
    refused = [CapabilityRefused(mode, capability=mode) for mode in ("native_tools", "json_schema", "json_object")]
    plans = await plans_after(*refused, table=table)
    assert steps(plans) == [("m", mode, "mode") for mode in ("json_schema", "json_object", "text")]
    assert table.refused == [("m", mode) for mode in ("native_tools", "json_schema", "json_object")]


async def test_a_refused_parameter_is_left_out_in_the_same_mode_once() -> None:
    choice = CapabilityRefused("no", capability="tool_choice_required")
    assert steps(await plans_after(choice)) == [("m", "native_tools", "mode")]
    assert steps(await plans_after(choice, choice)) == [("m", "native_tools", "mode"), ("m", "json_schema", "mode")]


async def test_an_unexplained_refusal_teaches_nothing_and_is_not_repeated() -> None:
    table = Table(chain={"m": ["l"]})
    plans = await plans_after(*[RequestRefused("no")] * 9, table=table, attempts=9)
    every_mode = ["native_tools", "json_schema", "json_object", "text"]
    assert [(plan.model, plan.mode) for plan in plans] == [(model, mode) for model in "ml" for mode in every_mode][1:]
    assert table.refused == []


async def test_the_mode_stays_if_configured_or_without_effect() -> None:
    bad = [ModelError("bad")] * 3
    assert await plans_after(*bad, table=Table(fixed_mode=True)) == []
    context = context_for(Table(), mode_matters=False)
    script = Script(context, *bad)
    with pytest.raises(FallbackExhausted):
        async for _ in told(FallbackManager(STRATEGIES), context, script):
            pass
    assert [plan.reason for plan in script.plans] == ["first", "retry"]  # the same once more


async def test_every_further_attempt_names_its_problem() -> None:
    plans = await plans_after(ModelError("no call"), Overloaded("busy"), ModelError("again"))
    assert [plan.detail for plan in plans] == ["ModelError: no call", "Overloaded: busy", "ModelError: again"]


async def test_the_budget_ends_the_run() -> None:
    assert len(await plans_after(*[ModelError("bad")] * 9, attempts=3)) == 2


async def test_each_model_has_its_own_attempts() -> None:
    table = Table(chain={"m": ["l"], "l": ["xl"]})
    plans = await plans_after(*[ModelError("bad")] * 99, table=table, attempts=2)
    assert [(plan.model, plan.mode) for plan in plans] == [
        ("m", "json_schema"),
        ("l", "native_tools"),
        ("l", "json_schema"),
        ("xl", "native_tools"),
        ("xl", "json_schema"),
    ]


async def test_the_last_attempt_of_a_model_that_refuses_is_made_in_its_last_mode() -> None:
    refusals = [CapabilityRefused(mode, capability=mode) for mode in ("native_tools", "json_schema", "json_object")]
    plans = await plans_after(RateLimited("slow", retry_after=0.0), *refusals, attempts=4)
    assert [plan.mode for plan in plans] == ["native_tools", "json_schema", "text"]
    assert [plan.mode for plan in await plans_after(ModelError("bad"), attempts=2)] == ["json_schema"]


@pytest.mark.parametrize("wait", [0.0, 50.0])
async def test_a_spent_budget_ends_the_run_before_any_wait(wait: float) -> None:
    ledger = Ledger(Budget(requests=1))
    context = FallbackContext(Table(), ledger, Plan("m", "native_tools"))
    failure, started = RateLimited("slow", retry_after=wait), time.perf_counter()
    with pytest.raises(LimitExceeded, match="budget of 1 requests") as caught:
        async for _ in told(FallbackManager(), context, Script(context, failure)):
            pass
    assert time.perf_counter() - started < 5
    assert caught.value.__cause__ is failure


async def test_exhaustion_names_the_models_whose_attempts_are_spent() -> None:
    context = context_for(Table(preferred={"m": ["native_tools", "text"]}, chain={"m": ["l"]}), attempts=3)
    with pytest.raises(FallbackExhausted) as caught:
        async for _ in told(FallbackManager(STRATEGIES), context, Script(context, *[ModelError("bad")] * 9)):
            pass
    assert caught.value.details.startswith("no strategy is left (l's 3 attempts of this turn are spent: see Budget.attempts")


async def test_exhaustion_is_raised_from_the_first_failure_with_all_attempts() -> None:
    context = context_for(Table(preferred={"m": ["native_tools", "text"]}))
    first = ModelError("first")
    with pytest.raises(FallbackExhausted, match=r"^no strategy is left: ModelError: second \(2 attempts failed\)$") as caught:
        async for _ in told(FallbackManager(STRATEGIES), context, Script(context, first, ModelError("second"))):
            pass
    assert "m (native_tools): ModelError: first; then m (text)" in caught.value.details
    assert caught.value.__cause__ is first
    assert [attempt.reason for attempt in caught.value.attempts] == ["first", "mode"]


async def test_a_callers_error_is_raised_as_it_is() -> None:
    context = context_for(Table(chain={"m": ["l"]}))
    failure = AuthenticationFailed("bad key")
    with pytest.raises(AuthenticationFailed) as caught:
        async for _ in told(FallbackManager(STRATEGIES), context, Script(context, failure)):
            pass
    assert caught.value is failure


async def test_a_custom_strategy_is_asked() -> None:
    class Home:
        def can_handle(self, failure: LLMCoreError, context: object) -> bool:
            return isinstance(failure, AuthenticationFailed)

        def execute(self, context: object) -> Plan:
            return Plan("local", "text", "model", "the key is bad, the local model needs none")

    context = context_for(Table())
    script = Script(context, AuthenticationFailed("bad key"))
    async for _ in told(FallbackManager([Home()]), context, script):
        pass
    assert script.plans[-1].model == "local"


def test_every_error_class_has_a_row_or_no_remedy() -> None:
    assert remedies(LimitExceeded("x")) == frozenset()
    assert remedies(FallbackExhausted("x")) == frozenset()
    assert "retry" in remedies(Timeout("x"))


async def test_each_deployment_has_its_own_modes() -> None:
    """What was tried at one place says nothing of another, and a retry is in the mode that the place was asked in."""
    ledger = Ledger(Budget(attempts=10))
    ledger.start_turn()
    context = FallbackContext(Table(places={"m": ["a", "b"]}), ledger, FIRST)
    refused, busy = RequestRefused("?", status=400), Overloaded("busy", retry_after=0.0)
    script = Script(context, refused, busy, refused, busy)
    async for _ in told(FallbackManager((OtherDeployment(), *STRATEGIES)), context, script):
        pass
    assert [(plan.deployment, plan.mode) for plan in script.plans] == [
        ("a", "native_tools"),
        ("a", "json_schema"),
        ("b", "native_tools"),
        ("b", "json_schema"),
        (script.plans[-1].deployment, "json_schema"),
    ]
