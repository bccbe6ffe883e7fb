"""The fuzzer that needs nothing installed: random mixes by seed, judged, shrunk, written down.

    python -m tests.fuzz.random_mix --seconds 60 --seed 1 [--found FOLDER] [--case N]

Case N of seed S is the same every time. Exit 1 when something was found; each kind of failure is written once, as a file of the
form that tests/normalizer/fuzz_cases/ holds.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.case import Case, save
from tests.fuzz.mixing import RandomChoices, make_case
from tests.fuzz.oracle import judge
from tests.fuzz.shrinking import failure, shrink

__all__ = ["FOUND", "main", "report", "run"]

FOUND = Path(__file__).parents[2] / ".fuzz" / "found"
_A_KIND = 3  # cases kept of one kind of failure


def report(kind: str, case: Case, name: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save(case, folder / f"{name}.json", why=kind)
    print(f"\n{kind}\n  {name}: {case!r}", flush=True)


def run(seconds: float, seed: str, folder: Path, first: int = 0) -> tuple[int, dict[str, int]]:
    """(cases judged, kinds of failures with how often they were met)."""
    kinds: dict[str, int] = {}
    until = time.monotonic() + seconds
    number = first
    while time.monotonic() < until:
        case = make_case(RandomChoices(f"{seed}:{number}"))
        kind = failure(judge, case)
        if kind is not None:
            kinds[kind] = kinds.get(kind, 0) + 1
            print(f"case {number}: {kind}", flush=True)
            if kinds[kind] <= _A_KIND:
                report(kind, shrink(judge, case), f"seed_{seed}_case_{number}", folder)
        number += 1
    return number - first, kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--found", type=Path, default=FOUND)
    parser.add_argument("--case", type=int, help="judge this case only, and let what fails be raised")
    given = parser.parse_args()
    if given.case is not None:
        case = make_case(RandomChoices(f"{given.seed}:{given.case}"))
        print(repr(case))
        judge(case)
        return
    judged, kinds = run(given.seconds, given.seed, given.found)
    print(f"\n{judged} cases of seed {given.seed} in {given.seconds:g} s; {len(kinds)} kinds of failures")
    for kind, times in sorted(kinds.items(), key=lambda item: -item[1]):
        print(f"  {times:5} {kind}")
    sys.exit(1 if kinds else 0)


if __name__ == "__main__":
    main()
