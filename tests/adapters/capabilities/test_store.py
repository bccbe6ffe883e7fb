"""Who is believed about an endpoint, and for how long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pydantic import SecretStr

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities import (
    DAY,
    LEARNABLE,
    PARAMETERS,
    TRIAL,
    CapabilityStore,
    Fact,
    FileFacts,
    RedisFacts,
    is_learnable,
)
from llmcore.adapters.capabilities import store as store_module
from llmcore.adapters.litellm.errors.fields import part_of
from llmcore.adapters.litellm.errors.phrases import table
from llmcore.adapters.providers.model_table import table_capabilities
from llmcore.adapters.secrets.known_secrets import remember
from llmcore.types import CallerError, ConfigError

LOCAL = Endpoint(provider="openai_compatible", model="qwen3-8b", base_url="http://127.0.0.1:1/v1")


class Clock:
    """Wall-clock seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Monotonic(Clock):
    """In place of the module `time`."""

    def monotonic(self) -> float:
        return self.now


class Shared:
    """A backend in memory. `fails`: what it raises; `hangs`: it never answers."""

    def __init__(self) -> None:
        self.facts: dict[str, dict[str, Fact]] = {}
        self.loads = self.saves = 0
        self.fails: Exception | None = None
        self.hangs = False

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        self.loads += 1
        await self._answer()
        return self.facts

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        self.saves += 1
        await self._answer()
        for key, found in facts.items():
            self.facts.setdefault(key, {}).update(found)

    async def _answer(self) -> None:
        if self.fails is not None:
            raise self.fails
        if self.hangs:
            await asyncio.Event().wait()


def test_the_order_of_trust() -> None:
    store = CapabilityStore(table=lambda _: Capabilities(native_tools=True, json_schema=True, json_object=True))
    store.record_failure(LOCAL, "native_tools")
    store.record_failure(LOCAL, "json_schema")
    store.override(LOCAL, json_schema=True)
    known = store.get(LOCAL)
    assert known.json_object is True  # the table
    assert known.native_tools is False  # learnt, over the table
    assert known.json_schema is True  # told, over learnt
    assert known.parallel_tools is None  # unknown: to be tried


def test_the_order_of_trust_over_the_real_tables() -> None:
    chat = Endpoint(provider="deepseek", model="deepseek-chat")
    store = CapabilityStore()
    assert table_capabilities(chat).json_schema is True  # LiteLLM's
    assert store.get(chat).json_schema is False  # ours: the API knows JSON mode only
    assert table_capabilities(chat).context_window == store.get(chat).context_window  # where ours says nothing
    assert store.get(chat.model_copy(update={"model": "nobody-knows"})).reasoning is None
    store.record_success(chat, "json_schema")
    assert store.get(chat).json_schema is True
    store.override("deepseek-chat", json_schema=False)
    assert store.get(chat).json_schema is False


def test_an_override_by_alias_or_model() -> None:
    store = CapabilityStore()
    store.override("qwen3-8b", native_tools=False)
    assert store.get(LOCAL).native_tools is False
    store.override("fast", native_tools=True)
    assert store.get(LOCAL.model_copy(update={"alias": "fast"})).native_tools is True


GPT = Endpoint(provider="openai", model="gpt-4o", alias="smart")


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "smart", GPT.key])
def test_an_override_is_found_by_every_name_of_the_endpoint(name: str) -> None:
    store = CapabilityStore()
    store.override(name, parallel_tools=False)
    assert store.get(GPT).parallel_tools is False
    assert store.get(Endpoint(provider="groq", model="other", alias="quick")).parallel_tools is True


def test_the_more_particular_override_stands() -> None:
    store = CapabilityStore()
    for name, window in ((GPT, 4), ("smart", 3), ("openai/gpt-4o", 2), ("gpt-4o", 1)):
        store.override(name, context_window=window)
    store.override("gpt-4o", json_schema=False)
    known = store.get(GPT)
    assert (known.context_window, known.json_schema) == (4, False)
    assert store.get(GPT.model_copy(update={"base_url": "http://127.0.0.1:1"})).context_window == 3
    assert store.get(GPT.model_copy(update={"base_url": "http://127.0.0.1:1", "alias": ""})).context_window == 2


