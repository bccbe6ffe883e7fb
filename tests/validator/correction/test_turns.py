"""Kept calls that come again in the answer to a correction: each runs once, as the model last made it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from llmcore.types import Envelope, ToolDefinition, ToolSet, ToolUseBlock
from llmcore.validator import Correction, CorrectionResult, correct
from tests.validator.schemas import call


def run(first: Envelope, *answers: Envelope) -> CorrectionResult:
    waiting = list(answers)

    async def ask(_: Correction) -> Envelope:
        return waiting.pop(0)

    return asyncio.run(correct(first, PAYING, ask))


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


@pytest.mark.parametrize("ids", ["", "ab", "yz"], ids=["counted", "the same ids", "other ids"])
def test_a_turn_that_is_made_anew_takes_the_place_of_the_kept_calls(ids: str) -> None:
    first = pays({"amount": 1}, {"amount": "x"}, ids="ab" if ids else "")
    assert paid(first, pays({"amount": 5}, {"amount": 2}, ids=ids)) == ([{"amount": 5}, {"amount": 2}], ["withdrawn_call"])


def test_of_a_turn_that_is_made_anew_what_is_the_same_is_kept() -> None:
    first = pays({"amount": 1}, {"amount": 3}, {"amount": "x"})
    calls, repairs = paid(first, pays({"amount": 1}, {"amount": 4}, {"amount": 2}))
    assert ([one["amount"] for one in calls], repairs) == ([1, 4, 2], ["repeated_call", "withdrawn_call"])


def test_a_kept_call_is_known_by_an_id_that_does_not_only_count() -> None:
    first = pays({"amount": 1}, {"amount": 3}, {"amount": "x"}, ids="abc")
    calls, repairs = paid(first, pays({"amount": 2}, {"amount": 5}, ids="da"))
    assert ([one["amount"] for one in calls], repairs) == ([5, 3, 2], ["withdrawn_call"])
    counted = pays({"amount": 1}, {"amount": "x"})
    assert [one["amount"] for one in paid(counted, pays({"amount": 5}))[0]] == [1, 5]


def test_an_id_that_the_turn_gave_twice_says_nothing() -> None:
    calls, _ = paid(pays({"amount": 1}, {"amount": "x"}, ids="aa"), pays({"amount": 2}, ids="a"))
    assert [one["amount"] for one in calls] == [1, 2]


def test_a_failing_call_that_is_not_made_again_is_recorded() -> None:
    calls, repairs = paid(pays({"amount": 1}, {"amount": "x"}, {"amount": "y"}), pays({"amount": 2}))
    assert ([one["amount"] for one in calls], repairs) == ([1, 2], ["withdrawn_call"])


def test_the_blocks_follow_a_changed_call() -> None:
    first = pays({"amount": 1}, {"amount": "x"})
    uses = [ToolUseBlock(id=one.id, name=one.name, input=one.arguments) for one in first.tool_calls]
    result = run(first.attach("", (), uses), pays({"amount": 5}, {"amount": 2}))
    assert [block.input for block in result.envelope.blocks if isinstance(block, ToolUseBlock)] == [{"amount": 5}, {"amount": 2}]


@pytest.mark.parametrize("truncated", [True, False])
def test_an_answer_that_was_cut_before_it_said_anything_takes_nothing_back(truncated: bool) -> None:
    asked: list[str] = []
    answers = [Envelope(truncated=truncated, finish_reason="length"), pays({"amount": 1}, {"amount": 2})]

    async def ask(correction: Correction) -> Envelope:
        asked.append(correction.messages[0].text)
        return answers.pop(0)

    result = asyncio.run(correct(pays({"amount": 1}, {"amount": "x"}), PAYING, ask))
    assert asked[1].count("`pay` with the arguments") == 2
    assert "None of its calls ran." in asked[1]
    assert [one.arguments for one in result.report.calls] == [{"amount": 1}, {"amount": 2}]
    assert not result.envelope.repairs
