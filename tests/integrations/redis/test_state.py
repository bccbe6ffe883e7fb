"""What processes share beside budgets, through a real redis-server, and what the loss of that server costs."""

from __future__ import annotations

import copy
import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.capabilities.breaker import BackendLost
from llmcore.fallback import Cooldown
from llmcore.integrations.redis import RedisState
from llmcore.orchestrator import Orchestrator
from llmcore.run import Approve, RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import CallerError, ConfigError, RateLimited, RemoteServerError
from tests.helpers.redis_server import client_of, redis_server

pytestmark = pytest.mark.anyio

LOCAL = Endpoint(provider="openai_compatible", model="qwen3-8b", base_url="http://127.0.0.1:1/v1")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Places(FakeModel):
    """Says which deployment each request goes to. That at the address `a` is sick."""

    def __init__(self) -> None:
        super().__init__(default="Hello.")
        self.asked: list[str] = []

    async def complete(self, call: ModelCall) -> Any:
        place = (call.endpoint.base_url or "").removeprefix("http://")
        self.asked.append(place)
        if place == "a":
            raise RateLimited("slow down", retry_after=400.0, status=429)
        return await super().complete(call)


def registry() -> dict[str, Any]:
    places = [{"name": name, "base_url": f"http://{name}"} for name in "ab"]
    return {"models": {"m": {"provider": "fake", "model": "fake", "deployments": places}}}


async def test_a_place_that_cools_down_in_one_process_is_left_aside_in_another(url: str) -> None:
    asked: list[list[str]] = []
    for namespace in ("acme", "acme", "other"):
        fake = Places()
        await Orchestrator(registry(), adapter=fake, cooldowns=RedisState(url, namespace=namespace).cooldowns).run("Hi")
        asked.append(fake.asked)
    assert asked == [["a", "b"], ["b"], ["a", "b"]]


async def test_the_later_end_of_a_cooldown_stays_until_the_place_answers(url: str) -> None:
    state, clock = RedisState(url), Clock()
    one, other = (Cooldown(shared=state.cooldowns, clock=clock) for _ in range(2))
    for seconds in (300.0, 100.0):
        one.failed("m", "a", RateLimited("slow down", retry_after=seconds, status=429))
        await one.publish()
    await other.refresh_if_stale()
    assert 290 < other.left("m", "a") <= 300
    other.failed("m", "b", RemoteServerError("502", status=502))  # one fault is none that others need to know
    await other.publish()
    assert list(await state.cooldowns.load()) == [("m", "a")]
    other.worked("m", "a")
    await other.publish()
    assert await state.cooldowns.load() == {}
    clock.now += 2
    await other.refresh_if_stale()
    assert other.left("m", "a") == 0
    assert one.left("m", "a") > 0


@tool(requires_approval=True)
def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"


async def test_a_saved_run_goes_on_once_in_all_processes(url: str) -> None:
    def orchestrator(model: FakeModel) -> Orchestrator:
        return Orchestrator(model, [pay], run_store=RedisState(url).runs)

    saved = (await orchestrator(FakeModel().tool_call("pay", {"to": "Cem"})).run("Pay Cem.")).model_dump_json()
    ended: list[object] = []
    for _ in range(2):
        state = RunResult[Any].model_validate_json(saved)
        try:
            ended.append(
                await orchestrator(FakeModel("Paid.")).run(state, answers={call.id: Approve() for call in state.pending})
            )
        except CallerError as error:
            ended.append(error)
    done, refused = ended
    assert isinstance(done, RunResult)
    assert f"was resumed already, by run {done.id}" in str(refused)
    newest = await RedisState(url).runs.newest(RunResult[Any].model_validate_json(saved).id)
    assert newest is not None
    assert newest.content == "Paid."
    assert await RedisState(url, namespace="other").runs.newest(done.id) is None


async def test_facts_go_to_the_hash_of_the_namespace(url: str) -> None:
    one, other, stranger = (CapabilityStore(backend=RedisState(url, namespace=name).facts) for name in ("a", "a", "b"))
    one.record_failure(LOCAL, "native_tools")
    assert await one.publish()
    assert [await store.refresh() for store in (other, stranger)] == [True, True]
    assert [store.learnt(LOCAL) for store in (other, stranger)] == [{"native_tools": False}, {}]


async def test_without_the_server_runs_go_on_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "llmcore"):
        state = RedisState("redis://:hunter24secret@127.0.0.1:1/0")
        fake = Places()
        store = CapabilityStore(backend=state.facts)
        orchestrator = Orchestrator(registry(), adapter=fake, capabilities=store, cooldowns=state.cooldowns)
        for _ in range(2):
            assert (await orchestrator.run("Hi")).content == "Hello."
        with pytest.raises(BackendLost):
            await state.runs.get("x/1")
    assert fake.asked == ["a", "b", "b"]
    assert [record.name for record in caplog.records if record.levelno >= logging.WARNING] == ["llmcore.redis"]
    assert "hunter24" not in caplog.text


