"""Recordings hold what went out and came in, and no secret."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.recorder import Recorder, TranscriptFile, tool_dict
from llmcore.adapters.secrets.scrubber import HIDDEN
from llmcore.transcripts import read_transcripts
from llmcore.types import LLMCoreError, Message, Request, TextBlock, ToolResultBlock, ToolUseBlock
from tests.adapters.conftest import KEY, WEATHER, call_of, endpoint_at
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer

CALL = Turn("One moment.", calls=[("get_weather", {"city": "Paris"})])


async def recorded(*steps: Any, streamed: bool = False, calls: list[ModelCall] | None = None) -> tuple[Recorder, WireServer]:
    recorder = Recorder(provenance="local: a test", secrets=["otherSecret99"])
    adapter = LiteLLMAdapter(observer=recorder.observe)
    with WireServer(steps) as server:
        for call in calls or [call_of(endpoint_at(server, "openai"))]:
            moved = call.model_copy(update={"endpoint": endpoint_at(server, call.endpoint.provider, call.endpoint.model)})
            try:
                if streamed:
                    _ = [event async for event in adapter.stream(moved)]
                else:
                    await adapter.complete(moved)
            except LLMCoreError:
                pass
        await adapter.close()
    return recorder, server


@pytest.mark.anyio
async def test_a_plain_exchange() -> None:
    recorder, _ = await recorded(CALL)
    line = recorder.line(id="one", tools=[WEATHER], expect={"calls": []})
    (exchange,) = line["exchanges"]
    assert line["tools"] == [tool_dict(WEATHER)]
    assert (line["provider"], line["model"], line["level"]) == ("openai", "gpt-4o", "litellm")
    assert line["expect"] == {"calls": []}
    assert exchange["attempt"] == {"model": "gpt-4o", "mode": "native_tools", "reason": "first"}
    assert exchange["request"]["messages"] == [{"role": "user", "content": "What is the weather in Paris?"}]
    assert exchange["response"]["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_weather"
    assert not exchange["request"].keys() & {"api_key", "api_base", "extra_headers", "timeout"}


@pytest.mark.anyio
async def test_a_stream_is_kept_chunk_by_chunk() -> None:
    recorder, _ = await recorded(CALL, streamed=True)
    chunks = recorder.exchanges[0]["chunks"]
    text = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert text == "One moment."
    assert "response" not in recorder.exchanges[0]


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_failed_request_is_an_exchange_too(streamed: bool) -> None:
    failure = Failure(401, {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}})
    recorder, _ = await recorded(failure, streamed=streamed)
    error = recorder.exchanges[0]["error"]
    assert (error["type"], error["status"]) == ("AuthenticationError", 401)
    assert HIDDEN in error["message"]
    assert KEY not in str(error)


@pytest.mark.anyio
async def test_no_secret_is_written(tmp_path: Path) -> None:
    request = Request.model_validate({"messages": "My key is otherSecret99.", "extra_headers": {"X-Auth": "headerSecret1"}})
    calls = [call_of(Endpoint(provider="openai", model="gpt-4o"), request)]
    recorder, server = await recorded(Turn(f"You said {KEY} and headerSecret1."), calls=calls)
    assert KEY in server.requests[0].headers["authorization"]
    recorder.write(tmp_path / "run.jsonl", id="secret")
    written = (tmp_path / "run.jsonl").read_text()
    for secret in (KEY, "otherSecret99", "headerSecret1"):
        assert secret not in written


@pytest.mark.anyio
async def test_reasons_follow_from_what_changed() -> None:
    endpoint = Endpoint(provider="openai", model="gpt-4o")
    first = call_of(endpoint)
    use = ToolUseBlock(id="c", name="get_weather", input={"city": "Paris"})
    turn = Request(
        messages=[
            *first.request.messages,
            Message(role="assistant", content=[use]),
            Message(role="tool", content=[ToolResultBlock(tool_use_id="c", content=[TextBlock(text="sunny")])]),
        ]
    )
    calls = [
        first,
        call_of(endpoint, turn),
        call_of(endpoint, turn, tools=()),
        call_of(endpoint, turn, mode="json_object"),
        call_of(Endpoint(provider="openai", model="gpt-4.1"), turn, mode="json_object"),
        call_of(Endpoint(provider="openai", model="gpt-4.1"), turn, mode="json_object", reason="retry"),
    ]
    recorder, _ = await recorded("Hi", calls=calls)
    reasons = [exchange["attempt"]["reason"] for exchange in recorder.exchanges]
    assert reasons == ["first", "turn", "reask", "mode", "model", "retry"]


@pytest.mark.anyio
async def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for number in range(2):
        recorder, _ = await recorded(CALL, streamed=bool(number))
        recorder.write(path, id=f"run-{number}", tools=[WEATHER])
    runs = list(read_transcripts(path))
    assert [run.id for run in runs] == ["run-0", "run-1"]
    assert [run.exchanges[0].kind for run in runs] == ["response", "chunks"]


def test_an_empty_run_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing was recorded"):
        Recorder(provenance="x").line(id="none")


def test_lines_are_plain_json() -> None:
    assert json.loads(json.dumps(tool_dict(WEATHER)))["function"]["name"] == "get_weather"


@pytest.mark.anyio
async def test_every_field_of_a_line_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    encoded = base64.b64encode(f"user:{KEY}".encode()).decode()
    text = f"{KEY} or {encoded}"
    request = Request.model_validate({"messages": "hi", "extra_body": {"gate_token": "bodySecret1"}})
    recorder, _ = await recorded(Turn(f"{text} bodySecret1"), calls=[call_of(Endpoint(provider="openai", model="m"), request)])
    tool = WEATHER.model_copy(update={"description": text, "parameters": {"type": "object", "properties": {text: {}}}})
    line = recorder.line(id=text, tools=[tool], output_schema={"description": text}, expect={"content": text, KEY: [text]})
    written = json.dumps(line)
    assert [secret for secret in (KEY, encoded[8:-4], "bodySecret1") if secret in written] == []
    assert line["id"].count(HIDDEN) == 2


@pytest.mark.anyio
async def test_a_secret_in_the_pieces_of_a_stream_is_not_written() -> None:
    pieces = [KEY[at : at + 3] for at in range(0, len(KEY), 3)]
    frames = [f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n".encode() for piece in pieces]
    recorder, _ = await recorded(Raw([*frames, b"data: [DONE]\n\n"], "text/event-stream"), streamed=True)
    chunks = recorder.line(id="x")["exchanges"][0]["chunks"]
    assert len(chunks) >= len(pieces)
    said = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert said == HIDDEN


def test_no_two_lines_of_a_file_have_one_id(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    file = TranscriptFile(path)
    given = ["run", "run", "run", "a-1", "a-1", "a-3", "a-1", "a-1", "run-2"]
    got = [file.append({"id": id}) for id in given]
    assert got == ["run", "run-2", "run-3", "a-1", "a-2", "a-3", "a-4", "a-5", "run-4"]
    path.write_text(path.read_text("utf-8") + "not JSON\n[]\n", "utf-8")
    assert TranscriptFile(path).append({"id": "a-1"}) == "a-6"


@pytest.mark.parametrize("text", ["plain", "größer 😀", "a\ud800b", "größer \udc80"])
def test_whatever_a_reply_holds_its_recording_can_be_written_and_read(text: str, tmp_path: Path) -> None:
    recorder = Recorder(provenance="local: a test")
    call = call_of(Endpoint(provider="openai", model="gpt-4o"))
    recorder.observe(call, "request", {"model": "gpt-4o", "messages": []})
    recorder.observe(call, "response", {"id": text, "choices": [{"message": {"content": text}}]})
    file = TranscriptFile(tmp_path / "runs.jsonl")
    file.append(recorder.line(id="run", tools=[]))
    (line,) = (tmp_path / "runs.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["exchanges"][0]["response"]["id"] == text
    assert ("größer" in line) == (text == "größer 😀")
    assert list(read_transcripts(tmp_path / "runs.jsonl"))
