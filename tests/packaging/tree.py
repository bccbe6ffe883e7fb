"""The project's files as the tests of packaging see them.

The four layers stand beside `llmcore` on disk and import from inside it: `adapters/x.py` is `llmcore.adapters.x`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import llmcore

__all__ = ["LAYERS", "PUBLIC_NAMES", "ROOT", "ROOTS", "module_name", "pyproject", "python_files", "source_files"]

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("adapters", "normalizer", "validator", "fallback")
ROOTS = ("llmcore", *LAYERS)
PUBLIC_NAMES: list[str] = vars(llmcore)["__all__"]
"""Of the face; type checkers are shown the names themselves and no list of them."""
_OTHER_PYTHON = ("tests", "examples", "benchmarks", "scripts")


@cache
def pyproject() -> dict[str, Any]:
    """The content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _files(roots: tuple[str, ...], pattern: str) -> list[Path]:
    return sorted(
        path
        for root in roots
        for path in (ROOT / root).rglob(pattern)
        if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in path.parts[len(ROOT.parts) :])
    )


def source_files(pattern: str = "*.py") -> list[Path]:
    """Files of the library itself: everything that belongs into the wheel."""
    return _files(ROOTS, pattern)


def python_files() -> list[Path]:
    """All Python files of the project, tests and scripts too."""
    return _files(ROOTS + _OTHER_PYTHON, "*.py")


def module_name(path: Path) -> str:
    """The dotted import name of a source file; of a package's `__init__.py`, the package's."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return dotted if parts[0] == "llmcore" else f"llmcore.{dotted}"
