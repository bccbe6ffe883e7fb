"""Timing that survives a shared machine: contenders take turns, each keeps its best round, the clock counts this thread only."""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import llmcore

__all__ = ["best_of", "conditions", "growth", "no_gc", "on_each", "ratio", "seconds", "slowness", "steady", "table"]

Work = Callable[[], object]
_Text = TypeVar("_Text")


@contextmanager
def no_gc() -> Generator[None]:
    """The collector off, so that no run pays for the garbage of another."""
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def seconds(work: Work) -> float:
    """CPU seconds of this thread that one run takes."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def _per_run(work: Work, runs: int) -> float:
    start = time.thread_time()
    for _ in range(runs):
        work()
    return (time.thread_time() - start) / runs


_WARM = 10
"""Runs before any is timed: the first ones compile what later ones find compiled, and learn what is asked for often. Without
them a slice of time held one run only."""
_YARDSTICK = 1.75e-3
"""Seconds that the yardstick takes on the machine of docs/performance.md while nothing slows it."""


def slowness() -> float:
    """How much slower than that this machine is just now, by 20,000 steps of plain Python."""
    start = time.thread_time()
    lengths: list[int] = []
    for n in range(20_000):
        lengths.append(len(str(n)))
    return (time.thread_time() - start) / _YARDSTICK


def steady(run: Callable[[], float]) -> float:
    """The seconds that `run` says, less what the machine was slower while it ran: a shared one changes by a factor of two."""
    before = slowness()
    spent = run()
    return spent * 2 / (before + slowness())


def best_of(contenders: Mapping[str, Work], rounds: int, slice_seconds: float = 0.002) -> dict[str, float]:
    """Seconds a run of each contender: the best of `rounds`, in each of which every contender runs for about `slice_seconds`, steadied."""
    for work in contenders.values():
        for _ in range(_WARM):
            work()
    runs = {name: max(1, int(slice_seconds / max(_per_run(work, 2), 1e-7))) for name, work in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    with no_gc():
        for _ in range(rounds):
            for name, work in contenders.items():
                best[name] = min(best[name], steady(partial(_per_run, work, runs[name])))
    return best


def on_each(
    readers: Mapping[str, Callable[[_Text], object]], fresh: Callable[[], _Text], rounds: int, batch: int = 16
) -> dict[str, list[float]]:
    """Seconds for one text, by reader and round. In each round every reader reads a few texts that none of them has seen.

    What counts is the median of the rounds' ratios (`ratio`): what the readers do within a millisecond, a neighbour slows alike.
    The best rounds of two readers may have seen two machines.
    """

    def spent(read: Callable[[_Text], object], texts: Sequence[_Text]) -> float:
        start = time.thread_time()
        for text in texts:
            read(text)
        return (time.thread_time() - start) / len(texts)

    taken: dict[str, list[float]] = {name: [] for name in readers}
    with no_gc():
        for turn in range(_WARM + rounds):
            texts = [fresh() for _ in range(batch)]
            for name, read in readers.items():
                once = spent(read, texts)
                if turn >= _WARM:
                    taken[name].append(once)
    return taken


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(one / other for one, other in zip(above, below, strict=True))


def growth(rounds: Sequence[Sequence[float]]) -> float:
    """The worst factor between neighbouring sizes, each the double of the one before, as the median of all rounds.

    A round times every size in turn. The best time of each size, taken over all rounds, would not do: one size that was caught in
    a fast moment makes its neighbour look worse than linear, and the more rounds, the likelier one is.
    """
    factors = [[after / max(before, 1e-9) for before, after in itertools.pairwise(times)] for times in rounds]
    return max(statistics.median(of_pair) for of_pair in zip(*factors, strict=True))


def conditions() -> str:
    """When, where and beside what this runs."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{time.strftime('%Y-%m-%d %H:%M')} · {llmcore.build_info()} · "
        f"{os.cpu_count()} cores, load average {load}, {slowness():.1f} times slower than at its best"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table: the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width) for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )

    return "\n".join([line(head), "  ".join("-" * width for width in widths), *map(line, rows)])