async def test_a_server_that_hangs_costs_one_timeout_and_is_used_again_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redis_server(tmp_path) as url, client_of(url) as client:
        process = int(client.info()["process_id"])
        state = RedisState(url, timeout=0.1)
        clock = Clock()
        monkeypatch.setattr(state._connection._breaker, "_clock", clock)  # pyright: ignore[reportPrivateUsage]
        os.kill(process, signal.SIGSTOP)
        try:
            since = time.monotonic()
            for _ in range(1000):
                with pytest.raises(BackendLost):
                    await state.runs.get("x/1")
            assert time.monotonic() - since < 30  # 100 s without the breaker
        finally:
            os.kill(process, signal.SIGCONT)
        clock.now += 2
        assert await RedisState(url).runs.add("x/1", "text")
        assert await state.runs.get("x/1") == "text"


async def test_a_new_server_at_the_old_place_gets_the_scripts_again(tmp_path: Path) -> None:
    with redis_server(tmp_path) as url:
        state = RedisState(url)
        await state.cooldowns.save({("m", ""): 60.0})
        with client_of(url) as client:
            client.script_flush()
        assert list(await state.cooldowns.load()) == [("m", "")]


async def test_entries_of_another_version_are_left_out(url: str) -> None:
    with client_of(url) as client:
        client.zadd("llmcore:{default}:cooldowns", {"what": 9e15, '["m"]': 9e15, "7": 9e15, '["m", ""]': 9e15})
    assert list(await RedisState(url).cooldowns.load()) == [("m", "")]


async def test_a_copy_of_an_orchestrator_shares_the_connection(url: str) -> None:
    state = RedisState(url)
    orchestrator = Orchestrator(
        FakeModel(default="Hello."),
        capabilities=CapabilityStore(backend=state.facts),
        cooldowns=state.cooldowns,
        run_store=state.runs,
    )
    assert (await copy.deepcopy(orchestrator).run("Hi")).content == "Hello."


async def test_the_rate_of_a_key_counts_in_all_processes(url: str) -> None:
    one, other = (RedisState(url).rate_limit(7) for _ in range(2))
    waits = [await limit.wait("team-a") for limit in (one, other) * 4]
    assert waits[:7] == [0.0] * 7  # a minute's allowance may come at once
    assert 0 < waits[7] <= 60 / 7
    assert [await other.wait("team-b"), await RedisState(url, namespace="acme").rate_limit(7).wait("team-a")] == [0.0, 0.0]
    with client_of(url) as client:
        assert 0 < client.pttl("llmcore:{default}:rate:team-a") <= 60_001
        client.set("llmcore:{default}:rate:team-a", 1)  # long ago
    assert await one.wait("team-a") == 0.0
    lost = RedisState("redis://127.0.0.1:1/0").rate_limit(1)
    assert [await lost.wait("team-a") > 0 for _ in range(2)] == [False, True]


@pytest.mark.parametrize("per_minute", [0, -1, 1.5, True, "7", 10**7])
def test_a_rate_that_is_none(per_minute: Any) -> None:
    with pytest.raises(ConfigError, match="whole number from 1"):
        RedisState("redis://127.0.0.1:1/0").rate_limit(per_minute)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[list[int]]:
    """The ports of three masters that share the slots."""
    if shutil.which("redis-cli") is None:
        pytest.skip("there is no redis-cli here")
    with (
        redis_server(tmp_path / "a", cluster=True) as a,
        redis_server(tmp_path / "b", cluster=True) as b,
        redis_server(tmp_path / "c", cluster=True) as c,
    ):
        places = [url.removeprefix("redis://").removesuffix("/0") for url in (a, b, c)]
        command = ["redis-cli", "--cluster", "create", *places, "--cluster-yes"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        for url in (a, b, c):
            with client_of(url) as client:
                while client.cluster("info")["cluster_state"] != "ok":
                    pass  # it has not heard of the others
        yield [int(place.rpartition(":")[2]) for place in places]


async def test_a_cluster(cluster: list[int]) -> None:
    redis: Any = import_module("redis.cluster")
    client = redis.RedisCluster(host="127.0.0.1", port=cluster[0])
    for namespace in ("a", "b", "c", "d"):  # on several masters
        state = RedisState(client=client, namespace=namespace)
        budget = state.budget("b", 1.0)
        await budget.settle(await budget.reserve(5), 3)
        assert await budget.spent() == (0.000_003, 0.0)
        await state.cooldowns.save({("m", ""): 60.0})
        assert list(await state.cooldowns.load()) == [("m", "")]
        assert await state.runs.add("x/1", "text")
        store = CapabilityStore(backend=state.facts)
        store.record_failure(LOCAL, "images")
        assert await store.publish()
    client.close()
