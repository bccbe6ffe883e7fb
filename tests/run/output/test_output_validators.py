"""The caller's functions check a final answer. If they refuse it, a re-ask follows."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

import llmcore
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import RunContext
from llmcore.types import Budget, ConfigError, FallbackExhausted, OutputParseError, RetryTool, Timeout
from tests.run.support import FAST, add, assert_valid

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str


def no_rome(value: City) -> None:
    if value.name == "Rome":
        raise ValueError("not Rome again")


async def no_rome_async(value: City) -> None:
    await asyncio.sleep(0)
    no_rome(value)


def no_rome_retry(value: City) -> None:
    if value.name == "Rome":
        raise RetryTool("not Rome again")


@pytest.mark.parametrize("validator", [no_rome, no_rome_async, no_rome_retry])
async def test_what_is_refused_is_reported_and_asked_again(validator: Any) -> None:
    fake = FakeModel('{"name": "Rome"}', '{"name": "Oslo"}')
    result = await Orchestrator(fake, output_validators=[validator]).run("go", output_type=City)
    assert result.output == City(name="Oslo")
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask"]
    assert result.attempts[1].detail == "not Rome again"
    told = fake.requests[1].messages[-1].text
    assert "not Rome again" in told
    assert '{"name": "Rome"}' in told
    assert len(result.messages) == 2


async def test_words_are_judged_as_well_and_what_is_refused_for_ever_is_no_answer() -> None:
    def short(value: str) -> None:
        if len(value) > 3:
            raise ValueError("three characters at most")

    assert (await Orchestrator(FakeModel("long words", "ok")).run("go", output_validators=short)).content == "ok"
    fake = FakeModel(*(f"long words {n}" for n in range(9)))
    with pytest.raises(FallbackExhausted, match="three characters at most") as caught:
        await Orchestrator(fake, strategies=FAST).run("go", output_validators=short, budget=Budget(attempts=1, reasks=2))
    assert fake.call_count == 3
    assert not caught.value.partial.degraded


async def test_an_answer_that_is_repeated_though_refused_is_not_asked_for_again() -> None:
    fake = FakeModel(default='{"name": "Rome"}')
    orchestrator = Orchestrator(fake, strategies=(), output_validators=[no_rome])
    with pytest.raises(FallbackExhausted) as caught:
        await orchestrator.execute("go", City, budget=Budget(reasks=5))
    assert fake.call_count == 2
    cause = caught.value.__cause__
    assert isinstance(cause, OutputParseError)
    assert isinstance(cause.__cause__, ValueError)


async def test_they_are_asked_in_order_may_take_the_context_and_change_the_value() -> None:
    def first(ctx: RunContext[int], value: int) -> int:
        return value + ctx.deps

    def second(value: int, ctx: RunContext[int]) -> int:
        return 10 * value + len(ctx.messages)

    fake = FakeModel().tool_call("add", {"a": 1, "b": 1}).text("2")
    orchestrator = Orchestrator(fake, [add], deps=40, output_validators=[first])
    result: llmcore.RunResult = await orchestrator.run("go", output_type=int, output_validators=[second])
    assert (result.output, result.has_output) == (423, True)
    assert_valid(result.messages)


async def test_calls_are_no_final_answer_and_a_value_beside_calls_waits_for_their_results() -> None:
    seen: list[Any] = []

    def refuse_first(value: City) -> None:
        seen.append(value.name)
        if len(seen) == 1:
            raise ValueError("no")

    both = (("add", {"a": 1, "b": 1}), ("final_result", {"name": "Rome"}))
    fake = FakeModel().tool_calls(*both).tool_call("final_result", {"name": "Oslo"})
    result = await Orchestrator(fake, [add], output_validators=[refuse_first]).run("go", output_type=City)
    assert (result.output, seen) == (City(name="Oslo"), ["Rome", "Oslo"])
    assert_valid(result.messages)


async def test_what_else_one_raises_ends_the_run_with_what_was_done() -> None:
    def broken(value: str) -> None:
        raise KeyError(value)

    with pytest.raises(KeyError) as caught:
        await Orchestrator(FakeModel("ok")).run("go", output_validators=[broken])
    assert caught.value.partial.attempts  # type: ignore[attr-defined]  # every error that ends a run has it


async def test_one_that_blocks_ends_with_the_deadline() -> None:
    released = threading.Event()

    def slow(value: str) -> None:
        released.wait(60)

    started = time.monotonic()
    with pytest.raises(Timeout):
        await Orchestrator(FakeModel("ok")).run("go", output_validators=[slow], deadline=0.1)
    released.set()
    assert time.monotonic() - started < 30


def takes_three(value: str, context: Any, more: int) -> None:
    """One parameter too many."""


@pytest.mark.parametrize("given", [3, "check", [3], [lambda: 1], [takes_three]])
def test_what_is_no_validator_is_refused_at_once(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"output.validator"):
        Orchestrator(FakeModel("ok"), output_validators=given)


async def test_what_a_validator_makes_of_words_is_the_value() -> None:
    result = await Orchestrator(FakeModel("abc"), output_validators=[str.upper]).run("go")
    assert (result.value, result.content) == ("ABC", "abc")


_OTHERS: list[tuple[str, Any, Any]] = [
    ("5", int, "five"),
    ("5", int, 5.5),
    ("5", int, True),
    ('["a"]', list[str], ["a", 1]),
    ('{"name": "Oslo"}', City, {"town": "Oslo"}),
    ("5", {"type": "integer"}, "five"),
]


@pytest.mark.parametrize(("text", "kind", "value"), _OTHERS)
async def test_one_that_returns_a_value_of_another_type_is_named(text: str, kind: Any, value: Any) -> None:
    def make_another(_: object) -> Any:
        return value

    orchestrator = Orchestrator(FakeModel(text), output_validators=[make_another])
    with pytest.raises(ConfigError, match=r"make_another, returned a value of type .* let an output validator return"):
        await orchestrator.execute("go", kind)


async def test_one_may_return_the_value_in_its_json_form_and_no_value_is_validated_twice() -> None:
    def loud(value: City) -> dict[str, str]:
        return {"name": value.name.upper()}

    def next_of(value: int) -> int:
        return value + 1

    doubled = Annotated[int, AfterValidator(lambda value: 2 * value)]
    orchestrator = Orchestrator(FakeModel('{"name": "Oslo"}', "5"))
    place = await orchestrator.execute("go", City, output_validators=[loud])
    assert place == City(name="OSLO")
    assert await orchestrator.execute("go", doubled, output_validators=[next_of]) == 11
