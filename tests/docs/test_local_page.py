"""The programs of docs/local.md, with a stand-in for the model that answers as the real one did."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import yaml

from llmcore.models import ModelRegistry
from tests.helpers.local_llama import stand_in
from tests.helpers.page_programs import fenced, promised

CALL = '{"toolCalls": [{"name": "population", "arguments": {"city": "Oslo"}}], "content": "", "needsMoreWork": true}'


def test_its_programs_print_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, program = tmp_path / "local_page.py", "\n".join(fenced("local", "python"))
    path.write_text(program, "utf-8")
    with stand_in(["The sea is vast."], ['{"name": "Paris", "country": "France"}'], [CALL], ["720000"]):
        runpy.run_path(str(path))
    _, *printed = capsys.readouterr().out.splitlines()
    assert printed == promised(program)


def test_its_registry_is_one() -> None:
    (document,) = fenced("local", "yaml")
    assert ModelRegistry.from_dict(yaml.safe_load(document)).aliases == ["main", "small"]
