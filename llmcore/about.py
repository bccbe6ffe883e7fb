"""What this installation is: its version, and which of its modules are compiled."""

from __future__ import annotations

import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import NamedTuple

import llmcore

__all__ = ["BuildInfo", "build_info"]

_COMPILED = ("llmcore.normalizer.text.engine", "llmcore.validator.schema.survey")
"""One module of each group that a compiled wheel compiles (pyproject.toml, `[tool.llmcore.compiled]`)."""


class BuildInfo(NamedTuple):
    """What is installed. Its `str` is one line."""

    version: str
    compiled: tuple[str, ...]
    """The groups of modules that are compiled, by their package; empty in a pure build and in a checkout."""
    python: str
    """E.g. `CPython 3.11.7`."""
    platform: str
    """E.g. `linux-x86_64`."""

    def __str__(self) -> str:
        build = f"compiled: {', '.join(self.compiled)}" if self.compiled else "pure Python"
        return f"llmcore {self.version} ({build}; {self.python}, {self.platform})"


def build_info() -> BuildInfo:
    """Which build of llmcore this is. Loads none of the modules it asks about."""
    compiled = [name for name in _COMPILED if _is_compiled(name)]
    return BuildInfo(
        version=llmcore.__version__,
        compiled=tuple(".".join(name.split(".")[:2]) for name in compiled),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=f"{sys.platform}-{platform.machine()}",
    )


def _is_compiled(name: str) -> bool:
    spec = find_spec(name)
    return spec is not None and spec.origin is not None and spec.origin.endswith(tuple(EXTENSION_SUFFIXES))
