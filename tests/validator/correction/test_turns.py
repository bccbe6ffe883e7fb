"""Kept calls that come again in the answer to a correction: each runs once, as the model last made it."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types import Envelope, ToolDefinition, ToolSet, ToolUseBlock
from llmcore.validator import CorrectionLoop, CorrectionResult
from tests.validator.schemas import call


def run(first: Envelope, *answers: Envelope) -> CorrectionResult:
    waiting = list(answers)
    loop = CorrectionLoop(first, PAYING)
    while loop.next() is not None:
        loop.receive(waiting.pop(0))
    return loop.result


PAYING = ToolSet(
    [
        ToolDefinition(
            name="pay",
            parameters={
                "type": "object",
                "properties": {
                    "amount": {"type": "number"},
                    "note": {"type": "string", "default": "-"},
                    "to": {"$ref": "#/$defs/Whom"},
                    "by": {"anyOf": [{"$ref": "#/$defs/Whom"}, {"type": "null"}]},
                    "over": {"type": "array", "items": {"$ref": "#/$defs/Whom"}},
                },
                "required": ["amount"],
                "$defs": {"Whom": {"type": "object", "properties": {"bank": {"type": "string", "default": "ours"}}}},
            },
        )
    ]
)


def pays(*arguments: Any, ids: str = "") -> Envelope:
    return Envelope(toolCalls=[call("pay", given, id=ids[at] if ids else f"call_{at}") for at, given in enumerate(arguments)])


def paid(first: Envelope, *answers: Envelope) -> tuple[list[Any], list[str]]:
    result = run(first, *answers)
    assert result.ok
    ids = [one.id for one in result.envelope.tool_calls]
    assert len(set(ids)) == len(ids)
    return [one.arguments for one in result.report.calls], [repair.kind for repair in result.envelope.repairs]


_ALIKE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"amount": 1}, {"amount": "1"}),
    ({"amount": "1"}, {"amount": 1}),
    ({"amount": 1}, {"amount": 1.0}),
    ({"amount": 1}, {"amount": 1, "note": "-"}),
    ({"amount": 1, "note": "-"}, {"amount": 1}),
    ({"amount": 1, "to": {}}, {"to": {"bank": "ours"}, "amount": 1}),
    ({"amount": 1, "by": {}}, {"amount": 1, "by": {"bank": "ours"}}),
    ({"amount": 1, "over": [{}]}, {"amount": 1, "over": [{"bank": "ours"}]}),
]


@pytest.mark.parametrize(("kept", "again"), _ALIKE, ids=str)
@pytest.mark.parametrize("order", [1, -1])
def test_a_kept_call_that_is_written_in_another_way_runs_once(kept: Any, again: Any, order: int) -> None:
    calls, repairs = paid(pays(kept, {"amount": "x"}), pays(*[again, {"amount": 2}][::order]))
    assert [float(one["amount"]) for one in calls] == [1, 2]
    assert repairs == ["repeated_call"]


_SCHEMES = ["", "aa", "ab", "ba", "yz"]
"""The ids of an answer to a correction: counted anew, the same twice, those of the turn, crossed, and others."""


@pytest.mark.parametrize("ids", _SCHEMES)
def test_corrections_take_the_places_of_the_calls_that_were_asked_about_whatever_their_ids(ids: str) -> None:
    first = pays({"amount": 1}, {"amount": "x"}, {"amount": "y"}, ids="abc" if ids else "")
    result = run(first, pays({"amount": 2}, {"amount": 3}, ids=ids))
    assert result.ok
    assert [one.arguments for one in result.report.calls] == [{"amount": 1}, {"amount": 2}, {"amount": 3}]
    assert [one.call.arguments for one in result.dropped] == [{"amount": "x"}, {"amount": "y"}]


@pytest.mark.parametrize("good", [0, 1])
@pytest.mark.parametrize("ids", ["", "a", "b"])
def test_a_corrected_call_that_has_the_id_of_a_kept_one_does_not_take_its_place(ids: str, good: int) -> None:
    turn = [{"amount": 1}, {"amount": "x"}][:: 1 if good == 0 else -1]
    calls, _ = paid(pays(*turn, ids="ab" if ids else ""), pays({"amount": 5}, ids=ids))
    assert [one["amount"] for one in calls] == ([1, 5] if good == 0 else [5, 1])


@pytest.mark.parametrize("ids", ["", "xyz"])
def test_of_more_corrections_than_were_asked_for_each_runs_and_no_kept_call_is_lost(ids: str) -> None:
    first = pays({"amount": 1}, {"amount": "x"})
    assert [one["amount"] for one in paid(first, pays({"amount": 5}, {"amount": 2}, ids=ids[:2]))[0]] == [1, 5, 2]
    assert [one["amount"] for one in paid(first, pays({"amount": 1}, {"amount": 2}, {"amount": 3}, ids=ids))[0]] == [1, 2, 3]


def test_more_corrections_than_were_asked_for_that_are_the_same_run_once() -> None:
    calls, repairs = paid(pays({"amount": 1}, {"amount": "x"}), pays({"amount": 2}, {"amount": 2}, {"amount": 2}))
    assert ([one["amount"] for one in calls], repairs) == ([1, 2], ["repeated_call", "repeated_call"])
    two, _ = paid(pays({"amount": "x"}, {"amount": 1}, {"amount": "y"}), pays({"amount": 2}, {"amount": 2}))
    assert [one["amount"] for one in two] == [2, 1, 2]


def test_of_fewer_corrections_than_were_asked_for_the_rest_is_dropped_and_told() -> None:
    result = run(pays({"amount": 1}, {"amount": "x"}, {"amount": "y"}), pays({"amount": 2}))
    assert [one.arguments for one in result.report.calls] == [{"amount": 1}, {"amount": 2}]
    assert [(one.call.arguments, one.type) for one in result.dropped] == [
        ({"amount": "x"}, "validation"),
        ({"amount": "y"}, "validation"),
    ]
    assert "another one in its place" in result.dropped[0].reason
    assert "did not make it again" in result.dropped[1].reason
    assert all("expected number" in one.reason for one in result.dropped)


def test_a_correction_that_equals_a_kept_call_runs_once_and_repeats_no_mistake() -> None:
    calls, repairs = paid(pays({"amount": 1}, {"amount": "x"}), pays({"amount": 1}))
    assert ([one["amount"] for one in calls], repairs) == ([1], ["repeated_call"])


def test_an_answer_that_makes_kept_calls_again_and_corrects_none_is_asked_again() -> None:
    first = pays({"amount": 1}, {"amount": 2}, {"amount": "x"}, {"amount": "y"}, {"amount": "z"})
    again = pays({"amount": 1}, {"amount": 2})
    calls, _ = paid(first, again, pays({"amount": 3}, {"amount": 4}, {"amount": 5}))
    assert [one["amount"] for one in calls] == [1, 2, 3, 4, 5]


def test_a_turn_that_is_made_anew_changes_the_kept_call_that_it_words_otherwise() -> None:
    first = pays({"amount": 1, "note": "rent"}, {"amount": "x"})
    result = run(first, pays({"amount": 1, "note": "Rent"}, {"amount": 2}))
    assert [one.arguments for one in result.report.calls] == [{"amount": 1, "note": "Rent"}, {"amount": 2}]
    assert [one.call.arguments for one in result.dropped] == [{"amount": "x"}, {"amount": 1, "note": "rent"}][::-1]


def test_the_blocks_follow_the_corrected_calls_also_where_ids_are_given_twice() -> None:
    first = pays({"amount": "x"}, {"amount": 1}, {"amount": "y"}, ids="aaa")
    uses = [ToolUseBlock(id=one.id, name=one.name, input=one.arguments) for one in first.tool_calls]
    result = run(first.attach("", (), uses), pays({"amount": 5}, {"amount": 2}, ids="aa"))
    blocks = [block for block in result.envelope.blocks if isinstance(block, ToolUseBlock)]
    assert [block.input for block in blocks] == [{"amount": 5}, {"amount": 1}, {"amount": 2}]
    assert [block.id for block in blocks] == [one.id for one in result.envelope.tool_calls]


@pytest.mark.parametrize("truncated", [True, False])
def test_an_answer_that_was_cut_before_it_said_anything_takes_nothing_back(truncated: bool) -> None:
    asked: list[str] = []
    answers = [Envelope(truncated=truncated, finish_reason="length"), pays({"amount": 1}, {"amount": 2})]

    loop = CorrectionLoop(pays({"amount": 1}, {"amount": "x"}), PAYING)
    while (correction := loop.next()) is not None:
        asked.append(correction.messages[0].text)
        loop.receive(answers.pop(0))
    result = loop.result
    assert asked[1].count("`pay` with the arguments") == 2
    assert "None of its calls ran." in asked[1]
    assert [one.arguments for one in result.report.calls] == [{"amount": 1}, {"amount": 2}]
    assert not result.envelope.repairs
