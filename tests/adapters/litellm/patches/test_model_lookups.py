"""What a model is: LiteLLM asks servers, and the patched one asks nobody in a call of ours."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.litellm.patches.model_lookups import PATCHES
from llmcore.adapters.litellm.patches.patch import Patch
from tests.adapters.conftest import WEATHER, call_of, endpoint_at
from tests.adapters.litellm.patches.conftest import Unpatch, watched
from tests.helpers.wire_server import WireServer
from tests.helpers.wires import Turn

pytestmark = pytest.mark.anyio

MODEL = "a-model-that-is-in-no-table"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that LiteLLM looks up. Nobody answers."""
    litellm_now()
    handlers: Any = import_module("litellm.llms.custom_httpx.http_handler")
    urls: list[str] = []

    def refuse(*_: Any, url: str = "", **__: Any) -> None:
        urls.append(url)
        raise OSError(url)

    async def refuse_async(*_: Any, url: str = "", **__: Any) -> None:
        refuse(url=url)

    for name in ("get", "post"):
        monkeypatch.setattr(handlers.HTTPHandler, name, refuse)
    monkeypatch.setattr(handlers.AsyncHTTPHandler, "get", refuse_async)
    return urls


async def look_up(patch: Patch) -> None:
    owner = patch.find_owner()
    function = getattr(owner() if inspect.isclass(owner) else owner, patch.name)
    try:
        found = function(MODEL)
        if inspect.isawaitable(found):
            await found
    except OSError:
        pass


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: f"{patch.module}.{patch.name}")
async def test_litellm_asks_a_server(patch: Patch, asked: list[str], unpatch: Unpatch) -> None:
    unpatch("model_lookups")
    with watched():
        await look_up(patch)
    assert asked


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: f"{patch.module}.{patch.name}")
async def test_in_a_call_of_ours_it_asks_nobody(patch: Patch, asked: list[str]) -> None:
    with watched():
        await look_up(patch)
    assert asked == []
    await look_up(patch)
    assert asked


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_request_to_ollama_looks_nothing_up(
    adapter: LiteLLMAdapter, streamed: bool, tools: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of a stream LiteLLM would ask Ollama, wherever it stands: nothing else answers meanwhile."""
    module = litellm_now()
    asked: list[str] = []

    def post(*_: Any, url: str, **__: Any) -> None:
        asked.append(url)
        raise OSError(url)

    monkeypatch.setattr(module.module_level_client, "post", post)
    with WireServer([Turn("Hello.")]) as server:
        call = call_of(endpoint_at(server, "ollama", MODEL), streamed=streamed, tools=(WEATHER,) if tools else ())
        if streamed:
            events = [event async for event in adapter.stream(call)]
            assert events[-1] != events[0]
        else:
            await adapter.complete(call)
    assert asked == []
    assert server.looked_up == []