@pytest.mark.parametrize("record", ["record_failure", "record_success"])
@pytest.mark.parametrize(
    ("misspelt", "nearest"), [("nativ_tools", "native_tools"), ("json-schema", "json_schema"), ("temprature", "temperature")]
)
def test_a_misspelt_capability_is_the_callers_error(record: str, misspelt: str, nearest: str) -> None:
    store = CapabilityStore()
    with pytest.raises(CallerError, match=f"'{misspelt}'; did you mean '{nearest}'"):
        getattr(store, record)(LOCAL, misspelt)
    assert store.learnt(LOCAL) == {}


def test_a_name_that_is_near_to_none_is_told_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"native_tools.*parameters.*temperature"):
        CapabilityStore().record_failure(LOCAL, "xyzzy")


def test_what_a_servers_refusal_may_name_can_be_learnt() -> None:
    sections: dict[str, str] = {"format": "response_format", "most_tools": "max_tools=3", "own_room": "max_tokens"}
    named = {part_of(sections.get(name, name), None) for name in map(str, (*table()["parts"], *table()["nouns"]))}
    assert [name for name in named if not is_learnable(name)] == []
    assert is_learnable("native_tools+stop")
    assert not is_learnable("native_tools+extra_body")


def test_refused_parallel_calls_are_not_asked_for_again() -> None:
    store = CapabilityStore()
    store.record_failure(GPT, "parallel_tools")
    assert store.get(GPT).unsupported_parameters == {"parallel_tool_calls"}


def test_an_override_adds_up() -> None:
    store = CapabilityStore()
    store.override(LOCAL, native_tools=False)
    store.override(LOCAL, Capabilities(json_schema=False))
    assert (store.get(LOCAL).native_tools, store.get(LOCAL).json_schema) == (False, False)


def test_an_unknown_capability_is_named() -> None:
    with pytest.raises(ConfigError, match="nativ_tools"):
        CapabilityStore().override(LOCAL, nativ_tools=False)


def test_what_was_learnt_is_forgotten_after_a_day() -> None:
    clock = Clock()
    store = CapabilityStore(clock=clock)
    store.record_failure(LOCAL, "native_tools")
    clock.now += DAY - 1
    assert store.learnt(LOCAL) == {"native_tools": False}
    clock.now += 2
    assert store.learnt(LOCAL) == {}
    assert store.get(LOCAL).native_tools is None


def test_what_was_refused_once_is_tried_again_and_proven_when_it_is_refused_again() -> None:
    clock = Clock()
    store = CapabilityStore(clock=clock)
    for wait, believed in ((0, True), (TRIAL - 1, True), (1, False), (DAY / 2, False)):
        if not wait:
            store.record_failure(LOCAL, "native_tools", proven=False)
        clock.now += wait
        assert store.learnt(LOCAL) == ({"native_tools": False} if believed else {})
    store.record_failure(LOCAL, "native_tools", proven=False)
    clock.now += DAY - 1
    assert store.get(LOCAL).native_tools is False
    clock.now += 2
    assert store.learnt(LOCAL) == {}


def test_refusals_of_runs_that_were_under_way_prove_nothing_of_each_other() -> None:
    clock = Clock()
    store = CapabilityStore(clock=clock)
    for _ in range(3):
        store.record_failure(LOCAL, "native_tools", proven=False)
        clock.now += TRIAL / 2 - 1
    assert store.learnt(LOCAL) == {}


def test_what_is_only_supposed_proves_nothing() -> None:
    clock = Clock()
    store = CapabilityStore(clock=clock)
    store.suppose(LOCAL, "json_object")
    assert store.learnt(LOCAL) == {"json_object": False}
    clock.now += TRIAL
    store.suppose(LOCAL, "json_object")
    assert store.learnt(LOCAL) == {}
    store.record_success(LOCAL, "json_object")
    store.suppose(LOCAL, "json_object")
    assert store.learnt(LOCAL) == {"json_object": True}


