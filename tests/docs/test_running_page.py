"""docs/running.md lists every option of a run, in the words of its row."""

from __future__ import annotations

import re

from llmcore.run.setup.options import OPTIONS, PER_RUN
from tests.packaging.tree import ROOT

_ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)


def test_each_option_has_the_line_of_its_row() -> None:
    page = (ROOT / "docs/running.md").read_text()
    table = page.partition("| option | what it sets |")[2].partition("\n\n")[0]
    lines = dict(_ROW.findall(table))
    assert lines.keys() == PER_RUN
    assert {name: lines[name] for name in OPTIONS} == {name: option.about for name, option in OPTIONS.items()}
