"""The workflows of GitHub: each action is pinned, each job may do only what it must, and a release is what the tests passed on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.utils import canonicalize_name

from tests.packaging.test_lock import RUN
from tests.packaging.tree import ROOT, pyproject

FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yml"))}
WORKFLOWS: dict[str, dict[Any, Any]] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
_PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40}   # v\d[\w.]*")
_VERSIONS = ["3.11", "3.12", "3.13", "3.14"]


def steps(workflow: str) -> list[dict[str, Any]]:
    return [step for job in WORKFLOWS[workflow]["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_action_is_pinned_by_its_commit(name: str) -> None:
    uses = re.findall(r"uses: .*", TEXTS[name])
    assert uses
    assert [line for line in uses if not _PINNED.fullmatch(line)] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_job_may_write_only_where_it_publishes(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] in ({}, {"contents": "read"})
    writes = {job: right for job, each in workflow["jobs"].items() for right in each.get("permissions", {}).values()}
    assert {job for job, right in writes.items() if right == "write"} <= ({"publish"} if name == "release.yml" else set())
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    assert "secrets." not in TEXTS[name]


def test_each_python_that_is_declared_is_tried() -> None:
    matrix = WORKFLOWS["test.yml"]["jobs"]["versions"]["strategy"]["matrix"]
    first = [step["with"]["python-version"] for step in steps("test.yml") if "3.11" in str(step.get("with"))]
    declared = [entry["python"] for entry in matrix["include"] if entry["declared"]]
    assert [*first, *matrix["python"], *declared] == _VERSIONS
    prefix = "Programming Language :: Python :: 3."
    classifiers: list[str] = pyproject()["project"]["classifiers"]
    assert [one.removeprefix(prefix[:-2]) for one in classifiers if one.startswith(prefix)] == _VERSIONS


def test_a_release_is_tested_and_attested_before_it_is_uploaded() -> None:
    jobs = WORKFLOWS["release.yml"]["jobs"]
    build, publish = (jobs[name]["steps"] for name in ("build", "publish"))
    assert ".ci/run" in [step.get("run") for step in build]
    assert jobs["publish"]["needs"] == "build"
    uses = [step["uses"].partition("@")[0] for step in publish]
    assert uses[-3:] == ["actions/attest", "actions/attest", "pypa/gh-action-pypi-publish"]
    assert WORKFLOWS["release.yml"]["env"].keys() == {"LLMCORE_REPOSITORY_URL"}  # setup.py reads it


def test_every_command_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    commands = [str(step["run"]) for name in WORKFLOWS for step in steps(name) if "run" in step]
    targets = re.findall(r"\bmake ([a-z-]+)", "\n".join(commands))
    assert {"sbom", "test"} <= {*targets}
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_the_fuzzer_is_packed_from_files_that_are_there() -> None:
    script = ROOT / ".clusterfuzzlite" / "build.sh"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    assert (ROOT / "tests" / "fuzz" / "atheris_target.py").is_file()
    text = script.read_text("utf-8")
    for path in ("tests/fuzz/atheris_target.py", "tests/normalizer/samples", "requirements.lock"):
        assert path in text
        assert (ROOT / path).exists()


def test_the_bill_of_materials_is_what_running_needs(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py", reason="cyclonedx-bom is not installed: `make setup`")
    (recipe,) = re.findall(r"^\t\$\(BIN\)/cyclonedx-py (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    arguments = recipe.replace("dist/sbom.json", str(tmp_path / "sbom.json")).split()
    subprocess.run([sys.executable, "-m", "cyclonedx_py", *arguments], cwd=ROOT, check=True, capture_output=True)
    bill = json.loads((tmp_path / "sbom.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == pyproject()["project"]["name"]
    found = {canonicalize_name(one["name"]): one["version"] for one in bill["components"]}
    assert found == {name: entry["version"] for name, entry in RUN.items()}