def test_a_success_between_two_refusals_begins_anew() -> None:
    clock = Clock()
    store = CapabilityStore(clock=clock)
    store.record_failure(LOCAL, "native_tools", proven=False)
    clock.now += TRIAL
    store.record_success(LOCAL, "native_tools")
    clock.now += TRIAL
    assert store.learnt(LOCAL) == {"native_tools": True}
    store.record_failure(LOCAL, "native_tools", proven=False)
    clock.now += TRIAL
    assert store.learnt(LOCAL) == {}


@pytest.mark.anyio
async def test_two_processes_prove_it_together() -> None:
    shared, clock = Shared(), Clock()
    one, other = (CapabilityStore(backend=shared, clock=clock) for _ in range(2))
    one.record_failure(LOCAL, "native_tools", proven=False)
    await one.publish()
    await other.refresh()
    assert other.learnt(LOCAL) == {"native_tools": False}
    clock.now += TRIAL
    assert other.learnt(LOCAL) == {}
    other.record_failure(LOCAL, "native_tools", proven=False)
    await other.publish()
    await one.refresh()
    clock.now += TRIAL
    assert one.learnt(LOCAL) == other.learnt(LOCAL) == {"native_tools": False}


def test_a_later_fact_stands() -> None:
    clock = Clock()
    store = CapabilityStore(clock=clock)
    store.record_failure(LOCAL, "json_schema")
    clock.now += 10
    store.record_success(LOCAL, "json_schema")
    assert store.get(LOCAL).json_schema is True


def test_capabilities_belong_to_the_endpoint() -> None:
    store = CapabilityStore()
    store.record_failure(LOCAL, "native_tools")
    elsewhere = LOCAL.model_copy(update={"base_url": "http://127.0.0.1:2/v1"})
    assert store.get(elsewhere).native_tools is None


def test_another_name_is_a_refused_parameter() -> None:
    store = CapabilityStore()
    gpt5 = Endpoint(provider="openai", model="gpt-5")
    store.record_failure(gpt5, "stop")
    assert store.get(gpt5).unsupported_parameters == {"temperature", "top_p", "stop"}
    assert "stop" in PARAMETERS - LEARNABLE
    store.record_success(gpt5, "stop")
    assert "stop" not in store.get(gpt5).unsupported_parameters


def test_forget() -> None:
    store = CapabilityStore()
    store.record_failure(LOCAL, "native_tools")
    store.override(LOCAL, json_schema=True)
    store.forget(LOCAL)
    assert store.learnt(LOCAL) == {}
    assert store.get(LOCAL).json_schema is True


@pytest.mark.anyio
async def test_what_is_learnt_can_be_shared() -> None:
    shared, clock = Shared(), Clock()
    one = CapabilityStore(backend=shared, clock=clock)
    other = CapabilityStore(backend=shared, clock=clock)
    one.record_failure(LOCAL, "native_tools")
    await one.publish()
    clock.now += 5
    other.record_success(LOCAL, "json_schema")
    await other.refresh()
    assert other.learnt(LOCAL) == {"native_tools": False, "json_schema": True}
    other.record_success(LOCAL, "native_tools")
    await other.refresh()  # the older fact does not come back
    assert other.learnt(LOCAL)["native_tools"] is True


@pytest.mark.anyio
async def test_a_shared_fact_keeps_its_age() -> None:
    shared, clock = Shared(), Clock()
    shared.facts = {LOCAL.key: {"native_tools": Fact(False, clock.now - DAY + 5)}}
    store = CapabilityStore(backend=shared, clock=clock)
    await store.refresh()
    assert store.learnt(LOCAL) == {"native_tools": False}
    clock.now += 10
    assert store.learnt(LOCAL) == {}


@pytest.mark.anyio
async def test_without_a_backend_nothing_is_shared() -> None:
    store = CapabilityStore()
    await store.publish()
    await store.refresh()
    assert store.learnt(LOCAL) == {}


