"""A storm in a small size: a tool loop on three wires against a server that is sick three times in ten.

`python -m benchmarks.chaos` is the same in full.
"""

from __future__ import annotations

import pytest

from tests.helpers.chaos import chaos


@pytest.mark.sweep
def test_every_run_of_a_storm_ends_as_it_should() -> None:
    # The deadline is far off: where many others use the machine, one of 15 s ended runs that nothing was wrong with.
    told = chaos(runs=60, concurrency=20, cancellations=12, share=0.4, seed=1, deadline=60.0, timeout=0.7)
    assert not told.wrong
    assert len(told.met) > 10
    assert told.counts["answer"] > 30
