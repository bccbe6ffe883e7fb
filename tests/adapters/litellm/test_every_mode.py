"""Every row of the provider table on a real socket, in every output mode that it supports: a program with a tool and a typed answer
ends well, and where the server refuses that mode, in words of ours or its own, the program ends well in the next one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore import Orchestrator
from llmcore.adapters import providers
from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities.known import known_capabilities
from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.providers import PROVIDERS
from llmcore.models.config import DEFAULT_MODES
from llmcore.types import OutputMode
from tests.adapters.conftest import EVERY_MODEL
from tests.helpers.shown import ANSWER, OWN_WORDS, REAL_WORDS, Refusal, format_of, mode_of, model
from tests.helpers.wire_server import Seen, Step, WireServer
from tests.run.support import FAST

pytestmark = pytest.mark.anyio


class Weather(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 12 degrees"


def at(provider: str) -> Endpoint:
    """Where the table's own words hold: at the provider's place, or at any for a server of the user's."""
    return Endpoint(provider=provider, model=EVERY_MODEL[provider], base_url=PROVIDERS[provider].needs_url or None)


def modes_of(provider: str) -> list[OutputMode]:
    """The modes that are not known to be missing."""
    can = known_capabilities(at(provider))
    return [mode for mode in DEFAULT_MODES if mode == "text" or getattr(can, mode) is not False]


EVERY: list[tuple[str, OutputMode]] = [(provider, mode) for provider in PROVIDERS for mode in modes_of(provider)]
REFUSED = [
    pytest.param(provider, mode, words, id=f"{provider}-{mode}-{whose}")
    for provider, mode in EVERY
    if mode != "text"
    for whose, words in (("own", OWN_WORDS), ("real", REAL_WORDS[provider][mode]))
]


@pytest.fixture(autouse=True)
def openais_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Here, so that OpenAI's own row is tried: elsewhere it is any server of its form."""
    monkeypatch.setitem(PROVIDERS, "openai", replace(PROVIDERS["openai"], hosts=("127.0.0.1",)))
    rows: Any = vars(providers)["_provider_of"]  # remembers the row of an endpoint
    rows.cache_clear()
    yield
    rows.cache_clear()


@pytest.fixture(autouse=True)
def signed_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Vertex AI what Google's package would give: it is no package of ours."""
    if "vertex_ai" not in request.node.name:
        return
    litellm_now()
    base: Any = import_module("litellm.llms.vertex_ai.vertex_llm_base")

    async def token(*_: object, **__: object) -> tuple[str, str]:
        return "token", "project"

    for name in ("google", "google.auth"):
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(base.VertexBase, "_ensure_access_token_async", token)


async def asked_in(
    provider: str, modes: list[OutputMode], script: Callable[[Seen], Step]
) -> tuple[list[OutputMode], dict[str, bool], Capabilities]:
    """The mode of each request that the program makes before it has its answer, what it has learnt by then, and what was known
    before."""
    with WireServer(script) as server:
        at = {"provider": provider, "model": EVERY_MODEL[provider], "base_url": server.base_url(provider), "api_key": "k"}
        async with Orchestrator(
            {"models": {"m": {**at, "preferred_modes": modes}}}, [get_weather], strategies=FAST
        ) as orchestrator:
            endpoint = orchestrator.models.get("m").endpoint
            known = orchestrator.capabilities.get(endpoint)
            value = await orchestrator.execute("Weather in Paris?", Weather)
            learnt = dict(orchestrator.capabilities.learnt(endpoint))
    assert value == Weather.model_validate(ANSWER)
    bodies = [json.dumps(seen.body, sort_keys=True) for seen in server.requests]
    assert len(set(bodies)) == len(bodies)
    return [mode_of(seen.body) for seen in server.requests], learnt, known


@pytest.mark.parametrize(("provider", "mode"), EVERY)
async def test_a_tool_and_a_typed_answer(provider: str, mode: OutputMode) -> None:
    assert (await asked_in(provider, [mode], model))[0] == [mode] * 2


@pytest.mark.parametrize(("provider", "mode", "words"), REFUSED)
async def test_the_next_mode_where_one_is_refused(provider: str, mode: OutputMode, words: Refusal) -> None:
    def script(seen: Seen) -> Step:
        return words.step if mode_of(seen.body) == mode else model(seen)

    modes = modes_of(provider)
    left = modes[modes.index(mode) :]
    asked, learnt, known = await asked_in(provider, left, script)
    is_native = mode == "native_tools"
    # words that nobody knows may be of what stands beside the mode, so the mode is asked once without that
    holds_more = (
        known.tool_choice_required is not False or known.schema_with_tools
        if is_native
        else mode == "json_schema" and PROVIDERS[provider].output_dialect == "openai_strict"
    )
    of_a_template = "jinja template" in str(words.body)  # this prompt may have broken it, or any
    refused = [mode] * (1 + bool(holds_more and (words is OWN_WORDS or of_a_template)))
    # one refusal that nobody knows may have passed: the next turn looks
    looks = words is OWN_WORDS and len(refused) == 1
    looks = looks or (words.teaches is None and asked.count(mode) > len(refused))
    assert asked == [*refused, left[1], *[mode] * looks, left[1]]
    is_learnt = words.teaches or words is OWN_WORDS or looks or (of_a_template and len(refused) > 1)
    refused_sets = [name for name, value in learnt.items() if not value]
    assert any((words.teaches or mode) in name.split("+") for name in refused_sets) is bool(is_learnt)
    assert learnt.get("tool_choice_required") is not False


BOTH = [
    provider
    for provider, mode in EVERY
    if mode == "native_tools"
    and known_capabilities(at(provider)).schema_with_tools
    and REAL_WORDS[provider]["json_schema"].teaches
]


@pytest.mark.parametrize("provider", BOTH)
async def test_a_format_that_is_refused_beside_tools_is_left_out(provider: str) -> None:
    """The tools stay native: the answer is then asked for as a call."""

    def script(seen: Seen) -> Step:
        return REAL_WORDS[provider]["json_schema"].step if format_of(seen.body) else model(seen)

    asked, _, _ = await asked_in(provider, modes_of(provider), script)
    assert asked == ["native_tools"] * 3


async def test_what_a_table_promises_and_a_server_refuses_in_unknown_words_is_known_by_the_third_run() -> None:
    provider = "mistral"

    def script(seen: Seen) -> Step:
        return model(seen) if mode_of(seen.body) == "text" else OWN_WORDS.step

    with WireServer(script) as server:
        at = {"provider": provider, "model": EVERY_MODEL[provider], "base_url": server.base_url(provider), "api_key": "k"}
        async with Orchestrator({"models": {"m": at}}, [get_weather], strategies=FAST) as orchestrator:
            runs = [await orchestrator.run("Weather in Paris?", output_type=Weather) for _ in range(3)]
    assert [(attempt.mode, attempt.failure) for attempt in runs[2].attempts] == [("text", None)] * 2
