"""The code of an output type runs off the event loop and within the run's deadline."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Discriminator, Field, HttpUrl, PrivateAttr, SecretStr, Tag
from pydantic import field_validator as validator_of

from llmcore.orchestrator import Orchestrator
from llmcore.run.output.answer_type import OutputSpec
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import Finished, TerminateLoop, Timeout

SECONDS = 60.0
DEADLINE = 0.3
threads: list[str] = []
released, ticked = threading.Event(), threading.Event()


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    """What sleeps is woken at the end."""
    released.clear()
    ticked.clear()
    yield
    released.set()


class Slow(BaseModel):
    n: int

    @validator_of("n")
    @classmethod
    def look(cls, n: int) -> int:
        threads.append(threading.current_thread().name)
        if n == 2:
            released.wait(SECONDS)
        return n if n != 3 or ticked.wait(SECONDS) else 0


class Plain(BaseModel):
    n: int
    names: list[str] = Field(default_factory=list[str])
    _seen: int = PrivateAttr(0)


@tool
def stop() -> None:
    """Ends the run."""
    raise TerminateLoop({"n": 2})


def _ended(started: float, error: Timeout) -> RunResult:
    assert time.perf_counter() - started < SECONDS / 2
    partial: RunResult = error.partial
    return partial


def test_a_validator_that_sleeps_does_not_pass_the_deadline() -> None:
    started = time.perf_counter()
    with pytest.raises(Timeout, match="the run's deadline has passed") as caught:
        Orchestrator(FakeModel('{"n": 2}')).execute_sync("x", Slow, deadline=DEADLINE)
    partial = _ended(started, caught.value)
    assert partial.content == '{"n": 2}'
    assert not partial.has_output
    assert len(caught.value.attempts) == 1


def test_one_in_the_second_answer_does_not_either() -> None:
    started = time.perf_counter()
    with pytest.raises(Timeout) as caught:
        Orchestrator(FakeModel("none", '{"n": 2}')).execute_sync("x", Slow, deadline=DEADLINE)
    assert len(_ended(started, caught.value).attempts) == 2


@pytest.mark.anyio
async def test_a_slow_validator_of_a_partial_value_ends_at_the_deadline() -> None:
    async def streamed() -> None:
        fake = FakeModel('{"n": 2, "more": "' + "x" * 100 + '"}', chunk_size=40)
        async for _ in Orchestrator(fake).stream("x", Slow, deadline=DEADLINE):
            pass

    started = time.perf_counter()
    with pytest.raises(Timeout) as caught:
        await streamed()
    _ended(started, caught.value)


def test_a_slow_validator_of_a_tools_last_value_ends_at_the_deadline() -> None:
    started = time.perf_counter()
    with pytest.raises(Timeout) as caught:
        Orchestrator(FakeModel().tool_call("stop"), [stop]).execute_sync("x", Slow, deadline=DEADLINE)
    assert _ended(started, caught.value).tool_results


@pytest.mark.anyio
async def test_others_run_while_a_validator_sleeps() -> None:
    begun = len(threads)

    async def tick() -> None:
        while len(threads) == begun:
            await asyncio.sleep(0.001)
        ticked.set()

    ticking = asyncio.create_task(tick())
    value = await Orchestrator(FakeModel('{"n": 3}')).execute("x", Slow)
    await ticking
    assert value == Slow.model_construct(n=3)


@pytest.mark.anyio
async def test_what_a_validator_finds_is_asked_about_as_ever() -> None:
    def refuse(n: int) -> int:
        if n == 1:
            raise KeyError("one")
        return n

    made = await Orchestrator(FakeModel("1", "3")).run("x", output_type=Annotated[int, AfterValidator(refuse)])
    assert (made.output, len(made.attempts)) == (3, 2)


@pytest.mark.anyio
async def test_a_stream_gives_the_values_of_such_a_type() -> None:
    events = [event async for event in Orchestrator(FakeModel('{"n": 1}')).stream("x", Slow)]
    assert isinstance(events[-1], Finished)
    assert events[-1].result.output.n == 1


@dataclass
class Dated:
    n: int

    def __post_init__(self) -> None:
        self.n += 1


class Begun(BaseModel):
    n: int

    def model_post_init(self, context: Any) -> None:
        self.n += 1


class BegunWithPrivate(Begun):
    _seen: int = PrivateAttr(0)


class Made(BaseModel):
    def __init__(self, **data: Any) -> None:
        super().__init__(**data)


@dataclass
class Counted:
    n: int = field(default_factory=lambda: 1)


class Pair(NamedTuple):
    one: int
    two: int


def _which(_: object) -> str:
    return "a"


OWN: list[Any] = [
    Slow,
    list[Slow],
    dict[str, Slow | None],
    Dated,
    Begun,
    BegunWithPrivate,
    Made,
    Counted,
    Annotated[int, BeforeValidator(_which)],
    Annotated[Annotated[Plain, Tag("a")] | Annotated[Pair, Tag("b")], Discriminator(_which)],
]
PLAIN: list[Any] = [
    Plain,
    int,
    str,
    list[Plain],
    Pair,
    HttpUrl,
    SecretStr,
    Annotated[str, BeforeValidator(str.strip)],
    {"type": "integer"},
]


@pytest.mark.parametrize(("types", "runs"), [(OWN, True), (PLAIN, False)])
def test_which_types_run_code_of_the_callers(types: list[Any], runs: bool) -> None:
    assert {str(each): OutputSpec(each).runs_code for each in types} == {str(each): runs for each in types}


@pytest.mark.anyio
async def test_a_plain_type_costs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: Callable[[], Any]) -> None:
        raise AssertionError

    monkeypatch.setattr("llmcore.run.deadline.ThreadCall", none)
    assert await Orchestrator(FakeModel('{"n": 1}')).execute("x", Plain) == Plain(n=1)


@pytest.mark.anyio
async def test_without_threads_the_type_is_judged_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: Callable[[], Any]) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("llmcore.run.deadline.ThreadCall", none)
    assert (await Orchestrator(FakeModel('{"n": 1}')).execute("x", Slow)).n == 1


class Fussy(BaseModel):
    n: int

    @validator_of("n")
    @classmethod
    def refuse(cls, n: int) -> int:
        raise KeyError(n)


def test_whatever_a_type_raises_says_that_a_value_does_not_fit() -> None:
    assert OutputSpec(Fussy).fitting({"n": 1}) is None
    result = Orchestrator(FakeModel().tool_call("stop"), [stop]).run_sync("x", output_type=Fussy)
    assert (result.has_output, result.content) == (False, '{"n":2}')
