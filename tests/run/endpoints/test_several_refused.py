"""A server refuses several parts of a request in the same words without a reason. Each run ends well and sends no request
twice. After two runs (three for three parts) none is refused. Over real sockets, with random sets of parts."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from llmcore import Orchestrator, tool
from llmcore.adapters.base import Endpoint
from llmcore.support.values.narrowing import objects_in
from llmcore.types import OutputMode
from tests.helpers.shown import ANSWER, model
from tests.helpers.wire_server import Failure, Seen, Step, WireServer
from tests.run.support import FAST

pytestmark = pytest.mark.anyio

_FIELDS = (
    *("temperature", "top_p", "stop", "tool_choice", "parallel_tool_calls"),
    *("stream", "stream_options", "tools", "response_format"),
)
_SYSTEM = "system"
_ASKED: dict[str, Any] = {"temperature": 0.3, "top_p": 0.9, "stop": ["Z"], "parallel_tool_calls": False, "system": "Be brief."}
_DROPPED = ("temperature", "top_p", "stop")
_WORDS: tuple[dict[str, Any] | str, ...] = ({"error": {"message": "Invalid request"}}, {"detail": "Bad Request"}, "")
_ORDERS: tuple[list[OutputMode], ...] = (
    ["native_tools", "json_schema", "text"],
    ["json_schema", "native_tools", "text"],
    ["native_tools", "json_schema", "json_object", "text"],
)


class Weather(BaseModel):
    city: str
    degrees: int


class Case(NamedTuple):
    """What is refused, in which words, and what is asked for."""

    refused: frozenset[str]
    words: dict[str, Any] | str = _WORDS[0]
    asked: tuple[str, ...] = tuple(_ASKED)
    streamed: bool = False
    order: list[OutputMode] = _ORDERS[0]


def _random(seed: int) -> Case:
    chance = random.Random(seed)
    return Case(
        frozenset(chance.sample([*_FIELDS, _SYSTEM], chance.choice([1, 2, 2, 3]))),
        chance.choice(_WORDS),
        tuple(name for name in _ASKED if chance.random() < 0.6),
        chance.random() < 0.5,
        chance.choice(_ORDERS),
    )


def _parts(seen: Seen) -> set[str]:
    found = {name for name in _FIELDS if seen.body.get(name) is not None and seen.body.get(name) is not False}
    found |= {"parallel_tool_calls"} & seen.body.keys()
    return found | ({_SYSTEM} if any(one.get("role") == _SYSTEM for one in objects_in(seen.body.get("messages"))) else set())


CASES = (
    Case(frozenset({"temperature", "tool_choice"})),
    Case(frozenset({"parallel_tool_calls", "system"}), "", streamed=True),
    Case(frozenset({"stream", "tools"}), {"message": "不正なリクエスト"}, streamed=True),
    Case(frozenset({"parallel_tool_calls", "tool_choice"}), asked=("parallel_tool_calls", "system")),
    Case(frozenset({"stream_options", "parallel_tool_calls"}), "", ("stop", "system", "parallel_tool_calls"), streamed=True),
    Case(frozenset({"response_format", "tools", "top_p"}), streamed=True),
    *map(_random, range(24)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(sorted(case.refused)))
async def test_runs_come_to_what_is_accepted(case: Case) -> None:
    refused = await _refused_in_each_run(case, runs=5)
    assert refused[4] == 0
    assert refused[3] == 0 or len(case.refused) > 2
    assert max(refused) <= 10  # in two turns


async def _refused_in_each_run(case: Case, *, runs: int) -> list[int]:
    """How many requests of each run were refused."""

    def answer(seen: Seen) -> Step:
        return Failure(400, case.words) if case.refused & _parts(seen) else model(seen)

    @tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"{city}: 12 degrees"

    asked = {name: _ASKED[name] for name in case.asked}
    counts: list[int] = []
    with WireServer(answer) as server:
        place = {"provider": "openai_compatible", "model": "x", "api_key": "k", "base_url": server.base_url("openai_compatible")}
        models = {"models": {"m": {**place, "preferred_modes": case.order}}}
        async with Orchestrator(models, [get_weather], strategies=FAST) as made:
            for _ in range(runs):
                before = len(server.requests)
                dropped = await _dropped(made, asked, streamed=case.streamed)
                requests = server.requests[before:]
                assert {name for name in asked if name in _DROPPED and name not in requests[-1].body} <= dropped
                assert len({seen.sent for seen in requests}) == len(requests)
                counts.append(sum(bool(case.refused & _parts(seen)) for seen in requests))
            _assert_on_trial(made, place)
    return counts


async def _dropped(made: Orchestrator, asked: dict[str, Any], *, streamed: bool) -> set[str]:
    """What the last request of a run that ends well went without, as it is recorded."""
    if streamed:
        async with made.stream("Weather in Paris?", output_type=Weather, **asked) as stream:
            async for _ in stream:
                pass
        result = stream.result
    else:
        result = await made.run("Weather in Paris?", output_type=Weather, **asked)
    assert result is not None
    assert result.output == Weather.model_validate(ANSWER)
    return set(result.attempts[-1].dropped)


def _assert_on_trial(made: Orchestrator, place: dict[str, Any]) -> None:
    """What nothing told apart is not believed for ever."""
    endpoint = Endpoint.model_validate({**place, "alias": "m"})
    lacking = {name for name, value in made.capabilities.learnt(endpoint).items() if not value}
    assert lacking <= made.capabilities.unproven(endpoint)
