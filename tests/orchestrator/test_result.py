"""What a `RunResult` tells of a run, and that it can be written and shown at any end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.orchestrator import Orchestrator
from llmcore.run.result import RunResult, ToolFailure
from llmcore.testing import FakeModel
from llmcore.types import Budget, LLMCoreError, RateLimited, Reply, TerminateLoop, Usage
from llmcore.types.narrowing import is_list, is_object
from tests.orchestrator.support import FAST, add, called

pytestmark = pytest.mark.anyio


class Point(BaseModel):
    x: int


class Unwritable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def broken(city: str) -> str:
    """Fail."""
    raise ValueError(f"no such city: {city}")


def where() -> Point:
    """A place."""
    return Point(x=1)


def tool_of(value: Any) -> Callable[[], Any]:
    def give() -> Any:
        """Give it."""
        return value

    return give


async def test_it_tells_every_call_that_ran() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": "2"}), ("broken", {"city": "X"})).tool_call("where").text("Done.")
    result = await Orchestrator(fake, [add, broken, where]).run("go")
    added, failed, found = result.tool_results
    ids = [use.id for message in result.messages for use in message.tool_uses]
    assert [record.id for record in result.tool_results] == ids
    assert (added.name, added.arguments, added.value, added.content, added.error) == ("add", {"a": 1, "b": 2}, 3, "3", None)
    assert (added.turn, failed.turn, found.turn) == (1, 1, 2)
    assert failed.error == ToolFailure(type="execution", message="ValueError: no such city: X")
    assert (failed.value, failed.retries) == (None, 0)
    assert failed.duration > 0
    assert found.value == Point(x=1)
    assert result.model_dump(mode="json")["tool_results"][2]["value"] == {"x": 1}


async def test_it_tells_what_was_repaired() -> None:
    text = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": "2",}}</tool_call>'
    result = await Orchestrator(FakeModel(text, "{'x': '5'}"), [add]).run("go", output_type=Point)
    told = {(one.attempt, one.of, one.call_id, one.repair.safety) for one in result.repairs}
    call_id = result.tool_results[0].id
    assert (1, "call", call_id, "coerced") in told
    assert (1, "call", call_id, "lossless") in told
    assert (2, "output", None, "coerced") in told


async def test_it_tells_who_answered_and_when() -> None:
    reply = Reply(raw="Hi.", id="r-1", model="m-2026", time_to_first_token=0.25, usage=Usage(input_tokens=3, output_tokens=1))
    result = await Orchestrator(FakeModel(reply)).run("go")
    attempt = result.attempts[0]
    assert (attempt.response_id, attempt.response_model, attempt.time_to_first_token) == ("r-1", "m-2026", 0.25)
    assert result.time_to_first_token == 0.25


async def test_a_stream_tells_when_its_first_piece_came() -> None:
    events = [event async for event in Orchestrator(FakeModel("some words", chunk_size=2)).stream("go")]
    assert 0 < events[-1].result.time_to_first_token < 5  # type: ignore[union-attr]  # the last is Finished


@pytest.mark.parametrize("reply", ["many", "", '{"x": "many"}'])
async def test_every_reply_that_was_judged_has_its_report(reply: str) -> None:
    fake = FakeModel(reply, '{"x": 1}', '{"x": 1}')
    result = await Orchestrator(fake, strategies=FAST).run("go", output_type=Point)
    assert [attempt.report is not None for attempt in result.attempts] == [True, True]
    first, last = result.attempts
    assert last.report.ok
    assert not first.report.ok or first.error is not None


async def _run(fake: FakeModel, *tools: Any, **options: Any) -> RunResult:
    try:
        return await asyncio.wait_for(Orchestrator(fake, tools, strategies=FAST).run("go", **options), 5)
    except LLMCoreError as error:
        return error.partial  # type: ignore[no-any-return]  # a RunResult


def _cycle() -> Any:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _ending(value: Any) -> Callable[[], Any]:
    def stop() -> str:
        """End it."""
        raise TerminateLoop(value)

    return stop


ENDS: dict[str, Callable[[], Any]] = {
    "answer": lambda: _run(FakeModel("Hi.")),
    "tools": lambda: _run(FakeModel(called("add", {"a": 1, "b": 2}), "3"), add),
    "failing tool": lambda: _run(FakeModel(called("broken", {"city": "X"}), "no"), broken),
    "aborted": lambda: _run(FakeModel(called("broken", {"city": "X"})), broken, tool_errors="abort"),
    "pending": lambda: _run(FakeModel(called("ask")), {"type": "function", "function": {"name": "ask", "parameters": {}}}),
    "typed": lambda: _run(FakeModel('{"x": 1}'), output_type=Point),
    "typed failure": lambda: _run(FakeModel(default="many"), output_type=Point),
    "retried": lambda: _run(FakeModel(RateLimited("slow down", retry_after=0.0), "Hi.")),
    "exhausted": lambda: _run(FakeModel(default=RateLimited("slow down", retry_after=0.0))),
    "too many turns": lambda: _run(FakeModel(default=called("add", {"a": 1, "b": 2})), add, max_tool_turns=1),
    "out of tokens": lambda: _run(FakeModel(called("add", {"a": 1, "b": 2})), add, budget=Budget(tokens=1)),
    "cut": lambda: _run(FakeModel(default='Hm.\n<tool_call>\n{"nam'), add),
    "ended": lambda: _run(FakeModel(called("stop")), _ending({"a": b"\xff"})),
    "a tool that gives an object": lambda: _run(FakeModel(called("give"), "Hi."), tool_of(object())),
    "a tool that gives bytes": lambda: _run(FakeModel(called("give"), "Hi."), tool_of(b"\xff\xfe")),
    "a tool that gives no number": lambda: _run(FakeModel(called("give"), "Hi."), tool_of([float("nan"), float("inf")])),
    "a tool that gives strange keys": lambda: _run(FakeModel(called("give"), "Hi."), tool_of({(1, 2): {3}, None: 1})),
}


@pytest.mark.parametrize("end", ENDS)
async def test_it_is_written_as_json_and_read_back_at_any_end(end: str) -> None:
    result = await ENDS[end]()
    written = result.model_dump_json()
    back = RunResult.model_validate_json(written)
    assert back.model_dump_json() == written
    assert json.loads(written)["version"] == 1
    assert (back.content, len(back.new_messages)) == (result.content, len(result.new_messages))
    assert [record.id for record in back.tool_results] == [record.id for record in result.tool_results]
    assert [type(one.error) for one in back.attempts] == [type(one.error) for one in result.attempts]


@pytest.mark.parametrize("value", [_cycle(), Unwritable(), "a lone \ud800 half", {"\udfff": ["\ud800"]}, iter([1])])
def test_a_tools_value_that_is_no_json_is_written_all_the_same(value: Any) -> None:
    record = {"id": "call_1", "name": "give", "arguments": {"text": "\ud800"}, "value": value, "content": "\ud800"}
    result = RunResult.model_validate({"tool_results": [record], "output": value})
    assert RunResult.model_validate_json(result.model_dump_json()).tool_results[0].name == "give"


def _keys(value: Any) -> set[str]:
    if is_object(value):
        return {*value, *(key for item in value.values() for key in _keys(item))}
    return {key for item in value for key in _keys(item)} if is_list(value) else set()


async def test_json_keys_are_snake_case_but_for_the_words_of_the_envelope() -> None:
    result = await Orchestrator(FakeModel('ok {"name": "add", "arguments": {}} ok', "{'x': 1"), [add]).run("go")
    keys = _keys(json.loads(result.model_dump_json(by_alias=True)))
    assert {key for key in keys if key != key.lower()} == {"toolCalls", "needsMoreWork"}
    assert not {key for key in _keys(json.loads(result.model_dump_json())) if key != key.lower()}


@pytest.mark.parametrize("end", ENDS)
async def test_it_is_shown_in_one_short_line(end: str) -> None:
    result = await ENDS[end]()
    assert repr(result) == str(result)
    assert len(repr(result)) < 200
    assert "\n" not in repr(result)


async def test_what_it_shows() -> None:
    fake = FakeModel(called("add", {"a": 1, "b": 2}), "Three,\n\x1b[31m" + "or so, " * 100)
    shown = repr(await Orchestrator(fake, [add]).run("go"))
    assert shown.startswith(r"RunResult('Three,\n\x1b[31mor so, ")
    assert "4 messages, 2 attempts, 1 tool call (add)" in shown
    assert "\x1b" not in shown
