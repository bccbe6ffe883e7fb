"""Facts shared through a real redis-server."""

from __future__ import annotations

import logging
import os
import signal
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities import CapabilityStore, Fact, RedisFacts
from llmcore.adapters.capabilities import redis_client as module
from llmcore.types import ConfigError
from tests.helpers.redis_server import client_of, redis_server, server, url

__all__ = ["server", "url"]

pytestmark = pytest.mark.anyio

LOCAL = Endpoint(provider="openai_compatible", model="qwen3-8b", base_url="http://127.0.0.1:1/v1")
NAME = "llmcore:capabilities"


async def test_another_process_knows_what_one_learnt(url: str) -> None:
    one, other = CapabilityStore(backend=url), CapabilityStore(backend=url)
    one.record_failure(LOCAL, "native_tools")
    one.record_failure(LOCAL, "temperature")
    assert await one.publish()
    assert await other.refresh()
    assert other.learnt(LOCAL) == {"native_tools": False, "temperature": False}


async def test_of_two_facts_the_later_one_stands_whoever_saves_last(url: str) -> None:
    facts, now = RedisFacts(url), time.time()
    await facts.save({"k": {"native_tools": Fact(True, now - 1.25)}})
    await facts.save({"k": {"native_tools": Fact(False, now - 2.5), "json_schema": Fact(False, now)}})
    assert await facts.load() == {"k": {"native_tools": Fact(True, now - 1.25), "json_schema": Fact(False, now)}}
    await facts.save({"k": {"native_tools": Fact(False, now)}})
    assert (await facts.load())["k"]["native_tools"] == Fact(False, now)


async def test_whether_it_is_proven_goes_along(url: str) -> None:
    facts, now = RedisFacts(url), time.time()
    seen_once, proven = Fact(False, now - 0.5, proven=False), Fact(False, now)
    await facts.save({"k": {"native_tools": seen_once, "images": seen_once}})
    await facts.save({"k": {"native_tools": proven, "images": Fact(False, now - 1)}})
    assert await facts.load() == {"k": {"native_tools": proven, "images": seen_once}}


async def test_it_is_bounded_and_the_latest_stand(url: str) -> None:
    facts, now = RedisFacts(url, maxsize=3), time.time()
    for at in (4, 1, 3, 2, 5):
        await facts.save({f"k{at}": {"images": Fact(True, now - 10 + at)}})
    assert sorted(await facts.load()) == ["k3", "k4", "k5"]


async def test_what_is_old_is_left_out_and_the_hash_does_not_stay_for_ever(url: str) -> None:
    facts, now = RedisFacts(url, ttl=100), time.time()
    await facts.save({"k": {"images": Fact(True, now - 101), "streaming": Fact(True, now)}})
    assert list((await facts.load())["k"]) == ["streaming"]
    with client_of(url) as client:
        assert 90 <= int(client.ttl(NAME)) <= 100


async def test_entries_of_others_are_left_out(url: str) -> None:
    with client_of(url) as client:
        client.hset(
            NAME,
            mapping={"a": "b", '["k"]': "1 2", '["k", "images"]': "1 soon", '["k", 1]': f"1 {time.time()}", b"\xff": b"\xfe"},
        )
    assert await RedisFacts(url).load() == {}


@pytest.mark.parametrize("at", ["nan", "inf", "1e999", "99999999999", "soon"])
async def test_an_entry_of_a_broken_clock_is_not_believed_and_gives_way(url: str, at: str) -> None:
    with client_of(url) as client:
        client.hset(NAME, f'["{LOCAL.key}", "images"]', f"0 {at}")
    one, other = CapabilityStore(backend=url), CapabilityStore(backend=url)
    assert await one.refresh()
    assert one.learnt(LOCAL) == {}
    one.record_success(LOCAL, "images")
    assert await one.publish()
    assert await other.refresh()
    assert other.learnt(LOCAL) == {"images": True}
    facts = RedisFacts(url, maxsize=1)
    await facts.save({"k": {"streaming": Fact(True, time.time())}})
    assert [*await facts.load()] == ["k"]


async def test_what_a_later_version_says_more_is_kept_and_left_out(url: str) -> None:
    later = {f'["{LOCAL.key}", "telepathy"]': f"0 {time.time()}", f'["{LOCAL.key}", "images"]': f"0 {time.time()} often"}
    with client_of(url, decode_responses=True) as client:
        client.hset(NAME, mapping=later)
        store = CapabilityStore(backend=url)
        assert await store.refresh()
        store.record_failure(LOCAL, "streaming")
        assert await store.publish()
        assert store.learnt(LOCAL) == {"streaming": False}
        assert later.items() <= client.hgetall(NAME).items()


