"""Nothing changes what the normaliser makes of a text unseen: see `golden.py`."""

from __future__ import annotations

import pytest

from .golden import GOLDEN, SOURCES, digest

_WANTED = GOLDEN.read_text("utf-8").splitlines()


@pytest.mark.parametrize("source", SOURCES)
def test_every_text_is_read_as_before(source: str) -> None:
    wanted = {line for line in _WANTED if line.startswith(f"{source}/")}
    got = set(digest(source))
    changed = sorted({line.split()[0] for line in wanted ^ got})
    assert not changed, f"read in another way than before: {changed}; `python -m tests.normalizer.golden` shows and writes it"


def test_no_text_is_digested_that_has_gone() -> None:
    assert {line.partition("/")[0] for line in _WANTED} == set(SOURCES)
    assert len({line.split()[0] for line in _WANTED}) == len(_WANTED)
