"""VCR cassettes in every form that recorders write."""

from __future__ import annotations

import base64
import gzip
import json
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmcore.transcripts import TranscriptError, read_transcripts
from llmcore.transcripts.formats import decoding
from llmcore.types.limits import RECORDING_LIMITS

REPLY: dict[str, Any] = {"choices": [{"message": {"content": "Hello"}}]}
ASKED: dict[str, Any] = {"model": "gpt-4o", "messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}
CHAT = "https://api.openai.com/v1/chat/completions"


def interaction(
    url: str = CHAT, *, response: dict[str, Any] | None = None, request: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "request": {"method": "POST", "uri": url, "headers": {}, **(request or {"body": json.dumps(ASKED)})},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": ["application/json"]},
            **(response or {"body": {"string": json.dumps(REPLY)}}),
        },
    }


def cassette(tmp_path: Path, *interactions: dict[str, Any]) -> Path:
    path = tmp_path / "cassette.yaml"
    path.write_text(yaml.safe_dump({"interactions": list(interactions), "version": 1}), "utf-8")
    return path


BODIES: dict[str, dict[str, Any]] = {
    "text": {"body": {"string": json.dumps(REPLY)}},
    "bytes": {"body": {"string": json.dumps(REPLY).encode()}},
    "plain": {"body": json.dumps(REPLY)},
    "parsed": {"parsed_body": REPLY},
    "base64": {"body": {"base64_string": base64.b64encode(json.dumps(REPLY).encode()).decode()}},
    "gzip": {"headers": {"content-encoding": "gzip"}, "body": {"string": gzip.compress(json.dumps(REPLY).encode())}},
    "gzip in base64": {
        "headers": {"Content-Encoding": ["gzip"]},
        "body": {"base64_string": base64.b64encode(gzip.compress(json.dumps(REPLY).encode())).decode()},
    },
    "gzip, unpacked by the recorder": {
        "headers": {"content-encoding": ["gzip"]},
        "body": {"string": json.dumps(REPLY)},
    },
}


@pytest.mark.parametrize("form", BODIES)
def test_bodies(tmp_path: Path, form: str) -> None:
    (run,) = read_transcripts(cassette(tmp_path, interaction(response=BODIES[form])))
    assert run.exchanges[0].response == REPLY
    assert (run.id, run.provider, run.model, run.provenance) == (
        "cassette.yaml#0",
        "openai",
        "gpt-4o",
        "provider: api.openai.com",
    )
    assert run.exchanges[0].request == ASKED
    assert run.flat


@pytest.mark.parametrize("sent", [{"body": json.dumps(ASKED)}, {"body": json.dumps(ASKED).encode()}, {"parsed_body": ASKED}])
def test_request_bodies(tmp_path: Path, sent: dict[str, Any]) -> None:
    (run,) = read_transcripts(cassette(tmp_path, interaction(request=sent)))
    assert run.exchanges[0].request == ASKED


def test_streams(tmp_path: Path) -> None:
    stream = 'data: {"choices": []}\n\ndata: [DONE]\n\n'
    typed = {"headers": {"content-type": ["text/event-stream; charset=utf-8"]}, "body": {"string": stream}}
    untyped = {"headers": {}, "body": {"string": stream}}
    lines = {
        "headers": {"content-type": "application/x-ndjson"},
        "body": {"string": '{"done": false}\n{"done": true}\n'},
    }
    runs = list(read_transcripts(cassette(tmp_path, *(interaction(response=body) for body in (typed, untyped, lines)))))
    assert [run.exchanges[0].kind for run in runs] == ["sse", "sse", "sse"]
    assert runs[0].exchanges[0].sse == stream


def test_a_failed_request_is_an_error(tmp_path: Path) -> None:
    response = {"status": {"code": 429, "message": ""}, "parsed_body": {"error": {"message": "slow down"}}}
    (run,) = read_transcripts(cassette(tmp_path, interaction(response=response)))
    assert run.exchanges[0].error == {"status": 429, "body": {"error": {"message": "slow down"}}}


