"""What a run learns about its endpoint, and its effect: in the same run, in the next, after a restart, and beside other
runs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters.base import Capabilities
from llmcore.adapters.capabilities import DAY, TRIAL, CapabilityStore, Fact
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run.endpoints.modes import usable_modes
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.types import Budget, CapabilityRefused, FallbackExhausted, Finished
from tests.helpers.redis_server import redis_server
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer
from tests.run.support import FAST, called, get_weather

pytestmark = pytest.mark.anyio

MODEL = "nobody/knows-this-1"
"""In no table."""
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
AS_TEXT = f"<tool_call>\n{CALL}\n</tool_call>"
ENVELOPED = '{{"toolCalls": [{calls}], "content": "{text}", "needsMoreWork": false}}'
SUNNY = "It is sunny in Paris."


def _behind(server: Callable[[Seen], Step | None]) -> Callable[[Seen], Step]:
    """A model that calls a tool it was told of in the form it was taught, and else says that it cannot know; `server` may answer in
    its place."""

    def script(seen: Seen) -> Step:
        told = json.dumps(seen.body["messages"])
        answered = server(seen)
        if answered is not None:
            return answered
        enveloped = "toolCalls" in told
        if "sunny for" in told:
            return ENVELOPED.format(calls="", text=SUNNY) if enveloped else SUNNY
        if "get_weather" not in told:
            return "I cannot look up the weather."
        return ENVELOPED.format(calls=CALL, text="") if enveloped else f"<tool_call>\n{CALL}\n</tool_call>"

    return script


def _refuses(seen: Seen) -> Step | None:
    refusal = {"error": {"message": "this model does not support tools", "type": "invalid_request_error"}}
    return Failure(400, refusal) if "tools" in seen.body else None


def _refuses_all(seen: Seen) -> Step | None:
    refusal = {"error": {"message": "'response_format' is not supported", "type": "invalid_request_error"}}
    return Failure(400, refusal) if "response_format" in seen.body else _refuses(seen)


def _ignores(seen: Seen) -> Step | None:
    """It neither refuses nor reads tools, tool choices and formats."""
    return None


def _reads_no_calls(seen: Seen) -> Step | None:
    """It puts the tools into the prompt, and leaves the calls in the text."""
    return AS_TEXT if "tools" in seen.body and "sunny for" not in json.dumps(seen.body["messages"]) else None


SERVERS = {
    "refuses tools": (_refuses, "auto", "json_schema"),
    "refuses tools and formats": (_refuses_all, "auto", "text"),
    "ignores tools": (_ignores, "required", "json_schema"),
    "reads no calls": (_reads_no_calls, "auto", "text"),
}
"""What each does, how the call is asked for, and the mode that is learnt to work."""


class Made:
    """Orchestrators over one server, closed with the test's event loop."""

    def __init__(self) -> None:
        self.all: list[Orchestrator] = []

    def __call__(
        self, server: WireServer, store: CapabilityStore | None = None, tools: Sequence[Any] = (get_weather,), **settings: Any
    ) -> Orchestrator:
        model = {"provider": "openai_compatible", "model": MODEL, "base_url": server.base_url("openai"), **settings}
        registry = ModelRegistry.from_dict({"models": {"m": model}})
        self.all.append(Orchestrator(registry, tools, capabilities=store, strategies=FAST))
        return self.all[-1]


@pytest.fixture
async def made() -> AsyncIterator[Made]:
    made = Made()
    yield made
    for orchestrator in made.all:
        await orchestrator.aclose()


