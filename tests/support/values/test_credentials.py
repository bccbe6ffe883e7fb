"""What looks like a key stands in no error and no `repr`, wherever a caller, a model or a server put it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmcore import CallerError, FakeModel, LLMCoreError, Message, ModelRegistry, Orchestrator, ToolCall
from llmcore.support.values.credentials import without_keys

KEY = "sk-proj-Ab3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5z"


def _registry(**settings: Any) -> ModelRegistry:
    return ModelRegistry.from_dict({"models": {"m": {"provider": "openai", "model": "gpt-4o", **settings}}})


_MISPLACED: dict[str, Callable[[], object]] = {
    "provider": lambda: _registry(provider=KEY),
    "model": lambda: _registry(model=KEY, api_key="gpt-4o"),
    "unknown setting": lambda: _registry(**{KEY: 1}),
    "escalation": lambda: _registry(escalates_to=[KEY]),
    "dialect": lambda: _registry(text_dialect=KEY),
    "orchestrator": lambda: Orchestrator(KEY),
    "model of a run": lambda: Orchestrator(FakeModel("x")).run_sync("x", model=KEY),
}


@pytest.mark.parametrize("place", _MISPLACED)
def test_a_key_in_the_wrong_place_is_not_quoted(place: str) -> None:
    with pytest.raises(CallerError) as caught:
        _MISPLACED[place]()
    assert KEY not in str(caught.value) + repr(caught.value)
    assert "[secret]" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        Message(role="user", content=f"it is {KEY}"),
        ToolCall(id="call_0", name="log_in", arguments={"key": KEY}, raw_arguments=KEY),
        ModelRegistry.from_dict(
            {"models": {"m": {"provider": "openai_compatible", "model": KEY, "base_url": "http://a/v1"}}}
        ).get("m"),
        LLMCoreError(f"the server said {KEY}"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_repr_shows_no_key(value: object) -> None:
    assert KEY not in repr(value) + str(value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{KEY} and {KEY}", "[secret] and [secret]"),
        ("Bearer abc123def456", "Bearer [secret]"),
        (f"https://u:{KEY}@host/?key={KEY}", "https://[secret]@host/?key=[secret]"),
        ("sk-no-key-required, hf_hub_download, basic arithmetic", "sk-no-key-required, hf_hub_download, basic arithmetic"),
        ("", ""),
    ],
)
def test_what_looks_like_a_key_is_hidden_once(text: str, shown: str) -> None:
    assert without_keys(text) == shown
