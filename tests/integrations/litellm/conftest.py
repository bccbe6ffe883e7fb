"""What the tests of LiteLLM share: one litellm, functions restored, and nothing left open."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Iterator
from inspect import iscoroutinefunction

import pytest
from pydantic import PydanticDeprecatedSince211

from llmcore.adapters.litellm.engine import close_clients
from llmcore.adapters.litellm.patches.diagnostics import filter_warnings
from llmcore.integrations import litellm as integration
from tests.integrations.litellm.support import litellm


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    filter_warnings()  # LiteLLM's own, which pytest makes errors
    warnings.filterwarnings("ignore", category=PydanticDeprecatedSince211)
    before = (litellm.completion, litellm.acompletion)
    yield
    integration.unwrap()
    assert (litellm.completion, litellm.acompletion) == before


@pytest.fixture(autouse=True)
def _closed_sync_clients() -> Iterator[None]:
    yield
    cache = litellm.in_memory_llm_clients_cache
    for key, client in [*cache.cache_dict.items()]:
        if not iscoroutinefunction(getattr(client, "close", None)):
            client.close()
            cache.delete_cache(key)


@pytest.fixture(autouse=True)
def _closed_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """LiteLLM's sync functions ask for an event loop, and leave the one that Python makes open."""
    if iscoroutinefunction(request.function):
        yield
        return
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
async def closed_clients(anyio_backend: str) -> AsyncIterator[None]:
    """Closes what LiteLLM leaves open on the test's event loop."""
    yield
    await close_clients()
