"""The parser interfaces of vLLM and SGLang, run as published, without torch.

    python -m tests.integrations.servers.sources   # fetches their sources once, into .server-sources

A wheel has up to 340 MB, of which only the Python files are kept. `stand_in` lets the modules of `real` be imported from them. All
other modules of the server, and its heavy dependencies, become stand-ins, whose classes take any fields.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import types
import zipfile
from collections.abc import Collection, Generator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ["FOLDER", "fetch", "stand_in"]

FOLDER = Path(__file__).parents[3] / ".server-sources"
_PINS = ("vllm==0.33.0", "sglang==0.5.23")
_HEAVY = frozenset({"torch", "transformers", "xgrammar", "openai_harmony", "partial_json_parser", "regex", "orjson", "msgspec"})


def fetch() -> None:
    """Download the wheels and keep their Python files."""
    for pin in _PINS:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, pin], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(FOLDER, [name for name in archive.namelist() if name.endswith(".py")])


@contextmanager
def stand_in(package: str, real: Collection[str]) -> Generator[None]:
    """Let `package` be imported from the sources: the modules of `real` as published, all others as stand-ins."""
    before, finder = set(sys.modules), _Finder(package, frozenset(real))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name.split(".")[0] in finder.stand_ins or name.startswith("llmcore.integrations.servers."):
                del sys.modules[name]


class _StandIn(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        fields = {"model_config": ConfigDict(extra="allow", arbitrary_types_allowed=True), "__module__": self.__name__}
        made = type(name, (BaseModel,), fields)
        setattr(self, name, made)
        return made


class _Finder(MetaPathFinder, Loader):
    def __init__(self, package: str, real: frozenset[str]) -> None:
        self._real = real
        self.stand_ins = {package, *(name for name in _HEAVY if importlib.util.find_spec(name) is None)}

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name in self._real:
            return importlib.util.spec_from_file_location(name, FOLDER.joinpath(*name.split(".")).with_suffix(".py"))
        if name.split(".")[0] in self.stand_ins:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = _StandIn(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """A stand-in runs nothing."""


if __name__ == "__main__":
    fetch()
