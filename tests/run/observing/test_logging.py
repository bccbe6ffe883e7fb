"""A run logs requests, re-asks, waits, and changes of mode and model, and no content."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import Budget, CapabilityRefused, Overloaded, RateLimited, RetryConfig, ToolError
from llmcore.types.logs import FIELDS, current_run, logger
from tests.run.support import add, called, stack

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


async def test_waits_retries_changes_and_re_asks_are_reported_at_info(caplog: pytest.LogCaptureFixture) -> None:
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


async def test_each_request_and_its_outcome_is_reported_at_debug(caplog: pytest.LogCaptureFixture) -> None:
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


# --- fields ---------------------------------------------------------------------------------------------------------------


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}


async def test_each_record_has_the_fields_that_apply(caplog: pytest.LogCaptureFixture) -> None:
    await logged(caplog, logging.DEBUG)
    records = [record for record in caplog.records if record.name.startswith("llmcore.")]
    by_line = {record.getMessage().partition(" after ")[0]: fields_of(record) for record in records}
    (run,) = {each["run_id"] for each in by_line.values()}
    assert run
    request = by_line["request 1: small (native_tools), first"]
    assert request == {"run_id": run, "attempt": 1, "model": "small", "mode": "native_tools", "reason": "first"}
    waited = by_line["attempt 3: small (json_schema), retry"]
    assert (waited["attempt"], waited["wait"], waited["failure"], waited["status"]) == (3, 0.001, "RateLimited", 429)
    failed = by_line["request 2 failed"]
    assert (failed["failure"], failed["status"], failed["duration"] >= 0) == ("RateLimited", 429, True)
    ended = by_line["tool add (call_fake_0) ended"]
    assert (ended["tool"], ended["call_id"], ended["turn"], ended["retries"]) == ("add", "call_fake_0", 1, 0)
    whole = by_line["run ended"]
    assert (whole["input_tokens"], whole["output_tokens"] > 0, whole["model"]) == (21, True, "small")


async def test_two_runs_at_once_are_distinguished(caplog: pytest.LogCaptureFixture) -> None:
    async def run(n: int) -> str:
        fake = FakeModel().tool_call("add", {"a": n, "b": 0}).text("ok").delay(0.001)
        return (await Orchestrator(fake, [add]).run("go")).id

    with caplog.at_level(logging.DEBUG, "llmcore"):
        ids = await asyncio.gather(*map(run, range(5)))
    lines = [(fields_of(record)["run_id"], record.getMessage().partition(" after ")[0]) for record in caplog.records]
    told = {one: [line for run_id, line in lines if run_id == one] for one in ids}
    assert len(set(ids)) == 5
    assert len({tuple(each) for each in told.values()}) == 1
    assert {run_id for run_id, _ in lines} == set(ids)


async def test_what_an_adapter_logs_has_its_run_too(caplog: pytest.LogCaptureFixture) -> None:
    def reply(_: object) -> str:
        logger("adapters").warning("of an adapter")
        return current_run.get()

    with caplog.at_level(logging.WARNING, "llmcore"):
        result = await Orchestrator(FakeModel(reply)).run("go")
        logger("adapters").warning("outside")
    assert [fields_of(record)["run_id"] for record in caplog.records] == [result.id, ""]
    assert result.content == result.id


# --- tools ----------------------------------------------------------------------------------------------------------------


def fails(how: str) -> str:
    """Fail."""
    if how == "group":
        raise ExceptionGroup(SECRET, [KeyError(SECRET), ValueError(SECRET)])
    if how == "error":
        raise ToolError(SECRET, tool_name="fails", tool_id="x", type="execution")
    try:
        raise KeyError(SECRET)
    except KeyError as cause:
        raise LookupError(f"no {SECRET}") from cause


async def slow() -> None:
    """Take long."""
    await asyncio.sleep(30)


async def one_call(
    caplog: pytest.LogCaptureFixture, name: str, arguments: Any, level: int = logging.INFO
) -> list[logging.LogRecord]:
    fake = FakeModel().tool_call(name, arguments).text("ok")
    with caplog.at_level(level, "llmcore"):
        await Orchestrator(fake, [fails, add, slow], tool_timeout=0.02).run("go")
    return [record for record in caplog.records if record.name == "llmcore.tools"]


@pytest.mark.parametrize(
    ("how", "words", "classes"),
    [
        ("cause", "execution, LookupError", ["KeyError", "LookupError"]),
        ("group", "execution, ExceptionGroup", ["ExceptionGroup", "KeyError", "ValueError"]),
        ("error", "execution, ToolError", ["ToolError"]),
    ],
)
async def test_a_tool_that_raises_is_reported_with_its_traceback_and_without_its_words(
    caplog: pytest.LogCaptureFixture, how: str, words: str, classes: list[str]
) -> None:
    (record,) = await one_call(caplog, "fails", {"how": how})
    assert record.levelname == "INFO"
    assert record.getMessage().startswith("tool fails (call_fake_0) failed after ")
    assert record.getMessage().endswith(f" s: {words}")
    trace = logging.Formatter().format(record)
    assert "in fails" in trace
    assert "execution.py" not in trace  # our own frames are none of the tool's
    assert all(name in trace for name in classes)
    assert SECRET not in trace.replace("raise KeyError(SECRET)", "")


async def test_a_call_that_ran_out_of_time_or_was_refused_has_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    (late,) = await one_call(caplog, "slow", {})
    assert late.getMessage().endswith("s: timeout")
    assert not late.exc_info


async def test_the_name_of_an_unknown_tool_is_a_models_words(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeModel().tool_calls((f"tell_{SECRET}", {}), ("add", {"a": 1, "b": 2})).text("ok")
    with caplog.at_level(logging.DEBUG, "llmcore"):
        await Orchestrator(fake, [add]).run("go")
    assert SECRET not in caplog.text
    assert "tool of an unknown name" in caplog.text


async def test_each_failed_try_of_a_tool_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    tried: list[int] = []

    @tool(retries=RetryConfig(max_retries=2, base=0.001))
    def flaky() -> str:
        """Fail twice."""
        tried.append(1)
        if len(tried) < 3:
            raise KeyError(SECRET)
        return "open"

    with caplog.at_level(logging.INFO, "llmcore"):
        await Orchestrator(FakeModel().tool_call("flaky").text("."), [flaky]).run("go")
    records: list[Any] = [record for record in caplog.records if record.name == "llmcore.tools"]
    assert [(one.tool, one.retries, one.failure, one.wait >= 0, one.duration >= 0) for one in records] == [
        ("flaky", 1, "KeyError", True, True),
        ("flaky", 2, "KeyError", True, True),
    ]
    assert "failed in try 2 after" in records[1].getMessage()
    assert "in flaky" in caplog.text, "the traceback"
    assert SECRET not in caplog.text


# --- what was said --------------------------------------------------------------------------------------------------------

KEY = "s3cr3t-of-the-log-77"


@pytest.fixture
def content() -> Iterator[logging.Logger]:
    log = logging.getLogger("llmcore.content")
    yield log
    log.setLevel(logging.NOTSET)


async def test_what_was_said_is_logged_where_it_is_asked_for_and_without_keys(
    caplog: pytest.LogCaptureFixture, content: logging.Logger
) -> None:
    remember([KEY])

    def tells(question: str) -> str:
        """Tell."""
        raise LookupError(f"no {question}: {KEY}")

    content.setLevel(logging.DEBUG)
    fake = FakeModel().tool_call("tells", {"question": "of-life"}).text("forty-two")
    with caplog.at_level(logging.DEBUG, "llmcore"):
        await Orchestrator(fake, [tells]).run("the-prompt")
    lines = [record.getMessage() for record in caplog.records if record.name == "llmcore.content"]
    assert [line.split(":")[0].partition(" {")[0] for line in lines[:3]] == ["request 1", "reply 1", "tool tells is called with"]
    for word in ("the-prompt", "of-life", "forty-two", "LookupError: no of-life: [secret]"):
        assert word in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "sent",
    [
        {"extra_body": {"token": KEY}},
        {"extra_body": {"servers": [{"authorization_token": KEY}]}},
        {"extra_body": {"login": {"password": KEY}}},
        {"extra_headers": {"X-Gateway": KEY}},
    ],
)
async def test_what_a_run_is_sent_with_is_hidden_in_its_first_line(
    sent: dict[str, Any], caplog: pytest.LogCaptureFixture, content: logging.Logger
) -> None:
    content.setLevel(logging.DEBUG)
    key = KEY[::-1]  # one that the process knows nothing of yet
    given = json.loads(json.dumps(sent).replace(KEY, key))
    with caplog.at_level(logging.DEBUG, "llmcore"):
        await Orchestrator(FakeModel("Hi")).run("Hello", **given)
    assert "Hello" in caplog.text
    assert key not in caplog.text


@pytest.mark.parametrize("above", ["llmcore", ""])
async def test_a_level_further_up_does_not_ask_for_it(caplog: pytest.LogCaptureFixture, above: str) -> None:
    with caplog.at_level(logging.DEBUG, above):
        await Orchestrator(FakeModel("the-answer")).run("the-prompt")
    assert "the-prompt" not in caplog.text
    assert "the-answer" not in caplog.text
