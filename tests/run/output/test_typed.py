"""`execute`: typed output in every mode, its repair and its failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

from llmcore.adapters.base import Capabilities
from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import (
    CallerError,
    CallsPending,
    Envelope,
    FallbackExhausted,
    Finished,
    MaxToolTurns,
    OutputParseError,
    Repaired,
    TerminateLoop,
)
from tests.run.support import FAST, add, assert_valid, called, calls_in

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str
    people: int

    @field_validator("people")
    @classmethod
    def _some(cls, value: int) -> int:
        if value < 1:
            raise ValueError("a city has people")
        return value


@dataclass
class Pair:
    low: int
    high: int


class Row(TypedDict):
    id: int


PARIS = City(name="Paris", people=2_100_000)
JSON = '{"name": "Paris", "people": 2100000}'


@pytest.mark.parametrize(
    "reply",
    [
        JSON,
        f"Here you are:\n```json\n{JSON}\n```",
        '{"name": "Paris", "people": "2100000"}',
        "{'name': 'Paris', 'people': 2100000,}",
        FakeModel().tool_call("final_result", {"name": "Paris", "people": 2_100_000}),
        f'<tool_call>{{"name": "final_result", "arguments": {JSON}}}</tool_call>',
    ],
    ids=["json", "fence", "coerced", "python", "output tool", "output tool as text"],
)
async def test_a_value_comes_out_of_any_form_in_one_request(reply: Any) -> None:
    fake = reply if isinstance(reply, FakeModel) else FakeModel(reply)
    assert await Orchestrator(fake).execute("Which city?", City) == PARIS
    assert fake.call_count == 1


@pytest.mark.parametrize(
    ("output_type", "reply", "value"),
    [
        (int, "42", 42),
        (list[int], "[1, 2, 3]", [1, 2, 3]),
        (Pair, '{"low": 1, "high": 2}', Pair(1, 2)),
        (Row, '{"id": 7}', {"id": 7}),
        (Literal["a", "b"], '"b"', "b"),
        (City | Pair, '{"low": 1, "high": 2}', Pair(1, 2)),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, '{"n": "5"}', {"n": 5}),
        (str, "just words", "just words"),
    ],
)
async def test_any_type_will_do(output_type: Any, reply: str, value: Any) -> None:
    assert await Orchestrator(FakeModel(reply)).execute("x", output_type) == value


@pytest.mark.parametrize(("output_type", "value"), [(int, 42), (list[int], [1, 2])])
async def test_types_that_are_no_object_go_through_the_output_tool_wrapped(output_type: Any, value: Any) -> None:
    fake = FakeModel().tool_call("final_result", {"result": value})
    assert await Orchestrator(fake).execute("x", output_type) == value


async def test_the_run_gives_value_and_history_together() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).tool_call("final_result", {"name": "Paris", "people": 3})
    result = await Orchestrator(fake, [add]).run("go", output_type=City)
    assert result.output == City(name="Paris", people=3)
    assert calls_in(result.messages)[-1][0] == "final_result"
    assert_valid(result.messages)


async def test_an_answer_given_beside_calls_counts_once_they_have_run() -> None:
    ran: list[int] = []

    def note(n: int) -> None:
        ran.append(n)

    fake = FakeModel().tool_calls(("note", {"n": 1}), ("final_result", {"name": "Paris", "people": 3}))
    result = await Orchestrator(fake, [note]).run("go", output_type=City)
    assert (ran, result.output, fake.call_count) == ([1], City(name="Paris", people=3), 1)
    assert_valid(result.messages)


async def test_a_bad_answer_given_beside_calls_waits_for_their_results() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": 1}), ("final_result", {"name": "Paris"})).text(JSON)
    result = await Orchestrator(fake, [add]).run("go", output_type=City)
    assert result.output == PARIS
    assert [name for name, _ in calls_in(result.messages)] == ["add"]
    assert_valid(result.messages)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ('{"name": "Paris"}', "people"),
        ('{"name": "Paris", "people": 0}', "a city has people"),
        ("I think it is Paris.", "Paris"),
        (called("final_result", {"name": "Paris"}), "people"),
    ],
    ids=["missing", "validator", "prose", "output tool"],
)
async def test_an_answer_that_does_not_fit_is_asked_for_again_with_the_problem(bad: Any, problem: str) -> None:
    fake = FakeModel(bad, JSON)
    result = await Orchestrator(fake).run("Which city?", output_type=City)
    assert result.output == PARIS
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask"]
    assert problem in fake.requests[1].messages[-1].text
    assert result.attempts[1].detail
    assert [message.role for message in result.messages[:2]] == ["user", "assistant"]  # the bad turn was replaced
    assert_valid(result.messages)


async def test_when_nothing_helps_the_first_failure_and_all_attempts_are_reported() -> None:
    fake = FakeModel(*(f"No idea {n}." for n in range(9)))
    with pytest.raises(FallbackExhausted) as caught:
        await Orchestrator(fake, strategies=FAST).execute("Which city?", City)
    error = caught.value
    assert isinstance(error.__cause__, OutputParseError)
    assert error.__cause__.text == "No idea 2."
    assert [attempt.reason for attempt in error.attempts] == ["first", "reask", "reask", "mode", "mode", "mode"]
    assert all(attempt.detail for attempt in error.attempts[1:])
    assert error.partial.envelope.content == "No idea 5."


async def test_schema_mode_is_given_up_when_the_endpoint_ignores_it() -> None:
    can = Capabilities(native_tools=False, json_schema=True)
    fake = FakeModel("Well,", "well", "well!", JSON, capabilities=can)
    orchestrator = Orchestrator(fake, strategies=FAST)
    result = await orchestrator.run("Which city?", output_type=City)
    assert [(attempt.mode, attempt.reason) for attempt in result.attempts] == [
        ("json_schema", "first"),
        ("json_object", "mode"),  # asked again in the same mode, it would be ignored again
        ("text", "mode"),
        ("text", "reask"),
    ]
    assert "ignore the output format" in result.attempts[1].detail
    assert orchestrator.capabilities.learnt(fake.endpoint) == {"json_schema": False, "json_object": False}


async def test_the_schema_and_the_mode_reach_the_adapter() -> None:
    fake = FakeModel(JSON, capabilities=Capabilities(native_tools=False, json_schema=True))
    await Orchestrator(fake).execute("x", City)
    assert fake.calls[0].mode == "json_schema"
    assert fake.calls[0].output_schema is not None
    assert set(fake.calls[0].output_schema["properties"]) == {"name", "people"}


async def test_strictness_bounds_what_is_repaired() -> None:
    loose = '{"name": "Paris", "people": "about 5"}'
    assert await Orchestrator(FakeModel(loose), strictness="lenient").execute("x", City) == City(name="Paris", people=5)
    with pytest.raises(FallbackExhausted):
        await Orchestrator(FakeModel(default=loose), strategies=()).execute("x", City, strictness="safe")


async def test_repairs_are_reported_as_events() -> None:
    fake = FakeModel('{"name": "Paris", "people": "3"}')
    events = [event async for event in Orchestrator(fake).stream("x", City)]
    assert [(event.index, event.repair.safety) for event in events if isinstance(event, Repaired)] == [(None, "coerced")]


@pytest.mark.parametrize("bad", [memoryview, {"$ref": "#/nowhere"}])
async def test_an_output_type_that_cannot_be_used_is_an_error_at_once(bad: Any) -> None:
    fake = FakeModel(default="x")
    with pytest.raises(CallerError):
        await Orchestrator(fake).execute("x", bad)
    assert fake.call_count == 0


async def test_a_model_that_says_it_is_not_done_is_not_parsed_yet() -> None:
    fake = FakeModel('{"toolCalls": [], "content": "Looking.", "needsMoreWork": true}', JSON)
    assert await Orchestrator(fake, [add]).execute("x", City) == PARIS


def test_the_envelope_of_an_output_tool_holds_the_value_as_content() -> None:
    fake = FakeModel().tool_call("final_result", {"name": "Paris", "people": 3})
    envelope: Envelope = Orchestrator(fake).run_sync("x", output_type=City).envelope
    assert envelope.content == '{"name": "Paris", "people": 3}'
    assert envelope.tool_calls == []


def tool_that_ends(value: Any) -> Any:
    def stop() -> str:
        """End the run."""
        raise TerminateLoop(value)

    return stop


@pytest.mark.parametrize(
    ("output_type", "value", "output"),
    [
        (int, 5, 5),
        (str, "bye", "bye"),
        (City, PARIS, PARIS),
        (City, {"name": "Paris", "people": 2_100_000}, PARIS),
        (Pair, Pair(1, 2), Pair(1, 2)),
        (list[int], [1], [1]),
        (type(None), None, None),
        (City | None, None, None),
        ({"type": "integer"}, 5, 5),
    ],
)
async def test_a_tool_may_end_the_run_with_a_value_of_the_type(output_type: Any, value: Any, output: Any) -> None:
    fake = FakeModel(default=called("stop"))
    assert await Orchestrator(fake, [tool_that_ends(value)]).execute("go", output_type) == output


@pytest.mark.parametrize(
    ("output_type", "value"),
    [
        (int, "bye"),
        (int, "5"),
        (int, True),
        (str, 5),
        (City, {"name": "Paris"}),
        (City, {"name": "Paris", "people": 0}),
        (list[int], ["1"]),
        (int, None),
        (int, object()),
        ({"type": "integer"}, "5"),
    ],
)
async def test_a_value_of_another_type_with_which_a_tool_ends_the_run_is_never_returned(output_type: Any, value: Any) -> None:
    orchestrator = Orchestrator(FakeModel(default=called("stop")), [tool_that_ends(value)])
    with pytest.raises(CallerError, match="ended the run with a value that is no") as caught:
        await orchestrator.execute("go", output_type)
    assert_valid(caught.value.partial.messages)
    assert caught.value.partial.output is None
    last = [event async for event in orchestrator.stream("go", output_type)][-1]
    assert isinstance(last, Finished)
    assert (last.result.output, last.result.has_output) == (None, False)


async def test_a_hook_that_ends_the_run_with_another_type_gives_no_value_either() -> None:
    def stop(_: Any) -> None:
        raise TerminateLoop("bye")

    orchestrator = Orchestrator(FakeModel(default="5"), hooks=Hooks(on_response=stop))
    with pytest.raises(CallerError, match="no int"):
        await orchestrator.execute("go", int)
    last = [event async for event in orchestrator.stream("go", int)][-1]
    assert isinstance(last, Finished)
    assert last.result.model_dump()["output"] is None
    assert (last.result.has_output, last.result.content) == (False, "bye")
    with pytest.raises(CallerError, match="the run has no value: a tool, a hook or an error ended the run"):
        _ = last.result.value


@pytest.mark.parametrize("output_type", [int, City | None, str])
async def test_pending_calls_are_an_error_that_says_what_is_pending(output_type: Any) -> None:
    tool: dict[str, Any] = {
        "type": "function",
        "function": {"name": "ask_user", "parameters": {"type": "object", "properties": {}}},
    }
    orchestrator = Orchestrator(FakeModel(default=called("ask_user")), [tool])
    with pytest.raises(CallsPending, match=r"calls are pending: ask_user \(call_fake_0\).*run\(\)") as caught:
        await orchestrator.execute("go", output_type)
    assert not isinstance(caught.value, CallerError)
    assert [call.name for call in caught.value.pending] == ["ask_user"]
    assert len(caught.value.attempts) == 1
    last = [event async for event in orchestrator.stream("go", output_type)][-1]
    assert isinstance(last, Finished)
    assert (last.result.output, last.result.has_output, len(last.result.pending)) == (None, False, 1)


async def test_too_many_turns_are_an_error_of_execute() -> None:
    with pytest.raises(MaxToolTurns) as caught:
        await Orchestrator(FakeModel(default=called("add", {"a": 1, "b": 2})), [add], max_tool_turns=1).execute("go", int)
    assert caught.value.partial.output is None


class Named(BaseModel):
    name: str


_NO_TOOLS = Capabilities(native_tools=False, json_schema=True)
_UNOFFERED = ["{call}", "```json\n{call}\n```", "<tool_call>\n{call}\n</tool_call>", "Here it is:\n<tool_call>{call}</tool_call>"]


@pytest.mark.parametrize("form", _UNOFFERED)
@pytest.mark.parametrize("capabilities", [None, _NO_TOOLS, Capabilities(native_tools=False, json_schema=False)])
async def test_a_call_of_the_output_tool_is_one_though_it_was_not_offered(form: str, capabilities: Any) -> None:
    """And no object whose `name` is `final_result`."""
    call = '{"name": "final_result", "arguments": {"name": "Paris"}}'
    fake = FakeModel(form.replace("{call}", call), capabilities=capabilities)
    assert await Orchestrator(fake).execute("x", Named) == Named(name="Paris")


_ONE_AND_TWO: list[tuple[Any, Any, Any]] = [
    (Named, {"name": "a"}, {"name": "b"}),
    (int, {"result": 1}, {"result": 2}),
    (str, {"result": "a"}, {"result": "b"}),
    (list[int], {"result": [1]}, {"result": [2]}),
    (dict[str, Any], {"a": 1}, {"a": 2}),
    (Any, {"result": 1}, {"result": 2}),
]


@pytest.mark.parametrize(("output_type", "one", "two"), _ONE_AND_TWO, ids=str)
async def test_of_two_different_values_by_the_output_tool_none_is_accepted_in_silence(
    output_type: Any, one: Any, two: Any
) -> None:
    fake = FakeModel().tool_calls(("final_result", one), ("final_result", two)).tool_call("final_result", two)
    result = await Orchestrator(fake).run("x", output_type=output_type)
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask"]
    again = FakeModel().tool_calls(("final_result", one), ("final_result", one))
    assert (await Orchestrator(again).run("x", output_type=output_type)).has_output
    assert again.call_count == 1


async def test_two_different_values_beside_calls_wait_for_their_results() -> None:
    made = FakeModel().tool_calls(("add", {"a": 1, "b": 1}), ("final_result", {"name": "a"}), ("final_result", {"name": "b"}))
    fake = made.tool_call("final_result", {"name": "c"})
    result = await Orchestrator(fake, [add]).run("go", output_type=Named)
    assert (result.output, fake.call_count) == (Named(name="c"), 2)
    assert_valid(result.messages)


class Note(BaseModel):
    content: str


@pytest.mark.parametrize("capabilities", [None, _NO_TOOLS, Capabilities(native_tools=False, json_schema=False)])
async def test_a_value_with_a_key_named_content_is_data(capabilities: Any) -> None:
    """And not the envelope that JSON modes teach for answers in words."""
    said = '{"content": "All is well."}'
    for output_type, value in ((Note, Note(content="All is well.")), (dict[str, str], {"content": "All is well."}), (str, said)):
        assert await Orchestrator(FakeModel(said, capabilities=capabilities)).execute("x", output_type) == value
