"""Write `docs/explain.md` from the tables of `llmcore explain`: every code with its meaning and an example.

.venv/bin/python -m scripts.explain_page      # after changing a table; a test compares the page
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from llmcore.cli.explaining.codes import Explanation, all_explanations

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explain.md"
_HEAD = """\
# The codes

Written from the tables of `llmcore explain` by `python -m scripts.explain_page`; do not edit. `llmcore explain CODE`
prints one entry.

A test runs every example. Most replies were read with one tool, `get_weather(city: str, days: int)`.
"""
_SECTIONS = {
    "repair": ("Repairs", "The kinds of `Repair`: what llmcore changed in a reply, a value or a history."),
    "near_miss": (
        "Near misses",
        "The reasons of `NearMiss`: text in the form of a call that is content and never runs ([trust](trust.md)).",
    ),
    "error": ("Errors", "The classes of errors, and the two exceptions with which a tool steers its run."),
}
_GIVEN = {
    "reply": "text",
    "body": "json",
    "arguments": "json",
    "answer": "text",
    "history": "json",
    "http": "json",
    "program": "py",
}
"""The language of each kind of example. `py` and not `python`, because programs of a page are run as one."""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for kind, (title, words) in _SECTIONS.items():
        parts.append(f"## {title}\n\n{words}\n")
        parts += ["\n".join(_entry(each)) for each in all_explanations() if each.kind == kind]
    return "\n".join(parts)


def _entry(one: Explanation) -> Iterator[str]:
    yield from (f"### `{one.code}`", "", one.what, "", f"Why: {one.why}", "")
    yield from (
        f"~~~{_GIVEN[one.given]}",
        one.before.strip("\n"),
        "~~~",
        "",
        "becomes" if one.given != "program" else "prints",
        "",
    )
    yield from ("~~~text", one.after.strip("\n"), "~~~", "", f"To switch it off: {one.off}", "")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
