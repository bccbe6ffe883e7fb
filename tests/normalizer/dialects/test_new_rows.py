"""A row that is added by CONTRIBUTING's recipe passes the tests of all rows, whatever alphabet it is written in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from llmcore.normalizer.core.rows import Marker
from tests.helpers.builds import pure_only
from tests.packaging.tree import ROOT


@pytest.mark.sweep
@pure_only("the plugin changes words that compiled code has read")
def test_rows_in_other_alphabets_pass_what_all_rows_pass() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.helpers.new_rows", "-p", "no:cacheprovider", "-k", "nova_"]
    said = subprocess.run([*command, "tests/normalizer"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout[-4000:]
    assert " passed" in said.stdout


@pytest.mark.parametrize("opener", ["{{call}}", "%call%", "call me"])
def test_an_opener_that_nothing_looks_for_is_refused(opener: str) -> None:
    with pytest.raises(ValueError, match="OWN_SIGNS"):
        Marker(lambda reading, at, body: False, (opener,))
