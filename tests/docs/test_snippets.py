"""The snippets of the pages do what the pages say: each page's are run as one program, in order."""

from __future__ import annotations

import logging
import re
import runpy
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT

_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _leave_logging(**_: object) -> None:
    """The tests' own logging stays as it is."""


@pytest.mark.parametrize("page", ["reliability"])
def test_the_snippets_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "basicConfig", _leave_logging)
    monkeypatch.setattr(logging.getLogger("llmcore"), "level", logging.NOTSET)
    snippets = _FENCE.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
    assert snippets
    program = tmp_path / f"{page}.py"
    program.write_text("\n".join(snippets), encoding="utf-8")
    runpy.run_path(str(program))
