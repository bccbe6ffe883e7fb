"""Each request of a run reserves the most that it may cost from the shared budget, and settles what it did cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall, Prices
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import RunContext, tool
from llmcore.types import ConfigError, LimitExceeded, LocalBudget, RemoteServerError
from tests.run.support import FAST, add, called

pytestmark = pytest.mark.anyio

PRICED = Endpoint(provider="fake", model="fake", alias="fake", prices=Prices(input=0.0, output=20_000.0))
"""Two cents a token out."""
USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


class Account(LocalBudget):
    """Notes what it is asked."""

    def __init__(self, limit: float = 100.0) -> None:
        super().__init__(limit)
        self.seen: list[tuple[str, int]] = []

    async def reserve(self, amount: int) -> str:
        hold = await super().reserve(amount)
        self.seen.append(("reserve", amount))
        return hold

    async def settle(self, hold: str, amount: int) -> None:
        await super().settle(hold, amount)
        self.seen.append(("settle", amount))


def reply(content: str = "Hi.") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content}}], "usage": USAGE}


async def test_each_request_of_a_run_reserves_and_settles() -> None:
    account = Account()
    fake = FakeModel({**called("add", {"a": 1, "b": 1}), "usage": USAGE}, reply(), endpoint=PRICED)
    await Orchestrator(fake, [add], shared_budget=account).run("Hi", max_tokens=20)
    assert account.seen == [("reserve", 400_000), ("settle", 100_000)] * 2


async def test_a_spent_budget_ends_the_run_before_it_asks_and_the_refused_request_is_no_attempt() -> None:
    account = Account(0.5)
    fake = FakeModel({**called("add", {"a": 1, "b": 1}), "usage": USAGE}, reply(), reply(), endpoint=PRICED)
    with pytest.raises(LimitExceeded, match="does not allow another request") as caught:
        await Orchestrator(fake, [add], shared_budget=account).run("Hi", max_tokens=21)
    assert account.seen == [("reserve", 420_000), ("settle", 100_000)]
    assert len(fake.requests) == len(caught.value.attempts) == 1


async def test_a_request_that_failed_or_was_cancelled_holds_nothing() -> None:
    class Stuck(FakeModel):
        async def complete(self, call: ModelCall) -> Any:
            asked.set()
            await asyncio.Event().wait()

    account, asked = Account(), asyncio.Event()
    failing = FakeModel(RemoteServerError("502", status=502), reply(), endpoint=PRICED)
    await Orchestrator(failing, strategies=FAST, shared_budget=account).run("Hi", max_tokens=20)
    assert account.seen == [("reserve", 400_000), ("settle", 0), ("reserve", 400_000), ("settle", 100_000)]
    running = asyncio.ensure_future(Orchestrator(Stuck(endpoint=PRICED), shared_budget=account).run("Hi"))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert account.seen[-1] == ("settle", 0)
    assert not account.has_holds


async def test_a_run_within_a_run_draws_on_both_budgets_and_once_on_a_common_one() -> None:
    outer, own = Account(), Account()

    @tool
    async def ask(context: RunContext[Any], twice: bool) -> str:
        """Ask another model."""
        inner = Orchestrator(FakeModel(reply(), endpoint=PRICED), shared_budget=outer if twice else own)
        return (await inner.run("Hi", max_tokens=20, parent=context)).content

    calls = [{**called("ask", {"twice": twice}), "usage": USAGE} for twice in (True, False)]
    await Orchestrator(FakeModel(*calls, reply(), endpoint=PRICED), [ask], shared_budget=outer).run("Hi", max_tokens=20)
    assert outer.seen == [("reserve", 400_000), ("settle", 100_000)] * 5
    assert own.seen == [("reserve", 400_000), ("settle", 100_000)]


async def test_a_model_needs_a_price() -> None:
    model = {"provider": "openai_compatible", "model": "unknown", "base_url": "http://127.0.0.1:1/v1"}
    with pytest.raises(ConfigError, match="needs the price"):
        await Orchestrator({"models": {"m": model}}, shared_budget=Account()).run("Hi")
