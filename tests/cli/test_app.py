"""The application as a whole: version, help, start-up cost."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

from llmcore import __version__
from llmcore.cli.app import COMMANDS
from tests.cli.conftest import ROOT, Invoke

HEAVY = {"litellm", "openai", "httpx", "aiohttp", "lxml", "jsonschema", "json_repair", "yaml", "regex", "griffe"}


def test_the_version(invoke: Invoke) -> None:
    assert invoke("--version").output == f"llmcore {__version__}\n"


def test_help_names_every_command(invoke: Invoke) -> None:
    output = invoke("--help").output
    for command in COMMANDS:
        assert f" {command.__name__} " in output
        assert invoke(command.__name__, "--help").exit_code == 0


def test_an_unknown_command_exits_2(script: Any) -> None:
    assert script("no-such-command").returncode == 2


def test_the_console_script_is_this() -> None:
    (found,) = entry_points(group="console_scripts", name="llmcore")
    assert found.value == "llmcore.cli:main"


def test_the_command_line_starts_light() -> None:
    code = "import json, sys, llmcore.cli.app; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert set(json.loads(done.stdout)) & HEAVY == set()
