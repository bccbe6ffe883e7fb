"""What is wrong with a transcript file, and where."""

from __future__ import annotations

from pathlib import Path

from llmcore.types import CallerError

__all__ = ["OverLimit", "TranscriptError"]


class TranscriptError(CallerError):
    """A file, or one line or interaction of it, cannot be read.

    `path` is the file, `line` its line, counted from 1 (None: the whole file), `message` what is wrong. It reads
    `path:line: message`, a form that editors can open.
    """

    def __init__(self, path: Path | str, line: int | None, message: str) -> None:
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {message}")
        self.path = Path(path)
        self.line = line
        self.message = message


class OverLimit(CallerError):
    """A recording, a line or a body in it exceeds one of `FileLimits`. The message names the limit."""
