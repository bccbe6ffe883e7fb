"""The self-correction loop: what is asked, what replaces what, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.normalizer import normalize
from llmcore.run.output.answer_type import OutputSpec
from llmcore.types import CallerError, Envelope, NearMiss, TextBlock, ToolCall, ToolUseBlock
from llmcore.validator import Correction, CorrectionLoop, parse_detailed
from llmcore.validator.correction.loop import DEFAULT_REASK_TOKENS, CorrectionResult
from tests.validator.schemas import call, weather_tools

TOOLS = weather_tools()
BAD = call(arguments={"city": "Rome", "days": "soon"}, raw_arguments='{"city": "Rome", "days": "soon"}')
GOOD = call(arguments={"city": "Rome", "days": 3})


class City(BaseModel):
    name: str
    people: int


def turn(*calls: ToolCall, content: str = "", **fields: Any) -> Envelope:
    return Envelope(toolCalls=list(calls), content=content, **fields)


def run(first: Envelope, *answers: Envelope | None, **options: Any) -> tuple[CorrectionResult, list[Correction]]:
    """Correct `first`, the model answering in order; more questions than answers fail the test."""
    asked: list[Correction] = []
    waiting = list(answers)
    loop = CorrectionLoop(first, TOOLS, **options)
    while (correction := loop.next()) is not None:
        asked.append(correction)
        loop.receive(waiting.pop(0))
    assert not waiting, "the loop stopped early"
    return loop.result, asked


def text_of(correction: Correction) -> str:
    (message,) = correction.messages
    assert message.role == "user"
    return message.text


def test_nothing_is_asked_while_the_report_is_ok() -> None:
    result, asked = run(turn(GOOD))
    assert (result.outcome, asked, result.corrections) == ("ok", [], ())
    assert result.envelope.tool_calls == [GOOD]


def test_a_correction_says_only_what_is_needed() -> None:
    result, (correction,) = run(turn(BAD), turn(GOOD))
    text = text_of(correction)
    assert '`get_weather` with the arguments\n```\n{"city": "Rome", "days": "soon"}\n```' in text
    assert '- `days`: expected integer, got string "soon"' in text
    assert '"required": ["city"]' in text
    assert [tool.name for tool in correction.tools] == ["get_weather"]
    assert (correction.n, correction.tool_choice, correction.max_tokens) == (1, "auto", None)
    assert correction.detail == '`days`: expected integer, got string "soon"'
    assert result.outcome == "ok"
    assert result.ok
    assert result.report.calls == [GOOD]


def test_the_bad_turn_is_replaced_and_nothing_piles_up() -> None:
    worse = call(arguments={"city": "Rome", "days": -1})
    result, asked = run(turn(BAD, content="Let me see."), turn(worse), turn(GOOD, content="Here."))
    assert len(asked) == 2
    assert all(len(correction.messages) == 1 for correction in asked)
    assert "soon" not in text_of(asked[1])
    assert "at least 1" in text_of(asked[1])
    assert result.envelope.content == "Here."


def test_good_calls_are_kept_in_their_places_and_not_asked_again() -> None:
    first = call("search", {"city": "Oslo"}, id="call_0")
    bad = BAD.model_copy(update={"id": "call_1"})
    last = call("search", {"city": "Bern"}, id="call_2")
    envelope = turn(first, bad, last, content="I will look.").attach(
        "",
        (),
        [TextBlock(text="I will look."), *(ToolUseBlock(id=c.id, name=c.name, input=c.arguments) for c in (first, bad, last))],
    )
    result, (correction,) = run(envelope, turn(GOOD, first.model_copy(update={"id": "call_9"})))
    assert 'are kept. They run once, together with that one; do not make them again:\n- `search` with {"city": "Oslo"}\n' in (
        text_of(correction)
    )
    assert text_of(correction).endswith("If you answer without a call, none of these calls runs, the kept ones neither.")
    assert [(c.id, c.name) for c in result.envelope.tool_calls] == [
        ("call_0", "search"),
        ("call_3", "get_weather"),
        ("call_2", "search"),
    ]
    assert [repair.kind for repair in result.envelope.repairs] == ["repeated_call"]
    blocks = result.envelope.blocks
    assert [block.id for block in blocks if isinstance(block, ToolUseBlock)] == ["call_0", "call_3", "call_2"]
    assert result.envelope.content == "I will look."


OTHER = call("search", {"city": "Oslo"}, id="call_7", raw_arguments='{"city": "Oslo"}')
CUT = call(arguments={"city": "Ro"}, complete=False, raw_arguments='{"city": "Ro', id="call_8")


@pytest.mark.parametrize("content", ["I will not.", "get_weather("])
def test_an_answer_without_calls_takes_the_kept_ones_back_too(content: str) -> None:
    misses = [NearMiss(span=(0, 11), name="get_weather", reason="unclosed")] if content.endswith("(") else []
    result, asked = run(turn(OTHER, BAD), turn(content=content, near_misses=misses), *([turn(content="No.")] if misses else []))
    assert result.report.runnable == result.envelope.tool_calls == []
    assert (result.envelope.content, result.ok) == ("No." if misses else content, True)
    if not misses:
        withdrawn = [one.call.name for one in result.dropped]
        assert (withdrawn, len(asked)) == (["search", "get_weather"], 1)


@pytest.mark.parametrize(
    "first",
    [
        turn(OTHER, CUT, truncated=True, finish_reason="length"),
        turn(OTHER, CUT),
        turn(OTHER, BAD, finish_reason="length"),
        turn(OTHER, truncated=True, finish_reason="length"),
        turn(OTHER, truncated=True),
    ],
    ids=["cut", "damaged", "invalid and cut", "cut before a name", "cut before a name, no end told"],
)
@pytest.mark.parametrize("said", ["words", "a call", "the same call"])
def test_of_a_turn_that_was_cut_nothing_is_kept(first: Envelope, said: str) -> None:
    answers = {"words": turn(content="I will not."), "a call": turn(GOOD), "the same call": turn(OTHER)}
    result, (correction,) = run(first, answers[said])
    assert "nothing of it was used" in text_of(correction)
    assert "None of its calls ran. Make every call that you mean again, whole." in text_of(correction)
    assert '`search` with the arguments\n```\n{"city": "Oslo"}' in text_of(correction)
    assert "are kept" not in text_of(correction)
    assert [tool.name for tool in correction.tools] == ["get_weather", "search"]
    assert (result.envelope.tool_calls, result.ok) == (answers[said].tool_calls, True)


def test_a_loose_end_behind_a_whole_call_is_none_where_the_server_says_that_it_was_done() -> None:
    assert run(turn(OTHER, truncated=True, finish_reason="stop"))[1] == []


def test_a_correction_that_is_cut_keeps_nothing_of_the_turn_either() -> None:
    result, asked = run(turn(OTHER, BAD), turn(GOOD, truncated=True, finish_reason="length"), turn(GOOD))
    assert "are kept" in text_of(asked[0])
    assert "nothing of it was used" in text_of(asked[1])
    assert text_of(asked[1]).count("with the arguments") == 2
    assert (result.envelope.tool_calls, result.ok) == ([GOOD], True)


def test_kept_calls_are_told_in_few_words() -> None:
    many = [call("search", {"city": f"{n}" + "x" * 8000}, id=f"c{n}") for n in range(128)]
    text = text_of(run(turn(*many, BAD), None)[1][0])
    assert len(text) < 5000
    shown = text.count("- `search` with")
    assert shown >= 3
    assert f"- and {128 - shown} more" in text


def test_a_doubtful_call_beside_kept_ones_is_asked_about() -> None:
    doubt = normalize(SHOWN, TOOLS)
    text = text_of(run(doubt.model_copy(update={"tool_calls": [OTHER, *doubt.tool_calls]}), None)[1][0])
    assert text.startswith("A part of your last reply was not used. This call did not run, because it is not clear whether")
    assert "`search` with" in text


def test_it_stops_when_an_attempt_repeats_an_earlier_one() -> None:
    other = call(arguments={"city": "Rome", "days": "later"})
    result, asked = run(turn(BAD), turn(other), turn(BAD), reasks=9)
    assert (result.outcome, len(asked), result.ok) == ("repeated", 2, False)
    assert [problem.path for problem in result.report.problems] == ["days"]


def test_it_stops_when_the_budget_is_spent() -> None:
    answers = [turn(call(arguments={"city": "Rome", "days": -number})) for number in range(2)]
    result, asked = run(turn(BAD), *answers, reasks=2)
    assert (result.outcome, len(asked)) == ("spent", 2)
    assert run(turn(BAD), reasks=0)[0].outcome == "spent"
    with pytest.raises(CallerError, match="reasks"):
        CorrectionLoop(turn(BAD), TOOLS, reasks=-1)


def test_it_stops_when_nothing_may_be_sent_any_more() -> None:
    result, asked = run(turn(BAD), None)
    assert (result.outcome, len(asked)) == ("stopped", 1)
    assert result.envelope.tool_calls == [BAD]


def test_words_withdraw_the_call_where_none_was_required() -> None:
    result, _ = run(turn(BAD), turn(content="I do not know for how many days."))
    assert (result.outcome, result.ok) == ("answered", True)
    assert result.envelope.tool_calls == []
    assert result.envelope.content == "I do not know for how many days."
    assert len(result.dropped) == 1
    assert not result.envelope.repairs


def test_words_are_no_answer_where_a_call_was_required() -> None:
    result, asked = run(turn(BAD), turn(content="Why?"), turn(GOOD), required=True)
    assert result.outcome == "ok"
    assert asked[0].tool_choice == {"name": "get_weather"}
    assert asked[1].tool_choice == "required"
    assert [problem.kind for problem in asked[1].problems] == ["no_call"]


def test_near_misses_are_asked_about_only_where_a_call_was_required() -> None:
    miss = turn(content="get_weather Rome", near_misses=[NearMiss(span=(0, 11), name="get_weather", reason="unclosed")])
    assert run(miss)[1] == []
    result, (correction,) = run(miss, turn(GOOD), required=True)
    assert "looks like one but is none. unclosed" in text_of(correction)
    assert "get_weather Rome" in text_of(correction)
    assert [tool.name for tool in correction.tools] == ["get_weather", "search"]
    assert result.ok


def test_an_answer_that_only_looks_like_a_call_is_asked_about() -> None:
    miss = turn(content="get_weather(", near_misses=[NearMiss(span=(0, 12), name="get_weather", reason="unclosed")])
    result, asked = run(turn(BAD), miss, turn(GOOD))
    assert [[problem.kind for problem in correction.problems] for correction in asked] == [["type"], ["near_miss"]]
    assert result.ok


def test_a_cut_call_is_asked_again_with_more_room() -> None:
    cut = turn(
        call(arguments={"city": "Ro"}, complete=False, raw_arguments='{"city": "Ro'), truncated=True, finish_reason="length"
    )
    result, asked = run(
        cut, cut.model_copy(update={"tool_calls": [call(arguments=None, complete=False)]}), turn(GOOD), max_tokens=500
    )
    assert [correction.max_tokens for correction in asked] == [1000, 2000]
    assert "cut off" in text_of(asked[0])
    assert result.ok
    _, (correction,) = run(cut, turn(GOOD))
    assert correction.max_tokens == DEFAULT_REASK_TOKENS


def test_an_unknown_name_goes_back_with_the_list_of_names() -> None:
    result, (correction,) = run(turn(call("forecast", {"city": "Rome"})), turn(GOOD))
    assert "get_weather, search" in text_of(correction)
    assert [tool.name for tool in correction.tools] == ["get_weather", "search"]
    assert result.ok


def test_typed_output_is_corrected_in_the_same_loop() -> None:
    result, (correction,) = run(
        turn(content='{"name": "Rome", "people": "many"}'), turn(content='{"name": "Rome", "people": 3}'), output=OutputSpec(City)
    )
    assert result.value == City(name="Rome", people=3)
    assert '- `people`: expected integer, got string "many"' in text_of(correction)
    assert '"people"' in text_of(correction)
    assert correction.tools == ()
    assert correction.tool_choice == "none"


def test_a_turn_with_calls_is_no_final_answer() -> None:
    result, asked = run(turn(GOOD, content="not a city"), output=OutputSpec(City))
    assert (result.outcome, asked, result.value) == ("ok", [], None)


def test_typed_output_that_never_fits_ends_with_its_problems() -> None:
    result, asked = run(turn(content="no"), turn(content="still no"), turn(content="no"), output=OutputSpec(City), reasks=5)
    assert (result.outcome, len(asked), result.value) == ("repeated", 2, None)
    assert result.problems


def test_long_text_and_fences_are_quoted_safely() -> None:
    raw = '{"city": "' + "```\n" * 3 + "x" * 50_000
    _, (correction,) = run(turn(call(arguments=None, raw_arguments=raw)), turn(GOOD))
    assert len(text_of(correction)) < 8000
    assert "````\n" in text_of(correction)


def test_the_core_does_no_io() -> None:
    loop = CorrectionLoop(turn(BAD), TOOLS)
    answer: Callable[[Correction], Envelope] = lambda correction: turn(GOOD)  # noqa: E731  - it is given as a value
    while (correction := loop.next()) is not None:
        loop.receive(answer(correction))
    assert loop.result.ok
    loop.receive(turn(BAD))
    assert loop.result.ok, "an answer after the end changes nothing"


MOST = 17_000
"""Characters of a correction, the schema of the test's one small tool included."""


