"""A breaker keeps callers from a lost backend, lets one of them ask after each pause, and warns once for each loss."""

from __future__ import annotations

import logging

import pytest

from llmcore.adapters.capabilities.breaker import BackendLost, Breaker
from llmcore.adapters.secrets.known_secrets import remember


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_caller_in_each_pause_asks_a_lost_backend(caplog: pytest.LogCaptureFixture) -> None:
    remember(["hunter23secret"])
    clock = Clock()
    breaker = Breaker(5, logging.getLogger("llmcore.tests"), clock)
    assert breaker.admits()
    breaker.failed("nothing is shared", OSError("no route for hunter23secret"))
    assert (breaker.admits(), breaker.is_open) == (False, True)
    clock.now += 5
    assert [breaker.admits() for _ in range(3)] == [True, False, False]
    breaker.failed("nothing is shared", OSError("again"))
    assert [record.getMessage() for record in caplog.records] == ["nothing is shared (OSError: no route for [secret])"]
    clock.now += 5
    assert breaker.admits()
    assert breaker.worked()
    assert (breaker.admits(), breaker.worked()) == (True, False)
    breaker.failed("nothing is shared", OSError("anew"))
    assert len(caplog.records) == 2


def test_what_was_warned_of_already_is_no_second_warning(caplog: pytest.LogCaptureFixture) -> None:
    Breaker(5, logging.getLogger("llmcore.tests")).failed("nothing is shared", BackendLost("lost"))
    assert not caplog.records
