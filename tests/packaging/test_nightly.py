"""`.ci/nightly` runs what stands on LiteLLM on the pinned and on the newest allowed release."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.packaging.tree import ROOT

NIGHTLY, NEWEST = ROOT / ".ci" / "nightly", ROOT / "scripts" / "newest"
FOLDERS = "tests/adapters tests/fallback tests/orchestrator"


@pytest.mark.parametrize("script", [NIGHTLY, NEWEST], ids=lambda script: script.name)
def test_it_can_be_run_and_is_a_program_of_the_shell(script: os.PathLike[str]) -> None:
    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


def test_both_run_the_tests_of_what_stands_on_litellm() -> None:
    nightly, newest = NIGHTLY.read_text("utf-8"), NEWEST.read_text("utf-8")
    assert f'make test ARGS="{FOLDERS}"' in nightly
    assert "make newest" in nightly
    assert f"${{ARGS:-{FOLDERS}}}" in newest
    assert all((ROOT / folder).is_dir() for folder in FOLDERS.split())
    assert re.search(r"^newest: .*\n\t@scripts/newest$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def test_contributors_are_told_of_it_and_of_how_the_dependency_is_watched() -> None:
    assert "`.ci/nightly`" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    security = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "make newest" in security
    assert "tests/adapters/litellm/patches/" in security
