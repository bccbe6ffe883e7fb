"""Where a command's tools come from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from llmcore.cli.helpers.tool_files import load_tools
from llmcore.types import ConfigError, ToolDefinitionError
from tests.transcripts.runs import TOOLS

MODULE = '''
from llmcore import ToolDefinition, ToolRegistry, ToolSet, tool
def lookup(query: str) -> str:
    """Look something up."""
    return query

def add(a: int, b: int) -> int:
    """Add."""
    return a + b

several = [lookup, add]
as_dict = {"name": "from_dict", "input_schema": {"type": "object"}}
class Box:
    inner = [add]
number = 3
definition = ToolDefinition(name="defined")
registry = ToolRegistry([lookup, add])
compiled = ToolSet([add])

@tool
def decorated(a: int) -> int:
    """Decorated."""
    return a
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"tools_of_{request.node.name.partition('[')[0]}"
    (tmp_path / f"{name}.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return name


@pytest.mark.parametrize("content", [TOOLS, {"tools": TOOLS}, {"tools": [*TOOLS, {"type": "web_search"}]}])
def test_a_file(tmp_path: Path, content: object) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(content), "utf-8")
    assert load_tools(str(tmp_path / "tools.json")).names == {"get_weather"}


def test_an_object_of_a_module(module: str) -> None:
    assert load_tools(f"{module}:several").names == {"lookup", "add"}
    assert load_tools(f"{module}:lookup").names == {"lookup"}
    assert load_tools(f"{module}:as_dict").names == {"from_dict"}
    assert load_tools(f"{module}:Box.inner").names == {"add"}
    assert load_tools(f"{module}:definition").names == {"defined"}
    assert load_tools(f"{module}:registry").names == {"lookup", "add"}
    assert load_tools(f"{module}:compiled").names == {"add"}
    assert load_tools(f"{module}:decorated").names == {"decorated"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not JSON"),
        ("3", "expected a list of tools"),
        ('{"tools": {}}', "expected a list of tools"),
        ('{"tools": [], "tools": []}', "'tools' is given twice"),
    ],
)
def test_a_file_that_holds_no_tools(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "tools.json").write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=rf"tools\.json: {problem}"):
        load_tools(str(tmp_path / "tools.json"))


def test_what_is_no_tool_is_told(module: str, tmp_path: Path) -> None:
    with pytest.raises(ToolDefinitionError):
        load_tools(f"{module}:number")
    (tmp_path / "tools.json").write_text("[3]", "utf-8")
    with pytest.raises(ToolDefinitionError):
        load_tools(str(tmp_path / "tools.json"))


@pytest.mark.parametrize(
    ("code", "named", "said"),
    [
        ('raise RuntimeError("no\\x1b[31m")', "x", r"RuntimeError \(broken_\d\.py, line 1\): no"),
        ("import sys\nsys.exit(3)", "x", r"SystemExit \(broken_\d\.py, line 2\): 3"),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            "x",
            r"E .*line 3\): \(its message cannot be shown",
        ),
        ("x = [", "x", "SyntaxError .* was never closed"),
        ("class A:\n    @property\n    def x(self): raise ValueError('no')\na = A()", "a.x", "ValueError .*line 3.*no"),
        ("class A:\n    def list_tools(self): raise ValueError('no')\na = A()", "a", "ValueError .*line 2.*no"),
    ],
)
def test_what_a_users_module_raises_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, named: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"broken_{len(code) % 10}"
    (tmp_path / f"{name}.py").write_text(code, "utf-8")
    sys.modules.pop(name, None)
    with pytest.raises(ConfigError, match=f"^cannot import '{name}': {said}"):
        load_tools(f"{name}:{named}")
