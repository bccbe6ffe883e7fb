"""Observers get each point of a run once and in order, whatever happens, and cannot break the run."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
from contextlib import aclosing, suppress
from typing import Any

import pytest

from llmcore import ObservedRun, Observer, ToolRetry
from llmcore.adapters.base import ModelCall
from llmcore.hooks import Hooks, Veto
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RepairRecord, RunResult, ToolRecord
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import tool
from llmcore.types import (
    Attempt,
    AuthenticationFailed,
    ConfigError,
    Envelope,
    Overloaded,
    RateLimited,
    RetryConfig,
    RetryTool,
    TerminateLoop,
    Timeout,
    ToolStarted,
    Waiting,
)
from llmcore.types.logs import current_run
from tests.run.support import add, called, stack

pytestmark = pytest.mark.anyio


class Diary(Observer):
    """Everything it is told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.runs: list[ObservedRun] = []
        self.attempts: list[Attempt] = []
        self.records: list[ToolRecord] = []
        self.repairs: list[RepairRecord] = []
        self.raised: list[BaseException | None] = []
        self.result = RunResult[Any]()

    def run_started(self, run: ObservedRun) -> None:
        self.runs.append(run)
        self.told.append(("run", run.model))

    def run_ended(self, run: ObservedRun, result: RunResult[Any], error: BaseException | None) -> None:
        self.result = result
        self.told.append(("/run", type(error).__name__))

    def attempt_started(self, run: ObservedRun, attempt: Attempt, call: ModelCall) -> None:
        self.attempts.append(attempt)
        self.told.append(("attempt", attempt.n, call.mode))

    def attempt_ended(self, run: ObservedRun, attempt: Attempt, reply: Envelope | None, error: BaseException | None) -> None:
        self.told.append(("/attempt", attempt.n, reply is not None, type(error).__name__))

    def waiting(self, run: ObservedRun, waiting: Waiting) -> None:
        self.told.append(("wait", waiting.n, waiting.seconds))

    def repaired(self, run: ObservedRun, repair: RepairRecord) -> None:
        self.repairs.append(repair)
        self.told.append(("repair", repair.of))

    def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
        self.told.append(("tool", tool.name))

    def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
        self.records.append(record)
        self.raised.append(raised)
        self.told.append(("/tool", record.name, record.ran))


class Broken(Observer):
    """One that never works."""

    def run_started(self, run: ObservedRun) -> None:
        raise RuntimeError("the observer's own")

    def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
        raise KeyError("again")


RUN = [
    ("run", "fake"),
    ("attempt", 1, "native_tools"),
    ("/attempt", 1, True, "NoneType"),
    ("tool", "add"),
    ("/tool", "add", True),
    ("attempt", 2, "native_tools"),
    ("/attempt", 2, True, "NoneType"),
    ("/run", "NoneType"),
]


def adding() -> FakeModel:
    return FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")


@pytest.mark.parametrize("how", ["run", "stream", "iterate", "run_sync"])
async def test_each_point_is_reported_once_however_the_run_is_read(how: str) -> None:
    diary = Diary()
    orchestrator = Orchestrator(adding(), [add], observers=diary, name="sums")
    if how == "run":
        await orchestrator.run("go")
    elif how == "run_sync":
        await asyncio.to_thread(orchestrator.run_sync, "go")
    else:
        async for _ in orchestrator.stream("go") if how == "stream" else orchestrator.iterate("go"):
            pass
    assert diary.told == RUN
    assert (diary.runs[0].name, diary.runs[0].parent_id, diary.runs[0].id) == ("sums", "", diary.result.id)
    assert diary.records == diary.result.tool_results
    assert diary.attempts == diary.result.attempts


