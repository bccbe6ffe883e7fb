"""Prints how llmcore does in the suite `canitoolcall`, by family, and each fixture that does not pass.

.venv/bin/python -m tests.conformance [--known] [--write]

`--known`: llmcore knows the dialects of the family. `--write`: writes `docs/conformance.md`; the run must agree with `differences`.
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime

from .differences import DIFFERENCES, SOFT_PASSES
from .page import PAGE, page
from .replay import INSTALLED, MISSING, Case, fixtures, replay

_STATUSES = ("pass", "soft_pass", "fail", "error")


def main(arguments: list[str]) -> int:
    """Print the table; 1 if the run does not agree with `differences`, 2 if the package is missing."""
    if not INSTALLED:
        print(MISSING, file=sys.stderr)
        return 2
    cases = [replay(fixture, dialects_given="--known" in arguments) for fixture in fixtures().values()]
    print(*table(cases), sep="\n")
    for case in cases:
        if case.status != "pass":
            print(f"\n{case.id}: {case.status}", *(f"  {fault}" for fault in case.faults[:2]), sep="\n")
    failed = {case.id for case in cases if case.status in ("fail", "error")}
    soft = {case.id for case in cases if case.status == "soft_pass"}
    if changed := sorted((failed ^ DIFFERENCES.keys()) | (soft ^ SOFT_PASSES)):
        print("\nnot as tests/conformance/differences.py says:", *changed)
        return 1
    if "--write" in arguments:
        PAGE.write_text(page(datetime.now(UTC).date().isoformat()), "utf-8")
    return 0


def table(cases: list[Case]) -> list[str]:
    """Lines of columns: the family and its counts; the last line has the totals."""
    counts = Counter((case.family, case.status) for case in cases)
    families = sorted({case.family for case in cases})
    lines = [f"{'family':14}" + "".join(f"{status:>10}" for status in _STATUSES)]
    lines += [f"{family:14}" + "".join(f"{counts[family, status]:10}" for status in _STATUSES) for family in families]
    totals = [sum(counts[family, status] for family in families) for status in _STATUSES]
    return [*lines, f"{'all':14}" + "".join(f"{total:10}" for total in totals)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
