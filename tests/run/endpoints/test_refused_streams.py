"""A server refuses a stream, or an option of streams. The same mode is used without it at once, and the run learns it. Over
real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.types import Finished
from tests.helpers.wire_server import Failure, Seen, Turn, WireServer
from tests.run.support import FAST, get_weather
from tests.run.turn.test_over_sockets import MODELS

pytestmark = pytest.mark.anyio

_ONE_MODE: tuple[dict[str, Any], ...] = (
    {},
    {"preferred_modes": ["text"]},
    {"force_text_mode": True},
    {"retry_with_different_format": False},
)


def _no_options(seen: Seen) -> bool:
    return "stream_options" in seen.body


def _no_streams(seen: Seen) -> bool:
    return seen.streaming


REFUSALS: dict[str, tuple[Callable[[Seen], bool], Any]] = {
    "by its parameter": (_no_streams, {"error": {"message": "Unsupported value.", "param": "stream"}}),
    "by OpenAI": (
        _no_streams,
        {
            "error": {
                "message": "Your organization must be verified to stream this model. Please go to the settings.",
                "type": "invalid_request_error",
                "param": "stream",
                "code": "unsupported_value",
            }
        },
    ),
    "in words": (_no_streams, {"error": {"message": "Streaming is not supported for this model"}}),
    "with tools": (_no_streams, {"error": {"message": "Function calling in streaming mode is not allowed."}}),
    "its options": (_no_options, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}),
}


async def _streamed(server: WireServer, provider: str, tools: list[Any], **settings: Any) -> list[Any]:
    """Two runs of one orchestrator."""
    model = {"provider": provider, "model": MODELS[provider], "base_url": server.base_url(provider), "api_key": "sk-0123456789ab"}
    registry = ModelRegistry.from_dict({"models": {"m": {**model, **settings}}})
    results: list[Any] = []
    async with Orchestrator(registry, tools, strategies=FAST) as orchestrator:
        for _ in range(2):
            results += [event.result async for event in orchestrator.stream("Hello") if isinstance(event, Finished)]
    return results


def _refusing(refuses: Callable[[Seen], bool], body: Any) -> Callable[[Seen], Any]:
    return lambda seen: Failure(400, body) if refuses(seen) else "Good day."


@pytest.mark.parametrize("settings", _ONE_MODE, ids=str)
@pytest.mark.parametrize("tools", [[], [get_weather]], ids=["plain", "tools"])
@pytest.mark.parametrize("refusal", list(REFUSALS))
async def test_the_same_mode_is_asked_at_once_and_it_is_learnt(refusal: str, tools: list[Any], settings: dict[str, Any]) -> None:
    refuses, body = REFUSALS[refusal]
    with WireServer(_refusing(refuses, body)) as server:
        first, second = await _streamed(server, "openai_compatible", tools, **settings)
    modes = [attempt.mode for attempt in first.attempts]
    assert (first.content, len(modes), len(set(modes))) == ("Good day.", 2, 1)
    assert [(attempt.failure, attempt.mode) for attempt in second.attempts] == [(None, modes[0])]
    assert [refuses(seen) for seen in server.requests] == [True, False, False]


@pytest.mark.parametrize("provider", list(MODELS))
async def test_refused_streams_are_learned_on_every_wire(provider: str) -> None:
    refuses, body = REFUSALS["in words"]
    with WireServer(_refusing(refuses, body)) as server:
        first, second = await _streamed(server, provider, [])
    assert (first.content, second.content) == ("Good day.", "Good day.")
    assert [seen.streaming for seen in server.requests] == [True, False, False]


@pytest.mark.parametrize("words", ["Ströme (stream=true) gibt es hier nicht.", "No."])
async def test_an_answer_that_was_not_streamed_keeps_the_next_turn_from_it(words: str) -> None:
    def script(seen: Seen) -> Any:
        if seen.streaming:
            return Failure(405, {"errors": [words]})
        return (
            "It is sunny."
            if "sunny for" in json.dumps(seen.body["messages"])
            else Turn(calls=[("get_weather", {"city": "Paris"})])
        )

    with WireServer(script) as server:
        first, second = await _streamed(server, "openai_compatible", [get_weather])
    requests = server.requests[: len(first.attempts)]
    assert [seen.streaming for seen in requests] == sorted((seen.streaming for seen in requests), reverse=True)
    assert first.content == second.content == "It is sunny."
    if "stream" in words:  # the words name what they refuse
        assert [len(result.attempts) for result in (first, second)] == [3, 2]