def prompt_for(*calls: ToolCall) -> str:
    _, (correction,) = run(turn(*calls), None)
    return text_of(correction)


def test_a_correction_of_many_long_calls_is_bounded_and_says_how_many_it_leaves_out() -> None:
    long = {"city": "x" * 8000, "days": "soon"}
    text = prompt_for(*(call(id=f"c{n}", arguments=long, raw_arguments=str(long)) for n in range(128)))
    assert len(text) < MOST
    shown = text.count("with the arguments")
    assert shown >= 10
    assert f"{128 - shown} more calls are not shown here." in text


def test_problems_of_many_calls_are_bounded_and_counted() -> None:
    unknown = [call(id=f"c{n}", name=f"tool_{n}" + "x" * 200, arguments={}) for n in range(128)]
    text = prompt_for(*unknown)
    assert len(text) < MOST
    listed = text.count("expected the name of a tool")
    assert f"- and {128 - listed} more" in text


def test_two_calls_are_both_shown() -> None:
    text = prompt_for(*(call(id=f"c{n}", arguments={"city": "x" * 5000, "days": "soon"}) for n in range(2)))
    assert text.count("with the arguments") == 2
    assert "more calls" not in text


@pytest.mark.parametrize(
    "wrong",
    [
        call(name="n" * 1_000_000, arguments={}),
        call(name="a\n# Now obey\nb", arguments={}),
        call(arguments={"k" * 1_000_000: 1}),
        call(arguments={"k" * 1_000_000 + " ": 1}),
        call(arguments=None, raw_arguments="`" * 1_000_000),
        call(arguments={"city": "Rome", "days": {"k" * 1_000_000: "x" * 1_000_000}}),
        call(id="i" * 1_000_000, arguments={"city": 5}),
    ],
    ids=["name", "lines", "key", "odd key", "fences", "nested", "id"],
)
def test_whatever_a_model_made_long_is_short_in_a_correction(wrong: ToolCall) -> None:
    text = prompt_for(wrong, BAD)
    assert len(text) < MOST
    assert "\n# Now obey" not in text


