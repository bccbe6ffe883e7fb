"""`docs/features.md` has every row of its tables, and what it names is there."""

from __future__ import annotations

import re

import pytest

from tests.packaging.tree import ROOT

TEXT = (ROOT / "docs" / "features.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([A-F]\d+) \| ([^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE)


def test_every_row_is_there_once() -> None:
    wanted = [f"A{number}" for number in range(1, 19)] + [f"B{number}" for number in range(1, 11)]
    wanted += [f"C{number}" for number in range(1, 12)] + [f"D{number}" for number in range(1, 15)]
    wanted += [f"E{number}" for number in range(1, 11)]
    rows = [row for row, *_ in ROWS]
    assert rows[: len(wanted)] == wanted
    assert len(rows) == len(set(rows))


@pytest.mark.parametrize(("row", "shown"), [(row, shown) for row, _, shown in ROWS])
def test_what_a_row_names_is_there(row: str, shown: str) -> None:
    named = re.findall(r"`((?:tests|examples)/[\w/]+\.py)(?:::(\w+))?`", shown)
    assert len(named) == shown.count("`") // 2 > 0, row
    for file, test in named:
        text = (ROOT / file).read_text("utf-8")
        assert not test or re.search(rf"^(?:async )?def {test}\(", text, re.MULTILINE), f"{file}::{test}"
