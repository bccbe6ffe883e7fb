"""The programs *after* of docs/migration.md print what the page says. tests/integrations/clients runs those *before*."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts import integrations
from tests.helpers.migration_page import AFTER, BEFORE, TEXT, environment, model_server
from tests.helpers.page_programs import promised

REQUIREMENTS = integrations.environments()["openai2"].requirements


def test_there_is_a_pair_for_each_library() -> None:
    assert list(BEFORE) == ["pydantic_ai", "instructor", "langchain", "agents", "litellm"]


@pytest.mark.parametrize("library", AFTER)
def test_a_program_asks_the_server_and_prints_what_its_comments_say(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "after.py"
    program.write_text(AFTER[library], "utf-8")
    with model_server() as server:
        for name, value in environment(server).items():
            monkeypatch.setenv(name, value)
        runpy.run_path(str(program))
        assert server.requests
    printed = capsys.readouterr().out.splitlines()
    assert printed == promised(AFTER[library]) == promised(BEFORE[library])


def test_the_page_names_the_versions_that_ran() -> None:
    pins = {one.name: str(one.specifier).removeprefix("==") for one in map(Requirement, REQUIREMENTS)}
    table = TEXT.partition("| library |")[2].partition("\n\n")[0]
    names = ("pydantic-ai-slim", "instructor", "langchain", "langchain-openai", "openai-agents", "litellm")
    assert re.findall(r"\d+\.\d+\.\d+", table) == [pins[name] for name in names]
