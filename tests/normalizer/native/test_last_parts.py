"""A native call is complete when its last part has come, on every wire: a call whose place another one takes, or whose end never
comes, is cut. Gemini's arguments in parts are put together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Envelope, ToolCallFinished, ToolSet

Json = dict[str, Any]

TOOLS = ToolSet(
    [
        {"name": "stock", "input_schema": {"type": "object", "properties": {"shelf": {"type": "string"}}}},
        {"name": "restock", "input_schema": {"type": "object", "properties": {"shelf": {"type": "string"}}}},
    ]
)


def fed(*events: Any) -> Envelope:
    normalizer = Normalizer(TOOLS)
    told = [event for each in events for event in normalizer.feed(each)]
    told += normalizer.finish()
    finished = {event.index: event.call for event in told if isinstance(event, ToolCallFinished)}
    assert [finished[index] for index in sorted(finished)] == normalizer.envelope.tool_calls
    return normalizer.envelope


def calls(envelope: Envelope) -> list[tuple[str, str, object, bool]]:
    return [(call.id, call.name, call.arguments if call.complete else None, call.complete) for call in envelope.tool_calls]


# ---------------------------------------------------------------- Gemini, arguments in parts


def gemini(*parts: Json, finish: str | None = None) -> Json:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": finish, "index": 0}]}


def begun(name: str = "stock", **more: Any) -> Json:
    return {"functionCall": {"name": name, "willContinue": True, **more}}


def more(*parts: Json, goes_on: bool = True) -> Json:
    call: Json = {"partialArgs": [*parts]}
    return {"functionCall": {**call, "willContinue": True} if goes_on else call}


def part(path: str, value: object, goes_on: bool = False) -> Json:
    kinds: dict[Any, str] = {
        str: "stringValue",
        bool: "boolValue",
        int: "numberValue",
        float: "numberValue",
        type(None): "nullValue",
    }
    said: Json = {"jsonPath": path, kinds[type(value)]: value}
    return {**said, "willContinue": True} if goes_on else said


END: Json = {"functionCall": {}}

SEQUENCES: list[tuple[list[Json], object]] = [
    ([begun(), more(part("$.shelf", "A-", True)), more(part("$.shelf", "7")), END], {"shelf": "A-7"}),
    ([begun(), more(part("$.shelf", "A-7"), goes_on=False)], {"shelf": "A-7"}),
    ([begun(partialArgs=[part("$.shelf", "A")]), END], {"shelf": "A"}),
    ([begun(), END], {}),
    ([begun(), {"functionCall": {"name": "stock", "partialArgs": [part("$.shelf", "A")]}}], {"shelf": "A"}),
    ([begun(), more(part("$.n", 3), part("$.ok", False), part("$.none", None)), END], {"n": 3, "ok": False, "none": None}),
    ([begun(), more(part("$.n", 0.5, True)), END], {"n": 0.5}),
    (
        [begun(), more(part("$.a.b[0].c", "x", True)), more(part("$.a.b[0].c", "y"), part("$.a.b[1].c", "z")), END],
        {"a": {"b": [{"c": "xy"}, {"c": "z"}]}},
    ),
    ([begun(), more(part("$.tags[0]", "red"), part("$.tags[1]", "blue")), END], {"tags": ["red", "blue"]}),
    ([begun(), more(part("$.m[0][0]", 1), part("$.m[0][1]", 2), part("$.m[1][0]", 3)), END], {"m": [[1, 2], [3]]}),
    ([begun(), more(part("$['a.b']", "x"), part('$["say \\"hi\\""]', "y")), END], {"a.b": "x", 'say "hi"': "y"}),
    ([begun(args={"shelf": "A"}), more(part("$.n", 1)), END], {"shelf": "A", "n": 1}),
    (
        [begun(), more({"jsonPath": "$.shelf", "stringValue": "A", "willContinue": True}, {"jsonPath": "$.shelf"}), END],
        {"shelf": "A"},
    ),
]


def snake(value: Any) -> Any:
    """As an SDK dumps it: in snake_case, with null for what is absent."""
    if is_list(value):
        return [snake(item) for item in value]
    if not is_object(value):
        return value
    names = {
        "functionCall": "function_call",
        "partialArgs": "partial_args",
        "jsonPath": "json_path",
        "willContinue": "will_continue",
    }
    names |= {f"{kind}Value": f"{kind}_value" for kind in ("string", "number", "bool", "null")}
    found = {names.get(key, key): snake(item) for key, item in value.items()}
    if "json_path" in found:
        nothing = dict.fromkeys(("string_value", "number_value", "bool_value", "null_value", "will_continue"))
        if "null_value" in found:
            found["null_value"] = "NULL_VALUE"
        return nothing | found
    if "function_call" in found:
        empty = dict.fromkeys(("id", "name", "args", "partial_args", "will_continue"))
        return {"text": None, "function_call": empty | found["function_call"]}
    return found


@pytest.mark.parametrize("dumped", [False, True], ids=["wire", "sdk"])
@pytest.mark.parametrize(("sequence", "expected"), SEQUENCES)
def test_arguments_in_parts_are_put_together(sequence: list[Json], expected: object, dumped: bool) -> None:
    said = snake(sequence) if dumped else sequence
    whole = normalize(gemini(*said, finish="STOP"), TOOLS)
    streamed = fed(*(gemini(each) for each in said), gemini(finish="STOP"))
    for envelope in (whole, streamed, normalize(said, TOOLS)):
        assert calls(envelope) == [("call_0", "stock", expected, True)]
    assert json.loads(whole.tool_calls[0].raw_arguments) == expected


@pytest.mark.parametrize(("sequence", "expected"), SEQUENCES)
def test_a_call_whose_last_part_never_came_is_not_complete(sequence: list[Json], expected: object) -> None:
    for stop in range(1, len(sequence)):
        cut = sequence[:stop]
        for envelope in (normalize(gemini(*cut, finish="STOP"), TOOLS), fed(*map(gemini, cut), gemini(finish="STOP"))):
            assert calls(envelope) == [("call_0", "stock", None, False)]
            assert envelope.truncated


@pytest.mark.parametrize("dumped", [False, True], ids=["wire", "sdk"])
@pytest.mark.parametrize(
    "sequence",
    [
        [begun(), more(part("$.shelf", "A-", True), goes_on=False)],
        [begun(), more(part("$.shelf", "A-", True)), END],
        [begun(), more({"jsonPath": "$.shelf", "willContinue": True}), END],
        [begun(), more(part("$.a", "x", True)), more(part("$.shelf", "A")), END],
        [{"functionCall": {"name": "stock", "partialArgs": [part("$.shelf", "A-", True)]}}],
    ],
)
def test_a_call_that_ends_within_a_string_is_not_complete(sequence: list[Json], dumped: bool) -> None:
    said = snake(sequence) if dumped else sequence
    for envelope in (normalize(gemini(*said, finish="STOP"), TOOLS), fed(*map(gemini, said), gemini(finish="STOP"))):
        assert [(call.name, call.complete) for call in envelope.tool_calls] == [("stock", False)]
        assert envelope.truncated


@pytest.mark.parametrize(
    "parts",
    [
        [part("$.a", "x"), part("$.a", "y")],
        [part("$.a", "x"), part("$.a.b", "y")],
        [part("$.a[1]", "x")],
        [part("$.a[0]", "x"), part("$.a.b", "y")],
        [part("$.a", "x", True), part("$.a", 1)],
        [part("$..a", "x")],
        [part("$", "x")],
        [part("", "x")],
        [{"jsonPath": "$.a"}],
        [{"stringValue": "x"}],
    ],
)
def test_parts_that_contradict_each_other_give_no_arguments(parts: list[Json]) -> None:
    envelope = fed(gemini(begun()), gemini(more(*parts)), gemini(END), gemini(finish="STOP"))
    call = envelope.tool_calls[0]
    assert call.arguments is None
    assert json.loads(call.raw_arguments) == parts


def test_calls_in_parts_and_whole_ones_stand_beside_each_other() -> None:
    whole = {"functionCall": {"name": "restock", "args": {"shelf": "B"}}}
    envelope = fed(gemini({"text": "Look."}), gemini(begun()), gemini(more(part("$.shelf", "A"))), gemini(END), gemini(whole))
    assert calls(envelope) == [("call_0", "stock", {"shelf": "A"}, True), ("call_1", "restock", {"shelf": "B"}, True)]
    assert envelope.content == "Look."


@pytest.mark.parametrize(
    "second",
    [begun("restock"), begun(), begun(id="c2"), {"functionCall": {"name": "restock", "willContinue": True}}],
)
def test_a_call_that_begins_before_the_last_part_of_another_cuts_it(second: Json) -> None:
    envelope = fed(
        gemini(begun(id="c1")),
        gemini(more(part("$.shelf", "A"))),
        gemini(second),
        gemini(more(part("$.shelf", "B"))),
        gemini(END),
    )
    assert [(call.arguments, call.complete) for call in envelope.tool_calls] == [({"shelf": "A"}, False), ({"shelf": "B"}, True)]


# ---------------------------------------------------------------- a place that is taken again


def anthropic(*events: tuple[Any, ...]) -> list[Json]:
    found: list[Json] = []
    for kind, index, *what in events:
        if kind == "begin":
            found.append(
                {
                    "type": "content_block_start",
                    "index": index,
                    "content_block": {"type": "tool_use", "id": what[0], "name": what[1], "input": {}},
                }
            )
        elif kind == "other":
            found.append(
                {
                    "type": "content_block_start",
                    "index": index,
                    "content_block": {"type": "server_tool_use", "id": "s", "name": "web", "input": {}},
                }
            )
        elif kind == "more":
            found.append(
                {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": what[0]}}
            )
        else:
            found.append({"type": "content_block_stop", "index": index})
    return [*found, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


def bedrock(*events: tuple[Any, ...]) -> list[Json]:
    found: list[Json] = []
    for kind, index, *what in events:
        place: Json = {"contentBlockIndex": index}
        if kind == "begin":
            found.append({"contentBlockStart": {**place, "start": {"toolUse": {"toolUseId": what[0], "name": what[1]}}}})
        elif kind == "other":
            served = {"toolUseId": "s", "name": "web", "type": "server_tool_use"}
            found.append({"contentBlockStart": {**place, "start": {"toolUse": served}}})
        elif kind == "more":
            found.append({"contentBlockDelta": {**place, "delta": {"toolUse": {"input": what[0]}}}})
        else:
            found.append({"contentBlockStop": place})
    return [*found, {"messageStop": {"stopReason": "tool_use"}}]


def cohere(*events: tuple[Any, ...]) -> list[Json]:
    found: list[Json] = []
    for kind, index, *what in events:
        if kind == "begin":
            call = {"id": what[0], "type": "function", "function": {"name": what[1], "arguments": ""}}
            found.append({"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": call}}})
        elif kind == "more":
            piece = {"tool_calls": {"function": {"arguments": what[0]}}}
            found.append({"type": "tool-call-delta", "index": index, "delta": {"message": piece}})
        elif kind == "end":
            found.append({"type": "tool-call-end", "index": index})
    return [*found, {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}]


def responses(*events: tuple[Any, ...]) -> list[Json]:
    found: list[Json] = []
    open_items: dict[int, Json] = {}
    for kind, index, *what in events:
        place: Json = {"output_index": index}
        if kind == "begin":
            open_items[index] = {
                "type": "function_call",
                "id": f"fc_{what[0]}",
                "call_id": what[0],
                "name": what[1],
                "arguments": "",
            }
            found.append({"type": "response.output_item.added", **place, "item": open_items[index]})
        elif kind == "other":
            found.append({"type": "response.output_item.added", **place, "item": {"type": "web_search_call", "id": "s"}})
        elif kind == "more":
            found.append({"type": "response.function_call_arguments.delta", **place, "delta": what[0]})
        elif (item := open_items.get(index)) is not None:
            found.append({"type": "response.output_item.done", **place, "item": item})
    return [*found, {"type": "response.completed", "response": {"status": "completed"}}]


def chat(*events: tuple[Any, ...]) -> list[Json]:
    found: list[Json] = []
    for kind, index, *what in events:
        if kind == "begin":
            found.append({"index": index, "id": what[0], "type": "function", "function": {"name": what[1], "arguments": ""}})
        elif kind == "more":
            found.append({"index": index, "function": {"arguments": what[0]}})
    deltas: list[Json] = [{"choices": [{"index": 0, "delta": {"tool_calls": [each]}, "finish_reason": None}]} for each in found]
    return [*deltas, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


WITH_ENDS = {"anthropic": anthropic, "bedrock": bedrock, "cohere": cohere, "responses": responses}
ALL = {**WITH_ENDS, "chat": chat}


@pytest.mark.parametrize("first", ["", '{"shelf": ', '{"shelf": "A"', '{"shelf": "A'], ids=["nothing", "key", "value", "string"])
@pytest.mark.parametrize("wire", ALL)
def test_an_index_begun_anew_cuts_the_first_call(wire: str, first: str) -> None:
    events = ALL[wire](
        ("begin", 0, "c1", "stock"),
        ("more", 0, first),
        ("begin", 0, "c2", "restock"),
        ("more", 0, '{"shelf": '),
        ("more", 0, '"B"}'),
        ("end", 0),
    )
    assert calls(fed(*events)) == [("c1", "stock", None, False), ("c2", "restock", {"shelf": "B"}, True)]


@pytest.mark.parametrize("wire", WITH_ENDS)
def test_an_index_begun_anew_after_whole_arguments_cuts_the_call_too(wire: str) -> None:
    events = WITH_ENDS[wire](
        ("begin", 0, "c1", "stock"), ("more", 0, "{}"), ("begin", 0, "c2", "stock"), ("more", 0, "{}"), ("end", 0)
    )
    assert calls(fed(*events)) == [("c1", "stock", None, False), ("c2", "stock", {}, True)]


def test_parallel_calls_under_one_index_stay_whole_where_no_event_ends_a_call() -> None:
    events = chat(("begin", 0, "c1", "stock"), ("more", 0, "{}"), ("begin", 0, "c2", "restock"), ("more", 0, "{}"))
    assert calls(fed(*events)) == [("c1", "stock", {}, True), ("c2", "restock", {}, True)]


@pytest.mark.parametrize("wire", ["anthropic", "bedrock", "responses"])
def test_an_index_that_another_kind_of_block_takes_cuts_the_call(wire: str) -> None:
    events = WITH_ENDS[wire](("begin", 0, "c1", "stock"), ("more", 0, "{}"), ("other", 0), ("end", 0))
    if wire == "responses":
        events[-2:-1] = [{"type": "response.output_item.done", "output_index": 0, "item": {"type": "web_search_call", "id": "s"}}]
    envelope = fed(*events)
    assert calls(envelope) == [("c1", "stock", None, False)]
    assert len(envelope.blocks) == 2, "the block that took its place is kept"


@pytest.mark.parametrize("wire", ["anthropic", "bedrock"])
def test_a_part_of_the_providers_own_whose_index_begins_anew_is_kept(wire: str) -> None:
    envelope = fed(*WITH_ENDS[wire](("other", 0), ("begin", 0, "c1", "stock"), ("more", 0, "{}"), ("end", 0)))
    assert calls(envelope) == [("c1", "stock", {}, True)]
    assert len(envelope.blocks) == 2


@pytest.mark.parametrize("wire", WITH_ENDS)
def test_a_start_that_is_sent_twice_is_one_call(wire: str) -> None:
    events = WITH_ENDS[wire](("begin", 0, "c1", "stock"), ("begin", 0, "c1", "stock"), ("more", 0, "{}"), ("end", 0))
    assert calls(fed(*events)) == [("c1", "stock", {}, True)]


# ---------------------------------------------------------------- an end that never comes


@pytest.mark.parametrize(
    ("said", "is_whole"), [("", False), ('{"shelf": "A', False), ('{"shelf": "A"}', True), ('{"shelf": "A"', False)]
)
@pytest.mark.parametrize("wire", WITH_ENDS)
def test_without_its_end_a_call_is_complete_only_when_its_arguments_show_it(wire: str, said: str, is_whole: bool) -> None:
    events = WITH_ENDS[wire](("begin", 0, "c1", "stock"), ("more", 0, said))
    assert [call.complete for call in fed(*events).tool_calls] == [is_whole]


def test_a_whole_response_brings_what_its_events_did_not() -> None:
    item = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "stock",
        "arguments": '{"shelf": "A"}',
        "status": "completed",
    }
    added = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": "", "status": "in_progress"}}
    completed = {"type": "response.completed", "response": {"status": "completed", "output": [item]}}
    assert calls(fed(added, completed)) == [("c1", "stock", {"shelf": "A"}, True)]


def test_an_item_at_a_place_used_again_has_its_own_arguments() -> None:
    events: list[Json] = []
    for id, shelf in (("c1", "A"), ("c2", "B")):
        written = json.dumps({"shelf": shelf})
        item = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": "stock", "arguments": written}
        place: Json = {"output_index": 0}
        events.append({"type": "response.output_item.added", **place, "item": {**item, "arguments": ""}})
        if id == "c1":
            events.append({"type": "response.function_call_arguments.delta", **place, "delta": written})
        events.append({"type": "response.output_item.done", **place, "item": item})
    assert calls(fed(*events)) == [("c1", "stock", {"shelf": "A"}, True), ("c2", "stock", {"shelf": "B"}, True)]


def test_arguments_that_are_said_to_be_done_end_their_call() -> None:
    item = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c1", "name": "stock", "input": ""}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    delta = {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "shelf A"}
    done = {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "shelf A"}
    completed = {"type": "response.completed", "response": {"status": "completed"}}
    assert calls(fed(added, delta, done, completed)) == [("c1", "stock", {"input": "shelf A"}, True)]
    assert calls(fed(added, delta, completed)) == [("c1", "stock", None, False)]


def test_a_legacy_call_with_another_name_is_another_call() -> None:
    def delta(call: Json) -> Json:
        return {"choices": [{"index": 0, "delta": {"function_call": call}, "finish_reason": None}]}

    end: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]}
    first = [delta({"name": "stock", "arguments": ""}), delta({"arguments": '{"shelf": "A'})]
    second = [delta({"name": "restock", "arguments": ""}), delta({"arguments": "{}"})]
    assert calls(fed(*first, *second, end)) == [("call_0", "stock", None, False), ("call_1", "restock", {}, True)]
