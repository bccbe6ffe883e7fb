"""The lock is what pyproject.toml asks for, hashed, and free of this or that machine's indexes. Running needs its first file only."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.test_packages import OF_FRAMEWORKS
from tests.packaging.tree import ROOT, pyproject

FILES = [(ROOT / name).read_text("utf-8") for name in ("requirements.lock", "requirements-dev.lock")]
ENTRY = re.compile(r"^(?P<name>[a-z0-9][\w.-]*)(?:\[[\w,-]+\])?==(?P<version>[^\s;]+)(?P<rest>.*(?:\n .*)*)", re.MULTILINE)
RUN, DEV = ({canonicalize_name(entry["name"]): entry for entry in ENTRY.finditer(text)} for text in FILES)
LOCKED = RUN | DEV
_PROJECT = pyproject()["project"]
UNLOCKED = {*OF_FRAMEWORKS.values(), "local"}
"""Extras with environments of their own: `make test-integrations` and `make live`."""
ASKED = [
    *_PROJECT["dependencies"],
    *(asked for name, extra in _PROJECT["optional-dependencies"].items() if name not in UNLOCKED for asked in extra),
    *(asked for group in pyproject()["dependency-groups"].values() for asked in group if isinstance(asked, str)),
]


@pytest.mark.parametrize("asked", ASKED)
def test_each_requirement_is_locked_at_a_version_it_allows(asked: str) -> None:
    requirement = Requirement(asked)
    entry = LOCKED[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(entry["version"]), f"locked {entry['version']}: run `make lock`"


def test_what_running_needs_stands_in_the_first_file_and_what_it_needs_everywhere_in_no_other() -> None:
    running = [*_PROJECT["dependencies"], *pyproject()["dependency-groups"]["install"]]
    assert [asked for asked in running if canonicalize_name(Requirement(asked).name) not in RUN] == []
    everywhere = {name for name, entry in RUN.items() if not entry["rest"].lstrip().startswith(";")}
    assert everywhere & DEV.keys() == set()
    assert "pytest" in DEV


def test_every_entry_is_hashed() -> None:
    assert [name for name, entry in LOCKED.items() if "--hash=sha256:" not in entry["rest"]] == []


def test_every_line_that_is_no_entry_is_a_comment() -> None:
    assert [line for line in ENTRY.sub("", "".join(FILES)).splitlines() if line and not line.lstrip().startswith("#")] == []


def test_litellm_is_none_of_the_releases_that_break_or_steal() -> None:
    allowed = next(Requirement(asked) for asked in ASKED if asked.startswith("litellm")).specifier
    assert not any(
        allowed.contains(version) for version in ("1.82.7", "1.82.8", "1.106.0", "1.106.2", "1.106.10", "1.107.0", "1.108.0")
    )


def test_litellm_is_bounded_by_releases_that_were_tried() -> None:
    allowed = next(Requirement(asked) for asked in ASKED if asked.startswith("litellm")).specifier
    bounds = {one.operator: one.version for one in allowed if one.operator != "!="}
    assert bounds.keys() == {">=", "<="}
    assert bounds[">="] == LOCKED[canonicalize_name("litellm")]["version"], "the oldest that is allowed is the one that is locked"
    assert not allowed.contains("99.0")