async def test_failures_waits_and_re_asks_are_reported() -> None:
    diary = Diary()
    fakes = {
        "small": FakeModel(RateLimited("slow down", retry_after=0.001), Overloaded("busy")),
        "large": FakeModel(called("add", {"a": "x"}), called("add", {"a": "1", "b": 2}), "3"),
    }
    await stack(fakes, [add], observers=[diary]).run("go")
    assert diary.told == [
        ("run", "small"),
        ("attempt", 1, "native_tools"),
        ("/attempt", 1, False, "RateLimited"),
        ("wait", 2, 0.001),
        ("attempt", 2, "native_tools"),
        ("/attempt", 2, False, "Overloaded"),
        ("attempt", 3, "native_tools"),
        ("/attempt", 3, True, "NoneType"),
        ("attempt", 4, "native_tools"),
        ("/attempt", 4, True, "NoneType"),
        ("repair", "call"),
        ("tool", "add"),
        ("/tool", "add", True),
        ("attempt", 5, "native_tools"),
        ("/attempt", 5, True, "NoneType"),
        ("/run", "NoneType"),
    ]
    assert diary.repairs == diary.result.repairs


async def test_a_reply_that_is_judged_useless_ends_its_attempt_with_the_failure() -> None:
    diary = Diary()
    fake = FakeModel(default=called("add", {"a": 1}))
    with pytest.raises(Exception, match="no strategy is left"):
        await Orchestrator(fake, [add], observers=diary, strategies=()).run("go")
    ends = [point[3] for point in diary.told if point[0] == "/attempt"]
    assert ends == ["NoneType"] * (len(ends) - 1) + [type(diary.attempts[-1].failure).__name__]
    assert diary.told[-1][0] == "/run"


async def slow() -> None:
    await asyncio.sleep(30)


def broken() -> None:
    raise LookupError("no such thing")


@pytest.mark.parametrize("end", ["deadline", "cancelled", "left", "terminated", "hook", "refused"])
async def test_what_began_ends_whatever_becomes_of_the_run(end: str) -> None:
    diary = Diary()

    def stop() -> None:
        raise TerminateLoop("enough")

    def fails(call: Any, outcome: Any) -> None:
        raise LookupError("the hook's")

    tools = {"terminated": stop, "hook": broken}
    hooks = Hooks(after_tool_run=fails) if end == "hook" else None
    fake = FakeModel(AuthenticationFailed("no")) if end == "refused" else FakeModel().tool_call(tools.get(end, slow).__name__)
    orchestrator = Orchestrator(fake, [slow, stop, broken], observers=diary, hooks=hooks)

    async def listen() -> None:
        with suppress(Timeout, LookupError, AuthenticationFailed):
            await taken()

    async def taken() -> None:
        async with aclosing(orchestrator.stream("go", deadline=0.2 if end == "deadline" else None)) as events:
            async for event in events:
                if end == "left" and isinstance(event, ToolStarted):
                    return

    task = asyncio.create_task(listen())
    if end == "cancelled":
        while not any(point[0] == "tool" for point in diary.told):
            await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait([task])
    opened: list[Any] = []
    for point in diary.told:
        if point[0].startswith("/"):
            assert opened.pop() == point[0][1:]
        else:
            opened.append(point[0])
    assert opened == []
    expected = {
        "deadline": "Timeout",
        "cancelled": "CancelledError",
        "left": "GeneratorExit",
        "terminated": "NoneType",
        "hook": "LookupError",
        "refused": "AuthenticationFailed",
    }
    assert diary.told[-1] == ("/run", expected[end])
    assert diary.records == diary.result.tool_results or end == "hook"


async def test_parallel_tools_and_refused_calls() -> None:
    diary = Diary()
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": 2}), ("broken", {}), ("nope", {}), ("add", {"a": 0, "b": 0})).text("ok")
    guard = Hooks(before_tool_run=lambda call, _: Veto("no") if call.arguments == {"a": 0, "b": 0} else None)
    result = await Orchestrator(fake, [add, broken], observers=diary, hooks=guard).run("go")
    assert sorted(point[1] for point in diary.told if point[0] == "tool") == ["add", "broken"]
    assert sorted(record.id for record in diary.records) == sorted(record.id for record in result.tool_results)
    (raised,) = [one for one in diary.raised if one is not None]
    assert isinstance(raised, LookupError)


