"""The docs site: its navigation has every page, and its hooks lead links and Markdown to where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from scripts import docs_hooks
from tests.packaging.tree import ROOT

_SETTINGS: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
_ENTRIES: list[str | dict[str, str]] = [
    entry for section in _SETTINGS["nav"] for entries in section.values() for entry in entries
]
_PAGES = [page for entry in _ENTRIES for page in ([entry] if isinstance(entry, str) else entry.values())]


def test_the_navigation_has_every_page_once() -> None:
    docs = ROOT / "docs"
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert sorted(_PAGES) == sorted(there | {"contributing.md", "changelog.md", "security-policy.md"})


def test_a_warning_of_the_build_is_an_error() -> None:
    assert _SETTINGS["strict"]
    assert set(_SETTINGS["validation"]["links"].values()) == {"warn"}
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndocs: ")[2].partition("\n\n")[0]
    assert "mkdocs build" in recipe
    assert "quiet" not in recipe  # mkdocs counts no warning that it does not show


def page(uri: str, title: str = "") -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=uri), title=title)


@pytest.fixture(autouse=True)
def _fresh_hooks() -> Iterator[None]:
    yield
    docs_hooks.on_nav(SimpleNamespace(items=[]))


@pytest.mark.parametrize(
    ("uri", "link", "expected"),
    [
        ("tools.md", "[a](running.md#errors)", "[a](running.md#errors)"),
        ("tools.md", "[a](../CONTRIBUTING.md#tests)", "[a](contributing.md#tests)"),
        ("reference/tools.md", "[a](../running.md)", "[a](../running.md)"),
        ("contributing.md", "[a](docs/dialects.md)", "[a](dialects.md)"),
        ("contributing.md", "[a](SECURITY.md)", "[a](security-policy.md)"),
        ("tour.md", "[`a`](../normalizer/api.py)", "`a`"),
        ("tour.md", "[a](../nothing.py)", "[a](../nothing.py)"),
        ("tour.md", "[a](https://example.org/a.md)", "[a](https://example.org/a.md)"),
    ],
)
def test_links_that_leave_the_folder(uri: str, link: str, expected: str) -> None:
    assert docs_hooks.on_page_markdown(link, page(uri)) == expected


def test_a_link_to_a_source_leads_to_the_repository_if_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_hooks, "_REPOSITORY", "https://code.example/llmcore")
    found = docs_hooks.on_page_markdown("[`a`](../normalizer/api.py)", page("tour.md"))
    assert found == "[`a`](https://code.example/llmcore/blob/main/normalizer/api.py)"


def test_the_markdown_of_each_page_and_their_list_are_in_the_site(tmp_path: Path) -> None:
    docs_hooks.on_nav(SimpleNamespace(items=[SimpleNamespace(title="Use", children=[page("reference/a.md", "A")])]))
    markdown = docs_hooks.on_page_markdown("# A\n\n```sh\nmake\n```\n\nThe first\nsentence. More.\n", page("reference/a.md"))
    docs_hooks.on_post_build(SimpleNamespace(site_dir=str(tmp_path), site_name="llmcore", site_description="What it is."))
    assert (tmp_path / "reference" / "a.md").read_text("utf-8") == markdown
    listed = (tmp_path / "llms.txt").read_text("utf-8")
    assert listed == "# llmcore\n\n> What it is.\n\n## Use\n\n- [A](reference/a.md): The first sentence.\n"