def test_threads_may_learn_at_once() -> None:
    store, names = CapabilityStore(), sorted(LEARNABLE)[:4]

    def learn(number: int) -> None:
        for at in range(200):
            endpoint = LOCAL.model_copy(update={"model": f"m{at % 7}"})
            store.record_success(endpoint, names[number])
            store.get(endpoint)

    threads = [Thread(target=learn, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.learnt(LOCAL.model_copy(update={"model": "m3"})) == dict.fromkeys(names, True)


@pytest.mark.anyio
async def test_only_what_was_learnt_here_and_not_yet_told_is_published() -> None:
    shared = Shared()
    one, other = CapabilityStore(backend=shared), CapabilityStore(backend=shared)
    one.record_failure(LOCAL, "native_tools")
    assert await one.publish()
    await other.refresh()
    assert await other.publish()
    assert await one.publish()
    assert shared.saves == 1
    one.record_failure(LOCAL, "json_schema")
    await one.publish_if_needed()
    assert (shared.saves, sorted(shared.facts[LOCAL.key])) == (2, ["json_schema", "native_tools"])


@pytest.mark.anyio
async def test_what_was_forgotten_does_not_come_back_from_the_backend() -> None:
    shared, clock = Shared(), Clock()
    store = CapabilityStore(backend=shared, clock=clock)
    store.record_failure(LOCAL, "native_tools")
    await store.publish()
    clock.now += 1
    store.forget(LOCAL)
    await store.refresh()
    assert store.learnt(LOCAL) == {}
    shared.facts[LOCAL.key]["native_tools"] = Fact(False, clock.now + 1)
    clock.now += 2
    await store.refresh()  # learnt anew, by another
    assert store.learnt(LOCAL) == {"native_tools": False}


@pytest.mark.anyio
async def test_a_clock_that_is_ahead_makes_no_fact_eternal() -> None:
    shared, clock = Shared(), Clock()
    shared.facts = {LOCAL.key: {"native_tools": Fact(False, clock.now + 100 * DAY)}}
    store = CapabilityStore(backend=shared, clock=clock)
    await store.refresh()
    store.record_success(LOCAL, "native_tools")
    assert store.learnt(LOCAL) == {"native_tools": True}
    clock.now += DAY + 1
    assert store.learnt(LOCAL) == {}


@pytest.mark.anyio
async def test_what_is_no_fact_is_left_out() -> None:
    shared = Shared()
    wrong: object = {
        "native_tools": (1, 2.0), "json_schema": (True, "soon"), "images": 7, "streaming": (True, float("nan")), "later_word": (True, 1.0),
    }  # fmt: skip
    shared.facts = {LOCAL.key: wrong}  # type: ignore[dict-item]
    store = CapabilityStore(backend=shared)
    assert await store.refresh()
    assert store.learnt(LOCAL) == {}


@pytest.mark.anyio
async def test_a_backend_that_fails_is_warned_of_once_and_left_alone(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "time", monotonic := Monotonic())
    shared = Shared()
    remember(["hunter22secret"])
    shared.fails = OSError("no route for hunter22secret")
    store = CapabilityStore(backend=shared, fresh_for=60)
    store.record_failure(LOCAL, "native_tools")
    with caplog.at_level(logging.DEBUG, logger="llmcore"):
        for _ in range(3):
            await store.refresh_if_stale()
            await store.publish_if_needed()
        assert (shared.loads, shared.saves) == (1, 0)  # left alone
        assert not await store.refresh()
        assert not await store.publish()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "OSError: no route" in caplog.text
    assert "hunter22secret" not in caplog.text
    shared.fails = None
    monotonic.now += 61
    await store.publish_if_needed()  # nothing was lost
    assert shared.facts[LOCAL.key]["native_tools"].value is False


@pytest.mark.anyio
async def test_a_backend_that_hangs_is_waited_for_a_moment(caplog: pytest.LogCaptureFixture) -> None:
    shared = Shared()
    shared.hangs = True
    store = CapabilityStore(backend=shared, patience=0.05)
    async with asyncio.timeout(5):
        await store.refresh_if_stale(0.01)  # a run that has no more time: not the backend's fault
        assert caplog.text == ""
        await store.refresh_if_stale()
    assert "TimeoutError" in caplog.text


@pytest.mark.anyio
async def test_the_backend_is_read_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "time", monotonic := Monotonic())
    shared = Shared()
    store = CapabilityStore(backend=shared, fresh_for=60)
    for _ in range(5):
        await store.refresh_if_stale()
    assert shared.loads == 1
    monotonic.now += 61
    await store.refresh_if_stale()
    assert shared.loads == 2


def test_a_backend_is_named_by_a_url_or_a_path(tmp_path: Path) -> None:
    def backend(given: object) -> object:
        return vars(CapabilityStore(backend=given))["_backend"]  # type: ignore[arg-type]

    assert isinstance(backend("redis://127.0.0.1:1/0"), RedisFacts)
    assert isinstance(backend(tmp_path / "facts.json"), FileFacts)
    assert isinstance(backend(str(tmp_path / "facts.json")), FileFacts)
    with pytest.raises(ConfigError, match="load"):
        backend(object())


@pytest.mark.anyio
async def test_nothing_secret_is_shared() -> None:
    shared = Shared()
    store = CapabilityStore(backend=shared)
    place = Endpoint(
        provider="openai_compatible", model="m", base_url="http://127.0.0.1:1/v1/?tenant=top-secret-1", api_key=SecretStr("sk-top-secret-2"),
        extra_headers={"X-Key": "top-secret-3"},
    )  # fmt: skip
    store.record_failure(place, "native_tools")
    store.record_failure(place.model_copy(update={"model": "m-sk-top-secret-2"}), "native_tools")
    assert await store.publish()
    assert list(shared.facts) == ["http://127.0.0.1:1/v1|m"]


def test_what_is_doubted_twice_is_told_and_learnt_by_nobody_else() -> None:
    store, endpoint = CapabilityStore(), Endpoint(provider="openai", model="m")
    assert not store.has_doubts
    assert store.doubt(endpoint, "native_tools") is False
    assert store.doubt(endpoint, "native_tools+stop") is False
    assert store.doubt(endpoint, "native_tools") is True
    assert (store.has_doubts, store.learnt(endpoint)) == (True, {})
    assert set(store.doubts(endpoint)) == {frozenset({"native_tools"}), frozenset({"native_tools", "stop"})}
    store.clear(endpoint, ["json_schema"])
    assert store.doubt(endpoint, "native_tools") is True
    store.clear(endpoint, ["native_tools"])
    assert store.doubt(endpoint, "native_tools") is False
    assert store.is_doubted(endpoint, "native_tools+stop")  # it was not seen to take both at once
    store.clear(endpoint, ["native_tools", "stop", "temperature"])
    assert store.doubts(endpoint) == []
    store.forget(endpoint)
    assert store.doubt(endpoint, "native_tools") is False
    with pytest.raises(ConfigError, match="native_tools"):
        store.doubt(endpoint, "native_tool")


def test_a_set_of_parts_is_refused_together_and_each_alone_is_taken() -> None:
    store, endpoint = CapabilityStore(), Endpoint(provider="openai", model="m")
    store.record_failure(endpoint, "native_tools+stop", proven=False)
    can = store.get(endpoint)
    assert can.native_tools is not False
    assert can.unsupported_parameters >= {"native_tools+stop"}
    assert "stop" not in can.unsupported_parameters


def test_a_number_of_tools_is_learnt_as_the_least_that_was_told() -> None:
    store, endpoint = CapabilityStore(), Endpoint(provider="openai", model="m")
    for number in (20, 8):
        store.record_failure(endpoint, f"max_tools={number}")
    assert store.get(endpoint).max_tools == 8
    assert "max_tools=8" not in store.get(endpoint).unsupported_parameters


def test_facts_are_of_endpoints() -> None:
    for record in (CapabilityStore().record_failure, CapabilityStore().record_success):
        with pytest.raises(ConfigError, match="not of 'm'; for a name, use `override`"):
            record("m", "native_tools")  # type: ignore[arg-type]  # an untyped caller


@pytest.mark.parametrize(
    ("name", "words"),
    [("paralel_tools", "did you mean parallel_tools\\? There are native_tools"), ("zzz", "zzz; there are native_tools")],
)
def test_a_misspelt_override_names_the_nearest(name: str, words: str) -> None:
    fields: dict[str, Any] = {name: False}
    with pytest.raises(ConfigError, match=words):
        CapabilityStore().override("m", **fields)