@pytest.fixture(params=["memory", "file", "redis"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str | Path | None]:
    if request.param == "redis":
        with redis_server(tmp_path) as url:
            yield url
    else:
        yield tmp_path / "facts.json" if request.param == "file" else None


async def _ask(orchestrator: Orchestrator, tool_choice: Any, streamed: bool = False) -> RunResult:
    if not streamed:
        return await orchestrator.run("Weather in Paris?", tool_choice=tool_choice)
    events = [event async for event in orchestrator.stream("Weather in Paris?", tool_choice=tool_choice)]
    (result,) = [event.result for event in events if isinstance(event, Finished)]
    assert isinstance(result, RunResult)
    return result


def _modes(result: RunResult) -> list[str]:
    return [attempt.mode for attempt in result.attempts]


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("behaviour", list(SERVERS))
async def test_an_unknown_model_completes_a_call_and_the_next_request_uses_the_learned_mode(
    behaviour: str, streamed: bool, backend: str | Path | None, made: Made
) -> None:
    server_does, tool_choice, learnt = SERVERS[behaviour]
    with WireServer(_behind(server_does)) as server:
        store = CapabilityStore(backend=backend)
        first = await _ask(made(server, store), tool_choice, streamed)
        assert first.content == SUNNY
        assert [call.name for call in first.tool_results] == ["get_weather"]
        assert (_modes(first)[0], _modes(first)[-1]) == ("native_tools", learnt)
        asked = len(server.requests)
        restarted = store if backend is None else CapabilityStore(backend=backend)
        second = await _ask(made(server, restarted), tool_choice, streamed)
        assert (second.content, _modes(second)) == (SUNNY, [learnt] * 2)
        assert not any("tools" in seen.body for seen in server.requests[asked:])


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("explained", [True, False], ids=["explained", "unexplained"])
async def test_one_refusal_is_believed_for_minutes_a_second_one_for_a_day(explained: bool, streamed: bool, made: Made) -> None:
    words = "this model does not support tools" if explained else "Not like this."
    refusal, refuses = Failure(400, {"error": {"message": words}}), True
    now = 1_000_000.0
    store = CapabilityStore(clock=lambda: now)
    with WireServer(_behind(lambda seen: refusal if refuses and "tools" in seen.body else None)) as server:
        orchestrator = made(server, store)
        looks_again = [] if explained else ["native_tools", "json_schema"]
        first = ["native_tools", "json_schema", *(looks_again or ["json_schema"])]
        assert _modes(await _ask(orchestrator, "auto", streamed)) == first
        now += TRIAL - 1
        assert _modes(await _ask(orchestrator, "auto", streamed)) == ["json_schema"] * 2
        now += 1
        assert _modes(await _ask(orchestrator, "auto", streamed)) == ["native_tools", *["json_schema"] * 2]
        now += DAY - 1
        assert _modes(await _ask(orchestrator, "auto", streamed)) == ["json_schema"] * 2
        now += 1
        refuses = False
        assert _modes(await _ask(orchestrator, "auto", streamed))[0] == "native_tools"


class Weather(BaseModel):
    city: str
    days: int


def _answers_typed_in_json_only(seen: Seen) -> Step:
    """It never looks at tools, and keeps to a format that it is given."""
    told = json.dumps(seen.body["messages"])
    if "response_format" not in seen.body:
        return "I cannot look that up."
    if "toolCalls" not in told:
        return '{"city": "Paris", "days": 1}'
    final = '{"name": "final_result", "arguments": {"city": "Paris", "days": 1}}'
    return ENVELOPED.format(calls=final if "sunny for" in told else CALL, text="")


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("tools", [[], [get_weather]], ids=["typed alone", "beside tools"])
async def test_a_typed_run_learns_from_a_server_that_ignores_tools(
    tools: list[Any], streamed: bool, backend: str | Path | None, made: Made
) -> None:
    async def typed(store: CapabilityStore) -> RunResult:
        orchestrator = made(server, store, tools)
        if not streamed:
            return await orchestrator.run("Weather in Paris?", output_type=Weather)
        events = [event async for event in orchestrator.stream("Weather in Paris?", Weather)]
        return next(event.result for event in events if isinstance(event, Finished))

    with WireServer(_answers_typed_in_json_only) as server:
        store = CapabilityStore(backend=backend)
        first = await typed(store)
        second = await typed(store if backend is None else CapabilityStore(backend=backend))
    turns = 1 + len(tools)
    assert (first.output, second.output) == (Weather(city="Paris", days=1), Weather(city="Paris", days=1))
    assert [record.name for record in first.tool_results] == [tool.__name__ for tool in tools]
    assert _modes(first) == [*["native_tools"] * 2, *["json_schema"] * turns]  # it is told once what is wrong with its words
    assert _modes(second) == ["json_schema"] * turns
    assert ["tools" in seen.body for seen in server.requests] == [*[True] * 2, *[False] * 2 * turns]


async def test_a_dead_backend_ends_no_run(made: Made, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with redis_server(tmp_path) as url:
        pass
    store = CapabilityStore(backend=url)
    with WireServer(_behind(_refuses)) as server:
        await _ask(made(server, store), "auto")
        result = await _ask(made(server, store), "auto")
    assert result.content == SUNNY
    assert _modes(result) == ["json_schema"] * 2  # in this process it is known
    assert [record.name for record in caplog.records if record.levelno >= logging.WARNING] == ["llmcore.capabilities"]


async def test_what_a_failed_run_learnt_is_shared(made: Made, tmp_path: Path) -> None:
    with WireServer(_behind(_refuses)) as server:
        store = CapabilityStore(backend=tmp_path / "facts.json")
        with pytest.raises(FallbackExhausted):
            await _ask(made(server, store, preferred_modes=["native_tools"], retry_with_different_format=False), "auto")
        second = await _ask(made(server, CapabilityStore(backend=tmp_path / "facts.json")), "auto")
    assert "native_tools" not in _modes(second)


async def test_what_the_registry_says_reaches_the_request_above_what_was_learnt(made: Made) -> None:
    with WireServer([Turn(calls=[("get_weather", {"city": "Paris"})]), SUNNY]) as server:
        orchestrator = made(server, supports_tools=True)
        (config,) = orchestrator.models
        orchestrator.capabilities.record_failure(config.endpoint, "native_tools")
        orchestrator.capabilities.record_failure(config.endpoint, "tool_choice_required")
        result = await _ask(orchestrator, "required")
        assert _modes(result) == ["native_tools"] * 2
        assert "tool_choice" not in server.requests[0].body
        orchestrator.capabilities.override("m", tool_choice_required=True)
        await _ask(orchestrator, "required")
        assert server.requests[2].body["tool_choice"] == "required"


async def test_a_web_search_that_only_the_registry_knows_of_is_asked_for(made: Made) -> None:
    with WireServer(["Found it."]) as server:
        await made(server, supports_web_search=True).run("Search!", allow_web_search=True)
    assert "web_search_options" in server.requests[0].body


class Sleepy:
    """A backend that never answers, until it is awake."""

    def __init__(self) -> None:
        self.awake = False
        self.saved: dict[str, Any] = {}

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        await self._answer()
        return {}

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        await self._answer()
        self.saved |= facts

    async def _answer(self) -> None:
        if not self.awake:
            await asyncio.Event().wait()


async def test_a_backend_that_hangs_costs_a_run_a_part_of_its_time_and_is_reported_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    backend = Sleepy()
    store = CapabilityStore(backend=backend, fresh_for=0.5)
    fake = FakeModel(called("get_weather", {"city": "Rome"}), "Done.")
    async with Orchestrator(fake, [get_weather], capabilities=store) as orchestrator:
        result = await orchestrator.run("Weather?", budget=Budget(deadline=2.0))
        assert result.content == "Done."
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        backend.awake = True
        await asyncio.sleep(0.5)
    assert list(backend.saved[fake.endpoint.key]) == ["native_tools"]  # by the orchestrator's end


# Calls as text


def _usable(can: Capabilities, **settings: Any) -> tuple[str, ...]:
    registry = ModelRegistry.from_dict({"models": {"m": {"provider": "custom", "model": "y", **settings}}})
    (config,) = registry
    return usable_modes(config, can.updated(config.told))


def test_who_writes_calls_as_text_is_asked_for_text_first() -> None:
    writes = Capabilities(emits_text_calls=True)
    assert _usable(Capabilities()) == ("native_tools", "json_schema", "json_object", "text")
    assert _usable(writes) == ("text", "native_tools", "json_schema", "json_object")
    assert _usable(Capabilities(), expect_xml=True) == _usable(writes)
    assert _usable(Capabilities(emits_text_calls=False)) == _usable(Capabilities())


def test_an_order_of_the_users_own_stays() -> None:
    writes = Capabilities(emits_text_calls=True)
    assert _usable(writes, prefer_native_tools=True)[0] == "native_tools"
    assert _usable(writes, preferred_modes=["native_tools", "text"]) == ("native_tools", "text")
    assert _usable(Capabilities(), expect_xml=True, preferred_modes=["json_object", "text"]) == ("json_object", "text")


async def test_expect_xml_teaches_the_calls_from_the_first_request() -> None:
    fake = FakeModel(AS_TEXT, SUNNY)
    settings = {"provider": "fake", "model": "m", "expect_xml": True}
    orchestrator = Orchestrator({"models": {"m": settings}}, [get_weather], adapter=fake)
    assert _modes(await orchestrator.run("Weather in Paris?")) == ["text", "text"]


async def test_one_slip_of_a_model_that_calls_natively_changes_nothing() -> None:
    fake = FakeModel(
        called("get_weather", {"city": "Rome"}), "Done.", AS_TEXT, SUNNY, called("get_weather", {"city": "Rome"}), "Done."
    )
    orchestrator = Orchestrator(fake, [get_weather])
    for _ in range(3):
        assert _modes(await orchestrator.run("Weather?")) == ["native_tools"] * 2
    assert orchestrator.capabilities.learnt(fake.endpoint) == {"native_tools": True, "writes=hermes": True}


async def test_a_model_of_a_table_that_writes_its_calls_as_text_is_known_the_second_time() -> None:
    native = called("get_weather", {"city": "Rome"})
    fake = FakeModel(AS_TEXT, SUNNY, native, "Done.", AS_TEXT, SUNNY, AS_TEXT, SUNNY, AS_TEXT, SUNNY)
    models = {"models": {"m": {"provider": "openai", "model": "gpt-4o"}}}
    orchestrator = Orchestrator(models, [get_weather], adapter=fake, capabilities=CapabilityStore())
    modes = [_modes(await orchestrator.run("Weather in Paris?")) for _ in range(5)]
    assert modes == [["native_tools"] * 2] * 3 + [["native_tools", "text"], ["text"] * 2], "a native call begins the count anew"
    (config,) = orchestrator.models
    assert orchestrator.capabilities.learnt(config.endpoint) == {"emits_text_calls": True, "writes=hermes": True}


async def test_a_native_call_takes_back_that_calls_are_written_as_text() -> None:
    fake = FakeModel(called("get_weather", {"city": "Rome"}), "Done.")
    settings = {"provider": "fake", "model": "m", "preferred_modes": ["native_tools", "text"]}
    orchestrator = Orchestrator({"models": {"m": settings}}, [get_weather], adapter=fake)
    (config,) = orchestrator.models
    orchestrator.capabilities.record_success(config.endpoint, "emits_text_calls")
    await orchestrator.run("Weather?")
    assert orchestrator.capabilities.learnt(config.endpoint) == {"native_tools": True, "emits_text_calls": False}


# Tools that are ignored


async def test_a_required_call_that_comes_only_in_words_teaches_that_tools_are_ignored() -> None:
    fake = FakeModel("No.", ENVELOPED.format(calls=CALL, text=""), ENVELOPED.format(calls="", text="Done."))
    orchestrator = Orchestrator(fake, [get_weather], strategies=FAST)
    result = await orchestrator.run("Weather?", tool_choice="required")
    assert [(attempt.mode, attempt.reason) for attempt in result.attempts[:2]] == [
        ("native_tools", "first"),
        ("json_schema", "mode"),
    ]
    assert "ignore tools" in result.attempts[1].detail
    assert orchestrator.capabilities.learnt(fake.endpoint) == {"native_tools": False}


@pytest.mark.parametrize("typed", [False, True])
async def test_where_native_calls_are_known_to_be_made_the_second_time_teaches_it(typed: bool) -> None:
    """The first may be the slip of one reply: the call is asked for again. A native call in between begins the count anew."""

    value = ENVELOPED.format(calls='{"name": "final_result", "arguments": {"result": 3}}', text="")
    in_json = [value] if typed else [ENVELOPED.format(calls=CALL, text=""), ENVELOPED.format(calls="", text="Done.")]
    ignored = ["No.", "No."]
    fake = FakeModel(*ignored, *in_json, *ignored[not typed :], *in_json, *in_json, capabilities=Capabilities(native_tools=True))
    orchestrator = Orchestrator(fake, [get_weather], strategies=FAST)
    options: dict[str, Any] = {"output_type": int} if typed else {"tool_choice": "required"}
    runs = [_modes(await orchestrator.run("Weather?", **options)) for _ in range(3)]
    again = 2 if typed else 1  # words in place of a typed answer are asked about first
    assert [modes.count("native_tools") for modes in runs] == [2, again, 0]
    assert orchestrator.capabilities.learnt(fake.endpoint)["native_tools"] is False


async def test_a_format_beside_tools_that_is_ignored_is_learnt_the_second_time() -> None:
    can = Capabilities(native_tools=True, schema_with_tools=True, json_schema=True)
    value = ENVELOPED.format(calls='{"name": "final_result", "arguments": {"result": 3}}', text="")
    fake = FakeModel(*["No.", "No.", value] * 2, capabilities=can)
    orchestrator = Orchestrator(fake, [get_weather], strategies=FAST)
    for expected in ({}, {"schema_with_tools": False}):
        assert _modes(await orchestrator.run("How many?", output_type=int)) == ["native_tools", "native_tools", "json_schema"]
        assert orchestrator.capabilities.learnt(fake.endpoint) == expected


async def test_a_model_that_calls_nothing_in_any_mode_teaches_nothing_of_tools() -> None:
    fake = FakeModel(default="No.")
    orchestrator = Orchestrator(fake, [get_weather], strategies=FAST)
    await orchestrator.run("Weather?", tool_choice="required")
    assert "native_tools" not in orchestrator.capabilities.learnt(fake.endpoint)


@pytest.mark.parametrize(
    ("can", "settings"),
    [
        (Capabilities(native_tools=True), {}),
        (Capabilities(tool_choice_required=False), {}),  # that a call is required was never sent
        (Capabilities(), {"retry_with_different_format": False}),
        (Capabilities(), {"preferred_modes": ["native_tools"]}),
    ],
)
async def test_where_nothing_shows_that_tools_are_ignored_the_call_is_asked_for_again(can: Capabilities, settings: Any) -> None:
    fake = FakeModel("No.", called("get_weather", {"city": "Rome"}), "Done.", capabilities=can)
    registry = {"models": {"m": {"provider": "fake", "model": "m", **settings}}}
    result = await Orchestrator(registry, [get_weather], adapter=fake, strategies=FAST).run("Weather?", tool_choice="required")
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]


async def test_a_refusal_of_something_that_cannot_be_learnt_ends_no_run() -> None:
    fake = FakeModel(CapabilityRefused("no frobnication", capability="frobnicate"), "Done.")
    assert (await Orchestrator(fake, [get_weather], strategies=FAST).run("Go.")).content == "Done."
