"""Prints everything of the command line. No text of a model, server or file can break the output or control the
terminal.

Every line goes through `write` (a test checks that nothing else prints). In text, tables and JSON, to a terminal, pipe
or file, characters that control a terminal or hide text become escapes: control characters (except line breaks and
tabs of the layout), marks that change the direction of writing, invisible format characters, tags, lone surrogates.
The joiners that emoji and Persian need stay. JSON uses its own escapes, so parsing it gives the original text.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from llmcore.adapters.secrets.known_secrets import process_scrubber

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

__all__ = [
    "EXIT_UNMET",
    "EXIT_UNREADABLE",
    "as_json_text",
    "exit_with_error",
    "guard_output",
    "inline",
    "note",
    "printable",
    "safe_json",
    "shortened_line",
    "terminal",
    "write",
]

EXIT_UNMET = 1
EXIT_UNREADABLE = 2

_WIDTH_OF_A_PIPE = 400
_HIDDEN = (
    "\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufe00-\ufe0e\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's control, format and separator characters except U+200C and U+200D; variation selectors except emoji's
U+FE0F; lone surrogates and noncharacters."""
_UNSAFE = re.compile(f"[\x00-\x1f{_HIDDEN}]")
_UNSAFE_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_HIDDEN}]")


def guard_output() -> None:
    """Set up the command's process: log records and tracebacks are escaped too, and so are characters that the stream's
    encoding cannot represent."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    sys.excepthook = _write_traceback
    logging.basicConfig(handlers=[_LogLines()], level=logging.WARNING)
    logging.captureWarnings(True)


def write(what: str | RenderableType, *, err: bool = False, wrap: bool = True, end: str = "\n") -> None:
    """Print text (one or several lines) or a rich renderable, without buffering, since a pipe's reader is waiting.

    `err`: to standard error, with keys removed from text. Results on standard output keep them. `wrap` False: do not
    break a renderable's lines. `end`: "" if the line goes on.
    """
    if isinstance(what, str):
        typer.echo(printable(process_scrubber().text(what) if err else what) + end, err=err, nl=False)
    else:
        terminal(err=err).print(_Escaped(what), soft_wrap=not wrap, end=end)


def note(text: str) -> None:
    """One line to standard error."""
    write(inline(text), err=True)


def exit_with_error(message: str, code: int = EXIT_UNREADABLE) -> NoReturn:
    """End with one line on standard error."""
    note(f"llmcore: error: {message}")
    raise typer.Exit(code)


def terminal(*, err: bool = False) -> Console:
    """A console as wide as the terminal (or $COLUMNS). In a pipe, nothing is cut. Text is never read as markup."""
    from rich.console import Console

    console = Console(stderr=err, markup=False, emoji=False, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_A_PIPE
    return console


def printable(text: str) -> str:
    """Text that is safe to print, with its line breaks and tabs."""
    return _UNSAFE_IN_LINES.sub(_escape, text)


def inline(text: str) -> str:
    """Text on one line: line breaks and tabs become escapes too."""
    return _UNSAFE.sub(_escape, text)


def shortened_line(value: Any, length: int = 300) -> str:
    """A text, or another value as JSON, on one line and cut to `length` characters."""
    text = value if isinstance(value, str) else as_json_text(value)
    return inline(text if len(text) <= length else f"{text[:length]}... ({len(text)} characters)")


def as_json_text(value: Any, indent: int | None = None, *, allow_nan: bool = False) -> str:
    """JSON that is valid and safe to print. Unsafe characters become JSON's escapes, other types (pydantic models,
    tuples) their plain data, and numbers that JSON does not have the texts "NaN", "Infinity" and "-Infinity".

    `allow_nan`: such numbers stay numbers, as Python's `json` reads and writes them."""
    only_ascii = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    try:
        text = json.dumps(value, ensure_ascii=only_ascii, indent=indent, default=_plain, allow_nan=allow_nan)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=only_ascii, indent=indent, default=_plain)
    return safe_json(text)


def safe_json(text: str) -> str:
    """JSON text with JSON's escapes for its unsafe characters."""
    return _UNSAFE_IN_LINES.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]  # any JSON
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]  # any JSON
    return value if value is None or isinstance(value, str | int | float) else _finite(_plain(value))


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    return dict(value) if isinstance(value, Mapping) else str(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


class _Escaped:
    """A renderable whose text is escaped after its layout, so that no cell is missed."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


class _LogLines(logging.Handler):
    """Prints log records to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        write(f"llmcore: {record.levelname.lower()}: {self.format(record)}", err=True)


def _write_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    write("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"), err=True)
