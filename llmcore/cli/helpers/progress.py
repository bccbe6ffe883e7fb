"""Progress of long work, on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from llmcore.cli.output import terminal

__all__ = ["bytes_read", "spinner", "steps"]

_LONG_INPUT = 2_000_000
"""Input of this many bytes or more gets a progress bar."""


@contextmanager
def steps(words: str, total: int) -> Generator[Callable[[], None]]:
    """A bar of `total` steps. Call what is yielded after each."""
    console = terminal(err=True)
    if not console.is_terminal:
        yield lambda: None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(words, total=total)
        yield lambda: progress.advance(task)


@contextmanager
def bytes_read(words: str, total: int) -> Generator[Callable[[int], None]]:
    """A bar of bytes, for long input. Call what is yielded with the number of bytes that were read since."""
    console = terminal(err=True)
    if total < _LONG_INPUT or not console.is_terminal:
        yield lambda count: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(words, total=total)
        yield lambda count: progress.advance(task, count)


@contextmanager
def spinner(words: str) -> Generator[None]:
    """A sign that work goes on, whose length is not known."""
    console = terminal(err=True)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield
