"""The environments of `make test-integrations`: exact versions, tests that are there, and pages that name the same versions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts import integrations
from tests.packaging.test_packages import OF_FRAMEWORKS
from tests.packaging.tree import ROOT, pyproject

TABLE = integrations.environments()
environments = pytest.mark.parametrize("environment", TABLE.values(), ids=lambda each: each.name)


@environments
def test_all_requirements_are_exact(environment: integrations.Environment) -> None:
    for asked in map(Requirement, environment.requirements):
        assert re.fullmatch(r"==[\w.]+", str(asked.specifier)), asked


@environments
def test_what_it_runs_is_there_and_asks_for_its_clients(environment: integrations.Environment) -> None:
    assert environment.tests
    places = [ROOT / path for path in environment.tests]
    assert all(place.exists() for place in places)
    code = "".join(path.read_text("utf-8") for place in places for path in ([place] if place.is_file() else place.glob("*.py")))
    assert [name for name in environment.clients if not re.search(rf'"{name}[".]', code)] == []


def test_the_pages_name_the_versions_that_were_tried() -> None:
    pages = "".join((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("frameworks", "httpx"))
    shown = {line.split("|")[1].strip().strip("`"): line for line in pages.splitlines() if line.startswith("| `")}
    for environment in TABLE.values():
        clients = [asked for asked in map(Requirement, environment.requirements) if asked.name in shown]
        assert clients or environment.name == "proxy"  # its page, docs/litellm_dropin.md, has no table of versions
        for asked in clients:
            assert str(asked.specifier).removeprefix("==") in shown[asked.name], asked


@pytest.mark.parametrize("extra", OF_FRAMEWORKS.values())
def test_an_extra_of_a_framework_allows_the_versions_that_were_tried(extra: str) -> None:
    (asked,) = map(Requirement, pyproject()["project"]["optional-dependencies"][extra])
    tried = [
        one for environment in TABLE.values() for one in map(Requirement, environment.requirements) if one.name == asked.name
    ]
    assert tried
    assert all(asked.specifier.contains(str(one.specifier).removeprefix("==")) for one in tried)


def test_an_environment_is_made_anew_only_if_its_row_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrations.Environment, "folder", tmp_path)
    environment = integrations.Environment("x", ("openai==3.57.0",), ("openai",), ("tests",))
    assert not environment.is_current()
    (tmp_path / ".set-up").write_text(environment.key(), "utf-8")
    assert environment.is_current()
    assert not integrations.Environment("x", ("openai==3.56.0",), ("openai",), ("tests",)).is_current()


def test_a_name_that_is_not_in_the_table_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert integrations.main(["nothing"]) == 2
    assert "no environment nothing; there are openai2" in capsys.readouterr().err


def test_each_night_runs_them() -> None:
    assert "make test-integrations || status=1" in (ROOT / ".ci" / "nightly").read_text("utf-8").splitlines()
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^test-integrations: .*\n\t\$\(BIN\)/python -m scripts\.integrations", makefile, re.MULTILINE)
    assert ".venv-integrations-*" in makefile
