"""Pass-through: calls in text become native ones on each wire, and all else stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.support import (
    ABOUT,
    BY_NAME,
    CALL_TEXT,
    PATHS,
    SECONDS,
    HangingServer,
    asked,
    events_of,
    gateway,
    streamed,
    whole,
)
from tests.helpers.wire_server import Failure, Raw, WireServer

WIRES = pytest.mark.parametrize("name", list(PATHS))


@WIRES
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_call_in_text_becomes_a_native_one(name: str, streams: bool) -> None:
    wire = BY_NAME[name]
    reply = streamed(wire, CALL_TEXT) if streams else whole(wire, CALL_TEXT, own_field={"of": ["the", "server"]})
    with WireServer([reply]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams))
    assert answer.status_code == 200
    read = wire.read_events(events_of(answer.content)) if streams else wire.read_body(answer.json())
    assert (read.calls, read.text.strip(), read.end) == ([("get_weather", {"city": "Paris", "days": 3})], "I look.", wire.ends[0])
    if streams:
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-cache"
        assert "content-length" not in answer.headers
    else:
        assert answer.json()["own_field"] == {"of": ["the", "server"]}


@WIRES
def test_the_server_gets_every_field_and_the_gateways_key(name: str) -> None:
    odd = {"number": 1.5, "list": [None, {"ä": "\u2028"}], "big": 12345678901234567890}
    with WireServer([whole(BY_NAME[name], "Hi.")]) as server, gateway(f"{server.root}/v1", KEYS) as client:
        headers = {"authorization": "Bearer client-key-1", "cookie": "a=b", "anthropic-beta": "new-1", "traceparent": "00-1"}
        client.post(f"{PATHS[name]}?beta=true", json=asked(name, field_of_tomorrow=odd), headers=headers)
        (seen,) = server.requests
    assert seen.body == {**asked(name), "field_of_tomorrow": odd, "model": "served-model"}
    assert seen.path == f"{PATHS[name]}?beta=true"
    assert seen.headers["authorization"] == "Bearer sk-upstream-key"
    assert (seen.headers["anthropic-beta"], seen.headers["traceparent"]) == ("new-1", "00-1")
    assert "cookie" not in seen.headers
    assert "client-key-1" not in str(seen.headers)


KEYS = {"keys": {"one": "client-key-1"}}


@WIRES
@pytest.mark.parametrize("tools", [False, True], ids=["without tools", "text about a call"])
def test_what_need_not_change_passes_byte_for_byte(name: str, tools: bool) -> None:
    fields: dict[str, Any] = {} if tools else {"tools": None}
    reply = streamed(BY_NAME[name], "It is sunny." if tools else CALL_TEXT)
    with WireServer([reply]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name, stream=True, **fields))
    assert answer.content == b"".join(reply.frames)


@WIRES
def test_repairs_are_in_a_header_and_in_a_field(name: str) -> None:
    text = CALL_TEXT.replace('"days": 3}', '"days": 3,}')
    with (
        WireServer([whole(BY_NAME[name], text), streamed(BY_NAME[name], text)]) as server,
        gateway(f"{server.root}/v1") as client,
    ):
        answer = client.post(PATHS[name], json=asked(name))
        stream = client.post(PATHS[name], json=asked(name, stream=True))
    assert answer.headers["x-llmcore-repairs"] == "trailing_comma:lossless"
    events = [event.get("response", event) for event in events_of(stream.content)]
    (field,) = [event["llmcore"] for event in events if "llmcore" in event]
    for found in (answer.json()["llmcore"], field):
        (call,) = found["calls"]
        assert (call["name"], call["dialect"]) == ("get_weather", "hermes")
        assert [(repair["kind"], repair["safety"]) for repair in call["repairs"]] == [("trailing_comma", "lossless")]


@WIRES
def test_a_withheld_call_is_reported_and_stays_text(name: str) -> None:
    with WireServer([whole(BY_NAME[name], ABOUT)]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name)).json()
    assert BY_NAME[name].read_body(answer).text == ABOUT
    assert [(each["name"], each["reason"]) for each in answer["llmcore"]["withheld"]] == [("get_weather", "guess")]


def message_of(name: str, body: dict[str, Any]) -> str:
    """The message of an error in the wire's own shape."""
    if name == "anthropic":
        assert body["type"] == "error"
        assert body["error"].keys() == {"type", "message"}
    else:
        assert body.keys() == {"error"}
        assert body["error"].keys() == {"message", "type", "param", "code"}
    return str(body["error"]["message"])


