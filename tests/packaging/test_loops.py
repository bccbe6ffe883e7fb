"""The loops of a contributor: `make quick` runs a slice of each sweep, `make versions` every Python that is at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT

_CASES = "tests/normalizer/test_samples.py::test_sample"
_LONG = "tests/orchestrator/test_cut_streams.py::test_a_call_whose_arguments_had_not_begun_when_the_room_was_up_does_not_run"
_SWEEP = "tests/validator/schema/test_unsound.py::test_it_is_looked_for_in_linear_time"


def _collected(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_of_a_sweep_only_evenly_spaced_cases_are_quick() -> None:
    every = _collected(_SWEEP)
    assert len(every) == 5
    assert _collected("-m", "not slow", _SWEEP) == [every[0], every[2]]
    assert _collected("-m", "not slow", every[3]) == [every[3]], "a case that is asked for by name is run"


@pytest.mark.slow
def test_of_other_tests_five_cases_are_quick() -> None:
    every = _collected("-m", "not slow", _CASES)
    assert len(every) > 700
    assert _collected("-m", "not slow and not further", _CASES) == [every[at * len(every) // 5] for at in range(5)]


@pytest.mark.slow
def test_of_a_test_that_takes_its_time_so_many_cases_are_quick_as_it_says() -> None:
    every = _collected("-m", "not slow", _LONG)
    assert len(every) > 5
    assert _collected("-m", "not slow and not further", _LONG) == [every[0]]


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def _versions(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`scripts/versions` where only the programs in `path` are at hand, and no Python but those."""
    environment = {**os.environ, "PATH": f"{path}:/usr/bin:/bin", "PYENV_ROOT": str(path / "pyenv"), "ARGS": "tests/x"}
    command = [str(ROOT / "scripts" / "versions"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Two Pythons of versions that no system has, one of them under pyenv; one of another version than its name; a `make`."""
    under_pyenv = tmp_path / "pyenv" / "versions" / "9.2.1" / "bin"
    under_pyenv.mkdir(parents=True)
    for place, version in ((tmp_path / "python9.1", "9.1"), (under_pyenv / "python", "9.2"), (tmp_path / "python9.3", "9.9")):
        _program(place, f'[ "$3" = {version} ]')
    _program(tmp_path / "make", 'echo "$@"; case "$*" in *9.2*) exit 2;; esac')
    return tmp_path


def test_each_python_at_hand_runs_the_tests_in_its_own_environment(programs: Path) -> None:
    done = _versions(programs, "9.1", "9.3", "9.4")
    assert done.stdout.splitlines() == [
        "--no-print-directory VENV=.venv-9.1 PYTHON=python9.1 ARGS=tests/x test",
        "versions: passed: 9.1; failed: none; not at hand: 9.3 9.4",
    ]
    assert done.returncode == 0


def test_a_failure_on_one_python_fails_and_stops_no_other(programs: Path) -> None:
    done = _versions(programs, "9.2", "9.1")
    assert done.stdout.splitlines()[-1] == "versions: passed: 9.1; failed: 9.2; not at hand: none"
    assert done.returncode == 1


def test_no_python_at_hand_is_a_failure(programs: Path) -> None:
    assert _versions(programs, "9.4").returncode == 1
