"""`.ci/run` and `.ci/nightly` have all tests run between them, and those of what stands on LiteLLM on the newest allowed release."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.packaging.tree import ROOT

RUN, NIGHTLY, NEWEST = ROOT / ".ci" / "run", ROOT / ".ci" / "nightly", ROOT / "scripts" / "newest"
FOLDERS = "tests/adapters tests/fallback tests/orchestrator tests/run"


@pytest.mark.parametrize("script", [RUN, NIGHTLY, NEWEST], ids=lambda script: script.name)
def test_it_can_be_run_and_is_a_program_of_the_shell(script: os.PathLike[str]) -> None:
    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


def test_each_change_has_its_tests_and_a_tenth_of_the_sweep_and_each_night_the_whole() -> None:
    run, nightly = RUN.read_text("utf-8").splitlines(), NIGHTLY.read_text("utf-8").splitlines()
    assert {"make check", "make test", "make sweep SAMPLE=10"} <= {*run}
    assert any(line.endswith("make test-compiled") for line in run)
    assert {"make sweep || status=1", "make newest || status=1"} <= {*nightly}
    assert 'make test-compiled ARGS="-m sweep tests/normalizer tests/types" || status=1' in nightly


def test_the_newest_releases_have_the_tests_of_what_stands_on_litellm() -> None:
    newest = NEWEST.read_text("utf-8")
    assert f"${{ARGS:-{FOLDERS}}}" in newest
    assert all((ROOT / folder).is_dir() for folder in FOLDERS.split())
    assert re.search(r"^newest: .*\n\t@scripts/newest$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def test_contributors_are_told_of_it_and_of_how_the_dependency_is_watched() -> None:
    assert "`.ci/nightly`" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    security = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "make newest" in security
    assert "tests/adapters/litellm/patches/" in security
