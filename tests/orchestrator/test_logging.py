"""What a run logs: requests, re-asks, waits and changes of mode and model, and nobody's words."""

from __future__ import annotations

import logging

import pytest

from llmcore.testing import FakeModel
from llmcore.types import Budget, CapabilityRefused, Overloaded, RateLimited
from tests.orchestrator.support import add, called, stack

pytestmark = pytest.mark.anyio

SECRET = "hunter2"
ROOMS = ("adapters", "fallback", "models", "run", "tools")


def fakes() -> dict[str, FakeModel]:
    """A run with every kind of repetition; whatever anybody says in it holds the secret."""
    small = FakeModel(
        CapabilityRefused(f"no tools for {SECRET}", capability="native_tools"),
        RateLimited(f"slow down, {SECRET}", retry_after=0.001),
        Overloaded(f"busy with {SECRET}", status=503),
    )
    large = FakeModel(called("add", {"a": SECRET}), called("add", {"a": 1, "b": 2}, text=SECRET), SECRET)
    return {"small": small, "large": large.token_counter(lambda _: 7)}


async def logged(caplog: pytest.LogCaptureFixture, level: int) -> list[tuple[str, str, str]]:
    with caplog.at_level(level, "llmcore"):
        result = await stack(fakes(), [add]).run(f"the password is {SECRET}", budget=Budget(attempts=6))
    assert (result.content, len(result.attempts)) == (SECRET, 6)
    return [(record.name, record.levelname, record.getMessage()) for record in caplog.records if record.name[:7] == "llmcore"]


async def test_waits_retries_changes_and_re_asks_are_told_at_info(caplog: pytest.LogCaptureFixture) -> None:
    assert await logged(caplog, logging.INFO) == [
        ("llmcore.run", "INFO", "learnt of small: native_tools is False"),
        (
            "llmcore.fallback",
            "INFO",
            "attempt 2: small (json_schema), mode after CapabilityRefused 400, waiting 0.00 s",
        ),
        ("llmcore.fallback", "INFO", "attempt 3: small (json_schema), retry after RateLimited 429, waiting 0.00 s"),
        ("llmcore.fallback", "INFO", "attempt 4: large (native_tools), model after Overloaded 503, waiting 0.00 s"),
        ("llmcore.run", "INFO", "learnt of large: native_tools is True"),
        ("llmcore.run", "INFO", "request 5: large (native_tools), reask"),
    ]


async def test_each_request_and_its_outcome_is_told_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    lines = [line for _, level, line in await logged(caplog, logging.DEBUG) if level == "DEBUG"]
    assert [line.partition(" after ")[0] for line in lines] == [
        "run begins: small",
        "request 1: small (native_tools), first",
        "request 1 failed",
        "request 2: small (json_schema), mode",
        "request 2 failed",
        "request 3: small (json_schema), retry",
        "request 3 failed",
        "request 4: large (native_tools), model",
        "reply 4",
        "reply 5",
        "tool add (call_fake_0) begins",
        "tool add (call_fake_0) ended",
        "request 6: large (native_tools), turn",
        "reply 6",
        "run ended",
    ]
    assert lines[2].endswith("s: CapabilityRefused 400")
    assert "s: tool_calls, 1 calls, 7 + " in lines[8]
    assert "s: 6 requests, 1 tool calls, 21 + " in lines[-1]


async def test_no_line_holds_what_anybody_wrote(caplog: pytest.LogCaptureFixture) -> None:
    assert SECRET not in str(await logged(caplog, logging.DEBUG))
    assert SECRET not in caplog.text


async def test_nothing_is_logged_above_info_in_a_run_that_ends_well(caplog: pytest.LogCaptureFixture) -> None:
    assert await logged(caplog, logging.WARNING) == []


def test_the_library_is_silent_until_the_application_asks() -> None:
    root = logging.getLogger("llmcore")
    assert any(isinstance(handler, logging.NullHandler) for handler in root.handlers)
    assert root.level == logging.NOTSET
    assert [name for name in ROOMS if logging.getLogger(f"llmcore.{name}").handlers] == []
