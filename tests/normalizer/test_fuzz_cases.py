"""What the fuzzers found, and found mended: one file a case. `y_` must read as the file says, `n_` must not be a call, `i_` is free.

Each holds everything that the oracle of tests/fuzz demands of any text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.case import load
from tests.fuzz.mixing import RandomChoices, make_case
from tests.fuzz.oracle import judge

_CASES = sorted((Path(__file__).parent / "fuzz_cases").glob("*.json"))


@pytest.mark.parametrize("path", _CASES, ids=lambda path: path.stem)
def test_a_case_that_was_found(path: Path) -> None:
    case, more = load(path)
    for _ in range(2):  # shapes are learnt for what is asked for often
        judge(case, chunkings=1)
    envelope = judge(case, chunkings=5)
    assert path.stem[:2] in ("y_", "n_", "i_")
    if path.stem.startswith("y_"):
        assert more["calls"]
        assert [[call.name, call.arguments] for call in envelope.tool_calls] == more["calls"]
    if path.stem.startswith("n_"):
        assert not envelope.tool_calls


@pytest.mark.parametrize("seed", range(12))
def test_a_few_mixes(seed: int) -> None:
    for number in range(20):
        judge(make_case(RandomChoices(f"test:{seed}:{number}"), longest=600), chunkings=1)