def test_the_schema_of_a_typed_answer_is_shown_whole() -> None:
    schema = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(300)}, "required": ["field_0"]}
    _, (correction,) = run(turn(content="{}"), None, output=OutputSpec(schema))
    assert "field_299" in text_of(correction)


# --- typed answers that a limit ended -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "output_type", "closed"),
    [
        ("12", int, False),
        ("```\n12\n```", int, False),
        ('"dark"', str | int, False),
        ("[1, 2]", list[int], True),
        ('Here: {"a": 1} and so', dict[str, int], False),
        ('Here: {"a": 1}', dict[str, int], True),
        ('Draft: {"a": 1}', dict[str, int], False),
        ('First idea:\n```json\n{"a": 1}\n```', dict[str, int], False),
        ('```json\n{"a": 1}\n```\n', dict[str, int], True),
        ('```json\n{"a": 1}\n', dict[str, int], True),
        ('{"a": 1}\n```', dict[str, int], False),
        ('```\n{"a": 1}\n```\n```', dict[str, int], False),
        ('**{"a": 1}**', dict[str, int], True),
        ('`{"a": 1}`', dict[str, int], True),
        ('<answer>{"a": 1}</answer>', dict[str, int], True),
        ('<answer>{"a": 1}</answer><answer>', dict[str, int], False),
        ('["a"]\n-', list[str], False),
        ('["a"].', list[str], False),
        ('Final: {"a": 1}', dict[str, int], True),
        ('{"a": 1}\n{"a": 2}', list[dict[str, int]], False),
        ("about 12", int, False),
    ],
)
def test_a_value_is_closed_by_a_bracket_of_its_own(text: str, output_type: Any, closed: bool) -> None:
    assert parse_detailed(text, output_type, strictness="lenient").closed is closed


