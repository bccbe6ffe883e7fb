"""Keys and limits: each refusal has the shape of its wire, and comes before a server is asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from llmcore.gateway.admission import Admission
from llmcore.gateway.settings import GatewaySettings
from llmcore.gateway.wires import GatewayError
from llmcore.types.shared.rates import LocalRateLimit
from tests.gateway.support import BY_NAME, PATHS, SECONDS, HangingServer, asked, gateway, whole
from tests.gateway.test_pass_through import message_of
from tests.helpers.wire_server import WireServer

WIRES = pytest.mark.parametrize("name", list(PATHS))
SETTINGS: dict[str, Any] = {
    "keys": {"team-a": "key-of-team-a", "team-b": "key-of-team-b"},
    "limits": {"body": 20_000, "messages": 3},
}
HEADERS = {"authorization": "Bearer key-of-team-b"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with gateway("http://127.0.0.1:9/v1", SETTINGS) as client:
        yield client


@WIRES
@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"{", 400, "no JSON object"),
        (b"[1]", 400, "no JSON object"),
        (b"\xff", 400, "no JSON object"),
        (b'{"messages": []}', 400, "`model` must be"),
        (b'{"model": 3}', 400, "`model` must be"),
        (b'{"model": "m"}', 400, "must be a list"),
        (b'{"model": "m", "messages": {}, "input": 7}', 400, "must be a list"),
        (b'{"model": "m", "messages": [1,2,3,4], "input": [1,2,3,4]}', 400, "has 4 entries, the gateway's limit is 3"),
        (b'{"model": "n", "messages": [], "input": []}', 404, "there is no model 'n'; the registry has: m"),
        (b" " * 20_001, 413, "larger than 20000 bytes"),
    ],
)
def test_a_request_that_is_refused(client: httpx.Client, name: str, content: bytes, status: int, words: str) -> None:
    answer = client.post(PATHS[name], content=content, headers=HEADERS)
    assert answer.status_code == status
    assert words in message_of(name, answer.json())


@WIRES
def test_a_body_without_a_length_is_counted_while_it_arrives(client: httpx.Client, name: str) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(21):
            yield b" " * 1000

    answer = client.post(PATHS[name], content=parts(), headers=HEADERS)
    assert answer.status_code == 413
    assert "larger than 20000 bytes" in message_of(name, answer.json())


@WIRES
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"x-api-key": "key-of-team-"},
        {"authorization": "Basic key-of-team-a"},
        {"x-api-key": "ü".encode()},
    ],
)
def test_a_missing_or_wrong_key(client: httpx.Client, name: str, headers: dict[str, str | bytes]) -> None:
    raw = [(key.encode(), value.encode() if isinstance(value, str) else value) for key, value in headers.items()]
    answer = client.post(PATHS[name], json=asked(name), headers=raw)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "key" in message_of(name, answer.json())
    kind = answer.json()["error"]["type"]
    assert kind == ("authentication_error" if name == "anthropic" else "invalid_request_error")


@pytest.mark.parametrize("headers", [HEADERS, {"x-api-key": "key-of-team-a"}, {"authorization": "bearer  key-of-team-a"}])
def test_a_known_key_in_either_header(client: httpx.Client, headers: dict[str, str]) -> None:
    assert client.post(PATHS["anthropic"], json=asked("anthropic"), headers=headers).status_code == 502  # nobody listens there
    assert client.get("/v1/models", headers=headers).status_code == 200


def test_what_needs_no_key_and_what_does(client: httpx.Client) -> None:
    assert client.head("/").status_code == 200
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/metrics").status_code == 200
    assert client.get("/v1/models").status_code == client.get("/v1/models/m").status_code == 401
    assert client.get("/v1/models", headers={"anthropic-version": "1"}).json()["type"] == "error"


def test_models_have_the_forms_of_both_apis(client: httpx.Client) -> None:
    body = client.get("/v1/models", headers=HEADERS).json()
    (model,) = body["data"]
    assert (body["object"], body["has_more"], body["first_id"]) == ("list", False, "m")
    assert (model["id"], model["object"], model["type"], model["owned_by"]) == ("m", "model", "model", "vllm")
    assert client.get("/v1/models/m", headers=HEADERS).json() == model
    assert client.get("/v1/models/x", headers=HEADERS).status_code == 404


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v1/messages", 405), ("POST", "/v1/nothing", 404)])
def test_a_path_that_does_not_exist(client: httpx.Client, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    message_of("anthropic" if "messages" in path else "openai-chat", answer.json())


@WIRES
def test_too_many_requests_in_flight(name: str) -> None:
    ends = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"
    with HangingServer(then=[ends]) as server, gateway(server.base_url, {"limits": {"in_flight": 1}}) as client:
        first = threading.Thread(target=_ignore_errors, args=(client, name), daemon=True)
        first.start()
        assert server.was_asked.wait(SECONDS)
        answer = client.post(PATHS[name], json=asked(name))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert "in flight" in message_of(name, answer.json())
        assert client.get("/health").status_code == 200
        server.go_on.set()


def _ignore_errors(client: httpx.Client, name: str) -> None:
    with contextlib.suppress(httpx.HTTPError):  # the test ends first
        client.post(PATHS[name], json=asked(name))


def test_the_rate_of_one_key_does_not_touch_another() -> None:
    settings = {**SETTINGS, "limits": {"requests_per_minute": 2}}
    with WireServer([whole(BY_NAME["anthropic"], "Hi.")]) as server, gateway(f"{server.root}/v1", settings) as client:
        answers = [client.post(PATHS["anthropic"], json=asked("anthropic"), headers=HEADERS) for _ in range(3)]
        other = client.post(PATHS["anthropic"], json=asked("anthropic"), headers={"x-api-key": "key-of-team-a"})
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30
    assert answers[2].json()["error"]["type"] == "rate_limit_error"
    assert other.status_code == 200


@pytest.mark.anyio
async def test_the_rate_over_time() -> None:
    now = [100.0]
    waits: list[float] = []
    admission = Admission(GatewaySettings(), LocalRateLimit(60, lambda: now[0]))

    async def asks() -> int:
        for admitted in range(1000):
            try:
                async with admission.admitted("a"):
                    pass
            except GatewayError as error:
                waits.append(error.retry_after or 0.0)
                return admitted
        return 1000

    assert await asks() == 60, "a minute's allowance may come at once"
    assert await asks() == 0
    now[0] += 10.0
    assert await asks() == 10
    now[0] += 1000.0
    assert await asks() == 60
    assert all(0 < wait <= 1.0 for wait in waits)
    assert admission.in_flight == 0
