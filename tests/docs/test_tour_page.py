"""docs/tour.md names functions and classes that stand in the files it links."""

from __future__ import annotations

import re

import pytest

from tests.packaging.tree import ROOT

_STEP = re.compile(r"\[`(\w+)`\]\(\.\./([\w/]+\.py)\)")
_STEPS = sorted(set(_STEP.findall((ROOT / "docs/tour.md").read_text())))


@pytest.mark.parametrize(("name", "path"), _STEPS)
def test_each_step_is_in_the_file_it_links(name: str, path: str) -> None:
    file = ROOT / path
    defines = re.search(rf"^(?:(?:async )?def|class) {name}\b|^{name}\b.*=", file.read_text(), re.MULTILINE)
    assert defines is not None or file.stem == name
