"""What CONTRIBUTING shows of the tree is what stands there."""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from tests.packaging.tree import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def added_by_file() -> dict[str, str]:
    """Of the diff that adds a dialect: the lines added, by file."""
    diff = re.search(r"^```diff\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert diff is not None
    added: dict[str, str] = {}
    for part in re.split(r"^--- .*\n", diff[1], flags=re.MULTILINE)[1:]:
        name, _, lines = part.partition("\n")
        added[name.removeprefix("+++ b/")] = "".join(f"{line[1:]}\n" for line in lines.splitlines() if line.startswith("+"))
    return added


def test_the_tree_contains_the_diff_that_adds_a_dialect() -> None:
    added = added_by_file()
    assert len(added) == 2
    for name, lines in added.items():
        assert lines
        assert lines in (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize(("row", "module"), re.findall(r"^\| `.*` \| (\w+) \| `(\w+\.py)` \|$", TEXT, re.MULTILINE))
def test_the_rows_that_tell_tool_call_apart(row: str, module: str) -> None:
    assert f'"{row}"' in (ROOT / "normalizer" / "dialects" / module).read_text("utf-8")
    sample = DIALECTS[row].write([("ping", {"n": 1})])
    assert sample.startswith("<tool_call>")
    assert [call.dialect for call in normalize(sample).tool_calls] == [row]


def test_every_command_and_file_it_names_exists() -> None:
    for name in re.findall(r"`((?:normalizer|scripts|tests)/[\w/]+\.(?:py|md))`", TEXT):
        assert (ROOT / name).exists(), name
    for target in re.findall(r"^make (\w+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), target
