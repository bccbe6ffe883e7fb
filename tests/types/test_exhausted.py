"""`FallbackExhausted` is of its failures' kind, so that what a caller would catch fires."""

from __future__ import annotations

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import FallbackExhausted, LLMCoreError, ModelError, Overloaded, ProviderError, RateLimited, RemoteServerError
from tests.support.processes import sent


def test_one_kind_of_failure_is_caught_by_its_class() -> None:
    fake = FakeModel(default=RateLimited("slow down, please " * 40, retry_after=0))
    with pytest.raises(RateLimited) as caught:
        Orchestrator(fake, strategies=()).run_sync("x")
    error = caught.value
    assert isinstance(error, FallbackExhausted)
    assert (error.retry_after, error.status) == (0, 429)
    assert len(str(error)) <= 200
    assert "\n" not in str(error)
    assert "slow down" in error.details
    assert [type(one.failure) for one in error.attempts] == [RateLimited]


def test_kinds_that_differ_are_caught_by_what_they_share() -> None:
    made = FallbackExhausted.of("no", (), [RateLimited("a"), Overloaded("b")])
    assert isinstance(made, ProviderError)
    assert not isinstance(made, RateLimited | Overloaded)
    assert type(FallbackExhausted.of("no", (), [RateLimited("a"), ModelError("b")])) is FallbackExhausted


def test_it_survives_another_process_and_json() -> None:
    made = FallbackExhausted.of("no", (), [RemoteServerError("down", status=502)])
    for again in (sent(made), LLMCoreError.from_data(made.as_data())):
        assert isinstance(again, RemoteServerError)
        assert isinstance(again, FallbackExhausted)
        assert (str(again), again.status) == ("no", 502)
