"""A tool loop against a server that is sick three times in ten: what became of each run.

    python -m benchmarks.chaos                     # 500 runs at once 50, 100 of them cancelled
    python -m benchmarks.chaos --seed 7 --runs 60

Prints how the runs ended, what the server did to them, how long they took, and everything that should not have been. Exit
status 1 when there was any of that. Nothing is compared with a peer: it is a test in a size that takes minutes.
"""

from __future__ import annotations

import argparse
import sys

from tests.helpers.chaos import Chaos, chaos


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _report(told: Chaos) -> None:
    seconds = [each.seconds for each in told.ended]
    print(f"{len(told.ended)} runs in {told.seconds:.1f} s ({told.cpu:.1f} s of CPU), {told.requests} requests")
    print(
        f"seconds a run: median {_percentile(seconds, 0.5):.2f}, p99 {_percentile(seconds, 0.99):.2f}, worst {max(seconds):.2f}"
    )
    print("ended: " + ", ".join(f"{how} {count}" for how, count in told.counts.most_common()))
    print(f"faults met: {sum(told.met.values())}: " + ", ".join(f"{name} {count}" for name, count in sorted(told.met.items())))
    print(f"wrong: {len(told.wrong)}")
    for problem in told.wrong[:50]:
        print(f"  {problem[:300]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--cancellations", type=int, default=100)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=1.0)
    given = parser.parse_args()
    told = chaos(
        runs=given.runs,
        concurrency=given.concurrency,
        cancellations=min(given.cancellations, given.runs),
        share=given.share,
        seed=given.seed,
        timeout=given.timeout,
    )
    _report(told)
    return 1 if told.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
