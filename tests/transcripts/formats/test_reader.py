"""Reading files and folders: every format, every mistake with its place, nothing held that need not be."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llmcore.transcripts import TranscriptError, TranscriptReader, read_transcripts
from llmcore.transcripts.formats import decoding, reader
from llmcore.types.limits import RECORDING_LIMITS

RUN: dict[str, Any] = {"id": "a", "text": "Hello"}


def write_lines(path: Path, *lines: object) -> Path:
    """JSON Lines; a str or bytes is a line as it is."""
    data = [line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode() for line in lines]
    path.write_bytes(b"\n".join(data) + b"\n")
    return path


def ids(given: TranscriptReader) -> list[str]:
    return [transcript.id for transcript in given]


def test_json_lines_with_blank_lines_and_any_line_end(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "text": ""}\r\n\n  \n{"id": "b", "text": ""}')
    found = list(read_transcripts(path))
    assert [(run.id, run.path, run.line) for run in found] == [("a", path, 1), ("b", path, 4)]


def test_flat_and_full_runs(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl", RUN, {"exchanges": [{"text": "one"}, {"text": "two"}]})
    flat, full = read_transcripts(path)
    assert (flat.flat, full.flat, len(full.exchanges)) == (True, False, 2)
    assert full.label == f"{path}:2"


UNREADABLE: list[tuple[object, str]] = [
    ('{"text": "x"', "not JSON: EOF while parsing an object at line 1 column 12"),
    ("[1, 2]", "expected a JSON object, got a list"),
    ("null", "expected a JSON object, got null"),
    ("17", "expected a JSON object, got a number"),
    ('"text"', "expected a JSON object, got a string"),
    (b'{"text": "caf\xe9"}', "not UTF-8: byte 0xe9 at offset 13"),
    ("{}", "is no transcript: expected `exchanges`, or one of response, chunks, sse, text, error"),
    ({"exchanges": [{"attempt": {}}]}, "exchanges[0]: holds no reply: expected one of"),
    ({"exchanges": "x"}, "exchanges: Input should be a valid list"),
    ("[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("line", "problem"), UNREADABLE)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: object, problem: str) -> None:
    path = write_lines(tmp_path / "runs.jsonl", RUN, line, {**RUN, "id": "b"})
    with pytest.raises(TranscriptError) as caught:
        ids(read_transcripts(path))
    assert (caught.value.path, caught.value.line) == (path, 2)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert problem in str(caught.value)

    skipping = read_transcripts(path, on_error="skip")
    assert ids(skipping) == ["a", "b"]
    assert (skipping.skipped_count, [error.line for error in skipping.skipped]) == (1, [2])


def test_a_line_without_end_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "RECORDING_LIMITS", replace(RECORDING_LIMITS, size=1000))
    monkeypatch.setattr(reader, "_SKIPPED_AT_ONCE", 64)
    path = write_lines(tmp_path / "runs.jsonl", RUN, "{" * 5000, {**RUN, "id": "b"})
    skipping = read_transcripts(path, on_error="skip")
    assert ids(skipping) == ["a", "b"]
    assert [str(error) for error in skipping.skipped] == [f"{path}:2: a line of more than 1000 bytes"]


def test_lines_that_would_fill_the_memory_are_refused_with_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", replace(RECORDING_LIMITS, values=1000))
    many, runs = "[" + "{}," * 5000 + "{}]", {"exchanges": [1] * 400}
    chunks: dict[str, Any] = {"chunks": [{}] * 5000}
    path = write_lines(tmp_path / "runs.jsonl", RUN, '{"response": ' + many + "}", chunks, runs, {**RUN, "id": "b"})
    skipping = read_transcripts(path, on_error="skip")
    assert ids(skipping) == ["a", "b"]
    assert [(error.line, "1000 values" in str(error)) for error in skipping.skipped] == [(2, True), (3, True), (4, False)]


def test_a_run_of_a_million_exchanges_is_refused_before_they_are_made(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl", '{"exchanges": [' + '{"text":""},' * 300_000 + '{"text":""}]}')
    with pytest.raises(TranscriptError, match=r"runs\.jsonl:1: exchanges: List should have at most"):
        ids(read_transcripts(path))


def test_whatever_goes_wrong_in_a_file_costs_only_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "a.jsonl", RUN)
    (tmp_path / "b.txt").write_text("", "utf-8")
    write_lines(tmp_path / "c.jsonl", {**RUN, "id": "c"})

    def fails(data: bytes) -> str:
        if not data:
            raise RecursionError("too deep")
        return data.decode()

    monkeypatch.setattr(reader, "decode_utf8", fails)
    skipping = read_transcripts(tmp_path, on_error="skip")
    assert ids(skipping) == ["a", "c"]
    assert [str(error) for error in skipping.skipped] == [f"{tmp_path / 'b.txt'}: cannot be read: RecursionError: too deep"]


def test_many_skipped_lines_are_counted_not_kept(tmp_path: Path) -> None:
    skipping = read_transcripts(write_lines(tmp_path / "runs.jsonl", *["x"] * 500), on_error="skip")
    assert ids(skipping) == []
    assert (skipping.skipped_count, len(skipping.skipped)) == (500, 100)


def test_a_long_file_is_not_loaded_into_memory(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl", *[{"id": str(number), "text": "x" * 20_000} for number in range(1000)])
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_transcripts(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1000
    assert path.stat().st_size > 20_000_000
    assert peak < 2_000_000


def test_progress_ends_at_the_total(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", RUN, RUN)
    (tmp_path / "b.txt").write_text("Hello", "utf-8")
    reading = read_transcripts(tmp_path)
    seen = [reading.bytes_read for _ in reading]
    assert seen == sorted(seen)
    assert 0 < seen[0] < reading.bytes_total == reading.bytes_read


def test_a_folder_is_walked_by_name_without_hidden_and_foreign_files(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/c.jsonl", ".hidden/d.jsonl", ".e.jsonl", "a/notes.md", "a/model.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_lines(tmp_path / name, {"id": name, "text": ""})
    assert ids(read_transcripts(tmp_path)) == ["a/c.jsonl", "b.jsonl"]


def test_paths_that_cannot_be_read_are_told_before_anything_is(tmp_path: Path) -> None:
    good = write_lines(tmp_path / "a.jsonl", RUN)
    with pytest.raises(TranscriptError, match=r"nowhere\.jsonl: no such file or folder"):
        read_transcripts(good, tmp_path / "nowhere.jsonl", on_error="skip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TranscriptError, match="holds no transcripts"):
        read_transcripts(tmp_path / "empty")


def test_plain_text_is_one_reply(tmp_path: Path) -> None:
    for name in ("reply.txt", "reply.out", "reply"):
        (tmp_path / name).write_text("{" * 10 + "\nline two\n", "utf-8")
        (run,) = read_transcripts(tmp_path / name)
        assert (run.id, run.exchanges[0].text, run.tools, run.flat) == (name, "{" * 10 + "\nline two\n", None, True)


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "reply.txt").write_bytes(b"caf\xe9")
    with pytest.raises(TranscriptError, match=r"reply\.txt: not UTF-8: byte 0xe9 at offset 3"):
        ids(read_transcripts(tmp_path / "reply.txt"))


def test_a_recorded_stream_is_one_reply(tmp_path: Path) -> None:
    (tmp_path / "reply.sse").write_text("data: {}\n\n", "utf-8")
    (run,) = read_transcripts(tmp_path)
    assert run.exchanges[0].sse == "data: {}\n\n"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (json.dumps(RUN), ["a"]),
        (json.dumps(RUN, indent=2), ["a"]),
        (json.dumps([RUN, {**RUN, "id": "b"}]), ["a", "b"]),
        (json.dumps(RUN) + "\n" + json.dumps({**RUN, "id": "b"}), ["a", "b"]),
    ],
)
def test_json_files_hold_a_run_a_list_or_lines(tmp_path: Path, content: str, found: list[str]) -> None:
    (tmp_path / "runs.json").write_text(content, "utf-8")
    assert ids(read_transcripts(tmp_path)) == found


def test_the_first_line_shows_the_format_if_the_suffix_does_not(tmp_path: Path) -> None:
    assert ids(read_transcripts(write_lines(tmp_path / "runs.log", RUN, {**RUN, "id": "b"}))) == ["a", "b"]


def test_a_damaged_json_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text('{"exchanges": [\n{"text": }]}', "utf-8")
    with pytest.raises(TranscriptError, match=r"runs\.json: not JSON: .* line 2"):
        ids(read_transcripts(tmp_path))


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "runs.jsonl", RUN)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(TranscriptError, match=r"runs\.jsonl: cannot be read: Permission denied"):
        ids(read_transcripts(path))


def test_a_run_that_was_read_and_cannot_be_used_counts_as_skipped(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl", RUN)
    error = TranscriptError(path, 1, "tools: unusable")
    skipping = read_transcripts(path, on_error="skip")
    skipping.unusable(error)
    assert skipping.skipped == [error]
    with pytest.raises(TranscriptError, match="unusable"):
        read_transcripts(path).unusable(error)
