"""Which cases of a test `make test` runs: so many that each entry of each `parametrize` is run once. `make sweep` runs the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from zlib import crc32

import pytest


def is_sampled(nodeid: str, sample: int, seed: int) -> bool:
    """One of `sample` tests is. Of so many seeds that follow each other, each test has one."""
    return (crc32(nodeid.encode()) + seed) % sample == 0


def beyond_one_each(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The cases whose entries other cases of the same test have, of those that no mark leaves to `make sweep`."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sweep") is None:
            tests[item.nodeid.partition("[")[0]].append(item)
    beyond: list[pytest.Item] = []
    for cases in tests.values():
        kept = one_each([_entries(case) for case in cases])
        beyond += [case for at, case in enumerate(cases) if at not in kept]
    return beyond


def _entries(case: pytest.Item) -> list[Hashable]:
    """What tells the case from others of its test: its entry of each `parametrize`, and its value of each fixture with parameters."""
    spec = getattr(case, "callspec", None)
    given: dict[str, object] = {} if spec is None else spec.params
    lists = [mark.args[0] for mark in case.iter_markers("parametrize")]
    groups = [[name.strip() for name in names.split(",")] if isinstance(names, str) else list(names) for names in lists]
    fixtures = given.keys() - {name for names in groups for name in names}
    # Two entries are one if their values are the same objects. Many values have no hash.
    return [tuple((name, id(given[name])) for name in names) for names in [*groups, *([name] for name in sorted(fixtures))]]


def one_each(cases: Sequence[Sequence[Hashable]]) -> set[int]:
    """The places of cases that have all entries between them.

    For each entry that no case has yet, the case is taken whose entries were taken least often: of rows x places, each row is then
    run at another place.
    """
    having: dict[Hashable, list[int]] = defaultdict(list)
    for at, entries in enumerate(cases):
        for entry in entries:
            having[entry].append(at)
    taken: Counter[Hashable] = Counter()
    kept = {at for at, entries in enumerate(cases) if not entries}
    for entry, places in having.items():
        if not taken[entry]:
            best = min(places, key=lambda at: sum(taken[other] for other in cases[at]))
            taken.update(cases[best])
            kept.add(best)
    return kept