def test_a_typed_answer_that_a_limit_ended_is_asked_again_with_more_room() -> None:
    first = turn(content="12", finish_reason="length")
    result, (asked,) = run(first, turn(content="1234", finish_reason="stop"), output=OutputSpec(int), max_tokens=100)
    assert (result.value, result.outcome) == (1234, "ok")
    assert (asked.max_tokens, [problem.kind for problem in asked.problems]) == (200, ["incomplete"])


SHOWN = 'For example:\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'


def test_a_doubtful_call_that_comes_again_is_only_shown() -> None:
    first = normalize(SHOWN, TOOLS)
    result, (asked,) = run(first, normalize(f"<think>Well.</think>{SHOWN}", TOOLS), reasks=9)
    assert asked.problems[0].kind == "doubtful"
    assert (result.outcome, result.ok, result.problems) == ("answered", True, ())
    answer = result.envelope
    assert (answer.tool_calls, answer.content, answer.reasoning, answer.needs_more_work) == ([], SHOWN, "Well.", None)
    assert [miss.reason for miss in answer.near_misses] == ["example"]
    assert "".join(answer.source[start:end] for start, end, kind in answer.segments if kind == "content") == SHOWN
    assert [block.text for block in answer.blocks if isinstance(block, TextBlock)] == [SHOWN]


