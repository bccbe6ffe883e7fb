"""A body that a server refused is not sent again in the same run, even if a comparison would leave out what was left out
before. The attempt records what a failed request left out. Over real sockets."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from tests.helpers.wire_server import Failure, Seen, WireServer
from tests.run.endpoints.test_unexplained_refusals import weather
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio


def refusing_tools(seen: Seen) -> Any:
    return Failure(400, {"error": {"message": "Nada de juguetes."}}) if "tools" in seen.body else weather(seen)


@pytest.mark.parametrize("given", [{"tool_choice": "required"}, {"parallel_tool_calls": False}])
async def test_what_litellm_left_out_is_not_left_out_once_more(given: dict[str, Any]) -> None:
    with WireServer(refusing_tools) as server:
        url = server.base_url("openai_compatible")
        model = {"provider": "deepinfra", "model": "meta-llama/Llama-3.3-70B-Instruct", "base_url": url, "api_key": "none"}
        async with Orchestrator(ModelRegistry.from_dict({"models": {"m": model}}), [get_weather], strategies=FAST) as made:
            result = await made.run("Weather in Paris?", **given)
    assert result.attempts[-1].failure is None
    assert ["tools" in seen.body for seen in server.requests] == [True, False, False]
    refused = [attempt for attempt in result.attempts if attempt.failure is not None]
    assert [attempt.dropped for attempt in refused] == [[*given]] * 2  # it was left out of the one that was sent, too
    assert "is not sent again" in str(refused[1].failure)
