"""Writing to a terminal or a pipe what models wrote: nothing in it may break the output or steer the terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import typer

__all__ = ["EXIT_UNMET", "EXIT_UNREADABLE", "fail", "inline", "json_text", "shortened", "tolerate_any_text", "write"]

EXIT_UNMET = 1
EXIT_UNREADABLE = 2

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Line breaks, terminal escapes, and the marks that turn the direction of writing."""


def tolerate_any_text() -> None:
    """Show what the terminal's encoding cannot hold, and lone surrogates, as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """One line, or several, to standard output, at once: a pipe's reader is waiting."""
    typer.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def fail(message: str, code: int = EXIT_UNREADABLE) -> NoReturn:
    """End with one line on standard error."""
    typer.echo(f"llmcore: error: {inline(message)}", err=True)
    raise typer.Exit(code)


def inline(text: str) -> str:
    """Text on one line, control characters shown as escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shortened(value: Any, length: int = 300) -> str:
    """A value as JSON, a text as it is, on one line and cut to `length` characters."""
    text = value if isinstance(value, str) else json_text(value)
    return inline(text if len(text) <= length else f"{text[:length]}... ({len(text)} characters)")


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that any reader takes: lone surrogates as escapes, what is no JSON (pydantic models, tuples) as its plain
    data."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, default=_plain)
    return text


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(by_alias=True)
    return dict(value) if isinstance(value, Mapping) else str(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
