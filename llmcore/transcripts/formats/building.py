"""Builds a `Transcript` from data, or a `TranscriptError` that names the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from llmcore.transcripts.errors import TranscriptError
from llmcore.transcripts.model import Transcript

__all__ = ["build", "first_problem"]


def build(path: Path, line: int | None, data: Any, *, flat: bool | None = None) -> Transcript | TranscriptError:
    """The transcript that `data` describes. `flat` None = flat if it has no `exchanges`."""
    if not isinstance(data, dict):
        return TranscriptError(path, line, f"expected a JSON object, got {_json_type(data)}")
    try:
        transcript = Transcript.model_validate(data)
    except ValidationError as error:
        return TranscriptError(path, line, first_problem(error))
    return transcript.placed(path, line, flat="exchanges" not in data if flat is None else flat)


def first_problem(error: ValidationError) -> str:
    """The first problem as `exchanges[0].attempt.reason: what is wrong`. Values are omitted: they may be huge or
    private."""
    problem = error.errors(include_url=False, include_input=False)[0]
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"]).lstrip(".")
    what = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {what}" if where else what


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "a boolean"),
        (int, "a number"),
        (float, "a number"),
        (str, "a string"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "a list")
