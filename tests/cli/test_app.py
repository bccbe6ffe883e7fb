"""The application as a whole: version, help, start-up cost."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from llmcore import __version__
from llmcore.cli.app import COMMANDS
from tests.cli.conftest import ROOT, Invoke

HEAVY = {"litellm", "openai", "httpx", "aiohttp", "lxml", "jsonschema", "json_repair", "yaml", "regex", "griffe"}


def test_the_version(invoke: Invoke) -> None:
    assert invoke("--version").output.startswith(f"llmcore {__version__} (pure Python; ")


def test_help_names_every_command(invoke: Invoke) -> None:
    output = invoke("--help").output
    for name in COMMANDS:
        assert f" {name} " in output
        assert invoke(name, "--help").exit_code == 0


SERVERS = {"mcp", "play", "serve"}
"""Commands that serve until they are ended. They have no result to print."""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_exit_codes_and_an_example(invoke: Invoke, name: str) -> None:
    output = invoke(name, "--help", env={"COLUMNS": "400"}).output
    assert "Exit code 0" in output
    assert re.search(rf"Example: llmcore {name}\b", output)
    assert ("--json" in output) == (name not in SERVERS)


def test_the_page_has_the_exit_codes_of_every_command() -> None:
    sections = {
        part.split()[0].strip("`"): part for part in (ROOT / "docs" / "cli.md").read_text("utf-8").split("\n## `llmcore ")[1:]
    }
    assert list(sections) == list(COMMANDS)
    assert all("Exit code 0" in text for text in sections.values())


@pytest.mark.parametrize(
    ("words", "completed"),
    [("expl", ["explain"]), ("explain trailing_c", ["trailing_comma"]), ("chat sma", ["smart", "small"])],
)
def test_a_shell_completes_commands_codes_and_aliases(tmp_path: Path, words: str, completed: list[str]) -> None:
    registry = tmp_path / "models.yaml"
    models = {alias: {"provider": "openai", "model": "gpt-4o"} for alias in ("smart", "small", "other")}
    registry.write_text(json.dumps({"models": models}), "utf-8")
    environment = {
        **os.environ,
        "_LLMCORE_COMPLETE": "complete_bash",
        "COMP_WORDS": f"llmcore {words}",
        "COMP_CWORD": str(words.count(" ") + 1),
        "LLMCORE_MODELS": str(registry),
    }
    done = subprocess.run(
        [sys.executable, "-m", "llmcore"], capture_output=True, text=True, cwd=ROOT, timeout=60, env=environment
    )
    assert done.stdout.split() == completed


MISTAKES: dict[str, tuple[list[str], str]] = {
    "an unknown command": (["no-such-command"], "No such command 'no-such-command' (see `llmcore --help`)"),
    "a mistyped command": (["modles"], "No such command 'modles'. Did you mean 'models'? (see `llmcore --help`)"),
    "a mistyped option": (["verify", "--refrence", "x", "y"], "(Possible options: --reference)"),
    "an unknown option": (["--nope"], "No such option: --nope (see `llmcore --help`)"),
    "an unknown option of a command": (["replay", "--nope", "x"], "No such option: --nope"),
    "a missing argument": (["replay"], "Missing argument 'PATH...' (see `llmcore replay --help`)"),
    "a missing option": (["record", "openai/gpt-4o", "Hello"], "Missing option '--output' / '-o'"),
    "no number": (["replay", "x", "--show", "many"], "Invalid value for '--show'"),
    "a number out of range": (["replay", "x", "--show", "-1"], "Invalid value for '--show'"),
    "no such choice": (["normalize", "--as", "words"], "Invalid value for '--as'"),
    "an option without its value": (["normalize", "--tools"], "Option '--tools' requires an argument"),
    "a value that an option does not take": (["replay", "--json=yes", "x"], "Option '--json' does not take a value"),
    "too many arguments": (["models", "a", "b"], "Got unexpected extra argument"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_on_the_command_line_is_one_line_and_exits_2(invoke: Invoke, arguments: list[str], message: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("llmcore: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_console_script_ends_a_mistake_the_same_way(script: Any) -> None:
    done = script("no-such-command")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


def test_without_arguments_the_help_is_shown(invoke: Invoke) -> None:
    result = invoke()
    assert result.exit_code == 2
    assert "Usage: llmcore" in result.output


def test_the_console_script_is_this() -> None:
    (found,) = entry_points(group="console_scripts", name="llmcore")
    assert found.value == "llmcore.cli:main"


def test_the_command_line_starts_light() -> None:
    code = "import json, sys, llmcore.cli.app; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert set(json.loads(done.stdout)) & HEAVY == set()


def test_the_package_runs_as_a_module() -> None:
    ended = subprocess.run([sys.executable, "-m", "llmcore", "--version"], capture_output=True, cwd=ROOT, timeout=120, text=True)
    assert (ended.returncode, ended.stdout.partition(" ")[0]) == (0, "llmcore")
