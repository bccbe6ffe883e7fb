"""The programs of docs/frameworks.md and of the pages on llmcore's models, each in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT

SECTIONS = {
    "openai-agents": "agents",
    "instructor": "instructor",
    "smolagents": "smolagents",
    "LlamaIndex": "llama_index.llms.openai_like",
    "DSPy": "dspy",
    "CrewAI": "crewai",
    "Haystack": "haystack",
}
"""The module that each section of the page needs."""
PAGES = {"pydantic_ai": "pydantic_ai", "langchain": "langchain_core"}
BY_GATEWAY = ("CrewAI", "Haystack")
_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SWITCHES = ("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "LITELLM_LOCAL_MODEL_COST_MAP", "OTEL_SDK_DISABLED")
_OFFLINE = {**dict.fromkeys(_SWITCHES, "true"), "CREWAI_TRACING_ENABLED": "false", "HAYSTACK_TELEMETRY_ENABLED": "False"}
"""Switches off what frameworks send home."""


def _sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", (ROOT / "docs" / "frameworks.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {name: "\n".join(_FENCE.findall(text)) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _needs(module: str) -> None:
    """Skip the test if the module is not installed here, unless this environment was made with it. Imports nothing."""
    package = module.partition(".")[0]
    if package not in os.environ.get("LLMCORE_CLIENTS", "").split() and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: `make test-integrations` makes environments with it")


def _run(program: str, folder: Path) -> str:
    path = folder / "page_program.py"  # a page has the name of a package
    path.write_text(program, "utf-8")
    environment = {**os.environ, **_OFFLINE, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _printed(program: str) -> list[str]:
    """What the comments say that a program prints."""
    return re.findall(r"^print\(.*\)  # (.+)$", program, re.MULTILINE)


@pytest.mark.parametrize("name", SECTIONS)
def test_the_program_of_a_section_runs(name: str, tmp_path: Path) -> None:
    _needs(SECTIONS[name])
    sections = _sections()
    gateway = sections["The gateway"] if name in BY_GATEWAY else ""
    out = _run("\n".join([sections["Your model"], gateway, sections[name]]), tmp_path)
    expected = _printed(sections[name])
    assert expected
    assert [line for line in expected if line not in out] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_program_of_a_models_page_runs(page: str, tmp_path: Path) -> None:
    _needs(PAGES[page])
    program = "\n".join(_FENCE.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8")))
    out = _run(program, tmp_path)
    expected = _printed(program)
    assert len(expected) == 3
    assert [line for line in expected if line not in out] == []


def test_each_framework_of_the_page_is_run() -> None:
    assert {*_sections()} - {"Your model", "The gateway"} == {*SECTIONS}
