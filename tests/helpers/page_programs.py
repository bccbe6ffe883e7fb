"""The programs that a page shows, and what it says that they print."""

from __future__ import annotations

import re

from tests.packaging.tree import ROOT

__all__ = ["fenced", "promised"]


def fenced(page: str, kind: str) -> list[str]:
    """What a page shows of one kind: `python`, `json`, `sh`."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def promised(program: str) -> list[str]:
    """The lines that a program prints, as the comments behind its `print` say."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
