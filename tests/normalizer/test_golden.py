"""Nothing changes what the normaliser makes of a text unseen: see `golden.py`."""

from __future__ import annotations

import pytest

from .golden import GOLDEN, SOURCES, digest

_WANTED = GOLDEN.read_text("utf-8").splitlines()
_CHANGED = "read in another way than before: {}; `python -m tests.normalizer.golden` shows and writes it"


@pytest.mark.sweep
@pytest.mark.parametrize("source", SOURCES)
def test_every_text_is_read_as_before(source: str) -> None:
    wanted = {line for line in _WANTED if line.startswith(f"{source}/")}
    got = set(digest(source))
    changed = sorted({line.split()[0] for line in wanted ^ got})
    assert not changed, _CHANGED.format(changed)


@pytest.mark.parametrize("source", SOURCES)
def test_one_text_in_ten_is_read_as_before(source: str) -> None:
    """What `make test` runs of the test above."""
    changed = sorted(line.split()[0] for line in digest(source, every=10) if line not in _WANTED)
    assert not changed, _CHANGED.format(changed)


def test_no_text_is_digested_that_has_gone() -> None:
    assert {line.partition("/")[0] for line in _WANTED} == set(SOURCES)
    assert len({line.split()[0] for line in _WANTED}) == len(_WANTED)
