"""The programs *before* of docs/migration.md print what the page says, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.migration_page import BEFORE, environment, model_server
from tests.helpers.page_programs import promised
from tests.integrations.clients.support import the_module

LIBRARIES = ["pydantic_ai", "instructor", "langchain", "agents", "litellm"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_program_of_the_page_prints_what_its_comments_say(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # its import would ask the network
    the_module(library)
    (tmp_path / "before.py").write_text(BEFORE[library], "utf-8")
    with model_server() as server:
        told = {**os.environ, **environment(server)}
        done = subprocess.run(
            [sys.executable, "before.py"], cwd=tmp_path, env=told, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert server.requests
    assert done.stdout.splitlines() == promised(BEFORE[library])
