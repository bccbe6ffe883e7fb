"""Which failure leads to which attempt: the table of remedies, walked by the manager."""

from __future__ import annotations

import time

import pytest

from llmcore.fallback import EscalateModel, FallbackManager, OtherMode, Plan, Retry, TextOnly, remedies
from llmcore.types import (
    AuthenticationFailed,
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
    RequestTooLarge,
    RetryConfig,
    Timeout,
    ToolError,
    Truncated,
)
from tests.fallback.support import Script, Table, context_for

pytestmark = pytest.mark.anyio

STRATEGIES = (Retry(RetryConfig(max_retries=2, base=0)), OtherMode(), EscalateModel(), TextOnly())


async def plans_after(*failures: LLMCoreError, table: Table | None = None, attempts: int = 10) -> list[Plan]:
    """The plans after the first, up to success or exhaustion."""
    context = context_for(table or Table(), attempts=attempts)
    script = Script(context, *failures)
    try:
        async for _ in FallbackManager(STRATEGIES).run(context, script):
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
        (ModelError("bad calls"), ("m", "json_schema", "mode")),
        (OutputParseError("no JSON"), ("m", "json_schema", "mode")),
        (Refused("no"), ("l", "native_tools", "model")),
        (Truncated("cut"), ("l", "native_tools", "model")),
        (ModelNotFound("gone"), ("l", "native_tools", "model")),
        (ContextOverflow("long"), None),  # l is no larger
        (QuotaExceeded("spent"), None),  # l is of the same provider
        (RequestTooLarge("413"), None),
        (AuthenticationFailed("key"), None),
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
            async for _ in FallbackManager(STRATEGIES).run(context, script):
                pass
    else:
        async for _ in FallbackManager(STRATEGIES).run(context, script):
            pass
    assert steps(script.plans[1:]) == ([expected] if expected else [])


async def test_a_larger_window_and_another_provider_are_found_where_there_are_any() -> None:
    direct = Table(chain={"m": ["l", "xl"]}, windows={"m": 10, "l": 10, "xl": 20}, providers={"xl": "two"})
    for failure in (ContextOverflow("long"), QuotaExceeded("spent")):
        assert steps(await plans_after(failure, table=direct)) == [("xl", "native_tools", "model")]


async def test_bad_answers_go_through_the_modes_then_the_models_then_text() -> None:
    table = Table(preferred={"m": ["native_tools", "json_object"], "l": ["json_schema"]}, chain={"m": ["l"]})
    bad = [ModelError(f"bad {n}") for n in range(9)]
    assert steps(await plans_after(*bad, table=table)) == [
        ("m", "json_object", "mode"),
        ("l", "json_schema", "model"),
        ("l", "text", "mode"),
    ]


async def test_a_fault_is_retried_twice_and_then_left_for_another_model() -> None:
    down = [RemoteServerError("502")] * 5
    assert steps(await plans_after(*down, table=Table(chain={"m": ["l"]}))) == [
        ("m", "native_tools", "retry"),
        ("m", "native_tools", "retry"),
        ("l", "native_tools", "model"),
        ("l", "native_tools", "retry"),
        ("l", "native_tools", "retry"),
    ]


async def test_our_own_fault_is_retried_once_at_most() -> None:
    assert len(await plans_after(InternalError("bug"), InternalError("bug"), InternalError("bug"))) == 1


async def test_a_rate_limit_waits_as_told_and_keeps_the_mode() -> None:
    started = time.perf_counter()
    plans = await plans_after(RateLimited("slow", retry_after=0.05))
    assert time.perf_counter() - started >= 0.05
    assert [(plan.mode, plan.wait) for plan in plans] == [("native_tools", 0.05)]


@pytest.mark.parametrize("deadline", [None, 5.0])
async def test_a_wait_that_is_too_long_goes_to_another_model_instead(deadline: float | None) -> None:
    context = context_for(Table(chain={"m": ["l"]}), deadline=deadline)
    script = Script(context, RateLimited("slow", retry_after=10.0 if deadline else 3600.0))
    async for _ in FallbackManager(STRATEGIES).run(context, script):
        pass
    assert steps(script.plans[1:]) == [("l", "native_tools", "model")]


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


async def test_no_change_of_mode_where_it_is_configured_so_or_makes_no_difference() -> None:
    bad = [ModelError("bad")] * 3
    assert await plans_after(*bad, table=Table(fixed_mode=True)) == []
    context = context_for(Table(), mode_matters=False)
    script = Script(context, *bad)
    with pytest.raises(FallbackExhausted):
        async for _ in FallbackManager(STRATEGIES).run(context, script):
            pass
    assert len(script.plans) == 1


async def test_every_further_attempt_tells_the_problem_behind_it() -> None:
    plans = await plans_after(ModelError("no call"), Overloaded("busy"), ModelError("again"))
    assert [plan.detail for plan in plans] == ["ModelError: no call", "Overloaded: busy", "ModelError: again"]


async def test_the_budget_ends_it() -> None:
    assert len(await plans_after(*[ModelError("bad")] * 9, attempts=3)) == 2


async def test_exhaustion_is_raised_from_the_first_failure_with_all_attempts() -> None:
    context = context_for(Table(preferred={"m": ["native_tools", "text"]}))
    first = ModelError("first")
    with pytest.raises(FallbackExhausted, match=r"m \(native_tools\): ModelError: first; then m \(text\)") as caught:
        async for _ in FallbackManager(STRATEGIES).run(context, Script(context, first, ModelError("second"))):
            pass
    assert caught.value.__cause__ is first
    assert [attempt.reason for attempt in caught.value.attempts] == ["first", "mode"]


async def test_a_callers_error_is_raised_as_it_is() -> None:
    context = context_for(Table(chain={"m": ["l"]}))
    failure = AuthenticationFailed("bad key")
    with pytest.raises(AuthenticationFailed) as caught:
        async for _ in FallbackManager(STRATEGIES).run(context, Script(context, failure)):
            pass
    assert caught.value is failure


async def test_a_strategy_of_ones_own_takes_part() -> None:
    class Home:
        def can_handle(self, failure: LLMCoreError, context: object) -> bool:
            return isinstance(failure, AuthenticationFailed)

        def execute(self, context: object) -> Plan:
            return Plan("local", "text", "model", "the key is bad, the local model needs none")

    context = context_for(Table())
    script = Script(context, AuthenticationFailed("bad key"))
    async for _ in FallbackManager([Home()]).run(context, script):
        pass
    assert script.plans[-1].model == "local"


def test_every_error_class_has_a_row_or_no_remedy() -> None:
    assert remedies(LimitExceeded("x")) == frozenset()
    assert remedies(FallbackExhausted("x")) == frozenset()
    assert "retry" in remedies(Timeout("x"))