async def test_each_failed_try_but_the_last_is_reported_and_then_the_end() -> None:
    class Tries(Observer):
        def __init__(self) -> None:
            self.told: list[tuple[Any, ...]] = []

        def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
            self.told.append(("begins", tool.tool_use_id))

        def tool_retried(self, run: ObservedRun, retry: ToolRetry, raised: BaseException | None) -> None:
            assert retry.wait >= 0
            assert current_run.get() == run.id
            self.told.append(("again", retry.tool_use_id, retry.n, retry.error.type, type(raised).__name__))

        def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
            self.told.append(("ends", record.id, record.retries, type(raised).__name__))

    @tool(retries=RetryConfig(max_retries=2, base=0.001))
    def fails() -> str:
        """Fail."""
        raise KeyError("no")

    @tool(retries=2)
    def slow() -> str:
        """Ask for other arguments, which no retry can give."""
        raise RetryTool("other ones")

    tries = Tries()
    result = await Orchestrator(
        FakeModel().tool_calls(("fails", {}), ("slow", {})).text("."), [fails, slow], observers=tries
    ).run("go")
    one, other = (record.id for record in result.tool_results)
    assert [told for told in tries.told if told[1] == one] == [
        ("begins", one),
        ("again", one, 1, "execution", "KeyError"),
        ("again", one, 2, "execution", "KeyError"),
        ("ends", one, 2, "KeyError"),
    ]
    assert [told[0] for told in tries.told if told[1] == other] == ["begins", "ends"]


async def test_two_runs_at_once_are_distinguished() -> None:
    class PerRun(Observer):
        def __init__(self) -> None:
            self.told: dict[str, list[str]] = {}

        def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
            self.told.setdefault(run.id, []).append(record.content)

    seen = PerRun()
    orchestrators = [
        Orchestrator(FakeModel().tool_call("add", {"a": n, "b": 0}).text("ok"), [add], observers=seen) for n in range(5)
    ]
    results = await asyncio.gather(*(one.run("go") for one in orchestrators))
    assert seen.told == {result.id: [str(n)] for n, result in enumerate(results)}


async def test_a_failing_observer_is_logged_and_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    diary = Diary()
    with caplog.at_level(logging.WARNING, "llmcore"):
        result = await Orchestrator(adding(), [add], observers=[Broken(), diary]).run("go")
    assert result.content == "3"
    assert diary.told == RUN
    (record,) = caplog.records
    assert record.getMessage() == "an observer failed, which changes nothing: Broken.run_started"
    assert record.exc_info is not None
    assert record.run_id == result.id  # type: ignore[attr-defined]  # logging's own attributes are not typed


async def test_the_log_of_a_failing_observer_holds_none_of_its_words(caplog: pytest.LogCaptureFixture) -> None:
    class Quoting(Observer):
        def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
            try:
                raise ValueError("".join(["mot", "to"]))
            except ValueError as error:
                raise RuntimeError("".join(["slo", "gan"])) from error

    with caplog.at_level(logging.WARNING, "llmcore"):
        await Orchestrator(adding(), [add], observers=Quoting()).run("go")
    told = logging.Formatter().format(caplog.records[0])
    assert "Quoting.tool_started" in told
    assert "RuntimeError" in told
    assert "ValueError" in told
    assert "test_observers.py" in told
    assert "motto" not in told
    assert "slogan" not in told


# --- context variables ----------------------------------------------------------------------------------------------------

place: contextvars.ContextVar[str] = contextvars.ContextVar("place", default="outside")


