"""A call in words for users (`tool(summary=...)`): what a console shows beside a tool that runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmcore.tools.options import Summary
from llmcore.tools.results import as_text, escaped
from llmcore.types.copies import copied
from llmcore.types.numbers import exact_json, holds_exact_floats

__all__ = ["summary_of"]

_MAX_CHARS = 300
_MAX_VALUE = 60


def summary_of(name: str, summary: Summary | None, arguments: Mapping[str, Any] | None) -> str:
    """By the author's `summary`; the name and the arguments where there is none, or it fails: it must not end a run."""
    given = dict(arguments or {})
    if summary is not None:
        try:
            text = summary.format_map(given) if isinstance(summary, str) else summary(copied(given))
            return _one_line(str(text))
        except Exception:  # of the author's code, or a parameter that was left out
            pass
    parts = [f"{key}={_short(value)}" for key, value in given.items()]
    return _one_line(f"{name}({', '.join(parts)})")


def _short(value: Any) -> str:
    text = exact_json(value) if holds_exact_floats(value) else as_text(value)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _one_line(text: str) -> str:
    line = " ".join(escaped(text).split())
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}..."
