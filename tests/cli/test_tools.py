"""`llmcore tools`: a catalogue of a module's tools, an agent's, or a file's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

MODULE = '''
from llmcore import Agent, FakeModel, ToolRegistry, tool

@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

class Counter(Agent):
    @tool
    def count(self, to: int) -> int:
        """Count."""
        return to

registry = ToolRegistry([add])
counter = Counter(FakeModel(), tools=[add])
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_catalogued_tools.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return "my_catalogued_tools"


def test_markdown_is_what_comes_unasked(invoke: Invoke, module: str) -> None:
    result = invoke("tools", f"{module}:add")
    assert result.exit_code == 0
    assert result.output.startswith("# Tools\n\n| tool | what it does |\n")
    assert "| `a` | integer | yes |  |" in result.output


@pytest.mark.parametrize(("name", "tools"), [("add", ["add"]), ("registry", ["add"]), ("counter", ["count", "add"])])
def test_a_tool_a_registry_or_an_agent(invoke: Invoke, module: str, name: str, tools: list[str]) -> None:
    result = invoke("tools", f"{module}:{name}", "--format", "json")
    assert [one["name"] for one in json.loads(result.output)] == tools


def test_openapi_into_a_file_which_a_json_catalogue_may_be_too(invoke: Invoke, module: str, tmp_path: Path) -> None:
    target = tmp_path / "openapi.json"
    result = invoke("tools", f"{module}:counter", "-f", "openapi", "--title", "Ours", "--api-version", "2", "-o", target)
    assert (result.exit_code, result.output) == (0, "")
    document = json.loads(target.read_text("utf-8"))
    assert (document["openapi"], document["info"]) == ("3.1.0", {"title": "Ours", "version": "2"})
    (tmp_path / "tools.json").write_text(invoke("tools", f"{module}:counter", "-f", "json").output, "utf-8")
    again = json.loads(invoke("tools", tmp_path / "tools.json", "-f", "openapi", "--title", "Ours", "--api-version", "2").output)
    assert again["paths"].keys() == document["paths"].keys()


def test_what_cannot_be_read_or_written_ends_with_2(invoke: Invoke, module: str, tmp_path: Path) -> None:
    assert invoke("tools", f"{module}:none").exit_code == 2
    assert invoke("tools", "no_such_module_here:x").exit_code == 2
    assert invoke("tools", tmp_path / "none.json").exit_code == 2
    assert invoke("tools", f"{module}:Counter").exit_code == 2
    assert invoke("tools", f"{module}:add", "-o", tmp_path / "no" / "folder.md").exit_code == 2
    assert invoke("tools", f"{module}:add", "-f", "html").exit_code == 2