@WIRES
def test_a_server_that_is_down(name: str) -> None:
    with gateway("http://127.0.0.1:9/v1") as client:
        answer = client.post(PATHS[name], json=asked(name, stream=True))
    assert answer.status_code == 502
    assert "'m' cannot be reached" in message_of(name, answer.json())


@WIRES
def test_a_whole_reply_that_is_cut(name: str) -> None:
    reply = Raw([b'{"choices": ['], ending="length")
    with WireServer([reply]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name))
    assert answer.status_code == 502
    assert "broke the reply off" in message_of(name, answer.json())


@WIRES
@pytest.mark.parametrize("ending", ["dropped", "close"])
@pytest.mark.parametrize("tools", [False, True])
def test_a_stream_that_is_cut_ends_with_an_error_of_the_wire(name: str, ending: str, tools: bool) -> None:
    parts = b"".join(streamed(BY_NAME[name], CALL_TEXT).frames).split(b"\n\n")
    half = b"\n\n".join(parts[: len(parts) // 2]) + b"\n\n"
    fields: dict[str, Any] = {} if tools else {"tools": None}
    with (
        WireServer([Raw([half], "text/event-stream", ending=ending)]) as server,
        gateway(f"{server.root}/v1") as client,
    ):
        answer = client.post(PATHS[name], json=asked(name, stream=True, **fields))
    assert answer.status_code == 200
    *_, last = events_of(answer.content)
    if name == "openai-responses":
        assert (last["type"], last["code"]) == ("error", "upstream_cut")
        numbers = [event["sequence_number"] for event in events_of(answer.content)]
        assert numbers == sorted(set(numbers))
    else:
        assert "model's server" in message_of(name, last)
    assert b"event: error\n" in answer.content or name == "openai-chat"


@WIRES
def test_an_error_of_the_server_passes(name: str) -> None:
    own = {"type": "error", "error": {"type": "invalid_request_error", "message": "too hot", "param": "temperature"}}
    with WireServer([Failure(400, own, {"retry-after": "7", "x-own": "1"})]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name))
    assert (answer.status_code, answer.json(), answer.headers["retry-after"]) == (400, own, "7")
    assert "x-own" not in answer.headers


@WIRES
@pytest.mark.parametrize(
    ("status", "body", "told", "words"),
    [
        (401, {"error": {"message": "bad key sk-upst***"}}, 502, "refused the gateway's key"),
        (404, {"detail": "Not Found"}, 404, "gateway.models.m.mode: orchestrated"),
        (500, "<html>", 500, "answered HTTP 500"),
        (302, "", 502, "answered HTTP 302"),
    ],
)
def test_an_error_of_another_shape_takes_the_wires(name: str, status: int, body: Any, told: int, words: str) -> None:
    with WireServer([Failure(status, body)]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name))
    assert answer.status_code == told
    assert words in message_of(name, answer.json())
    assert "sk-upst" not in answer.text


def test_the_next_deployment_is_asked_if_one_cannot_be_reached() -> None:
    with WireServer([whole(BY_NAME["openai-chat"], "Hi.")]) as server:
        places = [{"base_url": "http://127.0.0.1:9/v1"}, {"base_url": f"{server.root}/v1"}]
        with gateway(f"{server.root}/v1", deployments=places) as client:
            assert client.post(PATHS["openai-chat"], json=asked("openai-chat")).status_code == 200


