"""setuptools' backend. When `LLMCORE_COMPILE=1` it also asks for mypy, for what mypy reads and for a compiler (see setup.py).

Run as a program it tells what a compiled build needs and this machine lacks.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).resolve().parent.parent


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """What pip installs before it builds a wheel."""
    if compiles():  # setup.py cannot run before they are there, so setuptools is not asked
        return locked(compiled_table()["requires"])
    needed: list[str] = build_meta.get_requires_for_build_wheel(config_settings)
    return needed


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """What pip asks before it builds a wheel. It tells nothing of what is compiled, so nothing is compiled for it."""
    asked = os.environ.pop("LLMCORE_COMPILE", None)
    try:
        name: str = build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
    finally:
        if asked is not None:
            os.environ["LLMCORE_COMPILE"] = asked
    return name


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """The wheel, of what stands in the tree now: setuptools also packs what an earlier build left in build/lib."""
    if compiles():
        demand_compiler()
    for left in _ROOT.glob("build/lib*"):
        shutil.rmtree(left)
    name: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def compiles() -> bool:
    """Does `LLMCORE_COMPILE` ask for a compiled wheel? Raises `SystemExit` where it says neither 1 nor 0."""
    said = os.environ.get("LLMCORE_COMPILE", "")
    if said not in ("", "0", "1"):
        sys.exit(f"LLMCORE_COMPILE must be 1 (a compiled wheel) or 0 (a pure one), not {said!r}")
    return said == "1"


def demand_compiler() -> None:
    """Raise `SystemExit`, which names what is missing, where this machine cannot compile C for this Python."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()  # `ccache gcc` names two
    header = Path(sysconfig.get_path("include"), "Python.h")
    missing: list[str] = []
    if sys.platform != "win32" and not any(map(shutil.which, compiler)):
        missing.append(f"a C compiler: {compiler[0]} is not on PATH (Debian, Ubuntu: apt install gcc)")
    if not header.is_file():
        missing.append(f"Python's headers: {header} is not there (Debian, Ubuntu: apt install python3-dev)")
    if missing:
        sys.exit("the compiled build needs\n" + "\n".join(f"- {one}" for one in missing))


def compiled_table() -> dict[str, Any]:
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table: dict[str, Any] = settings["tool"]["llmcore"]["compiled"]
    return table


def locked(names: list[str]) -> list[str]:
    """The distributions at the versions of the lock: others may type a library differently, which mypy would refuse."""
    lock = "".join((_ROOT / f"requirements{which}.lock").read_text(encoding="utf-8") for which in ("", "-dev"))
    pins = dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;\\]+)", lock, re.MULTILINE))
    return [f"{name}=={pins[name.lower()]}" for name in names]


if __name__ == "__main__":
    demand_compiler()