class Places(Observer):
    """Marks where code runs."""

    def run_started(self, run: ObservedRun) -> None:
        place.set("run")

    def attempt_started(self, run: ObservedRun, attempt: Attempt, call: ModelCall) -> None:
        place.set(f"request {attempt.n}")

    def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
        place.set(f"tool {tool.name}")


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_an_observer_sets_holds_inside_what_it_announces(streamed: bool, several: bool) -> None:
    seen: dict[str, str] = {}

    def sync_tool() -> None:
        seen["sync"] = place.get()

    async def async_tool() -> None:
        seen["async"] = await asyncio.to_thread(place.get)

    calls: list[tuple[str, Any]] = [("sync_tool", {}), ("async_tool", {})]

    def first(_: object) -> Any:
        seen["first request"] = place.get()
        return tool_call_body(calls[: 2 if several else 1], None, 0)

    def second(_: object) -> str:
        seen["second request"] = place.get()
        return "done"

    hooks = Hooks(before_tool_run=lambda call, _: seen.__setitem__("hook", place.get()))
    orchestrator = Orchestrator(FakeModel(first, second), [sync_tool, async_tool], observers=Places(), hooks=hooks)
    if streamed:
        async for _ in orchestrator.stream("go"):
            assert place.get() == "outside"
            assert current_run.get() == ""
    else:
        await orchestrator.run("go")
    assert place.get() == "outside"
    assert current_run.get() == ""
    asyncs = {"async": "tool async_tool"} if several else {}
    assert seen == {
        "first request": "request 1",
        "hook": "run",
        "sync": "tool sync_tool",
        **asyncs,
        "second request": "request 2",
    }


async def test_a_run_within_a_tool_knows_the_run_it_belongs_to() -> None:
    diary = Diary()
    inner = Orchestrator(FakeModel("inner"), observers=diary, name="inner")

    @tool
    async def ask(question: str) -> str:
        """Ask another."""
        return (await inner.run(question)).content

    outer = Orchestrator(FakeModel().tool_call("ask", {"question": "?"}).text("outer"), [ask], observers=diary, name="outer")
    result = await outer.run("go")
    assert [(run.name, run.parent_id) for run in diary.runs] == [("outer", ""), ("inner", result.id)]


async def test_a_generator_that_nobody_closes_leaves_no_trace() -> None:
    diary = Diary()

    async def leave() -> None:
        events = Orchestrator(adding(), [add], observers=[diary, Places()]).stream("go")
        await anext(events)

    await leave()
    gc.collect()
    await asyncio.sleep(0.01)
    assert diary.told[-1] == ("/run", "GeneratorExit")
    assert place.get() == "outside"


# --- mistakes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (print, "observers must be llmcore.Observer, not the function print; derive a class of it"),
        ([Diary], r"observers must be instances: write Diary\(\) for Diary"),
        ("diary", "observers must be llmcore.Observer, not 'diary'; derive a class"),
    ],
)
def test_what_is_no_observer_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Orchestrator(FakeModel("x"), observers=given)


def test_a_misspelt_or_async_method_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Mine.tool_start is never called; did you mean 'tool_started'\?"):
        type("Mine", (Observer,), {"tool_start": vars(Diary)["tool_started"]})

    async def run_started(self: Any, run: ObservedRun) -> None: ...

    with pytest.raises(ConfigError, match=r"Mine\.run_started is async"):
        type("Mine", (Observer,), {"run_started": run_started})


def test_a_method_that_cannot_be_called_so_is_refused_at_once() -> None:
    class Short(Observer):
        def tool_ended(self, run: ObservedRun) -> None:  # type: ignore[override]  # what the test is about
            pass

    with pytest.raises(ConfigError, match=r"Short\.tool_ended is called with run, record, raised, which it does not take"):
        Orchestrator(FakeModel("x"), observers=Short())


async def test_methods_of_any_kind_are_reported() -> None:
    ends: list[str] = []

    def telling(word: str) -> Any:
        def told(*_: object) -> None:
            ends.append(word)

        return told

    methods: dict[str, Any] = {
        "run_started": staticmethod(telling("static")),
        "attempt_started": classmethod(telling("class")),
    }
    kinds: Any = type("Kinds", (Observer,), methods)()
    kinds.run_ended = telling("attribute")
    await Orchestrator(FakeModel("x"), observers=(one for one in [kinds])).run("go")
    assert ends == ["static", "class", "attribute"]


def test_a_name_is_a_text() -> None:
    with pytest.raises(ConfigError, match="Orchestrator: `name` must be a text, not 5"):
        Orchestrator(FakeModel("x"), name=5)  # type: ignore[arg-type]  # what the test is about
