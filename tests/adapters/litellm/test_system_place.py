"""A system message in the middle of a history: where it may stand it stays, and a server that refuses it there is learnt from."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.types import Request
from tests.helpers.wire_server import Failure, Seen, WireServer

pytestmark = pytest.mark.anyio
_HISTORY = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "three"},
]


def _roles(seen: Seen) -> list[str]:
    return [message["role"] for message in seen.body["messages"]]


async def _run(server: WireServer, provider: str, times: int = 1) -> list[Any]:
    at = {"provider": provider, "model": "m", "base_url": server.base_url(provider), "api_key": "k"}
    async with Orchestrator({"models": {"m": at}}) as made:
        results = [await made.run(Request.model_validate({"messages": _HISTORY})) for _ in range(times)]
    return [[list(attempt.dropped) for attempt in result.attempts] for result in results]


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_it_stays_where_the_wire_has_the_place(provider: str) -> None:
    with WireServer(["Fine."]) as server:
        dropped = await _run(server, provider)
    assert _roles(server.requests[0]) == ["user", "assistant", "system", "user"]
    assert dropped == [[[]]]


async def test_it_goes_to_the_front_for_a_chat_template() -> None:
    with WireServer(["Fine."]) as server:
        dropped = await _run(server, "openai_compatible")
    assert _roles(server.requests[0]) == ["system", "user", "assistant", "user"]
    assert dropped == [[["place of a system message"]]]


async def test_a_server_that_refuses_it_elsewhere_is_learnt_from() -> None:
    refusal = Failure(400, {"error": {"message": "System message must be at the beginning.", "type": "BadRequestError"}})
    with WireServer(lambda seen: "Fine." if "system" not in _roles(seen)[1:] else refusal) as server:
        await _run(server, "openai", times=2)
    assert [_roles(seen)[0] for seen in server.requests] == ["user", "system", "system"]
