"""Budgets that processes share through a real redis-server."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, Prices
from llmcore.integrations.redis import RedisState
from llmcore.integrations.redis.budgets import RedisBudget
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import ConfigError, LimitExceeded
from tests.helpers.redis_server import client_of, redis_server
from tests.packaging.tree import ROOT

pytestmark = pytest.mark.anyio

PRICED = Endpoint(provider="fake", model="fake", alias="fake", prices=Prices(input=10_000.0, output=20_000.0))
"""A cent a token in, two cents a token out."""


def totals(url: str, name: str = "b", namespace: str = "default") -> dict[str, int]:
    with client_of(url, decode_responses=True) as client:
        found: dict[str, str] = client.hgetall(f"llmcore:{{{namespace}}}:budget:{name}:totals")
    return {key: int(value) for key, value in found.items()}


async def test_an_amount_is_reserved_and_then_settled_once(url: str) -> None:
    budget, other = (RedisState(url).budget("b", 0.000_1) for _ in range(2))
    hold = await budget.reserve(60)
    with pytest.raises(LimitExceeded, match=r"shared budget 'b' .* does not allow another request"):
        await other.reserve(41)
    assert await other.reserve(40)
    assert totals(url) == {"reserved": 100}
    for _ in range(2):
        await budget.settle(hold, 10)
    assert totals(url) == {"reserved": 40, "spent": 10}
    assert await budget.spent() == (0.000_01, 0.000_04)


async def test_the_hold_of_a_process_that_ended_is_released_and_what_it_spent_counts_later(url: str) -> None:
    budget = RedisState(url).budget("b", 0.000_1)
    hold = await budget.reserve(100)
    with client_of(url) as client:
        client.zadd("llmcore:{default}:budget:b:ends", {hold: 1})  # its time is over
    again = await budget.reserve(100)
    assert totals(url) == {"reserved": 100}
    await budget.settle(hold, 7)
    await budget.settle(again, 5)
    assert totals(url) == {"reserved": 0, "spent": 12}


async def test_tenants_and_names_are_apart_and_all_keys_of_a_tenant_have_one_hash_tag(url: str) -> None:
    state = RedisState(url, namespace="acme")
    await state.budget("b", 1.0).reserve(1)
    await RedisState(url, namespace="other").budget("b", 1.0).reserve(2)
    await state.budget("c", 1.0).reserve(4)
    await state.cooldowns.save({("m", ""): 9.0})
    assert [totals(url, *place)["reserved"] for place in (("b", "acme"), ("b", "other"), ("c", "acme"))] == [1, 2, 4]
    with client_of(url, decode_responses=True) as client:
        assert all(key.startswith(("llmcore:{acme}:", "llmcore:{other}:")) for key in client.scan_iter())


async def test_a_run_reserves_and_settles_and_is_refused_before_it_asks(url: str) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    fake = FakeModel(endpoint=PRICED)
    for _ in range(9):
        fake.reply({"choices": [{"message": {"role": "assistant", "content": "Hi."}}], "usage": usage})
    orchestrator = Orchestrator(fake, shared_budget=RedisState(url).budget("b", 0.8))
    for _ in range(2):
        await orchestrator.run("x" * 20, max_tokens=20)
    assert totals(url) == {"reserved": 0, "spent": 400_000}
    with pytest.raises(LimitExceeded, match="does not allow"):
        await orchestrator.run("x" * 20, max_tokens=20)
    assert len(fake.requests) == 2
    assert totals(url) == {"reserved": 0, "spent": 400_000}


async def test_a_lost_redis_costs_one_warning_and_a_refusal_or_the_local_share(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llmcore.integrations.redis.connection.PAUSE", 0)  # each call asks the server
    with redis_server(tmp_path, persistent=True) as url, client_of(url) as client:
        state = RedisState(url)
        strict, shared = state.budget("b", 1.0), state.budget("b", 1.0, local_share=0.000_05)
        before = await strict.reserve(30)
        os.kill(int(client.info()["process_id"]), signal.SIGKILL)
    with caplog.at_level(logging.INFO, "llmcore.redis"):
        for _ in range(3):
            with pytest.raises(LimitExceeded, match="cannot be checked, so nothing is sent"):
                await strict.reserve(1)
        hold = await shared.reserve(50)
        with pytest.raises(LimitExceeded, match=r"share of \$0\.00005 is spent"):
            await shared.reserve(1)
        await shared.settle(hold, 20)
        await strict.settle(before, 10)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        with redis_server(tmp_path, persistent=True, port=int(url.rsplit(":", 1)[1].split("/")[0])):
            assert totals(url) == {"reserved": 30}
            for budget in (strict, shared):
                await budget.settle(await budget.reserve(1), 1)
            assert totals(url) == {"reserved": 0, "spent": 32}
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


async def test_a_process_killed_in_mid_work_leaves_exact_totals_and_its_holds_end(url: str) -> None:
    place = "llmcore:{race}:budget:all"
    command = [sys.executable, "-m", "tests.integrations.redis.racing", url, "1000000", "1000", "1"]
    with (
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process,
        client_of(url, decode_responses=True) as client,
    ):
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        while client.zcard(f"{place}:settled") < 50:
            assert process.poll() is None
        process.kill()
        process.wait()
        amounts = client.hgetall(f"{place}:amounts")
        assert totals(url, "all", "race")["reserved"] == sum(map(int, amounts.values()))
        assert set(amounts) == set(client.zrange(f"{place}:ends", 0, -1))
        assert len(amounts) <= 8
        for hold in amounts:
            client.zadd(f"{place}:ends", {hold: 1})  # its time is over
        await RedisState(url, namespace="race").budget("all", 1000.0).reserve(7)
        assert totals(url, "all", "race")["reserved"] == 7


@pytest.mark.parametrize("count", [800, pytest.param(20_000, marks=pytest.mark.sweep)])
def test_reservations_of_racing_processes_never_go_over(url: str, count: int) -> None:
    processes, limit = 4, count // 2 * 5
    command = [sys.executable, "-m", "tests.integrations.redis.racing", url, str(count // processes), str(limit / 1_000_000)]
    started = [
        subprocess.Popen([*command, str(seed)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for seed in range(processes)
    ]
    with client_of(url, decode_responses=True) as client:
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        most = 0
        while any(process.poll() is None for process in started):
            spent, reserved = client.hmget("llmcore:{race}:budget:all:totals", "spent", "reserved")
            most = max(most, int(spent or 0) + int(reserved or 0))
    printed = [process.communicate()[0].split() for process in started]
    granted, settled = (sum(int(line[column]) for line in printed) for column in (0, 1))
    assert totals(url, "all", "race") == {"reserved": 0, "spent": settled}
    assert settled <= limit
    assert most <= limit
    assert settled > limit - 20
    assert 0 < granted < count
    print(
        f"\n{count} reservations of {processes} processes: {granted} granted, {settled} of {limit} spent, at most {most} in use"
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": ""}, "`name` must be a text"),
        ({"limit": -1.0}, "from 0 to 1000000000"),
        ({"limit": float("inf")}, "from 0 to 1000000000"),
        ({"local_share": "5"}, "from 0 to 1000000000"),
    ],
)
def test_a_budget_that_is_none(settings: dict[str, Any], words: str) -> None:
    make: Any = RedisState("redis://127.0.0.1:1/0").budget
    with pytest.raises(ConfigError, match=words):
        make(**{"name": "b", "limit": 1.0, **settings})


@pytest.mark.parametrize("namespace", ["", "a b", "a}b", "x" * 101, None])
def test_a_namespace_that_is_none(namespace: Any) -> None:
    with pytest.raises(ConfigError, match="namespace"):
        RedisState("redis://127.0.0.1:1/0", namespace=namespace)


def test_a_budget_is_a_shared_budget() -> None:
    budget = RedisState("redis://127.0.0.1:1/0").budget("b", 1.0)
    assert isinstance(budget, RedisBudget)
    assert Orchestrator(FakeModel(), shared_budget=budget)
    with pytest.raises(ConfigError, match="shared_budget"):
        Orchestrator(FakeModel(), shared_budget=1.0)  # type: ignore[arg-type]  # a mistake
