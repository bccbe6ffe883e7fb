"""Cut replies are asked for again with more tokens, and are never an answer."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from llmcore.adapters.base import Capabilities
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import Budget, FallbackExhausted, Refused, RemoteServerError, TextDelta, ToolCallFinished, Truncated
from tests.run.support import FAST, add, assert_valid, called, stack

pytestmark = pytest.mark.anyio


def body(text: str, finish: str | None = "length") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}]}


CUT = [
    body('Let me look.\n<tool_call>\n{"nam'),
    body("Let me look.\n<tool_call>\n"),
    body("Let me look.\n<tool_c"),
    body('```json\n{"name": "ad'),
    body('{"name": "ad'),
    body('Let me look.\n<tool_call>\n{"nam', None),
    body("Let me look.\n<function=ad", None),
    body(""),
    body("<think>hm"),
]
WHOLE = FakeModel().tool_call("add", {"a": 1, "b": 2})


async def result_of(orchestrator: Orchestrator, streamed: bool, **options: Any) -> Any:
    if not streamed:
        return await orchestrator.run("go", **options)
    result = None
    async for event in orchestrator.stream("go", **options):
        result = getattr(event, "result", result)
    return result


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cut", CUT, ids=lambda cut: repr(cut["choices"][0]["message"]["content"]))
async def test_a_reply_cut_before_a_calls_name_is_asked_again_with_more_room(cut: Any, streamed: bool) -> None:
    fake = FakeModel(cut, called("add", {"a": 1, "b": 2}), "It is 3.")
    result = await result_of(Orchestrator(fake, [add]), streamed, max_tokens=100)
    assert result.content == "It is 3."
    assert [request.max_tokens for request in fake.requests] == [100, 200, 100]
    assert [tool.name for tool in fake.requests[1].tools] == ["add"]
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
    assert [attempt.report is not None for attempt in result.attempts] == [True, True, True]
    assert not any("<tool_c" in str(message.model_dump()) for message in result.messages)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cut", CUT, ids=lambda cut: repr(cut["choices"][0]["message"]["content"]))
async def test_a_reply_that_is_cut_again_and_again_ends_the_run_as_truncated(cut: Any, streamed: bool) -> None:
    fake = FakeModel(default=cut)
    with pytest.raises(Truncated) as caught:
        await result_of(Orchestrator(fake, [add]), streamed)
    assert [request.max_tokens for request in fake.requests] == [None, 8192, 16384]
    assert caught.value.partial.envelope.truncated
    assert len(caught.value.attempts) == len(caught.value.partial.attempts) == 3
    assert not caught.value.partial.degraded


async def test_where_no_reask_is_left_a_cut_reply_is_no_answer_either() -> None:
    with pytest.raises(Truncated):
        await Orchestrator(FakeModel(CUT[0]), [add], budget=Budget(reasks=0)).run("go")


async def test_no_markup_of_a_cut_call_is_reported() -> None:
    orchestrator = Orchestrator(FakeModel(CUT[0], "Done.", chunk_size=1), [add])
    said = "".join([event.text async for event in orchestrator.stream("go") if isinstance(event, TextDelta)])
    assert "<" not in said
    assert '"nam' not in said


@pytest.mark.parametrize("tools", [[], [add]], ids=["no tools", "tools"])
async def test_plain_words_that_a_limit_cut_are_an_answer_that_says_so(tools: list[Any]) -> None:
    result = await Orchestrator(FakeModel(body("It is cold in Os")), tools).run("go", max_tokens=5)
    assert (result.content, result.envelope.finish_reason, result.envelope.truncated) == ("It is cold in Os", "length", True)
    assert len(result.attempts) == 1
    assert "truncated" in repr(result)


async def test_without_tools_an_empty_reply_that_a_limit_cut_is_asked_again() -> None:
    result = await Orchestrator(FakeModel(body(""), "Here I am.")).run("go")
    assert result.content == "Here I am."


PAYS = '<tool_call>\n{"name": "pay", "arguments": {"amount": 1}}\n</tool_call>\n'
WRONG = '<tool_call>\n{"name": "pay", "arguments": {"amount": "x"}}\n</tool_call>'


@pytest.mark.parametrize("answer", ["Sorry, I must not pay.", PAYS, PAYS.replace("1", "2")], ids=["words", "the same", "another"])
@pytest.mark.parametrize("ending", ['<tool_call>\n{"nam', '<tool_call>\n{"name": "pay", "argum', WRONG, PAYS[:-20]])
async def test_a_whole_call_of_a_cut_reply_runs_only_if_it_is_made_again(ending: str, answer: str) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    fake = FakeModel(body(PAYS + ending), answer, "The end.")
    result = await Orchestrator(fake, [pay]).run("go")
    assert "nothing of it was used" in fake.requests[1].messages[-1].text
    refused = answer.startswith("Sorry")
    assert (result.content, paid) == (answer, []) if refused else ("The end.", [2 if "2" in answer else 1])
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", *([] if refused else ["turn"])]
    if refused:
        dropped = [record for record in result.tool_results if not record.ran]
        assert {record.name for record in dropped} == {"pay"}


NATIVE = {"id": "a", "type": "tool_use", "name": "pay", "input": {"amount": 1}}
BEHIND: list[Any] = [
    body(PAYS + "No wait, do not do that. I"),
    body(PAYS.strip() + " No wait"),
    body(PAYS + "<think>Hm, that was"),
    body('{"name": "pay", "arguments": {"amount": 1}}\n\nNo wait'),
    {"type": "message", "role": "assistant", "content": [NATIVE, {"type": "text", "text": "No wa"}], "stop_reason": "max_tokens"},
    body(PAYS + '<tool_call>{"name": "nothing", "arguments": {}}</tool_call>\nNo wait'),
]


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cut", BEHIND)
async def test_a_call_does_not_run_where_a_limit_ended_the_words_behind_it(cut: Any, streamed: bool) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    fake = FakeModel(cut, "I did not pay.")
    result = await result_of(Orchestrator(fake, [pay]), streamed, max_tokens=100)
    assert (result.content, paid, fake.requests[1].max_tokens) == ("I did not pay.", [], 200)
    with pytest.raises(Truncated):
        await result_of(Orchestrator(FakeModel(default=cut), [pay]), streamed)
    assert not paid


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_nor_does_one_of_a_correction_with_a_kept_call_beside_it(streamed: bool) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    fake = FakeModel(body(PAYS + WRONG, "stop"), body(PAYS.replace("1", "2") + "No wait"), PAYS.replace("1", "7"), "The end.")
    result = await result_of(Orchestrator(fake, [pay]), streamed)
    assert (result.content, paid) == ("The end.", [7])


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_a_typed_value_given_by_a_call_is_not_accepted_where_a_limit_ended_the_words_behind_it(streamed: bool) -> None:
    given = {"id": "a", "type": "tool_use", "name": "final_result", "input": {"result": 5}}
    parts = [given, {"type": "text", "text": "No wa"}]
    cut = {"type": "message", "role": "assistant", "content": parts, "stop_reason": "max_tokens"}
    result = await result_of(Orchestrator(FakeModel(cut, "7"), [add]), streamed, output_type=int)
    assert result.output == 7


@pytest.mark.parametrize("said", [body("I will pay.\n" + PAYS), body(PAYS + "</s>"), body(PAYS + "Wait.", "stop")])
async def test_a_call_that_stands_last_or_in_a_whole_reply_runs(said: Any) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    await Orchestrator(FakeModel(said, "The end."), [pay]).run("go")
    assert paid == [1]


async def test_a_refusal_of_a_wrong_call_takes_back_the_good_one_beside_it() -> None:
    paid: list[int] = []

    def pay(amount: int) -> None:
        paid.append(amount)

    fake = FakeModel(body(PAYS + WRONG, "stop"), "Sorry, I must not pay.")
    result = await Orchestrator(fake, [pay]).run("go")
    assert '- `pay` with {"amount": 1}\n' in fake.requests[1].messages[-1].text
    assert (result.content, paid, [one.ran for one in result.tool_results]) == ("Sorry, I must not pay.", [], [False, False])


# --- typed answers ------------------------------------------------------------------------------------------------------


class Point(BaseModel):
    x: int


Hue = Literal["dark", "dark-blue"]
_OPEN = [
    "<scratchpad>%", "<!-- %", "(%", '"%', "`%", "<tool_call>%", "<function_calls>%", "```python\nx = %", "# Draft\n%", "1. %", "- %",
    "> %", "| a | %", "Either %", "First, %", "Attempt 1: %", "My first thought was %", "I rejected %", "The possible answers are %",
    "First attempt:\n```json\n%\n```", "<draft>%</draft>", "It says so in the text.\n\n%", "Draft: %\nBetter: %",
]  # fmt: skip
"""Texts that may go on from the value: it may be a part, an item, a draft, or what is taken back."""
PERHAPS_HALF: dict[str, tuple[Any, str]] = {
    "int": (int, "12"),
    "int, wrapped": (int, '{"result": 12'),
    "int in a fence": (int, "```\n12"),
    "float": (float, "3.1"),
    "Decimal": (Decimal, "3.1"),
    "bool or text": (bool | str, "true"),
    "literal": (Hue, "dark"),
    "a quoted literal that goes on": (Hue, '"dark'),
    "a quoted literal": (Hue, '"dark"'),
    "text": (str, "The half of"),
    "quoted text": (str | int, '"Yes"'),
    "text, wrapped": (str, '{"result": "The half of'),
    "text or nothing": (str | None, "The half of"),
    "a model": (Point, '{"x": 1'),
    "a model from a bare number": (Point, "1"),
    "a list": (list[int], "[1, 2"),
    "items of a list": (list[Point], '{"x": 1}\n{"x": 2}\n'),
    "the first item of a list": (list[Point], '{"x": 1}\n'),
    "plain data": ({"type": "integer"}, "12"),
    "a list before another": (list[str], '["a"], ["b'),
    "a model before another": (Point, '{"x": 1}\n{"x": 2'),
    "a draft before the answer": (Point, 'Draft: {"x": 1}\nFinal: {"'),
    "a draft before an answer not begun": (Point, 'Draft: {"x": 1}\nFinal:'),
    "a value before words": (Point, 'Here:\n```json\n{"x": 1}\n```\nAs you can s'),
    "a value taken back": (Point, '{"x": 1}\nWait, that is wrong. The correct answer is'),
    "a value before prose": (Point, '{"x": 1}\nThe set {x | x >'),
    "a value before a correction": (Point, '{"x": 1}\n\nCorrected'),
    "a draft before the beginning of a word": (Point, 'Draft: {"x": 1}\nFinal'),
    "a draft alone": (Point, 'Draft: {"x": 1}'),
    "an idea before a better one": (Point, 'First idea: {"x": 1}. Better'),
    "a value before another fence": (Point, '{"x": 1}\n```'),
    "a list before a heading": (list[str], 'Fruits: ["a"]\nVegetables:'),
    "a list before a bullet": (list[str], '["a"]\n- b'),
    "a wrapper before words": (int, '{"result": 1}\nBut'),
    "a wrapper before another": (int, '{"result": 1}, {"result": 2'),
    **{f"an object within {text!r}": (Point, text.replace("%", '{"x": 1}')) for text in _OPEN},
    **{f"a wrapper within {text!r}": (int, text.replace("%", '{"result": 12}')) for text in _OPEN},
    "a text that speaks of a wrapper": (str, 'It returns {"result": "ok"} wi'),
}


@pytest.mark.parametrize(
    ("output_type", "text"), [(list[str], '["a"], ["b'), (Point, '{"x": 1}\n{"x": 2'), (int, '{"result": 1}, {"result": 2')]
)
async def test_a_value_before_the_beginning_of_another_is_asked_for_again(output_type: Any, text: str) -> None:
    """Also where the reply does not say that a limit ended it."""
    fake = FakeModel(default=body(text, "stop"))
    with pytest.raises(FallbackExhausted) as caught:
        await Orchestrator(fake).execute("go", output_type)
    assert "several values" in caught.value.details
    assert fake.call_count > 1


@pytest.mark.parametrize("strictness", ["off", "safe", "lenient"])
@pytest.mark.parametrize("name", PERHAPS_HALF)
async def test_a_typed_value_that_may_be_half_is_asked_again_with_more_room(name: str, strictness: Any) -> None:
    output_type, text = PERHAPS_HALF[name]
    fake = FakeModel(default=body(text))
    with pytest.raises(Truncated) as caught:
        await Orchestrator(fake, strictness=strictness).execute("go", output_type, max_tokens=10)
    assert [request.max_tokens for request in fake.requests] == [10, 20, 40]
    partial = caught.value.partial
    assert (partial.content, partial.envelope.truncated, partial.has_output) == (text, True, False)
    assert all(not attempt.report.ok for attempt in caught.value.attempts)


@pytest.mark.parametrize("ending", ["\n<think>No, wa", "\n<think>No, wait.</think>", "<think>No"])
async def test_a_value_that_reasoning_follows_is_asked_for_again(ending: str) -> None:
    result = await Orchestrator(FakeModel(body('{"x": 1}' + ending), '{"x": 2}')).run("go", output_type=Point)
    assert (result.output, len(result.attempts)) == (Point(x=2), 2)


_MODES = {
    "native_tools": Capabilities(json_schema=False),
    "json_schema": Capabilities(native_tools=False, json_schema=True),
    "json_object": Capabilities(native_tools=False, json_schema=False, json_object=True),
    "text": Capabilities(native_tools=False, json_schema=False, json_object=False),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("mode", _MODES)
async def test_in_every_mode_a_value_in_something_open_is_asked_for_again(mode: str, streamed: bool) -> None:
    for text in _OPEN:
        fake = FakeModel(body(text.replace("%", '{"x": 1}')), '{"x": 2}', capabilities=_MODES[mode])
        result = await result_of(Orchestrator(fake), streamed, output_type=Point)
        assert (result.output, fake.call_count) == (Point(x=2), 2), text


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("mode", _MODES)
async def test_a_cut_call_of_the_output_tool_behind_words_is_asked_for_again(mode: str, streamed: bool) -> None:
    said = 'Draft:\n<tool_call>\n{"name": "final_result", "arguments": {"x": 1}}\n</tool_call>'
    fake = FakeModel(body(said), '{"x": 2}', capabilities=_MODES[mode])
    result = await result_of(Orchestrator(fake), streamed, output_type=Point)
    assert (result.output, fake.call_count) == (Point(x=2), 2)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_the_whole_value_is_emitted_when_it_comes(streamed: bool) -> None:
    fake = FakeModel(body("12"), body("1234", "stop"))
    result = await result_of(Orchestrator(fake), streamed, output_type=int)
    assert (result.output, [attempt.reason for attempt in result.attempts]) == (1234, ["first", "reask"])


@pytest.mark.parametrize(
    ("output_type", "text", "value"),
    [
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (list[int], "[1, 2]", [1, 2]),
        (Point, 'Here:\n```json\n{"x": 1}\n```\n', Point(x=1)),
        (Point, 'Here:\n```json\n{"x": 1}\n', Point(x=1)),
        (Point, '<think>Hm.</think>{"x": 1}', Point(x=1)),
        (Point, 'Final answer: {"x": 2}', Point(x=2)),
        (int, '{"result": 12}', 12),
        (str, '{"result": "whole"}', "whole"),
        (Hue, '{"result": "dark"}', "dark"),
        ({"type": "object"}, '{"a": "b"}', {"a": "b"}),
    ],
)
async def test_a_value_that_is_closed_and_stands_last_is_whole(output_type: Any, text: str, value: Any) -> None:
    result = await Orchestrator(FakeModel(body(text))).run("go", output_type=output_type)
    assert (result.output, result.has_output, len(result.attempts)) == (value, True, 1)


def final_result(arguments: str, *more: tuple[str, str]) -> dict[str, Any]:
    made = called("final_result", arguments)
    calls = made["choices"][0]["message"]["tool_calls"]
    calls += [called(name, text)["choices"][0]["message"]["tool_calls"][0] | {"id": name} for name, text in more]
    made["choices"][0]["finish_reason"] = "length"
    return made


async def test_a_cut_call_of_the_output_tool_is_no_value() -> None:
    fake = FakeModel(final_result('{"x": 1'), called("final_result", {"x": 12}))
    assert await Orchestrator(fake).execute("go", Point) == Point(x=12)
    whole = FakeModel(final_result('{"x": 1}'))
    assert await Orchestrator(whole).execute("go", Point) == Point(x=1)


@pytest.mark.parametrize("strictness", ["off", "safe", "lenient"])
async def test_a_cut_call_of_the_output_tool_beside_another_call_is_no_value(strictness: Any) -> None:
    beside = final_result('{"result": "The half of', ("add", '{"a": 1, "b": 2}'))
    fake = FakeModel(beside, called("final_result", {"result": "The half of it."}))
    result = await Orchestrator(fake, [add], strictness=strictness).run("go", output_type=str)
    assert result.output == "The half of it."
    assert not any(one.ran for one in result.tool_results)


# --- replies whose end says that they are not whole ----------------------------------------------------------------------

CALL_OF_ADD = called("add", {"a": 1, "b": 2})["choices"][0]["message"]["tool_calls"]
SAID: dict[str, dict[str, Any]] = {
    "words": {"content": "It is cold in Os"},
    "a call": {"tool_calls": CALL_OF_ADD},
    "a call in words": {"content": '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'},
    "words and a call": {"content": "Let me see.", "tool_calls": CALL_OF_ADD},
    "nothing": {"content": ""},
    "typed": {"content": '{"x": 1}'},
    "the output tool": {"tool_calls": called("final_result", {"x": 1})["choices"][0]["message"]["tool_calls"]},
}


def ended(said: str, finish: str) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **SAID[said]}, "finish_reason": finish}]}


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("finish", ["error", "cancelled"])
@pytest.mark.parametrize("said", SAID)
async def test_a_reply_that_its_provider_broke_off_is_asked_for_again(said: str, finish: str, streamed: bool) -> None:
    typed: dict[str, Any] = {"output_type": Point} if said in ("typed", "the output tool") else {}
    fake = FakeModel(ended(said, finish), '{"x": 2}')
    result = await result_of(Orchestrator(fake, [add], strategies=FAST), streamed, **typed)
    assert (result.content, any(one.ran for one in result.tool_results)) == ('{"x": 2}', False)
    assert [attempt.reason for attempt in result.attempts] == ["first", "retry"]
    assert isinstance(result.attempts[0].error, RemoteServerError)
    assert len(result.messages) == 2


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("said", SAID)
async def test_a_reply_that_a_filter_ended_is_refused_whatever_it_held(said: str, streamed: bool) -> None:
    typed: dict[str, Any] = {"output_type": Point} if said in ("typed", "the output tool") else {}
    fake = FakeModel(ended(said, "content_filter"), "never asked for")
    with pytest.raises(Refused) as caught:
        await result_of(Orchestrator(fake, [add], strategies=FAST), streamed, **typed)
    partial = caught.value.partial
    ran = [one for one in partial.tool_results if one.ran]
    assert (len(caught.value.attempts), ran, partial.has_output) == (1, [], False)
    assert partial.envelope.truncated
    assert said != "words" or partial.content == "It is cold in Os"
    assert_valid(partial.messages)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("said", SAID)
async def test_a_turn_that_was_paused_is_no_whole_answer(said: str, streamed: bool) -> None:
    typed: dict[str, Any] = {"output_type": Point} if said in ("typed", "the output tool") else {}
    fake = FakeModel(ended(said, "pause_turn"), "never asked for")
    with pytest.raises(Truncated, match="paused the model's turn") as caught:
        await result_of(Orchestrator(fake, [add], strategies=FAST), streamed, **typed)
    partial = caught.value.partial
    assert (any(one.ran for one in partial.tool_results), partial.has_output) == (False, False)


async def test_another_model_is_asked_when_a_filter_ended_the_reply() -> None:
    fakes = {"small": FakeModel(default=ended("words", "content_filter")), "large": FakeModel("Mild.")}
    result = await stack(fakes, [add]).run("go")
    assert (result.content, [attempt.model for attempt in result.attempts]) == ("Mild.", ["small", "large"])


async def test_a_filter_in_a_later_turn_is_no_degraded_answer() -> None:
    fake = FakeModel(called("add", {"a": 1, "b": 2}, text="Let me add."), ended("words", "content_filter"))
    with pytest.raises(Refused) as caught:
        await Orchestrator(fake, [add], strategies=FAST).run("go")
    assert [record.value for record in caught.value.partial.tool_results] == [3]


@pytest.mark.parametrize("finish", ["error", "content_filter"])
async def test_a_broken_reply_teaches_nothing_of_the_endpoint(finish: str) -> None:
    fake = FakeModel(ended("words", finish), '{"x": 1}', capabilities=Capabilities(native_tools=False))
    orchestrator = Orchestrator(fake, strategies=FAST)
    with suppress(Refused):
        await orchestrator.run("go", output_type=Point)
    assert (fake.calls[0].mode, orchestrator.capabilities.learnt(fake.endpoint)) == ("json_schema", {})


@pytest.mark.parametrize("finish", ["error", "content_filter"])
async def test_the_end_of_a_reply_to_a_reask_counts_as_well(finish: str) -> None:
    fake = FakeModel(called("add", {"a": "one"}), ended("a call", finish), "Then not.")
    fakes = {"small": fake, "large": FakeModel("Large.")}
    result = await stack(fakes, [add]).run("go")
    assert result.content == ("Then not." if finish == "error" else "Large.")
    assert not any(one.ran for one in result.tool_results)


async def test_what_was_emitted_of_calls_of_a_broken_reply_does_not_run() -> None:
    orchestrator = Orchestrator(FakeModel(default=ended("a call", "error")), [add], strategies=())
    told: list[Any] = []

    async def listen() -> None:
        async for event in orchestrator.stream("go"):
            told.append(event)

    with pytest.raises(FallbackExhausted) as caught:
        await listen()
    assert any(isinstance(event, ToolCallFinished) for event in told)
    partial = caught.value.partial
    assert ([one.ran for one in partial.tool_results], partial.messages[1:]) == ([False], [])
    assert [call.name for call in caught.value.partial.envelope.tool_calls] == ["add"]


@pytest.mark.parametrize(("word", "reason"), [("MALFORMED_FUNCTION_CALL", "reask"), ("UNEXPECTED_TOOL_CALL", "mode")])
async def test_words_before_a_call_that_the_provider_threw_away_are_no_answer(word: str, reason: str) -> None:
    thrown = {"candidates": [{"content": {"parts": [{"text": "Let me add."}], "role": "model"}, "finishReason": word}]}
    fake = FakeModel(thrown, called("add", {"a": 1, "b": 2}), "Three.")
    result = await Orchestrator(fake, [add], strategies=FAST).run("go")
    assert (result.content, [attempt.reason for attempt in result.attempts]) == ("Three.", ["first", reason, "turn"])
