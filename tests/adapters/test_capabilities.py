"""Who is believed about an endpoint, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Thread

import pytest

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities import DAY, LEARNABLE, CapabilityStore, Fact, known_capabilities
from llmcore.types import ConfigError

LOCAL = Endpoint(provider="openai_compatible", model="qwen3-8b", base_url="http://127.0.0.1:1/v1")


class Clock:
    """Wall-clock seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Shared:
    """A backend in memory."""

    def __init__(self) -> None:
        self.facts: dict[str, dict[str, Fact]] = {}

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        return self.facts

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        self.facts = {key: dict(value) for key, value in facts.items()}


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


def test_an_override_by_alias_or_model() -> None:
    store = CapabilityStore()
    store.override("qwen3-8b", native_tools=False)
    assert store.get(LOCAL).native_tools is False
    store.override("fast", native_tools=True)
    assert store.get(LOCAL.model_copy(update={"alias": "fast"})).native_tools is True


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
    assert "stop" not in LEARNABLE
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
    store = CapabilityStore()

    def learn(number: int) -> None:
        for at in range(200):
            endpoint = LOCAL.model_copy(update={"model": f"m{at % 7}"})
            store.record_success(endpoint, f"p{number}")
            store.get(endpoint)

    threads = [Thread(target=learn, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.learnt(LOCAL.model_copy(update={"model": "m3"})) == {f"p{number}": True for number in range(4)}


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-4o", {"native_tools": True, "schema_with_tools": True, "context_window": 128_000}),
        ("openai", "o1-mini", {"native_tools": False}),
        ("openai", "gpt-3.5-turbo", {"json_schema": False, "native_tools": True}),
        ("anthropic", "claude-3-5-sonnet-20241022", {"json_schema": False, "schema_with_tools": False}),
        ("anthropic", "claude-opus-4-20250514", {"json_schema": False, "schema_with_tools": False}),
        ("anthropic", "claude-opus-4-5-20251101", {"json_schema": True}),
        ("anthropic", "claude-sonnet-4-5", {"json_schema": True, "schema_with_tools": True, "parallel_tools": True}),
        ("anthropic", "claude-opus-5", {"json_schema": True}),
        ("anthropic", "claude-unknown-9", {"json_schema": False, "context_window": 200_000, "json_object": False}),
        ("gemini", "gemini-2.5-pro", {"schema_with_tools": False, "parallel_tools": True}),
        ("gemini", "gemini-3.1-pro-preview", {"schema_with_tools": True}),
        ("gemini", "gemini-1.5-pro", {"json_schema": False, "native_tools": True}),
        ("groq", "llama-3.3-70b-versatile", {"native_tools": True, "json_schema": False}),
        ("groq", "openai/gpt-oss-20b", {"json_schema": True, "schema_with_tools": False}),
        ("mistral", "mistral-large-latest", {"native_tools": True, "parallel_tools": True}),
        ("ollama", "llama3.1", {"tool_choice_required": False, "schema_with_tools": False, "native_tools": None}),
        ("openrouter", "meta-llama/llama-3.3-70b-instruct", {"json_schema": None}),
        ("deepseek", "deepseek-reasoner", {"tool_choice_required": False, "json_schema": False}),
        ("openai_compatible", "anything", {"native_tools": None, "json_schema": None, "schema_with_tools": False}),
        ("someone_new", "model", {"native_tools": None, "context_window": None}),
    ],
)
def test_what_is_known_beforehand(provider: str, model: str, expected: dict[str, object]) -> None:
    known = known_capabilities(Endpoint(provider=provider, model=model)).model_dump()
    assert {name: known[name] for name in expected} == expected


def test_the_endpoints_own_figures_stand() -> None:
    endpoint = Endpoint(provider="openai", model="gpt-4o", context_window=32_000, max_output_tokens=1_000)
    known = known_capabilities(endpoint)
    assert (known.context_window, known.max_output_tokens) == (32_000, 1_000)


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("claude-sonnet-4-5", "anthropic_function_calls"),
        ("meta-llama/Llama-3.3-70B-Instruct", "functionary_v31"),
        ("Qwen/Qwen3-Coder-30B", "qwen3_coder"),
        ("qwen3:8b", "hermes"),
        ("zai-org/GLM-4.5-Air", "glm45"),
        ("gemma-3-27b-it", "tool_code"),
        ("mistral-small", "hermes"),
        ("something-else", "hermes"),
    ],
)
def test_each_family_is_taught_its_own_dialect(model: str, dialect: str) -> None:
    assert known_capabilities(Endpoint(provider="openai_compatible", model=model)).text_dialect == dialect
