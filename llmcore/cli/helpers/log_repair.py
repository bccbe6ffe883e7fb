"""`llmcore normalize --openai`: a filter for chat logs in JSON lines. Calls in text become native calls."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import typer

from llmcore.cli.helpers.progress import bytes_read
from llmcore.cli.output import EXIT_UNMET, as_json_text, exit_with_error, note, printable, safe_json, write
from llmcore.types import CallerError
from llmcore.types.limits import RECORDING_LIMITS
from llmcore.wire import RewriteSettings
from llmcore.wire.openai_chat import RepairedReply, repair_row

__all__ = ["repair_log"]


def repair_log(source: BinaryIO, settings: RewriteSettings, report: Path | None) -> None:
    """Print each line of the log, with native calls in place of calls in text. A line in which nothing changes stays as it is.

    - `settings.tools` are for lines that offer no tools.
    - `report`: a file that gets one JSON line for each reply that changed or in which a call was withheld.
    - Standard error gets a summary.

    Ends with exit code 1 if a line cannot be read. Such a line is printed as it came.
    """
    counts = _Counts()
    with _report_file(report) as reporting, bytes_read("repairing", _size(source)) as advance:
        for number, line in enumerate(_lines(source), 1):
            advance(len(line))
            written, replies = _repaired(line, number, settings, counts)
            write(written)
            counts.add(replies)
            for reply in replies:
                if reporting is not None and (reply.changed or reply.report.withheld):
                    reporting.write(printable(as_json_text(_reported(number, reply))) + "\n")
    for text in counts.summary():
        note(text)
    if counts.unreadable:
        raise typer.Exit(EXIT_UNMET)


def _repaired(line: bytes, number: int, settings: RewriteSettings, counts: _Counts) -> tuple[str, list[RepairedReply]]:
    """The line to print for this one, and a report of each reply in it."""
    text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    if not text.strip():
        return text, []
    counts.rows += 1
    try:
        row = json.loads(line)
        repaired = repair_row(row, settings)
    except (ValueError, RecursionError, CallerError) as error:
        counts.unreadable += 1
        note(f"line {number}: {'it is nested too deep' if isinstance(error, RecursionError) else error}")
        return text, []
    return safe_json(text) if repaired.row is row else as_json_text(repaired.row, allow_nan=True), repaired.replies


def _size(source: BinaryIO) -> int:
    """The bytes of a file; 0 for a pipe."""
    try:
        return os.fstat(source.fileno()).st_size
    except OSError:
        return 0


def _lines(source: BinaryIO) -> Iterator[bytes]:
    while line := source.readline(RECORDING_LIMITS.size + 1):
        if len(line) > RECORDING_LIMITS.size:
            exit_with_error(f"a line of more than {RECORDING_LIMITS.size} bytes")
        yield line


@contextmanager
def _report_file(path: Path | None) -> Generator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        with path.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror or error}")


def _reported(number: int, reply: RepairedReply) -> dict[str, Any]:
    report = reply.report
    return {
        "line": number,
        "place": reply.place,
        "calls": [call.model_dump(include={"id", "name", "arguments", "dialect", "repairs"}) for call in report.calls],
        "withheld": [
            {"name": each.call.name, "dialect": each.call.dialect, "reason": each.reason, "detail": each.detail}
            for each in report.withheld
        ],
    }


@dataclass(slots=True)
class _Counts:
    rows: int = 0
    replies: int = 0
    changed: int = 0
    unreadable: int = 0
    dialects: Counter[str] = field(default_factory=Counter[str])
    repairs: Counter[str] = field(default_factory=Counter[str])
    withheld: Counter[str] = field(default_factory=Counter[str])

    def add(self, replies: list[RepairedReply]) -> None:
        self.replies += len(replies)
        for reply in replies:
            self.changed += reply.changed
            calls = [call for call in reply.report.calls if call.span is not None]
            self.dialects.update(call.dialect for call in calls)
            self.repairs.update(repair.kind for call in calls for repair in call.repairs)
            self.withheld.update(each.detail or each.reason for each in reply.report.withheld)

    def summary(self) -> Iterator[str]:
        unreadable = f", {self.unreadable} unreadable" if self.unreadable else ""
        yield f"lines: {self.rows}{unreadable}; replies: {self.replies}, {self.changed} changed"
        for what, found in (("new calls", self.dialects), ("repairs", self.repairs), ("withheld", self.withheld)):
            if found:
                yield f"{what}: {found.total()} ({', '.join(f'{kind} {count}' for kind, count in found.most_common())})"
