"""`validate`: names, arguments, what may run, what goes back to the model."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer import normalize
from llmcore.types import Envelope, NearMiss, Repair, ToolDefinition, ToolDefinitionError, ToolSet
from llmcore.validator import validate_calls
from llmcore.validator.coercion.last_resort import repaired_arguments
from tests.validator.schemas import WEATHER, call, weather_tools


def envelope(*calls: Any, **fields: Any) -> Envelope:
    return Envelope(toolCalls=list(calls), **fields)


def test_a_good_call_is_returned_as_the_same_object() -> None:
    good = call(arguments={"city": "Rome", "days": 3})
    report = validate_calls(envelope(good), weather_tools())
    assert report.ok
    assert report.calls[0] is good
    assert report.runnable == [good]


def test_names_and_arguments_are_mended_and_recorded() -> None:
    report = validate_calls(envelope(call("functions.Get-Weather:0", {"City": "Rome", "days": "3"})), weather_tools())
    (mended,) = report.calls
    assert (mended.name, mended.arguments, mended.known) == ("get_weather", {"city": "Rome", "days": 3}, True)
    assert [repair.kind for repair in mended.repairs] == ["tool_name", "renamed_key", "number_from_text"]


def test_off_changes_nothing() -> None:
    report = validate_calls(envelope(call("Get_Weather", {"city": "Rome"})), weather_tools(), strictness="off")
    assert [problem.kind for problem in report.problems] == ["unknown_tool"]
    report = validate_calls(envelope(call(arguments={"city": 5})), weather_tools(), strictness="off")
    assert report.calls[0].arguments == {"city": 5}
    assert not report.ok


def test_an_unknown_name_goes_back_with_the_list_and_never_runs() -> None:
    report = validate_calls(envelope(call("weather", {"city": "Rome"})), weather_tools())
    (problem,) = report.problems
    assert problem.kind == "unknown_tool"
    assert problem.choices == ["get_weather"]
    assert str(problem) == ("expected the name of a tool (get_weather, search), got `weather`, did you mean `get_weather`?")
    assert report.runnable == []


def test_problems_belong_to_their_call() -> None:
    report = validate_calls(
        envelope(call(arguments={"city": "Rome"}), call(arguments={"days": 0}), call("nothing", {})), weather_tools()
    )
    assert {problem.call for problem in report.problems} == {1, 2}
    assert [failing.name for failing in report.failing] == ["get_weather", "nothing"]
    assert [(problem.path, problem.tool) for problem in report.problems][:2] == [
        ("city", "get_weather"),
        ("days", "get_weather"),
    ]


def test_a_cut_call_never_runs() -> None:
    report = validate_calls(envelope(call(arguments={"city": "Rome"}, complete=False)), weather_tools(read_only=True))
    assert [problem.kind for problem in report.problems] == ["incomplete"]


def test_arguments_that_could_not_be_read_are_not_invented() -> None:
    report = validate_calls(envelope(call(arguments=None, raw_arguments="Rome, please")), weather_tools(read_only=True))
    assert [problem.kind for problem in report.problems] == ["unreadable_arguments"]
    assert report.calls[0].arguments is None


@pytest.mark.parametrize(
    ("safety", "read_only", "strictness", "runs"),
    [
        ("lossless", False, "off", True),
        ("coerced", False, "off", False),
        ("coerced", False, "safe", True),
        ("guess", False, "safe", False),
        ("guess", False, "lenient", False),
        ("guess", True, "safe", True),
        ("guess", True, "off", False),
        ("truncated", True, "lenient", False),
    ],
)
def test_which_repairs_may_run(safety: Any, read_only: bool, strictness: Any, runs: bool) -> None:
    repaired = call(arguments={"city": "Rome"}, repairs=[Repair(kind="inner_quotes", path="city", safety=safety)])
    report = validate_calls(envelope(repaired), weather_tools(read_only=read_only), strictness=strictness)
    assert report.ok is runs
    assert [problem.kind for problem in report.problems] == ([] if runs else ["untrusted"])


def test_a_lenient_guess_runs_on_read_only_tools_only() -> None:
    guessed = envelope(call(arguments={"city": "Rome", "days": "about 3"}))
    assert validate_calls(guessed, weather_tools(read_only=True), strictness="lenient").ok
    assert not validate_calls(guessed, weather_tools(), strictness="lenient").ok


def test_near_misses_matter_only_where_a_call_was_due() -> None:
    miss = NearMiss(span=(0, 9), name="get_weather", reason="not_at_line_start")
    words = envelope(content="get_weather", near_misses=[miss])
    assert validate_calls(words, weather_tools()).ok
    (problem,) = validate_calls(words, weather_tools(), required=True).problems
    assert (problem.kind, problem.tool) == ("near_miss", "get_weather")
    assert [problem.kind for problem in validate_calls(envelope(), weather_tools(), required=True).problems] == ["no_call"]


def test_without_tools_told_only_the_call_itself_is_judged() -> None:
    assert validate_calls(envelope(call("anything", {"a": 1})), None).ok
    assert not validate_calls(envelope(call("anything", None)), None).ok
    assert [problem.kind for problem in validate_calls(envelope(call()), []).problems] == ["unknown_tool"]


def test_plain_tool_dicts_are_taken() -> None:
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    assert validate_calls(envelope(call(arguments={"city": "Rome"})), [tool]).ok


def test_a_tool_that_cannot_be_used_is_the_callers_error() -> None:
    tools = ToolSet([ToolDefinition(name="bad", parameters={"type": "object", "properties": {"a": {"type": "strin"}}})])
    with pytest.raises(ToolDefinitionError, match=r"tool 'bad'.*did you mean 'string'"):
        validate_calls(envelope(call("bad", {})), tools)


# --- the last rung ----------------------------------------------------------------------------------------------------


def test_the_last_rung_repairs_one_call_of_a_read_only_tool() -> None:
    broken = '{"city": "Rome" "days": 3'
    calls = [call(arguments=None, raw_arguments=broken, id=f"call_{number}") for number in range(2)]
    report = validate_calls(envelope(*calls), weather_tools(read_only=True))
    assert report.calls[0].arguments == {"city": "Rome", "days": 3}
    assert [repair.safety for repair in report.calls[0].repairs] == ["guess"]
    assert [problem.call for problem in report.problems] == [1]
    assert not validate_calls(envelope(calls[0]), weather_tools()).ok
    assert not validate_calls(envelope(calls[0], finish_reason="length"), weather_tools(read_only=True)).ok


@pytest.mark.parametrize(
    "raw",
    [
        '{"city": "say "hi", "sudo": true, "x": "y"", "days": 1}',  # a key out of a string
        '{"city": "Rome"}\n{"city": "Oslo"}',  # one of two calls
        '{"city": "Rome", "note": ',  # a key the schema does not have
        '["city"]',
        "Rome",
        '{"city": "' + "x" * 5000,
        "{'" + '""\n"```json[```',
        "{" * 3000,
    ],
)
def test_the_last_rung_keeps_within_its_bounds(raw: str) -> None:
    tool = weather_tools().get("get_weather")
    assert tool is not None
    found = repaired_arguments(raw, tool)
    assert found is None or (set(found[0]) <= {"city", "days"} and "sudo" not in str(found[0]))
    if "Oslo" in raw:
        assert found is None


@pytest.mark.parametrize(
    ("kind", "path", "said"),
    [
        ("parameter_repeated", "city", "`city`: expected one value, got several: `city` was given twice"),
        ("placeholder", "city", "`city`: expected a value, got a placeholder: `city` was not filled in"),
        ("positional", "", "expected arguments with their names, got values without names"),
        ("renamed_by_hand", "city", "`city`: expected arguments that need no guess, got arguments that had to be repaired"),
    ],
)
def test_a_guess_is_asked_about_in_words_that_a_model_can_act_on(kind: str, path: str, said: str) -> None:
    guessed = call(arguments={"city": "Rome"}, repairs=[Repair(kind=kind, path=path, safety="guess")])
    (problem,) = validate_calls(envelope(guessed), weather_tools()).problems
    assert problem.kind == "untrusted"
    assert str(problem).startswith(said)


@pytest.mark.parametrize(("arguments", "ok"), [('{"label": 1/2}', False), ('{"label": 12}', True), ('{"n": 1/2}', True)])
def test_a_sum_that_becomes_a_text_is_a_guess(arguments: str, ok: bool) -> None:
    properties = {"label": {"type": "string"}, "n": {"type": "number"}}
    tools = ToolSet([ToolDefinition(name="save", parameters={"type": "object", "properties": properties})])
    reply = normalize(f'<tool_call>{{"name": "save", "arguments": {arguments}}}</tool_call>', tools)
    assert validate_calls(reply, tools).ok is ok
