"""Each figure of docs/comparison.md stands on the page that its row links, and each command can be run."""

from __future__ import annotations

import re

import pytest

from tests.packaging.tree import ROOT

_PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")
_ROW = re.compile(r"^\| (.+) \| (.+) \| (.+) \| (.+) \| \[\w+\]\((\w+\.md)\) \|$", re.MULTILINE)
_ROWS = _ROW.findall(_PAGE)
_FIGURE = re.compile(r"(?<![\w.])[+-]?\d[\d.,]*\d?(?: %)?")


@pytest.mark.parametrize(("what", "ours", "others", "_", "page"), _ROWS, ids=range(len(_ROWS)))
def test_the_figures_of_a_row_stand_on_its_page(what: str, ours: str, others: str, _: str, page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    figures = _FIGURE.findall(f"{ours} {others}")
    assert figures, what
    assert [figure for figure in figures if figure.rstrip(".,") not in text] == []


def test_every_module_of_a_command_exists() -> None:
    assert len(_ROWS) == 14
    for module in re.findall(r"python -m ((?:benchmarks|tests)[\w.]+)", _PAGE):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
