"""mkdocs' hooks: pages of the repository's top level, links that leave `docs/`, and the Markdown of each page with `llms.txt`.

`LLMCORE_REPOSITORY_URL` is the URL of the repository, as for a release (setup.py). With it, a link to a source file leads there.
Without it, the link becomes plain text.
"""

from __future__ import annotations

import os
import posixpath
import re
from importlib import import_module
from pathlib import Path
from typing import Any  # the objects of mkdocs: no other module of the project needs its types

__all__ = ["on_config", "on_files", "on_nav", "on_page_markdown", "on_post_build"]

_ROOT = Path(__file__).resolve().parent.parent
_TOP_LEVEL = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md", "security-policy.md": "SECURITY.md"}
"""Pages of the site that stand at the top level of the repository."""
_LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[\w./-]+)(?P<anchor>#[^)\s]*)?\)")
_INTRODUCTION = re.compile(r"^[A-Z](?:[^\n]|\n(?!\n))*?[.:](?=\s)", re.MULTILINE)
_REPOSITORY = os.environ.get("LLMCORE_REPOSITORY_URL", "").rstrip("/")
_markdown: dict[str, str] = {}
_sections: list[tuple[str, list[Any]]] = []


def on_config(config: Any) -> None:
    """Make the anchors of headings as code hosts make them, so that a link holds in both places."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = import_module("pymdownx.slugs").slugify(case="lower")
    config.repo_url = _REPOSITORY or None


def on_files(files: Any, config: Any) -> None:
    """Add the pages of the top level."""
    file = import_module("mkdocs.structure.files").File
    for page, name in _TOP_LEVEL.items():
        files.append(file.generated(config, page, abs_src_path=str(_ROOT / name)))


def on_nav(nav: Any, **_: Any) -> None:
    """Keep the navigation for `llms.txt`."""
    _sections[:] = [(section.title, section.children) for section in nav.items]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links that leave `docs/`."""
    uri: str = page.file.src_uri
    folder = "" if uri in _TOP_LEVEL else posixpath.dirname(f"docs/{uri}")
    pages = {name: page for page, name in _TOP_LEVEL.items()}

    def rewritten(link: re.Match[str]) -> str:
        path, anchor = posixpath.normpath(posixpath.join(folder, link["path"])), link["anchor"] or ""
        inside = path.removeprefix("docs/") if path.startswith("docs/") else pages.get(path)
        if inside:
            return f"[{link['text']}]({posixpath.relpath(inside, posixpath.dirname(uri) or '.')}{anchor})"
        if not (_ROOT / path).exists():
            return link[0]
        return f"[{link['text']}]({_REPOSITORY}/blob/main/{path}{anchor})" if _REPOSITORY else link["text"]

    _markdown[uri] = _LINK.sub(rewritten, markdown)
    return _markdown[uri]


def on_post_build(config: Any) -> None:
    """Write the Markdown of each page beside the page, and `llms.txt`, which lists them."""
    site = Path(config.site_dir)
    lines = [f"# {config.site_name}", "", f"> {config.site_description}"]
    for title, pages in _sections:
        lines += ["", f"## {title}", ""]
        for page in pages:
            uri: str = page.file.src_uri
            text = _markdown[uri]
            target = site / uri
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            first = _INTRODUCTION.search(text)
            lines.append(f"- [{page.title}]({uri})" + (f": {' '.join(first[0].split())}" if first else ""))
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
