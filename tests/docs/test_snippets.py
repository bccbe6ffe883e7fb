"""The snippets of the pages do what the pages say: each page's are run as one program, in order; the examples of formats
are read and judged, and the commands that need no network are run."""

from __future__ import annotations

import json
import logging
import re
import runpy
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path
from textwrap import indent

import pytest

from llmcore.transcripts import judge, read_transcripts
from tests.cli.conftest import Invoke, invoke
from tests.helpers.page_programs import fenced, promised
from tests.helpers.redis_server import redis_server
from tests.packaging.tree import ROOT

__all__ = ["invoke"]


def _leave_logging(**_: object) -> None:
    """The tests' own logging stays as it is."""


PAGES = [
    "agents",
    "approval",
    "caching",
    "capabilities",
    pytest.param("gateway", marks=pytest.mark.skipif(find_spec("starlette") is None, reason="needs the extra `gateway`")),
    "hooks",
    "httpx",
    "litellm_dropin",
    "logs",
    pytest.param("mcp", marks=pytest.mark.skipif(find_spec("mcp") is None, reason="pip install 'llmcore-engine[mcp]'")),
    "messages",
    "models",
    "observability",
    "providers",
    "reliability",
    "running",
    "testing",
    "tools",
    "typed-output",
    "wire",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "basicConfig", _leave_logging)
    monkeypatch.setattr(logging.getLogger("llmcore"), "level", logging.NOTSET)
    monkeypatch.chdir(tmp_path)
    snippets = fenced(page, "python")
    assert snippets
    program = tmp_path / f"page_{page}.py"  # a page may have the name of a package
    program.write_text("\n".join(snippets), encoding="utf-8")
    runpy.run_path(str(program))


@pytest.mark.parametrize("page", ["extending", "index", "production", "security", "tutorial"])
def test_the_programs_of_a_page_print_what_its_comments_say(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = "\n".join(fenced(page, "python"))
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    runpy.run_path(str(tmp_path / "program.py"))
    lines = iter(capsys.readouterr().out.splitlines())
    assert promised(program)
    assert [line for line in promised(program) if line not in lines] == []  # in this order


@pytest.mark.skipif(find_spec("starlette") is None, reason="needs the extra `gateway`")
def test_the_cells_of_the_notebooks_page_print_what_their_comments_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = "\n".join(fenced("notebooks", "python"))  # a notebook awaits at the top level
    program = f"import asyncio\n\n\nasync def cells():\n{indent(cells, '    ')}\n\nasyncio.run(cells())\n"
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    runpy.run_path(str(tmp_path / "program.py"))
    lines = iter(capsys.readouterr().out.splitlines())
    assert len(promised(cells)) > 4
    assert [line for line in promised(cells) if line not in lines] == []


def test_the_program_of_the_fleet_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("\n".join(fenced("fleet", "python")), encoding="utf-8")
    with redis_server(tmp_path / "redis") as url:
        monkeypatch.setenv("REDIS_URL", url)
        runpy.run_path(str(program))


README = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
PRINTED = [["It is sunny."], ["Paris is sunny.", "Still sunny."], ["get_weather {'city': 'Paris'}", "I will look."]]


@pytest.mark.parametrize("number", range(len(README)))
def test_a_program_of_the_first_page_runs_by_itself(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is copied from there, and it prints what its comments say."""
    (tmp_path / "program.py").write_text(README[number], "utf-8")
    runpy.run_path(str(tmp_path / "program.py"))
    printed = capsys.readouterr().out
    assert all(f"\n{line}" in f"\n{printed}" for line in PRINTED[number])


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the page on transcripts has it: its examples in `logs.jsonl`, and what else its commands name."""
    runs = [json.loads(example) for example in fenced("transcripts", "json")]
    assert len(runs) == 2
    path = tmp_path / "logs.jsonl"
    path.write_text("".join(f"{json.dumps(run)}\n" for run in runs), "utf-8")
    (tmp_path / "cassettes").mkdir()
    (tmp_path / "cassettes" / "one.yaml").write_text("interactions: []\n", "utf-8")
    shutil.copytree(ROOT / "fixtures" / "recorded", tmp_path / "fixtures" / "recorded")
    monkeypatch.chdir(tmp_path)
    return path


def test_the_examples_of_transcripts_meet_what_they_expect(recordings: Path) -> None:
    weather, flat = read_transcripts(recordings)
    assert [judge(weather, index).success for index in (0, 1)] == [False, True]
    assert judge(flat, 0).success


def test_the_program_of_the_transcripts_page_runs(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = fenced("transcripts", "python")
    (recordings.parent / "program.py").write_text(program, "utf-8")
    runpy.run_path(str(recordings.parent / "program.py"))
    report = json.loads(capsys.readouterr().out)
    assert (report["runs"], report["units"], report["succeeded"], report["unmet_expectations"]) == (2, 1, 1, 0)


@pytest.mark.usefixtures("recordings")
def test_the_commands_of_the_transcripts_page_run(invoke: Invoke) -> None:
    for line in "".join(fenced("transcripts", "sh")).splitlines():
        command, _, target = line.partition(" > ")
        name, *arguments = shlex.split(command)
        assert name == "llmcore"
        result = invoke(*arguments)
        assert result.exit_code == 0
        if target:
            Path(target).write_text(result.stdout, "utf-8")
    assert {"report.html", "report.xml", "old.json"} <= {path.name for path in Path().iterdir()}


@pytest.mark.usefixtures("recordings")
def test_the_pipe_of_the_command_lines_page_runs(invoke: Invoke) -> None:
    pipe = next(line for shown in fenced("cli", "sh") for line in shown.splitlines() if line.startswith("echo "))
    before, _, command = pipe.partition(" | llmcore ")
    (tool,) = json.loads(fenced("transcripts", "json")[0])["tools"]
    Path("tools.json").write_text(json.dumps([tool]), "utf-8")
    result = invoke(*shlex.split(command), stdin=shlex.split(before)[1])
    assert result.exit_code == 0
    assert "may run" in result.stdout


def test_the_command_of_the_logs_page_prints_what_the_page_says(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = map(json.loads, fenced("logs", "json"))
    (tmp_path / "logs.jsonl").write_text(json.dumps(before), "utf-8")
    name, *arguments = shlex.split(fenced("logs", "sh")[0])
    assert (name, arguments[-2:]) == ("llmcore", [">", "native.jsonl"])
    result = invoke(*arguments[:-2])
    call = json.loads(result.stdout)["messages"][1]["tool_calls"][0]
    assert json.loads(result.stdout) == json.loads(json.dumps(after).replace("call_Xp2", call["id"]))
    assert result.stderr == fenced("logs", "text")[0]
