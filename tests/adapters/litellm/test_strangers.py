"""What stands in the environment goes to a provider's own hosts only, and to no server that a `base_url` names."""

from __future__ import annotations

import socket

import pytest

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.providers import is_host_of, provider_of
from llmcore.adapters.request.outgoing import Outgoing
from llmcore.adapters.request.parameters import prepare
from llmcore.types import AuthenticationFailed, ConfigError, RemoteServerError, Request
from tests.adapters.conftest import KEY, PROVIDERS, call_of, endpoint_at
from tests.helpers.wire_server import Failure, WireServer

OF_OPENAI = ("openai-organization", "openai-project")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-environment")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "token-of-the-environment")


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", sorted({"openai", "azure", "openai_compatible", "vllm"} & {*PROVIDERS}))
async def test_openais_organization_is_told_to_nobody_else(adapter: LiteLLMAdapter, provider: str, streamed: bool) -> None:
    request = Request.model_validate({"messages": "hi", "extra_headers": {"OpenAI-Project": "project-of-the-caller"}})
    with WireServer(["Hi", "Hi"]) as server:
        for asked in ("hi", request):
            call = call_of(endpoint_at(server, provider), asked)
            if streamed:
                _ = [event async for event in adapter.stream(call)]
            else:
                await adapter.complete(call)
        sent = [{name.lower(): value for name, value in one.headers.items()} for one in server.requests]
    assert [[headers.get(name) for name in OF_OPENAI] for headers in sent] == [[None, None], [None, "project-of-the-caller"]]


@pytest.mark.parametrize(("provider", "what"), [("bedrock", "AWS_BEARER_TOKEN_BEDROCK"), ("vertex_ai", "sign-in")])
def test_a_token_of_the_environment_goes_to_no_stranger(provider: str, what: str) -> None:
    endpoint = Endpoint(provider=provider, model="a.b", base_url="http://127.0.0.1:9", alias="m")
    with pytest.raises(AuthenticationFailed, match=f"{what} is only sent to {provider}'s own hosts, so nothing was sent"):
        prepare(call_of(endpoint), Capabilities())
    at_home = endpoint.model_copy(update={"base_url": "https://us-east-1.amazonaws.com/x", "provider": "bedrock"})
    assert prepare(call_of(at_home), Capabilities()).arguments["api_key"] is None


def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    looked_up: list[str] = []

    def look_up(name: object, *_: object, **__: object) -> object:
        looked_up.append(str(name))
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return looked_up


WITH_HOSTS = sorted(
    name for name in PROVIDERS if (row := provider_of(Endpoint(provider=name, model="m"))).hosts and not row.needs_url
)


@pytest.mark.anyio
@pytest.mark.parametrize("provider", WITH_HOSTS)
async def test_without_a_base_url_a_request_goes_to_the_providers_own_hosts(
    adapter: LiteLLMAdapter, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = no_network(monkeypatch)
    endpoint = Endpoint.model_validate({"provider": provider, "model": PROVIDERS[provider], "api_key": KEY})
    with pytest.raises(RemoteServerError):
        await adapter.complete(call_of(endpoint))
    hosts = provider_of(endpoint).hosts
    assert looked_up
    assert all(any(is_host_of(host, domain) for domain in hosts) for host in looked_up)


@pytest.mark.anyio
@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_BASE_URL"), ("groq", "GROQ_API_BASE")])
async def test_a_variable_that_names_the_providers_server_is_told_as_the_place(
    adapter: LiteLLMAdapter, provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WireServer(["Hi", Failure(401, '{"error": {"message": "who are you"}}')]) as server:
        monkeypatch.setenv(variable, server.base_url(provider))
        endpoint = Endpoint.model_validate({"provider": provider, "model": PROVIDERS[provider], "api_key": KEY})
        await adapter.complete(call_of(endpoint))
        with pytest.raises(AuthenticationFailed, match=f"at {server.base_url(provider)}: the server does not let us in"):
            await adapter.complete(call_of(endpoint))
        assert len(server.requests) == 2
        assert endpoint.key == f"{server.base_url(provider)}|{PROVIDERS[provider]}"


def test_a_detour_that_no_such_variable_names_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROXY", "http://127.0.0.1:9/v1")
    endpoint = Endpoint.model_validate({"provider": "openai", "model": "gpt-4o", "api_key": KEY})
    outgoing = Outgoing(call_of(endpoint), prepare(call_of(endpoint), Capabilities()))
    with pytest.raises(
        ConfigError, match=r"openai: the environment \(SOME_PROXY\) would send this to http://127.0.0.1:9, so nothing"
    ):
        outgoing.outgoing_body("http://127.0.0.1:9/v1/chat/completions", b"{}", signed=False)
    assert outgoing.outgoing_body("https://api.openai.com/v1/chat/completions", b"{}", signed=False) == b"{}"


def test_a_key_that_was_given_goes_in_place_of_a_token() -> None:
    url = "http://127.0.0.1:9"
    endpoint = Endpoint.model_validate({"provider": "vertex_ai", "model": "gemini-2.5-pro", "base_url": url, "api_key": KEY})
    made = [(b"Authorization", b"Bearer token-of-the-environment"), (b"X-Other", b"1")]

    def leaving(endpoint: Endpoint) -> list[tuple[bytes, bytes]]:
        return Outgoing(call_of(endpoint), prepare(call_of(endpoint), Capabilities())).headers(made)

    assert leaving(endpoint) == [(b"X-Other", b"1"), (b"authorization", f"Bearer {KEY}".encode())]
    assert leaving(endpoint.model_copy(update={"base_url": None})) == made
    at_home = endpoint.model_copy(update={"base_url": "https://us-central1-aiplatform.googleapis.com"})
    assert leaving(at_home) == made
