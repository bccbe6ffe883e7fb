"""Keeps the numbers of `docs/corpus.md` in step with the files."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

from llmcore import normalize
from scripts.score_corpus import score
from tests.packaging.tree import ROOT

from .files import rows

__all__ = ["PAGE", "figures_of_llmcore", "parse", "with_numbers"]

PAGE = ROOT / "docs" / "corpus.md"


def parse(text: str, tools: Any, finish_reason: str | None) -> list[tuple[str, Any]]:
    """llmcore for the runner: the calls that can be executed. A guess counts."""
    calls = normalize(text, tools, finish_reason=finish_reason).tool_calls
    return [(call.name, call.arguments) for call in calls if call.complete and call.arguments is not None]


@cache
def figures_of_llmcore() -> Counter[str]:
    """What the runner counts for llmcore in all written files."""
    return sum(score(parse).values(), Counter[str]())


def with_numbers(text: str) -> str:
    """The page with the numbers of rows as they are, and with llmcore's figures by the runner. It reads the written files."""
    totals = Counter(row.verdict for of_file in rows().values() for row in of_file)
    text = re.sub(r"(?<=holds )[\d,]+(?= replies)", f"{totals.total():,}", text)
    for file, of_file in rows().items():
        text = re.sub(rf"(?<=^\| `{file}\.jsonl` \| )[\d,]+", f"{len(of_file):,}", text, flags=re.MULTILINE)
    found = figures_of_llmcore()
    cells = [f"{found[f'{verdict} right']:,} of {totals[verdict]:,}" for verdict in ("y", "n", "i")]
    raised = sum(number for key, number in found.items() if key.endswith("raised"))
    return re.sub(r"^\| llmcore \|.*$", f"| llmcore | {' | '.join(cells)} | {raised} |", text, flags=re.MULTILINE)
