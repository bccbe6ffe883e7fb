"""Orchestrated models: corrections, fallback, typed answers and budgets, on each wire."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from llmcore import CapabilityRefused, FakeModel, RateLimited, RemoteServerError, RequestRefused
from llmcore.gateway import create_app
from llmcore.gateway.decoding import read_client_request
from llmcore.gateway.wires import ANTHROPIC
from llmcore.types import AuthenticationFailed, ContextOverflow, LLMCoreError, Overloaded, QuotaExceeded, Refused, Timeout
from tests.gateway.support import ABOUT, BY_NAME, CALL_TEXT, PATHS, SECONDS, asked, events_of, running
from tests.gateway.test_pass_through import message_of

WIRES = pytest.mark.parametrize("name", list(PATHS))
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
HELD = pytest.mark.parametrize("stream", ["live", "held"])
MODELS = {
    "m": {"provider": "custom", "model": "first", "escalates_to": ["n"], "max_retries": 0},
    "n": {"provider": "custom", "model": "second"},
}


@contextmanager
def orchestrated(
    model: FakeModel, second: FakeModel | None = None, section: Mapping[str, Any] | None = None, **settings: Any
) -> Generator[httpx.Client]:
    """A client of a gateway whose models are these."""
    default = {"mode": "orchestrated", **settings}
    adapters = {"m": model, "n": second or FakeModel(default="unused")}
    app = create_app({"models": MODELS}, {"default": default, **(section or {})}, adapter=adapters)
    with running(app) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        yield client


def read(name: str, answer: httpx.Response, *, streams: bool) -> Any:
    assert answer.status_code == 200, answer.text
    wire = BY_NAME[name]
    return wire.read_events(without_pings(answer.content)) if streams else wire.read_body(answer.json())


def without_pings(data: bytes) -> list[dict[str, Any]]:
    return [event for event in events_of(data) if event.get("type") != "ping"]


def field_of(answer: httpx.Response, *, streams: bool) -> Any:
    if not streams:
        return answer.json()["llmcore"]
    events = [event.get("response", event) for event in events_of(answer.content)]
    return next(event["llmcore"] for event in events if "llmcore" in event)


@WIRES
@STREAMS
def test_a_call_reaches_the_client(name: str, streams: bool) -> None:
    with orchestrated(FakeModel(CALL_TEXT.replace("3}", "3,}"), chunk_size=7)) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams))
    found = read(name, answer, streams=streams)
    assert found.calls == [("get_weather", {"city": "Paris", "days": 3})]
    assert (found.text.strip(), found.end) == ("I look.", BY_NAME[name].ends[0])
    field = field_of(answer, streams=streams)
    assert [repair["repair"]["kind"] for repair in field["repairs"]] == ["trailing_comma"]
    assert [(call["name"], call["dialect"]) for call in field["calls"]] == [("get_weather", "hermes")]
    assert answer.headers.get("x-llmcore-repairs") == (None if streams else "trailing_comma:lossless")


@WIRES
@STREAMS
def test_a_call_that_stays_text_is_reported_with_its_reason(name: str, streams: bool) -> None:
    with orchestrated(FakeModel(default=ABOUT)) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams))
    assert read(name, answer, streams=streams).calls == []
    withheld = [{"name": "get_weather", "reason": "example", "detail": ""}]
    assert field_of(answer, streams=streams)["withheld"] == withheld


@WIRES
@STREAMS
def test_wrong_arguments_are_corrected_by_the_model(name: str, streams: bool) -> None:
    wrong = CALL_TEXT.replace('"city"', '"town"')
    model = FakeModel(wrong, CALL_TEXT)
    with orchestrated(model) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams))
    found = read(name, answer, streams=streams)
    assert found.calls == [("get_weather", {"city": "Paris", "days": 3})]
    assert [attempt["reason"] for attempt in field_of(answer, streams=streams)["attempts"]] == ["first", "reask"]


@WIRES
@STREAMS
def test_another_model_answers_if_one_fails(name: str, streams: bool) -> None:
    failing = FakeModel(default=RemoteServerError("broken", status=500))
    with orchestrated(failing, FakeModel("Here I am.")) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams))
    assert read(name, answer, streams=streams).text == "Here I am."
    models = [(attempt["model"], attempt.get("failure")) for attempt in field_of(answer, streams=streams)["attempts"]]
    assert models[0] == ("m", "RemoteServerError")
    assert models[-1] == ("n", None)


def schema_fields(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
    fields: dict[str, dict[str, Any]] = {
        "openai-chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}},
        "openai-responses": {"text": {"format": {"type": "json_schema", "name": "x", "schema": schema}}},
        "anthropic": {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    }
    return fields[name]


@WIRES
@STREAMS
def test_a_typed_answer_is_json_that_fits_the_schema(name: str, streams: bool) -> None:
    model = FakeModel("Three, I would say.", "```json\n{'n': '3',}\n```")
    with orchestrated(model) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams, tools=None, **schema_fields(name)))
    assert json.loads(read(name, answer, streams=streams).text) == {"n": 3}


@WIRES
@HELD
def test_live_text_cannot_be_taken_back_and_held_text_need_not(name: str, stream: str) -> None:
    """The first reply calls with wrong arguments behind a sentence; the second is right."""
    first = CALL_TEXT.replace('"city"', '"town"').replace("I look.", "I will try.")
    with orchestrated(FakeModel(first, CALL_TEXT, chunk_size=4), stream=stream) as client:
        found = read(name, client.post(PATHS[name], json=asked(name, stream=True)), streams=True)
    assert found.text.strip() == ("I will try.\n\nI look." if stream == "live" else "I look.")
    assert len(found.calls) == 1


@WIRES
@STREAMS
@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (RateLimited("slow down", retry_after=7), 429, "slow down"),
        (Overloaded("busy"), 503, "busy"),
        (Timeout("too late"), 504, "too late"),
        (AuthenticationFailed("wrong key"), 502, "wrong key"),
        (QuotaExceeded("no money"), 429, "no money"),
        (ContextOverflow("too long"), 400, "too long"),
        (Refused("not this"), 400, "not this"),
        (RemoteServerError("broken", status=500), 500, "broken"),
        (RemoteServerError("not JSON", status=None), 502, "not JSON"),
        (RequestRefused("temperature must be at most 2", status=400), 400, "temperature must be at most 2"),
        (CapabilityRefused("no images", capability="images"), 400, "no images"),
    ],
)
def test_an_error_before_the_first_byte_has_its_status(
    name: str, streams: bool, error: LLMCoreError, status: int, words: str
) -> None:
    with orchestrated(FakeModel(default=error), FakeModel(default=error), {"budget": {"attempts": 1}}) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=streams))
    assert answer.status_code == status
    assert words in message_of(name, answer.json())


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("openai-chat", {"n": 2}, "`n` must be 1"),
        ("openai-chat", {"messages": [{"role": "wizard", "content": "x"}]}, "role"),
        ("openai-chat", {"tools": [3]}, "each tool is an object"),
        ("openai-chat", {"temperature": "hot"}, "temperature"),
        ("openai-responses", {"previous_response_id": "resp_1"}, "send the whole `input`"),
        ("openai-responses", {"background": True}, "`background` is not supported"),
        ("anthropic", {"messages": [7]}, "message"),
    ],
)
def test_a_request_that_no_run_can_be_made_of(name: str, fields: dict[str, Any], words: str) -> None:
    with orchestrated(FakeModel(default="unused")) as client:
        answer = client.post(PATHS[name], json=asked(name, **fields))
    assert answer.status_code == 400
    assert words in message_of(name, answer.json())


def test_the_run_gets_what_the_request_says() -> None:
    model = FakeModel(default="Hi.")
    with orchestrated(model) as client:
        chat = asked(
            "openai-chat",
            max_completion_tokens=50,
            temperature=0.5,
            top_p=0.9,
            stop=["END"],
            seed=7,
            tool_choice="required",
            parallel_tool_calls=False,
        )
        client.post(PATHS["openai-chat"], json=chat)
        first = model.last_request
        messages: dict[str, Any] = asked(
            "anthropic",
            system="Be brief.",
            stop_sequences=["END"],
            tool_choice={"type": "tool", "name": "get_time", "disable_parallel_tool_use": True},
            thinking={"type": "enabled", "budget_tokens": 2000},
            top_k=5,
            context_management={"edits": []},
        )
        answer = client.post(PATHS["anthropic"], json=messages)
        second = model.last_request
    assert first is not None
    assert second is not None
    assert (first.max_tokens, first.temperature, first.top_p, first.stop) == (50, 0.5, 0.9, ["END"])
    assert (first.extra_body, first.tool_choice, first.parallel_tool_calls) == ({"seed": 7}, "required", False)
    assert (second.max_tokens, second.stop, second.thinking) == (99, ["END"], 2000)
    assert second.parallel_tool_calls is False
    assert "Be brief." in str(second.system) + str(second.messages)
    assert answer.headers["x-llmcore-dropped"] == "top_k, context_management"
    assert read_client_request(ANTHROPIC, messages).options["tool_choice"] == messages["tool_choice"]


def test_a_free_text_tool_is_called_as_one() -> None:
    tools = [{"type": "custom", "name": "apply_patch", "description": "Apply a patch."}, {"type": "web_search"}]
    model = FakeModel().tool_call("apply_patch", {"input": "*** Begin Patch"})
    with orchestrated(model) as client:
        answer = client.post(PATHS["openai-responses"], json=asked("openai-responses", tools=tools))
    (item,) = answer.json()["output"]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", "*** Begin Patch")
    assert answer.headers["x-llmcore-dropped"] == "web_search"


@WIRES
def test_a_conversation_goes_on_with_the_results_of_its_calls(name: str) -> None:
    model = FakeModel(CALL_TEXT, "It is sunny.")
    with orchestrated(model) as client:
        reply = client.post(PATHS[name], json=asked(name)).json()
        answer = client.post(PATHS[name], json=continued(name, reply))
        request = model.last_request
    assert BY_NAME[name].read_body(answer.json()).text == "It is sunny."
    assert request is not None
    assert [message.role for message in request.messages][-3:-1] == ["user", "assistant"]
    assert "22 degrees" in str(request.messages[-1])


def continued(name: str, reply: dict[str, Any]) -> dict[str, Any]:
    """The request after the client has run the call."""
    body = asked(name)
    if name == "openai-chat":
        message = reply["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "22 degrees"}
        body["messages"] += [message, result]
    elif name == "anthropic":
        call = next(block for block in reply["content"] if block["type"] == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "22 degrees"}
        body["messages"] += [{"role": "assistant", "content": reply["content"]}, {"role": "user", "content": [result]}]
    else:
        call = next(item for item in reply["output"] if item["type"] == "function_call")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "22 degrees"}
        body["input"] += [*reply["output"], result]
    return body


@WIRES
def test_a_silent_run_shows_signs_of_life(name: str) -> None:
    model = FakeModel().delay(0.5).text("At last.")
    with orchestrated(model, section={"ping": 0.05}) as client:
        answer = client.post(PATHS[name], json=asked(name, stream=True))
    assert (b"event: ping" if name == "anthropic" else b": ping") in answer.content
    assert read(name, answer, streams=True).text == "At last."


def test_a_budget_ends_a_request() -> None:
    with orchestrated(FakeModel(default="No number."), section={"budget": {"requests": 1}}) as client:
        body = asked("openai-chat", tools=None, **schema_fields("openai-chat"))
        answer = client.post(PATHS["openai-chat"], json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "budget_exceeded"


def test_tokens_are_estimated() -> None:
    with orchestrated(FakeModel(default="unused")) as client:
        answer = client.post("/v1/messages/count_tokens", json=asked("anthropic", max_tokens=None))
    assert answer.json()["input_tokens"] > 10
    assert answer.headers["x-llmcore-estimated"] == "input_tokens"


def test_usage_ends_a_chat_stream_only_if_it_is_asked_for() -> None:
    with orchestrated(FakeModel(default="Hi.")) as client:
        plain = client.post(PATHS["openai-chat"], json=asked("openai-chat", stream=True))
        asking = asked("openai-chat", stream=True, stream_options={"include_usage": True})
        counted = client.post(PATHS["openai-chat"], json=asking)
    assert not any("usage" in event for event in events_of(plain.content))
    assert events_of(counted.content)[-1]["choices"] == []
    assert "prompt_tokens" in events_of(counted.content)[-1]["usage"]
