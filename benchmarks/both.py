"""A benchmark on both builds, their lines side by side.

    make setup compiled    # once: .venv, and .venv-compiled (docs/compiled.md)
    python -m benchmarks.both normalize --size 1 --place "behind a sentence"

The first word names the benchmark, the others are its own. The pure build runs first, so that neither disturbs the other.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
BUILDS = [[str(ROOT / ".venv/bin/python")], [str(ROOT / ".venv-compiled/bin/python"), "-P"]]
"""Pure, compiled. `-P`: else the sources of the checkout, where this runs, would stand before the installed wheel."""


def printed(python: list[str], benchmark: str, options: list[str]) -> list[str]:
    command = [*python, "-m", f"benchmarks.{benchmark}", *options]
    return subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    missing = [python[0] for python in BUILDS if not Path(python[0]).exists()]
    if missing:
        sys.exit(f"not there: {', '.join(missing)}; `make setup compiled` makes both")
    left, right = (printed(python, sys.argv[1], sys.argv[2:]) for python in BUILDS)
    width = max(map(len, left), default=0)
    for pure, compiled in itertools.zip_longest(left, right, fillvalue=""):
        print(f"{pure:<{width}}  |  {compiled}".rstrip())


if __name__ == "__main__":
    main()
