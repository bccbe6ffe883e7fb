"""What a `RunResult` says about a run, and that it can be saved and shown at any end."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters.secrets.scrubber import HIDDEN
from llmcore.hooks import Hooks, Veto
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult, ToolFailure, ToolRecord
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.testing import FakeModel
from llmcore.types import (
    Budget,
    CallerError,
    Finished,
    LLMCoreError,
    RateLimited,
    Reply,
    TerminateLoop,
    Timeout,
    ToolCall,
    ToolError,
    Usage,
)
from tests.run.support import FAST, add, called

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


async def test_it_lists_every_call_that_ran() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": "2"}), ("broken", {"city": "X"})).tool_call("where").text("Done.")
    result = await Orchestrator(fake, [add, broken, where]).run("go")
    added, failed, found = result.tool_results
    ids = [use.id for message in result.messages for use in message.tool_uses]
    assert [record.id for record in result.tool_results] == ids
    assert (added.name, added.arguments, added.value, added.content, added.error) == ("add", {"a": 1, "b": 2}, 3, "3", None)
    assert (added.turn, failed.turn, found.turn) == (1, 1, 2)
    assert failed.error == ToolFailure(type="execution", message="ValueError: no such city: X", exception="ValueError")
    assert (failed.value, failed.retries) == (None, 0)
    assert failed.duration > 0
    assert found.value == Point(x=1)
    assert result.model_dump(mode="json")["tool_results"][2]["value"] == {"x": 1}


# --- which of the calls ran ---------------------------------------------------------------------------------------------


async def slow() -> str:
    """Take long."""
    await asyncio.sleep(30)
    return "never"


def quick() -> str:
    """Take no time."""
    return "done"


def rude() -> str:
    """End the program."""
    raise SystemExit


def ends() -> str:
    """End the run."""
    raise TerminateLoop("enough")


def _ran(result: RunResult) -> dict[str, bool]:
    assert [record.id for record in result.tool_results] == [use.id for message in result.messages for use in message.tool_uses]
    return {record.name: record.ran for record in result.tool_results}


async def test_it_distinguishes_a_call_that_ran_from_one_that_did_not() -> None:
    def guard(call: Any, _: Any) -> Any:
        return {"quick": Veto("no"), "add": call.model_copy(update={"arguments": {"a": "x"}})}.get(call.name)

    fake = FakeModel().tool_calls(("quick", {}), ("add", {"a": 1, "b": 2}), ("rude", {}), ("where", {})).text("Done.")
    result = await Orchestrator(fake, [quick, add, rude, where], hooks=Hooks(before_tool_run=guard)).run("go")
    assert _ran(result) == {"quick": False, "add": False, "rude": True, "where": True}
    assert '"ran":false' in result.model_dump_json()


async def test_what_an_after_hook_makes_of_the_outcome_does_not_change_whether_it_ran() -> None:
    def other(call: Any, outcome: Any) -> Any:
        return type(outcome)(call, outcome.content)

    fake = FakeModel(called("quick"), "Done.")
    assert _ran(await Orchestrator(fake, [quick], hooks=Hooks(after_tool_run=other)).run("go")) == {"quick": True}


async def test_a_call_that_was_stopped_while_it_ran_ran_and_one_that_waited_did_not() -> None:
    fake = FakeModel().tool_calls(("quick", {}), ("slow", {}), ("where", {}))
    orchestrator = Orchestrator(fake, [quick, slow, where], budget=Budget(deadline=0.3), max_parallel_tools=1)
    with pytest.raises(Timeout) as caught:
        await orchestrator.run("go")
    assert _ran(caught.value.partial) == {"quick": True, "slow": True, "where": False}


async def test_a_call_that_a_cancellation_stopped_ran() -> None:
    fake = FakeModel().tool_calls(("slow", {}), ("where", {}))
    task = asyncio.create_task(Orchestrator(fake, [slow, where], max_parallel_tools=1).run("go"))
    while not task.done() and fake.call_count == 0:
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert _ran(caught.value.partial) == {"slow": True, "where": False}  # type: ignore[attr-defined]  # set by the run


async def test_of_calls_behind_one_that_ended_the_run_those_that_ran_are_reported() -> None:
    begun: list[int] = []

    async def late(n: int) -> None:
        """Take its time."""
        begun.append(n)
        await asyncio.sleep(30)

    fake = FakeModel().tool_calls(("ends", {}), ("late", {"n": 0}), ("late", {"n": 1}))
    result = await Orchestrator(fake, [ends, late], max_parallel_tools=1).run("go")
    assert [record.arguments["n"] for record in result.tool_results if record.ran and record.arguments] == begun
    assert 1 not in begun


async def test_a_call_in_a_hook_before_it_when_the_time_is_up_did_not_run() -> None:
    async def wait(*_: Any) -> None:
        await asyncio.sleep(30)

    orchestrator = Orchestrator(
        FakeModel(called("quick")), [quick], hooks=Hooks(before_tool_run=wait), budget=Budget(deadline=0.2)
    )
    with pytest.raises(Timeout) as caught:
        await orchestrator.run("go")
    assert _ran(caught.value.partial) == {"quick": False}


# --- what servers, hooks and tools say ----------------------------------------------------------------------------------

LONE = "a\ud800b"


def unsayable() -> str:
    """Fail."""
    raise ToolError(LONE, tool_name="unsayable", tool_id=LONE, type="execution", details={LONE: [LONE]})


def _refusing(_: ToolCall, __: Any) -> Veto:
    return Veto(LONE)


SAYING: dict[str, Callable[[], Any]] = {
    "an id and a model": lambda: _run(FakeModel(Reply.model_construct(raw="Hi.", id=LONE, model=LONE))),
    "a finish word": lambda: _run(FakeModel({"choices": [{"message": {"content": "Hi."}, "finish_reason": LONE}]})),
    "a reply": lambda: _run(FakeModel(f"{LONE} <think>{LONE}</think>")),
    "a provider's error": lambda: _run(FakeModel(RateLimited(LONE, retry_after=0.0), "Hi.")),
    "nothing but errors": lambda: _run(FakeModel(default=RateLimited(LONE, retry_after=0.0))),
    "a veto": lambda: _run(FakeModel(called("where"), "Hi."), where, hooks=Hooks(before_tool_run=_refusing)),
    "a tool's error": lambda: _run(FakeModel(called("unsayable"), "Hi."), unsayable),
    "a tool's error that ends the run": lambda: _run(FakeModel(called("unsayable")), unsayable, tool_errors="abort"),
    "arguments in a string": lambda: _run(
        FakeModel(called("add", {"a": '"\\ud800"', "b": '["\\ud800"]'}), "Hi."), add, budget=Budget(reasks=0)
    ),
    "a typed answer": lambda: _run(FakeModel(default=f'{{"x": "{LONE}", "\\ud800": 1}}'), output_type=Point),
    "what a tool ended with": lambda: _run(FakeModel(called("stop")), _ending({LONE: float("inf")})),
}


def _texts(value: Any) -> list[str]:
    """Every text in the fields of models, lists and dicts but for what a tool gave or ended with."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, LLMCoreError):
        return [str(value)]
    if isinstance(value, BaseModel):
        return _texts({name: item for name, item in vars(value).items() if name not in ("value", "output", "report")})
    if is_object(value):
        return [text for pair in value.items() for item in pair for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if is_list(value) else []


@pytest.mark.parametrize("name", SAYING)
async def test_whatever_is_said_a_result_can_be_encoded(name: str) -> None:
    result = await SAYING[name]()
    for text in _texts(result):
        text.encode()
    written = result.model_dump_json()
    assert RunResult.model_validate_json(written).model_dump_json() == written


KEY = "sk-live-0123456789abcdef"
ECHO = {"id": f"r-{KEY}", "model": f"m {KEY.encode().hex()}"}


class Echo(FakeModel):
    """Tells of its streams what it tells of its replies."""

    async def stream(self, call: Any) -> AsyncIterator[Any]:
        async for event in super().stream(call):
            yield event
        yield {"llmcore": ECHO}


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("setting", ["api_key", "extra_headers"])
async def test_a_key_that_a_server_echoes_stands_in_no_field_of_a_result(setting: str, streamed: bool) -> None:
    body = {"choices": [{"message": {"content": "Hi."}, "finish_reason": f"stop {KEY}"}]}
    fake = Echo(default=Reply(raw=body, id=ECHO["id"], model=ECHO["model"]))
    given = {"x-proxy-auth": KEY} if setting == "extra_headers" else KEY
    registry = ModelRegistry.from_dict({"models": {"m": {"provider": "fake", "model": "m", setting: given}}})
    orchestrator = Orchestrator(registry, adapter=fake)
    if streamed:
        last = [event async for event in orchestrator.stream("go")][-1]
        assert isinstance(last, Finished)
        result: RunResult = last.result
    else:
        result = await orchestrator.run("go")
    attempt = result.attempts[0]
    assert (attempt.response_id, attempt.response_model) == (f"r-{HIDDEN}", f"m {HIDDEN}")
    assert result.envelope.finish_word == f"stop {HIDDEN}"
    assert KEY not in result.model_dump_json()


async def test_it_shows_what_was_repaired() -> None:
    text = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": "2",}}</tool_call>'
    result = await Orchestrator(FakeModel(text, "{'x': '5'}"), [add]).run("go", output_type=Point)
    told = {(one.attempt, one.of, one.call_id, one.repair.safety) for one in result.repairs}
    call_id = result.tool_results[0].id
    assert (1, "call", call_id, "coerced") in told
    assert (1, "call", call_id, "lossless") in told
    assert (2, "output", None, "coerced") in told


async def test_it_shows_who_answered_and_when() -> None:
    reply = Reply(raw="Hi.", id="r-1", model="m-2026", time_to_first_token=0.25, usage=Usage(input_tokens=3, output_tokens=1))
    result = await Orchestrator(FakeModel(reply)).run("go")
    attempt = result.attempts[0]
    assert (attempt.response_id, attempt.response_model, attempt.time_to_first_token) == ("r-1", "m-2026", 0.25)
    assert result.time_to_first_token == 0.25


async def test_a_stream_shows_when_its_first_piece_came() -> None:
    events = [event async for event in Orchestrator(FakeModel("some words", chunk_size=2)).stream("go")]
    last = events[-1]
    assert isinstance(last, Finished)
    assert 0 < (last.result.time_to_first_token or 0) < 5


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
        hooks = options.pop("hooks", None)
        return await asyncio.wait_for(Orchestrator(fake, tools, strategies=FAST, hooks=hooks).run("go", **options), 5)
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
    result = RunResult.model_validate({"version": 1, "messages": [], "tool_results": [record], "output": value})
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


def test_a_value_that_python_cannot_show_is_shown_as_its_text() -> None:
    shown = repr(ToolRecord(id="1", name="count", value={"n": 10**5000}))
    assert "ToolRecord(id='1', name='count'" in shown
    assert "1" + "0" * 5000 in shown


@dataclasses.dataclass
class Packet:
    body: bytes


@pytest.mark.parametrize(
    ("text", "output_type"),
    [
        ('"hello"', bytes),
        ('["a", "ü"]', list[bytes]),
        ('{"a": "b"}', dict[str, bytes]),
        ('{"body": "x"}', Packet),
        ('["x", 1]', tuple[bytes, int]),
    ],
)
def test_bytes_are_read_back_as_they_were(text: str, output_type: Any) -> None:
    result = Orchestrator(FakeModel(f'{{"result": {text}}}')).run_sync("go", output_type=output_type)
    assert RunResult[output_type].model_validate_json(result.model_dump_json()).value == result.value


def test_a_saved_result_without_its_messages_is_none() -> None:
    data = Orchestrator(FakeModel("It is 3.")).run_sync("go").model_dump(mode="json")
    del data["messages"]
    with pytest.raises(CallerError, match="it has no `messages`"):
        RunResult.model_validate(data)
