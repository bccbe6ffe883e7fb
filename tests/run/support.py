"""What the tests of runs share: tools, registries of fake models, and a check of histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llmcore.fallback import EscalateModel, OtherMode, Retry, TextOnly
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.types import Message, RetryConfig

__all__ = ["FAST", "add", "assert_valid", "called", "calls_in", "get_weather", "stack"]

FAST = (Retry(RetryConfig(max_retries=2, base=0)), OtherMode(), EscalateModel(), TextOnly())
"""The default strategies, without waiting."""


def get_weather(city: str, days: int = 1) -> str:
    """The weather of a city.

    Args:
        city: Which city.
        days: How many days ahead.
    """
    return f"{city}: sunny for {days} days"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def called(name: str, arguments: Any = None, *, text: str | None = None) -> dict[str, Any]:
    """The body of a reply with one native call; `arguments` may be a str that goes out as it is."""
    return tool_call_body([(name, {} if arguments is None else arguments)], text, 0)


def stack(fakes: Mapping[str, FakeModel], tools: Sequence[Any] = (), **options: Any) -> Orchestrator:
    """An orchestrator over a registry of fakes; each escalates to the next. `settings` holds keys of models by
    alias."""
    settings: Mapping[str, dict[str, Any]] = options.pop("settings", {})
    aliases = list(fakes)
    models = {
        alias: {
            "provider": "fake",
            "model": alias,
            "escalates_to": aliases[index + 1 : index + 2],
            **settings.get(alias, {}),
        }
        for index, alias in enumerate(aliases)
    }
    registry = ModelRegistry.from_dict({"models": models})
    options.setdefault("strategies", FAST)
    return Orchestrator(registry, tools, adapter=fakes, **options)


def calls_in(messages: Sequence[Message]) -> list[tuple[str, Any]]:
    return [(use.name, use.input) for message in messages for use in message.tool_uses]


def assert_valid(messages: Sequence[Message], pending: Sequence[str] = ()) -> None:
    """Every call has an id of its own and exactly one result, in call order, in the message directly after (`pending`
    ones have none); no result answers nothing."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        ids = [use.id for use in message.tool_uses]
        assert len(ids) == len(set(ids))
        assert not seen & set(ids)
        seen |= set(ids)
        following = messages[index + 1].tool_results if index + 1 < len(messages) else []
        answered = [result.tool_use_id for result in following]
        assert answered == [call for call in ids if call not in pending]
        if message.role == "assistant":
            assert message.content
        if message.tool_results:
            assert index > 0
            assert messages[index - 1].tool_uses
