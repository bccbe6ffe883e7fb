"""The wheel holds `llmcore` and nothing beside it, and lives with packages that carry the layers' names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging.tree import LAYERS, ROOT, ROOTS, pyproject, source_files

NAMES_WHERE_THEY_CAME_FROM = """
import importlib, pathlib, sys
for name in sys.argv[1:]:
    print(pathlib.Path(importlib.import_module(name).__file__).resolve())
"""
REPOSITORY = "https://code.example/llmcore"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the sources: setuptools leaves build/ and egg-info beside what it builds."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    files = [path for path in source_files("*") if path.suffix != ".pyc"]
    for path in [
        *files,
        *(
            ROOT / name
            for name in (
                *("pyproject.toml", "setup.py", "scripts/build_backend.py", "requirements.lock", "requirements-dev.lock"),
                *("LICENSE", "README.md"),
            )
        ),
    ]:
        target = sources / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(sources)]
    told = {**os.environ, "LLMCORE_REPOSITORY_URL": REPOSITORY}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=told)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """A folder that the wheel was unpacked into; unpacking is installing, for a wheel without scripts or data."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def test_its_only_top_level_names_are_llmcore_and_the_metadata(wheel: Path) -> None:
    project = pyproject()["project"]
    metadata = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    assert {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()} == {"llmcore", metadata}


def test_it_holds_every_source_file_and_no_other(wheel: Path) -> None:
    expected = set[str]()
    for path in source_files("*"):
        relative = path.relative_to(ROOT)
        expected.add((relative if relative.parts[0] == "llmcore" else "llmcore" / relative).as_posix())
    found = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("llmcore/")}
    assert found == expected
    assert "llmcore/py.typed" in found


def test_it_carries_its_license_and_its_console_script(installed: Path) -> None:
    (metadata,) = installed.glob("*.dist-info")
    text = (metadata / "METADATA").read_text("utf-8")
    assert "\nLicense-Expression: Apache-2.0\n" in text
    assert "\nRequires-Python: >=3.11\n" in text
    assert (metadata / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "llmcore = llmcore.cli:main" in (metadata / "entry_points.txt").read_text("utf-8")


def test_an_index_shows_its_urls_and_a_readme_without_relative_links(installed: Path) -> None:
    (metadata,) = installed.glob("*.dist-info")
    headers, _, readme = (metadata / "METADATA").read_text("utf-8").partition("\n\n")
    assert f"\nProject-URL: Source, {REPOSITORY}\n" in headers
    assert f"\nProject-URL: Security, {REPOSITORY}/blob/main/SECURITY.md\n" in headers
    assert "\nDescription-Content-Type: text/markdown\n" in headers
    version = pyproject()["project"]["version"]
    assert f"]({REPOSITORY}/raw/v{version}/docs/report.png)" in readme
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) > 40
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_links_of_the_readme_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert [link for link in links if not link.startswith("https:") and not (ROOT / link).exists()] == []
    assert (ROOT / "docs" / "report.png").stat().st_size < 200_000


def test_foreign_packages_with_the_layers_names_stay_whole(installed: Path) -> None:
    for layer in LAYERS:
        assert not (installed / layer).exists()
        (installed / layer).mkdir()
        (installed / layer / "__init__.py").write_text("", "utf-8")
    names = [*LAYERS, *(f"llmcore.{layer}" for layer in LAYERS), "llmcore"]
    command = [sys.executable, "-c", NAMES_WHERE_THEY_CAME_FROM, *names]
    done = subprocess.run(
        command,
        cwd=installed,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    folders = [*LAYERS, *(f"llmcore/{layer}" for layer in ROOTS[1:]), "llmcore"]
    assert done.stdout.split("\n")[:-1] == [str((installed / folder / "__init__.py").resolve()) for folder in folders]
