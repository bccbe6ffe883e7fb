"""Strategies of one's own: what is no strategy is refused when the manager is made, what goes wrong in one ends the run
with its name, and nothing goes round for ever."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.fallback import FallbackContext, FallbackManager, Plan, Retry, TextOnly
from llmcore.support.code.emitter import Emit
from llmcore.types import CallerError, ConfigError, Event, FallbackExhausted, LLMCoreError, ModelError, RemoteServerError
from tests.fallback.support import Script, Table, context_for, told

pytestmark = pytest.mark.anyio


class Home:
    """Gives what it was made with; raises it when it is an exception."""

    def __init__(self, plan: Any = None, verdict: Any = True) -> None:
        self.plan, self.verdict, self.asked = plan, verdict, 0

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> Any:
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict

    def execute(self, context: FallbackContext) -> Any:
        self.asked += 1
        if isinstance(self.plan, Exception):
            raise self.plan
        return self.plan(context) if callable(self.plan) else self.plan


class Async:
    async def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return True

    def execute(self, context: FallbackContext) -> Plan:
        return context.plan


class Half:
    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return True


class Narrow(Half):
    def execute(self) -> None: ...


class Data(Half):
    execute = 3


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Retry(), "must be a list of strategies, not Retry"),
        ("Retry", "must be a list of strategies, not str"),
        ({"retry": Retry()}, "must be a list of strategies, not dict"),
        (3, "not int"),
        ([Retry(), TextOnly], r"strategies\[1\] is the class TextOnly; give an instance: TextOnly\(\)"),
        ([None], r"strategies\[0\] \(NoneType\): its can_handle is missing"),
        (["retry"], r"strategies\[0\] \(str\)"),
        ([Retry(), Half()], r"strategies\[1\] \(Half\): its execute is missing"),
        ([Narrow()], r"\(Narrow\): its execute does not take 1 argument"),
        ([Data()], r"\(Data\): its execute cannot be called"),
        ([Async()], r"\(Async\): its can_handle is async"),
    ],
)
def test_an_invalid_strategy_is_refused_when_the_manager_is_made(given: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        FallbackManager(given)


async def outcome(strategy: Any, *, attempts: int = 4, failures: int = 99) -> tuple[BaseException | None, list[Plan]]:
    context = context_for(Table(unknown=frozenset({"typo"})), attempts=attempts)
    script = Script(context, *[ModelError("bad")] * failures)
    try:
        async for _ in told(FallbackManager([strategy]), context, script):
            pass
    except LLMCoreError as error:
        return error, script.plans
    return None, script.plans


async def late(context: FallbackContext) -> Plan:
    return context.plan


def same(context: FallbackContext) -> Plan:
    return context.plan


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        (Home(ValueError("oops")), "the strategy Home raised ValueError: oops"),
        (Home(verdict=KeyError("x")), "the strategy Home raised KeyError"),
        (Home(ModelError("looks like a failure")), "the strategy Home raised ModelError"),
        (Home(None), "returned a NoneType from execute, not a Plan"),
        (Home(("m", "text")), "returned a tuple"),
        (Home(late), "returned a coroutine from execute"),
        (Home(late, verdict=late), "returned a coroutine from execute"),
        (Home(Plan("typo", "text")), "names a model that cannot be asked: there is no model 'typo'"),
        (Home(Plan(3, "text")), "names the model 3"),  # type: ignore[arg-type]  # callers without a type checker
        (Home(Plan("m", "xml")), "names the mode 'xml'; there are native_tools"),  # type: ignore[arg-type]
        (Home(Plan("m", "text", "whim")), "names the reason 'whim'"),  # type: ignore[arg-type]
        (Home(Plan("m", "text", detail=None)), "gives None as its plan's detail"),  # type: ignore[arg-type]
        (Home(Plan("m", "text", wait=float("nan"))), "gives nan as its plan's wait"),
        (Home(Plan("m", "text", wait=float("inf"))), "gives inf"),
        (Home(Plan("m", "text", wait=-1)), "gives -1"),
        (Home(Plan("m", "text", wait=True)), "gives True"),
        (Home(Plan("m", "native_tools")), "gives the plan that just failed"),
        (Home(same), "gives the plan that just failed"),
    ],
)
async def test_an_error_in_a_strategy_names_it(strategy: Home, told: str) -> None:
    error, plans = await outcome(strategy)
    assert isinstance(error, ConfigError)
    assert told in str(error)
    assert isinstance(error.__cause__, ModelError)
    assert len(plans) == 1


async def test_an_awaitable_verdict_is_refused() -> None:
    class Lazy(Home):
        def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> Any:
            return late(context)

    error, _ = await outcome(Lazy())
    assert "can_handle returned a coroutine" in str(error)


@pytest.mark.parametrize("plan", [Plan("m", "native_tools", "retry", "always"), Plan("m", "text")])
async def test_the_budget_bounds_a_strategy_that_never_gives_up(plan: Plan) -> None:
    error, plans = await outcome(Home(plan))
    assert isinstance(error, FallbackExhausted)
    assert len(plans) == 4


@pytest.mark.parametrize("failure", [CallerError("no such thing"), RemoteServerError("before anything was sent")])
async def test_an_attempt_that_fails_before_its_request_counts(failure: LLMCoreError) -> None:
    context, tried = context_for(Table(), attempts=5), list[Plan]()

    async def attempt(plan: Plan, tell: Emit[Event]) -> None:
        tried.append(plan)
        assert len(tried) < 20, "it goes round for ever"
        raise failure

    with pytest.raises((CallerError, FallbackExhausted)):
        async for _ in told(FallbackManager([Home(Plan("m", "text", "retry", "again"))]), context, attempt):
            pass
    assert len(tried) == 5
    assert context.ledger.attempts == []
    context.ledger.start_turn()
    assert context.ledger.attempts_left("m") == 5


async def test_omitted_fields_of_a_plan_get_defaults() -> None:
    given = iter([Plan("m", "text"), Plan("l", "text"), Plan("l", "text", wait=0.001)])

    def following(_: FallbackContext) -> Plan:
        return next(given)

    error, plans = await outcome(Home(following), failures=3)
    assert error is None
    assert [(plan.reason, plan.detail) for plan in plans[1:]] == [
        (reason, "ModelError: bad") for reason in ("mode", "model", "retry")
    ]


async def test_a_strategy_cannot_change_the_context() -> None:
    def meddling(context: FallbackContext) -> Plan:
        context.plan, context.tried, context.failures = Plan("x", "text"), (), ()
        return Plan("m", "text", "mode", "another")

    error, plans = await outcome(Home(meddling))
    assert isinstance(error, FallbackExhausted)
    assert "ModelError: bad" in str(error)
    assert len(plans) == 4


async def test_a_custom_strategy_is_asked_before_a_wait() -> None:
    context = context_for(Table())
    context.failed(RemoteServerError("502"))
    context.failed(RemoteServerError("502"))
    elsewhere = Home(Plan("l", "text", "model", "the other one"))
    assert FallbackManager([Retry(), elsewhere]).next_plan(context).model == "l"
    assert FallbackManager([Retry(), Home(verdict=False)]).next_plan(context).model == "m"
