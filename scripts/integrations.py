"""Run the tests of real clients, each set of them in an environment of its own, because their requirements clash.

    .venv/bin/python -m scripts.integrations [NAME...] [-- ARGUMENTS OF PYTEST]

tests/integrations/clients/environments.toml has the environments. Each is made once, in .venv-integrations-NAME. It is made anew
if its row, pyproject.toml or the checkout's path changes. That needs a network. uv makes it if it is on PATH, else pip.
All of them run; any failure fails.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "integrations" / "clients" / "environments.toml"


@dataclass(frozen=True)
class Environment:
    """A row. `clients`: the modules whose tests may not be skipped. `tests`: paths for pytest."""

    name: str
    requirements: tuple[str, ...]
    clients: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return ROOT / f".venv-integrations-{self.name}"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def key(self) -> str:
        """What the environment is made of."""
        made_of = "\n".join([str(ROOT), sys.version, *self.requirements, (ROOT / "pyproject.toml").read_text("utf-8")])
        return hashlib.sha256(made_of.encode()).hexdigest()

    def is_current(self) -> bool:
        """Whether it was made of the same."""
        made_of = self.folder / ".set-up"
        return made_of.is_file() and made_of.read_text("utf-8") == self.key()


def environments() -> dict[str, Environment]:
    """The rows of the table, by name."""
    table: dict[str, Any] = tomllib.loads(TABLE.read_text("utf-8"))
    common: list[str] = table.pop("common")["requirements"]
    return {name: _environment(name, row, common) for name, row in table.items()}


def _environment(name: str, row: Mapping[str, Any], common: Sequence[str]) -> Environment:
    clients: dict[str, str] = row["clients"]
    also: dict[str, str] = row.get("also", {})
    return Environment(name, (*clients.values(), *also.values(), *common), tuple(clients), tuple(row["tests"]))


def make(environment: Environment) -> None:
    """Make it anew, with this checkout as an editable install."""
    print(f"making {environment.folder.name}", flush=True)
    if uv := shutil.which("uv"):
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(environment.folder))
        install = [uv, "pip", "install", "--quiet", "--python", str(environment.python)]
    else:
        _run(sys.executable, "-m", "venv", "--clear", str(environment.folder))
        install = [str(environment.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(*install, "--only-binary", ":all:", *environment.requirements, "--editable", str(ROOT))
    (environment.folder / ".set-up").write_text(environment.key(), "utf-8")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT)


def run(environment: Environment, arguments: Sequence[str]) -> bool:
    """Whether its tests pass, all combinations of them."""
    told = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    told["LLMCORE_CLIENTS"] = " ".join(environment.clients)
    pytest = [str(environment.python), "-m", "pytest", "--numprocesses=auto", "--dist=worksteal", *arguments, *environment.tests]
    return subprocess.run(pytest, check=False, cwd=ROOT, env=told).returncode == 0


def main(given: Sequence[str]) -> int:
    """The exit status: 1 if any test fails, 2 for a name that the table does not have."""
    at = given.index("--") if "--" in given else len(given)
    names, arguments, table = given[:at], given[at + 1 :], environments()
    if unknown := [name for name in names if name not in table]:
        print(f"integrations: no environment {', '.join(unknown)}; there are {', '.join(table)}", file=sys.stderr)
        return 2
    failed: list[str] = []
    for name in names or table:
        environment = table[name]
        print(f"== {name}: {', '.join(environment.requirements)}", flush=True)
        if not environment.is_current():
            make(environment)
        if not run(environment, arguments):
            failed.append(name)
    if failed:
        print(f"integrations: tests failed in {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