@pytest.mark.parametrize(("settings", "is_kept"), [({}, False), ({"default": {"built_in_tools": "pass"}}, True)])
def test_built_in_tools_do_not_reach_a_server_of_ones_own(settings: dict[str, Any], is_kept: bool) -> None:
    body = asked("anthropic")
    tools = body["tools"]
    search = {"type": "web_search_20250305", "name": "web_search"}
    with WireServer([whole(BY_NAME["anthropic"], "Hi.")]) as server, gateway(f"{server.root}/v1", settings) as client:
        answer = client.post(PATHS["anthropic"], json={**body, "tools": [*tools, search]})
        client.post(PATHS["anthropic"], json={**body, "tools": [search], "tool_choice": {"type": "auto"}})
        first, second = server.requests
    assert first.body["tools"] == ([*tools, search] if is_kept else tools)
    assert second.body.get("tools") == ([search] if is_kept else None)
    assert ("tool_choice" in second.body) is is_kept
    assert answer.headers.get("x-llmcore-dropped") == (None if is_kept else "web_search_20250305")


def test_tokens_are_counted_by_the_server() -> None:
    with WireServer([Raw([b'{"input_tokens": 14}'])]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post("/v1/messages/count_tokens?beta=true", json=asked("anthropic", max_tokens=None))
        assert server.requests[0].path == "/v1/messages/count_tokens?beta=true"
    assert answer.json() == {"input_tokens": 14}


def test_tokens_are_estimated_if_the_server_cannot_count() -> None:
    body = asked("anthropic", system="x" * 4000)
    with WireServer([Failure(404, {"detail": "Not Found"})]) as server, gateway(f"{server.root}/v1") as client:
        answers = [client.post("/v1/messages/count_tokens", json=body) for _ in range(3)]
        assert len(server.requests) == 1, "it is asked once"
    assert {answer.status_code for answer in answers} == {200}
    assert 1000 < answers[0].json()["input_tokens"] < 1300
    assert answers[0].headers["x-llmcore-estimated"] == "input_tokens"


def test_a_server_that_is_too_slow() -> None:
    with (
        WireServer([Raw([b"{}"], pause=SECONDS)]) as server,
        gateway(f"{server.root}/v1", timeout=0.1) as client,
    ):
        answer = client.post(PATHS["openai-chat"], json=asked("openai-chat"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timeout")


@pytest.mark.parametrize(
    "parts", [[], [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"]], ids=["nothing", "a head"]
)
def test_a_stream_whose_first_piece_does_not_come(parts: list[bytes]) -> None:
    with HangingServer(parts) as server, gateway(server.base_url, first_token_timeout=0.2) as client:
        answer = client.post(PATHS["openai-chat"], json=asked("openai-chat", stream=True))
        assert server.was_freed.wait(SECONDS)
    assert answer.status_code == (200 if parts else 504)
    error = events_of(answer.content)[-1] if parts else answer.json()
    assert "sent nothing within 0.2 seconds" in message_of("openai-chat", error)


@WIRES
def test_an_error_of_the_server_in_a_stream_is_the_last_event(name: str) -> None:
    start = b"\n\n".join(streamed(BY_NAME[name], "Some words of a reply.").frames[0].split(b"\n\n")[:2]) + b"\n\n"
    error = {
        "openai-chat": b'data: {"error": {"message": "out of memory"}}\n\n',
        "openai-responses": b'event: error\ndata: {"type": "error", "message": "out of memory"}\n\n',
        "anthropic": b'event: error\ndata: {"type": "error", "error": {"type": "api_error", "message": "out of memory"}}\n\n',
    }
    reply = Raw([start + error[name]], "text/event-stream")
    with WireServer([reply]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS[name], json=asked(name, stream=True))
    assert "out of memory" in str(events_of(answer.content)[-1])
    assert answer.content.count(b"out of memory") == 1


def test_a_server_that_does_not_stream_answers_whole() -> None:
    with WireServer([whole(BY_NAME["openai-chat"], CALL_TEXT)]) as server, gateway(f"{server.root}/v1") as client:
        answer = client.post(PATHS["openai-chat"], json=asked("openai-chat", stream=True))
    assert json.loads(answer.content)["choices"][0]["finish_reason"] == "tool_calls"
