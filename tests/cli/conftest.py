"""Running commands: in this process for what they print, through the console script for what a shell sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from llmcore.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
Invoke = Callable[..., Result]


@pytest.fixture(autouse=True)
def _as_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as wide as they need: with $COLUMNS, which a shell may export and the workers of pytest-xdist have, they are cut."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def invoke() -> Invoke:
    """`invoke("normalize", "-", stdin="...")`. An exception that is no exit is raised, as the console script would."""

    def run(*arguments: str | Path, stdin: str | bytes | None = None, **options: Any) -> Result:
        return CliRunner().invoke(
            app, list(map(str, arguments)), input=stdin, catch_exceptions=False, prog_name="llmcore", **options
        )

    return run


@pytest.fixture
def script() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """The console script, or what it does, in a process of its own."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", "from llmcore.cli import main; main()", *map(str, arguments)]
        return subprocess.run(command, input=stdin, capture_output=True, cwd=ROOT, timeout=120)

    return run


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Write a JSON Lines file; a str is a line as it is."""

    def write(*given: object, name: str = "runs.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in given), "utf-8")
        return path

    return write


@pytest.fixture
def script_of() -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run code in a process of its own, for what only a whole process shows."""

    def run(code: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, cwd=ROOT, timeout=60, encoding="utf-8", env=environment
        )

    return run
