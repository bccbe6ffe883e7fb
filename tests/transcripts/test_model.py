"""The transcript model: what is kept, what is refused, and how flat lines become runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from llmcore import ConfigError, ReplayAdapter
from llmcore.transcripts import Expectation, ExpectedCall, Transcript, TranscriptError

CALL: dict[str, Any] = {"name": "get_weather", "arguments": {"city": "Paris"}}
FULL: dict[str, Any] = {
    "id": "run-1",
    "provider": "openai",
    "model": "gpt-4o",
    "provenance": "provider: api.openai.com",
    "level": "wire",
    "tools": [{"name": "get_weather", "parameters": {"type": "object"}}],
    "output_schema": {"type": "object"},
    "exchanges": [
        {
            "attempt": {"model": "gpt-4o", "mode": "text", "reason": "first"},
            "request": {"model": "gpt-4o"},
            "text": "?",
        },
        {
            "attempt": {"model": "gpt-4o", "mode": "text", "reason": "reask"},
            "response": {"choices": []},
            "expect": {"calls": [CALL]},
        },
    ],
    "expect": {"calls": [CALL], "content": "", "value": None},
}


def test_a_run_is_read_and_written_unchanged() -> None:
    given = {**FULL, "ours": {"kept": True}}
    given["exchanges"] = [{**FULL["exchanges"][0], "latency": 0.5}, FULL["exchanges"][1]]
    run = Transcript.model_validate(given)
    assert json.loads(run.model_dump_json(exclude_unset=True)) == given
    assert run.model_extra == {"ours": {"kept": True}}


REPLIES: list[tuple[dict[str, Any], str]] = [
    ({"response": {"choices": []}}, "response"),
    ({"response": None}, "response"),
    ({"response": []}, "response"),
    ({"response": "data: {}", "stream": True}, "response"),
    ({"text": "Hello"}, "text"),
    ({"text": ""}, "text"),
    ({"sse": "data: {}"}, "sse"),
    ({"chunks": [{}, None, 3, "x"]}, "chunks"),
    ({"error": {"status": 429}}, "error"),
    ({"response": None, "text": "Hello"}, "text"),
    ({"chunks": [{}], "error": {"status": 500}}, "chunks"),
    ({"sse": "data: {}", "error": "overloaded"}, "sse"),
]


@pytest.mark.parametrize(("reply", "kind"), REPLIES)
def test_a_flat_line_is_a_run_of_one_exchange(reply: dict[str, Any], kind: str) -> None:
    run = Transcript.model_validate({"id": 7, "provider": None, "calls": [CALL], "flags": ["x"], **reply})
    (exchange,) = run.exchanges
    assert exchange.kind == kind
    assert getattr(exchange, kind) == reply[kind]
    assert exchange.stream is reply.get("stream", False)
    assert (run.id, run.provider, run.model_extra) == ("7", "", {"calls": [CALL], "flags": ["x"]})
    assert run.expectation(0) == Expectation(calls=[ExpectedCall.model_validate(CALL)])


def test_expected_calls_win_over_calls_and_null_expects_nothing() -> None:
    both = Transcript.model_validate({"text": "", "calls": [CALL], "expected_calls": []})
    assert both.expectation(0) == Expectation(calls=[])
    assert Transcript.model_validate({"text": "", "calls": None}).expectation(0) is None


def test_the_runs_expectation_judges_the_last_exchange() -> None:
    run = Transcript.model_validate(FULL)
    assert run.expectation(0) is None
    last = run.expectation(1)
    assert last is not None
    assert (last.content, last.judges_value, last.value) == ("", True, None)


def test_an_exchanges_own_expectation_goes_before_the_runs() -> None:
    run = Transcript.model_validate(
        {"exchanges": [{"text": "", "expect": {"content": "own"}}], "expect": {"content": "run", "calls": []}}
    )
    assert run.expectation(0) == Expectation(content="own", calls=[])


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"exchanges": []}, "exchanges"),
    ({"exchanges": [{"request": {}}]}, "holds no reply: expected one of response, chunks, sse, text, error"),
    ({"exchanges": [{"text": "", "sse": "", "response": None}]}, "holds several replies: sse, text; keep one"),
    ({"exchanges": [{"response": {}, "error": {}}]}, "holds several replies: response, error"),
    ({"exchanges": [{"chunks": [], "sse": "", "error": {}}]}, "holds several replies: chunks, sse, error"),
    ({"response": {}}, "holds both `exchanges` and a reply"),
    ({"exchanges": [{"text": "", "attempt": {"reason": "whim"}}]}, "first"),
    ({"exchanges": [{"text": 3}]}, "string"),
    ({"expect": {"calls": [{"name": "f", "arguments": "{}"}]}}, "dict"),
    ({"expect": {"calls": [{"arguments": {}}]}}, "name"),
    ({"tools": {"name": "f"}}, "list"),
]


@pytest.mark.parametrize(("change", "problem"), MALFORMED)
def test_a_malformed_run_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Transcript.model_validate({**FULL, **change})


def test_an_object_without_a_reply_is_no_transcript() -> None:
    with pytest.raises(ValidationError, match="is no transcript"):
        Transcript.model_validate({"id": "x", "messages": []})


@pytest.mark.parametrize("version", [0, 2, 9, "1", "2.0", True, 1.5, [1], "9" * 100])
def test_a_version_that_is_not_known_is_refused_by_name(version: Any) -> None:
    named = (
        f"`version` {version!r} is not known"
        if isinstance(version, int | float) or version in ("1", "2.0")
        else "`version` of another"
    )
    for data in ({"exchanges": [{"text": "a"}]}, {"format": "llmcore.transcript", "text": "a"}):
        with pytest.raises(ValidationError, match=named):
            Transcript.model_validate({**data, "version": version})
    assert Transcript.model_validate({"exchanges": [{"text": "a"}], "version": 1}).exchanges
    assert Transcript.model_validate({"text": "a", "version": version}).exchanges  # a key of somebody else's


def test_a_replay_of_a_version_that_is_not_known_is_refused(tmp_path: Path) -> None:
    data = {"format": "llmcore.transcript", "version": 9, "id": "h", "exchanges": [{"text": "a"}]}
    with pytest.raises(ConfigError, match="`version` 9 is not known: this llmcore reads transcripts of version 1"):
        ReplayAdapter(data)
    file = tmp_path / "run.jsonl"
    file.write_text(json.dumps(data))
    with pytest.raises(TranscriptError, match="version"):
        ReplayAdapter(file)