def test_a_doubtful_call_is_asked_about_again_where_one_is_due() -> None:
    result, asked = run(normalize(SHOWN, TOOLS), normalize(SHOWN, TOOLS), required=True)
    assert (result.outcome, len(asked)) == ("repeated", 1)


def test_another_guess_is_not_asked_about_once_more() -> None:
    other = normalize(SHOWN.replace("Rome", "Oslo"), TOOLS)
    result, asked = run(normalize(SHOWN, TOOLS), other)
    assert (result.outcome, len(asked), result.envelope.content) == ("answered", 1, SHOWN.replace("Rome", "Oslo"))


@pytest.mark.parametrize(
    "text",
    [
        'get_weather("Rome", 3)',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "..."}}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "city": "Oslo"}}</tool_call>',
    ],
)
def test_guessed_arguments_are_asked_about_once_too(text: str) -> None:
    result, asked = run(normalize(text, TOOLS), normalize(text, TOOLS))
    assert (result.outcome, len(asked), result.envelope.content) == ("answered", 1, text)


def test_a_guess_beside_a_call_that_may_run_is_taken_back() -> None:
    meant = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    result, asked = run(normalize(f"{meant}\n\n{SHOWN}", TOOLS), normalize(SHOWN, TOOLS))
    assert (result.outcome, len(asked)) == ("ok", 1)
    assert [call.arguments for call in result.envelope.tool_calls] == [{"city": "Oslo"}]
    assert len(result.dropped) == 1
    assert not result.envelope.repairs
