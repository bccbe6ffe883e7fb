"""A server refuses a response format in unknown words, and native tools get an answer. The refused request differs by that
format and its system prompt. So two runs meet a refusal, and the third does not. Over real sockets."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters import Endpoint
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from tests.helpers.wire_server import Failure, Seen, WireServer
from tests.helpers.wires import Turn
from tests.run.endpoints.test_unexplained_refusals import assert_never_twice
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str


def script(seen: Seen) -> Any:
    if "response_format" in seen.body:
        return Failure(400, {"error": {"message": "No shapes, please."}})
    names = [tool["function"]["name"] for tool in seen.body.get("tools", ())]
    return Turn(calls=[("final_result", {"name": "Oslo"})]) if "final_result" in names else "Good day."


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
@pytest.mark.parametrize("typed", [False, True])
async def test_the_third_run_goes_straight_to_native_tools(mode: str, typed: bool) -> None:
    with WireServer(script) as server:
        place = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai_compatible")}
        model = {**place, "api_key": "none", "preferred_modes": [mode, "native_tools", "text"]}
        counts: list[int] = []
        async with Orchestrator(ModelRegistry.from_dict({"models": {"m": model}}), [get_weather], strategies=FAST) as made:
            for _ in range(3):
                seen = len(server.requests)
                result = await made.run("Hello", output_type=City if typed else None)
                assert result.attempts[-1].mode == "native_tools"
                assert_never_twice(server.requests[seen:])
                counts.append(len(server.requests) - seen)
            known = made.capabilities.learnt(Endpoint.model_validate({**place, "alias": "m"}))
    assert counts == [2, 2, 1]
    assert (known[mode], "system_message" in known) == (False, False)
