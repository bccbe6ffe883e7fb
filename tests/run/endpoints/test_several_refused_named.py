"""A server names several refused parts in one sentence. The run ends well, the next one is not refused, and only parts that
were sent are learned. Over real sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmcore.adapters import Endpoint
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from tests.helpers.wire_server import Failure, Seen, WireServer
from tests.run.endpoints.test_unexplained_refusals import assert_never_twice
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio


def refusing(words: str, *names: str) -> Callable[[Seen], Any]:
    def script(seen: Seen) -> Any:
        if not set(names).isdisjoint(seen.body):
            return Failure(400, {"error": {"message": words}})
        return '{"toolCalls": [], "content": "Good day."}' if "response_format" in seen.body else "Good day."

    return script


async def learnt(words: str, names: tuple[str, ...], **given: Any) -> tuple[list[int], dict[str, bool]]:
    """How many requests two runs took, and what was learnt."""
    with WireServer(refusing(words, *names)) as server:
        place = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai_compatible")}
        registry = ModelRegistry.from_dict({"models": {"m": {**place, "api_key": "none"}}})
        async with Orchestrator(registry, [get_weather], strategies=FAST) as made:
            results = [await made.run("Hello", **given) for _ in range(2)]
            known = made.capabilities.learnt(Endpoint.model_validate({**place, "alias": "m"}))
    assert [result.content for result in results] == ["Good day."] * 2
    first = len(results[0].attempts)
    assert_never_twice(server.requests[:first])
    return [len(result.attempts) for result in results], known


@pytest.mark.parametrize(
    "words",
    [
        "temperature and top_p are not supported by this model",
        "Unrecognized request arguments supplied: temperature, top_p",
        "temperature, top_p: Extra inputs are not permitted",
    ],
)
async def test_both_named_parts_are_left_out_and_learned(words: str) -> None:
    counts, known = await learnt(words, ("temperature", "top_p"), temperature=0.3, top_p=0.4)
    assert (counts, known) == ([2, 1], {"temperature": False, "top_p": False})


@pytest.mark.parametrize(
    "words",
    [
        "tools and tool_choice are not supported by this model",
        "tools/tool_choice is not supported",
        "不支持参数 tool_choice 和 tools",
    ],
)
async def test_tools_are_learnt_and_no_choice_that_was_not_sent(words: str) -> None:
    assert await learnt(words, ("tools",)) == ([2, 1], {"native_tools": False})


async def test_tools_and_a_parameter() -> None:
    words = "Unrecognized request arguments supplied: temperature, tools"
    counts, known = await learnt(words, ("temperature", "tools"), temperature=0.3)
    assert (counts, known) == ([2, 1], {"native_tools": False, "temperature": False})


@pytest.mark.parametrize(
    "words",
    [
        "The parameters temperature and top_p are fixed at 1 for this model.",
        "Sampling knobs (temperature, top_p) are welded shut.",
        "temperature und top_p sind hier fest eingestellt",
        "temperature is pinned. So is top_p",
        '{"code": "params_locked", "params": ["temperature", "top_p"]}',
    ],
)
async def test_several_that_unknown_words_name_are_left_out_at_once(words: str) -> None:
    """They are learnt as a set. The next run leaves out the first one, which narrows it down."""
    counts, known = await learnt(words, ("temperature", "top_p"), temperature=0.3, top_p=0.4)
    assert (counts, known) == ([2, 2], {"temperature+top_p": False, "temperature": False})


async def test_a_mode_is_not_lost_for_the_parameters_that_every_mode_sent() -> None:
    words = "temperature or top_p, and whatever else is in your payload: this house digests none of that"
    counts, known = await learnt(words, ("tools",), temperature=0.3, top_p=0.4)
    assert (counts, known) == ([3, 1], {"native_tools": False}), "what was named was not it"