@pytest.mark.parametrize(
    ("url", "provider", "model", "local"),
    [
        ("https://api.anthropic.com/v1/messages", "anthropic", "", False),
        ("https://x.openai.azure.com/openai/deployments/gpt-4/chat/completions?api-version=1", "azure", "", False),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent",
            "gemini",
            "gemini-2.5-pro",
            False,
        ),
        (
            "https://us-central1-aiplatform.googleapis.com/v1/p/publishers/google/models/gemini-2.0:streamGenerateContent?alt=sse",
            "vertex",
            "gemini-2.0",
            False,
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse",
            "bedrock",
            "us.amazon.nova-lite-v1:0",
            False,
        ),
        ("https://api.groq.com/openai/v1/chat/completions", "groq", "", False),
        ("https://api.cohere.com/v2/chat", "cohere", "", False),
        ("https://llm.example.com/v1/responses", "llm.example.com", "", False),
        ("http://localhost:11434/api/chat", "ollama", "", True),
        ("http://127.0.0.1:8000/v1/chat/completions", "127.0.0.1", "", True),
        ("http://10.0.0.7:8000/v1/chat/completions", "10.0.0.7", "", True),
        ("http://vllm:8000/v1/chat/completions", "vllm", "", True),
        ("http://evil-api.openai.com.example/v1/messages", "evil-api.openai.com.example", "", False),
    ],
)
def test_the_url_tells_provider_model_and_provenance(tmp_path: Path, url: str, provider: str, model: str, local: bool) -> None:
    (run,) = read_transcripts(cassette(tmp_path, interaction(url, request={"parsed_body": {"messages": []}})))
    assert (run.provider, run.model) == (provider, model)
    assert (run.provenance == "local recording") is local


def test_other_traffic_is_passed_over(tmp_path: Path) -> None:
    other = interaction("https://api.openai.com/v1/models")
    (run,) = read_transcripts(cassette(tmp_path, other, interaction()))
    assert run.id == "cassette.yaml#1"


