"""Writes `docs/conformance.md` from the package's fixtures and `differences`.

.venv/bin/python -m tests.conformance --write
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import llmcore
from tests.packaging.tree import ROOT

from .differences import DIFFERENCES, SOFT_PASSES
from .replay import CUTS, fixtures, suite_version

__all__ = ["PAGE", "figures", "page"]

PAGE = ROOT / "docs" / "conformance.md"

_ENGINES = (
    ("vLLM 0.30.0", 469, 268, 86),
    ("SGLang 0.5.20", 448, 189, 62),
    ("llama.cpp a25c9865", 438, 278, 46),
    ("Ollama 7af39318", 261, 224, 10),
    ("HF transformers 5.17.0", 48, 33, 7),
)
"""The suite's snapshot of 2026-09-25, from the description of `canitoolcall` 0.1.1: fixtures supported, passes, soft passes."""

_HEAD = """\
# Conformance

`canitoolcall` (PyPI, Apache-2.0) is a neutral suite of texts that models wrote, with the parse that a server should return. It has
{total} fixtures of nine families of models. llmcore runs over all of them with the suite's own checks. The fixtures are not copied.

Measured on {date} with llmcore {llmcore} and canitoolcall {suite}:

```sh
.venv/bin/python -m tests.conformance           # llmcore does not know the family
.venv/bin/python -m tests.conformance --known    # llmcore knows the family's dialects
.venv/bin/python -m tests.conformance --write   # write this page anew
```

`make test` replays all fixtures. A fixture that changes its result fails the test.

## How it is run

- **What llmcore knows**: the tools, the finish reason, and whether the prompt opened the reasoning. A server knows as much. llmcore does
  not know the model or its family. An engine is configured with the family's parser.
- **Cuts**: the whole text by `normalize`, and {cuts} streams by `Normalizer`: one piece, one character at a time, and five seeded random
  cuts of 1 to 8 characters. All of them count. The suite cuts the engines' streams between tokens only.
- **Checks**: all eight of the suite. A fixture has the worst result of any check in any cut.
- **Calls**: a call counts if it is complete and its arguments were read. A guess counts, too.
- **Streams**: a stream's result is what its events add up to. If `Reclassified` corrects an earlier event, the envelope counts.
- **Soft pass**: the suite's word for a result that differs in white space at the ends of the content or the reasoning only.
"""
_RESULTS = """\
## Results

The engines' figures are those of the suite's snapshot of 2026-09-25, as its description publishes them. The suite says that they are no
ranking: each engine supports other fixtures, and some failures are an engine's policy. The share is of the fixtures that the engine
supports.
"""
_KNOWN = """\
If llmcore knows the dialects of the family, it gives the same result for every fixture.
"""
_DIFFERENCES = """\
## Differences

These fixtures fail. A policy of llmcore says otherwise, or llmcore has a fault.
"""


def page(date: str) -> str:
    """The whole page, as measured on the date (YYYY-MM-DD)."""
    head = _HEAD.format(total=len(fixtures()), date=date, llmcore=llmcore.__version__, suite=suite_version(), cuts=len(CUTS))
    return "\n".join([head, *_results(), *_families(), *_differences(), *_soft_passes()])


def figures() -> dict[str, Counter[str]]:
    """By family: how many fixtures pass, pass softly and fail, by the tables of differences."""
    found: dict[str, Counter[str]] = {}
    for fixture in fixtures().values():
        status = "fail" if fixture.id in DIFFERENCES else "soft" if fixture.id in SOFT_PASSES else "pass"
        found.setdefault(fixture.family, Counter())[status] += 1
    return found


def _row(name: str, total: int, passes: int, soft: int) -> str:
    return f"| {name} | {total} | {passes} | {soft} | {total - passes - soft} | {100 * (passes + soft) / total:.1f} % |"


def _results() -> Iterator[str]:
    yield _RESULTS
    yield "| parser | the family is | fixtures | pass | soft pass | fail | pass and soft pass |"
    yield "|---|---|---|---|---|---|---|"
    found = sum(figures().values(), Counter[str]())
    for knowledge in ("not known", "known"):
        yield _row(f"llmcore {llmcore.__version__} | {knowledge}", found.total(), found["pass"], found["soft"])
    for engine, total, passes, soft in _ENGINES:
        yield _row(f"{engine} | known", total, passes, soft)
    yield f"\n{_KNOWN}"


def _families() -> Iterator[str]:
    yield "## By family\n"
    yield "| family | fixtures | pass | soft pass | fail | pass and soft pass |"
    yield "|---|---|---|---|---|---|"
    for family, found in sorted(figures().items()):
        yield _row(family, found.total(), found["pass"], found["soft"])
    yield ""


def _differences() -> Iterator[str]:
    yield _DIFFERENCES
    yield "| fixture | llmcore returns | why |"
    yield "|---|---|---|"
    for id, difference in DIFFERENCES.items():
        page = f" ([{difference.page.partition('#')[0].removesuffix('.md')}]({difference.page}))" if difference.page else ""
        yield f"| `{id}` | {difference.reads} | {difference.reason}{page} |"
    yield ""


def _soft_passes() -> Iterator[str]:
    yield "## Soft passes\n"
    yield "llmcore drops white space between the text and a call. These fixtures keep it, or drop it where llmcore keeps it.\n"
    yield from (f"- `{id}`" for id in sorted(SOFT_PASSES))
    yield ""
