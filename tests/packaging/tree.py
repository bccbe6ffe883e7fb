"""The project's files as the tests of packaging see them.

The four layers stand beside `llmcore` on disk and import from inside it: `adapters/x.py` is `llmcore.adapters.x`.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, Literal

import llmcore

__all__ = ["LAYERS", "PUBLIC_NAMES", "ROOT", "ROOTS", "module_name", "modules", "pyproject", "python_files", "source_files"]

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


def modules(build: Literal["compiled", "interpreted"]) -> list[str]:
    """The modules that the table of a compiled wheel names: those it compiles, or those it leaves interpreted."""
    table = pyproject()["tool"]["llmcore"]["compiled"]
    patterns = [pattern.replace("**/", "") for pattern in table["modules"]]  # fnmatch's star goes on behind a slash
    names = {module_name(path): path.name for path in source_files()}
    paths = {name: f"{name.replace('.', '/')}.py" for name, file in names.items() if file != "__init__.py"}
    found = {name: path for name, path in paths.items() if any(fnmatch(path, pattern) for pattern in patterns)}
    return [name for name, path in found.items() if (path in table["interpreted"]) == (build == "interpreted")]
