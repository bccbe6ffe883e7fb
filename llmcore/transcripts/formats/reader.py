"""Reads files and folders of transcripts, one run at a time.

Rules: a JSON Lines file of any size is read line by line; other formats are loaded one file at a time. A path that
does not exist, or a folder without transcripts, raises at once. An error inside a file names file and line. With
`on_error` "fail", the first one raises; with "skip", the reader counts and skips them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import SEEK_CUR, PathLike
from pathlib import Path
from typing import BinaryIO, Literal

from llmcore.support.values.narrowing import is_list, object_in
from llmcore.transcripts.errors import OverLimit, TranscriptError
from llmcore.transcripts.formats.building import build
from llmcore.transcripts.formats.cassettes import interactions_of, read_cassette
from llmcore.transcripts.formats.decoding import decode_utf8, load_json, whole_file
from llmcore.transcripts.model import REPLY_KEYS, Transcript
from llmcore.types.limits import RECORDING_LIMITS

__all__ = ["SUFFIXES", "OnError", "TranscriptReader", "read_transcripts"]

OnError = Literal["fail", "skip"]
Entry = Transcript | TranscriptError

_KEPT_ERRORS = 100
_SKIPPED_AT_ONCE = 1024 * 1024
_SNIFFED = 4 * 1024 * 1024
_UNREADABLE = (ValueError, OverLimit)


def read_transcripts(*paths: str | PathLike[str], on_error: OnError = "fail") -> TranscriptReader:
    """The transcripts of files and folders, in order. A folder is read by name, without hidden files.

    Raises `TranscriptError` for a path that does not exist or a folder without transcripts. With "fail", iterating
    raises it for the first unreadable entry.
    """
    return TranscriptReader(paths, on_error=on_error)


class TranscriptReader:
    """Iterate it once. `bytes_read` of `bytes_total` is the progress. `skipped` has the first hundred of the
    `skipped_count` errors."""

    def __init__(self, paths: Iterable[str | PathLike[str]], *, on_error: OnError = "fail") -> None:
        self.files = [file for path in paths for file in _files(Path(path))]
        self.bytes_total = sum(_size(file) for file in self.files)
        self.bytes_read = 0
        self.skipped: list[TranscriptError] = []
        self.skipped_count = 0
        self._on_error = on_error

    def __iter__(self) -> Iterator[Transcript]:
        done = 0
        for file in self.files:
            for entry, position in _entries(file):
                self.bytes_read = done + position
                if isinstance(entry, Transcript):
                    yield entry
                else:
                    self.unusable(entry)
            done += _size(file)
            self.bytes_read = done

    def unusable(self, error: TranscriptError) -> None:
        """Report an entry that cannot be read or judged: raises it with "fail", counts it with "skip"."""
        if self._on_error == "fail":
            raise error
        self.skipped_count += 1
        if len(self.skipped) < _KEPT_ERRORS:
            self.skipped.append(error)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise TranscriptError(path, None, "not a file" if path.exists() else "no such file or folder")
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and file.is_file()
    )
    if not found:
        raise TranscriptError(path, None, f"the folder holds no transcripts ({', '.join(sorted(SUFFIXES))})")
    return found


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _entries(file: Path) -> Iterator[tuple[Entry, int]]:
    """The entries of the file, each with the number of bytes read so far."""
    try:
        with file.open("rb") as handle:
            for entry in _format_of(file, handle)(file, handle):
                yield entry, handle.tell()
    except OSError as error:
        yield TranscriptError(file, None, f"cannot be read: {error.strerror or error}"), 0
    except Exception as error:  # an unforeseen error in one file does not stop the others
        failure = TranscriptError(file, None, f"cannot be read: {type(error).__name__}: {str(error)[:200]}")
        failure.__cause__ = error
        yield failure, 0


# --- formats ----------------------------------------------------------------------------------------------------------


def _json_lines(path: Path, handle: BinaryIO) -> Iterator[Entry]:
    number = 0
    limit = RECORDING_LIMITS.size
    while line := handle.readline(limit + 1):
        number += 1
        if len(line) > limit:
            _skip_line(handle)
            yield TranscriptError(path, number, f"a line of more than {limit} bytes")
        elif not line.isspace():
            yield _from_json(path, number, line)


def _from_json(path: Path, number: int, line: bytes) -> Entry:
    try:
        data = load_json(decode_utf8(line.rstrip(b"\r\n")), unique=True)
    except _UNREADABLE as error:
        return TranscriptError(path, number, str(error))
    return build(path, number, data)


def _skip_line(handle: BinaryIO) -> None:
    while piece := handle.read(_SKIPPED_AT_ONCE):
        end = piece.find(b"\n")
        if end >= 0:
            handle.seek(end + 1 - len(piece), SEEK_CUR)
            return


def _json_document(path: Path, handle: BinaryIO) -> Iterator[Entry]:
    """A cassette in JSON, one run, or a list of runs."""
    try:
        data = load_json(decode_utf8(whole_file(handle)), unique=True)
    except _UNREADABLE as error:
        yield TranscriptError(path, None, str(error))
        return
    cassette = object_in(data).get("interactions")
    if is_list(cassette):
        yield from interactions_of(path, cassette)
        return
    for item in data if is_list(data) else [data]:
        yield build(path, None, item)


def _cassette(path: Path, handle: BinaryIO) -> Iterator[Entry]:
    try:
        data = whole_file(handle)
    except _UNREADABLE as error:
        yield TranscriptError(path, None, str(error))
        return
    yield from read_cassette(path, data)


def _one_reply(key: str) -> Callable[[Path, BinaryIO], Iterator[Entry]]:
    """A reader for a file with only one reply: a model's text (`text`), or a recorded stream (`sse`)."""

    def read(path: Path, handle: BinaryIO) -> Iterator[Entry]:
        try:
            text = decode_utf8(whole_file(handle))
        except _UNREADABLE as error:
            yield TranscriptError(path, None, str(error))
            return
        yield build(path, None, {"id": path.name, key: text})

    return read


Format = Callable[[Path, BinaryIO], Iterator[Entry]]

_plain_text = _one_reply("text")
_FORMATS: dict[str, Format] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_document,
    ".yaml": _cassette,
    ".yml": _cassette,
    ".txt": _plain_text,
    ".sse": _one_reply("sse"),
}
SUFFIXES = frozenset(_FORMATS)
"""The suffixes read in a folder. A file that you name may have any other suffix: it is JSON Lines or plain text."""


def _format_of(file: Path, handle: BinaryIO) -> Format:
    """The format by suffix. The first line decides for an unknown suffix and for `.json`, which often has lines."""
    known = _FORMATS.get(file.suffix.lower())
    if known is not None and known is not _json_document:
        return known
    first = handle.readline(_SNIFFED)
    more = handle.read(1)
    handle.seek(0)
    if _is_run(first) and (more or known is None):
        return _json_lines
    return known or _plain_text


def _is_run(line: bytes) -> bool:
    try:
        data = load_json(decode_utf8(line))
    except _UNREADABLE:
        return False
    return not {"exchanges", *REPLY_KEYS}.isdisjoint(object_in(data))
