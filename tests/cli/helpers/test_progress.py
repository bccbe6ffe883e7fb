"""Progress appears on a terminal, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from io import StringIO

import pytest
from rich.console import Console

from llmcore.cli.helpers import progress


def _screen(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> StringIO:
    """What standard error shows."""
    screen = StringIO()

    def terminal(*, err: bool) -> Console:
        assert err
        return Console(file=screen, force_terminal=is_terminal, width=80)

    monkeypatch.setattr(progress, "terminal", terminal)
    return screen


def _bar() -> AbstractContextManager[Callable[[int], None]]:
    return progress.bytes_read("repairing", 3_000_000)


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(
    ("begin", "words"),
    [(lambda: progress.steps("asking", 4), "asking"), (_bar, "repairing"), (lambda: progress.spinner("asking"), "asking")],
)
def test_progress_is_for_terminals(
    begin: Callable[[], AbstractContextManager[object]], words: str, is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = _screen(monkeypatch, is_terminal=is_terminal)
    with begin():
        pass
    assert (words in screen.getvalue()) == is_terminal


def test_short_input_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _screen(monkeypatch, is_terminal=True)
    with progress.bytes_read("repairing", 1000) as advance:
        advance(1000)
    assert screen.getvalue() == ""
