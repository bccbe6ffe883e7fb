"""The build of wheels. Everything but compilation stands in pyproject.toml; without `LLMCORE_COMPILE=1` this adds nothing.

With it, mypyc compiles the modules that `[tool.llmcore.compiled]` names, from the same files: a wheel for this platform and this
Python. Their sources are packed too, for tracebacks and for type checkers; Python prefers the compiled module beside them.

With `LLMCORE_REPOSITORY_URL`, the URL of the repository, a release gets its project URLs, and absolute links in its README.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

if TYPE_CHECKING:
    from setuptools import Extension

ROOT = Path(__file__).resolve().parent
TREE = ROOT / "build" / "tree"
"""The packages as they import: mypyc takes a module's name from its path, and the layers stand beside `llmcore` on disk."""


def extensions() -> list[Extension]:
    """The compiled modules. Raises `SystemExit` where mypyc is missing."""
    try:
        from mypyc.build import mypycify
    except ImportError:
        sys.exit("LLMCORE_COMPILE=1 needs mypy, which brings mypyc: pip install 'mypy>=1.15'")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    _lay_out(settings["setuptools"]["package-dir"])
    paths = [str(path.relative_to(TREE)) for path in modules(settings["llmcore"]["compiled"])]
    os.chdir(TREE)  # mypy names modules from here
    try:
        found: list[Extension] = mypycify(
            ["--config-file", str(ROOT / "pyproject.toml"), "--disable-error-code=unused-ignore", *paths],
            opt_level=os.environ.get("MYPYC_OPT_LEVEL", "2"),  # named as in mypy's own build
            debug_level="0",
            multi_file=True,
            target_dir=str(TREE.parent / "c"),
            group_name="llmcore",
        )
    finally:
        os.chdir(ROOT)
    for extension in found if sys.platform != "win32" else ():
        # One library holds all modules: calls among them need no table of symbols, which is a tenth of it.
        extension.extra_compile_args = [*extension.extra_compile_args, "-fvisibility=hidden"]
    return found


def _lay_out(package_dir: dict[str, str]) -> None:
    shutil.rmtree(TREE, ignore_errors=True)
    for package, folder in sorted(package_dir.items()):
        shutil.copytree(ROOT / folder, TREE.joinpath(*package.split(".")), ignore=shutil.ignore_patterns("__pycache__"))


def modules(compiled: dict[str, Any]) -> list[Path]:
    """The files that the table names: globs of files, without those of `interpreted`."""
    interpreted = {TREE / path for path in compiled["interpreted"]}
    found = [path for pattern in compiled["modules"] for path in sorted(TREE.glob(pattern)) if path.name != "__init__.py"]
    return [path for path in found if path not in interpreted]


class BuildOnAllCores(build_ext):
    """One library holds all modules, and setuptools compiles the files of a library one after the other."""

    def build_extensions(self) -> None:
        compiled, cores = self.compiler.compile, os.cpu_count() or 1

        def compile_at_once(sources: list[str], *args: Any, **named: Any) -> list[str]:
            with ThreadPoolExecutor(cores) as pool:
                parts = pool.map(lambda part: compiled(part, *args, **named), [sources[core::cores] for core in range(cores)])
                return [made for part in parts for made in part]

        self.compiler.compile = compile_at_once
        super().build_extensions()


def project_urls(repository: str) -> dict[str, str]:
    """The URLs of the project's page on an index. None, if the repository is not known."""
    pages = {"Documentation": "docs/index.md", "Changes": "CHANGELOG.md", "Security": "SECURITY.md"}
    found = {label: f"{repository}/blob/main/{page}" for label, page in pages.items()}
    return {"Source": repository, "Issues": f"{repository}/issues", **found} if repository else {}


def description(repository: str) -> str:
    """The README. An index shows it apart from the repository, so its links and pictures get the release's full URLs."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if not repository:
        return text
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    picture = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", rf"\1{repository}/raw/v{version}/", text)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\1{repository}/blob/v{version}/", picture)


REPOSITORY = os.environ.get("LLMCORE_REPOSITORY_URL", "").rstrip("/")
setup(
    long_description=description(REPOSITORY),
    long_description_content_type="text/markdown",
    project_urls=project_urls(REPOSITORY),
    cmdclass={"build_ext": BuildOnAllCores},
    ext_modules=extensions() if os.environ.get("LLMCORE_COMPILE") == "1" else [],
)