def test_a_json_cassette(tmp_path: Path) -> None:
    (tmp_path / "cassette.json").write_text(json.dumps({"version": 1, "interactions": [interaction()]}), "utf-8")
    (run,) = read_transcripts(tmp_path)
    assert run.exchanges[0].response == REPLY


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("interactions:\n- request: {uri: x\n  response: ]", 3, "malformed YAML: "),
        ("interactions:\n\t- a", 2, "malformed YAML: "),
        ("a: 1\nb: ]\nc: 2", 2, "malformed YAML: "),
        ("version: 1", None, "not a VCR cassette"),
        ("- a", None, "not a VCR cassette"),
        ("", None, "not a VCR cassette"),
        ("interactions: {}", None, "not a VCR cassette"),
        ("version: 1\ninteractions:\n- 17", 3, "interaction 0: has no `request`"),
        ("interactions:\n- request: {uri: 3}\n  response: {}", 2, "interaction 0: its request has no `uri`"),
        (
            "interactions:\n- !!python/object/apply:os.system ['true']",
            2,
            "malformed YAML: a value with the tag 'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
    ],
)
def test_a_malformed_cassette_is_named_with_its_line(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = tmp_path / "cassette.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(TranscriptError) as caught:
        list(read_transcripts(path))
    assert caught.value.line == line
    assert problem in caught.value.message


def test_not_utf8_and_deep_nesting_are_named(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    path.write_bytes(b"interactions: caf\xe9")
    with pytest.raises(TranscriptError, match=r"cassette\.yaml: not UTF-8"):
        list(read_transcripts(path))
    path.write_text("[" * 100_000, "utf-8")
    with pytest.raises(TranscriptError, match=r"cassette\.yaml"):
        list(read_transcripts(path))


LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
MERGES = "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}], k{n}: 1}}\n" for n in range(1, 30))
BOMBS = {
    "aliases": LAUGHS + "interactions: [*a11]",
    "merge keys": MERGES + "interactions: [*a29]",
    "an interaction that holds itself": "interactions:\n- &a {request: *a}",
    "a list that holds itself": "interactions: &a\n- *a",
    "a long number": "interactions:\n- {request: " + "9" * 5000 + "}",
    "a huge float": "interactions:\n- {request: 1.0e+999}",
    "dashes": "interactions:\n" + "- " * 100_000,
    "a key given twice": "interactions:\n- {request: {}, request: {}}",
    "a key that is a list": "interactions:\n- {? [a] : b}",
    "an object": "interactions:\n- !!python/object/apply:os.system ['true']",
    "a NUL": "interactions:\n- a\0",
    "an anchor that is nowhere": "interactions:\n- *a",
    "an impossible date": "interactions:\n- 2024-13-45",
    "a port that is none": f"interactions:\n- {interaction('http://a:b/v1/messages')}",
    "an address that is none": f"interactions:\n- {interaction('http://[::1/v1/messages')}",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_hostile_cassette_is_refused_at_once_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cassette.yaml"
    path.write_text(text, "utf-8")
    started = time.process_time()
    with pytest.raises(TranscriptError, match=r"cassette\.yaml:\d+: "):
        list(read_transcripts(path))
    assert time.process_time() - started < 1


def gzip_body(packed: bytes, encoding: str = "gzip") -> dict[str, Any]:
    return interaction(response={"headers": {"content-encoding": encoding}, "body": {"string": packed}})


def test_bodies_that_would_fill_the_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(RECORDING_LIMITS, size=200_000, values=1000, members=50)
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", small)
    path = cassette(
        tmp_path,
        gzip_body(gzip.compress(b"{}," * 100_000)),
        gzip_body(gzip.compress(b"[" + b"{}," * 5000 + b"{}]")),
        gzip_body(gzip.compress(b"") * 60),
        gzip_body(gzip.compress(b"x"), "gzip, gzip, gzip, gzip, gzip"),
        interaction(response={"body": {"base64_string": base64.b64encode(b"[" + b"[]," * 5000).decode()}}),
        gzip_body(b"\x28\xb5\x2f\xfd", "zstd"),
        interaction(),
    )
    reading = read_transcripts(path, on_error="skip")
    assert [run.id for run in reading] == ["cassette.yaml#6"]
    found = [error.message for error in reading.skipped]
    wanted = "200000 bytes", "1000 values", "50 members", "4 content encodings", "1000 values", "'zstd'"
    assert [limit in message for limit, message in zip(wanted, found, strict=True)] == [True] * 6
    assert all(error.line and error.line > 1 for error in reading.skipped)


def test_interactions_are_in_memory_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    path.write_text(f"interactions:\n{''.join(f'- {interaction()}' + chr(10) for _ in range(1000))}", "utf-8")
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_transcripts(path)) == 1000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * path.stat().st_size  # the text as bytes and as characters; all the data would be more


def test_a_bad_interaction_costs_only_itself(tmp_path: Path) -> None:
    damaged = interaction(response={"headers": {"content-encoding": "br"}, "body": {"string": b"\x00\x01"}})
    binary = interaction(
        response={"headers": {"content-type": "application/vnd.amazon.eventstream"}, "body": {"string": b"\x00"}}
    )
    undecodable = interaction(response={"body": {"base64_string": "x"}})
    path = cassette(tmp_path, interaction(), damaged, binary, undecodable, interaction())
    reading = read_transcripts(path, on_error="skip")
    assert [run.id for run in reading] == ["cassette.yaml#0", "cassette.yaml#4"]
    assert [
        "'br'" in str(reading.skipped[0]),
        "eventstream" in str(reading.skipped[1]),
        "base64" in str(reading.skipped[2]),
    ] == [
        True,
        True,
        True,
    ]
    assert all(error.line and error.line > 1 for error in reading.skipped)


@pytest.mark.parametrize(("body", "reply"), [("null", None), ("[]", []), ("garbage", "garbage"), ("", "")])
def test_any_body_is_a_reply(tmp_path: Path, body: str, reply: Any) -> None:
    (run,) = read_transcripts(cassette(tmp_path, interaction(response={"body": {"string": body}})))
    assert run.exchanges[0].response == reply


def test_what_a_server_says_twice_is_no_mistake_of_the_cassette(tmp_path: Path) -> None:
    (run,) = read_transcripts(cassette(tmp_path, interaction(response={"body": {"string": '{"a": 1, "a": 2}'}})))
    assert run.exchanges[0].response == {"a": 2}
