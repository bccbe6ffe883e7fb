"""Prompt caching through all layers: marks on the system prompt, tools and history go out, and the usage says what was read and
written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import pytest

from llmcore import (
    CacheControl,
    Finished,
    Message,
    Orchestrator,
    RunResult,
    TextBlock,
    ToolDefinition,
    ToolDefinitionError,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    tool,
)
from llmcore.support.values.narrowing import is_list, is_object
from tests.helpers.wire_server import WireServer
from tests.helpers.wires import Turn

MARK = CacheControl()
HOUR = CacheControl(ttl="1h")
PRICES = {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}


def only() -> str:
    """Look at nothing."""
    return ""


@tool(cache_control=HOUR)
def look(city: str) -> str:
    """Look at the sky."""
    return "sunny"


HISTORY = [
    Message(role="user", content=[TextBlock(text="Rome?", cache_control=MARK)]),
    Message(role="assistant", content=[ToolUseBlock(id="call_1", name="look", input={"city": "Rome"})]),
    Message(
        role="tool",
        content=[ToolResultBlock(tool_use_id="call_1", name="look", content=[TextBlock(text="sunny")], cache_control=MARK)],
    ),
    Message(role="user", content="And Oslo?"),
]
TURNS = [Turn(calls=[("look", {"city": "Oslo"})], usage=(1000, 10), stored=900), Turn("Sunny.", usage=(1100, 5), cached=900)]


def orchestrator(server: WireServer, provider: str, model: str) -> Orchestrator:
    place = {"provider": provider, "model": model, "api_key": "k", "base_url": server.base_url(provider), "prices": PRICES}
    return Orchestrator({"models": {"m": place}}, [look], system=[TextBlock(text="Be brief.", cache_control=MARK)])


def marks_in(value: object) -> int:
    """How many cache marks a body has."""
    inner: Iterable[object] = value.values() if is_object(value) else value if is_list(value) else ()
    return sum(map(marks_in, inner)) + (is_object(value) and "cache_control" in value)


@pytest.mark.parametrize("streamed", [False, True])
def test_anthropic_gets_the_marks_and_says_what_was_read_and_written(streamed: bool) -> None:
    with WireServer(TURNS) as server:
        asked = orchestrator(server, "anthropic", "claude-sonnet-4-5")
        if streamed:
            result: RunResult[Any] = asyncio.run(_streamed(asked))
        else:
            result = asked.run_sync(HISTORY)
    first, second = (seen.body for seen in server.requests)
    assert first["system"] == [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert first["tools"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert [marks_in(body["messages"]) for body in (first, second)] == [2, 2]
    assert first["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral"}  # the tool's result
    assert [attempt.dropped for attempt in result.attempts] == [[], []]
    assert [(attempt.usage.cache_write_tokens, attempt.usage.cache_read_tokens) for attempt in result.attempts] == [
        (900, 0),
        (0, 900),
    ]
    cost = (100 * 3.0 + 900 * 3.75 + 10 * 15.0 + 200 * 3.0 + 900 * 0.3 + 5 * 15.0) / 1e6
    assert result.usage.model_copy(update={"cost": None}) == Usage(
        input_tokens=2100, output_tokens=15, cache_read_tokens=900, cache_write_tokens=900
    )
    assert result.usage.cost == pytest.approx(cost)


async def _streamed(asked: Orchestrator) -> RunResult[Any]:
    *_, last = [event async for event in asked.stream(HISTORY)]
    assert isinstance(last, Finished)
    return last.result


def test_openai_gets_no_marks_and_says_what_was_read() -> None:
    with WireServer([Turn("Sunny.", usage=(1100, 5), cached=1024)]) as server:
        result = orchestrator(server, "openai", "gpt-4o").run_sync(HISTORY)
    assert marks_in(server.requests[0].body) == 0
    assert result.attempts[0].dropped == ["cache_control"]
    assert (result.usage.input_tokens, result.usage.cache_read_tokens) == (1100, 1024)
    assert result.usage.cost == pytest.approx((76 * 3.0 + 1024 * 0.3 + 5 * 15.0) / 1e6)


def test_openrouter_gets_the_marks_in_openais_form() -> None:
    with WireServer([Turn("Sunny.")]) as server:
        orchestrator(server, "openrouter", "anthropic/claude-sonnet-4.5").run_sync(HISTORY)
    body = server.requests[0].body
    assert [marks_in(body[part]) for part in ("messages", "tools")] == [3, 1]


@pytest.mark.parametrize(
    "given",
    [
        {"type": "function", "function": {"name": "look"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"name": "look", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ],
)
def test_a_mark_of_a_tool_in_another_apis_form_is_kept(given: dict[str, Any]) -> None:
    from llmcore import definition_of

    assert definition_of(given).cache_control == HOUR == definition_of(look).cache_control
    assert definition_of(ToolDefinition(name="look")).cache_control is None


def test_a_mark_of_a_tool_that_is_none_is_an_error() -> None:
    with pytest.raises(ToolDefinitionError, match=r"cache_control must be an llmcore\.CacheControl, not"):
        tool(cache_control=cast("Any", "ephemeral"))(only)
