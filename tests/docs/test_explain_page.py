"""`docs/explain.md` is what the tables of `llmcore explain` say."""

from __future__ import annotations

from scripts.explain_page import PAGE, page


def test_the_page_is_what_the_tables_say() -> None:
    assert page() == PAGE.read_text("utf-8"), "run: python -m scripts.explain_page"
