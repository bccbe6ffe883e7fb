"""A failed transcript as data: coloured pieces of the text, bounded values, and no secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from llmcore.reporting.failures import failure_data
from llmcore.transcripts import Score, Transcript
from tests.reporting.outcomes import KEY, cut, wrong
from tests.transcripts.runs import chat, hermes, run


def data_of(transcript: Transcript) -> dict[str, Any]:
    return failure_data(Score().add(transcript.placed(Path("runs.jsonl"), 3, flat=False)))


def test_text_envelope_and_reasons_of_a_failed_run() -> None:
    data = data_of(cut(id="a"))
    (exchange,) = data["exchanges"]
    assert (data["label"], data["place"], data["family"], data["verdict"]) == ("a", "runs.jsonl:3", "llama", "needs a re-ask")
    assert exchange["pieces"] == [["call", hermes()[:60]]]
    assert exchange["envelope"]["tool_calls"][0]["complete"] is False
    assert exchange["problems"] == data["reasons"]
    assert "cut off" in data["reasons"][0]


def test_the_pieces_cover_the_text_in_the_kinds_of_its_segments() -> None:
    text = f"<think>Hm.</think>\n\nSure.\n{hermes()}"
    pieces = data_of(wrong({"text": text}))["exchanges"][0]["pieces"]
    assert "".join(part for _, part in pieces) == text
    assert {kind for kind, part in pieces if "Hm." in part} == {"reasoning"}
    assert {kind for kind, part in pieces if "get_weather" in part} == {"call"}
    assert {kind for kind, part in pieces if "Sure." in part} == {"content"}


def test_a_near_miss_is_a_piece_of_its_own() -> None:
    transcript = run(
        {"text": '> {"name": "get_weather", "arguments": {"city": "Paris"}}'}, expect={"calls": [{"name": "f", "arguments": {}}]}
    )
    pieces = data_of(transcript)["exchanges"][0]["pieces"]
    assert [kind for kind, part in pieces if "get_weather" in part] == ["near_miss"]


def test_what_differs_is_expected_beside_got() -> None:
    data = data_of(wrong())
    (mismatch,) = data["exchanges"][0]["mismatches"]
    assert (mismatch["what"], mismatch["expected"], mismatch["got"][0]["name"]) == ("calls", [], "get_weather")
    assert (data["verdict"], data["reasons"]) == ("wrong", ["not as expected: calls"])


def test_calls_that_the_validator_changed_are_shown_after_repairs() -> None:
    transcript = wrong({"response": chat({"city": "Paris", "days": "2"})})
    (call,) = data_of(transcript)["exchanges"][0]["after_repairs"]
    assert call["arguments"] == {"city": "Paris", "days": 2}


def test_a_failed_request_has_its_error_and_no_envelope() -> None:
    (exchange,) = data_of(run({"error": {"status": 500, "body": "down"}}, expect={"calls": [{"name": "f", "arguments": {}}]}))[
        "exchanges"
    ]
    assert (exchange["envelope"], exchange["pieces"], exchange["error"]["status"]) == (None, [], 500)


def test_of_many_exchanges_the_ones_that_failed_are_shown() -> None:
    turns: list[dict[str, Any]] = [{"attempt": {"reason": "turn"}, "response": chat()} for _ in range(9)]
    turns[7] = {"attempt": {"reason": "turn"}, "text": hermes()[:60]}
    data = data_of(run(*turns))
    assert (len(data["exchanges"]), data["left_out"]) == (5, 4)
    assert [exchange["number"] for exchange in data["exchanges"] if not exchange["ok"]] == [8]


def test_every_part_is_bounded() -> None:
    huge: dict[str, Any] = {"city": "x" * 1_000_000, "list": [1] * 10_000, "keys": {str(number): 1 for number in range(10_000)}}
    deep: Any = {}
    for _ in range(100):
        deep = {"in": deep}
    for text in ("word " * 200_000, f"{hermes({**huge, 'deep': deep})} and {'> ' * 50_000}", "<think>a</think>b" * 20_000):
        transcript = run({"text": text}, expect={"calls": [{"name": "f", "arguments": huge}]}, id="i" * 1_000_000)
        assert len(json.dumps(data_of(transcript))) < 80_000


def test_no_secret_is_shown_wherever_it_stands() -> None:
    text = f"The key is {KEY}. {hermes({'city': KEY})}"
    shown = json.dumps(data_of(wrong({"text": text}, id=KEY, expect={"content": KEY})))
    assert KEY not in shown
    assert "[secret]" in shown
