"""What a compiled wheel is built with.

pip fetches for it what mypy reads: mypy follows the imports of what is compiled, and refuses what it cannot find.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from types import ModuleType

import pytest

from tests.packaging.tree import ROOT, module_name, modules, pyproject, source_files

_FILES = {module_name(path): path for path in source_files()}


def test_every_import_that_mypy_follows_is_fetched() -> None:
    fetched = {_plain(name) for name in pyproject()["tool"]["llmcore"]["compiled"]["requires"]}
    fetched |= {_plain(needed) for name in fetched for needed in _requires(name)}  # what they bring along
    found = packages_distributions()
    missing = {
        name
        for name in _imported_from_elsewhere()
        if fetched.isdisjoint(_plain(by) for by in [*found.get(name, ()), f"types-{name}", name])
    }
    assert missing == set()


def _requires(name: str) -> list[str]:
    return [] if name.startswith("types-") else requires(name) or []


def _plain(requirement: str) -> str:
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")
    return {"types-pyyaml": "types-yaml"}.get(name, name)


def _imported_from_elsewhere() -> set[str]:
    """The top names of other distributions' modules, in all of ours that what is compiled imports, directly or not."""
    ours, others = [*modules("compiled")], set[str]()
    for module in ours:  # grows meanwhile
        for name in _imports(ast.parse(_FILES[module].read_text("utf-8"))):
            top, *_ = parts = name.split(".")
            if top == "llmcore":
                within = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
                ours += [one for one in within if one in _FILES and one not in ours]
            elif top not in sys.stdlib_module_names:
                others.add(top)
    return others


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_a_source_distribution_holds_what_its_compiled_build_reads() -> None:
    held = (ROOT / "MANIFEST.in").read_text("utf-8").split()
    assert {"README.md", "setup.py", "requirements.lock", "requirements-dev.lock", "scripts/build_backend.py"} <= {*held}


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    return importlib.import_module("build_backend")


@pytest.mark.parametrize(("said", "compiles"), [("1", True), ("0", False), ("", False)])
def test_one_variable_asks_for_compilation(
    backend: ModuleType, monkeypatch: pytest.MonkeyPatch, said: str, compiles: bool
) -> None:
    monkeypatch.setenv("LLMCORE_COMPILE", said)
    assert backend.compiles() is compiles


def test_another_value_is_no_silent_pure_build(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMCORE_COMPILE", "true")
    with pytest.raises(SystemExit, match=r"LLMCORE_COMPILE must be 1 .* not 'true'"):
        backend.build_wheel("nowhere")


def test_a_machine_without_a_compiler_is_told_so(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    monkeypatch.setenv("LLMCORE_COMPILE", "1")
    with pytest.raises(SystemExit, match=r"needs\n- a C compiler: no-such-compiler is not on PATH"):
        backend.build_wheel("nowhere")
