"""The loops of a contributor: `make test` and `make sweep` share the cases, `make versions` runs every Python that is at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from llmcore.normalizer.dialects.registry import DIALECTS
from tests.helpers.selection import is_sampled, one_each
from tests.packaging.tree import ROOT

_ROWS_AND_CUTS = "tests/normalizer/test_cut_replies.py::test_more_text_never_makes_fewer_calls"


def _collected(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:xdist", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_each_row_and_each_place_is_kept_in_as_few_cases_as_there_are_rows() -> None:
    cases = list(product(range(40), "abc"))
    kept = [cases[at] for at in one_each(cases)]
    assert sorted(row for row, _ in kept) == [*range(40)]
    assert sorted(Counter(place for _, place in kept).values()) == [13, 13, 14], "each place in its turn"


def test_a_list_of_cases_is_kept_whole_and_so_is_a_test_without_parameters() -> None:
    assert one_each([[name] for name in "abcd"]) == {0, 1, 2, 3}
    assert one_each([[]]) == {0}


def test_as_many_seeds_as_a_sample_is_a_part_of_run_each_test_once() -> None:
    names = [f"test_it[{number}]" for number in range(200)]
    chosen = [name for seed in range(1_700_000_000, 1_700_000_010) for name in names if is_sampled(name, 10, seed)]
    assert sorted(chosen) == sorted(names)
    assert 5 < sum(is_sampled(name, 10, 0) for name in names) < 50


def test_make_test_and_make_sweep_share_the_cases_of_a_test() -> None:
    tested, swept = (_collected("-m", mark, _ROWS_AND_CUTS) for mark in ("not sweep", "sweep"))
    ids = [case.partition("[")[2].rstrip("]").rpartition("-") for case in tested]
    assert sorted(row for row, _, _ in ids) == sorted(DIALECTS)
    assert {told for _, _, told in ids} == {"told", "not told"}
    assert len({*tested, *swept}) == len(tested) + len(swept) == 2 * len(DIALECTS)


@pytest.mark.sweep
def test_a_case_that_is_asked_for_by_name_is_run_and_a_sample_is_a_part() -> None:
    swept = _collected("-m", "sweep", _ROWS_AND_CUTS)
    assert _collected("-m", "not sweep", swept[-1]) == [swept[-1]]
    assert 0 < len(_collected("-m", "sweep", "--sample", "10", _ROWS_AND_CUTS)) < len(swept) / 2


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
