"""A request goes to the server it is for, and to no other: a redirect would take the prompt and the keys along, as would a provider
that LiteLLM knows one place for."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.litellm.patches.http_transport import same_server
from llmcore.adapters.wire.traffic_watch import TrafficWatch
from llmcore.types import DEFAULT_LIMITS, ConfigError, RemoteServerError, Request
from tests.adapters.conftest import KEY, PROVIDERS, call_of, endpoint_at
from tests.adapters.litellm.patches.conftest import Unpatch
from tests.helpers.wire_server import Failure, Turn, WireServer

HEADERS = {"X-Gate": "gateSecret99"}


async def asked(adapter: LiteLLMAdapter, call: ModelCall, *, streamed: bool) -> None:
    if streamed:
        _ = [event async for event in adapter.stream(call)]
    else:
        await adapter.complete(call)


@pytest.mark.anyio
@pytest.mark.parametrize("client", ["LiteLLM's", "the OpenAI SDK's"])
async def test_litellm_follows_a_redirect_to_another_server_with_prompt_and_keys(
    adapter: LiteLLMAdapter, client: str, unpatch: Unpatch
) -> None:
    unpatch("http_transport")
    provider = "openai" if client == "the OpenAI SDK's" else "anthropic"
    request = Request.model_validate({"messages": "my prompt", "extra_headers": HEADERS})
    with WireServer([Turn("hi")]) as other:
        away = Failure(307, "", {"Location": f"{other.base_url(provider)}{PATHS[provider]}"})
        with WireServer([away]) as server:
            await asked(adapter, call_of(endpoint_at(server, provider), request), streamed=False)
        (followed,) = other.requests
    assert "my prompt" in str(followed.body)
    assert HEADERS.items() <= {name.title(): value for name, value in followed.headers.items()}.items()


@pytest.mark.anyio
@pytest.mark.parametrize("patched", [False, True], ids=["LiteLLM's own", "patched"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_litellm_keeps_nothing_of_what_the_server_sent(
    adapter: LiteLLMAdapter, provider: str, patched: bool, unpatch: Unpatch
) -> None:
    del adapter  # it closes the clients
    if not patched:
        unpatch("http_transport")
    module, watch = litellm_now(), TrafficWatch(DEFAULT_LIMITS, streamed=False, known=True)
    with WireServer([Turn("hi")]) as server, watch.active():
        endpoint = endpoint_at(server, provider)
        asked: dict[str, Any] = {"model": f"{provider}/{endpoint.model}", "messages": [{"role": "user", "content": "x"}]}
        await module.acompletion(**asked, api_key="k", api_base=endpoint.base_url)
    assert (watch.exchange is not None) is patched
    assert watch.exchange is None or b"hi" in watch.exchange.body


@pytest.mark.anyio
@pytest.mark.parametrize("status", [302, 307, 308])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "groq", "ollama"])
async def test_another_server_gets_nothing(adapter: LiteLLMAdapter, provider: str, streamed: bool, status: int) -> None:
    request = Request.model_validate({"messages": "hi", "extra_headers": HEADERS})
    with WireServer([Turn("hi")]) as other:
        away = Failure(status, "", {"Location": f"{other.root}/v1/elsewhere?key=urlSecret1"})
        with WireServer([away]) as server:
            with pytest.raises(RemoteServerError, match=f"redirects to {other.root}/, which is another one") as caught:
                await asked(adapter, call_of(endpoint_at(server, provider), request), streamed=streamed)
            assert len(server.requests) == 1
        assert other.requests == []
    assert "urlSecret1" not in str(caught.value)
    assert caught.value.lasting


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", sorted({"openai", "anthropic", "groq"} & set(PROVIDERS)))
async def test_a_server_may_move_within_itself(adapter: LiteLLMAdapter, provider: str, streamed: bool) -> None:
    moved = Failure(307, "", {"Location": ""})
    with WireServer([moved, Turn("hi")]) as server:
        call = call_of(endpoint_at(server, provider))
        moved.headers["Location"] = f"{server.base_url(provider)}{PATHS[provider]}"
        await asked(adapter, call, streamed=streamed)
        assert len(server.requests) == 2


PATHS = {"openai": "/chat/completions", "anthropic": "/v1/messages", "groq": "/chat/completions"}


@pytest.mark.parametrize(
    ("url", "other", "same"),
    [
        ("https://a.example/v1", "https://a.example/v2?x=1", True),
        ("https://a.example/v1", "https://a.example:443/v1", True),
        ("http://a.example/v1", "https://a.example/v1", True),
        ("http://a.example:8080/v1", "https://a.example:8080/v1", False),
        ("https://a.example/v1", "http://a.example/v1", False),
        ("https://a.example/v1", "https://a.example:444/v1", False),
        ("https://a.example/v1", "https://b.a.example/v1", False),
        ("https://a.example/v1", "https://a.example@b.example/v1", False),
    ],
)
def test_what_one_server_is(url: str, other: str, same: bool) -> None:
    assert same_server(httpx.URL(url), httpx.URL(other)) is same


def test_the_port_of_another_server_is_no_status() -> None:
    """LiteLLM looks for "403" in all of an error's text for Gemini."""
    words = (
        "the server redirects to http://127.0.0.1:44037/, which is another one, so nothing was sent there: make it the base_url"
    )
    error = httpx.HTTPStatusError(
        words, request=httpx.Request("POST", "http://x"), response=httpx.Response(403, json={"error": {"message": words}})
    )
    assert isinstance(classify(error), RemoteServerError)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("provider", "host", "streamed"),
    [
        ("replicate", "api.replicate.com", False),
        ("replicate", "api.replicate.com", True),
        ("bytez", "api.bytez.com", False),
    ],
)
async def test_a_base_url_that_litellm_passes_over_is_an_error_and_nothing_is_sent(
    adapter: LiteLLMAdapter, provider: str, host: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []

    def look_up(name: object, *_: object, **__: object) -> object:
        looked_up.append(str(name))
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    endpoint = Endpoint.model_validate({"provider": provider, "model": "a/b", "base_url": "http://127.0.0.1:9", "api_key": KEY})
    with pytest.raises(ConfigError, match=f"{provider}: LiteLLM would send this to https://{host}.*nothing was sent"):
        await asked(adapter, call_of(endpoint, tools=()), streamed=streamed)
    assert looked_up == []
