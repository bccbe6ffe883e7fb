"""`repair_row`: the calls in the text of a chat log become native calls, and their results get their ids."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from llmcore import CallerError
from llmcore.wire import RewriteSettings
from llmcore.wire.openai_chat import decode_messages, repair_row
from tests.wire.support import ARGUMENTS, CALL, TOOLS, TWELVE, settings, written

OFFERED: list[dict[str, Any]] = [
    {"type": "function", "function": tool.model_dump(include={"name", "parameters"})} for tool in TOOLS
]
NO_TOOLS = RewriteSettings(())
USER = {"role": "user", "content": "The weather in Paris?"}


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def called(message: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(each["function"]["name"], json.loads(each["function"]["arguments"])) for each in message["tool_calls"]]


@pytest.mark.parametrize("dialect", TWELVE)
def test_a_call_of_each_dialect_becomes_native_and_the_rest_of_the_row_stays(dialect: str) -> None:
    row = {"id": 7, "messages": [USER, assistant(written(dialect), weight=1)], "tools": OFFERED, "tag": {"a": [1]}}
    before = copy.deepcopy(row)
    result = repair_row(row, NO_TOOLS)
    message = result.row["messages"][1]
    assert row == before
    assert called(message) == [("get_weather", ARGUMENTS)]
    assert message["weight"] == 1
    assert {**result.row, "messages": 0} == {**row, "messages": 0}
    assert [(each.place, each.changed) for each in result.replies] == [("messages[1]", True)]


MESSAGES = [USER, assistant(CALL)]


@pytest.mark.parametrize(
    "row",
    [
        {"messages": MESSAGES, "tools": OFFERED},
        {"messages": MESSAGES, "functions": [tool["function"] for tool in OFFERED]},
        {"request": {"tools": OFFERED, "messages": MESSAGES}},
        {"body": {"params": {"tools": OFFERED}}, "log": {"input": {"messages": MESSAGES}}},
    ],
    ids=["fine-tuning", "old functions", "request", "apart"],
)
def test_the_history_and_the_tools_may_stand_anywhere_in_the_row(row: dict[str, Any]) -> None:
    result = repair_row(row, NO_TOOLS)
    assert [call.name for call in result.replies[0].report.calls] == ["get_weather"]
    assert '"tool_calls"' in json.dumps(result.row)


def test_a_body_in_a_batch_is_repaired_in_all_its_choices() -> None:
    choices = [{"index": n, "message": assistant(text), "finish_reason": "stop"} for n, text in enumerate([CALL, "Hello."])]
    row = {"custom_id": "a", "request": {"tools": OFFERED}, "response": {"status_code": 200, "body": {"choices": choices}}}
    result = repair_row(row, NO_TOOLS)
    first, second = result.row["response"]["body"]["choices"]
    assert first["finish_reason"] == "tool_calls"
    assert called(first["message"]) == [("get_weather", ARGUMENTS)]
    assert second is choices[1]
    assert [(each.place, each.changed) for each in result.replies] == [
        ("response.body.choices[0]", True),
        ("response.body.choices[1]", False),
    ]


def test_a_list_of_messages_is_a_row() -> None:
    result = repair_row([USER, assistant(CALL)], settings())
    assert called(result.row[1]) == [("get_weather", ARGUMENTS)]
    assert result.replies[0].place == "[1]"


def test_results_without_ids_get_those_of_their_calls_by_name_else_in_order() -> None:
    two = written("hermes", ("get_weather", ARGUMENTS), ("get_time", {"zone": "UTC"}))
    results = [
        {"role": "tool", "name": "get_time", "content": "12:00"},
        {"role": "function", "name": "get_weather", "content": "Sun"},
    ]
    row = repair_row([USER, assistant(two), *results, assistant("Sunny at noon.")], settings()).row
    weather, time = (call["id"] for call in row[1]["tool_calls"])
    assert [(each["role"], each["tool_call_id"], each["content"]) for each in row[2:4]] == [
        ("tool", time, "12:00"),
        ("tool", weather, "Sun"),
    ]
    assert len(decode_messages({"messages": row})) == len(row)


def test_a_call_takes_the_id_that_its_result_has() -> None:
    row = repair_row([assistant(CALL), {"role": "tool", "tool_call_id": "call_x", "content": "Sun"}], settings()).row
    assert row[0]["tool_calls"][0]["id"] == row[1]["tool_call_id"] == "call_x"


def test_a_native_call_beside_a_call_in_text_keeps_its_result() -> None:
    native = {"id": "call_n", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": "call_n", "content": "12:00"}, {"role": "tool", "content": "Sun"}]
    row = repair_row([assistant(CALL, tool_calls=[native]), *results], settings()).row
    first, second = row[0]["tool_calls"]
    assert first == native
    assert [each["tool_call_id"] for each in row[1:]] == ["call_n", second["id"]]
    assert second["id"] != "call_n"


def test_results_in_a_users_message_become_messages_of_the_tool() -> None:
    told = "<tool_response>\nSun\n</tool_response>\n<tool_response>12:00</tool_response>"
    two = written("hermes", ("get_weather", ARGUMENTS), ("get_time", {"zone": "UTC"}))
    row = repair_row([assistant(two), {"role": "user", "content": told}, assistant("Sunny.")], settings()).row
    assert [(each["role"], each["content"]) for each in row[1:]] == [("tool", "Sun"), ("tool", "12:00"), ("assistant", "Sunny.")]
    assert [each["tool_call_id"] for each in row[1:3]] == [call["id"] for call in row[0]["tool_calls"]]


@pytest.mark.parametrize("content", ["<tool_response>Sun</tool_response> Thanks!", "<tool_response>Sun", "Thanks!"])
def test_a_users_own_words_stay(content: str) -> None:
    told = {"role": "user", "content": content}
    assert repair_row([assistant(CALL), told], settings()).row[1] is told


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [USER, assistant("Hello.")]},
        {"messages": [USER, assistant(f"For example:\n{CALL}\nis a call.")], "tools": OFFERED},
        {"messages": "none", "choices": None, "tools": OFFERED},
        {"messages": [None, "text", {"role": "assistant"}]},
        {"prompt": CALL, "completion": CALL},
        "text",
        None,
        3,
    ],
)
def test_a_row_without_calls_is_the_given_object(row: Any) -> None:
    assert repair_row(row, NO_TOOLS).row is row


def test_a_withheld_call_stays_text_and_is_reported() -> None:
    text = CALL.replace("get_weather", "get_wether_x")
    result = repair_row({"messages": [assistant(text)], "tools": OFFERED}, NO_TOOLS)
    assert result.row["messages"][0]["content"] == text
    assert [each.reason for each in result.replies[0].report.withheld] == ["unknown_tool"]


def test_a_second_pass_changes_nothing() -> None:
    row = {"messages": [USER, assistant(f"<think>Hm.</think>Look. {CALL}"), {"role": "tool", "content": "Sun"}], "tools": OFFERED}
    once = repair_row(row, NO_TOOLS).row
    assert repair_row(once, NO_TOOLS).row is once


def test_tools_that_cannot_be_read_are_an_error() -> None:
    with pytest.raises(CallerError, match="tools"):
        repair_row({"messages": [USER], "tools": ["get_weather"]}, NO_TOOLS)


NATIVE = {"id": "call_0", "type": "function", "function": {"name": "get_time", "arguments": '{"zone": "UTC"}'}}
EMAIL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "send_email", "parameters": {"type": "object", "properties": {}}},
}


@pytest.mark.parametrize("name", ["send_email", "unknown"])
@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ('{"to":["a"],"subject":"s"', '{"to": ["a"], "subject": "s"}'),
        ('{"to":["a"],"subject":"s', '{"to":["a"],"subject":"s'),
        ("rubbish", "rubbish"),
        ('{"to": [],}', '{"to": []}'),
    ],
    ids=["no brace", "cut", "rubbish", "comma"],
)
@pytest.mark.parametrize("id", ["call_n", "call_0"])
def test_a_native_call_with_damaged_arguments_stays_and_keeps_its_result(
    name: str, arguments: str, written: str, id: str
) -> None:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    result = {"role": "tool", "tool_call_id": id, "content": "Sent"}
    row: dict[str, Any] = {"messages": [USER, assistant(None, tool_calls=[call]), result], "tools": [EMAIL]}
    repaired = repair_row(row, NO_TOOLS)
    function = {"name": name, "arguments": written}
    assert repaired.row["messages"][1]["tool_calls"] == [{**call, "function": function}]
    assert repaired.row["messages"][2] == result
    assert (repaired.row is row) is (arguments == written)
    assert [each.id for each in repaired.replies[0].report.calls] == [id]
    assert repair_row(repaired.row, NO_TOOLS).row is repaired.row


def test_a_call_of_the_old_form_and_its_result_get_one_id() -> None:
    old = assistant(None, function_call={"name": "get_weather", "arguments": json.dumps(ARGUMENTS)})
    row = repair_row([old, {"role": "function", "name": "get_weather", "content": "Sun"}], settings()).row
    assert called(row[0]) == [("get_weather", ARGUMENTS)]
    assert row[1] == {"role": "tool", "name": "get_weather", "content": "Sun", "tool_call_id": row[0]["tool_calls"][0]["id"]}


def test_damaged_native_calls_keep_their_results_in_any_order() -> None:
    functions = [{"name": name, "arguments": '{"zone": "UTC",}'} for name in ("get_time", "get_weather")]
    calls = [{"id": f"call_{n}", "type": "function", "function": function} for n, function in enumerate(functions)]
    results = [{"role": "tool", "tool_call_id": f"call_{n}", "content": "x"} for n in (1, 0)]
    repaired = repair_row([assistant(CALL, tool_calls=calls), *results, {"role": "tool", "content": "Sun"}], settings())
    first, second, third = repaired.row[0]["tool_calls"]
    assert [(each["id"], each["function"]["name"]) for each in (first, second)] == [
        ("call_0", "get_time"),
        ("call_1", "get_weather"),
    ]
    assert [each["tool_call_id"] for each in repaired.row[1:]] == ["call_1", "call_0", third["id"]]
    assert [call.id for call in repaired.replies[0].report.calls] == ["call_0", "call_1", third["id"]]


@pytest.mark.parametrize("id", [[1], {}, 5, None])
def test_an_id_of_another_type_is_replaced_with_its_result(id: Any) -> None:
    call = {**NATIVE, "id": id}
    row = repair_row([assistant(CALL, tool_calls=[call]), {"role": "tool", "tool_call_id": id, "content": "Sun"}], settings()).row
    assert row[1]["tool_call_id"] == row[0]["tool_calls"][0]["id"]
    assert isinstance(row[1]["tool_call_id"], str)


@pytest.mark.parametrize("message", [assistant("Hello.", tool_calls=None), assistant("Hello.", tool_calls=[], function_call={})])
def test_empty_fields_of_native_calls_stay(message: dict[str, Any]) -> None:
    row = [USER, message]
    assert repair_row(row, settings()).row is row


def test_the_report_has_the_ids_of_the_row() -> None:
    two = written("hermes", ("get_weather", ARGUMENTS), ("get_time", {"zone": "UTC"}))
    results = [{"role": "tool", "tool_call_id": "call_x", "content": "Sun"}, {"role": "tool", "content": "12:00"}]
    repaired = repair_row([assistant(two), *results], settings())
    ids = [call["id"] for call in repaired.row[0]["tool_calls"]]
    assert ids[0] == "call_x"
    assert [call.id for call in repaired.replies[0].report.calls] == ids
    assert [each["tool_call_id"] for each in repaired.row[1:]] == ids


@pytest.mark.parametrize("first", [assistant(CALL), assistant(None, tool_calls=[NATIVE])], ids=["text", "native"])
def test_an_id_of_an_earlier_call_is_not_taken_again(first: dict[str, Any]) -> None:
    result = {"role": "tool", "tool_call_id": "call_0", "content": "Sun"}
    repaired = repair_row([first, result, assistant(CALL), result, USER], settings())
    earlier, later = repaired.row[0]["tool_calls"][0]["id"], repaired.row[2]["tool_calls"][0]["id"]
    assert earlier == repaired.row[1]["tool_call_id"] == "call_0"
    assert later == repaired.row[3]["tool_call_id"] != "call_0"
    assert [call.id for reply in repaired.replies for call in reply.report.calls] == [earlier, later]


def test_two_results_of_one_turn_with_one_id_become_two() -> None:
    two = written("hermes", ("get_weather", ARGUMENTS), ("get_time", {"zone": "UTC"}))
    result = {"role": "tool", "tool_call_id": "call_0", "content": "Sun"}
    row = repair_row([assistant(two), result, result], settings()).row
    ids = [call["id"] for call in row[0]["tool_calls"]]
    assert len({*ids}) == 2
    assert [each["tool_call_id"] for each in row[1:]] == ids
