"""`orchestrator.capabilities.get` shows what runs believe, where each belief comes from, and the limits of the provider's
tools."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import CapabilityStore, ConfigError, FakeModel, ModelNotFound, Orchestrator
from llmcore.adapters import Endpoint
from llmcore.adapters.base import Capabilities
from llmcore.adapters.capabilities import LEARNABLE, ToolLimit

MODELS: dict[str, Any] = {
    "fast": {"provider": "openai", "model": "gpt-4o", "supports_images": False},
    "own": {"provider": "vllm", "model": "qwen3", "base_url": "http://127.0.0.1:1/v1", "context_window": 32_000},
    "claude": {"provider": "anthropic", "model": "claude-sonnet-4-5"},
    "two": {
        "provider": "vllm",
        "model": "qwen3",
        "deployments": [{"name": "a", "base_url": "http://127.0.0.1:2/v1"}, {"name": "b", "base_url": "http://127.0.0.1:3/v1"}],
    },
}


def orchestrator(store: CapabilityStore | None = None) -> Orchestrator:
    return Orchestrator({"models": MODELS}, capabilities=store)


def test_each_belief_names_its_most_trusted_source() -> None:
    asked = orchestrator()
    endpoint = asked.models.get("fast").endpoint
    asked.capabilities.override("gpt-4o", json_schema=False)
    asked.capabilities.record_failure(endpoint, "parallel_tools")
    asked.capabilities.record_failure(endpoint, "top_p", proven=False)
    known = asked.capabilities.get("fast")
    expected = {
        "images": (False, "registry"),
        "json_schema": (False, "override"),
        "parallel_tools": (False, "learnt"),
        "streaming": (True, "table"),
        "context_window": (128_000, "litellm"),
        "emits_text_calls": (None, "default"),
    }
    assert {name: (getattr(known, name), known.sources[name]) for name in expected} == expected
    assert known.unsupported_parameters == {"parallel_tool_calls", "top_p"}
    assert known.sources["top_p"] == "learnt"
    assert known.on_trial == {"top_p"}
    assert known.sources.keys() == (Capabilities.model_fields.keys() | known.unsupported_parameters) - {"unsupported_parameters"}


@pytest.mark.parametrize("alias", [*MODELS])
def test_what_is_shown_is_what_runs_go_by(alias: str) -> None:
    asked = orchestrator()
    config = asked.models.get(alias)
    asked.capabilities.record_failure(config.endpoint, "native_tools")
    shown = asked.capabilities.get(alias)
    used = asked._catalog.can(config)  # pyright: ignore[reportPrivateUsage]  # what runs ask
    assert {name: getattr(shown, name) for name in Capabilities.model_fields} == used.model_dump()
    unknown = {name for name in LEARNABLE if getattr(shown, name) is None}
    assert unknown == {name for name in LEARNABLE if shown.sources[name] == "default"}


def test_limits_and_system_tools_are_shown() -> None:
    asked = orchestrator()
    claude = asked.capabilities.get("claude")
    assert {(one.what, one.most) for one in claude.limits} == {("tools", 20), ("bytes", 50_000)}
    assert all(one.source for one in claude.limits)
    assert claude.system_tools == ("web_search",)
    own = asked.models.get("own").endpoint
    asked.capabilities.record_failure(own, "max_tools=8")
    assert asked.capabilities.get("own").limits == (ToolLimit(what="tools", most=8, enforced=True, source="learnt"),)
    assert asked.capabilities.get("own").system_tools == ()


def test_an_endpoint_of_a_model_is_that_model_and_any_other_is_known_by_the_store_alone() -> None:
    store = CapabilityStore()
    asked = orchestrator(store)
    assert asked.capabilities.get(asked.models.get("fast").endpoint).images is False
    other = Endpoint(provider="openai", model="gpt-4o")
    assert asked.capabilities.get(other).images is store.get(other).images is True
    second = asked.models.get("two").at("b").endpoint
    store.record_failure(second, "native_tools")
    assert asked.capabilities.get(second).native_tools is False
    assert asked.capabilities.get("two").native_tools is None


def test_the_store_of_an_orchestrator_is_the_store_that_was_given() -> None:
    store = CapabilityStore()
    first, second = orchestrator(store), orchestrator(store)
    endpoint = first.models.get("own").endpoint
    first.capabilities.record_failure(endpoint, "json_object")
    assert store.get(endpoint).json_object is False
    assert second.capabilities.get("own").sources["json_object"] == "learnt"
    third = Orchestrator({"models": MODELS}, capabilities=first.capabilities)
    third.capabilities.forget(endpoint)
    assert first.capabilities.learnt(endpoint) == {}


def test_an_adapter_says_of_itself_what_it_can_do() -> None:
    class Small(FakeModel):
        def capabilities(self, endpoint: Endpoint) -> Capabilities:
            return Capabilities(native_tools=False, images=True)

    for asked in (Orchestrator(Small("x")), Orchestrator({"models": MODELS}, adapter={"own": Small("x")})):
        known = asked.capabilities.get("own" if "own" in asked.models else "fake")
        assert (known.native_tools, known.sources["native_tools"], known.sources["images"]) == (False, "adapter", "adapter")


def test_a_name_that_nobody_has_is_an_error() -> None:
    with pytest.raises(ModelNotFound, match=r"no model 'fats'; did you mean 'fast'"):
        orchestrator().capabilities.get("fats")
    with pytest.raises(ConfigError, match=r"orchestrator\.capabilities, which knows the aliases"):
        CapabilityStore().get("fast")