async def test_a_key_of_another_kind_is_left_alone(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with client_of(url) as client:
        client.set(NAME, "somebody else's")
        store = CapabilityStore(backend=url)
        store.record_failure(LOCAL, "images")
        assert (await store.refresh(), await store.publish()) == (False, False)
        assert client.get(NAME) == b"somebody else's"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_a_server_that_hangs_is_waited_for_once_and_told_when_it_goes_on(tmp_path: Path) -> None:
    with redis_server(tmp_path) as url, client_of(url) as client:
        process = int(client.info()["process_id"])
        store = CapabilityStore(backend=RedisFacts(url, timeout=0.3), fresh_for=60)
        store.record_failure(LOCAL, "images")
        os.kill(process, signal.SIGSTOP)
        try:
            since = time.monotonic()
            assert not await store.publish()
            await store.refresh_if_stale(10)
            await store.publish_if_needed(10)
            assert time.monotonic() - since < 10
        finally:
            os.kill(process, signal.SIGCONT)
        assert await store.publish()
        assert LOCAL.key in await RedisFacts(url).load()


async def test_what_is_doubted_goes_along(url: str) -> None:
    one, other = CapabilityStore(backend=url), CapabilityStore(backend=url)
    for name in ("schema_with_tools", "tool_choice_required"):
        one.doubt(LOCAL, name)
    assert await one.publish()
    assert await other.refresh()
    assert set(other.doubts(LOCAL)) == {frozenset({"schema_with_tools"}), frozenset({"tool_choice_required"})}


@pytest.mark.parametrize(
    "setting",
    [
        *({"timeout": value} for value in (0, -1, "1", float("inf"))),
        *({"maxsize": value} for value in (0, -3, 1.5)),
        *({"ttl": value} for value in (0, -1, float("nan"))),
        *({"name": value} for value in ("", "  ", None, 3, b"x")),
        {"clock": 5},
    ],
    ids=str,
)
def test_a_setting_that_is_none(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(setting))):
        RedisFacts("redis://127.0.0.1:1/0", **setting)


def test_a_pipeline_is_no_client() -> None:
    redis: Any = import_module("redis")
    with pytest.raises(ConfigError, match="not a pipeline"):
        RedisFacts(client=redis.Redis(port=1).pipeline())


async def test_a_client_of_ones_own_is_used_and_left_open(url: str) -> None:
    with client_of(url, decode_responses=True) as client:
        facts, now = RedisFacts(client=client, name="mine"), time.time()
        await facts.save({"k": {"images": Fact(True, now)}})
        assert await facts.load() == {"k": {"images": Fact(True, now)}}
        assert client.exists("mine") == 1


def test_a_client_that_is_none_or_is_awaited_is_refused_at_once() -> None:
    awaited = import_module("redis.asyncio").Redis(port=1)
    for client, words in ((awaited, "not awaited: give a redis.Redis"), ({"url": "x"}, "takes a redis.Redis as its client")):
        with pytest.raises(ConfigError, match=words):
            RedisFacts(client=client)


async def test_nothing_but_names_yes_or_no_and_times_is_stored(url: str) -> None:
    store = CapabilityStore(backend=url)
    store.record_failure(LOCAL.model_copy(update={"base_url": "http://127.0.0.1:1/v1?tenant=top-secret"}), "native_tools")
    assert await store.publish()
    with client_of(url, decode_responses=True) as client:
        stored = client.hgetall(NAME)
    assert list(stored) == ['["http://127.0.0.1:1/v1|qwen3-8b", "native_tools"]']


async def test_a_password_works_and_is_shown_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with redis_server(tmp_path, password="hunter22-secret") as url:
        store = CapabilityStore(backend=url)
        store.record_failure(LOCAL, "native_tools")
        assert await store.publish()
    with caplog.at_level(logging.DEBUG):
        assert not await store.refresh()  # it is gone
    assert "RedisFacts('redis://127.0.0.1:" in caplog.text
    assert "hunter22" not in caplog.text + repr(RedisFacts(url))


async def test_a_server_that_goes_and_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with redis_server(tmp_path) as url:
        store = CapabilityStore(backend=url, fresh_for=0)
        assert await store.refresh()
    store.record_failure(LOCAL, "native_tools")
    for _ in range(3):
        await store.refresh_if_stale()
        await store.publish_if_needed()
    assert store.learnt(LOCAL) == {"native_tools": False}
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    port = int(url.rsplit(":", 1)[1].split("/")[0])
    with redis_server(tmp_path, port=port) as url:
        await store.publish_if_needed()
        assert (await RedisFacts(url).load())[LOCAL.key]["native_tools"].value is False


@pytest.mark.parametrize("wrong", ["http://127.0.0.1", "redis://", "redis://host:port/0", "nonsense"])
def test_a_url_that_is_none(wrong: str) -> None:
    with pytest.raises(ConfigError, match="URL of the Redis"):
        RedisFacts(wrong)


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(ConfigError, match=r"llmcore-engine\[redis\]"):
        RedisFacts("redis://127.0.0.1/0")


def test_a_url_or_a_client() -> None:
    with pytest.raises(ConfigError, match="url or a client"):
        RedisFacts()
