"""The version of this installation, and which of its modules are compiled."""

from __future__ import annotations

import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NamedTuple

import llmcore

__all__ = ["BuildInfo", "build_info"]


class BuildInfo(NamedTuple):
    """The build that is installed. Its `str` is one line."""

    version: str
    compiled: tuple[str, ...]
    """The packages with compiled modules, sorted; empty in a pure build and in a checkout."""
    python: str
    """For example `CPython 3.11.7`."""
    platform: str
    """For example `linux-x86_64`."""

    def __str__(self) -> str:
        build = f"compiled: {', '.join(self.compiled)}" if self.compiled else "pure Python"
        return f"llmcore {self.version} ({build}; {self.python}, {self.platform})"


def build_info() -> BuildInfo:
    """The build of llmcore that is installed. Imports none of its modules."""
    return BuildInfo(
        version=llmcore.__version__,
        compiled=_compiled(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=f"{sys.platform}-{platform.machine()}",
    )


def _compiled() -> tuple[str, ...]:
    root = Path(__file__).parent
    files = [path for suffix in EXTENSION_SUFFIXES for path in root.rglob(f"*{suffix}")]
    return tuple(sorted({f"llmcore.{path.relative_to(root).parts[0]}" for path in files}))
